//! What DWARF says of registers and stack slots: variables at their places, as facts for the data flow.

use super::value::{Origin, Value};
use crate::types::{Place, Shape, Ty, TypeSpace};
use fieldline_debuginfo::dwarf::code::{PlaceRange, Scopes, Variable, VariablePlace};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::machine::Register;
use std::collections::BTreeSet;

/// What a fact is about.
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
pub struct Fact {
    /// First instruction address.
    pub begin: u64,
    /// First address behind.
    pub end: u64,
    /// Where.
    pub subject: FactSubject,
    /// What the pointer points to; the start of the variable.
    pub place: Place,
    /// Bytes of the type: of two facts about one pointer that of the larger type tells more.
    pub size: u64,
}

/// All facts of a function.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The program's.
    pub architecture: Architecture,
    /// Of pointers; sorted by begin.
    pub facts: Vec<Fact>,
    /// Of variables in the frame; sorted by begin.
    pub regions: Vec<Fact>,
    /// Static variables of the function: address and type.
    pub statics: Vec<(u64, Ty)>,
    /// Structs that variables of the function point to or are.
    pub subjects: BTreeSet<Ty>,
}

impl Facts {
    /// The facts of a function's variables.
    pub fn new(architecture: Architecture, scopes: &Scopes, types: &mut TypeSpace<'_, '_>) -> Self {
        let mut facts = Self { architecture, ..Self::default() };
        for variable in &scopes.variables {
            facts.add_variable(scopes, variable, types);
        }
        let shown = scopes.variables.iter().map(|variable| variable.ty);
        for die in shown.chain(scopes.hidden.iter().copied()) {
            let ty = types.of_die(die);
            let ty = types.pointee(ty).unwrap_or(ty);
            if types.is_aggregate(ty) {
                facts.subjects.insert(ty);
            }
        }
        facts.facts.sort_by_key(|fact| (fact.begin, fact.end));
        facts.regions.sort_by_key(|region| (region.begin, region.end));
        facts
    }

    fn add_variable(&mut self, scopes: &Scopes, variable: &Variable, types: &mut TypeSpace<'_, '_>) {
        let ty = types.of_die(variable.ty);
        let telling = match types.shape(ty) {
            Shape::Pointer { target, .. } => is_telling(types, *target),
            Shape::Aggregate { .. } | Shape::Array { .. } => true,
            Shape::Void | Shape::Word { .. } | Shape::Function { .. } => false,
        };
        let lies = variable.places.iter().any(|range| !matches!(range.place, VariablePlace::Value { .. }));
        if !telling && !lies {
            return;
        }
        for range in &variable.places {
            if range.end != u64::MAX {
                // A variable that has a fixed address only for a while is a copy of another that lies there.
                if !matches!(range.place, VariablePlace::Static { .. }) {
                    self.add(range, ty, telling, types);
                }
                continue;
            }
            // An expression holds wherever the variable is in scope.
            let scope = scopes.scopes.get(variable.scope as usize);
            for code in scope.into_iter().flat_map(|scope| &scope.ranges) {
                self.add(&PlaceRange { begin: code.start, end: code.end, ..*range }, ty, telling, types);
            }
        }
    }

    fn add(&mut self, range: &PlaceRange, ty: Ty, telling: bool, types: &TypeSpace<'_, '_>) {
        let subject = match range.place {
            VariablePlace::Value { register, .. } => {
                self.architecture.of_dwarf(register).map(FactSubject::Register)
            }
            VariablePlace::Memory { register, offset } => {
                let register = self.architecture.of_dwarf(register);
                register.map(|register| FactSubject::Memory(register, offset))
            }
            VariablePlace::Frame { offset } => Some(FactSubject::Frame(offset)),
            VariablePlace::Static { address } => {
                self.statics.push((address, ty));
                None
            }
            VariablePlace::FrameValue | VariablePlace::Constant => None,
        };
        let Some(subject) = subject else { return };
        let (begin, end) = (range.begin, range.end);
        let fact = |place: Place| Fact { begin, end, subject, place, size: types.size(place.ty) };
        let offset = match range.place {
            // The register holds the variable's value less the constant.
            VariablePlace::Value { offset, .. } => offset.checked_neg(),
            _ => {
                self.regions.push(fact(Place { ty, offset: 0 }));
                Some(0)
            }
        };
        if let Some((ty, offset)) = types.pointee(ty).zip(offset).filter(|_| telling) {
            self.facts.push(fact(Place { ty, offset }));
        }
    }
}

/// Whether a pointer to a type tells anything: `void *` and `char *` are used for everything.
fn is_telling(types: &TypeSpace<'_, '_>, target: Ty) -> bool {
    match types.shape(target) {
        Shape::Void => false,
        Shape::Word { size, .. } => *size > 1,
        _ => true,
    }
}

/// Applies a fact to a value: the value behind and, if the fact knew more, the origin and what the value is a place of.
///
/// What shows the larger whole wins: a variable of a generic type (`struct list_head *`) hides nothing. Where neither is
/// part of the other the program has cast, and the variable is believed.
pub(crate) fn refine(
    types: &mut TypeSpace<'_, '_>,
    value: Value,
    fact: Place,
) -> (Value, Option<(Origin, Place)>) {
    let learned = |origin| (Value::to(fact, origin), (origin != 0).then_some((origin, fact)));
    let pointer = match value {
        Value::Stack(_) | Value::Frame | Value::PerCpuOffset => return (value, None),
        Value::Number(_) if !value.is_null() => return (value, None),
        Value::Number(_) | Value::Null => return (Value::to(fact, 0), None),
        Value::Word(origin) => return learned(origin),
        Value::Pointer(pointer) => pointer,
    };
    let Some(place) = pointer.place() else {
        // Of a number somewhere in a struct the struct is what counts.
        return (if types.is_aggregate(fact.ty) { Value::to(fact, 0) } else { value }, None);
    };
    // A pointer to a number says less than one into a struct, be the number signed or not.
    let is_number = !types.is_aggregate(fact.ty) && types.is_aggregate(place.ty) && types.is_inside(place);
    if place == fact || is_number || types.encloses(place, fact) {
        return (value, None);
    }
    if types.encloses(fact, place) { learned(pointer.origin) } else { (Value::to(fact, 0), None) }
}

/// Facts to apply before each instruction: those that begin there, and at instructions marked fresh all that hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// For each instruction where its facts begin in `facts`; one more at the end.
    starts: Vec<u32>,
    facts: Vec<u32>,
}

impl Schedule {
    /// `addresses` of instructions, sorted, and whether all facts that hold must be applied anew.
    pub(crate) fn new(facts: &[Fact], addresses: impl Iterator<Item = (u64, bool)>) -> Self {
        let mut schedule = Self::default();
        let (mut active, mut next): (Vec<u32>, usize) = (Vec::new(), 0);
        for (address, is_fresh) in addresses {
            schedule.starts.push(schedule.facts.len() as u32);
            let begun = active.len();
            while let Some(fact) = facts.get(next).filter(|fact| fact.begin <= address) {
                if fact.end > address {
                    active.push(next as u32);
                }
                next += 1;
            }
            let apply = if is_fresh { 0 } else { begun };
            let holds = |fact: &u32| facts.get(*fact as usize).is_some_and(|fact| fact.end > address);
            let mut new: Vec<u32> = active.iter().skip(apply).copied().filter(holds).collect();
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
    pub(crate) fn at(&self, instruction: usize) -> &[u32] {
        let range = self.starts.get(instruction).zip(self.starts.get(instruction + 1));
        range.and_then(|(first, past)| self.facts.get(*first as usize..*past as usize)).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_apply_where_they_begin_and_where_things_are_fresh() {
        let fact = |begin, end| Fact {
            begin,
            end,
            subject: FactSubject::Frame(0),
            place: Place { ty: Ty::VOID, offset: 0 },
            size: 0,
        };
        let facts = [fact(0, 30), fact(12, 22), fact(13, 14)];
        let addresses = [(0, true), (10, false), (15, false), (20, true), (25, true)];
        let schedule = Schedule::new(&facts, addresses.into_iter());
        let at: Vec<&[u32]> = (0..6).map(|index| schedule.at(index)).collect();
        assert_eq!(at, [&[0][..], &[], &[1], &[0, 1], &[0], &[]]);
    }
}
