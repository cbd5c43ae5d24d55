//! The top of a unit: functions with code, and variables, types and functions by name.
//!
//! Only the DIEs directly below the unit (or a namespace) are read; their descendants are skipped.

use crate::dwarf::bytes::abbrev::Attr;
use crate::dwarf::bytes::scan::{RawValue, ScannedDie, UnitScan};
use crate::dwarf::bytes::sections::R;
use crate::dwarf::bytes::units::{DieRef, Dwarf};
use crate::error::Result;
use gimli::{AttributeValue as Value, Operation, Unit};
use std::ops::Range;

/// How deep namespaces may nest.
const MAX_DEPTH: u32 = 16;

/// The kind of thing that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// A function, declared or defined.
    Function,
    /// A variable, declared or defined.
    Variable,
    /// A struct, union or class that is defined.
    Aggregate,
}

/// A function with code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its DIE.
    pub die: DieRef,
    /// Its code, the part that is entered first.
    pub ranges: Vec<Range<u64>>,
}

impl Function {
    /// Where it is entered: where its first range begins.
    pub fn entry(&self) -> u64 {
        self.ranges.first().map_or(0, |range| range.start)
    }

    /// Whether an address is in its code.
    pub fn contains(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }
}

/// The top of a unit.
#[derive(Clone, Debug, Default)]
pub struct UnitIndex {
    /// Functions with code, in order of their DIEs.
    pub functions: Vec<Function>,
    /// Begin, end and index of the function, sorted.
    ranges: Vec<(u64, u64, u32)>,
    /// Hash of a name, kind and offset of the DIE; sorted.
    names: Vec<(u64, NameKind, u32)>,
    /// Address and offset of the DIE of variables with a fixed address; sorted.
    variables: Vec<(u64, u32)>,
    /// Hashes of the names of structs that other structs hold by value, and of the names of those; sorted.
    embedded: Vec<(u64, Option<u64>)>,
    unit: u32,
}

impl UnitIndex {
    /// Walks the top of a unit. Fails if the unit's abbreviations or header are broken. A broken DIE ends the walk: the
    /// DIEs before it count.
    pub fn new(dwarf: &Dwarf<'_>, unit: u32) -> Result<Self> {
        let scan = UnitScan::new(dwarf, unit)?;
        let parsed = dwarf.unit(unit)?;
        let found = Self { unit, ..Self::default() };
        let mut walk = UnitWalk { dwarf, scan: &scan, parsed: &parsed, unit, found };
        if let Some(root) = scan.die(scan.root) {
            walk.index_children(root, MAX_DEPTH);
        }
        let mut found = walk.found;
        for (index, function) in (0..).zip(&found.functions) {
            let ranges = function.ranges.iter();
            found.ranges.extend(ranges.map(|range| (range.start, range.end, index)));
        }
        found.ranges.sort_unstable();
        found.names.sort_unstable();
        found.variables.sort_unstable();
        found.embedded.sort_unstable();
        found.embedded.dedup();
        Ok(found)
    }

    /// The function whose code covers an address.
    pub fn function_at(&self, address: u64) -> Option<&Function> {
        let last = self.ranges.partition_point(|(begin, ..)| *begin <= address).checked_sub(1)?;
        let (_, end, index) = self.ranges.get(last)?;
        self.functions.get(*index as usize).filter(|_| address < *end)
    }

    /// The first DIE of a kind with a name, or with that as the linker's name.
    pub fn find_named(&self, dwarf: &Dwarf<'_>, kind: NameKind, name: &[u8]) -> Option<DieRef> {
        let key = (name_hash(name), kind);
        let first = self.names.partition_point(|(hash, kind, _)| (*hash, *kind) < key);
        let same = self.names.get(first..)?.iter().take_while(|(hash, kind, _)| (*hash, *kind) == key);
        let mut dies = same.map(|(.., offset)| DieRef { unit: self.unit, offset: *offset as usize });
        dies.find(|die| dwarf.name_of(*die) == Some(name) || dwarf.linkage_name_of(*die) == Some(name))
    }

    /// Hashes (see [`name_hash`]) and DIEs of all names of a kind.
    pub fn names(&self, kind: NameKind) -> impl Iterator<Item = (u64, DieRef)> + '_ {
        let named = self.names.iter().filter(move |(_, other, _)| *other == kind);
        named.map(|(hash, _, offset)| (*hash, DieRef { unit: self.unit, offset: *offset as usize }))
    }

    /// Hashes (see [`name_hash`]) of the names of structs that other structs hold by value, and of the names of
    /// those, where they have any.
    pub fn embedded(&self) -> &[(u64, Option<u64>)] {
        &self.embedded
    }

    /// The variables that debug info says begin at an address.
    pub fn variables_at(&self, address: u64) -> impl Iterator<Item = DieRef> + '_ {
        let first = self.variables.partition_point(|(at, _)| *at < address);
        let rest = self.variables.get(first..).unwrap_or(&[]).iter();
        let same = rest.take_while(move |(at, _)| *at == address);
        same.map(|(_, offset)| DieRef { unit: self.unit, offset: *offset as usize })
    }

    /// Where a variable begins, if debug info says so.
    pub fn address_of(&self, variable: DieRef) -> Option<u64> {
        let mut found = self.variables.iter().filter(|(_, offset)| *offset as usize == variable.offset);
        found.next().map(|(address, _)| *address)
    }
}

struct UnitWalk<'w, 's> {
    dwarf: &'w Dwarf<'s>,
    scan: &'w UnitScan<'s>,
    parsed: &'w Unit<R<'s>>,
    unit: u32,
    found: UnitIndex,
}

impl UnitWalk<'_, '_> {
    fn index_children(&mut self, parent: ScannedDie<'_>, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let scan = self.scan;
        for (at, die) in scan.children(parent) {
            self.index_die(at, die, depth);
        }
    }

    fn index_die(&mut self, at: usize, die: ScannedDie<'_>, depth: u32) {
        match die.abbrev.tag {
            gimli::DW_TAG_subprogram => {
                self.index_name(NameKind::Function, at, die);
                if !die.abbrev.has(Attr::Declaration) {
                    self.index_function(at);
                }
            }
            gimli::DW_TAG_variable => {
                self.index_name(NameKind::Variable, at, die);
                if !die.abbrev.has(Attr::Declaration) {
                    self.index_variable(at);
                }
            }
            gimli::DW_TAG_namespace => self.index_children(die, depth),
            _ if die.abbrev.is_aggregate() && !die.abbrev.has(Attr::Declaration) => {
                self.index_name(NameKind::Aggregate, at, die);
                let name = self.dwarf.raw_string(self.unit, self.scan.attr_value(die, Attr::Name));
                self.index_members(die, name.map(name_hash), depth);
            }
            _ => {}
        }
    }

    /// Notes the types of an aggregate's members, those of anonymous aggregates in it too.
    fn index_members(&mut self, aggregate: ScannedDie<'_>, holder: Option<u64>, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let scan = self.scan;
        for (_, die) in scan.children(aggregate) {
            if die.abbrev.tag == gimli::DW_TAG_member {
                self.index_member(die, holder);
            } else if die.abbrev.is_aggregate() {
                self.index_members(die, holder, depth);
            }
        }
    }

    fn index_member(&mut self, member: ScannedDie<'_>, holder: Option<u64>) -> Option<()> {
        let mut die = member;
        for _ in 0..MAX_DEPTH {
            let RawValue::Local(offset) = self.scan.attr_value(die, Attr::Type) else { return None };
            die = self.scan.die(usize::try_from(offset).ok()?)?;
            match die.abbrev.tag {
                gimli::DW_TAG_typedef | gimli::DW_TAG_array_type => {}
                gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type => {}
                _ if die.abbrev.is_aggregate() => {
                    let name = self.dwarf.raw_string(self.unit, self.scan.attr_value(die, Attr::Name))?;
                    self.found.embedded.push((name_hash(name), holder));
                    return Some(());
                }
                _ => return None,
            }
        }
        None
    }

    fn index_name(&mut self, kind: NameKind, at: usize, die: ScannedDie<'_>) {
        let own = self.dwarf.raw_string(self.unit, self.scan.attr_value(die, Attr::Name));
        // A definition may leave its name to its declaration.
        let has = |attr| die.abbrev.has(attr);
        let is_nameless = kind == NameKind::Variable && !has(Attr::Declaration) && !has(Attr::Name);
        let name = if is_nameless { self.dwarf.name_of(DieRef { unit: self.unit, offset: at }) } else { own };
        // The linker's name, in languages where that is another.
        let linkage = self.dwarf.raw_string(self.unit, self.scan.attr_value(die, Attr::LinkageName));
        if let Ok(offset) = u32::try_from(at) {
            let names = [name, linkage].into_iter().flatten();
            self.found.names.extend(names.map(|name| (name_hash(name), kind, offset)));
        }
    }

    /// A function that has code of its own: neither a declaration nor one that exists inlined only.
    fn index_function(&mut self, at: usize) -> Option<()> {
        let die = DieRef { unit: self.unit, offset: at };
        let entry = self.dwarf.die(die).ok()?;
        if !entry.has_attr(gimli::DW_AT_low_pc) && !entry.has_attr(gimli::DW_AT_ranges) {
            return None;
        }
        let ranges = self.dwarf.code_ranges(self.unit, self.parsed, &entry).ok()?;
        if !ranges.is_empty() {
            self.found.functions.push(Function { die, ranges });
        }
        Some(())
    }

    fn index_variable(&mut self, at: usize) -> Option<()> {
        let die = DieRef { unit: self.unit, offset: at };
        let entry = self.dwarf.die(die).ok()?;
        let Some(Value::Exprloc(expression)) = entry.attr_value(gimli::DW_AT_location) else { return None };
        let mut operations = expression.operations(self.parsed.encoding());
        if let Ok(Some(Operation::Address { address })) = operations.next() {
            self.found.variables.push((address, u32::try_from(at).ok()?));
        }
        Some(())
    }
}

/// The hash [`UnitIndex::names`] gives of a name, the same in every run (FNV-1a over words).
pub fn name_hash(name: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ name.len() as u64;
    for chunk in name.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 29;
    }
    hash
}
