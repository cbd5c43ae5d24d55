//! What stands at the top of a unit: functions with code, and variables, types and functions by name.
//!
//! Only the DIEs directly below the unit (or a namespace) are looked at; their descendants are stepped over.

use super::abbrev::Attr;
use super::code_ranges::code_ranges;
use super::scan::{Raw, Seen, UnitScan};
use super::units::{DieRef, Dwarf};
use crate::error::Result;
use gimli::{AttributeValue as Value, DwTag, Operation, Unit};
use std::ops::Range;

/// How deep namespaces may nest.
const MAX_DEPTH: u32 = 16;
/// How often a DIE may refer to the one that holds its name.
const MAX_ORIGINS: u32 = 4;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
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
pub struct Survey {
    /// Functions with code, in order of their DIEs.
    pub functions: Vec<Function>,
    /// Begin, end and index of the function, sorted.
    ranges: Vec<(u64, u64, u32)>,
    /// Hash of a name, kind and offset of the DIE; sorted.
    names: Vec<(u64, Kind, u32)>,
    /// Address and offset of the DIE of variables with a fixed address; sorted.
    variables: Vec<(u64, u32)>,
    /// Hashes of the names of structs that other structs hold by value; sorted.
    embedded: Vec<u64>,
    unit: u32,
}

impl Survey {
    /// Walks the top of a unit.
    ///
    /// # Errors
    /// If the unit's abbreviations or header are broken. A broken DIE ends the walk: what stands before it counts.
    pub fn new(dwarf: &Dwarf<'_>, unit: u32) -> Result<Self> {
        let scan = UnitScan::new(dwarf, unit)?;
        let parsed = dwarf.unit(unit)?;
        let mut walk =
            Walk { dwarf, scan: &scan, parsed: &parsed, unit, found: Self { unit, ..Self::default() } };
        walk.children(scan.root, MAX_DEPTH);
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
        let past = self.ranges.partition_point(|(begin, ..)| *begin <= address);
        let (_, end, index) = self.ranges.get(past.checked_sub(1)?)?;
        let function = self.functions.get(*index as usize);
        function.filter(|_| address < *end)
    }

    /// The first DIE of a kind with a name, or with that as the linker's name.
    pub fn named(&self, dwarf: &Dwarf<'_>, kind: Kind, name: &[u8]) -> Option<DieRef> {
        let key = (hash(name), kind);
        let first = self.names.partition_point(|(hash, kind, _)| (*hash, *kind) < key);
        let same = self.names.get(first..)?.iter();
        let dies = same
            .take_while(|(hash, kind, _)| (*hash, *kind) == key)
            .map(|(.., offset)| DieRef { unit: self.unit, offset: *offset as usize });
        let is_it =
            |die: &DieRef| dwarf.name_of(*die) == Some(name) || dwarf.linkage_name_of(*die) == Some(name);
        dies.into_iter().find(is_it)
    }

    /// Hashes (see [`name_hash`]) and DIEs of all names of a kind.
    pub fn names(&self, kind: Kind) -> impl Iterator<Item = (u64, DieRef)> + '_ {
        let named = self.names.iter().filter(move |(_, of, _)| *of == kind);
        named.map(|(hash, _, offset)| {
            let offset = *offset as usize;
            (*hash, DieRef { unit: self.unit, offset })
        })
    }

    /// Hashes (see [`name_hash`]) of the names of structs that other structs hold by value.
    pub fn embedded(&self) -> &[u64] {
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

struct Walk<'w, 's> {
    dwarf: &'w Dwarf<'s>,
    scan: &'w UnitScan<'s>,
    parsed: &'w Unit<super::R<'s>>,
    unit: u32,
    found: Survey,
}

impl Walk<'_, '_> {
    fn children(&mut self, parent: usize, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let parent = self.scan.die(parent)?;
        if !parent.shape.has_children {
            return Some(());
        }
        let mut at = self.scan.end(parent)?;
        while let Some(seen) = self.scan.die(at) {
            self.look_at(at, seen, depth);
            at = self.scan.next_sibling(seen)?;
        }
        Some(())
    }

    fn look_at(&mut self, at: usize, seen: Seen<'_>, depth: u32) {
        match seen.shape.tag {
            gimli::DW_TAG_subprogram => {
                self.name(Kind::Function, at, seen);
                if !seen.shape.has(Attr::Declaration) {
                    self.function(at);
                }
            }
            gimli::DW_TAG_variable => {
                self.name(Kind::Variable, at, seen);
                if !seen.shape.has(Attr::Declaration) {
                    self.variable(at);
                }
            }
            gimli::DW_TAG_namespace => drop(self.children(at, depth)),
            tag if is_aggregate(tag) && !seen.shape.has(Attr::Declaration) => {
                self.name(Kind::Aggregate, at, seen);
                self.members(seen, depth);
            }
            _ => {}
        }
    }

    /// Notes what the members of an aggregate are, those of anonymous ones in it too.
    fn members(&mut self, aggregate: Seen<'_>, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1).filter(|_| aggregate.shape.has_children)?;
        let mut at = self.scan.end(aggregate)?;
        while let Some(seen) = self.scan.die(at) {
            if seen.shape.tag == gimli::DW_TAG_member {
                self.member(seen);
            } else if is_aggregate(seen.shape.tag) {
                self.members(seen, depth);
            }
            at = self.scan.next_sibling(seen)?;
        }
        Some(())
    }

    fn member(&mut self, member: Seen<'_>) -> Option<()> {
        let mut seen = member;
        for _ in 0..MAX_DEPTH {
            let Raw::Local(offset) = self.scan.get(seen, Attr::Type) else {
                return None;
            };
            seen = self.scan.die(usize::try_from(offset).ok()?)?;
            match seen.shape.tag {
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_array_type => {}
                tag if is_aggregate(tag) => {
                    let name = match self.scan.get(seen, Attr::Name) {
                        Raw::Inline(bytes) => bytes,
                        Raw::Str(form, value) => self.dwarf.string(self.unit, form, value)?,
                        _ => return None,
                    };
                    self.found.embedded.push(hash(name));
                    return Some(());
                }
                _ => return None,
            }
        }
        None
    }

    fn name(&mut self, kind: Kind, at: usize, seen: Seen<'_>) {
        let bytes = match self.scan.get(seen, Attr::Name) {
            Raw::Inline(bytes) => Some(bytes),
            Raw::Str(form, value) => self.dwarf.string(self.unit, form, value),
            // A definition may leave its name to its declaration.
            _ if kind == Kind::Variable && !seen.shape.has(Attr::Declaration) => {
                let die = DieRef { unit: self.unit, offset: at };
                self.dwarf.name_of(die)
            }
            _ => None,
        };
        if let (Some(bytes), Ok(offset)) = (bytes, u32::try_from(at)) {
            self.found.names.push((hash(bytes), kind, offset));
        }
        self.linkage_name(kind, at, seen);
    }

    /// What the linker calls it, in languages where that is another name.
    fn linkage_name(&mut self, kind: Kind, at: usize, seen: Seen<'_>) {
        let bytes = match self.scan.get(seen, Attr::LinkageName) {
            Raw::Inline(bytes) => Some(bytes),
            Raw::Str(form, value) => self.dwarf.string(self.unit, form, value),
            _ => None,
        };
        if let (Some(bytes), Ok(offset)) = (bytes, u32::try_from(at)) {
            self.found.names.push((hash(bytes), kind, offset));
        }
    }

    /// A function that has code of its own: neither a declaration nor one that exists inlined only.
    fn function(&mut self, at: usize) -> Option<()> {
        let die = DieRef { unit: self.unit, offset: at };
        let entry = self.dwarf.die(die).ok()?;
        if !entry.has_attr(gimli::DW_AT_low_pc) && !entry.has_attr(gimli::DW_AT_ranges) {
            return None;
        }
        let space = self.dwarf.entry(self.unit).ok()?.space;
        let ranges = code_ranges(self.dwarf.dwarf_of(space), self.parsed, &entry).ok()?;
        if !ranges.is_empty() {
            self.found.functions.push(Function { die, ranges });
        }
        Some(())
    }

    fn variable(&mut self, at: usize) -> Option<()> {
        let die = DieRef { unit: self.unit, offset: at };
        let entry = self.dwarf.die(die).ok()?;
        let Some(Value::Exprloc(expression)) = entry.attr_value(gimli::DW_AT_location) else {
            return None;
        };
        let mut operations = expression.operations(self.parsed.encoding());
        if let Ok(Some(Operation::Address { address })) = operations.next() {
            self.found.variables.push((address, u32::try_from(at).ok()?));
        }
        Some(())
    }
}

fn is_aggregate(tag: DwTag) -> bool {
    super::index::kind_of(tag).is_some()
}

/// The hash [`Survey::names`] gives of a name.
pub fn name_hash(name: &[u8]) -> u64 {
    hash(name)
}

/// A hash that is the same in every run (FNV-1a over words).
fn hash(name: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ name.len() as u64;
    for chunk in name.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 29;
    }
    hash
}

impl<'s> Dwarf<'s> {
    /// The name of a DIE, or of the DIE it stems from (DW_AT_abstract_origin, DW_AT_specification).
    pub fn name_of(&self, die: DieRef) -> Option<&'s [u8]> {
        let mut die = die;
        for _ in 0..=MAX_ORIGINS {
            let entry = self.die(die).ok()?;
            if let Some(value) = entry.attr_value(gimli::DW_AT_name) {
                return self.name_bytes(die.unit, value);
            }
            die = self.origin(die, &entry)?;
        }
        None
    }

    /// What the linker calls a DIE, where that differs from its name (DW_AT_linkage_name).
    pub fn linkage_name_of(&self, die: DieRef) -> Option<&'s [u8]> {
        self.along_origins(die, |entry, unit| {
            let value = entry.attr_value(gimli::DW_AT_linkage_name);
            self.name_bytes(unit, value.or_else(|| entry.attr_value(gimli::DW_AT_MIPS_linkage_name))?)
        })
    }

    fn name_bytes(&self, unit: u32, value: Value<super::R<'s>>) -> Option<&'s [u8]> {
        let dwarf = self.dwarf_of(self.entry(unit).ok()?.space);
        let reader = match value {
            Value::String(reader) => return Some(reader.slice()),
            Value::DebugStrRef(offset) => dwarf.string(offset),
            Value::DebugStrRefSup(offset) => dwarf.sup_string(offset),
            Value::DebugLineStrRef(offset) => dwarf.line_string(offset),
            other => dwarf.attr_string(&self.unit(unit).ok()?, other),
        };
        reader.ok().map(|reader| reader.slice())
    }

    /// The DIE a DIE stems from.
    pub(crate) fn origin(
        &self,
        die: DieRef,
        entry: &gimli::DebuggingInformationEntry<super::R<'s>>,
    ) -> Option<DieRef> {
        let value = entry
            .attr_value(gimli::DW_AT_abstract_origin)
            .or_else(|| entry.attr_value(gimli::DW_AT_specification))?;
        self.resolve(die.unit, &value)
    }

    /// The type of a DIE or of the DIE it stems from: of a variable its type, of a function what it returns.
    /// `None` for void.
    pub fn type_die(&self, die: DieRef) -> Option<DieRef> {
        self.along_origins(die, |entry, unit| {
            let value = entry.attr_value(gimli::DW_AT_type)?;
            self.resolve(unit, &value)
        })
    }

    /// Types of a function's parameters, in order; `None` for one without.
    pub fn parameter_types(&self, function: DieRef) -> Vec<Option<DieRef>> {
        let mut die = function;
        for _ in 0..=MAX_ORIGINS {
            let parameters = self.parameters(die).unwrap_or_default();
            if !parameters.is_empty() {
                return parameters.into_iter().map(|parameter| self.type_die(parameter)).collect();
            }
            let origin = self.die(die).ok().and_then(|entry| self.origin(die, &entry));
            match origin {
                Some(origin) => die = origin,
                None => break,
            }
        }
        Vec::new()
    }

    /// The parameters of a function, which stand in front of all else in it.
    fn parameters(&self, function: DieRef) -> Result<Vec<DieRef>> {
        let abbreviations = self.abbreviations(function.unit)?;
        let header = &self.entry(function.unit)?.header;
        let error = |error| self.error_at(function, &error);
        let mut entries =
            header.entries_raw(abbreviations, Some(gimli::UnitOffset(function.offset))).map_err(error)?;
        let mut entry = gimli::DebuggingInformationEntry::null();
        entries.read_entry(&mut entry).map_err(error)?;
        let mut parameters = Vec::new();
        while !entries.is_empty() && entries.next_depth() == 1 {
            let offset = entries.next_offset().0;
            let present = entries.read_entry(&mut entry).map_err(error)?;
            if !present || entry.tag() != gimli::DW_TAG_formal_parameter {
                break;
            }
            parameters.push(DieRef { unit: function.unit, offset });
        }
        Ok(parameters)
    }

    /// Whether a function never returns (DW_AT_noreturn).
    pub fn is_noreturn(&self, die: DieRef) -> bool {
        let found = self.along_origins(die, |entry, _| entry.attr_value(gimli::DW_AT_noreturn));
        found == Some(Value::Flag(true))
    }

    /// What the first of a DIE and the DIEs it stems from says.
    fn along_origins<T>(
        &self,
        die: DieRef,
        say: impl Fn(&gimli::DebuggingInformationEntry<super::R<'s>>, u32) -> Option<T>,
    ) -> Option<T> {
        let mut die = die;
        for _ in 0..=MAX_ORIGINS {
            let entry = self.die(die).ok()?;
            if let Some(found) = say(&entry, die.unit) {
                return Some(found);
            }
            die = self.origin(die, &entry)?;
        }
        None
    }
}
