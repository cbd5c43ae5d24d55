//! Which definitions of one name are the same: a number per type that depends on everything a layout shows.
//!
//! The number covers the struct's name, size, alignment and members, whole types held by value, and the names of
//! types behind pointers; not where they are declared. Two definitions with equal numbers have equal layouts.

use crate::dwarf::bytes::abbrev::Attr;
use crate::dwarf::bytes::scan::{RawAttrValue, ScannedDie, UnitScan};
use crate::dwarf::bytes::units::Dwarf;
use crate::error::Result;
use gimli::DwForm;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::rc::Rc;

const MAX_DEPTH: u32 = 96;

/// How much of a type counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum SignatureDepth {
    Whole,
    /// Its name if it has one.
    Name,
}

/// Computes signatures of the types of a unit, and of others that it refers to.
pub(crate) struct SignatureBuilder<'a, 's> {
    dwarf: &'a Dwarf<'s>,
    pub(crate) unit: u32,
    pub(crate) scan: Rc<UnitScan<'s>>,
    /// Take a string's offset for the string: fast, but linkers may keep a string twice.
    by_offset: bool,
    known: FxHashMap<(usize, SignatureDepth), u64>,
    /// Aggregates that hold more than members: types or functions of their own.
    nested: FxHashSet<usize>,
    others: FxHashMap<u32, Box<Self>>,
}

impl<'a, 's> SignatureBuilder<'a, 's> {
    /// For the types of one unit. Fails if its abbreviations are broken.
    pub(crate) fn new(dwarf: &'a Dwarf<'s>, unit: u32) -> Result<Self> {
        Self::with_string_mode(dwarf, unit, false)
    }

    /// The same with numbers that are equal only if names stand at equal offsets: equal numbers mean equal layouts as ever,
    /// but equal layouts may have several numbers.
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
    pub(crate) fn compute_signature(&mut self, offset: usize) -> Option<u64> {
        self.signature(offset, SignatureDepth::Whole, MAX_DEPTH)
    }

    fn signature(&mut self, offset: usize, mode: SignatureDepth, depth: u32) -> Option<u64> {
        if let Some(known) = self.known.get(&(offset, mode)) {
            return Some(*known);
        }
        let depth = depth.checked_sub(1)?;
        let scan = Rc::clone(&self.scan);
        let seen = scan.die(offset)?;
        let mut hash = SignatureHash::new(u64::from(seen.abbrev.tag.0));
        self.add(&mut hash, offset, seen, mode, depth)?;
        self.known.insert((offset, mode), hash.0);
        Some(hash.0)
    }

    fn add(
        &mut self,
        hash: &mut SignatureHash,
        offset: usize,
        seen: ScannedDie<'_>,
        mode: SignatureDepth,
        depth: u32,
    ) -> Option<()> {
        let named = self.add_name(hash, seen)?;
        match seen.abbrev.tag {
            _ if seen.abbrev.is_aggregate() => {
                if named && mode == SignatureDepth::Name {
                    return Some(());
                }
                if let RawAttrValue::Foreign(form, value) = self.scan.attr_value(seen, Attr::Signature) {
                    hash.number(self.foreign_signature(form, value, mode, depth)?);
                }
                self.add_numbers(hash, seen);
                self.add_members(hash, offset, seen, depth)
            }
            gimli::DW_TAG_enumeration_type => {
                self.add_numbers(hash, seen);
                if named { Some(()) } else { self.add_children(hash, seen, depth) }
            }
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type
            | gimli::DW_TAG_ptr_to_member_type => self.add_type(hash, seen, SignatureDepth::Name, depth),
            gimli::DW_TAG_typedef => match mode {
                SignatureDepth::Name => Some(()),
                SignatureDepth::Whole => self.add_type(hash, seen, mode, depth),
            },
            gimli::DW_TAG_array_type => {
                self.add_numbers(hash, seen);
                self.add_type(hash, seen, mode, depth)?;
                self.add_children(hash, seen, depth)
            }
            gimli::DW_TAG_subroutine_type => {
                self.add_type(hash, seen, SignatureDepth::Name, depth)?;
                self.add_children(hash, seen, depth)
            }
            gimli::DW_TAG_base_type => {
                self.add_numbers(hash, seen);
                Some(())
            }
            _ => self.add_type(hash, seen, mode, depth),
        }
    }

    fn add_members(
        &mut self,
        hash: &mut SignatureHash,
        offset: usize,
        seen: ScannedDie<'_>,
        depth: u32,
    ) -> Option<()> {
        self.for_each_child(seen, |this, child| {
            let is_member = matches!(
                child.abbrev.tag,
                gimli::DW_TAG_member | gimli::DW_TAG_inheritance | gimli::DW_TAG_variable
            );
            if !is_member {
                this.nested.insert(offset);
                return Some(());
            }
            hash.number(u64::from(child.abbrev.tag.0));
            this.add_name(hash, child)?;
            if let RawAttrValue::Block(bytes) = this.scan.attr_value(child, Attr::Location) {
                hash.bytes(bytes);
            }
            this.add_numbers(hash, child);
            this.add_type(hash, child, SignatureDepth::Whole, depth)
        })
    }

    /// Dimensions of an array, values of an enumeration, parameters of a function.
    fn add_children(&mut self, hash: &mut SignatureHash, seen: ScannedDie<'_>, depth: u32) -> Option<()> {
        self.for_each_child(seen, |this, child| {
            hash.number(u64::from(child.abbrev.tag.0));
            if child.abbrev.tag == gimli::DW_TAG_enumerator {
                this.add_name(hash, child)?;
            }
            this.add_numbers(hash, child);
            match child.abbrev.tag {
                gimli::DW_TAG_formal_parameter => this.add_type(hash, child, SignatureDepth::Name, depth),
                _ => Some(()),
            }
        })
    }

    fn for_each_child(
        &mut self,
        seen: ScannedDie<'_>,
        mut each: impl FnMut(&mut Self, ScannedDie<'_>) -> Option<()>,
    ) -> Option<()> {
        if !seen.abbrev.has_children {
            return Some(());
        }
        let scan = Rc::clone(&self.scan);
        let mut at = scan.attrs_end(seen)?;
        while let Some(child) = scan.die(at) {
            each(self, child)?;
            at = scan.next_sibling(child)?;
        }
        scan.null_end(at).map(drop)
    }

    /// Whether an aggregate that was signed holds members only, so that a walk finds nothing in it.
    pub(crate) fn has_members_only(&self, offset: usize) -> bool {
        !self.nested.contains(&offset)
    }

    fn add_name(&mut self, hash: &mut SignatureHash, seen: ScannedDie<'_>) -> Option<bool> {
        match self.scan.attr_value(seen, Attr::Name) {
            RawAttrValue::Str(form, value) if self.by_offset && form == gimli::DW_FORM_strp => {
                hash.number(value)
            }
            name @ (RawAttrValue::Inline(_) | RawAttrValue::Str(..)) => {
                hash.bytes(self.dwarf.raw_string(self.unit, name)?)
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn add_numbers(&self, hash: &mut SignatureHash, seen: ScannedDie<'_>) {
        for (attr, number) in self.scan.attr_numbers(seen) {
            hash.number(attr as u64);
            hash.number(number);
        }
    }

    fn add_type(
        &mut self,
        hash: &mut SignatureHash,
        seen: ScannedDie<'_>,
        mode: SignatureDepth,
        depth: u32,
    ) -> Option<()> {
        match self.scan.attr_value(seen, Attr::Type) {
            RawAttrValue::Local(offset) => {
                hash.number(self.signature(usize::try_from(offset).ok()?, mode, depth)?)
            }
            RawAttrValue::Foreign(form, value) => {
                hash.number(self.foreign_signature(form, value, mode, depth)?)
            }
            _ => hash.number(0),
        }
        Some(())
    }

    fn foreign_signature(
        &mut self,
        form: DwForm,
        value: u64,
        mode: SignatureDepth,
        depth: u32,
    ) -> Option<u64> {
        let die = self.dwarf.resolve_foreign(self.unit, form, value)?;
        if die.unit == self.unit {
            return self.signature(die.offset, mode, depth);
        }
        let (dwarf, by_offset, others) = (self.dwarf, self.by_offset, &mut self.others);
        let other = match others.entry(die.unit) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(Box::new(SignatureBuilder::with_string_mode(dwarf, die.unit, by_offset).ok()?))
            }
        };
        other.signature(die.offset, mode, depth)
    }
}

/// A running hash: multiply and fold (as in wyhash), good enough to tell some ten thousand definitions apart.
struct SignatureHash(u64);

impl SignatureHash {
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
