//! Numbers and strings out of bytes whose order the file states.

use crate::perf_data::error::{BytePosition, Error};
use fieldline_files::printable::printable_bytes;

/// The byte order of the machine that recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Endian {
    /// Least significant byte first: x86, arm64, riscv.
    #[default]
    Little,
    /// Most significant byte first: s390, older PowerPC.
    Big,
}

impl Endian {
    /// The number in two bytes.
    #[must_use]
    pub fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    /// The number in four bytes.
    #[must_use]
    pub fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    /// The number in eight bytes.
    #[must_use]
    pub fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }

    /// `count` bits of a C bit-field word, `start` bits after its first one.
    ///
    /// C compilers allot bit-fields from the least significant bit on little-endian machines and from the
    /// most significant one on big-endian machines.
    #[must_use]
    pub fn bit_field(self, word: u64, start: u32, count: u32) -> u64 {
        let shift = match self {
            Self::Little => start,
            Self::Big => 64 - start - count,
        };
        (word >> shift) & ((1 << count) - 1)
    }
}

/// Reads numbers one after the other; every read is checked against the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    what: &'static str,
    place: BytePosition,
    endian: Endian,
}

impl<'a> Cursor<'a> {
    /// Starts at `bytes`, which are at `place` of the recording and are called `what` in errors.
    pub(crate) fn new(bytes: &'a [u8], endian: Endian, what: &'static str, place: BytePosition) -> Self {
        Self { rest: bytes, what, place, endian }
    }

    pub(crate) fn place(&self) -> BytePosition {
        self.place
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let Some((head, tail)) = self.rest.split_at_checked(count) else {
            return Err(self.truncated(count as u64));
        };
        self.rest = tail;
        self.place = self.place.plus(count as u64);
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(|[byte]: [u8; 1]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(|bytes| self.endian.u16(bytes))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(|bytes| self.endian.u32(bytes))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(|bytes| self.endian.u64(bytes))
    }

    /// A `perf_header_string`: a 32-bit length, then that many bytes, padded with zeros.
    pub(crate) fn string(&mut self) -> Result<String, Error> {
        let length = self.u32()?;
        Ok(until_nul(self.take(length as usize)?))
    }

    fn truncated(&self, needed: u64) -> Error {
        let available = self.rest.len() as u64;
        Error::Truncated { what: self.what, place: self.place, needed, available }
    }
}

/// The bytes before the first zero as a name that is printable.
pub(crate) fn until_nul(bytes: &[u8]) -> String {
    printable_bytes(bytes_until_nul(bytes)).into_owned()
}

/// The bytes before the first zero.
pub(crate) fn bytes_until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_fields_start_at_the_end_the_machine_starts_at() {
        // The same declaration `a:1, b:2, rest:61` with a = 1, b = 2, as each machine stores it.
        let little = 0b101_u64;
        let big = (1 << 63) | (0b10 << 61);
        for (endian, word) in [(Endian::Little, little), (Endian::Big, big)] {
            assert_eq!(endian.bit_field(word, 0, 1), 1);
            assert_eq!(endian.bit_field(word, 1, 2), 2);
            assert_eq!(endian.bit_field(word, 3, 61), 0);
        }
    }

    #[test]
    fn a_read_past_the_end_names_what_and_where() {
        let mut cursor = Cursor::new(&[1, 0, 0, 0, 9], Endian::Little, "a thing", BytePosition::in_file(100));
        assert_eq!(cursor.u32().unwrap(), 1);
        let error = cursor.u64().unwrap_err();
        assert_eq!(error.to_string(), "truncated: a thing at byte 104 needs 8 bytes and 1 are left");
    }

    #[test]
    fn a_string_longer_than_its_section_is_an_error_and_not_an_allocation() {
        let mut cursor = Cursor::new(&[0xff; 6], Endian::Big, "a name", BytePosition::default());
        assert!(matches!(cursor.string(), Err(Error::Truncated { needed: 0xffff_ffff, available: 2, .. })));
    }
}
