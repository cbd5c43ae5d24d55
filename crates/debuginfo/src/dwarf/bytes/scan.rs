//! Walking DIEs fast: abbreviations prepared so that each attribute of interest has a known place.
//!
//! Most DIEs of C programs have a fixed
//! size, known from their abbreviation (forms of DWARF 5 section 7.5.6), so a step is an addition.

use super::abbrev::{Abbrev, AbbrevTable, Attr, AttrSpec, fixed_size, sleb, uleb};
use super::units::Dwarf;
use crate::error::Result;
use gimli::{DwForm, Encoding};

/// An attribute's value as it stands in the section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RawValue<'s> {
    None,
    /// A constant or flag.
    Number(u64),
    /// A string in a string section: which form, and the offset or index.
    Str(DwForm, u64),
    /// A string in place.
    Inline(&'s [u8]),
    /// A DIE of the same unit.
    Local(u64),
    /// A DIE elsewhere: which form, and the offset or signature.
    Foreign(DwForm, u64),
    /// A block or expression.
    Block(&'s [u8]),
}

/// A unit's bytes with its abbreviations.
pub(crate) struct UnitScan<'s> {
    bytes: &'s [u8],
    pub(crate) root: usize,
    encoding: Encoding,
    little_endian: bool,
    table: AbbrevTable<'s>,
}

/// A DIE met on a walk: its abbreviation and where its attributes begin (offset in the unit).
#[derive(Clone, Copy)]
pub(crate) struct ScannedDie<'u> {
    pub(crate) abbrev: &'u Abbrev,
    pub(crate) attrs: usize,
}

impl<'s> UnitScan<'s> {
    /// Prepares a unit. Fails if its abbreviations are broken.
    pub(crate) fn new(dwarf: &Dwarf<'s>, unit: u32) -> Result<Self> {
        let entry = dwarf.entry(unit)?;
        let (section, start, encoding) = dwarf.abbreviation_bytes(entry);
        let table = AbbrevTable::parse(section, start, encoding).ok_or_else(|| {
            let end = gimli::Error::UnexpectedEof(gimli::ReaderOffsetId(start as u64));
            dwarf.error(".debug_abbrev", start, &end)
        })?;
        let (root, little) = (entry.header.root_offset().0, !dwarf.target.big_endian);
        Ok(Self { bytes: dwarf.unit_bytes(entry), root, encoding, little_endian: little, table })
    }

    /// The DIE at an offset of the unit; `None` at a null entry or outside the unit.
    pub(crate) fn die(&self, offset: usize) -> Option<ScannedDie<'_>> {
        let (code, attrs) = uleb(self.bytes, offset)?;
        Some(ScannedDie { abbrev: self.table.abbrev(code)?, attrs })
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Offset behind a DIE's attributes. `None` if it runs out of the unit or has a form whose size is unknown.
    pub(crate) fn attrs_end(&self, die: ScannedDie<'_>) -> Option<usize> {
        if let Some(size) = die.abbrev.fixed_size {
            return die.attrs.checked_add(size).filter(|end| *end <= self.bytes.len());
        }
        let mut at = die.attrs;
        for spec in &die.abbrev.specs {
            at = self.read_value(spec, at)?.1;
        }
        Some(at)
    }

    pub(crate) fn attr_value(&self, die: ScannedDie<'_>, attr: Attr) -> RawValue<'s> {
        self.find_attr_value(die, attr).unwrap_or(RawValue::None)
    }

    fn find_attr_value(&self, die: ScannedDie<'_>, attr: Attr) -> Option<RawValue<'s>> {
        let (index, offset) = die.abbrev.attr_position(attr)?;
        let specs = &die.abbrev.specs;
        let spec = specs.get(index)?;
        if let Some(offset) = offset {
            return self.read_value(spec, die.attrs + offset).map(|(raw, _)| raw);
        }
        let mut at = die.attrs;
        for before in &specs[..index] {
            at = self.read_value(before, at)?.1;
        }
        self.read_value(spec, at).map(|(raw, _)| raw)
    }

    pub(crate) fn attr_number(&self, die: ScannedDie<'_>, attr: Attr) -> Option<u64> {
        match self.attr_value(die, attr) {
            RawValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The constants of a DIE that a layout depends on, always in the same order.
    pub(crate) fn attr_numbers<'u>(&'u self, die: ScannedDie<'u>) -> impl Iterator<Item = (Attr, u64)> + 'u {
        let numbers = die.abbrev.numeric_attrs();
        numbers.filter_map(move |attr| self.attr_number(die, attr).map(|number| (attr, number)))
    }

    /// The children of a DIE with their offsets, up to one that can't be stepped over.
    pub(crate) fn children<'u>(
        &'u self,
        parent: ScannedDie<'_>,
    ) -> impl Iterator<Item = (usize, ScannedDie<'u>)> + use<'u, 's> {
        let mut next = if parent.abbrev.has_children { self.attrs_end(parent) } else { None };
        std::iter::from_fn(move || {
            let at = next?;
            let die = self.die(at)?;
            next = self.next_sibling(die);
            Some((at, die))
        })
    }

    /// Offset behind a DIE and all its descendants.
    pub(crate) fn next_sibling(&self, die: ScannedDie<'_>) -> Option<usize> {
        if !die.abbrev.has_children {
            return self.attrs_end(die);
        }
        if let RawValue::Local(sibling) = self.attr_value(die, Attr::Sibling) {
            let sibling = usize::try_from(sibling).ok()?;
            // A sibling in front of its DIE would make walks run in circles.
            return (sibling > die.attrs).then_some(sibling);
        }
        let mut at = self.attrs_end(die)?;
        let mut depth = 1;
        while depth > 0 {
            match self.die(at) {
                Some(inner) => {
                    at = self.attrs_end(inner)?;
                    depth += u32::from(inner.abbrev.has_children);
                }
                None => {
                    at = self.null_end(at)?;
                    depth -= 1;
                }
            }
        }
        Some(at)
    }

    /// Offset behind a null entry; `None` if there is none here (an unknown abbreviation, or the end of the unit).
    pub(crate) fn null_end(&self, offset: usize) -> Option<usize> {
        let (code, end) = uleb(self.bytes, offset)?;
        (code == 0).then_some(end)
    }

    pub(crate) fn is_end(&self, offset: usize) -> bool {
        offset >= self.bytes.len()
    }

    fn read_uint(&self, at: usize, size: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at.checked_add(size)?)?;
        let append_byte = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Some(match (bytes, self.little_endian) {
            ([a], _) => u64::from(*a),
            ([a, b], true) => u64::from(u16::from_le_bytes([*a, *b])),
            ([a, b, c, d], true) => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
            (_, true) => bytes.iter().rev().fold(0, append_byte),
            (_, false) => bytes.iter().fold(0, append_byte),
        })
    }

    /// The value of a form at an offset, and the offset behind it.
    fn read_value(&self, spec: &AttrSpec, at: usize) -> Option<(RawValue<'s>, usize)> {
        use gimli::constants as dw;
        let sized = || {
            let size = usize::from(spec.size?);
            Some((self.read_uint(at, size)?, at + size))
        };
        let leb = || uleb(self.bytes, at);
        let number = |(value, end)| (RawValue::Number(value), end);
        let string = |(value, end)| (RawValue::Str(spec.form, value), end);
        let local = |(value, end)| (RawValue::Local(value), end);
        let foreign = |(value, end)| (RawValue::Foreign(spec.form, value), end);
        match spec.form {
            dw::DW_FORM_implicit_const => Some(number((spec.implicit as u64, at))),
            dw::DW_FORM_flag_present => Some(number((1, at))),
            dw::DW_FORM_udata | dw::DW_FORM_addrx | dw::DW_FORM_GNU_addr_index => leb().map(number),
            dw::DW_FORM_loclistx | dw::DW_FORM_rnglistx => leb().map(number),
            dw::DW_FORM_sdata => sleb(self.bytes, at).map(|(value, end)| number((value as u64, end))),
            dw::DW_FORM_string => self.read_inline_string(at),
            dw::DW_FORM_ref1 | dw::DW_FORM_ref2 | dw::DW_FORM_ref4 | dw::DW_FORM_ref8 => sized().map(local),
            dw::DW_FORM_ref_udata => leb().map(local),
            dw::DW_FORM_ref_addr | dw::DW_FORM_ref_sig8 | dw::DW_FORM_GNU_ref_alt => sized().map(foreign),
            dw::DW_FORM_ref_sup4 | dw::DW_FORM_ref_sup8 => sized().map(foreign),
            dw::DW_FORM_strp | dw::DW_FORM_line_strp | dw::DW_FORM_GNU_strp_alt => sized().map(string),
            dw::DW_FORM_strp_sup | dw::DW_FORM_strx1 | dw::DW_FORM_strx2 => sized().map(string),
            dw::DW_FORM_strx3 | dw::DW_FORM_strx4 => sized().map(string),
            dw::DW_FORM_strx | dw::DW_FORM_GNU_str_index => leb().map(string),
            dw::DW_FORM_exprloc | dw::DW_FORM_block => {
                leb().and_then(|(len, start)| self.read_block(start, len))
            }
            dw::DW_FORM_block1 => self.read_uint(at, 1).and_then(|len| self.read_block(at + 1, len)),
            dw::DW_FORM_block2 => self.read_uint(at, 2).and_then(|len| self.read_block(at + 2, len)),
            dw::DW_FORM_block4 => self.read_uint(at, 4).and_then(|len| self.read_block(at + 4, len)),
            dw::DW_FORM_indirect => {
                let (form, end) = leb()?;
                let form = DwForm(u16::try_from(form).ok()?);
                let size = fixed_size(form, self.encoding).and_then(|size| u8::try_from(size).ok());
                let spec = AttrSpec { form, size, ..*spec };
                (form != dw::DW_FORM_indirect).then(|| self.read_value(&spec, end))?
            }
            dw::DW_FORM_data16 => self.bytes.get(at..at + 16).map(|_| (RawValue::None, at + 16)),
            _ => sized().map(number),
        }
    }

    fn read_inline_string(&self, at: usize) -> Option<(RawValue<'s>, usize)> {
        let rest = self.bytes.get(at..)?;
        let len = memchr::memchr(0, rest)?;
        Some((RawValue::Inline(&rest[..len]), at + len + 1))
    }

    fn read_block(&self, start: usize, len: u64) -> Option<(RawValue<'s>, usize)> {
        let end = start.checked_add(usize::try_from(len).ok()?)?;
        self.bytes.get(start..end).map(|bytes| (RawValue::Block(bytes), end))
    }
}

/// The offset of `code` in its shortest form, if it stands in front of `attrs`.
pub(crate) fn code_before(bytes: &[u8], attrs: usize, code: u64) -> Option<usize> {
    let len = match code {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        _ => 3,
    };
    let start = attrs.checked_sub(len)?;
    (uleb(bytes, start)? == (code, attrs)).then_some(start)
}
