//! Attribution depends on the recording, not on the order of its samples, of the recordings, or on
//! how many threads work.
//!
//! The recordings are made up: objects of the fixture's structs, touched by all of its instructions.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail as tests do")]

use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes, LinkedAddress};
use fieldline_perfdata::perf_data::{Attr, Endian, Error};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::writer::{RecordingWriter, SampleValues};
use fieldline_profile::attribute::Attribution;
use fieldline_typeflow::operands::program_operands::ProgramOperands;
use fieldline_typeflow::operands::reason::Reason;
use fieldline_typeflow::operands::target::Target;
use fieldline_typeflow::program::Program;
use std::collections::BTreeMap;
use std::path::Path;

const TEXT: u64 = 0xffff_ffff_8100_0000;
const HEAP: u64 = 0xffff_8880_0100_0000;
const PER_CPU: u64 = 0xffff_8880_7c00_0000;
const STACKS: u64 = 0xffff_c900_0000_0000;
const FIELDS: SampleFields = SampleFields(
    SampleFields::IP.0
        | SampleFields::TID.0
        | SampleFields::TIME.0
        | SampleFields::ADDR.0
        | SampleFields::CPU.0
        | SampleFields::PERIOD.0,
);

/// A sample: address of the instruction and of the data, CPU and time. No two have the same time.
#[derive(Clone, Copy, Debug)]
struct TestAccess {
    ip: u64,
    address: u64,
    cpu: u32,
    time: u64,
}

/// Random numbers that are the same in every run (a linear congruential generator by Knuth).
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

fn with_program<T>(work: impl for<'a> FnOnce(&Elf<'a>, &'a mut Program<'a>) -> T) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/attribution/idioms");
    let file = FileBytes::open(&path).unwrap();
    let elf = Elf::parse(&file).unwrap();
    let sections = DebugSections::load(&elf, None).unwrap();
    let dwarf = Dwarf::new(&sections).unwrap();
    let mut program = Program::new(&elf, &dwarf).unwrap();
    work(&elf, &mut program)
}

/// Calls with the operands of all instructions.
fn with_answers<T>(work: impl FnOnce(&ProgramOperands) -> T) -> T {
    with_program(|elf, program| {
        let text = elf.text_sections();
        let addresses = text.iter().flat_map(|(_, address, bytes)| *address..address + bytes.len() as u64);
        let addresses: Vec<LinkedAddress> = addresses.map(LinkedAddress).collect();
        program.load(addresses.iter().copied());
        let answers = ProgramOperands::new(program, &addresses[..].into());
        work(&answers)
    })
}

/// Samples of every operand: objects lie in the heap, jobs and workers near to each other and one where the
/// other was.
fn touches(count: u64, seed: u64) -> Vec<TestAccess> {
    with_answers(|answers| {
        let typed: Vec<_> = answers.functions.iter().flat_map(|function| &function.instructions).collect();
        let mut random = Lcg(seed);
        let touches = (0..count).map(|number| {
            let typed = typed[random.below(typed.len() as u64) as usize];
            let cpu = random.below(3) as u32;
            let operand = typed.operands[0];
            let address = match (operand.fixed_address, operand.target) {
                (Some(fixed), _) if fixed.per_cpu => PER_CPU + u64::from(cpu) * 0x1_0000 + fixed.address.0,
                (Some(fixed), _) => fixed.address.0,
                // A list's links are those of jobs, mostly.
                (None, Target::Exact { ty, offset }) => {
                    match answers.type_entry(ty).unwrap().name.name.as_str() {
                        "list" => HEAP + 0x1000 * random.below(20) + 8 + offset,
                        "worker" => {
                            HEAP + 0x1000 * random.below(24) + 0x400 * u64::from(random.below(9) > 0) + offset
                        }
                        // Some recorded addresses are wrong.
                        "job" => {
                            HEAP + 0x1000 * random.below(20) + 4 * u64::from(random.below(50) == 0) + offset
                        }
                        _ => HEAP + 0x10_0000 * (1 + u64::from(ty.0)) + 0x400 * random.below(9) + offset,
                    }
                }
                (None, Target::Unknown(Reason::Stack | Reason::UnknownPointer)) => {
                    STACKS + 8 * random.below(64)
                }
                _ => HEAP + 8 * random.below(0x4000),
            };
            TestAccess { ip: typed.address.0, address, cpu, time: 1_000 + number }
        });
        touches.collect()
    })
}

fn recording(touches: &[TestAccess]) -> SampleFile {
    let mut recording = RecordingWriter::new(Endian::Little);
    let attr = Attr { kind: 4, config: 0x1cd, sample_type: FIELDS, ..Attr::default() };
    let event = recording.event("cpu/mem-loads/P", attr, &[1]);
    recording.kernel_map(TEXT, 0x1000, "_text", TEXT);
    for touch in touches {
        let values = SampleValues {
            cpu_mode: CpuMode::Kernel,
            ip: touch.ip,
            pid: 1,
            tid: 1,
            time: touch.time,
            addr: touch.address,
            cpu: touch.cpu,
            period: 1,
            ..SampleValues::default()
        };
        recording.sample(event, &values);
    }
    SampleFile::from_bytes(recording.to_file()).unwrap()
}

/// Attribution of a sample, with types by name, and attribution by code alone.
type Verdict = (String, String);

/// By recording and time.
fn verdicts(recordings: &[&[TestAccess]]) -> Vec<BTreeMap<u64, Verdict>> {
    let files: Vec<SampleFile> = recordings.iter().map(|touches| recording(touches)).collect();
    with_program(|elf, program| {
        let attribution = Attribution::new(elf, program, &files).unwrap();
        let format_target = |target: Target<_>| {
            format!("{:?}", target.map(|ty| attribution.answers.type_entry(ty).unwrap().name.name.clone()))
        };
        let each = (0..files.len()).map(|recording| {
            let mut found = BTreeMap::new();
            let result = attribution.for_each_sample(recording, |sample, attributed| {
                let verdict = (format_target(attributed.target), format_target(attributed.by_code));
                found.insert(sample.time.unwrap(), verdict);
                Ok::<(), Error>(())
            });
            result.unwrap();
            found
        });
        each.collect()
    })
}

#[test]
fn addresses_tell_more_than_the_code_and_contradict_it() {
    let touches = touches(6_000, 1);
    let verdicts = verdicts(&[&touches]);
    let count =
        |predicate: fn(&Verdict) -> bool| verdicts[0].values().filter(|verdict| predicate(verdict)).count();
    assert_eq!(verdicts[0].len(), touches.len());
    assert!(count(|(target, by_code)| target.contains("\"job\"") && by_code.contains("\"list\"")) > 20);
    assert!(count(|(target, by_code)| target.contains("Stack") && by_code.contains("UnknownPointer")) > 5);
    assert!(count(|(target, by_code)| target.contains("BadAddress") && !by_code.contains("BadAddress")) > 5);
}

/// Addresses of instructions whose operand is of a struct, with the offset.
fn instructions_of(name: &str) -> Vec<(u64, u64)> {
    with_answers(|answers| {
        let all = answers.functions.iter().flat_map(|function| &function.instructions);
        let found = all.filter_map(|typed| match typed.operands[..] {
            [only] if only.fixed_address.is_none() => match only.target {
                Target::Exact { ty, offset } if answers.type_entry(ty).unwrap().name.name == name => {
                    Some((typed.address.0, offset))
                }
                _ => None,
            },
            _ => None,
        });
        found.collect()
    })
}

/// Two structs take turns at one address, and links of lists in both are touched by code that knows the links
/// only.
#[test]
fn structs_that_take_turns_at_an_address_keep_their_samples() {
    let (jobs, workers, lists) = (instructions_of("job"), instructions_of("worker"), instructions_of("list"));
    let mut touches = Vec::new();
    for time in 0..4_000 {
        let is_job = time / 500 % 2 == 0;
        let own = if is_job { &jobs } else { &workers };
        // Both hold their list at offset 8.
        let (code, inner) = if time % 3 == 0 { (&lists, 8) } else { (own, 0) };
        let (ip, offset) = code[time as usize / 3 % code.len()];
        touches.push(TestAccess { ip, address: HEAP + inner + offset, cpu: 0, time: 1_000 + time });
    }
    let verdicts = verdicts(&[&touches]);
    for (time, (target, by_code)) in &verdicts[0] {
        // At a change, the nearest sample may be of the other.
        let since = (time - 1_000) % 500;
        let expected = if (time - 1_000) / 500 % 2 == 0 { "\"job\"" } else { "\"worker\"" };
        let is_at_change = !(3..497).contains(&since);
        assert!(is_at_change || target.contains(expected), "{time}: {target}, by code {by_code}");
    }
}

#[test]
fn the_order_of_samples_changes_nothing() {
    let mut touches = touches(6_000, 2);
    let expected = verdicts(&[&touches]);
    for seed in 0..4 {
        Lcg(seed).shuffle(&mut touches);
        assert_eq!(verdicts(&[&touches]), expected);
    }
}

#[test]
fn the_order_of_recordings_changes_nothing() {
    let (a, b, c) = (touches(3_000, 3), touches(2_000, 4), touches(500, 5));
    let expected = verdicts(&[&a, &b, &c]);
    for order in [[2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        let mixed = verdicts(&order.map(|index| [&a[..], &b, &c][index]));
        for (found, index) in mixed.iter().zip(order) {
            assert_eq!(found, &expected[index], "recording {index} of {order:?}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let touches = touches(3_000, 6);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| verdicts(&[&touches]))
    };
    let expected = with(1);
    assert_eq!(with(2), expected);
    assert_eq!(with(7), expected);
}
