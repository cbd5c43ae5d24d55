//! A recording under construction: its events, records and features.

use super::bytes::Bytes;
use super::packing::{Packing, WrittenRecord};
use crate::perf_data::{Attr, Endian, Event, EventIndex, feature};

/// Bytes of the attribute as written: the size Linux 6.3 to 6.18 have.
const ATTR_SIZE: u32 = 136;

/// Thread, time and CPU at the end of records that are no samples (`struct sample_id` of
/// `perf_event_open(2)`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleId {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Nanoseconds.
    pub time: u64,
    /// CPU.
    pub cpu: u32,
}

/// A recording under construction.
#[derive(Debug, Clone, Default)]
pub struct RecordingWriter {
    pub(super) endian: Endian,
    pub(super) attr_size: Option<u32>,
    pub(super) events: Vec<Event>,
    /// Whole records with their headers, and whether the kernel wrote them.
    pub(super) records: Vec<WrittenRecord>,
    /// Sections by the number of their feature.
    pub(super) features: Vec<(u32, Vec<u8>)>,
    /// Build id records: those of the feature, and in pipe mode records of their own.
    pub(super) build_ids: Vec<u8>,
    pub(super) packing: Packing,
    /// The end of records that are no samples.
    pub(super) sample_id: SampleId,
}

impl RecordingWriter {
    /// An empty recording of a machine with this byte order.
    #[must_use]
    pub fn new(endian: Endian) -> Self {
        let mut hostname = Bytes::new(endian);
        hostname.string("host");
        let features = vec![(feature::HOSTNAME, hostname.into_vec())];
        Self { endian, features, ..Self::default() }
    }

    /// Writes attributes of another size than today's, as older and newer kernels do.
    pub fn attr_size(&mut self, size: u32) {
        self.attr_size = Some(size);
    }

    /// Packs the kernel's records.
    pub fn set_packing(&mut self, packing: Packing) {
        self.packing = packing;
    }

    /// Adds an event.
    pub fn event(&mut self, name: &str, attr: Attr, ids: &[u64]) -> EventIndex {
        let index = EventIndex(u32::try_from(self.events.len()).unwrap_or(u32::MAX));
        self.events.push(Event { name: name.to_owned(), attr, ids: ids.to_vec() });
        index
    }

    pub(super) fn bytes(&self) -> Bytes {
        Bytes::new(self.endian)
    }

    pub(super) fn written_attr_size(&self) -> u32 {
        self.attr_size.unwrap_or(ATTR_SIZE)
    }

    /// `struct perf_event_attr`.
    pub(super) fn attr_bytes(&self, attr: &Attr) -> Vec<u8> {
        let mut out = self.bytes();
        out.u32(attr.kind).u32(self.written_attr_size()).u64(attr.config).u64(attr.period_or_frequency);
        out.u64(attr.sample_type.0).u64(attr.read_format).u64(flag_word(attr.flags, self.endian));
        out.u32(0).u32(attr.breakpoint_kind).u64(attr.config1).u64(attr.config2).u64(attr.branch_sample_type);
        out.u64(attr.user_registers).u64(0).u64(attr.interrupt_registers);
        let mut bytes = out.into_vec();
        bytes.resize(self.written_attr_size() as usize, 0);
        bytes
    }
}

/// The flags as bit-fields of the machine: all one bit wide but `precise_ip` at 15 and 16.
fn flag_word(flags: u64, endian: Endian) -> u64 {
    match endian {
        Endian::Little => flags,
        Endian::Big => (flags & !(3 << 15)).reverse_bits() | (flags >> 15 & 3) << 47,
    }
}
