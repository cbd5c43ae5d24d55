//! Functions that are handed objects.

use crate::meaning::code::evaluator::{Context, Evaluator};
use crate::meaning::flows::Slot;
use crate::meaning::judge::callee::{
    Does, does, fills_several, gives_back, is_address, is_anonymous, is_assertion, is_transfer, links,
    reaches_beyond,
};
use crate::meaning::judge::numbers::formats::{format_place, literal};
use crate::meaning::types::{Function, Type, lossy};
use crate::meaning::value::{Base, Kept, Sum, Value, constant};
use crate::uses::UseDemand;

impl<'t> Evaluator<'_, '_, 't> {
    /// A call by the bracket here.
    pub(in crate::meaning) fn call(&mut self, callee: &Value<'t>) -> Value<'t> {
        let end = self.cursor.behind(self.cursor.at);
        // A function that another one gives.
        let is_given = callee.is_given_function(self.world());
        let name = callee.call.filter(|_| !is_given).unwrap_or_default();
        if callee.is_type {
            let ty = callee.ty.clone();
            self.constructed(&ty);
            return Value::typed(ty);
        }
        let made = self.classes_before(self.cursor.at);
        self.tags_for_macro(name, end);
        self.cursor.at += 1;
        let before = self.context;
        if is_assertion(name) {
            self.context = Context::Constant;
        }
        let arguments = self.arguments(name, end);
        self.context = before;
        self.cursor.at = end;
        self.made_of(&made, &arguments);
        self.handed_by_reference(&arguments);
        if name.ends_with(b"bit_cast") {
            for argument in &arguments {
                if let Type::Record(record) = self.world().resolve(&argument.ty) {
                    self.tell_whole(record, "its bytes are taken for another type by bit_cast".to_owned());
                }
            }
        }
        if name.is_empty() {
            self.called_through_pointer(callee, &arguments);
            return self.given_through_pointer(callee);
        }
        if let (true, [argument]) = (is_address(name), arguments.as_slice()) {
            return self.address(argument.clone());
        }
        if let Some(edge) = arguments.first().and_then(|array| self.edge(name, array)) {
            return edge;
        }
        self.judge_call(name, &arguments)
    }

    pub(in crate::meaning) fn arguments(&mut self, name: &'t [u8], end: usize) -> Vec<Value<'t>> {
        let parameters = self.world().functions.get(name).map(|function| &function.parameters);
        let mut found = Vec::new();
        while self.cursor.at < end.saturating_sub(1) {
            let start = self.cursor.at;
            let wanted = parameters.and_then(|all| all.get(found.len())).map(|(_, ty)| ty.clone());
            let mut value = self.argument(wanted);
            while self.cursor.at < end.saturating_sub(1) && !self.cursor.is(b",") {
                self.cursor.at = match self.cursor.here() {
                    b"(" | b"[" | b"{" => self.cursor.behind(self.cursor.at),
                    _ => self.cursor.at + 1,
                };
            }
            let pieces = self.cursor.pieces.get(start..self.cursor.at).unwrap_or_default();
            if format_place(name) == Some(found.len()) {
                value.format = literal(pieces).map(Into::into);
            }
            value.is_anonymous = is_anonymous(pieces);
            found.push(value);
            self.cursor.at = (self.cursor.at + 1).max(start + 1);
        }
        found
    }

    pub(in crate::meaning) fn argument(&mut self, wanted: Option<Type<'t>>) -> Value<'t> {
        if self.cursor.is(b"{") {
            let ty = wanted.unwrap_or_default();
            self.list(&ty);
            return Value::typed(ty);
        }
        let start = self.cursor.at;
        let word = self.cursor.here();
        let is_local = self.local(word).is_some();
        // A type as a macro's argument.
        if !is_local && let Some(found) = self.cursor.specifiers(false) {
            let base = self.specified(&found.ty, found.owner.as_ref());
            let declared = self.cursor.declarator(&base);
            if matches!(self.cursor.here(), b"," | b")")
                && declared.as_ref().is_some_and(|declared| declared.name.is_empty())
            {
                let ty = declared.map_or(base, |declared| declared.ty);
                return Value { is_type: true, ..Value::typed(ty) };
            }
            self.cursor.at = start;
        }
        self.assignment()
    }

    pub(in crate::meaning) fn judge_call(&mut self, name: &'t [u8], arguments: &[Value<'t>]) -> Value<'t> {
        let world = self.world();
        // What is handed a type is a macro, whatever function is called alike.
        let is_macro = arguments.iter().any(|argument| argument.is_type);
        let function = world.functions.get(name).filter(|_| !is_macro);
        if let Some(function) = function {
            self.given_parameters(name, function, arguments);
        }
        self.callbacks(function, name, arguments);
        self.side_by_side(arguments);
        let values: Vec<Vec<Sum<'t>>> = arguments.iter().map(|argument| argument.sums.clone()).collect();
        self.stand_together(&values);
        self.handed_parts(name, function, arguments);
        let does = self.does_beside(does(name), arguments);
        self.called_for_effect(function, name, does);
        self.written(function, name, arguments);
        if does == Does::Moves {
            self.moved_pointer(arguments);
            self.moved_holder(arguments);
        }
        // A nested function, or one that is declared nowhere.
        if function.is_none() && !is_macro {
            for (number, argument) in arguments.iter().enumerate() {
                let sums = self.sums_of(argument);
                self.keep(Slot::Parameter(None, name, number), &sums);
            }
        }
        if gives_back(name) && !function.is_some_and(|function| function.is_defined) && !is_macro {
            for argument in arguments {
                let sums = self.sums_of(argument);
                self.given_back(&sums);
            }
        }
        let is_printed = lossy(name).contains("print") && !is_macro;
        if is_printed {
            self.changes();
            self.printed_addresses(arguments);
        }
        self.handed_whole(name, function, is_printed, arguments);
        if function.is_none() && !is_macro {
            self.looked_at(name, does, arguments);
            self.member_looked_at(name, does, arguments);
        }
        for argument in arguments.iter().filter(|argument| is_printed && !argument.is_type) {
            self.offset_is_number(argument, "printed");
        }
        if !function.is_some_and(|function| function.is_defined) && does == Does::Unknown && world.is_complete
        {
            self.kept_outside(arguments);
        }
        let is_known =
            function.is_some_and(|function| function.is_defined) && !matches!(does, Does::Sets | Does::Moves);
        let all: Vec<Vec<Sum<'t>>> = arguments.iter().map(|argument| self.sums_of(argument)).collect();
        if !is_macro {
            self.handed_with_numbers((name, does), function, arguments);
            self.counted_arrays(name, arguments, &all);
            if !is_known {
                self.between(name, arguments, &all);
            }
        }
        if !is_known {
            self.filled(does, name, (arguments, &all));
        }
        if does == Does::Moves || name.ends_with(b"strncpy") {
            self.endless_text(arguments, &all);
        }
        for (number, argument) in arguments.iter().enumerate().filter(|(_, argument)| !argument.is_type) {
            let parameter = function.and_then(|function| function.parameters.get(number)).map(|(_, ty)| ty);
            // What is handed on as the same type is judged where it arrives.
            let is_same = parameter.is_some_and(|ty| self.is_typed(ty));
            if is_known || is_same || world.resolve(&argument.ty).element().is_none() {
                continue;
            }
            for sum in all.get(number).into_iter().flatten() {
                self.handed(name, does, sum, (number, arguments, &all));
            }
        }
        self.allocated(name, does, arguments, &all, function.map(|function| function.returns.clone()))
    }

    /// Arguments as the parameters that they are for.
    fn given_parameters(&mut self, name: &'t [u8], function: &Function<'t>, arguments: &[Value<'t>]) {
        let world = self.world();
        for (number, (argument, (_, ty))) in arguments.iter().zip(&function.parameters).enumerate() {
            let sums = self.sums_of(argument);
            self.convert(argument, ty, false);
            if let (true, Some((holder, member)), Some(place)) =
                (self.is_cpp, argument.member, &argument.place)
            {
                self.keep(Slot::Referred(function.home, name, number), place);
                if let Type::Record(record) = world.resolve(&argument.ty) {
                    self.handed_as_part(holder, member, record);
                }
            }
            if (function.is_defined || world.is_complete) && !self.is_typed(ty) {
                self.keep(Slot::Parameter(function.home, name, number), &sums);
            }
            if !function.is_defined && world.assembler.contains(name) {
                self.assembled(name, &sums, ty);
            }
        }
    }

    /// Objects that a function keeps which nobody defines.
    pub(in crate::meaning) fn kept_outside(&mut self, arguments: &[Value<'t>]) {
        for argument in arguments.iter().filter(|argument| !argument.is_type && !argument.is_function()) {
            let mut sums = self.sums_of(argument);
            sums.retain(|sum| matches!(sum.base, Some(Base::Object(_))) && sum.terms.is_empty());
            self.keep(Slot::Outside, &sums);
        }
    }

    /// Addresses as text, which others may read again.
    fn printed_addresses(&mut self, arguments: &[Value<'t>]) {
        for argument in arguments.iter().filter(|argument| !argument.is_type && !argument.is_text) {
            let mut sums = self.sums_of(argument);
            sums.retain(|sum| matches!(sum.base, Some(Base::Object(_))) && sum.terms.is_empty());
            self.lost(&sums);
        }
    }

    /// Objects, members and pointers that a function which nobody defines is handed as something else.
    fn handed_whole(
        &mut self,
        name: &'t [u8],
        function: Option<&Function<'t>>,
        is_printed: bool,
        arguments: &[Value<'t>],
    ) {
        let world = self.world();
        if function.is_some_and(|function| function.is_defined) || !world.is_complete {
            return;
        }
        let text = lossy(name);
        let leaves = is_transfer(&text);
        self.transferred(&text, arguments);
        for argument in arguments.iter().filter(|argument| !argument.is_type) {
            if let (true, Type::Record(record)) = (is_printed, world.resolve(&argument.ty)) {
                self.tell_whole(record, format!("{text} is handed it by value"));
            }
            let pointed = world.pointee(&argument.ty).and_then(|ty| world.pointee(&ty));
            if let (true, Some(Kept::Variable(_)), Some(Type::Record(record))) =
                (leaves, argument.target, pointed)
            {
                self.tell_whole(record, format!("{text} is handed the bytes of a pointer to it"));
            }
            for sum in self.sums_of(argument) {
                if let (true, Some(Base::Object(holder)), []) = (leaves, sum.base, sum.terms.as_slice()) {
                    self.leaves_with_addresses(&text, holder);
                }
                match (sum.base, sum.member()) {
                    (Some(Base::Object(record)), None) if links(name) && sum.terms.is_empty() => {
                        let what = format!("{text} takes its first members for links");
                        self.tell(record, UseDemand::Positions(2), Vec::new(), what);
                    }
                    (Some(Base::Object(record)), None) if name == b"syscall" && sum.terms.is_empty() => {
                        self.tell_whole(record, "the system is handed its address".to_owned());
                    }
                    (Some(Base::Object(record)), Some((own, member)))
                        if own == record
                            && self.is_scalar(record, member, argument)
                            && self.counts_on(&text, record, member, arguments) =>
                    {
                        self.tell_from(
                            record,
                            member,
                            format!("{text} is handed the address of {}", lossy(member)),
                        );
                    }
                    _ => {}
                }
            }
        }
    }

    /// Whether a function may go on behind a number whose address it is handed: it is told how many there are.
    fn counts_on(&self, name: &str, record: &[u8], member: &[u8], arguments: &[Value<'t>]) -> bool {
        let does = does(name.as_bytes());
        if fills_several(name) {
            return true;
        }
        if !reaches_beyond(name) || matches!(does, Does::Sets | Does::Moves) && name != "copy_n" {
            return false;
        }
        let size = self.subject(record).and_then(|(_, subject)| Some(subject.member(member)?.size));
        let is_number = |value: &&Value<'t>| {
            matches!(self.world().resolve(&value.ty), Type::Number(..)) && !value.is_type
        };
        let numbers: Vec<Option<i64>> = arguments.iter().filter(is_number).map(constant).collect();
        let is_more = |number: &Option<i64>| {
            number.is_some_and(|number| number > 1 && u64::try_from(number).ok() != size)
        };
        let is_end = |value: &Value<'t>| {
            let behind = |sum: &Sum<'t>| sum.terms.len() > 1 && sum.offsets().count() == 1;
            self.world().resolve(&value.ty).element().is_some() && value.sums.iter().any(behind)
        };
        let is_counted = does == Does::Keeps && numbers.len() > 1 && numbers.iter().any(Option::is_none);
        numbers.iter().any(is_more) || is_counted || arguments.iter().any(is_end)
    }

    /// Whether a member is one number, handed by its own type.
    fn is_scalar(&self, record: &[u8], member: &[u8], argument: &Value<'t>) -> bool {
        let world = self.world();
        let own = world.member(record, member).map(|ty| world.resolve(&ty));
        let is_single = matches!(own, Some(Type::Number(..) | Type::Byte | Type::Pointer(_)))
            || matches!(own, Some(Type::Record(own) | Type::Named(own)) if self.subject(own).is_none());
        is_single && own == world.pointee(&argument.ty)
    }

    /// `T(…)`: values of an aggregate by position, unless it has a constructor.
    pub(in crate::meaning) fn constructed(&mut self, ty: &Type<'t>) {
        let end = self.cursor.behind(self.cursor.at);
        self.cursor.at += 1;
        let values = self.arguments(b"", end);
        self.cursor.at = end;
        self.handed_by_reference(&values);
        let ty = self.world().resolve(ty);
        if !self.is_aggregate(&ty) {
            if let Type::Record(class) = ty {
                self.made_of(&[class], &values);
            }
            let name = match ty {
                Type::Named(name @ (b"string_view" | b"shared_ptr")) => name,
                _ => b"a constructor",
            };
            self.judge_call(name, &values);
        }
        if ty == Type::Named(b"atomic_ref") {
            self.referred_by_another(&values);
        }
        if let Type::Record(record) = ty
            && values.len() > 1
        {
            let what = format!("an initialiser gives {} values by position", values.len());
            self.tell(record, UseDemand::Positions(values.len()), Vec::new(), what);
        }
    }

    /// A reference to a member as a type that isn't its own.
    fn referred_by_another(&mut self, values: &[Value<'t>]) {
        for (record, member) in values.iter().filter_map(|value| value.member) {
            self.tell_from(record, member, format!("{} is referred to as another type", lossy(member)));
        }
    }

    /// Whether values for a type are its members'.
    pub(in crate::meaning) fn is_aggregate(&self, ty: &Type<'t>) -> bool {
        let Type::Record(record) = ty else { return false };
        let known = self.world().records.get(record);
        known.is_some_and(|known| !known.has_base && !known.has_constructor)
    }

    fn assembled(&mut self, name: &[u8], sums: &[Sum<'t>], ty: &Type<'t>) {
        let typed = match self.world().pointee(ty) {
            Some(Type::Record(record)) => vec![Sum::object(record)],
            _ => Vec::new(),
        };
        for sum in sums.iter().chain(&typed) {
            if let Some(Base::Object(record)) = sum.base {
                self.tell_whole(record, format!("assembler code of {} is handed its address", lossy(name)));
            }
        }
    }
}
