//! Writes recordings, so that tests and fixtures can have any they need.
//!
//! A [`Recording`] collects events, records and features, and gives the bytes of a perf.data file in file
//! or in pipe mode, of either byte order, packed or not. `perf` itself reads what this writes.

mod bytes;
mod features;
mod packing;
mod records;
mod sample;

pub use packing::Packing;
pub use records::{Identity, Mapping};
pub use sample::{CounterValues, SampleValues};

use crate::perf_data::{Attr, Endian, Event, EventIndex};
use bytes::Bytes;

/// Bytes of the attribute as written: the size Linux 6.3 to 6.18 have.
const ATTR_SIZE: u32 = 136;
/// `sizeof(struct perf_file_header)`.
const FILE_HEADER_SIZE: u64 = 104;

/// A recording under construction.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    endian: Endian,
    attr_size: Option<u32>,
    events: Vec<Event>,
    /// Whole records with their headers, and whether the kernel wrote them.
    records: Vec<WrittenRecord>,
    /// Sections by the number of their feature.
    features: Vec<(u32, Vec<u8>)>,
    /// Build id records: those of the feature, and in pipe mode records of their own.
    build_ids: Vec<u8>,
    packing: Packing,
    /// What records that are no samples end in.
    identity: Identity,
}

#[derive(Debug, Clone)]
struct WrittenRecord {
    bytes: Vec<u8>,
    /// `perf record -z` packs what came through the kernel's buffer and nothing else.
    is_from_kernel: bool,
}

impl Recording {
    /// An empty recording of a machine with this byte order.
    #[must_use]
    pub fn new(endian: Endian) -> Self {
        let mut recording = Self { endian, ..Self::default() };
        recording.hostname("host");
        recording
    }

    /// Writes attributes of another size than today's, as older and newer kernels do.
    pub fn attr_size(&mut self, size: u32) {
        self.attr_size = Some(size);
    }

    /// Packs the kernel's records.
    pub fn pack(&mut self, packing: Packing) {
        self.packing = packing;
    }

    /// Adds an event.
    pub fn event(&mut self, name: &str, attr: Attr, ids: &[u64]) -> EventIndex {
        let index = EventIndex(u32::try_from(self.events.len()).unwrap_or(u32::MAX));
        self.events.push(Event { name: name.to_owned(), attr, ids: ids.to_vec() });
        index
    }

    /// The recording as `perf record -o FILE` writes it.
    #[must_use]
    pub fn to_file(&self) -> Vec<u8> {
        let ids_size: u64 = self.events.iter().map(|event| 8 * event.ids.len() as u64).sum();
        let attrs_offset = FILE_HEADER_SIZE + ids_size;
        let entry_size = u64::from(self.written_attr_size()) + 16;
        let attrs_size = entry_size * self.events.len() as u64;
        let data = self.data();
        let data_offset = attrs_offset + attrs_size;
        let sections = self.sections();

        let mut out = self.bytes();
        out.bytes(&magic(self.endian));
        out.u64(FILE_HEADER_SIZE).u64(entry_size).u64(attrs_offset).u64(attrs_size);
        out.u64(data_offset).u64(data.len() as u64).u64(0).u64(0);
        feature_bitmap(&sections).into_iter().for_each(|word| {
            out.u64(word);
        });
        self.events.iter().flat_map(|event| &event.ids).for_each(|&id| {
            out.u64(id);
        });
        let mut ids_offset = FILE_HEADER_SIZE;
        for event in &self.events {
            let ids_size = 8 * event.ids.len() as u64;
            out.bytes(&self.attr_bytes(&event.attr)).u64(ids_offset).u64(ids_size);
            ids_offset += ids_size;
        }
        out.bytes(&data);
        write_sections(&mut out, &sections);
        out.into_vec()
    }

    /// The recording as `perf record -o -` writes it.
    #[must_use]
    pub fn to_pipe(&self) -> Vec<u8> {
        let mut out = self.bytes();
        out.bytes(&magic(self.endian)).u64(16);
        for event in &self.events {
            let mut body = self.bytes();
            body.bytes(&self.attr_bytes(&event.attr));
            event.ids.iter().for_each(|&id| {
                body.u64(id);
            });
            out.record(records::kind::HEADER_ATTR, 0, &body.into_vec());
        }
        for (number, section) in self.sections_without_build_ids() {
            let mut body = self.bytes();
            body.u64(u64::from(number)).bytes(&section).pad(8);
            out.record(records::kind::HEADER_FEATURE, 0, &body.into_vec());
        }
        out.bytes(&self.data());
        out.bytes(&self.build_id_records());
        out.into_vec()
    }

    fn bytes(&self) -> Bytes {
        Bytes::new(self.endian)
    }

    /// All records, packed as asked.
    fn data(&self) -> Vec<u8> {
        packing::pack(&self.records, self.packing, self.endian)
    }

    fn written_attr_size(&self) -> u32 {
        self.attr_size.unwrap_or(ATTR_SIZE)
    }

    /// `struct perf_event_attr`.
    fn attr_bytes(&self, attr: &Attr) -> Vec<u8> {
        let mut out = self.bytes();
        out.u32(attr.kind).u32(self.written_attr_size()).u64(attr.config).u64(attr.period_or_frequency);
        out.u64(attr.sample_type.0).u64(attr.read_format).u64(flag_word(attr.flags, self.endian));
        out.u32(0).u32(attr.breakpoint_kind).u64(attr.config1).u64(attr.config2).u64(attr.branch_sample_type);
        out.u64(attr.user_registers).u32(attr.user_stack).u32(0).u64(attr.interrupt_registers);
        out.u64(0).u64(0).u64(0).u64(attr.config3);
        let mut bytes = out.into_vec();
        bytes.resize(self.written_attr_size() as usize, 0);
        bytes
    }
}

fn magic(endian: Endian) -> [u8; 8] {
    let mut magic = *b"PERFILE2";
    if endian == Endian::Big {
        magic.reverse();
    }
    magic
}

/// The flags as bit-fields of the machine: all one bit wide but `precise_ip` at 15 and 16.
fn flag_word(flags: u64, endian: Endian) -> u64 {
    match endian {
        Endian::Little => flags,
        Endian::Big => (flags & !(3 << 15)).reverse_bits() | (flags >> 15 & 3) << 47,
    }
}

fn feature_bitmap(sections: &[(u32, Vec<u8>)]) -> [u64; 4] {
    let mut words = [0; 4];
    for (number, _) in sections {
        if let Some(word) = words.get_mut(*number as usize / 64) {
            *word |= 1 << (number % 64);
        }
    }
    words
}

/// The table of sections, then the sections.
fn write_sections(out: &mut Bytes, sections: &[(u32, Vec<u8>)]) {
    let mut offset = out.len() as u64 + 16 * sections.len() as u64;
    for (_, section) in sections {
        out.u64(offset).u64(section.len() as u64);
        offset += section.len() as u64;
    }
    for (_, section) in sections {
        out.bytes(section);
    }
}
