//! Accesses that the plugin wrote down, to a recording.

use anyhow::{Context, Result, ensure};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_profile::perf_data::{Attr, BuildId, Endian, EventIndex};
use fieldline_profile::sample::{CpuMode, SampleFields};
use fieldline_profile::writer::{Mapping, Recording, SampleValues};
use std::fs;
use std::path::Path;

/// The program's process; its CPUs are threads of it.
const PID: u32 = 1000;
/// One access in so many becomes a sample.
const PERIOD: u64 = 3;
const PAGE: u64 = 4096;
/// Words of 8 bytes that an access takes.
const WORDS: usize = 4;

/// The bytes of a perf.data file with some of a trace's accesses.
pub(super) fn recording(program: &Path, trace: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(trace).with_context(|| format!("cannot read {}", trace.display()))?;
    let words: Vec<u64> =
        bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?))).collect();
    let (header, accesses) = words.split_at_checked(2).context("the trace is empty")?;
    ensure!(accesses.len() >= 1000 * WORDS, "{}: only {} words", trace.display(), accesses.len());
    let mut recording = Recording::new(Endian::Little);
    recording.hostname("emulated");
    recording.arch("aarch64");
    let loads = recording.event("mem-loads", attr(), &[1]);
    let stores = recording.event("mem-stores", attr(), &[2]);
    recording.comm(PID, PID, "program");
    map(&mut recording, program, header[0])?;
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    for (time, access) in (0u64..).zip(accesses.chunks_exact(WORDS)) {
        if chance.next().is_multiple_of(PERIOD) {
            let [at, address, _, who] = [access[0], access[1], access[2], access[3]];
            let event = if who % 2 == 1 { (stores, 2) } else { (loads, 1) };
            sample(&mut recording, event, [at, address, who / 2, time]);
        }
    }
    Ok(recording.to_file())
}

fn attr() -> Attr {
    let fields = [
        SampleFields::IDENTIFIER,
        SampleFields::IP,
        SampleFields::TID,
        SampleFields::TIME,
        SampleFields::ADDR,
        SampleFields::CPU,
        SampleFields::PERIOD,
        SampleFields::DATA_SRC,
    ];
    let sample_id_all = 1 << 18;
    Attr {
        kind: 4,
        period_or_frequency: PERIOD,
        sample_type: SampleFields(fields.iter().fold(0, |all, field| all | field.0)),
        flags: sample_id_all,
        ..Attr::default()
    }
}

/// The mapping of the program's code, which was loaded at an address.
fn map(recording: &mut Recording, program: &Path, loaded: u64) -> Result<()> {
    let file = FileBytes::open(program)?;
    let elf = Elf::parse(&file)?;
    let code = elf.segments().into_iter().find(|segment| segment.is_code).context("no code")?;
    let build_id = elf.build_id().and_then(BuildId::new).context("no build id")?;
    let filename = program.to_str().context("the program's path is no text")?;
    let mapping = Mapping {
        pid: PID,
        address: loaded,
        length: code.size.next_multiple_of(PAGE),
        page_offset: code.file_offset,
        filename,
        cpu_mode: CpuMode::User,
    };
    recording.mmap_with_build_id(&mapping, build_id);
    Ok(())
}

fn sample(recording: &mut Recording, (event, id): (EventIndex, u64), [ip, addr, cpu, time]: [u64; 4]) {
    let operation = if id == 2 { 4 } else { 2 };
    let values = SampleValues {
        cpu_mode: CpuMode::User,
        exact_ip: true,
        id: Some(id),
        ip,
        pid: PID,
        tid: PID + cpu as u32,
        time: 1000 * (time + 1),
        addr,
        cpu: cpu as u32,
        period: PERIOD,
        data_source: operation,
        ..SampleValues::default()
    };
    recording.sample(event, &values);
}

/// A sequence of numbers without a pattern the program could have (xorshift64*; Vigna, "An experimental exploration of
/// Marsaglia's xorshift generators").
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }
}
