//! Packing records into `COMPRESSED` ones, as `perf record -z` does, with zstd frames that store.

use super::bytes::Bytes;
use crate::perf_data::{Endian, kind};

/// A whole record with its header.
#[derive(Debug, Clone)]
pub(super) struct WrittenRecord {
    pub(super) bytes: Vec<u8>,
    /// `perf record -z` packs only records that came through the kernel's buffer.
    pub(super) is_from_kernel: bool,
}

/// How the kernel's records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Packing {
    /// As they are.
    #[default]
    None,
    /// In `COMPRESSED` records with so many bytes of zstd each, cut without regard to blocks or records.
    Compressed(usize),
    /// In `COMPRESSED2` records, which state their size and are padded.
    Compressed2(usize),
}

impl Packing {
    pub(super) fn is_packed(self) -> bool {
        self != Self::None
    }

    fn chunk_bytes(self) -> usize {
        match self {
            Self::None => usize::MAX,
            Self::Compressed(bytes) | Self::Compressed2(bytes) => bytes.clamp(1, 60_000),
        }
    }
}

/// Magic, a descriptor without any option, and a window of 128 KiB (RFC 8878, section 3.1.1.1).
const FRAME_HEADER: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
/// Bytes stored in one block; small, so that blocks end within records and records within blocks.
const BLOCK: usize = 3000;

/// The bytes of all records, consecutive ones of the kernel packed into one stream of zstd.
pub(super) fn pack(records: &[WrittenRecord], packing: Packing, endian: Endian) -> Vec<u8> {
    let mut out = Bytes::new(endian);
    let mut has_frame = false;
    for group in records.chunk_by(|a, b| a.is_from_kernel == b.is_from_kernel) {
        let bytes: Vec<u8> = group.iter().flat_map(|record| record.bytes.iter().copied()).collect();
        let is_kernels = group.first().is_some_and(|record| record.is_from_kernel);
        if !packing.is_packed() || !is_kernels {
            out.bytes(&bytes);
            continue;
        }
        let mut stream = if has_frame { Vec::new() } else { FRAME_HEADER.to_vec() };
        has_frame = true;
        bytes.chunks(BLOCK).for_each(|block| store_block(&mut stream, block));
        stream.chunks(packing.chunk_bytes()).for_each(|chunk| write_chunk(&mut out, chunk, packing, endian));
    }
    out.into_vec()
}

/// A raw block that is not the last of its frame (RFC 8878, section 3.1.1.2).
fn store_block(stream: &mut Vec<u8>, block: &[u8]) {
    let header = u32::try_from(block.len()).unwrap_or(0) << 3;
    stream.extend(header.to_le_bytes().iter().take(3));
    stream.extend_from_slice(block);
}

fn write_chunk(out: &mut Bytes, chunk: &[u8], packing: Packing, endian: Endian) {
    match packing {
        Packing::Compressed2(_) => {
            let mut body = Bytes::new(endian);
            body.u64(chunk.len() as u64).bytes(chunk).pad(8);
            out.record(kind::COMPRESSED2, 0, &body.into_vec());
        }
        _ => {
            out.record(kind::COMPRESSED, 0, chunk);
        }
    }
}
