//! Branch stacks: what ran between branches counts as if every access had been sampled.
//!
//! A walker goes through the code of the fixtures, on both processors, and says what it executed. What the
//! stacks of its branches come to is compared with samples of each access it made.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail as tests do")]

use fieldline_access::access::AccessProfile;
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_doctor::{diagnose, summarize};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Callee, Flow, Instruction};
use fieldline_perfdata::address::LoadedAddress;
use fieldline_perfdata::perf_data::{Attr, Endian, Error, Record};
use fieldline_perfdata::sample::{CpuMode, Sample, SampleFields};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::writer::{Mapping, RecordingWriter, SampleValues};
use fieldline_profile::addresses::Linker;
use fieldline_profile::attribute::{Attributed, Attribution, JointAttribution};
use fieldline_profile::sums::{self, AttributedProgram};
use fieldline_typeflow::operands::target::Target;
use fieldline_typeflow::program::Program;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const PROGRAMS: [&str; 2] = ["idioms", "idioms-aarch64"];
/// `PERF_SAMPLE_BRANCH_ANY` and `PERF_SAMPLE_BRANCH_KERNEL`.
const ANY: u64 = 1 << 3 | 1 << 1;
/// Data sources of loads and stores.
const OPERATIONS: [u64; 2] = [2, 4];

/// Random numbers that are the same in every run (a linear congruential generator by Knuth).
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/attribution").join(name)
}

/// Attribution of each access of a recording, with its period, and the profile.
fn outcome(name: &str, file: SampleFile) -> (Vec<(String, u64)>, AccessProfile) {
    let bytes = FileBytes::open(&path(name)).unwrap();
    let elf = Elf::parse(&bytes).unwrap();
    let sections = DebugSections::load(&elf, None).unwrap();
    let dwarf = Dwarf::new(&sections).unwrap();
    let mut program = Program::new(&elf, &dwarf).unwrap();
    let files = [file];
    let attribution = Attribution::new(&elf, &mut program, &files).unwrap();
    let mut rows = Vec::new();
    let name = |ty| attribution.answers.type_entry(ty).map_or("?", |entry| entry.name.name.as_str());
    let each = |sample: &Sample<'_>, found: &Attributed| {
        let target = match found.target {
            Target::Exact { ty, offset } => format!("{}+{offset}", name(ty)),
            Target::Within { ty } | Target::Element { ty, .. } => format!("{}+?", name(ty)),
            Target::Unknown(reason) => reason.to_string(),
        };
        let ip = sample.ip.unwrap_or_default();
        rows.push((format!("{ip:x} {} {target}", if found.is_store { "st" } else { "ld" }), sample.period));
        Ok::<(), Error>(())
    };
    attribution.for_each_sample(0, each).unwrap();
    let parts = [AttributedProgram { dwarf: &dwarf, attribution: &attribution }];
    let joint = JointAttribution { attributions: std::slice::from_ref(&attribution) };
    let profile = sums::profile(
        &parts,
        joint,
        &files,
        &["recording".to_owned()],
        &[],
        fieldline_doctor::blind_spots::blind_spot_messages,
    )
    .unwrap();
    (rows, profile)
}

fn outcome_of_bytes(name: &str, bytes: Vec<u8>) -> (Vec<(String, u64)>, AccessProfile) {
    outcome(name, SampleFile::from_bytes(bytes).unwrap())
}

/// An execution.
#[derive(Default)]
struct Execution {
    /// Branches taken, from and to, the oldest first.
    branches: Vec<[u64; 3]>,
    /// How many accesses each instruction made before the branch of each number: instruction, whether it
    /// stored.
    accesses: Vec<(usize, u64, bool)>,
}

/// Walks through functions for so many branches.
fn execute(name: &str, count: usize, seed: u64) -> Execution {
    let bytes = FileBytes::open(&path(name)).unwrap();
    let elf = Elf::parse(&bytes).unwrap();
    let sections = DebugSections::load(&elf, None).unwrap();
    let dwarf = Dwarf::new(&sections).unwrap();
    let program = Program::new(&elf, &dwarf).unwrap();
    let mut reader = InstructionReader::new(program.architecture);
    let mut code: BTreeMap<u64, Instruction> = BTreeMap::new();
    let functions: Vec<_> = elf
        .symbols()
        .filter(|symbol| symbol.is_function)
        .filter_map(|symbol| Some((symbol.address, symbol.size?)))
        .collect();
    for (address, size) in &functions {
        let bytes = program.image.code(*address, address + size);
        code.extend(
            reader
                .read_all(*address, bytes)
                .into_iter()
                .map(|instruction| (instruction.address, program.helpers.apply_helper(instruction))),
        );
    }
    let mut random = Lcg(seed);
    let mut walk = Execution::default();
    let mut returns = Vec::new();
    let mut at = functions[0].0;
    while walk.branches.len() < count {
        let instruction = &code[&at];
        let is_certain = program.patches.alternatives_at(at).next().is_none();
        for is_store in [false, true] {
            let fits = |access: fieldline_machinecode::machine::AccessKind| match is_store {
                true => access.is_write(),
                false => access.is_read(),
            };
            if is_certain && instruction.memory_operands().any(|memory| fits(memory.access)) {
                walk.accesses.push((walk.branches.len(), at, is_store));
            }
        }
        let anywhere = functions[random.below(functions.len())].0;
        let behind = instruction.end();
        let to = match instruction.flow {
            Flow::Next | Flow::Trap => None,
            Flow::Branch(target) => (random.below(3) == 0).then_some(target),
            Flow::Jump(target) => Some(target),
            Flow::Call(callee) => {
                returns.push(behind);
                Some(if let Callee::Direct(target) = callee { target } else { anywhere })
            }
            Flow::IndirectJump(_) | Flow::Stop => Some(anywhere),
            Flow::Return => Some(returns.pop().unwrap_or(anywhere)),
        };
        let next = to.unwrap_or(behind);
        let next = if code.contains_key(&next) { next } else { anywhere };
        if next != behind || to.is_some() {
            walk.branches.push([at, next, 0]);
        }
        at = next;
    }
    walk
}

fn event(recording: &mut RecordingWriter, attr: &Attr) -> fieldline_perfdata::perf_data::EventIndex {
    let common =
        SampleFields::IP | SampleFields::TID | SampleFields::TIME | SampleFields::CPU | SampleFields::PERIOD;
    let sample_type = attr.sample_type | common;
    recording.event("cycles", Attr { sample_type, kind: 4, ..attr.clone() }, &[])
}

fn values(time: u64) -> SampleValues<'static> {
    let cpu = (time % 3) as u32;
    SampleValues {
        cpu_mode: CpuMode::Kernel,
        ip: 1 << 63,
        pid: 1,
        tid: 1,
        time,
        cpu,
        period: 310,
        ..SampleValues::default()
    }
}

/// Stacks that together hold each run once: the last branch of one is the first of the next.
fn stacks(walk: &Execution, depth: usize) -> Vec<Vec<[u64; 3]>> {
    let firsts = (0..walk.branches.len().saturating_sub(1)).step_by(depth - 1);
    let stack = |first: usize| walk.branches[first..].iter().take(depth).rev().copied().collect();
    firsts.map(stack).collect()
}

fn by_stacks(stacks: &[Vec<[u64; 3]>], attr: &Attr) -> RecordingWriter {
    let mut recording = RecordingWriter::new(Endian::Little);
    let sample_type = attr.sample_type | SampleFields::BRANCH_STACK;
    let event = event(&mut recording, &Attr { sample_type, ..attr.clone() });
    for (time, branches) in (0..).zip(stacks) {
        recording.sample(event, &SampleValues { branches, ..values(time) });
    }
    recording
}

/// A sample of each access, at the time and on the CPU of the stack that holds it.
fn by_accesses(walk: &Execution, depth: usize) -> RecordingWriter {
    let mut recording = RecordingWriter::new(Endian::Little);
    let attr = Attr { sample_type: SampleFields::DATA_SRC, flags: 3 << 15, ..Attr::default() };
    let event = event(&mut recording, &attr);
    for (branch, ip, is_store) in &walk.accesses {
        // What ran before the first branch, and behind the last, is in no stack.
        if *branch == 0 || *branch >= walk.branches.len() {
            continue;
        }
        let time = ((branch - 1) / (depth - 1)) as u64;
        let data_source = OPERATIONS[usize::from(*is_store)];
        recording.sample(event, &SampleValues { exact_ip: true, ip: *ip, data_source, ..values(time) });
    }
    recording
}

fn keys(bytes: Vec<u8>) -> Vec<String> {
    let file = SampleFile::from_bytes(bytes).unwrap();
    let survey = summarize(&file, None).unwrap();
    diagnose(&file, &survey, None).findings.into_iter().map(|finding| finding.key).collect()
}

fn complete_stacks() -> Attr {
    Attr { branch_sample_type: ANY, ..Attr::default() }
}

#[test]
fn ranges_count_as_if_each_access_had_been_sampled() {
    for name in PROGRAMS {
        for depth in [2, 16, 32] {
            let walk = execute(name, 2000, depth as u64);
            let stacks = stacks(&walk, depth);
            let (mut by_stacks, found) =
                outcome_of_bytes(name, by_stacks(&stacks, &complete_stacks()).to_file());
            let (mut by_accesses, expected) = outcome_of_bytes(name, by_accesses(&walk, depth).to_file());
            by_stacks.sort();
            by_accesses.sort();
            let which =
                |rows: &[(String, u64)]| -> Vec<String> { rows.iter().map(|row| row.0.clone()).collect() };
            assert_eq!(which(&by_stacks), which(&by_accesses), "{name} {depth}");
            assert!(by_stacks.len() > 2000, "{name}: {}", by_stacks.len());
            let least = by_stacks.iter().map(|row| row.1).min();
            assert_eq!(least, Some(310 / (depth as u64 - 1)), "the period is shared out among runs");
            assert_same_counts(&found, &expected, &format!("{name} {depth}"));
            assert_eq!(found.recordings[0].straight_line_ranges, 1999);
            assert_eq!(found.recordings[0].branch_stacks, stacks.len() as u64);
        }
    }
}

/// Everything but periods and windows, and where blocks of time begin: that is by samples of the recording.
#[track_caller]
fn assert_same_counts(found: &AccessProfile, expected: &AccessProfile, label: &str) {
    let profile = (found, expected);
    assert_eq!(found.types.len(), expected.types.len(), "{label}");
    for (found, expected) in found.types.iter().zip(&expected.types) {
        let counts = |all: &AccessProfile, profile_type: &fieldline_access::access::TypeProfile| -> Vec<_> {
            let to_counts = |access: &fieldline_access::access::Access| {
                let in_blocks: u64 = access.blocks.iter().map(|block| block.loads + block.stores).sum();
                let function = all.functions[access.function as usize].clone();
                (
                    access.ip,
                    access.offset,
                    access.size,
                    function,
                    access.loads.samples,
                    access.stores.samples,
                    in_blocks,
                )
            };
            profile_type.accesses.iter().map(to_counts).collect()
        };
        assert_eq!(found.name, expected.name);
        assert_eq!(counts(profile.0, found), counts(profile.1, expected), "{label}: {}", found.name);
        assert_eq!(found.cpus, expected.cpus, "{label}: {}", found.name);
    }
    let samples = |profile: &AccessProfile| {
        let event = &profile.coverage[0];
        let reasons = event.unattributed.iter().map(|(reason, tally)| (reason.clone(), tally.samples));
        (
            event.total.samples,
            event.attributed.samples,
            reasons.collect::<Vec<_>>(),
            profile.recordings[0].samples,
        )
    };
    assert_eq!(samples(found), samples(expected), "{label}");
    let in_blocks = |profile: &AccessProfile| profile.blocks.iter().sum::<u64>();
    assert_eq!(in_blocks(found), in_blocks(expected), "{label}");
}

#[test]
fn what_one_stack_shows_is_one_window() {
    let walk = execute("idioms", 300, 1);
    let stacks = stacks(&walk, 16);
    let (rows, profile) = outcome_of_bytes("idioms", by_stacks(&stacks, &complete_stacks()).to_file());
    let windows: u64 = profile.windows.iter().map(|window| window.count).sum();
    assert!(windows > 10 && windows <= stacks.len() as u64, "{windows} of {} stacks", stacks.len());
    for window in &profile.windows {
        assert!(window.entries.is_sorted() && window.entries.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(window.entries.iter().any(|word| word.0 >= 0));
    }
    assert!(profile.windows.iter().any(|window| window.entries.len() > 8), "{}", rows.len());
}

#[test]
fn threads_change_nothing() {
    let walk = execute("idioms", 20_000, 3);
    let bytes = by_stacks(&stacks(&walk, 16), &complete_stacks()).to_file();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| outcome_of_bytes("idioms", bytes.clone()))
    };
    let expected = with(1);
    assert!([2, 5].into_iter().all(|threads| with(threads) == expected));
}

/// Where the program's code begins, and runs in it: of straight instructions, of one that jumps in between,
/// of one that is followed by more.
fn text() -> u64 {
    execute("idioms", 1, 1).branches[0][0] & !0xfff
}

#[test]
fn broken_ranges_are_counted_and_touch_nothing() {
    let walk = execute("idioms", 400, 9);
    let text = text();
    let user = 0x55_0000_1000;
    // A run is from the second's `to` to the first's `from`.
    let between = |begin: u64, end: u64| vec![[end, text, 0], [text, begin, 0]];
    let good = &walk.branches[4..6];
    let (begin, end) = (good[0][1], good[1][0]);
    let reason = |stack: Vec<[u64; 3]>| {
        let others = stacks(&walk, 16);
        let (rows, profile) = outcome_of_bytes(
            "idioms",
            by_stacks(&[vec![stack], others].concat(), &complete_stacks()).to_file(),
        );
        let row = rows[0].0.split(' ').next_back().unwrap().to_owned();
        let counted: u64 = profile.coverage[0].unattributed.get(&row).map_or(0, |tally| tally.samples);
        assert_eq!(profile.coverage[0].total.samples, rows.len() as u64);
        (row, counted)
    };
    let broken = ("broken_run".to_owned(), 1);
    assert_eq!(reason(between(begin, begin - 1)), broken, "backward");
    assert_eq!(reason(between(0, end)), broken, "no address");
    assert_eq!(reason(between(begin, begin.wrapping_add(5000))), broken, "long");
    assert_eq!(reason(between(end, begin.wrapping_add(1 << 40))), broken, "far");
    assert_eq!(reason(between(begin, 1 << 47)), broken, "to user code");
    assert_eq!(reason(between(user, user + 8)), ("user_space".to_owned(), 1));
    assert_eq!(reason(vec![[begin, end, 0]]), ("no_run".to_owned(), 1));
    assert_eq!(reason(vec![]), ("no_run".to_owned(), 1));
    let leaving = walk.branches.windows(2).find(|pair| {
        // Behind a return or jump other code follows.
        pair[1][1] > pair[1][0] + 16 || pair[1][1] < pair[1][0]
    });
    let [_, from] = [leaving.unwrap()[0], leaving.unwrap()[1]];
    assert_eq!(reason(between(from[0], from[0] + 4000)).0, "broken_run", "past what always leads elsewhere");
}

#[test]
fn an_instruction_that_was_interrupted_did_not_run() {
    let walk = execute("idioms", 400, 5);
    let is_plain = |at: usize, ip: u64| {
        walk.accesses.iter().filter(|(branch, ..)| *branch == at).any(|access| access.1 == ip)
    };
    // A run with an access that is not the branch at its end: cut there.
    let (at, ip) = (1..walk.branches.len())
        .find_map(|at| {
            let all = walk.accesses.iter().filter(|(branch, ..)| *branch == at);
            let last = walk.branches[at][0];
            all.rev()
                .find(|access| access.1 != last && access.1 != walk.branches[at - 1][1])
                .map(|access| (at, access.1))
        })
        .unwrap();
    assert!(is_plain(at, ip));
    let begin = walk.branches[at - 1][1];
    let stack = vec![vec![[ip, begin, 0], [begin, begin, 0]]];
    let (rows, _) = outcome_of_bytes("idioms", by_stacks(&stack, &complete_stacks()).to_file());
    let before = walk.accesses.iter().filter(|access| access.0 == at && access.1 < ip).count();
    assert_eq!(rows.iter().filter(|row| !row.0.contains("no_run")).count(), before, "{rows:?}");
    assert!(rows.iter().all(|row| !row.0.starts_with(&format!("{ip:x}"))));
}

#[test]
fn stacks_with_branches_left_out_are_not_used_and_it_is_said() {
    let stacks = stacks(&execute("idioms", 500, 2), 16);
    for (chosen, word) in
        [(1 << 4 | 1, "any_call"), (1 << 11 | 1, "stack"), (1 << 3 | 1 << 8, "in_tx"), (0, "unknown")]
    {
        let attr = Attr { branch_sample_type: chosen, ..Attr::default() };
        let bytes = by_stacks(&stacks, &attr).to_file();
        let (rows, profile) = outcome_of_bytes("idioms", bytes.clone());
        assert_eq!(rows.len(), stacks.len(), "a sample each: {chosen:#x}");
        assert_eq!(profile.recordings[0].straight_line_ranges, 0);
        let is_noted =
            profile.blind_spots.iter().any(|spot| spot.contains("leave out branches") && spot.contains(word));
        assert!(is_noted, "{:?}", profile.blind_spots);
        assert!(keys(bytes).contains(&"filtered-branches".to_owned()));
    }
    assert!(
        !keys(by_stacks(&stacks, &complete_stacks()).to_file())
            .iter()
            .any(|key| key == "skid" || key == "no-addresses")
    );
    assert!(keys(by_stacks(&stacks, &complete_stacks()).to_file()).contains(&"branch-runs".to_owned()));
}

#[test]
fn accesses_that_samples_name_themselves_are_not_counted_twice() {
    let walk = execute("idioms", 500, 2);
    let stacks = stacks(&walk, 16);
    let asked = Attr {
        sample_type: SampleFields::ADDR | SampleFields::DATA_SRC,
        flags: 3 << 15,
        ..complete_stacks()
    };
    // The hardware gives no address though it was asked.
    let (rows, without) = outcome_of_bytes("idioms", by_stacks(&stacks, &asked).to_file());
    assert!(rows.len() > 5 * stacks.len() && without.recordings[0].straight_line_ranges == 499);
    // One sample has one.
    let mut recording = RecordingWriter::new(Endian::Little);
    let sample_type = asked.sample_type | SampleFields::BRANCH_STACK;
    let event = event(&mut recording, &Attr { sample_type, ..asked });
    for (time, branches) in (0..).zip(&stacks) {
        let addr = if time == 20 { 0xffff_8880_0100_0000 } else { 0 };
        recording.sample(event, &SampleValues { branches, addr, ip: walk.accesses[0].1, ..values(time) });
    }
    let (rows, with) = outcome_of_bytes("idioms", recording.to_file());
    assert_eq!((rows.len(), with.recordings[0].straight_line_ranges), (stacks.len(), 0));
    assert_eq!(with.recordings[0].branch_stacks, stacks.len() as u64);
}

#[test]
fn the_text_gives_the_same() {
    let stacks = stacks(&execute("idioms", 700, 8), 16);
    let (rows, expected) = outcome_of_bytes("idioms", by_stacks(&stacks, &complete_stacks()).to_file());
    let lines = |header: &str| {
        let mut text = header.to_owned();
        for (time, stack) in stacks.iter().enumerate() {
            let cpu = time % 3;
            write!(
                text,
                "a 1/1 [{cpu:03}] 0.{time:09}: 310 cycles: ffff800000000000 [unknown] ([kernel.kallsyms])"
            )
            .unwrap();
            for (number, [from, to, _]) in stack.iter().enumerate() {
                if number == 2 {
                    write!(text, " 0x10/0x20/M/-/-/1/COND/SPEC_WRONG_PATH/-").unwrap();
                }
                write!(text, " {from:#x}/{to:#x}/P/-/-/1/COND/NON_SPEC_CORRECT_PATH/-").unwrap();
            }
            text.push('\n');
        }
        text.into_bytes()
    };
    let (from_text, profile) = outcome_of_bytes("idioms", lines(""));
    assert_eq!(from_text, rows);
    assert_eq!((&profile.types, &profile.windows), (&expected.types, &expected.windows));
    assert!(profile.blind_spots.iter().any(|spot| spot.contains("does not tell which branches")));
    let event = "# event : name = cycles, , id = { 1, 2 }, type = 0 (PERF_TYPE_HARDWARE), size = 136, \
                 sample_type = IP|TID|BRANCH_STACK, branch_sample_type = ";
    let (_, stated) = outcome_of_bytes("idioms", lines(&format!("{event}KERNEL|ANY, sample_id_all = 1\n")));
    assert_eq!(stated.types, expected.types);
    assert!(!stated.blind_spots.iter().any(|spot| spot.contains("does not tell which branches")));
    let (from_calls, _) = outcome_of_bytes("idioms", lines(&format!("{event}KERNEL|ANY_CALL\n")));
    assert_eq!(from_calls.len(), stacks.len());
}

#[test]
fn any_branch_addresses_do_not_panic() {
    let mut random = Lcg(4);
    let base = text();
    let address = |random: &mut Lcg| match random.below(4) {
        0 => base.wrapping_add(random.below(4096) as u64),
        1 => base.wrapping_add(random.below(64) as u64),
        2 => u64::MAX - random.below(3) as u64,
        _ => random.below(2) as u64,
    };
    let mut stack = |_| -> Vec<[u64; 3]> {
        (0..random.below(70)).map(|_| [address(&mut random), address(&mut random), u64::MAX]).collect()
    };
    let stacks: Vec<_> = (0..500).map(&mut stack).collect();
    for name in PROGRAMS {
        let mut recording = RecordingWriter::new(Endian::Little);
        let sample_type = SampleFields::BRANCH_STACK;
        let event = event(&mut recording, &Attr { sample_type, ..complete_stacks() });
        for (time, branches) in (0..).zip(&stacks) {
            let values = SampleValues { period: u64::MAX, cpu: u32::MAX - time as u32, ..values(time) };
            recording.sample(event, &SampleValues { branches, ..values });
        }
        let (rows, profile) = outcome_of_bytes(name, recording.to_file());
        let event = &profile.coverage[0];
        let missed: u64 = event.unattributed.values().map(|tally| tally.samples).sum();
        assert_eq!(event.total.samples, event.attributed.samples + missed);
        assert_eq!(event.total.samples, rows.len() as u64);
        assert!(profile.blind_spots.iter().any(|spot| spot.contains("don't fit the code")));
    }
}

#[test]
fn stacks_go_through_the_kernel_and_programs() {
    let demo = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo").join(name);
    let files = [path("idioms"), demo("shaper")].map(|path| FileBytes::open(&path).unwrap());
    let elfs = files.each_ref().map(|file| Elf::parse(file).unwrap());
    // An access of the program, where it lay when it was recorded.
    let old = SampleFile::open(&demo("shaper.perf.data")).unwrap();
    let mut linker = Linker::new(&elfs[1], &old).unwrap();
    let mut records = old.records();
    while let Some(record) = records.next_record().unwrap() {
        linker.add_record(&record);
    }
    linker.finish_mappings();
    let mut recording = RecordingWriter::new(Endian::Little);
    let event = event(&mut recording, &Attr { sample_type: SampleFields::BRANCH_STACK, ..complete_stacks() });
    let (mut records, mut known) = (old.records(), None);
    while let Some(record) = records.next_record().unwrap() {
        match record {
            Record::Mmap(mmap) => recording.mmap(&Mapping::from(&mmap)),
            Record::Sample(sample) if known.is_none() => {
                let known_sample = |ip| (ip, sample.ip.unwrap().0, sample.pid.unwrap());
                known = linker.locate(&sample).ok().map(|linked| known_sample(linked.ip));
            }
            _ => {}
        }
    }
    let (linked, ip, pid) = known.unwrap();
    let code = elfs[1].bytes_at(linked.0, 15).unwrap();
    let instruction = InstructionReader::new(Architecture::X86_64).read(linked.0, code).unwrap();
    let behind = ip + u64::from(instruction.length);
    let kernel = execute("idioms", 40, 6);
    // The program runs up to an interrupt, the kernel for a while, the program from there on.
    let (first, last) = (kernel.branches[0][0], kernel.branches.last().unwrap()[0]);
    let mut branches = vec![[behind, first, 0], [last, ip, 0]];
    branches.extend(kernel.branches.iter().rev().skip(1));
    branches.extend([[behind, first, 0], [ip, ip, 0]]);
    for cpu_mode in [CpuMode::Kernel, CpuMode::User] {
        let values =
            SampleValues { cpu_mode, branches: &branches, pid, tid: pid, ..values(1_000_000_000_000_000) };
        recording.sample(event, &values);
    }
    let sections = elfs.each_ref().map(|elf| DebugSections::load(elf, None).unwrap());
    let dwarfs = sections.each_ref().map(|sections| Dwarf::new(sections).unwrap());
    let mut programs: Vec<_> =
        elfs.iter().zip(&dwarfs).map(|(elf, dwarf)| Program::new(elf, dwarf).unwrap()).collect();
    let files = [SampleFile::from_bytes(recording.to_file()).unwrap()];
    let attributed = elfs.iter().zip(&mut programs);
    let attributions: Vec<_> =
        attributed.map(|(elf, program)| Attribution::new(elf, program, &files).unwrap()).collect();
    let joint = JointAttribution { attributions: &attributions };
    let mut counts = [0; 2];
    let mut user_ips = Vec::new();
    let each = |sample: &Sample<'_>, program: usize, found: &Attributed| {
        counts[program] += 1;
        if found.ip == Some(linked) {
            user_ips.push(sample.ip);
        }
        Ok::<(), Error>(())
    };
    joint.for_each_sample(0, each).unwrap();
    assert!(counts[0] > 40 && counts[1] >= 4, "{counts:?}");
    assert_eq!(user_ips, [Some(LoadedAddress(ip)); 4], "two runs of each stack");
    let parts = attributions.iter().zip(&dwarfs);
    let parts: Vec<_> = parts.map(|(attribution, dwarf)| AttributedProgram { dwarf, attribution }).collect();
    let profile = sums::profile(
        &parts,
        joint,
        &files,
        &["recording".to_owned()],
        &[],
        fieldline_doctor::blind_spots::blind_spot_messages,
    )
    .unwrap();
    assert_eq!(profile.recordings[0].samples, counts.iter().sum::<u64>());
    assert_eq!(profile.recordings[0].straight_line_ranges, 2 * (branches.len() as u64 - 1));
    let rows = sums::coverage(joint, &files).unwrap();
    let samples_of = |name: &str| {
        let row = rows.iter().find(|row| row.dso.ends_with(name)).unwrap_or_else(|| panic!("{rows:?}"));
        row.event.total.samples
    };
    assert_eq!([samples_of("[kernel]"), samples_of("shaper")], counts);
}
