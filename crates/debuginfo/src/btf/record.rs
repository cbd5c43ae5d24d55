//! One type's record: the common `struct btf_type` and what follows it (btf.rst section 2.2).

use super::header::{BtfError, read_u32};
use super::kind::{BtfKind, BtfTypeId};
use std::fmt::Display;

/// Length of `struct btf_type`.
pub(super) const COMMON: usize = 12;

/// A record in place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'d> {
    pub(super) id: BtfTypeId,
    /// The record's bytes, `struct btf_type` first; its length was checked when it was indexed.
    pub(super) bytes: &'d [u8],
    /// Where it begins in the data, for messages.
    pub(super) offset: u64,
    pub(super) big_endian: bool,
}

/// The parts of `info`: bits 0-23 vlen (0-15 before Linux 7, the others then zero), 24-30 kind, 31 kind_flag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Info(pub(super) u32);

impl Info {
    pub(super) fn kind(self) -> BtfKind {
        BtfKind::from_number(self.number())
    }

    pub(super) fn number(self) -> u8 {
        ((self.0 >> 24) & 0x7f) as u8
    }

    pub(super) fn vlen(self) -> u32 {
        self.0 & 0x00ff_ffff
    }

    pub(super) fn flag(self) -> bool {
        self.0 >> 31 != 0
    }
}

/// A member of a struct or union, as `struct btf_member` gives it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawMember {
    pub(super) name: u32,
    pub(super) ty: u32,
    pub(super) bit_offset: u32,
    /// Width in bits if `kind_flag` says it is a bit-field.
    pub(super) bit_size: Option<u32>,
}

impl<'d> Record<'d> {
    /// An error that begins with the record's id and offset.
    pub(super) fn format_error(&self, what: impl Display) -> BtfError {
        BtfError(format!("type {} at offset {:#x}{what}", self.id.0, self.offset))
    }

    fn word(&self, index: usize) -> u32 {
        read_u32(self.bytes, index * 4, self.big_endian).unwrap_or(0)
    }

    pub(super) fn name(&self) -> u32 {
        self.word(0)
    }

    pub(super) fn info(&self) -> Info {
        Info(self.word(1))
    }

    pub(super) fn kind(&self) -> BtfKind {
        self.info().kind()
    }

    /// Size in bytes, of kinds that have one.
    pub(super) fn size(&self) -> u32 {
        self.word(2)
    }

    /// Type referred to, of kinds that refer to one.
    pub(super) fn target(&self) -> u32 {
        self.word(2)
    }

    /// The word after the common part: an INT's encoding, a DECL_TAG's component.
    pub(super) fn extra(&self) -> u32 {
        self.word(3)
    }

    /// An ARRAY's element type and count (`struct btf_array`).
    pub(super) fn array(&self) -> (u32, u32) {
        (self.word(3), self.word(5))
    }

    fn elements(&self, words: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.info().vlen() as usize).map(move |index| 3 + index * words)
    }

    pub(super) fn members(&self) -> impl Iterator<Item = RawMember> + use<'d> {
        let record = *self;
        let flag = self.info().flag();
        self.elements(3).map(move |at| {
            let (name, ty, offset) = (record.word(at), record.word(at + 1), record.word(at + 2));
            let (bit_offset, bits) = if flag { (offset & 0x00ff_ffff, offset >> 24) } else { (offset, 0) };
            RawMember { name, ty, bit_offset, bit_size: (bits != 0).then_some(bits) }
        })
    }

    /// An ENUM's or ENUM64's names and values.
    pub(super) fn values(&self) -> impl Iterator<Item = (u32, i128)> + use<'d> {
        let record = *self;
        let signed = self.info().flag();
        let wide = self.kind() == BtfKind::Enum64;
        self.elements(if wide { 3 } else { 2 }).map(move |at| {
            let low = record.word(at + 1);
            let value = match (wide, signed) {
                (false, false) => i128::from(low),
                (false, true) => i128::from(low.cast_signed()),
                (true, _) => {
                    let bits = u64::from(record.word(at + 2)) << 32 | u64::from(low);
                    if signed { i128::from(bits.cast_signed()) } else { i128::from(bits) }
                }
            };
            (record.word(at), value)
        })
    }

    /// A FUNC_PROTO's parameters: name and type.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (u32, u32)> + use<'d> {
        let record = *self;
        self.elements(2).map(move |at| (record.word(at), record.word(at + 1)))
    }
}
