//! Signatures: a hash per type of everything that its layout shows, to tell definitions of one name apart.
//!
//! The hash covers the struct's name, size, alignment and members, whole types held by value, and the names of
//! types behind pointers; not where they are declared. Two definitions with equal hashes have equal layouts.

use crate::dwarf::bytes::abbrev::Attr;
use crate::dwarf::bytes::scan::{RawValue, ScannedDie, UnitScan};
use crate::dwarf::bytes::units::Dwarf;
use crate::error::Result;
use crate::extent::Extent;
use gimli::DwForm;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// How deep types may nest before corrupt input is assumed.
const MAX_DEPTH: u32 = 96;

/// Computes the signatures of the types of a unit, and of others that it refers to.
pub(crate) struct SignatureBuilder<'a, 's> {
    dwarf: &'a Dwarf<'s>,
    pub(crate) unit: u32,
    pub(crate) scan: Rc<UnitScan<'s>>,
    /// Whether a string's offset stands for the string: fast, but linkers may keep a string twice.
    by_offset: bool,
    known: FxHashMap<(usize, Extent), u64>,
    /// Aggregates that hold more than members: types or functions of their own.
    nested: FxHashSet<usize>,
    others: FxHashMap<u32, Box<Self>>,
}

impl<'a, 's> SignatureBuilder<'a, 's> {
    /// A builder for the types of one unit. Fails if its abbreviations are broken.
    pub(crate) fn new(dwarf: &'a Dwarf<'s>, unit: u32) -> Result<Self> {
        Self::with_string_mode(dwarf, unit, false)
    }

    /// A builder of signatures that are equal only if names stand at equal offsets: equal signatures mean equal
    /// layouts as ever, but equal layouts may have several.
    pub(crate) fn new_by_offset(dwarf: &'a Dwarf<'s>, unit: u32) -> Result<Self> {
        Self::with_string_mode(dwarf, unit, true)
    }

    fn with_string_mode(dwarf: &'a Dwarf<'s>, unit: u32, by_offset: bool) -> Result<Self> {
        let scan = Rc::new(UnitScan::new(dwarf, unit)?);
        // About one type in 48 bytes of C programs: room for them avoids growing the table step by step.
        let known = FxHashMap::with_capacity_and_hasher(scan.len() / 48, FxBuildHasher);
        let (nested, others) = (FxHashSet::default(), FxHashMap::default());
        Ok(Self { dwarf, unit, scan, by_offset, known, nested, others })
    }

    /// The signature of the type at an offset of the unit; `None` if there is no well-formed type.
    pub(crate) fn signature(&mut self, offset: usize) -> Option<u64> {
        self.compute(offset, Extent::Whole, MAX_DEPTH)
    }

    /// The signature of the type at an offset of the unit. Fails if there is no well-formed type.
    pub(crate) fn require_signature(&mut self, offset: usize) -> Result<u64> {
        self.signature(offset).ok_or_else(|| self.dwarf.broken_die_error(self.unit, offset))
    }

    fn compute(&mut self, offset: usize, extent: Extent, depth: u32) -> Option<u64> {
        if let Some(known) = self.known.get(&(offset, extent)) {
            return Some(*known);
        }
        let depth = depth.checked_sub(1)?;
        let scan = Rc::clone(&self.scan);
        let die = scan.die(offset)?;
        let mut hash = Hasher::new(u64::from(die.abbrev.tag.0));
        self.add(&mut hash, offset, die, extent, depth)?;
        self.known.insert((offset, extent), hash.0);
        Some(hash.0)
    }

    fn add(
        &mut self,
        hash: &mut Hasher,
        offset: usize,
        die: ScannedDie<'_>,
        extent: Extent,
        depth: u32,
    ) -> Option<()> {
        let named = self.add_name(hash, die)?;
        match die.abbrev.tag {
            _ if die.abbrev.is_aggregate() => {
                if named && extent == Extent::Name {
                    return Some(());
                }
                if let RawValue::Foreign(form, value) = self.scan.attr_value(die, Attr::Signature) {
                    hash.number(self.foreign_signature(form, value, extent, depth)?);
                }
                self.add_numbers(hash, die);
                self.add_members(hash, offset, die, depth)
            }
            gimli::DW_TAG_enumeration_type => {
                self.add_numbers(hash, die);
                if named { Some(()) } else { self.add_children(hash, die, depth) }
            }
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type
            | gimli::DW_TAG_ptr_to_member_type => self.add_type(hash, die, Extent::Name, depth),
            gimli::DW_TAG_typedef => match extent {
                Extent::Name => Some(()),
                Extent::Whole => self.add_type(hash, die, extent, depth),
            },
            gimli::DW_TAG_array_type => {
                self.add_numbers(hash, die);
                self.add_type(hash, die, extent, depth)?;
                self.add_children(hash, die, depth)
            }
            gimli::DW_TAG_subroutine_type => {
                self.add_type(hash, die, Extent::Name, depth)?;
                self.add_children(hash, die, depth)
            }
            gimli::DW_TAG_base_type => {
                self.add_numbers(hash, die);
                Some(())
            }
            _ => self.add_type(hash, die, extent, depth),
        }
    }

    fn add_members(
        &mut self,
        hash: &mut Hasher,
        offset: usize,
        die: ScannedDie<'_>,
        depth: u32,
    ) -> Option<()> {
        self.for_each_child(die, |builder, child| {
            let tag = child.abbrev.tag;
            if !matches!(tag, gimli::DW_TAG_member | gimli::DW_TAG_inheritance | gimli::DW_TAG_variable) {
                builder.nested.insert(offset);
                return Some(());
            }
            hash.number(u64::from(tag.0));
            builder.add_name(hash, child)?;
            if let RawValue::Block(bytes) = builder.scan.attr_value(child, Attr::Location) {
                hash.bytes(bytes);
            }
            builder.add_numbers(hash, child);
            builder.add_type(hash, child, Extent::Whole, depth)
        })
    }

    /// Dimensions of an array, values of an enumeration, parameters of a function.
    fn add_children(&mut self, hash: &mut Hasher, die: ScannedDie<'_>, depth: u32) -> Option<()> {
        self.for_each_child(die, |builder, child| {
            hash.number(u64::from(child.abbrev.tag.0));
            if child.abbrev.tag == gimli::DW_TAG_enumerator {
                builder.add_name(hash, child)?;
            }
            builder.add_numbers(hash, child);
            match child.abbrev.tag {
                gimli::DW_TAG_formal_parameter => builder.add_type(hash, child, Extent::Name, depth),
                _ => Some(()),
            }
        })
    }

    fn for_each_child(
        &mut self,
        die: ScannedDie<'_>,
        mut each: impl FnMut(&mut Self, ScannedDie<'_>) -> Option<()>,
    ) -> Option<()> {
        if !die.abbrev.has_children {
            return Some(());
        }
        let scan = Rc::clone(&self.scan);
        let mut at = scan.attrs_end(die)?;
        while let Some(child) = scan.die(at) {
            each(self, child)?;
            at = scan.next_sibling(child)?;
        }
        scan.null_end(at).map(drop)
    }

    /// Whether an aggregate with a signature computed holds members only, so that a walk finds nothing in it.
    pub(crate) fn has_members_only(&self, offset: usize) -> bool {
        !self.nested.contains(&offset)
    }

    fn add_name(&mut self, hash: &mut Hasher, die: ScannedDie<'_>) -> Option<bool> {
        match self.scan.attr_value(die, Attr::Name) {
            RawValue::Str(gimli::DW_FORM_strp, offset) if self.by_offset => hash.number(offset),
            name @ (RawValue::Inline(_) | RawValue::Str(..)) => {
                hash.bytes(self.dwarf.raw_string(self.unit, name)?)
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn add_numbers(&self, hash: &mut Hasher, die: ScannedDie<'_>) {
        for (attr, number) in self.scan.attr_numbers(die) {
            hash.number(attr as u64);
            hash.number(number);
        }
    }

    fn add_type(&mut self, hash: &mut Hasher, die: ScannedDie<'_>, extent: Extent, depth: u32) -> Option<()> {
        hash.number(match self.scan.attr_value(die, Attr::Type) {
            RawValue::Local(offset) => self.compute(usize::try_from(offset).ok()?, extent, depth)?,
            RawValue::Foreign(form, value) => self.foreign_signature(form, value, extent, depth)?,
            _ => 0,
        });
        Some(())
    }

    fn foreign_signature(&mut self, form: DwForm, value: u64, extent: Extent, depth: u32) -> Option<u64> {
        let die = self.dwarf.resolve_foreign(self.unit, form, value)?;
        if die.unit == self.unit {
            return self.compute(die.offset, extent, depth);
        }
        let (dwarf, by_offset, others) = (self.dwarf, self.by_offset, &mut self.others);
        let other = match others.entry(die.unit) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                entry.insert(Box::new(Self::with_string_mode(dwarf, die.unit, by_offset).ok()?))
            }
        };
        other.compute(die.offset, extent, depth)
    }
}

/// A running hash: 128-bit multiplication folded to 64 bits (as in wyhash), enough for some ten thousand definitions.
struct Hasher(u64);

impl Hasher {
    fn new(seed: u64) -> Self {
        let mut mix = Self(0x9e37_79b9_7f4a_7c15);
        mix.number(seed);
        mix
    }

    fn number(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number).wrapping_mul(0xa076_1d64_78bd_642f_e703_7ed1_a0b4_28db);
        self.0 = (product as u64) ^ ((product >> 64) as u64).rotate_left(29);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.number(u64::from_le_bytes(word));
        }
        self.number(bytes.len() as u64 ^ 0xff00_0000_0000_0000);
    }
}
