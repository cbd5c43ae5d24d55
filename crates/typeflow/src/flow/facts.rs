//! Facts for the data flow out of DWARF: variables at their locations in registers and stack slots.

use super::value::{Origin, Value};
use crate::types::{Ty, TypeOffset, TypeShape, TypeSpace};
use fieldline_debuginfo::dwarf::code::{FunctionScopes, LocationRange, Variable, VariableLocation};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::machine::Register;
use std::collections::BTreeSet;

/// The location a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactSubject {
    /// A register.
    Register(Register),
    /// Memory at a register's value plus a distance.
    Memory(Register, i64),
    /// Memory at a distance from the canonical frame address.
    Frame(i64),
}

/// While the program is between two addresses a pointer is somewhere, or a variable lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableFact {
    /// First instruction address.
    pub begin: u64,
    /// First address behind.
    pub end: u64,
    /// Where.
    pub subject: FactSubject,
    /// The type and offset the pointer points to; the start of the variable.
    pub place: TypeOffset,
    /// Bytes of the type: of two facts about one pointer the larger type is more specific.
    pub size: Option<u64>,
}

/// All facts of a function.
#[derive(Clone, Debug, Default)]
pub struct FunctionFacts {
    /// The program's.
    pub architecture: Architecture,
    /// Facts about pointers; sorted by begin.
    pub facts: Vec<VariableFact>,
    /// Of variables in the frame; sorted by begin.
    pub regions: Vec<VariableFact>,
    /// Static variables of the function: address and type.
    pub statics: Vec<(u64, Ty)>,
    /// Structs that variables of the function point to or are.
    pub related_structs: BTreeSet<Ty>,
}

impl FunctionFacts {
    /// The facts of a function's variables.
    pub fn new(architecture: Architecture, scopes: &FunctionScopes, types: &mut TypeSpace<'_, '_>) -> Self {
        let mut facts = Self { architecture, ..Self::default() };
        for variable in &scopes.variables {
            facts.add_variable(scopes, variable, types);
        }
        let shown = scopes.variables.iter().map(|variable| variable.ty);
        for die in shown.chain(scopes.unlocated_types.iter().copied()) {
            let ty = types.type_of_die(die);
            let ty = types.pointee(ty).unwrap_or(ty);
            if types.is_aggregate(ty) {
                facts.related_structs.insert(ty);
            }
        }
        facts.facts.sort_by_key(|fact| (fact.begin, fact.end));
        facts.regions.sort_by_key(|region| (region.begin, region.end));
        facts
    }

    fn add_variable(&mut self, scopes: &FunctionScopes, variable: &Variable, types: &mut TypeSpace<'_, '_>) {
        let ty = types.type_of_die(variable.ty);
        let is_informative = match types.shape(ty) {
            TypeShape::Pointer { target, .. } => is_informative_target(types, *target),
            TypeShape::Aggregate { .. } | TypeShape::Array { .. } => true,
            TypeShape::Void | TypeShape::Scalar { .. } | TypeShape::Function { .. } => false,
        };
        let is_in_memory =
            variable.locations.iter().any(|range| !matches!(range.location, VariableLocation::Value { .. }));
        if !is_informative && !is_in_memory {
            return;
        }
        for range in &variable.locations {
            if range.end != u64::MAX {
                // A variable that has a fixed address only for a while is a copy of another that lies there.
                if !matches!(range.location, VariableLocation::Static { .. }) {
                    self.add(range, ty, is_informative, types);
                }
                continue;
            }
            // An expression holds wherever the variable is in scope.
            let scope = scopes.scopes.get(variable.scope as usize);
            for code in scope.into_iter().flat_map(|scope| &scope.ranges) {
                let range = LocationRange { begin: code.start, end: code.end, ..*range };
                self.add(&range, ty, is_informative, types);
            }
        }
    }

    fn add(&mut self, range: &LocationRange, ty: Ty, is_informative: bool, types: &TypeSpace<'_, '_>) {
        let subject = match range.location {
            VariableLocation::Value { register, .. } => {
                self.architecture.register_from_dwarf(register).map(FactSubject::Register)
            }
            VariableLocation::Memory { register, offset } => {
                let register = self.architecture.register_from_dwarf(register);
                register.map(|register| FactSubject::Memory(register, offset))
            }
            VariableLocation::Frame { offset } => Some(FactSubject::Frame(offset)),
            VariableLocation::Static { address } => {
                self.statics.push((address, ty));
                None
            }
            VariableLocation::FrameValue | VariableLocation::Constant => None,
        };
        let Some(subject) = subject else { return };
        let (begin, end) = (range.begin, range.end);
        let fact =
            |place: TypeOffset| VariableFact { begin, end, subject, place, size: types.size(place.ty) };
        let offset = match range.location {
            // The register holds the variable's value less the constant.
            VariableLocation::Value { offset, .. } => offset.checked_neg(),
            _ => {
                self.regions.push(fact(TypeOffset { ty, offset: 0 }));
                Some(0)
            }
        };
        if let Some((ty, offset)) = types.pointee(ty).zip(offset).filter(|_| is_informative) {
            self.facts.push(fact(TypeOffset { ty, offset }));
        }
    }
}

/// Whether a pointer's type is specific: `void *` and `char *` are used for everything.
fn is_informative_target(types: &TypeSpace<'_, '_>, target: Ty) -> bool {
    match types.shape(target) {
        TypeShape::Void => false,
        TypeShape::Scalar { size, .. } => *size > 1,
        _ => true,
    }
}

/// Applies a fact to a value: the new value and, if the fact is more specific, the origin and the refined
/// type.
///
/// The larger container wins: a variable of a generic type (`struct list_head *`) hides nothing. Where
/// neither is part of the other the program has cast, and the variable is believed.
pub(crate) fn apply_fact(
    types: &mut TypeSpace<'_, '_>,
    value: Value,
    fact: TypeOffset,
) -> (Value, Option<(Origin, TypeOffset)>) {
    let refine_origin = |origin| (Value::pointer_to(fact, origin), (origin != 0).then_some((origin, fact)));
    let pointer = match value {
        Value::Stack(_) | Value::Frame | Value::PerCpuOffset => return (value, None),
        Value::Number(_) if !value.is_null() => return (value, None),
        Value::Number(_) | Value::Multiple(_) | Value::Null => return (Value::pointer_to(fact, 0), None),
        Value::Word(origin) => return refine_origin(origin),
        Value::Pointer(pointer) => pointer,
    };
    let Some(place) = pointer.location() else {
        // Of a number somewhere in a struct the struct is what counts.
        return (if types.is_aggregate(fact.ty) { Value::pointer_to(fact, 0) } else { value }, None);
    };
    // A pointer to a number says less than one into a struct, be the number signed or not.
    let is_number = !types.is_aggregate(fact.ty) && types.is_aggregate(place.ty) && types.is_inside(place);
    if place == fact || is_number || types.encloses(place, fact) {
        return (value, None);
    }
    // How far a pointer that walks an array has come from where it was made isn't known.
    if types.encloses(fact, place) && !pointer.is_element {
        refine_origin(pointer.origin)
    } else {
        (Value::pointer_to(fact, 0), None)
    }
}

/// Facts to apply before each instruction: those that begin there, and where marked all that hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactSchedule {
    /// For each instruction where its facts begin in `facts`; one more at the end.
    starts: Vec<u32>,
    facts: Vec<u32>,
}

impl FactSchedule {
    /// `addresses` of instructions, sorted, and whether all facts that hold must be applied anew.
    pub(crate) fn new(facts: &[VariableFact], addresses: impl Iterator<Item = (u64, bool)>) -> Self {
        let mut schedule = Self::default();
        let (mut active, mut next): (Vec<u32>, usize) = (Vec::new(), 0);
        for (address, is_fresh) in addresses {
            schedule.starts.push(schedule.facts.len() as u32);
            let active_before = active.len();
            while let Some(fact) = facts.get(next).filter(|fact| fact.begin <= address) {
                if fact.end > address {
                    active.push(next as u32);
                }
                next += 1;
            }
            let first = if is_fresh { 0 } else { active_before };
            let holds = |fact: &u32| facts.get(*fact as usize).is_some_and(|fact| fact.end > address);
            let mut new: Vec<u32> = active.iter().skip(first).copied().filter(holds).collect();
            new.sort_by_key(|fact| facts.get(*fact as usize).map(|fact| fact.size));
            schedule.facts.extend(new);
            if is_fresh {
                active.retain(holds);
            }
        }
        schedule.starts.push(schedule.facts.len() as u32);
        schedule
    }

    /// Indices of the facts to apply before an instruction.
    pub(crate) fn facts_before(&self, instruction: usize) -> &[u32] {
        let range = self.starts.get(instruction).zip(self.starts.get(instruction + 1));
        range.and_then(|(first, past)| self.facts.get(*first as usize..*past as usize)).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_apply_where_they_begin_and_where_things_are_fresh() {
        let fact = |begin, end| VariableFact {
            begin,
            end,
            subject: FactSubject::Frame(0),
            place: TypeOffset { ty: Ty::VOID, offset: 0 },
            size: None,
        };
        let facts = [fact(0, 30), fact(12, 22), fact(13, 14)];
        let addresses = [(0, true), (10, false), (15, false), (20, true), (25, true)];
        let schedule = FactSchedule::new(&facts, addresses.into_iter());
        let at: Vec<&[u32]> = (0..6).map(|index| schedule.facts_before(index)).collect();
        assert_eq!(at, [&[0][..], &[], &[1], &[0, 1], &[0], &[]]);
    }
}
