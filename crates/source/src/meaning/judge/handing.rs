//! Values that go into functions and come out of them.

use crate::meaning::code::evaluator::{Callee, Evaluator};
use crate::meaning::flows::Slot;
use crate::meaning::judge::callee::{ANONYMOUS, Does, does, gives_addresses, gives_back, maps};
use crate::meaning::types::{Function, Type, lossy};
use crate::meaning::value::{Base, Kept, Sum, Term, Value, join};
use crate::uses::UseDemand;

/// Most parameters of a function that is called by one that isn't known.
const MOST_PARAMETERS: usize = 4;

impl<'t> Evaluator<'_, '_, 't> {
    /// Arguments beyond the parameters, and those that stand beside a function which may be handed them.
    pub(in crate::meaning) fn callbacks(
        &mut self,
        function: Option<&Function<'t>>,
        name: &'t [u8],
        arguments: &[Value<'t>],
    ) {
        let world = self.world();
        // A function that is defined hands on what it is given where its body says so.
        let is_followed = function.is_some_and(|function| function.is_defined);
        let handed = arguments.iter().filter(|_| !is_followed).flat_map(|argument| self.sums_of(argument));
        let handed: Vec<Sum<'t>> = handed.filter(Sum::is_function).collect();
        let called = self.callees_among(&handed);
        self.returned_outside(&called);
        if !is_followed {
            self.handed_away(name, arguments);
            self.filled_outside(name, arguments);
            self.called_with_kept(&called, arguments);
        }
        for (number, argument) in arguments.iter().enumerate() {
            self.elements_handed(argument, &called);
            let mut sums = self.sums_of(argument);
            if let Some(function) = function.filter(|function| function.is_defined) {
                if number >= function.parameters.len() {
                    self.keep(Slot::Parameter(function.home, name, usize::MAX), &sums);
                    self.passed_beyond(function, name, argument);
                }
                // An object for a reference to a template's type.
                let ty = function.parameters.get(number).map(|(_, ty)| world.resolve(ty));
                let is_open = matches!(ty, Some(Type::Named(_) | Type::Unknown));
                if is_open && matches!(world.resolve(&argument.ty), Type::Record(_)) {
                    self.keep(
                        Slot::Parameter(function.home, name, number),
                        argument.place.as_deref().unwrap_or_default(),
                    );
                }
            }
            sums.retain(|sum| matches!(sum.base, Some(Base::Object(_))));
            self.compared_as_text(function, arguments, &sums);
            for callee in &called {
                for place in 0..MOST_PARAMETERS {
                    self.keep(callee.parameter(place), &sums);
                }
            }
        }
    }

    /// Results of functions that are called by those that nobody defines.
    fn returned_outside(&mut self, called: &[Callee<'t>]) {
        for callee in called {
            let sums = self.kept(callee.result());
            self.lost(&sums);
        }
    }

    /// `tss_create(&key, destroy)`: a function that is handed over without data may be called with what was handed over
    /// elsewhere.
    fn called_with_kept(&mut self, called: &[Callee<'t>], arguments: &[Value<'t>]) {
        let is_object = |sum: &Sum<'t>| matches!(sum.base, Some(Base::Object(_)));
        let has_data = arguments.iter().any(|argument| self.sums_of(argument).iter().any(is_object));
        if called.is_empty() || has_data || !self.world().is_complete {
            return;
        }
        let outside = self.kept(Slot::Outside);
        for (callee, place) in
            called.iter().flat_map(|callee| (0..MOST_PARAMETERS).map(move |place| (callee, place)))
        {
            self.keep(callee.parameter(place), &outside);
        }
    }

    /// Pointers that a function which nobody defines may fill with an address that it was handed.
    fn filled_outside(&mut self, name: &[u8], arguments: &[Value<'t>]) {
        let world = self.world();
        if !world.is_complete || !gives_addresses(name) {
            return;
        }
        let outside = self.kept(Slot::Outside);
        for argument in arguments {
            let Some(Kept::Variable(variable)) = argument.target else { continue };
            let ty = self.local(variable).map(|local| local.ty.clone()).unwrap_or_default();
            let resolved = world.resolve(&ty);
            let Some(to) = resolved.element().map(|element| world.resolve(element)) else { continue };
            match to {
                Type::Void => self.assign(variable, &outside),
                Type::Number(..) | Type::Pointer(_) => self.taken_for_numbers(&outside, name),
                Type::Record(_) => {
                    let is_wanted = |sum: &Sum<'t>| matches!((&to, sum.base), (Type::Record(to), Some(Base::Object(own))) if *to == own);
                    if !outside.iter().any(is_wanted) {
                        self.convert(&Value::sums(Type::Void.pointer(), outside.clone()), &ty, true);
                    }
                }
                _ => {}
            }
        }
    }

    fn taken_for_numbers(&mut self, outside: &[Sum<'t>], name: &[u8]) {
        for sum in outside {
            if let Some(Base::Object(record)) = sum.base {
                let what = format!("{} may give its address as that of numbers", lossy(name));
                self.tell_whole(record, what);
            }
        }
    }

    /// Objects beside a function that nobody defines, which may be handed them: it knows none of their types.
    fn compared_as_text(
        &mut self,
        function: Option<&Function<'t>>,
        arguments: &[Value<'t>],
        sums: &[Sum<'t>],
    ) {
        let world = self.world();
        let is_unknown = |name: &&'t [u8]| !world.functions.contains_key(name) && does(name) != Does::Keeps;
        let named = arguments.iter().filter(|argument| argument.name.is_none() && argument.member.is_none());
        let named = named.filter(|argument| argument.is_cast_function);
        let beside = named.filter_map(|argument| argument.call).find(is_unknown);
        let Some(beside) = beside.filter(|_| function.is_none_or(|function| !function.is_defined)) else {
            return;
        };
        for sum in sums {
            if let Some(Base::Object(record)) = sum.base {
                self.tell_whole(record, format!("{} is handed it as something else", lossy(beside)));
            }
        }
    }

    /// Memory that is given back by the address of an object: one that begins with it may be what was allocated.
    pub(in crate::meaning) fn given_back(&mut self, sums: &[Sum<'t>]) {
        let world = self.world();
        for sum in sums.iter().filter(|sum| sum.terms.is_empty()) {
            let Some(Base::Object(record)) = sum.base else { continue };
            let mut holders: Vec<&'t [u8]> =
                world.subjects.keys().copied().filter(|holder| world.begins_with(holder, record)).collect();
            holders.sort_unstable();
            for holder in holders.into_iter().filter(|holder| *holder != record) {
                let what = format!("a struct {} is given back by its address", lossy(record));
                self.tell(holder, UseDemand::First, Vec::new(), what);
            }
        }
    }

    /// A call of something that changes what others see.
    pub(in crate::meaning) fn called_for_effect(
        &mut self,
        function: Option<&Function<'t>>,
        name: &'t [u8],
        does: Does,
    ) {
        let changes = match function.filter(|function| function.is_defined) {
            Some(function) => !self.kept(Slot::Effect(function.home, name)).is_empty(),
            None => does == Does::Reads && self.world().is_complete,
        };
        if changes {
            self.changes();
        }
    }

    /// Values that a function has left in variables whose addresses it was handed.
    pub(in crate::meaning) fn written(
        &mut self,
        function: Option<&Function<'t>>,
        name: &'t [u8],
        arguments: &[Value<'t>],
    ) {
        let Some(function) = function.filter(|function| function.is_defined) else { return };
        for (number, argument) in arguments.iter().enumerate() {
            let sums = self.kept(Slot::Written(function.home, name, number));
            match (argument.target, argument.name) {
                _ if sums.is_empty() => {}
                (Some(Kept::Variable(variable)), _) => {
                    let ty = self.local(variable).map(|local| local.ty.clone()).unwrap_or_default();
                    if self.is_typed(&ty) {
                        self.convert(&Value::sums(Type::Void.pointer(), sums.clone()), &ty, false);
                    }
                    self.assign(variable, &sums);
                }
                (None, Some(variable)) => {
                    let sums: Vec<Sum<'t>> = sums.iter().filter_map(Sum::as_content).collect();
                    self.assign(variable, &sums);
                }
                (Some(Kept::Member(record, member)), _) => self.keep_member(record, member, &sums),
                (None, None) => {}
            }
        }
    }

    /// A pointer that is copied as bytes into another.
    pub(in crate::meaning) fn moved_pointer(&mut self, arguments: &[Value<'t>]) {
        let [to, from, ..] = arguments else { return };
        let world = self.world();
        let (Some(Kept::Variable(wanted)), Some(Type::Pointer(_))) = (to.target, world.pointee(&to.ty))
        else {
            return;
        };
        let Some(target) = world.pointee(&to.ty) else { return };
        // Bytes of unknown origin may be those of any pointer.
        let source = world.pointee(&from.ty).filter(|source| *source != Type::Byte);
        let source = source.unwrap_or(Type::Void.pointer());
        let sums = match from.target {
            Some(Kept::Variable(name)) => {
                self.local(name).map_or_else(|| self.kept(Slot::Global(name)), |local| local.sums.clone())
            }
            Some(Kept::Member(record, member)) => self.kept_member(record, member),
            None => Vec::new(),
        };
        let copied = Value::sums(source, sums);
        let converted = self.convert(&copied, &target, true);
        let sums = self.sums_of(&converted);
        if !self.is_typed(&target) {
            self.assign(wanted, &sums);
        }
    }

    /// The values of a pointer to a function.
    pub(in crate::meaning) fn called_values(&self, callee: &Value<'t>) -> Vec<Sum<'t>> {
        let mut sums = self.sums_of(callee);
        join(&mut sums, callee.place.as_deref().unwrap_or_default());
        sums
    }

    pub(in crate::meaning) fn given_through_pointer(&self, callee: &Value<'t>) -> Value<'t> {
        let ty = returned(&self.world().resolve(&callee.ty));
        let mut sums = Vec::new();
        if !self.is_typed(&ty) {
            for callee in self.callees_among(&self.called_values(callee)) {
                join(&mut sums, &self.kept(callee.result()));
            }
            // What methods of this name return.
            if let Some((_, name)) = callee.member.filter(|_| self.is_cpp) {
                join(&mut sums, &self.kept(Slot::Returned(None, name)));
            }
        }
        Value::sums(ty, sums)
    }

    /// Arguments of a call through a pointer: functions were cast to be called so.
    pub(in crate::meaning) fn called_through_pointer(&mut self, callee: &Value<'t>, arguments: &[Value<'t>]) {
        self.changes();
        self.handed_by_value(callee, arguments);
        let callees = self.callees_among(&self.called_values(callee));
        if callees.is_empty() {
            self.handed_to_unknown(callee, arguments);
            self.handed_to_method(callee, arguments);
        }
        self.handed_to_memory_functions(&callees, arguments);
        let name = callee.member.map(|(_, name)| name).or(callee.name).unwrap_or_default();
        for argument in arguments.iter().filter(|_| gives_back(name)) {
            let sums = self.sums_of(argument);
            self.given_back(&sums);
        }
        for (number, argument) in arguments.iter().enumerate().filter(|_| !callees.is_empty()) {
            let sums = self.sums_of(argument);
            for callee in &callees {
                self.keep(callee.parameter(number), &sums);
            }
        }
        let casts = self.kept(Slot::Global(b"(cast)"));
        for sum in arguments.iter().flat_map(|argument| self.sums_of(argument)).collect::<Vec<_>>() {
            let (Some(Base::Object(record)), []) = (sum.base, sum.terms.as_slice()) else { continue };
            for cast in &casts {
                if let Some(Base::Object(wanted)) = cast.base
                    && wanted != record
                    && self.world().common_prefix(record, wanted).is_some_and(|count| count > 0)
                {
                    self.convert(
                        &Value::sums(Type::Void.pointer(), vec![sum.clone()]),
                        &Type::Record(wanted).pointer(),
                        false,
                    );
                }
            }
        }
    }

    /// Functions of the library that are called through a pointer do with bytes what they do by their names.
    fn handed_to_memory_functions(&mut self, callees: &[Callee<'t>], arguments: &[Value<'t>]) {
        let world = self.world();
        for callee in callees.iter().filter(|_| world.is_complete) {
            let Callee::One(None, name) = *callee else { continue };
            let is_defined = world.functions.get(name).is_some_and(|function| function.is_defined);
            let is_memory = self.is_memory_function(name) || matches!(does(name), Does::Reads | Does::Sets);
            if is_memory && !is_defined {
                self.judge_call(name, arguments);
            }
        }
    }

    /// The result of a call.
    pub(in crate::meaning) fn allocated(
        &mut self,
        name: &'t [u8],
        does: Does,
        arguments: &[Value<'t>],
        all: &[Vec<Sum<'t>>],
        returns: Option<Type<'t>>,
    ) -> Value<'t> {
        let text = lossy(name).to_ascii_lowercase();
        let is_allocation = does == Does::Keeps && (text.contains("alloc") || text.contains("dup"));
        let home = self.world().functions.get(name).and_then(|function| function.home);
        let mut sums = Vec::new();
        let given = self.sizes_given();
        let returned = self.kept(Slot::Returned(home, name));
        let is_sized = returned.iter().any(|sum| sum.base == Some(Base::Sized));
        for (argument, own) in arguments.iter().zip(all) {
            if self.world().resolve(&argument.ty).element().is_some() {
                continue;
            }
            for sum in own.iter().filter(|sum| sum.base.is_none()) {
                self.length(sum, is_allocation, &mut sums);
            }
        }
        let map = maps(name, arguments);
        if let Some(map) = map {
            let mapped = Sum { base: Some(Base::Mapped(map)), terms: Vec::new() };
            // Memory of no file has a size like any that is allocated.
            sums.retain(|_| map == ANONYMOUS);
            join(&mut sums, &[mapped]);
        }
        let is_function_known = self.world().functions.get(name).is_some_and(|function| function.is_defined);
        if !is_allocation && !is_sized && map.is_none() && is_function_known {
            sums.clear();
        }
        // What a caller wants so many bytes for only the caller knows.
        let is_given =
            |sum: &Sum<'t>| matches!(sum.base, Some(Base::Object(record)) if given.contains(&record));
        if sums.iter().any(is_given) {
            sums.retain(|sum| !is_given(sum));
            sums.push(Sum { base: Some(Base::Sized), terms: Vec::new() });
        }
        let returned: Vec<Sum<'t>> =
            returned.into_iter().filter(|sum| sum.base != Some(Base::Sized)).collect();
        join(&mut sums, &returned);
        // A copy is returned by its address.
        if !is_function_known && (does == Does::Moves || text.contains("cpy")) {
            let first: Vec<Sum<'t>> =
                all.first().into_iter().flatten().filter(|sum| sum.base.is_some()).cloned().collect();
            join(&mut sums, &first);
        }
        // `container_of(pointer, type, member)`.
        let named = arguments.iter().find(|argument| argument.is_type);
        let ty = match (returns, named) {
            (Some(ty), _) => ty,
            (None, Some(named)) => named.ty.clone().pointer(),
            _ => Type::Unknown,
        };
        if self.is_typed(&ty) {
            sums.clear();
        }
        Value { ty, sums, call: Some(name), is_result: true, ..Value::default() }
    }

    /// Records whose sizes the function here is handed as numbers.
    fn sizes_given(&self) -> Vec<&'t [u8]> {
        let scope = self.scopes.first();
        let numbers = scope.into_iter().flatten().filter_map(|(_, local)| local.parameter);
        let sums = numbers.flat_map(|number| self.parameter(self.home, self.function, number));
        let sizes = sums.filter(|sum| sum.base.is_none()).flat_map(|sum| sum.terms);
        sizes
            .filter_map(|(_, term)| match term {
                Term::Size(record) => Some(record),
                _ => None,
            })
            .collect()
    }

    /// A length that ends, or goes on, behind a member.
    pub(in crate::meaning) fn length(&mut self, sum: &Sum<'t>, is_allocation: bool, sums: &mut Vec<Sum<'t>>) {
        let is_more = |(added, term): &(bool, Term<'t>)| *added && !matches!(term, Term::Offset(..));
        for (added, record, member) in sum.offsets().collect::<Vec<_>>() {
            let Some((_, subject)) = self.subject(record).filter(|_| added) else { continue };
            join(sums, &[Sum::object(record)]);
            let is_last = subject.number(member).is_some_and(|number| number + 1 == subject.members.len());
            if sum.terms.iter().any(is_more) && is_last {
                let number = subject.members.len() - 1;
                self.tell(
                    record,
                    UseDemand::Last,
                    vec![number],
                    format!("lengths go on behind the offset of {}", lossy(member)),
                );
            } else if is_allocation {
                self.tell_pins(record, &[member], format!("memory is allocated up to {}", lossy(member)));
            }
        }
        for (added, term) in &sum.terms {
            let Term::Size(record) = term else { continue };
            join(sums, &[Sum::object(record)]);
            let Some((_, subject)) = self.subject(record).filter(|_| *added && sum.terms.len() > 1) else {
                continue;
            };
            let last = subject.members.len().checked_sub(1);
            let name = last.and_then(|last| subject.label(last)).map(String::as_bytes).unwrap_or_default();
            let world = self.world();
            let is_array =
                matches!(world.member(record, name).map(|ty| world.resolve(&ty)), Some(Type::Array(..)));
            if let Some(last) = last.filter(|_| is_array) {
                self.tell(
                    record,
                    UseDemand::Last,
                    vec![last],
                    format!("memory is allocated for more behind {}", lossy(name)),
                );
            }
        }
    }
}

pub(in crate::meaning) fn returned<'t>(ty: &Type<'t>) -> Type<'t> {
    match ty {
        Type::Function(returns) => (**returns).clone(),
        Type::Pointer(inner) => match &**inner {
            Type::Function(returns) => (**returns).clone(),
            _ => Type::Unknown,
        },
        _ => Type::Unknown,
    }
}
