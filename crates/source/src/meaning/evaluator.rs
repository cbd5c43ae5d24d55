//! What is known while a file's code is read: variables, what flows where, and what was found.

use super::cursor::Cursor;
use super::types::{Subject, Type, World};
use super::value::{Base, Sum, Term, Value, join};
use crate::uses::UseDemand;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Something that values are kept in beyond a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot<'t> {
    /// Of a function, which is one file's if it is static.
    Parameter(Option<usize>, &'t [u8], usize),
    Returned(Option<usize>, &'t [u8]),
    Global(&'t [u8]),
    /// A member of a record, in one file.
    Member(usize, &'t [u8]),
}

/// What is kept in slots.
pub(super) type Flows<'t> = FxHashMap<Slot<'t>, Vec<Sum<'t>>>;

/// A demand of code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) subject: usize,
    pub(super) line: u32,
    /// One more than the number of the macro it was written in.
    pub(super) source: u32,
    pub(super) demand: UseDemand,
    /// Numbers of the members concerned.
    pub(super) members: Vec<usize>,
    pub(super) what: String,
}

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    Plain,
    /// What is computed stays in the program as a number: enums, sizes of arrays, assertions.
    Constant,
}

/// A local variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Local<'t> {
    pub(super) ty: Type<'t>,
    pub(super) sums: Vec<Sum<'t>>,
}

#[derive(Debug)]
pub(super) struct Evaluator<'w, 'p, 't> {
    pub(super) cursor: Cursor<'w, 'p, 't>,
    pub(super) subjects: &'w [Subject],
    pub(super) scopes: Vec<FxHashMap<&'t [u8], Local<'t>>>,
    pub(super) known: &'w Flows<'t>,
    pub(super) flows: Flows<'t>,
    pub(super) found: Vec<Found>,
    pub(super) returns: Type<'t>,
    pub(super) function: &'t [u8],
    pub(super) home: Option<usize>,
    pub(super) class: Option<&'t [u8]>,
    pub(super) context: Context,
    /// Offsets that the statement compares, and whether the member's size is added.
    pub(super) compared: Vec<(&'t [u8], &'t [u8], bool)>,
    /// The value of the last statement.
    pub(super) last: Value<'t>,
    /// Objects whose members are given addresses and sizes of a subject in this function.
    pub(super) described: FxHashMap<&'t [u8], (Vec<&'t [u8]>, Vec<&'t [u8]>)>,
    pub(super) is_quiet: bool,
    pub(super) steps: usize,
}

impl<'w, 'p, 't> Evaluator<'w, 'p, 't> {
    pub(super) fn world(&self) -> &'w World<'t> {
        self.cursor.world
    }

    pub(super) fn subject(&self, record: &[u8]) -> Option<(usize, &'w Subject)> {
        let number = self.world().subject(record)?;
        Some((number, self.subjects.get(number)?))
    }

    /// Tells a demand of a record, if that is a subject.
    pub(super) fn tell(&mut self, record: &[u8], demand: UseDemand, members: Vec<usize>, what: String) {
        let Some((subject, _)) = self.subject(record).filter(|_| !self.is_quiet) else { return };
        let piece = self.cursor.pieces.get(self.cursor.at.saturating_sub(1));
        let (line, source) = piece.map_or((0, 0), |piece| (piece.line, piece.source));
        self.found.push(Found { subject, line, source, demand, members, what });
    }

    pub(super) fn tell_whole(&mut self, record: &[u8], what: String) {
        self.tell(record, UseDemand::Whole, Vec::new(), what);
    }

    /// Members neither move nor are passed.
    pub(super) fn tell_pins(&mut self, record: &[u8], names: &[&[u8]], what: String) {
        let Some((_, subject)) = self.subject(record) else { return };
        let mut members: Vec<usize> = names.iter().filter_map(|name| subject.number(name)).collect();
        members.sort_unstable();
        members.dedup();
        // Of a member that isn't known to the compiler nothing is left to hold but all.
        match members.is_empty() {
            true => self.tell_whole(record, what),
            false => self.tell(record, UseDemand::Boundary, members, what),
        }
    }

    /// A member and all behind it stay.
    pub(super) fn tell_from(&mut self, record: &[u8], name: &[u8], what: String) {
        let Some((_, subject)) = self.subject(record) else { return };
        match subject.number(name) {
            Some(first) => {
                let members = (first..subject.members.len()).collect();
                self.tell(record, UseDemand::Boundary, members, what);
            }
            None => self.tell_whole(record, what),
        }
    }

    /// The bytes from one offset to another belong together.
    pub(super) fn tell_bytes(&mut self, record: &[u8], bytes: Range<i64>, is_ordered: bool, what: String) {
        let Some((_, subject)) = self.subject(record) else { return };
        let (Ok(start), Ok(end)) = (u64::try_from(bytes.start), u64::try_from(bytes.end)) else {
            return self.tell_whole(record, what);
        };
        let members = subject.members.iter().enumerate();
        let edge = |at: u64| {
            let cut = members.clone().filter(move |(_, member)| {
                member.offset < at && at < member.offset.saturating_add(member.size)
            });
            let next = members
                .clone()
                .filter(move |(_, member)| member.offset >= at && at > 0)
                .map(|(number, _)| number)
                .next();
            cut.map(|(number, _)| number).chain(next).collect::<Vec<usize>>()
        };
        let is_cut = |at: u64| {
            members
                .clone()
                .any(|(_, member)| member.offset < at && at < member.offset.saturating_add(member.size))
        };
        let mut pins = edge(start);
        if end < subject.size {
            pins.extend(edge(end));
        }
        // Where a range ends inside a member, the members in front are read at their offsets.
        if start == 0 && is_cut(end) {
            let count = members.clone().filter(|(_, member)| member.offset < end).count();
            return self.tell(record, UseDemand::Positions(count), Vec::new(), what);
        }
        // What is copied or read as bytes has an order inside too.
        if is_ordered {
            let inside = members.clone().filter(|(_, member)| {
                member.offset < end && member.offset.saturating_add(member.size) > start
            });
            pins.extend(inside.map(|(number, _)| number));
        }
        pins.sort_unstable();
        pins.dedup();
        if pins.is_empty() {
            if start > 0 || end < subject.size {
                pins.extend(subject.members.len().checked_sub(1));
            } else {
                return;
            }
        }
        self.tell(record, UseDemand::Boundary, pins, what);
    }

    pub(super) fn local(&self, name: &[u8]) -> Option<&Local<'t>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Adds what a variable may be.
    pub(super) fn assign(&mut self, name: &'t [u8], sums: &[Sum<'t>]) {
        // A variable's numbers change.
        let telling: Vec<Sum<'t>> = sums.iter().filter(|sum| sum.is_telling()).cloned().collect();
        let sums = &telling;
        if let Some(local) = self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name)) {
            join(&mut local.sums, sums);
        } else if self.world().globals.contains_key(name) {
            self.keep(Slot::Global(name), sums);
        }
    }

    pub(super) fn declare(&mut self, name: &'t [u8], ty: Type<'t>, sums: Vec<Sum<'t>>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, Local { ty, sums });
        }
    }

    pub(super) fn keep(&mut self, slot: Slot<'t>, sums: &[Sum<'t>]) {
        let telling: Vec<Sum<'t>> = sums.iter().filter(|sum| sum.is_telling()).cloned().collect();
        if !telling.is_empty() {
            join(self.flows.entry(slot).or_default(), &telling);
        }
    }

    pub(super) fn kept(&self, slot: Slot<'t>) -> Vec<Sum<'t>> {
        let mut sums = self.known.get(&slot).cloned().unwrap_or_default();
        if let Some(more) = self.flows.get(&slot) {
            join(&mut sums, more);
        }
        sums
    }

    /// What a value points to or counts: what is known, else what its type says.
    pub(super) fn sums_of(&self, value: &Value<'t>) -> Vec<Sum<'t>> {
        let world = self.world();
        let ty = world.resolve(&value.ty);
        let mut sums = match (&ty, &value.place) {
            (Type::Array(..), Some(place)) => place.clone(),
            _ => value.sums.clone(),
        };
        // A null pointer counts from nothing.
        let is_null = sums.iter().any(|sum| sum.base.is_none() && sum.terms.is_empty());
        if let Some(element) = ty.element()
            && !is_null
        {
            let mut element = world.resolve(element);
            while let Type::Array(inner, _) = &element {
                element = world.resolve(inner);
            }
            match element {
                Type::Record(record) => {
                    let is_known = sums.iter().any(|sum| sum.base.is_some());
                    let own = Sum::object(record);
                    if !is_known || matches!(ty, Type::Array(..)) && self.subject(record).is_some() {
                        join(&mut sums, &[own]);
                    }
                }
                Type::Byte if sums.is_empty() && matches!(ty, Type::Array(..)) => {
                    sums.push(Sum { base: Some(Base::Bytes), terms: Vec::new() });
                }
                _ => {}
            }
        }
        sums
    }

    /// The size of a type as a sum.
    pub(super) fn size_of(&self, value: &Value<'t>) -> Sum<'t> {
        let world = self.world();
        let mut ty = world.resolve(&value.ty);
        if let Some((record, member)) = value.member.filter(|_| !matches!(ty, Type::Record(_))) {
            return Sum::term(Term::MemberSize(record, member));
        }
        if let Some(size) = world.size(&ty) {
            return Sum::term(Term::Number(i64::try_from(size).unwrap_or(i64::MAX)));
        }
        while let Type::Array(inner, _) = &ty {
            ty = world.resolve(inner);
        }
        match ty {
            Type::Record(record) => Sum::term(Term::Size(record)),
            _ => Sum::term(Term::Other),
        }
    }
}
