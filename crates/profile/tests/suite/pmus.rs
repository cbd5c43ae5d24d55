//! Recordings in the forms of PMUs that we have no recordings of: the demo's accesses, written anew by our
//! own writer as Intel's PEBS with WEIGHT_STRUCT, AMD's IBS, Arm's SPE after `perf inject` and breakpoints
//! have them. What they touched must come out the same.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail as tests do")]

use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_doctor::blind_spots::blind_spots;
use fieldline_doctor::{diagnose, summarize};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::Flow;
use fieldline_perfdata::perf_data::{Attr, Endian, EventIndex, PerfFile, Record};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::writer::{Mapping, RecordingWriter, SampleValues};
use fieldline_profile::attribute::Attribution;
use fieldline_typeflow::operands::reason::Reason;
use fieldline_typeflow::operands::target::Target;
use fieldline_typeflow::program::Program;
use std::path::{Path, PathBuf};

const SAMPLE_ID_ALL: u64 = 1 << 18;
const PRECISE: u64 = 3 << 15;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo").join(name)
}

/// A sample of the demo.
#[derive(Clone, Copy)]
struct Access {
    ip: u64,
    address: u64,
    is_store: bool,
    /// Values as they would be written for any PMU.
    values: SampleValues<'static>,
}

/// Accesses of the demo's recording, and a recording to be written.
fn demo() -> (Vec<Access>, RecordingWriter) {
    let file = PerfFile::open(&fixture("shaper.perf.data")).unwrap();
    let mut recording = RecordingWriter::new(Endian::Little);
    recording.arch("x86_64");
    let mut accesses = Vec::new();
    let mut records = file.records();
    while let Some(record) = records.next_record().unwrap() {
        if let Record::Sample(sample) = record {
            let source = sample.data_source.unwrap();
            let values = SampleValues {
                cpu_mode: CpuMode::User,
                exact_ip: true,
                ip: sample.ip.unwrap().0,
                pid: sample.pid.unwrap(),
                tid: sample.tid.unwrap(),
                time: sample.time.unwrap(),
                addr: sample.addr.unwrap().get(),
                cpu: sample.cpu.unwrap(),
                period: sample.period,
                weight: sample.latency.unwrap(),
                data_source: source.0,
                ..SampleValues::default()
            };
            let is_store = source.operation().is_store();
            accesses.push(Access { ip: values.ip, address: values.addr, is_store, values });
        }
    }
    assert!(accesses.len() > 5000, "{}", accesses.len());
    (accesses, recording)
}

/// Maps the demo's program. Events must be there before: they tell how such records end.
fn map(recording: &mut RecordingWriter) {
    let file = PerfFile::open(&fixture("shaper.perf.data")).unwrap();
    let mut records = file.records();
    while let Some(record) = records.next_record().unwrap() {
        if let Record::Mmap(mmap) = record {
            recording.mmap(&Mapping::from(&mmap));
        }
    }
}

fn fields(more: SampleFields) -> SampleFields {
    let common = SampleFields::IP | SampleFields::TID | SampleFields::TIME | SampleFields::ADDR;
    common | SampleFields::CPU | SampleFields::PERIOD | more
}

/// Attribution of a sample: instruction, target, bytes, direction, latency.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outcome {
    ip: Option<u64>,
    target: String,
    size: u64,
    is_store: bool,
    latency: Option<u64>,
}

fn outcomes(bytes: Vec<u8>) -> Vec<Outcome> {
    let file = FileBytes::open(&fixture("shaper")).unwrap();
    let elf = Elf::parse(&file).unwrap();
    let sections = DebugSections::load(&elf, None).unwrap();
    let dwarf = Dwarf::new(&sections).unwrap();
    let mut program = Program::new(&elf, &dwarf).unwrap();
    let files = [SampleFile::from_bytes(bytes).unwrap()];
    let attribution = Attribution::new(&elf, &mut program, &files).unwrap();
    let mut all = Vec::new();
    let result =
        attribution.for_each_sample::<fieldline_perfdata::perf_data::Error>(0, |sample, attributed| {
            let name = |ty| attribution.answers.type_entry(ty).map_or("?", |entry| entry.name.name.as_str());
            let target = match attributed.target {
                Target::Exact { ty, offset } => format!("{}+{offset}", name(ty)),
                Target::Within { ty } => format!("{}+?", name(ty)),
                Target::Element { ty, offset, stride, .. } => format!("{}+{offset}+i*{stride}", name(ty)),
                Target::Unknown(reason) => reason.to_string(),
            };
            let (ip, size, is_store) = (attributed.ip.map(|ip| ip.0), attributed.size, attributed.is_store);
            all.push(Outcome { ip, target, size, is_store, latency: sample.latency });
            Ok(())
        });
    result.unwrap();
    all
}

fn as_recorded() -> Vec<Outcome> {
    outcomes(std::fs::read(fixture("shaper.perf.data")).unwrap())
}

#[test]
fn pebs_with_weight_struct_keeps_the_latency_apart_from_what_stands_beside_it() {
    let (accesses, mut recording) = demo();
    let sample_type = fields(SampleFields::IDENTIFIER | SampleFields::WEIGHT_STRUCT | SampleFields::DATA_SRC);
    let attr = Attr { kind: 4, sample_type, flags: SAMPLE_ID_ALL | PRECISE, ..Attr::default() };
    let event = |recording: &mut RecordingWriter, name, config, config1, id| {
        recording.event(name, Attr { config, config1, ..attr.clone() }, &[id])
    };
    event(&mut recording, "cpu/mem-loads-aux/", 0x8203, 0, 1);
    let loads = event(&mut recording, "cpu/mem-loads,ldlat=3/", 0x1cd, 3, 2);
    let stores = event(&mut recording, "cpu/mem-stores/P", 0x2cd, 0, 3);
    map(&mut recording);
    for Access { is_store, values, .. } in &accesses {
        // var1_dw is the latency, var2_w the instruction's, var3_w the retirement's.
        let weight = values.weight & 0xffff_ffff | 77 << 32 | 9 << 48;
        recording.sample(if *is_store { stores } else { loads }, &SampleValues { weight, ..*values });
    }
    assert_eq!(outcomes(recording.to_file()), as_recorded());
}

/// IBS has one event for all micro-ops; samples of those that touch no memory stand between the others.
#[test]
fn ibs_separates_loads_from_stores_and_skips_samples_without_memory() {
    let (accesses, mut recording) = demo();
    let sample_type = fields(SampleFields::WEIGHT | SampleFields::DATA_SRC);
    let attr = Attr { kind: 11, config: 1 << 19, sample_type, flags: SAMPLE_ID_ALL, ..Attr::default() };
    let ops = recording.event("ibs_op/cnt_ctl=1/", attr, &[]);
    map(&mut recording);
    recording.pmus(&[(4, "cpu"), (11, "ibs_op")]);
    let without = without_memory(&accesses);
    for (index, access) in accesses.iter().enumerate() {
        // PERF_MEM_NA: no operation, no level, no snoop, no lock, no TLB.
        let not_available = 1 | 1 << 5 | 1 << 19 | 1 << 24 | 1 << 26;
        let nothing = SampleValues { addr: 0, weight: 0, data_source: not_available, ..access.values };
        recording.sample(ops, &SampleValues { ip: without[index % without.len()], ..nothing });
        recording.sample(ops, &access.values);
    }
    let found = outcomes(recording.to_file());
    let (nothing, memory): (Vec<_>, Vec<_>) =
        found.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).unzip();
    assert_eq!(memory, as_recorded());
    // Padding in front of a function belongs to none.
    let reasons = [Reason::NoMemoryOperand, Reason::NoDebugInfo].map(|reason| reason.to_string());
    let attributed = nothing.iter().find(|outcome| !reasons.contains(&outcome.target));
    assert_eq!(attributed, None);
}

/// Run-time addresses of sampled functions' instructions that touch no memory, in front of sampled ones.
fn without_memory(accesses: &[Access]) -> Vec<u64> {
    let found = lengths();
    let is_plain = |ip: &u64| {
        found.iter().any(|instruction| {
            instruction.address + u64::from(instruction.length) == *ip
                && instruction.memory_operands().next().is_none()
        })
    };
    let mut ips: Vec<u64> = accesses.iter().map(|access| access.ip).collect();
    ips.sort_unstable();
    ips.dedup();
    let plain: Vec<u64> = ips
        .iter()
        .filter(|ip| is_plain(ip))
        .filter_map(|ip| {
            found
                .iter()
                .find(|instruction| instruction.address + u64::from(instruction.length) == *ip)
                .map(|symbol| symbol.address)
        })
        .collect();
    assert!(plain.len() > 5, "{}", plain.len());
    plain
}

/// All instructions of the program, which isn't moved.
fn lengths() -> Vec<fieldline_machinecode::machine::Instruction> {
    let file = FileBytes::open(&fixture("shaper")).unwrap();
    let elf = Elf::parse(&file).unwrap();
    let mut reader = InstructionReader::new(Architecture::X86_64);
    let sections = elf.text_sections();
    sections.iter().flat_map(|(_, address, bytes)| reader.read_all(*address, bytes)).collect()
}

/// The events that perf 6.12 makes of SPE's trace, as `perf inject` writes them.
fn spe_event(recording: &mut RecordingWriter, name: &str, config: u64, id: u64) -> EventIndex {
    let more = SampleFields::IDENTIFIER | SampleFields::WEIGHT | SampleFields::DATA_SRC;
    let attr = Attr { config, sample_type: fields(more), flags: SAMPLE_ID_ALL, ..Attr::default() };
    recording.event(name, attr, &[id])
}

fn spe_recording() -> (Vec<Access>, RecordingWriter) {
    let (accesses, mut recording) = demo();
    recording.pmus(&[(11, "arm_spe_0"), (8, "armv8_pmuv3_0")]);
    (accesses, recording)
}

/// Samples made of a trace are not marked as exact.
fn of_trace(values: &SampleValues<'static>) -> SampleValues<'static> {
    SampleValues { exact_ip: false, ..*values }
}

#[test]
fn spe_after_inject_has_one_sample_an_access() {
    let (accesses, mut recording) = spe_recording();
    let instructions = spe_event(&mut recording, "instructions", 1, 1_000_000_001);
    map(&mut recording);
    for access in &accesses {
        recording.sample(instructions, &of_trace(&access.values));
    }
    let bytes = recording.to_file();
    let file = SampleFile::from_bytes(bytes.clone()).unwrap();
    let spots = blind_spots(file.facts(), &file.count_records().unwrap(), None);
    assert!(!spots.iter().any(|spot| ["skid", "aux-trace"].contains(&spot.key.as_str())), "{spots:?}");
    assert_eq!(outcomes(bytes), as_recorded());
}

#[test]
fn spe_after_inject_without_i1i_counts_accesses_repeatedly_and_doctor_says_so() {
    let (accesses, mut recording) = spe_recording();
    let l1 = spe_event(&mut recording, "l1d-access", 0, 1);
    let miss = spe_event(&mut recording, "llc-miss", 0, 2);
    let tlb = spe_event(&mut recording, "tlb-access", 0, 3);
    let memory = spe_event(&mut recording, "memory", 0, 4);
    map(&mut recording);
    for access in &accesses {
        let values = of_trace(&access.values);
        for event in [l1, tlb, memory] {
            recording.sample(event, &values);
        }
    }
    recording.sample(miss, &of_trace(&accesses[0].values));
    let file = SampleFile::from_bytes(recording.to_file()).unwrap();
    let counts = file.count_records().unwrap();
    let by_event: Vec<u64> = counts.events.iter().map(|event| event.samples).collect();
    let all = accesses.len() as u64;
    assert_eq!(by_event, [all, 1, all, all]);
    assert_eq!(counts.events[3].loads + counts.events[3].stores, all);
    let exam = diagnose(&file, &summarize(&file, None).unwrap(), None);
    let finding = exam.findings.iter().find(|finding| finding.key == "counted-repeatedly").unwrap();
    assert!(
        finding.evidence.contains(&format!("llc-miss (1 samples), tlb-access ({all} samples)")),
        "{}",
        finding.evidence
    );
    assert!(finding.command.as_deref().is_some_and(|command| command.contains("--itrace=i1i")));
}

#[test]
fn breakpoints_name_the_instruction_behind_the_access() {
    let (accesses, mut recording) = demo();
    let attr = Attr {
        kind: 5,
        breakpoint_kind: 3,
        config1: accesses[0].address,
        config2: 8,
        sample_type: fields(SampleFields::default()),
        flags: SAMPLE_ID_ALL,
        ..Attr::default()
    };
    let watch = recording.event("mem:0x1000/8:rw", attr, &[]);
    map(&mut recording);
    let instructions = lengths();
    let recorded = as_recorded();
    let mut expected = Vec::new();
    for (access, outcome) in accesses.iter().zip(&recorded) {
        let at = outcome
            .ip
            .and_then(|ip| instructions.binary_search_by_key(&ip, |instruction| instruction.address).ok());
        let Some(instruction) =
            at.map(|at| &instructions[at]).filter(|instruction| instruction.flow == Flow::Next)
        else {
            continue;
        };
        recording
            .sample(watch, &SampleValues { ip: access.ip + u64::from(instruction.length), ..access.values });
        expected.push(outcome);
    }
    assert!(expected.len() > 4000, "{}", expected.len());
    let found = outcomes(recording.to_file());
    let places = |all: &[&Outcome]| all.iter().map(|outcome| (outcome.ip, outcome.size)).collect::<Vec<_>>();
    assert_eq!(places(&found.iter().collect::<Vec<_>>()), places(&expected));
    // Eight bytes are the access's own; of narrower members the watch's address tells no object.
    let whole = expected.iter().zip(&found).filter(|(expected, _)| expected.size == 8);
    let same = whole.clone().filter(|(expected, found)| expected.target == found.target).count();
    assert!(same * 100 > whole.count() * 99, "{same}");
    let contradicted = Reason::BadAddress.to_string();
    assert!(!found.iter().any(|outcome| outcome.target == contradicted));
}

#[test]
fn a_breakpoint_behind_a_jump_has_no_access_in_front() {
    let (accesses, mut recording) = demo();
    let attr = Attr {
        kind: 5,
        breakpoint_kind: 3,
        config2: 8,
        sample_type: fields(SampleFields::default()),
        flags: SAMPLE_ID_ALL,
        ..Attr::default()
    };
    let watch = recording.event("", attr, &[]);
    map(&mut recording);
    for ip in without_memory(&accesses) {
        // Behind an instruction that touches no memory.
        let after = lengths()
            .iter()
            .find(|instruction| instruction.address == ip)
            .map(|instruction| ip + u64::from(instruction.length))
            .unwrap();
        recording.sample(watch, &SampleValues { ip: after, ..accesses[0].values });
    }
    let found = outcomes(recording.to_file());
    assert!(found.len() > 5);
    assert!(found.iter().all(|outcome| outcome.target == Reason::NoMemoryOperand.to_string()), "{found:?}");
}
