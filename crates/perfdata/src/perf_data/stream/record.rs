//! Records: the contents of each kind.
//!
//! The kinds and their forms are those of `enum perf_event_type` in `include/uapi/linux/perf_event.h` and
//! of `enum perf_user_event_type` in `tools/lib/perf/include/perf/event.h`.

use fieldline_files::printable::printable_bytes;
use std::borrow::Cow;

use crate::address::LoadedAddress;
use crate::perf_data::bytes::{Cursor, Endian, bytes_until_nul};
use crate::perf_data::error::{BytePosition, Error};
use crate::perf_data::header::event_table::EventTable;
use crate::perf_data::header::facts::{BuildId, DsoBuildId, is_kernel_image};
use crate::perf_data::header::features;
use crate::sample::{CpuMode, FieldError, Sample};

/// The kinds of records read here.
pub(crate) mod kind {
    pub(crate) const MMAP: u32 = 1;
    pub(crate) const LOST: u32 = 2;
    pub(crate) const COMM: u32 = 3;
    pub(crate) const EXIT: u32 = 4;
    pub(crate) const THROTTLE: u32 = 5;
    pub(crate) const UNTHROTTLE: u32 = 6;
    pub(crate) const FORK: u32 = 7;
    pub(crate) const SAMPLE: u32 = 9;
    pub(crate) const MMAP2: u32 = 10;
    pub(crate) const AUX: u32 = 11;
    pub(crate) const LOST_SAMPLES: u32 = 13;
    pub(crate) const HEADER_ATTR: u32 = 64;
    pub(crate) const HEADER_TRACING_DATA: u32 = 66;
    pub(crate) const HEADER_BUILD_ID: u32 = 67;
    pub(crate) const FINISHED_ROUND: u32 = 68;
    pub(crate) const AUXTRACE: u32 = 71;
    pub(crate) const EVENT_UPDATE: u32 = 78;
    pub(crate) const HEADER_FEATURE: u32 = 80;
    pub(crate) const COMPRESSED: u32 = 81;
    pub(crate) const COMPRESSED2: u32 = 83;
}

/// Bytes of a record's header: kind, misc, size.
pub(crate) const HEADER_SIZE: usize = 8;

/// `PERF_RECORD_MISC_MMAP_DATA`, `_COMM_EXEC`.
const MISC_DATA_OR_EXEC: u16 = 1 << 13;
/// `PERF_RECORD_MISC_MMAP_BUILD_ID`.
const MISC_MMAP_BUILD_ID: u16 = 1 << 14;
/// `PERF_RECORD_MISC_LOST_SAMPLES_BPF`.
const MISC_LOST_TO_FILTER: u16 = 1 << 15;
/// The pid of mappings that belong to the kernel.
const KERNEL_PID: u32 = u32::MAX;

/// A record that was found and not read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawRecord<'a> {
    /// Its kind, a `PERF_RECORD_*` number.
    pub kind: u32,
    /// Flags whose meaning depends on the kind.
    pub misc: u16,
    /// The bytes behind the header.
    pub body: &'a [u8],
    /// Position of its header.
    pub place: BytePosition,
}

impl RawRecord<'_> {
    pub(crate) fn is_sample(&self) -> bool {
        self.kind == kind::SAMPLE
    }
}

/// A record.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "nearly every record is a sample, and boxes would allocate")]
pub enum Record<'a> {
    /// A sample.
    Sample(Sample<'a>),
    /// A sample whose event the recording does not describe.
    UnknownSample {
        /// The id it has.
        id: u64,
    },
    /// Something was mapped.
    Mmap(Mmap<'a>),
    /// A thread got a name.
    Comm {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// The name.
        name: Cow<'a, str>,
        /// It got the name by executing another program.
        is_exec: bool,
        /// When, in nanoseconds, if it was recorded.
        time: Option<u64>,
    },
    /// A thread began.
    Fork(TaskRecord),
    /// A thread ended.
    Exit(TaskRecord),
    /// Records did not fit the buffer.
    Lost {
        /// How many.
        count: u64,
    },
    /// Samples of the event were lost by the hardware or the buffer, or dropped by a filter.
    LostSamples {
        /// How many.
        count: u64,
        /// A filter dropped them, as it was asked to.
        by_filter: bool,
    },
    /// The kernel paused (or resumed) the event because it took too much time.
    Throttle {
        /// Paused rather than resumed.
        is_start: bool,
    },
    /// Hardware trace data arrived in its buffer.
    Aux {
        /// Bytes.
        size: u64,
    },
    /// Hardware trace data in the file; it was stepped over.
    AuxTrace {
        /// Bytes.
        size: u64,
    },
    /// A build id outside the feature section.
    BuildId(DsoBuildId),
    /// No record that is still to come is older than those before the last such mark.
    FinishedRound,
    /// A kind that is not read.
    Other {
        /// Its number.
        kind: u32,
    },
}

/// `PERF_RECORD_MMAP` and `PERF_RECORD_MMAP2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mmap<'a> {
    /// Process; all ones for the kernel.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// First address.
    pub address: LoadedAddress,
    /// Bytes.
    pub length: u64,
    /// Offset in the file; of the kernel image see [`Mmap::reference_address`].
    pub page_offset: u64,
    /// Path, or a name in brackets.
    pub filename: Cow<'a, str>,
    /// Build id, where the kernel gave one.
    pub build_id: Option<BuildId>,
    /// Kernel, user, or a guest's.
    pub cpu_mode: CpuMode,
    /// It was mapped as data, not as code.
    pub is_data: bool,
    /// When, in nanoseconds, if it was recorded.
    pub time: Option<u64>,
}

impl Mmap<'_> {
    /// The address behind.
    #[must_use]
    pub fn end(&self) -> LoadedAddress {
        self.address.saturating_add(self.length)
    }

    /// It maps code of the kernel: the image or a module.
    #[must_use]
    pub fn is_kernel(&self) -> bool {
        self.cpu_mode == CpuMode::Kernel || (self.pid == KERNEL_PID && !self.cpu_mode.is_guest())
    }

    /// It maps the kernel image itself.
    #[must_use]
    pub fn is_kernel_image(&self) -> bool {
        self.is_kernel() && is_kernel_image(&self.filename)
    }

    /// The loaded address of the kernel image's reference symbol, which stands in place of the offset in the
    /// file; none if the kernel hid it.
    #[must_use]
    pub fn reference_address(&self) -> Option<LoadedAddress> {
        let is_known = self.is_kernel_image() && self.page_offset != 0;
        is_known.then_some(LoadedAddress(self.page_offset))
    }
}

/// `PERF_RECORD_FORK` and `PERF_RECORD_EXIT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskRecord {
    /// Process.
    pub pid: u32,
    /// Its parent.
    pub parent_pid: u32,
    /// Thread.
    pub tid: u32,
    /// Its parent.
    pub parent_tid: u32,
    /// When, in nanoseconds.
    pub time: u64,
}

/// Reads a found record.
#[inline]
pub(crate) fn parse<'a>(
    raw: RawRecord<'a>,
    events: &'a EventTable,
    endian: Endian,
) -> Result<Record<'a>, Error> {
    if raw.kind == kind::SAMPLE {
        return parse_sample(raw, events);
    }
    parse_other(raw, events, endian)
}

/// Reads a found record that is no sample.
fn parse_other<'a>(raw: RawRecord<'a>, events: &EventTable, endian: Endian) -> Result<Record<'a>, Error> {
    let at = |what| Cursor::new(raw.body, endian, what, raw.place.plus(HEADER_SIZE as u64));
    Ok(match raw.kind {
        kind::MMAP | kind::MMAP2 => Record::Mmap(parse_mmap(raw, at("mmap record"), events)?),
        kind::COMM => parse_comm(raw, at("comm record"), events)?,
        kind::FORK => Record::Fork(parse_task(at("fork record"))?),
        kind::EXIT => Record::Exit(parse_task(at("exit record"))?),
        // Behind the event's id.
        kind::LOST => Record::Lost { count: second_word(at("lost record"))? },
        kind::LOST_SAMPLES => {
            let by_filter = raw.misc & MISC_LOST_TO_FILTER != 0;
            Record::LostSamples { count: at("lost samples record").u64()?, by_filter }
        }
        kind::THROTTLE | kind::UNTHROTTLE => Record::Throttle { is_start: raw.kind == kind::THROTTLE },
        // Behind the offset.
        kind::AUX => Record::Aux { size: second_word(at("aux record"))? },
        kind::AUXTRACE => Record::AuxTrace { size: at("auxtrace record").u64()? },
        kind::HEADER_BUILD_ID => features::build_id(raw.misc, raw.body, raw.place)?
            .map_or(Record::Other { kind: raw.kind }, Record::BuildId),
        kind::FINISHED_ROUND => Record::FinishedRound,
        kind => Record::Other { kind },
    })
}

#[inline]
fn parse_sample<'a>(raw: RawRecord<'a>, events: &'a EventTable) -> Result<Record<'a>, Error> {
    let mut sample = Sample::default();
    Ok(match read_sample(raw, events, &mut sample)? {
        None => Record::Sample(sample),
        Some(id) => Record::UnknownSample { id },
    })
}

/// Reads a sample into `into`; gives the id of one that belongs to no event.
#[inline]
pub(crate) fn read_sample<'a>(
    raw: RawRecord<'a>,
    events: &'a EventTable,
    into: &mut Sample<'a>,
) -> Result<Option<u64>, Error> {
    let event = match events.sample_event(raw.body) {
        Ok(event) => event,
        Err(Some(id)) => return Ok(Some(id)),
        Err(None) => return Err(missing_id_error(raw)),
    };
    let Some(layout) = events.layout(event) else { return Err(missing_id_error(raw)) };
    match layout.read(raw.misc, raw.body, into) {
        Ok(()) => {
            into.event = event;
            Ok(None)
        }
        Err(error) => Err(sample_error(raw, error)),
    }
}

#[cold]
fn missing_id_error(raw: RawRecord<'_>) -> Error {
    let problem = format!("its {} bytes end before the event's id", raw.body.len());
    Error::malformed("sample", raw.place, problem)
}

#[cold]
fn sample_error(raw: RawRecord<'_>, error: FieldError) -> Error {
    let (offset, problem) = match error {
        FieldError::Short { field, offset, needed } => {
            let left = raw.body.len() - offset;
            (offset, format!("its {field} need {needed} bytes and {left} are left in the record"))
        }
        FieldError::Leftover { offset, count } => {
            (offset, format!("{count} bytes are left over after the fields its event has"))
        }
    };
    Error::malformed("sample", raw.place.plus((HEADER_SIZE + offset) as u64), problem)
}

fn parse_mmap<'a>(raw: RawRecord<'a>, mut at: Cursor<'a>, events: &EventTable) -> Result<Mmap<'a>, Error> {
    let (pid, tid) = (at.u32()?, at.u32()?);
    let (address, length, page_offset) = (LoadedAddress(at.u64()?), at.u64()?, at.u64()?);
    let build_id = match raw.kind {
        kind::MMAP2 => parse_mmap2_build_id(raw.misc, &mut at)?,
        _ => None,
    };
    let (filename, time) = (parse_name(at.rest()), events.record_time(raw.body));
    let (cpu_mode, is_data) = (CpuMode::from_misc(raw.misc), raw.misc & MISC_DATA_OR_EXEC != 0);
    Ok(Mmap { pid, tid, address, length, page_offset, filename, build_id, cpu_mode, is_data, time })
}

/// The part that `MMAP2` has and `MMAP` lacks: device and inode or a build id, then protection and flags.
fn parse_mmap2_build_id(misc: u16, at: &mut Cursor<'_>) -> Result<Option<BuildId>, Error> {
    let size = usize::from(at.u8()?);
    at.take(3)?;
    let bytes: [u8; 20] = at.array()?;
    at.take(8)?;
    let bytes = bytes.get(..size.min(20)).unwrap_or_default();
    Ok(if misc & MISC_MMAP_BUILD_ID != 0 { BuildId::new(bytes) } else { None })
}

fn parse_comm<'a>(raw: RawRecord<'a>, mut at: Cursor<'a>, events: &EventTable) -> Result<Record<'a>, Error> {
    let (pid, tid) = (at.u32()?, at.u32()?);
    let (is_exec, time) = (raw.misc & MISC_DATA_OR_EXEC != 0, events.record_time(raw.body));
    Ok(Record::Comm { pid, tid, name: parse_name(at.rest()), is_exec, time })
}

fn parse_task(mut at: Cursor<'_>) -> Result<TaskRecord, Error> {
    let [pid, parent_pid, tid, parent_tid] = [at.u32()?, at.u32()?, at.u32()?, at.u32()?];
    Ok(TaskRecord { pid, parent_pid, tid, parent_tid, time: at.u64()? })
}

/// The second word of a body.
fn second_word(mut at: Cursor<'_>) -> Result<u64, Error> {
    at.u64()?;
    at.u64()
}

fn parse_name(bytes: &[u8]) -> Cow<'_, str> {
    printable_bytes(bytes_until_nul(bytes))
}
