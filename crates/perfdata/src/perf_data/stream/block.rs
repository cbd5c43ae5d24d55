//! Whole records in blocks, so that several threads can read one recording.

use crate::perf_data::bytes::Endian;
use crate::perf_data::error::BytePlace;
use crate::perf_data::stream::record::{HEADER_SIZE, RawRecord, kind};

/// Bytes of a block: enough that handing it over costs nothing, little enough to stay in cache.
pub(super) const BLOCK: usize = 512 * 1024;

/// Whole records of a recording, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
    /// Where the first record stands.
    pub(crate) place: BytePlace,
    /// Where each record stands, unless they stand in the file as they do here.
    pub(crate) places: Vec<BytePlace>,
}

impl Block {
    pub(super) fn push(&mut self, raw: RawRecord<'_>, endian: Endian) {
        let size = (raw.body.len() + HEADER_SIZE) as u16;
        let (kind, misc, size) = match endian {
            Endian::Little => (raw.kind.to_le_bytes(), raw.misc.to_le_bytes(), size.to_le_bytes()),
            Endian::Big => (raw.kind.to_be_bytes(), raw.misc.to_be_bytes(), size.to_be_bytes()),
        };
        self.bytes.extend_from_slice(&kind);
        self.bytes.extend_from_slice(&misc);
        self.bytes.extend_from_slice(&size);
        self.bytes.extend_from_slice(raw.body);
        self.places.push(raw.place);
    }
}

/// How many of the bytes are whole records that nothing but records follows.
pub(super) fn whole_records(bytes: &[u8], endian: Endian) -> usize {
    let mut at = 0;
    while let Some(header) = bytes.get(at..).and_then(|rest| rest.first_chunk::<HEADER_SIZE>()) {
        let [a, b, c, d, _, _, low, high] = *header;
        let size = usize::from(endian.u16([low, high]));
        let is_followed_by_data = matches!(
            endian.u32([a, b, c, d]),
            kind::AUXTRACE | kind::HEADER_TRACING_DATA | kind::COMPRESSED | kind::COMPRESSED2
        );
        if size < HEADER_SIZE || is_followed_by_data || at + size > bytes.len() {
            break;
        }
        at += size;
    }
    at
}
