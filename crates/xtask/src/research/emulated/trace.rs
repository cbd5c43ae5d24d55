//! Accesses and branches that the plugin recorded, to recordings.

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
/// Accesses per sample.
pub(super) const PERIOD: u64 = 3;
const PAGE: u64 = 4096;
/// An access: instruction, address, bytes, and twice the CPU, plus 1 of a store. A branch: from, to, 0, and twice the CPU.
type Event = [u64; 4];

pub(super) struct Trace {
    loaded: u64,
    events: Vec<Event>,
}

impl Trace {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let words = bytes.chunks_exact(8).filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
        let words: Vec<u64> = words.collect();
        let (header, rest) = words.split_at_checked(2).context("the trace is empty")?;
        let events: Vec<Event> = rest.chunks_exact(4).filter_map(|event| event.try_into().ok()).collect();
        ensure!(events.len() >= 1000, "{}: only {} events", path.display(), events.len());
        Ok(Self { loaded: header[0], events })
    }

    pub(super) fn accesses(&self) -> impl Iterator<Item = Event> {
        self.events.iter().copied().filter(|event| event[2] > 0)
    }

    /// Loaded addresses of the program's own code.
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

    /// The bytes of a perf.data file with one access per period.
    pub(super) fn recording(&self, program: &Path, period: u64) -> Result<Vec<u8>> {
        let (mut recording, events) =
            self.begin(program, &[("mem-loads", attr()), ("mem-stores", attr())])?;
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        for (time, [ip, addr, _, cpu]) in (0u64..).zip(self.accesses()) {
            if random.next().is_multiple_of(period) {
                let is_store = cpu % 2 == 1;
                let data_source = if is_store { 4 } else { 2 };
                let values = values(1 + cpu % 2, ip, cpu / 2, time);
                let values = SampleValues { exact_ip: true, addr, period: PERIOD, data_source, ..values };
                recording.sample(events.get(usize::from(is_store)).copied().unwrap_or_default(), &values);
            }
        }
        Ok(recording.to_file())
    }

    /// The bytes of a perf.data file with stacks of the last `depth` branches, one per `period` branches on average.
    pub(super) fn branch_stacks(&self, program: &Path, depth: usize, period: u64) -> Result<Vec<u8>> {
        let (mut recording, events) = self.begin(program, &[("branches", branch_attr(period))])?;
        let mut random = Random(0x2545_f491_4f6c_dd1d);
        let mut stacks: BTreeMap<u64, VecDeque<[u64; 3]>> = BTreeMap::new();
        let branches = self.events.iter().filter(|event| event[2] == 0);
        for (time, [from, to, _, cpu]) in (0u64..).zip(branches) {
            let stack = stacks.entry(cpu / 2).or_default();
            stack.push_front([*from, *to, 0]);
            stack.truncate(depth);
            if random.next().is_multiple_of(period) {
                let (branches, values) = (stack.make_contiguous(), values(1, *to, cpu / 2, time));
                let values = SampleValues { period, branches, ..values };
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
    let sample_type = thread | Field::ADDR | Field::CPU | Field::PERIOD | Field::DATA_SRC;
    let sample_id_all = 1 << 18;
    Attr { kind: 4, period_or_frequency: PERIOD, sample_type, flags: sample_id_all, ..Attr::default() }
}

/// The mapping of the program's code, which was loaded at an address.
fn map(recording: &mut RecordingWriter, program: &Path, loaded: u64) -> Result<()> {
    let file = FileBytes::open(program)?;
    let elf = Elf::parse(&file)?;
    let code = elf.segments().into_iter().find(|segment| segment.is_code).context("no code")?;
    let build_id = elf.build_id().and_then(BuildId::new).context("no build id")?;
    let filename = program.to_str().context("the program's path is no text")?;
    let (address, length, page_offset) = (loaded, code.size.next_multiple_of(PAGE), code.file_offset);
    let mapping = Mapping { pid: PID, address, length, page_offset, filename, cpu_mode: CpuMode::User };
    recording.mmap_with_build_id(&mapping, build_id);
    Ok(())
}

/// The fields that samples of both kinds have: event, address, CPU, time.
fn values<'v>(id: u64, ip: u64, cpu: u64, time: u64) -> SampleValues<'v> {
    let (id, cpu, time) = (Some(id), cpu as u32, 1000 * (time + 1));
    let (cpu_mode, pid, tid) = (CpuMode::User, PID, PID + cpu);
    SampleValues { cpu_mode, id, ip, pid, tid, time, cpu, ..SampleValues::default() }
}

/// Random numbers (xorshift64*; Vigna, "An experimental exploration of
/// Marsaglia's xorshift generators").
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }
}
