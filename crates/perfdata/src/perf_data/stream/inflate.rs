//! Records out of zstd: `COMPRESSED` and `COMPRESSED2` (the only file that names the decoder).
//!
//! `perf record -z` feeds one long zstd stream through all its `COMPRESSED` records, flushed at the end of
//! each and never closed; a block may lie across two records. The decoder gives bytes out only once they
//! are a window's size behind, so records come out later than they were put in: in their own order, but
//! behind records outside the stream.

use std::io::Read;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::perf_data::error::{BytePosition, Error};

/// Bytes of the checksum after a frame's last block.
const CHECKSUM: usize = 4;
/// Bytes of a block's header.
const BLOCK_HEADER: usize = 3;
/// An empty raw block that is the last of its frame. Appended once the input has ended, it makes the
/// decoder give out the window it kept back.
const LAST_EMPTY_BLOCK: [u8; BLOCK_HEADER] = [1, 0, 0];
/// The output may exceed the input so many times. Records carry times and addresses, so a real recording
/// comes nowhere near; beyond it lies only a file made to keep the reader busy.
const MAX_EXPANSION: u64 = 4096;
/// Output that is always allowed, so that the bound does not depend on how the first bytes fall.
const FREE_OUTPUT: u64 = 1 << 20;

/// No block holds more, compressed or not.
const MAX_BLOCK: usize = 128 * 1024;

/// Decompresses block by block into a buffer that stays near the size of one block.
#[derive(Default)]
pub(crate) struct Inflater {
    decoder: FrameDecoder,
    frame: FrameState,
    /// Compressed bytes, those before `decoded` already decoded.
    input: Vec<u8>,
    decoded: usize,
    /// Decompressed bytes, those before `taken` already handed out.
    output: Vec<u8>,
    taken: usize,
    bytes_in: u64,
    bytes_out: u64,
}

/// Where in the sequence of frames the decoder is.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum FrameState {
    /// Before a frame's header.
    #[default]
    Outside,
    /// Among its blocks; after the last one come four bytes more if there is a checksum.
    Inside { has_checksum: bool },
}

impl std::fmt::Debug for Inflater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inflate").field("bytes_in", &self.bytes_in).finish_non_exhaustive()
    }
}

impl Inflater {
    /// Adds the compressed bytes of one record.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.input.drain(..self.decoded);
        self.decoded = 0;
        self.input.extend_from_slice(bytes);
        self.bytes_in += bytes.len() as u64;
    }

    /// Place in the decompressed records of the next byte to hand out.
    pub(crate) fn place(&self) -> BytePosition {
        BytePosition { offset: self.bytes_out - self.ready().len() as u64, decompressed: true }
    }

    /// Bytes ready to be handed out.
    pub(crate) fn ready(&self) -> &[u8] {
        self.output.get(self.taken..).unwrap_or_default()
    }

    /// Hands out `count` of the ready bytes; [`Inflater::last_taken`] still has them.
    pub(crate) fn take(&mut self, count: usize) {
        self.taken += count;
    }

    /// The last `count` bytes handed out.
    pub(crate) fn last_taken(&self, count: usize) -> &[u8] {
        self.output.get(self.taken - count..self.taken).unwrap_or_default()
    }

    fn undecoded(&self) -> &[u8] {
        self.input.get(self.decoded..).unwrap_or_default()
    }

    /// Decodes one more block, if the input holds a whole one; `false` asks for more input.
    pub(crate) fn decode_block(&mut self, place: BytePosition) -> Result<bool, Error> {
        let FrameState::Inside { has_checksum } = self.frame else { return self.begin_frame(place) };
        let Some(size) = block_size(self.undecoded(), has_checksum, place)? else { return Ok(false) };
        let Some(block) = self.input.get(self.decoded..self.decoded + size) else { return Ok(false) };
        self.decoder
            .decode_blocks(block, BlockDecodingStrategy::UptoBlocks(1))
            .map_err(|error| Error::malformed("compressed records", place, error.to_string()))?;
        self.decoded += size;
        self.collect(place)?;
        Ok(true)
    }

    /// Ends the stream: what the decoder kept back becomes ready. `false` if there was nothing.
    pub(crate) fn finish(&mut self, place: BytePosition) -> Result<bool, Error> {
        if !self.undecoded().is_empty() {
            let problem = format!("{} bytes of a block are there, the rest is not", self.undecoded().len());
            return Err(Error::malformed("compressed records", place, problem));
        }
        let FrameState::Inside { has_checksum } = self.frame else { return Ok(false) };
        self.feed(&LAST_EMPTY_BLOCK);
        self.feed(if has_checksum { &[0; CHECKSUM] } else { &[] });
        self.decode_block(place)
    }

    /// Reads a frame's header, if the input holds the whole of it.
    fn begin_frame(&mut self, place: BytePosition) -> Result<bool, Error> {
        let Some(&descriptor) = self.undecoded().get(4) else { return Ok(false) };
        let size = frame_header_size(descriptor);
        let Some(header) = self.input.get(self.decoded..self.decoded + size) else { return Ok(false) };
        self.decoder
            .reset(header)
            .map_err(|error| Error::malformed("compressed records", place, error.to_string()))?;
        self.decoded += size;
        self.frame = FrameState::Inside { has_checksum: descriptor & 4 != 0 };
        Ok(true)
    }

    /// Moves what the decoder gives out to the output.
    fn collect(&mut self, place: BytePosition) -> Result<(), Error> {
        self.output.drain(..self.taken);
        self.taken = 0;
        let before = self.output.len();
        let ready = self.decoder.can_collect();
        self.output.resize(before + ready, 0);
        let target = self.output.get_mut(before..).unwrap_or_default();
        self.decoder
            .read_exact(target)
            .map_err(|error| Error::malformed("compressed records", place, error.to_string()))?;
        self.bytes_out += ready as u64;
        if self.decoder.is_finished() {
            self.frame = FrameState::Outside;
        }
        let limit = self.bytes_in.saturating_mul(MAX_EXPANSION).saturating_add(FREE_OUTPUT);
        if self.bytes_out > limit {
            let problem =
                format!("{} bytes expand to {}, more than records can", self.bytes_in, self.bytes_out);
            return Err(Error::malformed("compressed records", place, problem));
        }
        Ok(())
    }
}

/// Bytes of the frame header whose fifth byte is `descriptor` (RFC 8878, section 3.1.1.1).
fn frame_header_size(descriptor: u8) -> usize {
    let is_single_segment = descriptor & 0x20 != 0;
    let window = usize::from(!is_single_segment);
    let dictionary = match descriptor & 3 {
        3 => 4,
        bytes => usize::from(bytes),
    };
    let content_size = match descriptor >> 6 {
        0 => usize::from(is_single_segment),
        exponent => 1 << exponent,
    };
    5 + window + dictionary + content_size
}

/// Bytes of the block at the front of `input` with its header (RFC 8878, section 3.1.1.2), and the
/// frame's checksum if it is the last one. Nothing if the input does not hold a header.
fn block_size(input: &[u8], has_checksum: bool, place: BytePosition) -> Result<Option<usize>, Error> {
    let Some(&[a, b, c]) = input.first_chunk::<BLOCK_HEADER>() else { return Ok(None) };
    let header = u32::from_le_bytes([a, b, c, 0]);
    let (is_last, kind, size) = (header & 1 != 0, header >> 1 & 3, (header >> 3) as usize);
    if kind == 3 || size > MAX_BLOCK {
        let problem = format!("a block of kind {kind} and {size} bytes");
        return Err(Error::malformed("compressed records", place, problem));
    }
    let content = if kind == 1 { 1 } else { size };
    Ok(Some(BLOCK_HEADER + content + if is_last && has_checksum { CHECKSUM } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0, 0];

    fn block(kind: u32, size: usize, is_last: bool, content: &[u8]) -> Vec<u8> {
        let header = (size as u32) << 3 | kind << 1 | u32::from(is_last);
        [&header.to_le_bytes()[..3], content].concat()
    }

    fn drain(inflate: &mut Inflater) -> Vec<u8> {
        let mut bytes = Vec::new();
        while inflate.decode_block(BytePosition::default()).unwrap() {
            let count = inflate.ready().len();
            inflate.take(count);
            bytes.extend_from_slice(inflate.last_taken(count));
        }
        bytes
    }

    #[test]
    fn a_frame_fed_byte_by_byte_and_never_closed_comes_out_whole() {
        let frame = [&HEADER[..], &block(0, 5, false, b"abcde"), &block(1, 3, false, b"z")].concat();
        let mut inflate = Inflater::default();
        let mut bytes = Vec::new();
        for byte in frame {
            inflate.feed(&[byte]);
            bytes.extend(drain(&mut inflate));
        }
        assert!(inflate.finish(BytePosition::default()).unwrap());
        bytes.extend_from_slice(inflate.ready());
        assert_eq!(bytes, b"abcdezzz");
        assert!(!inflate.finish(BytePosition::default()).unwrap());
    }

    #[test]
    fn frames_follow_each_other() {
        let frame = [&HEADER[..], &block(0, 2, true, b"ab")].concat();
        let mut inflate = Inflater::default();
        inflate.feed(&[frame.clone(), frame].concat());
        assert_eq!(drain(&mut inflate), b"abab");
    }

    #[test]
    fn a_checksum_is_stepped_over() {
        let mut header = HEADER;
        header[4] = 4;
        let frame = [&header[..], &block(0, 2, true, b"ab"), &[1, 2, 3, 4]].concat();
        let mut inflate = Inflater::default();
        inflate.feed(&[frame.clone(), frame].concat());
        assert_eq!(drain(&mut inflate), b"abab");
    }

    #[test]
    fn a_bomb_is_refused_before_it_fills_memory() {
        let repeat = block(1, MAX_BLOCK, false, &[0x10]);
        let mut header = HEADER;
        header[5] = 0x38; // a window of 128 KiB
        let mut inflate = Inflater::default();
        inflate.feed(&[&header[..], &repeat.repeat(4000)].concat());
        let error = loop {
            match inflate.decode_block(BytePosition::default()) {
                Ok(true) => inflate.take(inflate.ready().len()),
                Ok(false) => panic!("the bomb was decoded"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::Malformed { .. }), "{error}");
        assert!(inflate.output.capacity() < 1 << 20);
    }

    #[test]
    fn what_is_no_zstd_is_refused() {
        for bytes in [&[0; 32][..], &[&HEADER[..], &[0xff; 8]].concat()] {
            let mut inflate = Inflater::default();
            inflate.feed(bytes);
            let result = (0..4).try_for_each(|_| inflate.decode_block(BytePosition::default()).map(|_| ()));
            assert!(matches!(result, Err(Error::Malformed { .. })));
        }
    }

    #[test]
    fn an_unfinished_block_at_the_end_is_an_error() {
        let mut inflate = Inflater::default();
        inflate.feed(&[&HEADER[..], &block(0, 5, false, b"ab")].concat());
        drain(&mut inflate);
        assert!(inflate.finish(BytePosition::default()).is_err());
    }
}
