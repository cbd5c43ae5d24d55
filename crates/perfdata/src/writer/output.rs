//! The recording as bytes, for a file or for a pipe.

use super::bytes::Bytes;
use super::packing;
use super::recording::RecordingWriter;
use crate::perf_data::{Endian, kind};

/// `sizeof(struct perf_file_header)`.
const FILE_HEADER_SIZE: u64 = 104;

impl RecordingWriter {
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
            out.record(kind::HEADER_ATTR, 0, &body.into_vec());
        }
        for (number, section) in self.sections_without_build_ids() {
            let mut body = self.bytes();
            body.u64(u64::from(number)).bytes(&section).pad(8);
            out.record(kind::HEADER_FEATURE, 0, &body.into_vec());
        }
        out.bytes(&self.data());
        // Records in place of the build id section.
        out.bytes(&self.build_ids);
        out.into_vec()
    }

    fn data(&self) -> Vec<u8> {
        packing::pack(&self.records, self.packing, self.endian)
    }
}

fn magic(endian: Endian) -> [u8; 8] {
    let mut magic = *b"PERFILE2";
    if endian == Endian::Big {
        magic.reverse();
    }
    magic
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
