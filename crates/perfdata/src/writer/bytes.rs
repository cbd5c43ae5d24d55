//! Bytes under construction, numbers in the recording's byte order.

use crate::perf_data::Endian;

/// A buffer that grows at its end.
#[derive(Debug, Clone)]
pub(super) struct Bytes {
    bytes: Vec<u8>,
    endian: Endian,
}

impl Bytes {
    pub(super) fn new(endian: Endian) -> Self {
        Self { bytes: Vec::new(), endian }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn into_vec(self) -> Vec<u8> {
        self.bytes
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// A number by its bytes, the least significant first.
    fn number<const N: usize>(&mut self, mut bytes: [u8; N]) -> &mut Self {
        if self.endian == Endian::Big {
            bytes.reverse();
        }
        self.bytes(&bytes)
    }

    pub(super) fn u16(&mut self, value: u16) -> &mut Self {
        self.number(value.to_le_bytes())
    }

    pub(super) fn u32(&mut self, value: u32) -> &mut Self {
        self.number(value.to_le_bytes())
    }

    pub(super) fn u64(&mut self, value: u64) -> &mut Self {
        self.number(value.to_le_bytes())
    }

    pub(super) fn words(&mut self, values: &[u64]) -> &mut Self {
        values.iter().fold(self, |out, value| out.u64(*value))
    }

    /// Zeros up to a multiple of `alignment`.
    pub(super) fn pad(&mut self, alignment: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len().next_multiple_of(alignment), 0);
        self
    }

    /// The text, at least one zero, and zeros up to eight bytes.
    pub(super) fn name(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes()).bytes(&[0]).pad(8)
    }

    /// A `perf_header_string`: the padded length, then the text.
    pub(super) fn string(&mut self, text: &str) -> &mut Self {
        let length = (text.len() + 1).next_multiple_of(64);
        self.u32(u32::try_from(length).unwrap_or(u32::MAX)).bytes(text.as_bytes());
        self.bytes(&vec![0; length - text.len()])
    }

    /// A record: its header and `body`.
    pub(super) fn record(&mut self, kind: u32, misc: u16, body: &[u8]) -> &mut Self {
        let size = u16::try_from(body.len() + 8).unwrap_or(u16::MAX);
        self.u32(kind).u16(misc).u16(size).bytes(body)
    }
}
