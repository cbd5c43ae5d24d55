//! Pointers to records that are members: where code counts on from one, the members that follow are reached.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::types::{Function, Type, lossy};
use crate::meaning::value::{Base, Part, Sum, Value, constant};

/// Most members whose addresses a variable is known to hold.
const MOST: usize = 8;

impl<'t> Evaluator<'_, '_, 't> {
    /// The places that a pointer to a record was had from.
    fn parts_of(&self, value: &Value<'t>) -> Vec<Part<'t>> {
        let is_pointer = matches!(self.world().resolve(&value.ty), Type::Pointer(_));
        if !self.world().is_complete || !is_pointer || !self.is_typed(&value.ty) || value.is_content {
            return Vec::new();
        }
        let members = value.sums.iter().filter(|sum| sum.base.is_some()).filter_map(Sum::member);
        let mut found: Vec<Part<'t>> = members.map(|(record, member)| Part::Member(record, member)).collect();
        if let Some(local) = value.name.and_then(|name| self.local(name)) {
            found.extend(local.parts.iter().copied());
            found.extend(local.parameter.map(Part::Parameter));
        }
        found
    }

    /// Keeps where a variable's pointer was had from.
    pub(in crate::meaning) fn keep_parts(&mut self, name: &'t [u8], right: &Value<'t>) {
        let parts = self.parts_of(right);
        let local = self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name));
        let Some(local) = local else { return };
        for part in parts {
            if local.parts.len() < MOST && !local.parts.contains(&part) {
                local.parts.push(part);
            }
        }
    }

    /// Code counts on from a pointer: `p[1]`, `p + 1`, `p++`.
    pub(in crate::meaning) fn counted_on(&mut self, value: &Value<'t>) {
        for part in self.parts_of(value) {
            match part {
                Part::Member(record, member) => {
                    let what = format!("several are counted from {} on", lossy(member));
                    self.tell_from(record, member, what);
                }
                Part::Parameter(number) if !self.function.is_empty() => {
                    let seen = Sum { base: Some(Base::Mapped(b"")), terms: Vec::new() };
                    self.keep(Slot::Counted(self.home, self.function, number), &[seen]);
                }
                Part::Parameter(_) => {}
            }
        }
    }

    /// Pointers that a function is handed which counts on from them: as its body says, or as a number right behind the
    /// pointer says to one that nobody defines. One beside a number's address may be its value, or anything else.
    pub(in crate::meaning) fn handed_parts(
        &mut self,
        name: &'t [u8],
        function: Option<&Function<'t>>,
        arguments: &[Value<'t>],
    ) {
        for (number, argument) in arguments.iter().enumerate().filter(|(_, argument)| !argument.is_type) {
            let is_counted = match function.filter(|function| function.is_defined) {
                Some(function) => !self.kept(Slot::Counted(function.home, name, number)).is_empty(),
                None => arguments.get(number + 1).is_some_and(|behind| {
                    !behind.is_type && constant(behind).is_some_and(|number| number > 1)
                }),
            };
            if is_counted {
                self.counted_on(argument);
            }
        }
    }
}
