//! Methods, function objects and lambdas: what they are handed, and where arrays begin and end by them.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::code::operand::LAMBDA;
use crate::meaning::flows::Slot;
use crate::meaning::judge::callee::{Does, does};
use crate::meaning::types::{Function, Type, lossy};
use crate::meaning::value::{Base, Sum, Term, Value, join};

/// Functions that give where an array begins, and those that give its end.
const BEGINS: [&[u8]; 5] = [b"begin", b"cbegin", b"data", b"rend", b"crend"];
const ENDS: [&[u8]; 4] = [b"end", b"cend", b"rbegin", b"crbegin"];

/// Most classes that the arguments of a constructor are followed through.
const MOST_CLASSES: usize = 16;

/// Most words of a template's arguments.
const MOST_WORDS: usize = 16;

impl<'t> Evaluator<'_, '_, 't> {
    /// The argument of a method or lambda for a parameter whose type says nothing of it.
    pub(in crate::meaning) fn handed_to_body(
        &self,
        name: &'t [u8],
        number: usize,
        ty: &Type<'t>,
    ) -> Vec<Sum<'t>> {
        let is_body = self.is_cpp && (self.class.is_some() || name == LAMBDA);
        match is_body && !self.is_typed(ty) {
            true => self.kept(Slot::Method(name, number)),
            false => Vec::new(),
        }
    }

    /// Classes with constructors that a template is told in front of the bracket at a place: `make_unique<T>(…)`.
    pub(in crate::meaning) fn classes_before(&self, open: usize) -> Vec<&'t [u8]> {
        let mut found = Vec::new();
        if !self.is_cpp || self.cursor.text(open.wrapping_sub(1)) != b">" {
            return found;
        }
        for at in (open.saturating_sub(MOST_WORDS)..open).rev() {
            let word = self.cursor.text(at);
            if word == b"<" {
                break;
            }
            let known = self.world().records.get(word);
            if known.is_some_and(|known| known.has_constructor || known.has_base) {
                found.push(word);
            }
        }
        found
    }

    /// Classes that are made of some values.
    pub(in crate::meaning) fn made_of(&mut self, classes: &[&'t [u8]], values: &[Value<'t>]) {
        if classes.is_empty() {
            return;
        }
        let all: Vec<Vec<Sum<'t>>> = values.iter().map(|value| self.sums_of(value)).collect();
        for class in classes {
            self.handed_to_constructor(class, &all);
        }
    }

    /// Arguments of a constructor, which may be one of a class that this one is derived from.
    pub(in crate::meaning) fn handed_to_constructor(&mut self, class: &'t [u8], all: &[Vec<Sum<'t>>]) {
        let world = self.world();
        let mut left = vec![class];
        for _ in 0..MOST_CLASSES {
            let Some(class) = left.pop() else { break };
            for (number, sums) in all.iter().enumerate() {
                self.keep(Slot::Method(class, number), sums);
            }
            let Some(known) = world.records.get(class).filter(|known| !known.has_constructor) else {
                continue;
            };
            let bases = known.members.iter().filter(|member| member.name.is_empty());
            left.extend(bases.filter_map(|member| match world.resolve(&member.ty) {
                Type::Record(base) => Some(base),
                _ => None,
            }));
        }
    }

    /// Arguments of something that may be a method, a function object or a lambda.
    pub(in crate::meaning) fn handed_to_unknown(&mut self, callee: &Value<'t>, arguments: &[Value<'t>]) {
        if !self.is_cpp {
            return self.handed_away(b"", arguments);
        }
        self.callbacks(None, b"", arguments);
        self.kept_outside(arguments);
        let name = callee.member.map_or(&b""[..], |(_, name)| name);
        self.deleter(name, arguments);
        for (number, argument) in arguments.iter().enumerate().filter(|(_, argument)| !argument.is_type) {
            let sums = self.sums_of(argument);
            if name.is_empty() {
                self.keep(Slot::Method(LAMBDA, number), &sums);
                self.keep(Slot::Method(b"operator", number), &sums);
            } else {
                self.keep(Slot::Method(name, number), &sums);
            }
        }
    }

    /// A value that a coroutine gives out, or that is thrown: a method of its promise may keep it.
    pub(in crate::meaning) fn handed_to_promise(&mut self, method: &'static [u8], sums: &[Sum<'t>]) {
        self.keep(Slot::Method(method, 0), sums);
        self.lost(sums);
    }

    fn is_length(&self, value: &Value<'t>, sums: &[Sum<'t>]) -> bool {
        let is_pointer = self.world().resolve(&value.ty).element().is_some();
        !is_pointer && !value.is_type && sums.iter().any(|sum| sum.base.is_none())
    }

    /// Bytes that are taken from an address on, whose number isn't known.
    fn taken_as_bytes(&mut self, name: &[u8], sums: &[Sum<'t>]) {
        for sum in sums {
            let Some(Base::Object(record)) = sum.base else { continue };
            let what = format!("{} may take any number of its bytes", lossy(name));
            match sum.member().filter(|(own, _)| *own == record) {
                Some((_, member)) => self.tell_from(record, member, what),
                None if sum.terms.is_empty() => self.tell_whole(record, what),
                None => {}
            }
        }
    }

    /// The work on arguments beside a function of the library that copies or compares bytes.
    pub(in crate::meaning) fn does_beside(&self, does: Does, arguments: &[Value<'t>]) -> Does {
        let is_memory = |value: &Value<'t>| {
            let name = value.call.filter(|_| value.ty == Type::Unknown && value.sums.is_empty());
            name.is_some_and(|name| self.is_memory_function(name))
        };
        match self.is_cpp && does == Does::Unknown && arguments.iter().any(is_memory) {
            true => Does::Reads,
            false => does,
        }
    }

    /// `std::begin(object.array)`: an address in the object.
    pub(in crate::meaning) fn edge(&self, name: &[u8], array: &Value<'t>) -> Option<Value<'t>> {
        let is_end = ENDS.contains(&name);
        if !self.is_cpp || !is_end && !BEGINS.contains(&name) {
            return None;
        }
        let ty = self.world().resolve(&array.ty);
        let element = match &ty {
            Type::Array(inner, _) => (**inner).clone(),
            Type::Named(b"array") => Type::Unknown,
            _ => return None,
        };
        let (record, member) = array.member?;
        let size = Term::MemberSize(record, member);
        let place = array.place.as_deref().unwrap_or_default().iter();
        let place = place.filter(|sum| sum.base.is_some()).cloned();
        let sums = place.map(|sum| if is_end { sum.and(true, size) } else { sum }).collect();
        Some(Value::sums(element.pointer(), sums))
    }

    /// `object.array.begin()`
    pub(in crate::meaning) fn edge_by_method(&mut self, array: &Value<'t>, name: &[u8]) -> Option<Value<'t>> {
        let is_call = self.cursor.is(b"(") && self.cursor.text(self.cursor.at + 1) == b")";
        let edge = self.edge(name, array).filter(|_| is_call)?;
        self.cursor.at += 2;
        Some(edge)
    }

    /// The bytes that a function that nobody defines may reach by the numbers that it is told.
    pub(in crate::meaning) fn handed_with_numbers(
        &mut self,
        (name, does): (&[u8], Does),
        function: Option<&Function<'t>>,
        arguments: &[Value<'t>],
    ) {
        if !function.is_some_and(|function| function.is_defined) {
            self.deleter(name, arguments);
            self.taken_beyond(name, arguments);
            self.handed_as_number(name, does, arguments);
        }
    }

    /// An address as a number that a function is handed which nobody defines: it may look there.
    fn handed_as_number(&mut self, name: &[u8], does: Does, arguments: &[Value<'t>]) {
        let world = self.world();
        let text = lossy(name);
        if !world.is_complete
            || matches!(does, Does::Sets | Does::Moves | Does::Keeps)
            || text.contains("hash")
        {
            return;
        }
        for argument in arguments.iter().filter(|argument| !argument.is_type) {
            if !matches!(world.resolve(&argument.ty), Type::Number(_, 8)) {
                continue;
            }
            for sum in self.sums_of(argument) {
                if let Some(Base::Object(record)) = sum.base {
                    self.tell_whole(record, format!("{text} is handed its address as a number"));
                }
            }
        }
    }

    /// Bytes that a method which nobody defines is handed.
    pub(in crate::meaning) fn handed_to_method(&mut self, callee: &Value<'t>, arguments: &[Value<'t>]) {
        let name = callee.member.map(|(_, name)| name).unwrap_or(b"a method");
        let all: Vec<Vec<Sum<'t>>> = arguments.iter().map(|argument| self.sums_of(argument)).collect();
        self.between(name, arguments, &all);
        for (number, argument) in arguments.iter().enumerate().filter(|(_, argument)| !argument.is_type) {
            let is_memory = self.may_be_memory();
            if is_memory && !all.iter().zip(arguments).any(|(sums, value)| self.is_length(value, sums)) {
                self.taken_as_bytes(name, all.get(number).map_or(&[][..], Vec::as_slice));
            }
            if self.world().pointee(&argument.ty) != Some(Type::Byte) && !is_memory {
                continue;
            }
            let does = if is_memory { Does::Reads } else { does(name) };
            for sum in all.get(number).cloned().unwrap_or_default() {
                self.handed(name, does, &sum, (number, arguments, &all));
            }
        }
    }
}

/// Joins what a parameter is handed by calls that name the function and those that don't.
pub(in crate::meaning) fn joined<'t>(mut first: Vec<Sum<'t>>, second: &[Sum<'t>]) -> Vec<Sum<'t>> {
    join(&mut first, second);
    first
}
