//! Abbreviations with the place of each attribute of interest in a DIE, parsed the first time one is met.
//!
//! gimli's tables hold each attribute of each abbreviation; a search that reads a few DIEs of each of thousands
//! of units would spend most of its time filling them.

use fieldline_layout::types::AggregateKind;
use gimli::{DwAt, DwForm, DwTag, Encoding, Format, Reader};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// Attributes that scans read.
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
    LinkageName,
    Vector,
}

const ATTRS: usize = Attr::Vector as usize + 1;

fn attr_from_name(name: DwAt) -> Option<Attr> {
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
        gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => Attr::LinkageName,
        gimli::DW_AT_GNU_vector => Attr::Vector,
        _ => return None,
    })
}

#[derive(Clone, Copy, Debug)]
pub(super) struct AttrSpec {
    pub(super) form: DwForm,
    /// Size in bytes if the form always has the same.
    pub(super) size: Option<u8>,
    pub(super) implicit: i64,
}

/// An abbreviation, ready for stepping over DIEs.
#[derive(Debug)]
pub(crate) struct Abbrev {
    pub(crate) tag: DwTag,
    pub(crate) has_children: bool,
    pub(super) specs: Box<[AttrSpec]>,
    /// Total size if every form has a fixed one.
    pub(super) fixed_size: Option<usize>,
    /// For each attribute it has: its index in `specs`, and its offset if all before it are fixed.
    attr_positions: [Option<(u8, Option<u16>)>; ATTRS],
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

impl Abbrev {
    /// Reads an abbreviation from its tag on.
    fn parse(section: &[u8], start: usize, encoding: Encoding) -> Option<Self> {
        let (tag, at) = uleb(section, start)?;
        let has_children = *section.get(at)? != 0;
        let mut specs = Vec::new();
        let mut attr_positions = [None; ATTRS];
        let mut fixed = Some(0usize);
        let mut attributes = AttrSpecReader { section, at: at + 1 };
        while let Some((name, form, implicit)) = attributes.next()? {
            let size = fixed_size(form, encoding).and_then(|size| u8::try_from(size).ok());
            // An abbreviation with hundreds of attributes is none a compiler writes.
            let index = u8::try_from(specs.len()).ok()?;
            if let Some(attr) = attr_from_name(name) {
                let offset = fixed.and_then(|offset| u16::try_from(offset).ok());
                attr_positions[attr as usize] = Some((index, offset));
            }
            fixed = fixed.zip(size).map(|(sum, size)| sum + usize::from(size));
            specs.push(AttrSpec { form, size, implicit });
        }
        let has = |attr: Attr| attr_positions[attr as usize].is_some();
        let mask = |mask, (bit, _): (u32, Attr)| mask | 1u16 << bit;
        Some(Self {
            tag: DwTag(u16::try_from(tag).ok()?),
            has_children,
            specs: specs.into_boxed_slice(),
            fixed_size: fixed,
            numbers: (0..).zip(NUMBERS).filter(|(_, attr)| has(*attr)).fold(0, mask),
            attr_positions,
        })
    }

    /// The place of an attribute: its spec's index, and its offset if all before it are fixed.
    pub(super) fn attr_position(&self, attr: Attr) -> Option<(usize, Option<usize>)> {
        let (index, offset) = self.attr_positions[attr as usize]?;
        Some((usize::from(index), offset.map(usize::from)))
    }

    /// The constants it has that a layout depends on, always in the same order.
    pub(super) fn numeric_attrs(&self) -> impl Iterator<Item = Attr> + use<> {
        let mut left = self.numbers;
        std::iter::from_fn(move || {
            let attr = *NUMBERS.get(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(attr)
        })
    }

    pub(crate) fn has(&self, attr: Attr) -> bool {
        self.attr_positions[attr as usize].is_some()
    }

    pub(crate) fn is_aggregate(&self) -> bool {
        kind_of(self.tag).is_some()
    }
}

/// The kind a tag stands for.
pub(crate) fn kind_of(tag: gimli::DwTag) -> Option<AggregateKind> {
    match tag {
        gimli::DW_TAG_structure_type | gimli::DW_TAG_interface_type => Some(AggregateKind::Struct),
        gimli::DW_TAG_union_type => Some(AggregateKind::Union),
        gimli::DW_TAG_class_type => Some(AggregateKind::Class),
        _ => None,
    }
}

/// Attributes of one abbreviation, one by one.
struct AttrSpecReader<'s> {
    section: &'s [u8],
    at: usize,
}

impl AttrSpecReader<'_> {
    /// Name, form and implicit value; `Some(None)` behind the last, `None` if the section ends before.
    #[expect(clippy::option_option, reason = "broken, finished and next are three things")]
    fn next(&mut self) -> Option<Option<(DwAt, DwForm, i64)>> {
        let (name, at) = uleb(self.section, self.at)?;
        let (form, at) = uleb(self.section, at)?;
        self.at = at;
        if name == 0 && form == 0 {
            return Some(None);
        }
        let form = DwForm(u16::try_from(form).ok()?);
        let mut implicit = 0;
        if form == gimli::DW_FORM_implicit_const {
            (implicit, self.at) = sleb(self.section, at)?;
        }
        Some(Some((DwAt(u16::try_from(name).ok()?), form, implicit)))
    }
}

/// A unit's abbreviations: where each begins, and its attributes once it was met.
pub(crate) struct AbbrevTable<'s> {
    section: &'s [u8],
    encoding: Encoding,
    /// By code less 1: where its tag stands, and the abbreviation.
    dense: Vec<(usize, OnceCell<Option<Abbrev>>)>,
    /// Codes that do not follow from 1 without gaps.
    sparse: FxHashMap<u64, (usize, OnceCell<Option<Abbrev>>)>,
}

impl<'s> AbbrevTable<'s> {
    /// Finds where the abbreviations of a table begin (DWARF 5 section 7.5.3); `None` if the table is broken.
    pub(crate) fn parse(section: &'s [u8], start: usize, encoding: Encoding) -> Option<Self> {
        let (mut dense, mut sparse) = (Vec::new(), FxHashMap::default());
        for_each_abbrev(section, start, |code, tag_at, _, attributes| {
            while attributes.next()?.is_some() {}
            if code == dense.len() as u64 + 1 {
                dense.push((tag_at, OnceCell::new()));
            } else {
                sparse.entry(code).or_insert((tag_at, OnceCell::new()));
            }
            Some(())
        })?;
        Some(Self { section, encoding, dense, sparse })
    }

    pub(crate) fn abbrev(&self, code: u64) -> Option<&Abbrev> {
        let index = usize::try_from(code).ok()?.checked_sub(1)?;
        let (start, abbrev) = self.dense.get(index).or_else(|| self.sparse.get(&code))?;
        abbrev.get_or_init(|| Abbrev::parse(self.section, *start, self.encoding)).as_ref()
    }
}

/// An abbreviation that defines an aggregate or a typedef, and where its name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DefiningAbbrev {
    pub(crate) code: u64,
    pub(crate) form: DwForm,
    /// Distance of the name from the DIE's first attribute; `None` if it varies.
    pub(crate) name_offset: Option<usize>,
}

/// The abbreviations of a table that define named aggregates or typedefs. `None` if the table is broken.
pub(crate) fn find_defining_abbrevs(
    section: &[u8],
    start: usize,
    encoding: Encoding,
) -> Option<Vec<DefiningAbbrev>> {
    let mut found = Vec::new();
    for_each_abbrev(section, start, |code, _, tag, attributes| {
        let tag = DwTag(u16::try_from(tag).ok()?);
        if kind_of(tag).is_some() || tag == gimli::DW_TAG_typedef {
            found.extend(parse_defining_abbrev(code, attributes, encoding)?);
        } else {
            while attributes.next()?.is_some() {}
        }
        Some(())
    })?;
    Some(found)
}

/// Calls back for each abbreviation of a table: with its code, where its tag stands, the tag, and its attributes, which are to be
/// read to their end. `None` if the table is broken or the callback says so.
fn for_each_abbrev<'s>(
    section: &'s [u8],
    mut at: usize,
    mut callback: impl FnMut(u64, usize, u64, &mut AttrSpecReader<'s>) -> Option<()>,
) -> Option<()> {
    loop {
        let (code, tag_at) = uleb(section, at)?;
        if code == 0 {
            return Some(());
        }
        let (tag, children_at) = uleb(section, tag_at)?;
        let mut attributes = AttrSpecReader { section, at: children_at + 1 };
        callback(code, tag_at, tag, &mut attributes)?;
        at = attributes.at;
    }
}

/// Whether a table has forms that refer to other units. `None` if the table is broken.
pub(crate) fn has_foreign_refs(section: &[u8], start: usize) -> Option<bool> {
    let mut refers = false;
    for_each_abbrev(section, start, |_, _, _, attributes| {
        while let Some((_, form, _)) = attributes.next()? {
            use gimli::constants as dw;
            refers |= matches!(form, dw::DW_FORM_ref_addr | dw::DW_FORM_ref_sig8 | dw::DW_FORM_indirect)
                || matches!(form, dw::DW_FORM_ref_sup4 | dw::DW_FORM_ref_sup8 | dw::DW_FORM_GNU_ref_alt);
        }
        Some(())
    })?;
    Some(refers)
}

/// The abbreviation as one of definitions, if it has a name and is no declaration.
#[expect(clippy::option_option, reason = "broken, no definition and a definition are three things")]
fn parse_defining_abbrev(
    code: u64,
    attributes: &mut AttrSpecReader<'_>,
    encoding: Encoding,
) -> Option<Option<DefiningAbbrev>> {
    let (mut found, mut declares, mut offset) = (None, false, Some(0));
    while let Some((name, form, _)) = attributes.next()? {
        declares |= name == gimli::DW_AT_declaration;
        if name == gimli::DW_AT_name {
            found = Some(DefiningAbbrev { code, form, name_offset: offset });
        }
        offset = offset.zip(fixed_size(form, encoding)).map(|(sum, size)| sum + size);
    }
    Some(found.filter(|_| !declares))
}

/// The unsigned LEB128 at an offset, and the offset behind it.
pub(super) fn uleb(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    if first < 0x80 {
        return Some((u64::from(first), at + 1));
    }
    let mut reader = gimli::EndianSlice::new(bytes.get(at..)?, gimli::LittleEndian);
    let before = reader.len();
    let value = reader.read_uleb128().ok()?;
    Some((value, at + before - reader.len()))
}

/// The signed LEB128 at an offset, and the offset behind it.
pub(super) fn sleb(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let mut reader = gimli::EndianSlice::new(bytes.get(at..)?, gimli::LittleEndian);
    let before = reader.len();
    let value = reader.read_sleb128().ok()?;
    Some((value, at + before - reader.len()))
}

/// Size of a form in bytes if it is always the same.
pub(super) fn fixed_size(form: DwForm, encoding: Encoding) -> Option<usize> {
    use gimli::constants as dw;
    let word = if encoding.format == Format::Dwarf64 { 8 } else { 4 };
    Some(match form {
        dw::DW_FORM_flag_present | dw::DW_FORM_implicit_const => 0,
        dw::DW_FORM_data1 | dw::DW_FORM_flag | dw::DW_FORM_ref1 | dw::DW_FORM_strx1 | dw::DW_FORM_addrx1 => 1,
        dw::DW_FORM_data2 | dw::DW_FORM_ref2 | dw::DW_FORM_strx2 | dw::DW_FORM_addrx2 => 2,
        dw::DW_FORM_strx3 | dw::DW_FORM_addrx3 => 3,
        dw::DW_FORM_data4 | dw::DW_FORM_ref4 | dw::DW_FORM_ref_sup4 => 4,
        dw::DW_FORM_strx4 | dw::DW_FORM_addrx4 => 4,
        dw::DW_FORM_data8 | dw::DW_FORM_ref8 | dw::DW_FORM_ref_sig8 | dw::DW_FORM_ref_sup8 => 8,
        dw::DW_FORM_data16 => 16,
        dw::DW_FORM_addr => usize::from(encoding.address_size),
        dw::DW_FORM_ref_addr if encoding.version <= 2 => usize::from(encoding.address_size),
        dw::DW_FORM_strp | dw::DW_FORM_line_strp | dw::DW_FORM_strp_sup | dw::DW_FORM_GNU_strp_alt => word,
        dw::DW_FORM_sec_offset | dw::DW_FORM_ref_addr | dw::DW_FORM_GNU_ref_alt => word,
        _ => return None,
    })
}
