//! Expressions, read and judged in one go.

use crate::meaning::code::evaluator::{Context, Evaluator};
use crate::meaning::flows::{Slot, drop_record};
use crate::meaning::syntax::words::is_among;
use crate::meaning::types::{Type, decayed};
use crate::meaning::value::{Base, MOST_SUMS, Sum, Term, Value, constant, join, product};
use crate::uses::UseDemand;
use rustc_hash::FxHashSet;

/// Deepest nesting, and most steps in a file.
pub(in crate::meaning) const DEEPEST: usize = 80;

pub(in crate::meaning) const MOST: usize = 40_000_000;

const ASSIGNMENTS: &str = " = += -= *= /= %= &= |= ^= <<= >>= ";

impl Sum<'_> {
    fn is_telling_or_number(&self) -> bool {
        self.is_telling() || !self.has_other()
    }
}

impl<'t> Evaluator<'_, '_, 't> {
    /// An expression with commas.
    pub(in crate::meaning) fn expression(&mut self) -> Value<'t> {
        let mut value = self.assignment();
        while self.cursor.is(b",") && self.cursor.depth < DEEPEST {
            self.cursor.at += 1;
            value = self.assignment();
        }
        value
    }

    pub(in crate::meaning) fn assignment(&mut self) -> Value<'t> {
        self.steps += 1;
        if self.cursor.depth >= DEEPEST || self.steps > MOST {
            self.cursor.at += 1;
            return Value::default();
        }
        self.cursor.depth += 1;
        let start = self.cursor.at;
        let left = self.conditional();
        let sign = self.cursor.here();
        let value = match self.cursor.at < self.cursor.pieces.len() && is_among(ASSIGNMENTS, sign) {
            true => {
                self.cursor.at += 1;
                self.assigned(&left, sign, start)
            }
            false => left,
        };
        self.cursor.depth -= 1;
        value
    }

    fn assigned(&mut self, left: &Value<'t>, sign: &[u8], start: usize) -> Value<'t> {
        if self.cursor.is(b"{") {
            let ty = left.ty.clone();
            self.list(&ty);
            return Value::typed(ty);
        }
        let right = self.assignment();
        if sign != b"=" {
            self.counted(left);
            if matches!(sign, b"+=" | b"-=") {
                self.stepped(left, &right, sign == b"+=");
                self.grown(left, &right);
            }
            if matches!(sign, b"|=" | b"&=") {
                self.masked(left, &right, sign);
                self.masked(&right, left, sign);
            }
            let mixed = self.sums_of(&right);
            self.escape(&mixed);
            return left.clone();
        }
        // The type of a member of what isn't known was only guessed by its name.
        let is_guess = matches!(left.member, Some((b"", _)));
        let value = if is_guess { right.clone() } else { self.convert(&right, &left.ty, false) };
        self.store(left, (&value, &right), start);
        self.keep_entry(left, &right);
        let entry = value.entry.or(right.entry);
        Value { place: left.place.clone(), entry, ..value }
    }

    /// A value is changed in its place.
    pub(in crate::meaning) fn counted(&mut self, value: &Value<'t>) {
        let local = value.name.and_then(|name| self.local(name));
        if local.is_none_or(|local| local.is_static) || value.is_content {
            self.changes();
        } else {
            self.effects += 1;
        }
    }

    /// Keeps a value where it is put.
    fn store(&mut self, left: &Value<'t>, (value, right): (&Value<'t>, &Value<'t>), start: usize) {
        let given = self.sums_of(value);
        self.number_stored(left, start);
        if left.is_content || left.name.is_none() && left.member.is_none() {
            self.stored_beside(&left.ty, &given);
            self.kept_as_numbers(&left.ty, &given);
        }
        let sums: Vec<Sum<'t>> = match left.is_content {
            true => given.iter().filter_map(Sum::as_content).collect(),
            false => given.clone(),
        };
        if let Some(name) = left.name {
            self.assign(name, &sums);
            self.keep_parts(name, right);
            let local = self.local(name);
            let is_own = local.is_some_and(|local| !local.is_static) && !left.is_content;
            let parameter = local.and_then(|local| local.parameter).filter(|_| left.is_content);
            if let Some(number) = parameter {
                self.keep(Slot::Written(self.home, self.function, number), &given);
            }
            if !is_own {
                self.changes();
            }
        } else if let Some((record, member)) = left.member {
            if let Some(bits) = self.bits_of(record, member) {
                self.kept_in_bits(value, bits);
            }
            if !self.is_typed(&left.ty) {
                self.keep_member(record, member, &sums);
                self.kept_by_library(record, &given);
            }
            let holder = self.local(self.cursor.text(start)).map(|local| local.ty.clone());
            self.kept_as_arguments(&holder.unwrap_or_default(), &given);
            self.describe(member, &sums, start);
            // A constructor that sets its own members shows nothing.
            if self.function.is_empty() || self.function != record || self.class != Some(record) {
                self.changes();
            }
        } else {
            self.changes();
            if !self.is_typed(&left.ty) {
                self.lost(&given);
            }
        }
    }

    /// Addresses that are put where they aren't followed to.
    pub(in crate::meaning) fn lost(&mut self, sums: &[Sum<'t>]) {
        if self.world().is_complete {
            self.escape(sums);
            self.keep(Slot::Outside, sums);
        }
    }

    fn conditional(&mut self) -> Value<'t> {
        let value = self.binary(1);
        if !self.cursor.is(b"?") {
            return value;
        }
        self.cursor.at += 1;
        self.is_condition(&value);
        let first = if self.cursor.is(b":") { value } else { self.expression() };
        if !self.cursor.eat(b":") {
            return first;
        }
        let second = self.conditional();
        let (own, others) = (self.sums_of(&first), self.sums_of(&second));
        let mut sums = own.clone();
        join(&mut sums, &others);
        // One of two numbers of which one isn't known.
        let is_number = |value: &Value<'t>| self.world().resolve(&value.ty).element().is_none();
        let is_half = own.is_empty() != others.is_empty();
        if is_half && is_number(&first) && is_number(&second) && sums.iter().any(Sum::is_telling) {
            join(&mut sums, &[Sum::term(Term::Other)]);
        }
        // A pointer beside 0 is what both are.
        let is_pointer = |value: &Value<'t>| !is_number(value);
        let is_first = match self.is_typed(&first.ty) == self.is_typed(&second.ty) {
            true => is_pointer(&first) || !is_pointer(&second),
            false => self.is_typed(&first.ty),
        };
        let ty = if is_first { first.ty } else { second.ty };
        Value { target: first.target.or(second.target), ..Value::sums(ty, sums) }
    }

    fn binary(&mut self, least: u8) -> Value<'t> {
        let mut left = self.unary();
        while let Some(rank) = precedence(self.cursor.here()).filter(|rank| *rank >= least) {
            let sign = self.cursor.here();
            self.cursor.at += 1;
            if self.cursor.depth >= DEEPEST {
                return left;
            }
            self.cursor.depth += 1;
            let right = self.binary(rank + 1);
            self.cursor.depth -= 1;
            left = self.combine(&left, sign, &right);
        }
        left
    }

    fn combine(&mut self, left: &Value<'t>, sign: &[u8], right: &Value<'t>) -> Value<'t> {
        match sign {
            b"+" | b"-" => {
                self.begun(left, right, sign == b"+");
                self.sum(left, right, sign == b"+")
            }
            b"*" => {
                // So many times one size.
                let sizes = [left, right].into_iter().flat_map(|side| side.sums.clone());
                let sizes: Vec<Sum<'t>> = sizes.filter(Sum::is_telling).collect();
                let is_product = !sizes.is_empty() && constant(left).or(constant(right)).is_none();
                let sums = if sizes.is_empty() { product(left, right) } else { sizes };
                Value { is_product, ..Value::sums(Type::Number(b"long", 8), sums) }
            }
            b"<<" | b"^" => {
                self.offset_is_number(right, "counted in bits");
                self.mixed(left, right, sign);
                self.shifted_size(left);
                let shifted = if sign == b"<<" { shifted(left) } else { Vec::new() };
                Value::sums(Type::Number(b"int", 4), shifted)
            }
            b"/" | b">>" => {
                self.counted_in_parts(left, right);
                let sums = left.sums.iter().filter(|sum| sum.is_telling()).cloned().collect();
                let left = self.taken_apart(left, right, sign);
                Value { left, ..Value::sums(Type::Number(b"long", 8), sums) }
            }
            b"|" => {
                self.masked(left, right, sign);
                self.masked(right, left, sign);
                self.shifted_size(left);
                self.shifted_size(right);
                let mut sums = left.sums.clone();
                let others: Vec<Sum<'t>> =
                    right.sums.iter().filter(|sum| sum.base.is_some()).cloned().collect();
                join(&mut sums, &others);
                Value::sums(left.ty.clone(), sums)
            }
            b"&" | b"%" => {
                self.masked(left, right, sign);
                if sign == b"&" {
                    self.masked(right, left, sign);
                }
                if sign == b"%" {
                    self.counted_in_parts(left, right);
                }
                let what = self.taken_apart(left, right, sign);
                Value { left: what, ..Value::sums(left.ty.clone(), left.sums.clone()) }
            }
            b"<" | b">" | b"<=" | b">=" | b"==" | b"!=" => {
                self.bounded(left, sign, right);
                self.compare(left, right, matches!(sign, b"==" | b"!="));
                Value::typed(Type::Number(b"int", 4))
            }
            _ => {
                self.is_condition(left);
                self.is_condition(right);
                Value::typed(Type::Number(b"int", 4))
            }
        }
    }

    /// An address whose bits are mixed with others': what comes out isn't followed.
    fn mixed(&mut self, left: &Value<'t>, right: &Value<'t>, sign: &[u8]) {
        let world = self.world();
        for value in [left, right].into_iter().filter(|_| sign == b"^" && world.is_complete) {
            for sum in self.sums_of(value) {
                if let (Some(Base::Object(record)), []) = (sum.base, sum.terms.as_slice()) {
                    self.tell_whole(record, "the bits of its address are mixed with others".to_owned());
                }
            }
        }
    }

    /// A size that stands beside other bits of a number.
    fn shifted_size(&mut self, left: &Value<'t>) {
        let terms = left.sums.iter().flat_map(|sum| &sum.terms);
        let sizes: Vec<&'t [u8]> = terms
            .filter_map(|(_, term)| match term {
                Term::Size(record) => Some(*record),
                _ => None,
            })
            .collect();
        let sizes = if self.world().is_complete { sizes } else { Vec::new() };
        for record in sizes {
            self.tell_size(record, "its size is a part of a number".to_owned());
        }
        let sums = self.sums_of(left);
        self.escape(&sums);
    }

    /// The bytes from one object to another, of two addresses that aren't typed as such.
    fn distance(&self, left: &Value<'t>, right: &Value<'t>, added: bool) -> Option<Sum<'t>> {
        if added || self.is_typed(&left.ty) || self.is_typed(&right.ty) {
            return None;
        }
        let object = |value: &Value<'t>| match self.sums_of(value).as_slice() {
            [Sum { base: Some(Base::Object(record)), terms }] if terms.is_empty() => Some(*record),
            _ => None,
        };
        let record = object(left).filter(|record| object(right) == Some(record))?;
        Some(Sum::term(Term::Distance(record)))
    }

    pub(in crate::meaning) fn sum(&mut self, left: &Value<'t>, right: &Value<'t>, added: bool) -> Value<'t> {
        let world = self.world();
        let is_pointer = |value: &Value<'t>| world.resolve(&value.ty).element().is_some();
        for (value, number) in [(left, right), (right, left)] {
            if is_pointer(value) && !is_pointer(number) && constant(number) != Some(0) {
                self.counted_on(value);
            }
        }
        let (ours, theirs) = (self.scaled(left, right), self.scaled(right, left));
        let mut sums = self.all_sums(&ours, &theirs, added);
        self.parts_counted(left, right, &mut sums);
        sums.retain(Sum::is_telling_or_number);
        let ty = match (is_pointer(left), is_pointer(right)) {
            (true, true) => Type::Number(b"long", 8),
            (true, false) => decayed(&world.resolve(&left.ty)),
            (false, true) => decayed(&world.resolve(&right.ty)),
            _ => left.ty.clone(),
        };
        let found = self.behind(left, right).or_else(|| self.distance(left, right, added));
        if let Some(found) = found {
            return Value::sums(ty, vec![found]);
        }
        if let Type::Number(..) = ty {
            self.distances(&sums);
            self.left_beside(right, added);
        }
        let counted_from = if added { self.counted_from(left, right) } else { None };
        Value { is_object: left.is_object, counted_from, ..Value::sums(ty, sums) }
    }

    /// Each of some values with each of others. If they are too many, their records aren't followed to their ends.
    fn all_sums(&mut self, ours: &[Sum<'t>], theirs: &[Sum<'t>], added: bool) -> Vec<Sum<'t>> {
        let (mut known, mut sums) = (FxHashSet::default(), Vec::new());
        for sum in ours.iter().flat_map(|first| theirs.iter().map(move |second| first.plus(second, added))) {
            if sums.len() == MOST_SUMS {
                let records = ours.iter().chain(theirs).flat_map(Sum::records);
                records.for_each(|record| drop_record(&mut self.flows, record));
                break;
            }
            if known.insert(sum.clone()) {
                sums.push(sum);
            }
        }
        sums
    }

    /// `24 - sizeof(T)` in a constant: what is left beside it has a fixed size.
    fn left_beside(&mut self, right: &Value<'t>, added: bool) {
        if self.context != Context::Constant {
            return;
        }
        let terms = right.sums.iter().flat_map(|sum| &sum.terms);
        let sizes: Vec<&'t [u8]> = terms
            .filter_map(|(sign, term)| match term {
                Term::Size(record) if *sign != added => Some(*record),
                _ => None,
            })
            .collect();
        for record in sizes {
            let what = "what its size leaves of a constant is a size".to_owned();
            self.tell(record, UseDemand::Size, Vec::new(), what);
        }
    }

    /// `pointer + 1`, of a pointer to a record that isn't an array's.
    pub(in crate::meaning) fn behind(&self, left: &Value<'t>, right: &Value<'t>) -> Option<Sum<'t>> {
        let world = self.world();
        let Type::Pointer(inner) = world.resolve(&left.ty) else { return None };
        let Type::Record(record) = world.resolve(&inner) else { return None };
        let is_next = constant(right).is_some_and(|number| number != 0);
        is_next.then_some(Sum { base: Some(Base::Behind(record)), terms: Vec::new() })
    }

    /// A number beside a pointer counts what that points to.
    fn scaled(&self, value: &Value<'t>, by: &Value<'t>) -> Vec<Sum<'t>> {
        let mut sums = self.sums_of(value);
        let world = self.world();
        let is_number = world.resolve(&value.ty).element().is_none();
        if sums.is_empty() {
            sums.push(Sum::term(Term::Other));
        }
        let Some(pointee) = world.pointee(&by.ty).filter(|_| is_number) else { return sums };
        match pointee {
            Type::Byte | Type::Void | Type::Unknown => sums,
            Type::Record(_) => {
                let is_zero = |sum: &Sum<'t>| sum.base.is_none() && sum.terms.is_empty();
                // The next object of a row is one like it.
                let next = |sum: Sum<'t>| if is_zero(&sum) { sum } else { Sum::default() };
                sums.into_iter().map(next).collect()
            }
            other => {
                let size = world.size(&other).and_then(|size| i64::try_from(size).ok());
                let scale = |sum: Sum<'t>| match sum.terms.as_slice() {
                    [(sign, Term::Number(number))] => {
                        let bytes = size.and_then(|size| size.checked_mul(*number));
                        let term = bytes.map_or(Term::Other, Term::Number);
                        Sum { base: None, terms: vec![(*sign, term)] }
                    }
                    [] => sum,
                    _ => Sum::term(Term::Other),
                };
                sums.into_iter().map(scale).collect()
            }
        }
    }
}

/// A number that is shifted: so many times a power of two. Of two constants it is a flag rather than a count.
fn shifted<'t>(left: &Value<'t>) -> Vec<Sum<'t>> {
    let is_number = left.sums.iter().all(|sum| !sum.is_telling());
    if is_number { vec![Sum::term(Term::Stride)] } else { Vec::new() }
}

fn precedence(sign: &[u8]) -> Option<u8> {
    Some(match sign {
        b"||" => 1,
        b"&&" => 2,
        b"|" => 3,
        b"^" => 4,
        b"&" => 5,
        b"==" | b"!=" => 6,
        b"<" | b">" | b"<=" | b">=" => 7,
        b"<<" | b">>" => 8,
        b"+" | b"-" => 9,
        b"*" | b"/" | b"%" => 10,
        _ => return None,
    })
}
