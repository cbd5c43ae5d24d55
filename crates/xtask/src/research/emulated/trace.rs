//! Accesses and branches that the plugin wrote down, to recordings.

use anyhow::{Context, Result, ensure};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_perfdata::perf_data::{Attr, BuildId, Endian, EventIndex};
use fieldline_perfdata::sample::{CpuMode, SampleFields as Field};
use fieldline_perfdata::writer::{Mapping, RecordingWriter, SampleValues};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::ops::Range;
use std::path::Path;

/// The program's process; its CPUs are threads of it.
const PID: u32 = 1000;
/// One access in so many becomes a sample.
pub(super) const PERIOD: u64 = 3;
const PAGE: u64 = 4096;
/// Words of 8 bytes that an access takes.
const WORDS_PER_ROW: usize = 4;

pub(super) struct Trace {
    loaded: u64,
    /// Four words each.
    rows: Vec<[u64; WORDS_PER_ROW]>,
}

impl Trace {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)))
            .collect();
        let (header, rows) = words.split_at_checked(2).context("the trace is empty")?;
        let rows: Vec<[u64; WORDS_PER_ROW]> =
            rows.chunks_exact(WORDS_PER_ROW).filter_map(|row| row.try_into().ok()).collect();
        ensure!(rows.len() >= 1000, "{}: only {} rows", path.display(), rows.len());
        Ok(Self { loaded: header[0], rows })
    }

    /// All accesses: instruction, address, bytes, and who: twice the CPU, plus 1 of a store.
    pub(super) fn accesses(&self) -> impl Iterator<Item = [u64; WORDS_PER_ROW]> {
        self.rows.iter().copied().filter(|row| row[2] > 0)
    }

    /// Where the program's own code lay.
    pub(super) fn code(&self, program: &Path) -> Result<Range<u64>> {
        let file = FileBytes::open(program)?;
        let elf = Elf::parse(&file)?;
        let code = elf.segments().into_iter().find(|segment| segment.is_code).context("no code")?;
        Ok(self.loaded..self.loaded + code.size)
    }

    fn begin(&self, program: &Path, events: &[(&str, Attr)]) -> Result<(RecordingWriter, Vec<EventIndex>)> {
        let mut recording = RecordingWriter::new(Endian::Little);
        recording.hostname("emulated");
        recording.arch("aarch64");
        let add = |((name, attr), id): (&(&str, Attr), u64)| recording.event(name, attr.clone(), &[id]);
        let events = events.iter().zip(1..).map(add).collect();
        recording.comm(PID, PID, "program");
        map(&mut recording, program, self.loaded)?;
        Ok((recording, events))
    }

    /// The bytes of a perf.data file with one access in so many.
    pub(super) fn recording(&self, program: &Path, period: u64) -> Result<Vec<u8>> {
        let (mut recording, events) =
            self.begin(program, &[("mem-loads", attr()), ("mem-stores", attr())])?;
        let mut chance = RandomNumbers(0x2545_f491_4f6c_dd1d);
        for (time, [at, address, _, who]) in (0u64..).zip(self.accesses()) {
            if chance.next().is_multiple_of(period) {
                let is_store = who % 2 == 1;
                let values = SampleValues {
                    exact_ip: true,
                    addr: address,
                    period: PERIOD,
                    data_source: if is_store { 4 } else { 2 },
                    ..values(1 + who % 2, at, who / 2, time)
                };
                recording.sample(events.get(usize::from(is_store)).copied().unwrap_or_default(), &values);
            }
        }
        Ok(recording.to_file())
    }

    /// The bytes of a perf.data file with stacks of the last `depth` branches, one for `every` so many on average.
    pub(super) fn branch_stacks(&self, program: &Path, depth: usize, every: u64) -> Result<Vec<u8>> {
        let (mut recording, events) = self.begin(program, &[("branches", branch_attr(every))])?;
        let mut chance = RandomNumbers(0x2545_f491_4f6c_dd1d);
        let mut stacks: BTreeMap<u64, VecDeque<[u64; 3]>> = BTreeMap::new();
        for (time, [from, to, _, who]) in (0u64..).zip(self.rows.iter().copied().filter(|row| row[2] == 0)) {
            let stack = stacks.entry(who / 2).or_default();
            stack.push_front([from, to, 0]);
            stack.truncate(depth);
            if chance.next().is_multiple_of(every) {
                let values = SampleValues {
                    period: every,
                    branches: stack.make_contiguous(),
                    ..values(1, to, who / 2, time)
                };
                recording.sample(events.first().copied().unwrap_or_default(), &values);
            }
        }
        Ok(recording.to_file())
    }
}

/// `perf record -b`: all branches of user code (`PERF_SAMPLE_BRANCH_ANY` and `_USER`).
fn branch_attr(period: u64) -> Attr {
    let sample_type =
        Field((attr().sample_type | Field::BRANCH_STACK).0 & !(Field::ADDR | Field::DATA_SRC).0);
    Attr { sample_type, period_or_frequency: period, branch_sample_type: 1 << 3 | 1, ..attr() }
}

fn attr() -> Attr {
    let thread = Field::IDENTIFIER | Field::IP | Field::TID | Field::TIME;
    let sample_id_all = 1 << 18;
    Attr {
        kind: 4,
        period_or_frequency: PERIOD,
        sample_type: thread | Field::ADDR | Field::CPU | Field::PERIOD | Field::DATA_SRC,
        flags: sample_id_all,
        ..Attr::default()
    }
}

/// The mapping of the program's code, which was loaded at an address.
fn map(recording: &mut RecordingWriter, program: &Path, loaded: u64) -> Result<()> {
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

/// What samples of both kinds have: by which event, where and when.
fn values<'v>(id: u64, ip: u64, cpu: u64, time: u64) -> SampleValues<'v> {
    let (id, cpu, time) = (Some(id), cpu as u32, 1000 * (time + 1));
    let (cpu_mode, pid, tid) = (CpuMode::User, PID, PID + cpu);
    SampleValues { cpu_mode, id, ip, pid, tid, time, cpu, ..SampleValues::default() }
}

/// A sequence of numbers without a pattern the program could have (xorshift64*; Vigna, "An experimental exploration of
/// Marsaglia's xorshift generators").
struct RandomNumbers(u64);

impl RandomNumbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }
}
