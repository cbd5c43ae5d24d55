//! A function's scopes, its variables with their locations, and the calls it makes.

use super::locations::{FrameBase, LocationRange};
use crate::dwarf::bytes::sections::R;
use crate::dwarf::bytes::units::{DieRef, Dwarf, UnitSection};
use crate::dwarf::bytes::values::Die;
use crate::error::Result;
use gimli::{AttributeValue as Value, DebuggingInformationEntry, Unit};
use std::ops::Range;

/// How deep scopes may nest before corrupt input is assumed.
const MAX_DEPTH: usize = 256;

/// The kind of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// The function itself.
    Function,
    /// A function that was inlined.
    Inlined,
    /// A block in braces.
    Block,
}

/// Code in which variables are visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Its kind.
    pub kind: ScopeKind,
    /// The scope around it, an index; `None` for the function.
    pub parent: Option<u32>,
    /// Its DIE; its name is that of the function, or of the inlined one.
    pub die: DieRef,
    /// Its code.
    pub ranges: Vec<Range<u64>>,
}

/// A variable or parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Index of its scope.
    pub scope: u32,
    /// Its DIE.
    pub die: DieRef,
    /// The DIE of its type.
    pub ty: DieRef,
    /// Whether it is a parameter.
    pub is_parameter: bool,
    /// Its locations, in order of address.
    pub locations: Vec<LocationRange>,
}

/// A call the compiler knows of (DW_TAG_call_site, DWARF 5 section 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// Address of the instruction behind the call.
    pub return_address: u64,
    /// The function that is called, if it is known.
    pub callee: Option<DieRef>,
}

/// The scopes, variables and calls of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionScopes {
    /// Scopes, parents first. The first is the function.
    pub scopes: Vec<Scope>,
    /// Variables and parameters that have a location anywhere, in order of their DIEs.
    pub variables: Vec<Variable>,
    /// Types of variables that have a location nowhere: they show which types the code uses.
    pub unlocated_types: Vec<DieRef>,
    /// Types of the function's parameters in order, whether or not they have a location.
    pub parameters: Vec<Option<DieRef>>,
    /// Calls, sorted by return address.
    pub calls: Vec<CallSite>,
    /// Whether all calls are among them (DW_AT_call_all_calls): others are not the compiler's.
    pub has_all_calls: bool,
}

impl FunctionScopes {
    /// Scopes that cover an address, outermost first.
    pub fn scopes_at(&self, address: u64) -> impl Iterator<Item = &Scope> {
        let covers = move |scope: &&Scope| scope.ranges.iter().any(|range| range.contains(&address));
        self.scopes.iter().filter(covers)
    }

    /// The call that returns to an address.
    pub fn call_returning_to(&self, return_address: u64) -> Option<&CallSite> {
        let index = self.calls.binary_search_by_key(&return_address, |call| call.return_address);
        self.calls.get(index.ok()?)
    }
}

/// A unit with what is needed to read its functions; made once and used for many.
pub struct ScopeReader<'a, 's> {
    dwarf: &'a Dwarf<'s>,
    unit: u32,
    parsed: Unit<R<'s>>,
}

impl<'a, 's> ScopeReader<'a, 's> {
    /// A reader for the functions of a unit. Fails if the unit's header or root is broken.
    pub fn new(dwarf: &'a Dwarf<'s>, unit: u32) -> Result<Self> {
        let parsed = dwarf.unit(unit)?;
        Ok(Self { dwarf, unit, parsed })
    }

    /// Reads a function of the unit. A broken DIE ends the reading: less is known then, nothing is wrong. Fails if
    /// the function's own DIE is broken.
    pub fn read(&self, function: DieRef) -> Result<FunctionScopes> {
        let mut entries = self.dwarf.entries_from(function)?;
        let mut entry = DebuggingInformationEntry::null();
        entries.read_entry(&mut entry).map_err(|error| self.dwarf.error_at(function, &error))?;
        let mut walk = ScopeWalk {
            reader: self,
            frame: FrameBase::from_attr(entry.attr_value(gimli::DW_AT_frame_base), &self.parsed),
            enclosing: Vec::new(),
            found: FunctionScopes::default(),
        };
        walk.found.has_all_calls =
            entry.has_attr(gimli::DW_AT_call_all_calls) || entry.has_attr(gimli::DW_AT_GNU_all_call_sites);
        walk.add_scope(function, &entry, ScopeKind::Function, 0);
        while !entries.is_empty() && entries.next_depth() > 0 {
            let depth = usize::try_from(entries.next_depth()).unwrap_or(0);
            let offset = entries.next_offset().0;
            match entries.read_entry(&mut entry) {
                Ok(true) => walk.process_die(offset, &entry, depth),
                Ok(false) => {}
                Err(_) => break,
            }
        }
        let mut found = walk.found;
        found.calls.sort_unstable_by_key(|call| call.return_address);
        Ok(found)
    }
}

struct ScopeWalk<'w, 'a, 's> {
    reader: &'w ScopeReader<'a, 's>,
    frame: FrameBase,
    /// Depth and index of the scopes around the current DIE.
    enclosing: Vec<(usize, u32)>,
    found: FunctionScopes,
}

impl<'s> ScopeWalk<'_, '_, 's> {
    fn process_die(&mut self, offset: usize, entry: &Die<'s>, depth: usize) {
        let die = DieRef { unit: self.reader.unit, offset };
        while self.enclosing.last().is_some_and(|(open, _)| *open >= depth) {
            self.enclosing.pop();
        }
        match entry.tag() {
            gimli::DW_TAG_lexical_block => self.add_scope(die, entry, ScopeKind::Block, depth),
            gimli::DW_TAG_inlined_subroutine => self.add_scope(die, entry, ScopeKind::Inlined, depth),
            gimli::DW_TAG_formal_parameter => self.add_variable(die, entry, depth, true),
            gimli::DW_TAG_variable => self.add_variable(die, entry, depth, false),
            gimli::DW_TAG_call_site | gimli::DW_TAG_GNU_call_site => self.add_call_site(entry),
            _ => {}
        }
    }

    /// The innermost scope around a DIE, if it stands directly in it.
    fn enclosing_scope(&self, depth: usize) -> Option<u32> {
        let (open, scope) = self.enclosing.last()?;
        (*open + 1 == depth).then_some(*scope)
    }

    fn add_scope(&mut self, die: DieRef, entry: &Die<'s>, kind: ScopeKind, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let parent = self.enclosing.last().map(|(_, scope)| *scope);
        let ScopeReader { dwarf, unit, parsed } = self.reader;
        let mut ranges = dwarf.code_ranges(*unit, parsed, entry).unwrap_or_default();
        // A block without code of its own stands for the one around it.
        if let Some(parent) = parent.filter(|_| ranges.is_empty()) {
            ranges.clone_from(&self.found.scopes[parent as usize].ranges);
        }
        self.enclosing.push((depth, self.found.scopes.len() as u32));
        self.found.scopes.push(Scope { kind, parent, die, ranges });
    }

    fn add_variable(&mut self, die: DieRef, entry: &Die<'s>, depth: usize, is_parameter: bool) {
        let Some(scope) = self.enclosing_scope(depth) else { return };
        let dwarf = self.reader.dwarf;
        let own = entry.attr_value(gimli::DW_AT_type).and_then(|value| dwarf.resolve(die.unit, &value));
        let location = entry.attr_value(gimli::DW_AT_location);
        let ty = own.or_else(|| dwarf.type_die(die));
        if is_parameter && scope == 0 {
            self.found.parameters.push(ty);
        }
        let Some(ty) = ty else { return };
        let Some(location) = location else {
            self.found.unlocated_types.push(ty);
            return;
        };
        let locations = dwarf.read_locations(die.unit, &self.reader.parsed, location, self.frame);
        if !locations.is_empty() {
            self.found.variables.push(Variable { scope, die, ty, is_parameter, locations });
        }
    }

    fn add_call_site(&mut self, entry: &Die<'s>) {
        let (unit, dwarf) = (self.reader.unit, self.reader.dwarf);
        let attr = |name, older| entry.attr_value(name).or_else(|| entry.attr_value(older));
        let return_address = match attr(gimli::DW_AT_call_return_pc, gimli::DW_AT_low_pc) {
            Some(Value::Addr(address)) => address,
            Some(value) => match dwarf.dwarf_of(UnitSection::Info).attr_address(&self.reader.parsed, value) {
                Ok(Some(address)) => address,
                _ => return,
            },
            None => return,
        };
        let callee = attr(gimli::DW_AT_call_origin, gimli::DW_AT_abstract_origin);
        let callee = callee.and_then(|value| dwarf.resolve(unit, &value));
        self.found.calls.push(CallSite { return_address, callee });
    }
}
