//! Programs in C, C++ and Rust, compiled here: every instruction of a function counts as sampled once, at an
//! address where the program may have been mapped. Which members a function touches is plain from its source;
//! where they are, the program says itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

use crate::built::{BuiltPrograms, compiler};
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_perfdata::perf_data::{Attr, Endian};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::writer::{Mapping, RecordingWriter, SampleValues};
use fieldline_profile::attribute::{Attribution, JointAttribution};
use fieldline_typeflow::operands::target::Target;
use fieldline_typeflow::program::Program;
use std::collections::BTreeSet;
use std::path::Path;

/// Process of all samples that don't say otherwise.
const PID: u32 = 100;

fn mapping(pid: u32, address: u64, page_offset: u64, length: u64, filename: &str) -> Mapping<'_> {
    Mapping { pid, address, length, page_offset, filename, cpu_mode: CpuMode::User }
}

/// A recording that maps files somewhere and has some samples.
struct Taken {
    recording: RecordingWriter,
    event: fieldline_perfdata::perf_data::EventIndex,
    time: u64,
}

impl Taken {
    fn new() -> Self {
        let mut recording = RecordingWriter::new(Endian::Little);
        let fields = [SampleFields::IP, SampleFields::TID, SampleFields::TIME, SampleFields::ADDR];
        let fields = fields.into_iter().fold(0, |all, field| all | field.0);
        let attr = Attr { sample_type: SampleFields(fields), ..Attr::default() };
        let event = recording.event("mem", attr, &[1]);
        Self { recording, event, time: 1000 }
    }

    /// Maps the code of a file as a loader does that has some load bias.
    fn map(&mut self, pid: u32, elf: &Elf<'_>, load_bias: u64) {
        for segment in elf.segments().into_iter().filter(|segment| segment.is_code) {
            let begin = segment.address & !0xfff;
            let length = (segment.address + segment.size).next_multiple_of(0x1000) - begin;
            let offset = segment.file_offset & !0xfff;
            self.recording.mmap(&mapping(pid, begin + load_bias, offset, length, elf.name()));
        }
    }

    fn sample(&mut self, pid: u32, ip: u64, addr: u64) {
        self.time += 10;
        let (tid, time) = (pid, self.time);
        let values =
            SampleValues { cpu_mode: CpuMode::User, ip, pid, tid, time, addr, ..SampleValues::default() };
        self.recording.sample(self.event, &values);
    }

    fn file(&self) -> SampleFile {
        SampleFile::from_bytes(self.recording.to_file()).unwrap()
    }
}

/// Attribution of each sample: type and offset, or the reason.
fn rows(
    paths: &[&Path],
    with_addresses: bool,
    take: impl FnOnce(&[Elf<'_>]) -> Taken,
) -> Vec<(String, String)> {
    let bytes: Vec<FileBytes> = paths.iter().map(|path| FileBytes::open(path).unwrap()).collect();
    let elfs: Vec<Elf<'_>> = bytes.iter().map(|bytes| Elf::parse(bytes).unwrap()).collect();
    let files = [take(&elfs).file()];
    let sections: Vec<_> = elfs.iter().map(|elf| DebugSections::load(elf, None).unwrap()).collect();
    let dwarfs: Vec<_> = sections.iter().map(|sections| Dwarf::new(sections).unwrap()).collect();
    let mut programs: Vec<_> =
        elfs.iter().zip(&dwarfs).map(|(elf, dwarf)| Program::new(elf, dwarf).unwrap()).collect();
    let attribute = |(elf, program)| match with_addresses {
        true => Attribution::new(elf, program, &files).unwrap(),
        false => Attribution::by_code(elf, program, &files).unwrap(),
    };
    let attributions: Vec<_> = elfs.iter().zip(&mut programs).map(attribute).collect();
    let mut rows = Vec::new();
    let joint = JointAttribution { attributions: &attributions };
    let each = |_: &fieldline_perfdata::sample::Sample<'_>,
                program: usize,
                found: &fieldline_profile::attribute::Attributed| {
        let name = |ty| attributions[program].answers.type_entry(ty).unwrap().name.name.clone();
        rows.push(match found.target {
            Target::Exact { ty, offset } => (name(ty), offset.to_string()),
            Target::Unknown(reason) => (String::new(), reason.id().to_owned()),
            Target::Within { ty } => (name(ty), "within".to_owned()),
            Target::Element { ty, .. } => (name(ty), "element".to_owned()),
        });
        Ok::<(), fieldline_perfdata::perf_data::Error>(())
    };
    joint.for_each_sample(0, each).unwrap();
    rows
}

/// Where the functions with a text in their names touch memory off the stack, as linked.
fn touches(elf: &Elf<'_>, function: &str) -> Vec<u64> {
    let mut reader = fieldline_machinecode::insn::InstructionReader::new(
        fieldline_machinecode::architecture::Architecture::X86_64,
    );
    let symbols = elf.symbols().filter(|symbol| symbol.is_function && symbol.name.contains(function));
    let mut found = Vec::new();
    for symbol in symbols {
        let code = elf.bytes_at(symbol.address, symbol.size.unwrap()).unwrap();
        for instruction in reader.read_all(symbol.address, code) {
            let explicit = instruction.memory_operands().any(|memory| !memory.is_implicit);
            found.extend(explicit.then_some(instruction.address));
        }
    }
    assert!(!found.is_empty(), "{function} touches memory");
    found
}

/// Those of them that name a fixed address.
fn naming_address(elf: &Elf<'_>, function: &str, address: u64) -> Vec<u64> {
    let mut reader = fieldline_machinecode::insn::InstructionReader::new(
        fieldline_machinecode::architecture::Architecture::X86_64,
    );
    let mut all = touches(elf, function);
    all.retain(|at| {
        let instruction = reader.read(*at, elf.bytes_at(*at, 15).unwrap()).unwrap();
        let names = |operand: &fieldline_machinecode::machine::Address| {
            operand.base.is_none() && operand.index.is_none() && operand.displacement as u64 == address
        };
        instruction.memory_operands().any(|memory| names(&memory.address))
    });
    all
}

/// The members that a function touches by its code alone, as `type+offset`.
fn touched(paths: &[&Path], function: &str) -> BTreeSet<String> {
    const LOAD_BIAS: u64 = 0x5555_0000_0000;
    let rows = rows(paths, false, |elfs| {
        let mut taken = Taken::new();
        for (elf, load_bias) in elfs.iter().zip((0..).map(|nth| LOAD_BIAS + nth * 0x1000_0000)) {
            taken.map(PID, elf, load_bias);
            if elf.symbols().any(|symbol| symbol.is_function && symbol.name.contains(function)) {
                touches(elf, function).into_iter().for_each(|at| taken.sample(PID, at + load_bias, 0));
            }
        }
        taken
    });
    let rows = rows.into_iter().filter(|(_, offset)| offset != "stack");
    rows.map(|(ty, offset)| format!("{ty}+{offset}")).collect()
}

fn set<const N: usize>(members: [String; N]) -> BTreeSet<String> {
    members.into_iter().collect()
}

#[test]
fn c_in_a_position_independent_program_and_its_library() {
    let Some(built) = BuiltPrograms::depot() else { return };
    let (depot, library) = (built.path("depot"), built.path("libledger.so"));
    let at = |ty: &str, member: &str| format!("{ty}+{}", built.offset(ty, member));
    let taken = touched(&[&depot, &library], "take");
    assert_eq!(taken, set([at("shelf", "first"), at("shelf", "taken"), at("parcel", "next")]));
    let found = touched(&[&depot, &library], "ledger_find");
    // The library finds its own variable by a word of the offset table, which is in no struct.
    let members = ["account+0", "account+48", "ledger+0", "ledger_statistics+0", "ledger_statistics+8"];
    let table = "+unknown_pointer".to_owned();
    assert_eq!(found, members.map(str::to_owned).into_iter().chain([table]).collect());
    // Thread-local variables differ from those at the same distance from the start of the file.
    let worked = touched(&[&depot, &library], "work");
    let own = ["tally+0", "tally+8"].map(str::to_owned);
    assert!(own.iter().all(|member| worked.contains(member)), "{worked:?}");
    // The word that holds the thread pointer is in no struct; nothing else goes without.
    let reasons: Vec<&String> = worked.iter().filter(|member| member.starts_with('+')).collect();
    assert!(reasons.iter().all(|reason| *reason == "+unknown_pointer"), "{worked:?}");
}

#[test]
fn classes_with_bases_templates_and_namespaces() {
    let Some(built) = BuiltPrograms::fleet() else { return };
    let fleet = built.path("fleet");
    let at = |ty: &str, member: &str| format!("{ty}+{}", built.offset(ty, member));
    for space in ["road", "rail"] {
        let stop = format!("{space}::Stop");
        let left = if space == "road" { 16 } else { 0 };
        let function = format!("5boardEPN4{space}");
        assert_eq!(touched(&[&fleet], &function), set([at(&stop, "waiting"), format!("{stop}+{left}")]));
    }
    let bus = "fleet::Bus";
    let costs = ["distance", "seats", "begin", "end"].map(|member| at(bus, member));
    assert_eq!(touched(&[&fleet], "Bus4cost"), set(costs));
    // All callers pass the driver of a bus.
    let driver = built.offset(bus, "driver");
    assert_eq!(
        touched(&[&fleet], "4rest"),
        set([driver, driver + 4].map(|offset| format!("{bus}+{offset}")))
    );
}

#[test]
fn references_boxes_and_enums_of_rust() {
    let Some(built) = BuiltPrograms::mill() else { return };
    let mill = built.path("mill");
    let at = |ty: &str, member: &str| format!("mill::{ty}+{}", built.offset(ty, member));
    let ground = ["turns", "ground", "worn"].map(|member| at("Stone", member));
    assert_eq!(touched(&[&mill], "mill5grind"), set(ground));
    let packed = touched(&[&mill], "mill4pack");
    let members = ["flour", "weight", "opened"].map(|member| at("Sack", member));
    assert!(members.iter().all(|member| packed.contains(member)), "{packed:?}");
    let others: Vec<&String> = packed.iter().filter(|member| !members.contains(member)).collect();
    assert_eq!(others, ["mill::Sack+element"], "the stamps, by an index");
    // Slots are boxes in options; the loop reads the first of the shelf and each next one.
    let counted = touched(&[&mill], "mill5count");
    let types: BTreeSet<&str> =
        counted.iter().filter_map(|member| member.split_once('+')).map(|member| member.0).collect();
    assert!(types.contains("mill::Slot<u32>") && types.contains("mill::Shelf<u32>"), "{counted:?}");
    assert!(!counted.contains("+unknown_pointer"), "{counted:?}");
}

#[test]
fn each_process_has_its_own_addresses() {
    let Some(built) = BuiltPrograms::depot() else { return };
    let depot = built.path("depot");
    let (first, second) = (0x5555_0000_0000, 0x5655_0000_0000);
    let rows = rows(&[&depot], true, |elfs| {
        let elf = &elfs[0];
        let symbol = elf.symbols().find(|symbol| symbol.name == "depot_tally").unwrap();
        // The instructions that name the variable's second word.
        let adding = naming_address(elf, "work", symbol.address + 8).into_iter();
        let mut taken = Taken::new();
        taken.map(PID, elf, first);
        taken.map(PID + 1, elf, second);
        for ip in adding {
            taken.sample(PID, ip + first, symbol.address + first + 8);
            taken.sample(PID + 1, ip + second, symbol.address + second + 8);
            taken.sample(PID + 1, ip + first, symbol.address + first + 8);
            taken.sample(PID + 2, ip + first, symbol.address + first + 8);
        }
        taken
    });
    let tally = ("tally".to_owned(), "8".to_owned());
    let mut found = 0;
    for tallies in rows.chunks_exact(4) {
        assert_eq!(tallies[0], tallies[1], "the same instruction in two processes");
        assert_eq!(tallies[2].1, "other_program", "nothing is mapped there in the second process");
        assert_eq!(tallies[3].1, "other_program", "a process that never had the program");
        found += usize::from(tallies[0] == tally);
    }
    assert!(found > 0, "the variable is found in both");
}

#[test]
fn a_child_has_its_parents_mappings() {
    let Some(built) = BuiltPrograms::depot() else { return };
    let depot = built.path("depot");
    let load_bias = 0x5555_0000_0000;
    let rows = rows(&[&depot], false, |elfs| {
        let mut taken = Taken::new();
        let ip = touches(&elfs[0], "take")[0] + load_bias;
        taken.map(PID, &elfs[0], load_bias);
        // Told in the wrong order, as the buffers of several CPUs are.
        taken.recording.fork(PID + 2, PID + 1, 1550);
        taken.recording.fork(PID + 1, PID, 1500);
        taken.recording.fork(PID + 3, PID + 9, 1500);
        taken.time = 1600;
        (0..4).for_each(|nth| taken.sample(PID + nth, ip, 0));
        taken
    });
    assert_eq!(rows[3].1, "other_program");
    assert!(rows.iter().take(3).all(|row| *row == rows[0] && row.1 != "other_program"), "{rows:?}");
}

#[test]
fn layouts_are_what_the_compilers_say() {
    let rust = BuiltPrograms::mill().map(|built| (built, "mill", ["Stone", "Sack"].as_slice()));
    let cpp = BuiltPrograms::fleet()
        .map(|built| (built, "fleet", ["fleet::Bus", "road::Stop", "rail::Stop"].as_slice()));
    let c = BuiltPrograms::depot().map(|built| (built, "depot", ["parcel", "shelf", "worker"].as_slice()));
    for (built, program, types) in [rust, cpp, c].into_iter().flatten() {
        let bytes = FileBytes::open(&built.path(program)).unwrap();
        let elf = Elf::parse(&bytes).unwrap();
        let sections = DebugSections::load(&elf, None).unwrap();
        let dwarf = Dwarf::new(&sections).unwrap();
        for name in types {
            let (path, bare) = fieldline_layout::types::split_namespace(name);
            let found = fieldline_debuginfo::dwarf::find_many(&dwarf, &[bare]).unwrap().concat();
            let fits = |die| path.is_none_or(|path| dwarf.path_of(die).as_deref() == Some(path));
            let die = found.iter().map(|found| found.die).find(|die| fits(*die)).unwrap();
            let mut reader = fieldline_debuginfo::dwarf::TypeReader::new(&dwarf);
            let id = reader.read(die).unwrap();
            let layout = fieldline_layout::Layout::from_type(reader.table(), id).unwrap();
            let members = built.members(name);
            assert!(!members.is_empty());
            for (member, offset) in members {
                let path = layout.path_at(offset).unwrap();
                assert!(
                    path.split('.').any(|part| part == member),
                    "{name}: {member} at {offset}, not {path}"
                );
            }
        }
    }
}

#[test]
fn compilers_that_are_not_there_are_said_to_be() {
    match std::panic::catch_unwind(|| compiler("no-such-compiler", &["--version"])) {
        Ok(found) => assert!(found.is_none()),
        Err(_) => assert_eq!(std::env::var("FIELDLINE_REQUIRE_ALL").as_deref(), Ok("1")),
    }
}
