//! Walking DIEs fast: abbreviations turned into shapes that say where each attribute of interest lies.
//!
//! gimli parses the abbreviations; what is ours is only the step over a DIE. Most DIEs of C programs have a fixed
//! size, known from their abbreviation (forms of DWARF 5 section 7.5.6), so a step is an addition.

use super::units::Dwarf;
use crate::error::Result;
use gimli::{Abbreviation, DwAt, DwForm, DwTag, Encoding, Format, Reader, Section};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Attributes that scans look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attr {
    Name,
    Type,
    ByteSize,
    Location,
    BitSize,
    DataBitOffset,
    BitOffset,
    Alignment,
    Declaration,
    Sibling,
    Count,
    UpperBound,
    LowerBound,
    Encoding,
    ConstValue,
    Signature,
    External,
    Vector,
}

const ATTRS: usize = Attr::Vector as usize + 1;

fn attr(name: DwAt) -> Option<Attr> {
    Some(match name {
        gimli::DW_AT_name => Attr::Name,
        gimli::DW_AT_type => Attr::Type,
        gimli::DW_AT_byte_size => Attr::ByteSize,
        gimli::DW_AT_data_member_location => Attr::Location,
        gimli::DW_AT_bit_size => Attr::BitSize,
        gimli::DW_AT_data_bit_offset => Attr::DataBitOffset,
        gimli::DW_AT_bit_offset => Attr::BitOffset,
        gimli::DW_AT_alignment => Attr::Alignment,
        gimli::DW_AT_declaration => Attr::Declaration,
        gimli::DW_AT_sibling => Attr::Sibling,
        gimli::DW_AT_count => Attr::Count,
        gimli::DW_AT_upper_bound => Attr::UpperBound,
        gimli::DW_AT_lower_bound => Attr::LowerBound,
        gimli::DW_AT_encoding => Attr::Encoding,
        gimli::DW_AT_const_value => Attr::ConstValue,
        gimli::DW_AT_signature => Attr::Signature,
        gimli::DW_AT_external => Attr::External,
        gimli::DW_AT_GNU_vector => Attr::Vector,
        _ => return None,
    })
}

/// An attribute's value as it stands in the section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Raw<'s> {
    /// Not there.
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

/// One attribute of a shape.
#[derive(Clone, Copy, Debug)]
struct Spec {
    attr: Option<Attr>,
    form: DwForm,
    /// Size in bytes if the form always has the same.
    size: Option<u8>,
    implicit: i64,
}

/// What an abbreviation says, ready for stepping.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) tag: DwTag,
    pub(crate) has_children: bool,
    /// Its attributes in [`UnitScan::specs`].
    specs: Range<u32>,
    /// Total size if every form has a fixed one.
    fixed: Option<usize>,
    /// For each attribute: its index in `specs` plus one, and its offset if all before it are fixed.
    places: [(u8, Option<u16>); ATTRS],
    /// Which of [`NUMBERS`] it has, a bit each.
    numbers: u16,
}

/// Constants that a layout depends on.
const NUMBERS: [Attr; 14] = [
    Attr::ByteSize,
    Attr::Location,
    Attr::BitSize,
    Attr::DataBitOffset,
    Attr::BitOffset,
    Attr::Alignment,
    Attr::Declaration,
    Attr::Count,
    Attr::UpperBound,
    Attr::LowerBound,
    Attr::Encoding,
    Attr::ConstValue,
    Attr::External,
    Attr::Vector,
];

impl Shape {
    fn new(abbreviation: &Abbreviation, encoding: Encoding, specs: &mut Vec<Spec>) -> Self {
        let first = specs.len();
        let mut places = [(0, None); ATTRS];
        let mut fixed = Some(0usize);
        for (index, given) in (1..=u8::MAX).zip(abbreviation.attributes()) {
            let spec = Spec {
                attr: attr(given.name()),
                form: given.form(),
                size: fixed_size(given.form(), encoding).and_then(|size| u8::try_from(size).ok()),
                implicit: given.implicit_const_value().unwrap_or(0),
            };
            if let Some(attr) = spec.attr {
                places[attr as usize] = (index, fixed.and_then(|offset| u16::try_from(offset).ok()));
            }
            fixed = fixed.zip(spec.size).map(|(sum, size)| sum + usize::from(size));
            specs.push(spec);
        }
        // An abbreviation with hundreds of attributes is none a compiler writes; it can't be stepped over.
        let whole = abbreviation.attributes().len() < usize::from(u8::MAX);
        let has = |attr: Attr| places[attr as usize].0 != 0;
        Self {
            tag: abbreviation.tag(),
            has_children: abbreviation.has_children(),
            specs: first as u32..specs.len() as u32,
            fixed: fixed.filter(|_| whole),
            numbers: (0..)
                .zip(NUMBERS)
                .filter(|(_, attr)| has(*attr))
                .fold(0, |mask, (bit, _)| mask | 1 << bit),
            places,
        }
    }

    /// Whether the abbreviation has the attribute.
    pub(crate) fn has(&self, attr: Attr) -> bool {
        self.places[attr as usize].0 != 0
    }

    pub(crate) fn is_aggregate(&self) -> bool {
        matches!(
            self.tag,
            gimli::DW_TAG_structure_type
                | gimli::DW_TAG_union_type
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_interface_type
        )
    }
}

/// A unit's bytes with its shapes.
pub(crate) struct UnitScan<'s> {
    bytes: &'s [u8],
    pub(crate) root: usize,
    encoding: Encoding,
    little: bool,
    /// By abbreviation code less 1.
    shapes: Vec<Shape>,
    /// Shapes of codes that do not follow from 1 without gaps.
    sparse: FxHashMap<u64, Shape>,
    specs: Vec<Spec>,
}

/// A DIE met on a walk: its shape and where its attributes begin (offset in the unit).
#[derive(Clone, Copy)]
pub(crate) struct Seen<'u> {
    pub(crate) shape: &'u Shape,
    pub(crate) attrs: usize,
}

impl<'s> UnitScan<'s> {
    /// Prepares a unit.
    ///
    /// # Errors
    /// If its abbreviations are broken.
    pub(crate) fn new(dwarf: &Dwarf<'s>, unit: u32) -> Result<Self> {
        let entry = dwarf.entry(unit)?;
        let header = &entry.header;
        let abbreviations = dwarf.abbreviations(unit)?;
        let encoding = header.encoding();
        let (mut shapes, mut specs) = (Vec::new(), Vec::new());
        while let Some(abbreviation) = abbreviations.get(shapes.len() as u64 + 1) {
            shapes.push(Shape::new(abbreviation, encoding, &mut specs));
        }
        let mut sparse = FxHashMap::default();
        for code in abbreviation_codes(dwarf, unit).unwrap_or_default() {
            if code as usize > shapes.len()
                && let Some(abbreviation) = abbreviations.get(code)
            {
                sparse.insert(code, Shape::new(abbreviation, encoding, &mut specs));
            }
        }
        Ok(Self {
            bytes: dwarf.unit_bytes(entry),
            root: header.root_offset().0,
            encoding,
            little: !dwarf.target.big_endian,
            shapes,
            sparse,
            specs,
        })
    }

    /// The DIE at an offset of the unit; `None` at a null entry or outside the unit.
    pub(crate) fn die(&self, offset: usize) -> Option<Seen<'_>> {
        let (code, attrs) = uleb(self.bytes, offset)?;
        let index = usize::try_from(code).ok()?.checked_sub(1)?;
        let shape = self.shapes.get(index).or_else(|| self.sparse.get(&code))?;
        Some(Seen { shape, attrs })
    }

    fn specs(&self, shape: &Shape) -> &[Spec] {
        self.specs.get(shape.specs.start as usize..shape.specs.end as usize).unwrap_or(&[])
    }

    /// Bytes of the unit.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Offset behind a DIE's attributes: of its first child or next sibling. `None` if it runs out of the unit or has a form
    /// whose size is unknown.
    pub(crate) fn end(&self, seen: Seen<'_>) -> Option<usize> {
        if let Some(size) = seen.shape.fixed {
            return seen.attrs.checked_add(size).filter(|end| *end <= self.bytes.len());
        }
        let mut at = seen.attrs;
        for spec in self.specs(seen.shape) {
            at = self.value(spec, at)?.1;
        }
        Some(at)
    }

    /// An attribute of a DIE.
    pub(crate) fn get(&self, seen: Seen<'_>, attr: Attr) -> Raw<'s> {
        self.find(seen, attr).unwrap_or(Raw::None)
    }

    fn find(&self, seen: Seen<'_>, attr: Attr) -> Option<Raw<'s>> {
        let (index, offset) = seen.shape.places[attr as usize];
        let index = usize::from(index).checked_sub(1)?;
        let specs = self.specs(seen.shape);
        let spec = specs.get(index)?;
        if let Some(offset) = offset {
            return self.value(spec, seen.attrs + usize::from(offset)).map(|(raw, _)| raw);
        }
        let mut at = seen.attrs;
        for before in &specs[..index] {
            at = self.value(before, at)?.1;
        }
        self.value(spec, at).map(|(raw, _)| raw)
    }

    /// A constant attribute.
    pub(crate) fn number(&self, seen: Seen<'_>, attr: Attr) -> Option<u64> {
        match self.get(seen, attr) {
            Raw::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The constants of a DIE that a layout depends on, always in the same order.
    pub(crate) fn numbers<'u>(&'u self, seen: Seen<'u>) -> impl Iterator<Item = (Attr, u64)> + 'u {
        let mut left = seen.shape.numbers;
        let attrs = std::iter::from_fn(move || {
            let attr = *NUMBERS.get(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(attr)
        });
        attrs.filter_map(move |attr| self.number(seen, attr).map(|number| (attr, number)))
    }

    /// Offset behind a DIE and all its descendants.
    pub(crate) fn next_sibling(&self, seen: Seen<'_>) -> Option<usize> {
        if !seen.shape.has_children {
            return self.end(seen);
        }
        if let Raw::Local(sibling) = self.get(seen, Attr::Sibling) {
            let sibling = usize::try_from(sibling).ok()?;
            // A sibling in front of its DIE would make walks run in circles.
            return (sibling > seen.attrs).then_some(sibling);
        }
        let mut at = self.end(seen)?;
        let mut depth = 1;
        while depth > 0 {
            match self.die(at) {
                Some(inner) => {
                    at = self.end(inner)?;
                    depth += u32::from(inner.shape.has_children);
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

    /// Whether an offset is the end of the unit.
    pub(crate) fn is_end(&self, offset: usize) -> bool {
        offset >= self.bytes.len()
    }

    fn uint(&self, at: usize, size: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at.checked_add(size)?)?;
        let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Some(match (bytes, self.little) {
            ([a], _) => u64::from(*a),
            ([a, b], true) => u64::from(u16::from_le_bytes([*a, *b])),
            ([a, b, c, d], true) => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
            (_, true) => bytes.iter().rev().fold(0, fold),
            (_, false) => bytes.iter().fold(0, fold),
        })
    }

    /// The value of a form at an offset, and the offset behind it.
    fn value(&self, spec: &Spec, at: usize) -> Option<(Raw<'s>, usize)> {
        use gimli::constants as dw;
        let number = |size| self.uint(at, size).map(|value| (Raw::Number(value), at + size));
        let offset_size = usize::from(self.encoding.format.word_size());
        match spec.form {
            dw::DW_FORM_implicit_const => Some((Raw::Number(spec.implicit as u64), at)),
            dw::DW_FORM_flag_present => Some((Raw::Number(1), at)),
            dw::DW_FORM_udata => uleb(self.bytes, at).map(|(value, end)| (Raw::Number(value), end)),
            dw::DW_FORM_sdata => sleb(self.bytes, at).map(|(value, end)| (Raw::Number(value as u64), end)),
            dw::DW_FORM_string => self.inline(at),
            dw::DW_FORM_ref1 | dw::DW_FORM_ref2 | dw::DW_FORM_ref4 | dw::DW_FORM_ref8 => {
                let size = usize::from(spec.size?);
                self.uint(at, size).map(|value| (Raw::Local(value), at + size))
            }
            dw::DW_FORM_ref_udata => uleb(self.bytes, at).map(|(value, end)| (Raw::Local(value), end)),
            dw::DW_FORM_ref_addr
            | dw::DW_FORM_ref_sig8
            | dw::DW_FORM_GNU_ref_alt
            | dw::DW_FORM_ref_sup4
            | dw::DW_FORM_ref_sup8 => {
                let size = usize::from(spec.size?);
                self.uint(at, size).map(|value| (Raw::Foreign(spec.form, value), at + size))
            }
            dw::DW_FORM_strp | dw::DW_FORM_line_strp | dw::DW_FORM_GNU_strp_alt | dw::DW_FORM_strp_sup => {
                self.uint(at, offset_size).map(|value| (Raw::Str(spec.form, value), at + offset_size))
            }
            dw::DW_FORM_strx | dw::DW_FORM_GNU_str_index => {
                uleb(self.bytes, at).map(|(value, end)| (Raw::Str(spec.form, value), end))
            }
            dw::DW_FORM_strx1 | dw::DW_FORM_strx2 | dw::DW_FORM_strx3 | dw::DW_FORM_strx4 => {
                let size = usize::from(spec.size?);
                self.uint(at, size).map(|value| (Raw::Str(spec.form, value), at + size))
            }
            dw::DW_FORM_exprloc | dw::DW_FORM_block => {
                let (len, start) = uleb(self.bytes, at)?;
                self.block(start, len)
            }
            dw::DW_FORM_block1 => self.uint(at, 1).and_then(|len| self.block(at + 1, len)),
            dw::DW_FORM_block2 => self.uint(at, 2).and_then(|len| self.block(at + 2, len)),
            dw::DW_FORM_block4 => self.uint(at, 4).and_then(|len| self.block(at + 4, len)),
            dw::DW_FORM_addrx | dw::DW_FORM_GNU_addr_index | dw::DW_FORM_loclistx | dw::DW_FORM_rnglistx => {
                uleb(self.bytes, at).map(|(value, end)| (Raw::Number(value), end))
            }
            dw::DW_FORM_indirect => {
                let (form, end) = uleb(self.bytes, at)?;
                let form = DwForm(u16::try_from(form).ok()?);
                let size = fixed_size(form, self.encoding).and_then(|size| u8::try_from(size).ok());
                let spec = Spec { form, size, ..*spec };
                (form != dw::DW_FORM_indirect).then(|| self.value(&spec, end))?
            }
            dw::DW_FORM_data16 => self.bytes.get(at..at + 16).map(|_| (Raw::None, at + 16)),
            _ => number(usize::from(spec.size?)),
        }
    }

    fn inline(&self, at: usize) -> Option<(Raw<'s>, usize)> {
        let rest = self.bytes.get(at..)?;
        let len = memchr::memchr(0, rest)?;
        Some((Raw::Inline(&rest[..len]), at + len + 1))
    }

    fn block(&self, start: usize, len: u64) -> Option<(Raw<'s>, usize)> {
        let end = start.checked_add(usize::try_from(len).ok()?)?;
        self.bytes.get(start..end).map(|bytes| (Raw::Block(bytes), end))
    }
}

/// An abbreviation that defines an aggregate or a typedef, and where its name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Definer {
    pub(crate) code: u64,
    pub(crate) form: DwForm,
    /// Distance of the name from the DIE's first attribute; `None` if it varies.
    pub(crate) name_offset: Option<usize>,
}

/// The abbreviations of a unit that define named aggregates or typedefs, read straight from .debug_abbrev without
/// keeping the others (DWARF 5 section 7.5.3). `None` if the table is broken.
pub(crate) fn definers(dwarf: &Dwarf<'_>, unit: u32) -> Option<Vec<Definer>> {
    let entry = dwarf.entry(unit).ok()?;
    let section = dwarf.dwarf_of(entry.space).debug_abbrev.reader().slice();
    let encoding = entry.header.encoding();
    let mut at = entry.header.debug_abbrev_offset().0;
    let mut definers = Vec::new();
    loop {
        let (code, next) = uleb(section, at)?;
        if code == 0 {
            return Some(definers);
        }
        let (tag, next) = uleb(section, next)?;
        // Behind the tag stands one byte: whether it has children.
        let (name, declares, end) = name_attribute(section, next + 1, encoding)?;
        let tag = DwTag(u16::try_from(tag).ok()?);
        let defines = super::index::kind_of(tag).is_some() || tag == gimli::DW_TAG_typedef;
        if let Some((form, name_offset)) = name.filter(|_| defines && !declares) {
            definers.push(Definer { code, form, name_offset });
        }
        at = end;
    }
}

/// The codes of a unit's abbreviations in the order of the table.
fn abbreviation_codes(dwarf: &Dwarf<'_>, unit: u32) -> Option<Vec<u64>> {
    let entry = dwarf.entry(unit).ok()?;
    let section = dwarf.dwarf_of(entry.space).debug_abbrev.reader().slice();
    let mut at = entry.header.debug_abbrev_offset().0;
    let mut codes = Vec::new();
    loop {
        let (code, next) = uleb(section, at)?;
        if code == 0 {
            return Some(codes);
        }
        let (_, next) = uleb(section, next)?;
        at = name_attribute(section, next + 1, entry.header.encoding())?.2;
        codes.push(code);
    }
}

/// Form and place of the name among an abbreviation's attributes, whether it is a declaration's, and the end.
#[expect(clippy::type_complexity, reason = "three facts of one pass")]
fn name_attribute(
    section: &[u8],
    start: usize,
    encoding: Encoding,
) -> Option<(Option<(DwForm, Option<usize>)>, bool, usize)> {
    let (mut name, mut declares, mut offset, mut at) = (None, false, Some(0), start);
    loop {
        let (attribute, next) = uleb(section, at)?;
        let (form, next) = uleb(section, next)?;
        at = next;
        if attribute == 0 && form == 0 {
            return Some((name, declares, at));
        }
        let form = DwForm(u16::try_from(form).ok()?);
        if form == gimli::DW_FORM_implicit_const {
            at = sleb(section, at)?.1;
        }
        let attribute = DwAt(u16::try_from(attribute).ok()?);
        declares |= attribute == gimli::DW_AT_declaration;
        if attribute == gimli::DW_AT_name {
            name = Some((form, offset));
        }
        offset = offset.zip(fixed_size(form, encoding)).map(|(sum, size)| sum + size);
    }
}

/// Whether the bytes in front of `attrs` are `code` in its shortest form; where it begins then.
pub(crate) fn code_before(bytes: &[u8], attrs: usize, code: u64) -> Option<usize> {
    let len = match code {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        _ => 3,
    };
    let start = attrs.checked_sub(len)?;
    (uleb(bytes, start)? == (code, attrs)).then_some(start)
}

fn uleb(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    if first < 0x80 {
        return Some((u64::from(first), at + 1));
    }
    let mut reader = gimli::EndianSlice::new(bytes.get(at..)?, gimli::LittleEndian);
    let before = reader.len();
    let value = reader.read_uleb128().ok()?;
    Some((value, at + before - reader.len()))
}

fn sleb(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let mut reader = gimli::EndianSlice::new(bytes.get(at..)?, gimli::LittleEndian);
    let before = reader.len();
    let value = reader.read_sleb128().ok()?;
    Some((value, at + before - reader.len()))
}

/// Size of a form in bytes if it is always the same.
fn fixed_size(form: DwForm, encoding: Encoding) -> Option<usize> {
    use gimli::constants as dw;
    let word = if encoding.format == Format::Dwarf64 { 8 } else { 4 };
    Some(match form {
        dw::DW_FORM_flag_present | dw::DW_FORM_implicit_const => 0,
        dw::DW_FORM_data1 | dw::DW_FORM_flag | dw::DW_FORM_ref1 | dw::DW_FORM_strx1 | dw::DW_FORM_addrx1 => 1,
        dw::DW_FORM_data2 | dw::DW_FORM_ref2 | dw::DW_FORM_strx2 | dw::DW_FORM_addrx2 => 2,
        dw::DW_FORM_strx3 | dw::DW_FORM_addrx3 => 3,
        dw::DW_FORM_data4
        | dw::DW_FORM_ref4
        | dw::DW_FORM_strx4
        | dw::DW_FORM_addrx4
        | dw::DW_FORM_ref_sup4 => 4,
        dw::DW_FORM_data8 | dw::DW_FORM_ref8 | dw::DW_FORM_ref_sig8 | dw::DW_FORM_ref_sup8 => 8,
        dw::DW_FORM_data16 => 16,
        dw::DW_FORM_addr => usize::from(encoding.address_size),
        dw::DW_FORM_ref_addr if encoding.version <= 2 => usize::from(encoding.address_size),
        dw::DW_FORM_strp
        | dw::DW_FORM_line_strp
        | dw::DW_FORM_sec_offset
        | dw::DW_FORM_ref_addr
        | dw::DW_FORM_GNU_ref_alt
        | dw::DW_FORM_GNU_strp_alt
        | dw::DW_FORM_strp_sup => word,
        _ => return None,
    })
}
