//! Expressions, read and judged in one go.

use super::cursor::is_among;
use super::evaluator::{Context, Evaluator, Slot};
use super::stream::Kind;
use super::types::Type;
use super::value::{Base, Sum, Term, Value, join};
use std::sync::Arc;

/// Deepest nesting, and most steps in a file.
const DEEPEST: usize = 80;
const MOST: usize = 40_000_000;

const ASSIGNMENTS: &str = " = += -= *= /= %= &= |= ^= <<= >>= ";

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

impl<'t> Evaluator<'_, '_, 't> {
    /// An expression with commas.
    pub(super) fn expression(&mut self) -> Value<'t> {
        let mut value = self.assignment();
        while self.cursor.is(b",") && self.cursor.depth < DEEPEST {
            self.cursor.at += 1;
            value = self.assignment();
        }
        value
    }

    pub(super) fn assignment(&mut self) -> Value<'t> {
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
            if matches!(sign, b"+=" | b"-=") {
                self.stepped(left, &right, sign == b"+=");
            }
            return left.clone();
        }
        let value = self.convert(&right, &left.ty, false);
        self.store(left, &value, start);
        Value { place: left.place.clone(), ..value }
    }

    /// Keeps a value where it is put.
    fn store(&mut self, left: &Value<'t>, value: &Value<'t>, start: usize) {
        let sums = self.sums_of(value);
        if let Some(name) = left.name {
            self.assign(name, &sums);
        } else if let Some((record, member)) = left.member {
            if !self.is_typed(&left.ty) {
                self.keep(Slot::Member(self.cursor.file, member), &sums);
            }
            self.describe(record, member, &sums, start);
        }
    }

    /// A type that says what a pointer points to.
    pub(super) fn is_typed(&self, ty: &Type<'t>) -> bool {
        matches!(self.world().pointee(ty), Some(Type::Record(_)))
    }

    /// An address and a size that are given to members of one object say: these bytes.
    fn describe(&mut self, record: &'t [u8], member: &'t [u8], sums: &[Sum<'t>], start: usize) {
        let holder = self.cursor.text(start);
        let is_own = |sum: &Sum<'t>| matches!(sum.base, Some(Base::Object(object)) if object == record);
        let _ = is_own;
        let mut pairs = Vec::new();
        let entry = self.described.entry(holder).or_default();
        for sum in sums {
            match (sum.base, sum.terms.as_slice()) {
                (Some(Base::Object(object)), []) => entry.0.push(object),
                (None, [(true, Term::Size(object))]) => entry.1.push(object),
                _ => continue,
            }
            pairs.extend(entry.0.iter().filter(|object| entry.1.contains(object)).copied());
        }
        if member == b"iov_base" {
            pairs.extend(entry.0.iter().copied());
        }
        pairs.sort_unstable();
        pairs.dedup();
        for object in pairs {
            let what = format!("its address and its size are kept together in {}", lossy(holder));
            self.tell_whole(object, what);
        }
    }

    fn conditional(&mut self) -> Value<'t> {
        let value = self.binary(1);
        if !self.cursor.is(b"?") {
            return value;
        }
        self.cursor.at += 1;
        let first = if self.cursor.is(b":") { value } else { self.expression() };
        if !self.cursor.eat(b":") {
            return first;
        }
        let second = self.conditional();
        let mut sums = self.sums_of(&first);
        join(&mut sums, &self.sums_of(&second));
        let is_first = self.is_typed(&first.ty) || !self.is_typed(&second.ty);
        let ty = if is_first { first.ty } else { second.ty };
        Value::sums(ty, sums)
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
            b"+" | b"-" => self.sum(left, right, sign == b"+"),
            b"*" => {
                // So many times one size.
                let sizes = [left, right].into_iter().flat_map(|side| side.sums.clone());
                let sizes: Vec<Sum<'t>> = sizes.filter(Sum::is_telling).collect();
                Value::sums(
                    Type::Number(b"long", 8),
                    if sizes.is_empty() { product(left, right) } else { sizes },
                )
            }
            b"/" | b">>" => Value::sums(
                Type::Number(b"long", 8),
                left.sums.iter().filter(|sum| sum.is_telling()).cloned().collect(),
            ),
            b"&" | b"|" | b"%" => {
                Value::sums(left.ty.clone(), left.sums.iter().map(|sum| sum.clone()).collect())
            }
            b"<" | b">" | b"<=" | b">=" | b"==" | b"!=" => {
                self.compare(left, right, matches!(sign, b"==" | b"!="));
                Value::typed(Type::Number(b"int", 4))
            }
            _ => Value::typed(Type::Number(b"int", 4)),
        }
    }

    fn sum(&mut self, left: &Value<'t>, right: &Value<'t>, added: bool) -> Value<'t> {
        let world = self.world();
        let is_pointer = |value: &Value<'t>| world.resolve(&value.ty).element().is_some();
        let (one, other) = (self.scaled(left, right), self.scaled(right, left));
        let mut sums = Vec::new();
        for first in &one {
            for second in &other {
                join(&mut sums, &[first.plus(second, added)]);
            }
        }
        sums.retain(Sum::is_telling_or_number);
        let ty = match (is_pointer(left), is_pointer(right)) {
            (true, true) => Type::Number(b"long", 8),
            (true, false) => decayed(&world.resolve(&left.ty)),
            (false, true) => decayed(&world.resolve(&right.ty)),
            _ => left.ty.clone(),
        };
        if let Some(behind) = self.behind(left, right) {
            return Value::sums(ty, vec![behind]);
        }
        if let Type::Number(..) = ty {
            self.distances(&sums);
        }
        if !is_pointer(left) || !is_pointer(right) {
            let (pointer, number) = if is_pointer(left) { (left, right) } else { (right, left) };
            if is_pointer(pointer) {
                self.added(pointer, number, added);
            }
        }
        Value::sums(ty, sums)
    }

    /// `pointer + 1`, of a pointer to a record that isn't an array's.
    fn behind(&self, left: &Value<'t>, right: &Value<'t>) -> Option<Sum<'t>> {
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
            Type::Record(record) => {
                let is_zero = |sum: &Sum<'t>| sum.base.is_none() && sum.terms.is_empty();
                // The next object of a row is one like it.
                let next = |sum: Sum<'t>| if is_zero(&sum) { sum } else { Sum::default() };
                let _ = record;
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

    pub(super) fn unary(&mut self) -> Value<'t> {
        if self.cursor.depth >= DEEPEST {
            self.cursor.at += 1;
            return Value::default();
        }
        self.cursor.depth += 1;
        let value = self.prefixed();
        self.cursor.depth -= 1;
        value
    }

    fn prefixed(&mut self) -> Value<'t> {
        match self.cursor.here() {
            b"&" => {
                self.cursor.at += 1;
                let inner = self.unary();
                self.address(inner)
            }
            // The address of a label.
            b"&&" => {
                self.cursor.at += 2;
                Value::default()
            }
            b"*" => {
                self.cursor.at += 1;
                let inner = self.unary();
                self.dereference(&inner, Some(0))
            }
            b"!" | b"~" | b"+" => {
                self.cursor.at += 1;
                let inner = self.unary();
                Value { ty: Type::Number(b"int", 4), sums: inner.sums, ..Value::default() }
            }
            b"-" => {
                self.cursor.at += 1;
                let inner = self.unary();
                let none = Sum::default();
                let sums = inner.sums.iter().map(|sum| none.plus(sum, false)).collect();
                Value::sums(inner.ty, sums)
            }
            b"++" | b"--" => {
                self.cursor.at += 1;
                let inner = self.unary();
                self.walked(&inner);
                inner
            }
            b"sizeof" => self.size(),
            b"_Alignof" | b"alignof" | b"__alignof__" | b"__alignof" => {
                self.cursor.at += 1;
                self.cursor.at = self.cursor.behind(self.cursor.at);
                Value::typed(Type::Number(b"long", 8))
            }
            b"__extension__" | b"__real__" | b"__imag__" | b"co_await" | b"throw" | b"delete" => {
                self.cursor.at += 1;
                self.unary()
            }
            b"new" => self.new_object(),
            b"(" if self.is_cast() => self.cast(),
            _ => {
                let primary = self.primary();
                self.postfix(primary)
            }
        }
    }

    fn address(&mut self, inner: Value<'t>) -> Value<'t> {
        let is_function = matches!(inner.ty, Type::Function(_));
        if is_function {
            return Value { call: inner.call, ..Value::typed(inner.ty.pointer()) };
        }
        let ty = Type::Pointer(Arc::new(inner.ty));
        let sums = inner.place.unwrap_or_default();
        Value { ty, sums, member: None, ..Value::default() }
    }

    fn size(&mut self) -> Value<'t> {
        self.cursor.at += 1;
        let value = match self.cursor.is(b"(") {
            true if self.is_cast() => {
                let ty = self.type_in_brackets();
                // `sizeof(T){…}` is a literal's.
                Value::typed(ty)
            }
            _ => {
                let quiet = std::mem::replace(&mut self.is_quiet, true);
                let value = self.unary();
                self.is_quiet = quiet;
                value
            }
        };
        Value::sums(Type::Number(b"long", 8), vec![self.size_of(&value)])
    }

    fn new_object(&mut self) -> Value<'t> {
        self.cursor.at += 1;
        if self.cursor.is(b"(") {
            self.cursor.at = self.cursor.behind(self.cursor.at);
        }
        let Some(found) = self.cursor.specifiers(true) else { return Value::default() };
        if self.cursor.is(b"[") {
            self.cursor.at = self.cursor.behind(self.cursor.at);
        }
        if self.cursor.is(b"{") {
            self.list(&found.ty.clone());
        } else if self.cursor.is(b"(") {
            self.constructed(&found.ty.clone());
        }
        Value::typed(found.ty.pointer())
    }

    /// Whether a bracket holds a type.
    pub(super) fn is_cast(&mut self) -> bool {
        let start = self.cursor.at;
        let end = self.cursor.behind(start);
        let next = end;
        self.cursor.at += 1;
        let word = self.cursor.here();
        let is_variable = self.local(word).is_some();
        let depth = self.cursor.met.declared.len();
        let found = if is_variable { None } else { self.cursor.specifiers(false) };
        let mut is_cast = false;
        if found.is_some() {
            while matches!(
                self.cursor.here(),
                b"*" | b"const" | b"volatile" | b"&" | b"&&" | b"restrict" | b"__restrict"
            ) || is_among(" __user __iomem __percpu __rcu __force ", self.cursor.here())
            {
                self.cursor.at += 1;
            }
            while self.cursor.is(b"[") {
                self.cursor.at = self.cursor.behind(self.cursor.at);
            }
            let is_function = self.cursor.is(b"(") && self.cursor.text(self.cursor.at + 1) == b"*";
            is_cast = self.cursor.at + 1 == end || is_function;
        } else if !is_variable && self.cursor.word(start + 1).is_some() && !is_among(" sizeof ", word) {
            // A name nobody declares, with stars, or with a value right behind.
            let mut at = start + 2;
            while matches!(self.cursor.text(at), b"*" | b"const" | b"volatile")
                || is_among(" __user __iomem __percpu __rcu __force ", self.cursor.text(at))
            {
                at += 1;
            }
            let has_stars = at > start + 2;
            let behind = self.cursor.pieces.get(next);
            let is_value = behind.is_some_and(|piece| {
                matches!(piece.kind, Kind::Word | Kind::Number | Kind::Quoted)
                    && !is_among(" and or not ", piece.text)
            });
            let is_known =
                self.world().globals.contains_key(word) || self.world().functions.contains_key(word);
            is_cast = at + 1 == end && (has_stars || is_value && !is_known);
        }
        self.cursor.met.declared.truncate(depth);
        self.cursor.at = start;
        is_cast
    }

    /// The type in the bracket here; the place is behind it afterwards.
    pub(super) fn type_in_brackets(&mut self) -> Type<'t> {
        let end = self.cursor.behind(self.cursor.at);
        self.cursor.at += 1;
        let ty = self.type_name(end);
        self.cursor.at = end;
        ty
    }

    /// A type's name up to a place.
    pub(super) fn type_name(&mut self, _end: usize) -> Type<'t> {
        let found = match self.cursor.specifiers(true) {
            Some(found) => found,
            None => {
                let ty = self.cursor.word(self.cursor.at).map_or(Type::Unknown, Type::Named);
                self.cursor.at += 1;
                super::cursor::Specifiers { ty, ..Default::default() }
            }
        };
        let base = self.specified(&found.ty, found.of.as_ref());
        let declared = self.cursor.declarator(&base);
        declared.map_or(base, |declared| match declared.function {
            Some(function) => Type::Function(Arc::new(function.returns)),
            None => declared.ty,
        })
    }

    /// A type, or what an expression in `typeof` has for one.
    pub(super) fn specified(&mut self, ty: &Type<'t>, of: Option<&std::ops::Range<usize>>) -> Type<'t> {
        let Some(range) = of else { return ty.clone() };
        let at = self.cursor.at;
        let quiet = std::mem::replace(&mut self.is_quiet, true);
        self.cursor.at = range.start.saturating_sub(1);
        let found = match self.is_cast() {
            true => self.type_in_brackets(),
            false => {
                self.cursor.at = range.start;
                let value = self.expression();
                match (&value.ty, value.place.is_some()) {
                    (Type::Array(..), false) => decayed(&value.ty),
                    _ => value.ty,
                }
            }
        };
        self.is_quiet = quiet;
        self.cursor.at = at;
        found
    }

    fn cast(&mut self) -> Value<'t> {
        let ty = self.type_in_brackets();
        if self.cursor.is(b"{") {
            self.list(&ty);
            let sums = match self.world().resolve(&ty) {
                Type::Record(record) => vec![Sum::object(record)],
                _ => Vec::new(),
            };
            let literal = Value { place: Some(sums), ..Value::typed(ty) };
            return self.postfix(literal);
        }
        let inner = self.unary();
        let value = self.convert(&inner, &ty, true);
        Value {
            place: inner.place.filter(|_| ty == inner.ty),
            member: inner.member.filter(|_| ty == inner.ty),
            ..value
        }
    }

    fn postfix(&mut self, value: Value<'t>) -> Value<'t> {
        let mut value = value;
        loop {
            match self.cursor.here() {
                b"." | b"->" => {
                    let arrow = self.cursor.is(b"->");
                    self.cursor.at += 1;
                    if self.cursor.is(b"*") {
                        self.cursor.at += 1;
                    }
                    let Some(name) = self.cursor.word(self.cursor.at) else { return value };
                    self.cursor.at += 1;
                    value = self.member(&value, name, arrow);
                }
                b"[" => {
                    self.cursor.at += 1;
                    let index = self.expression();
                    self.cursor.eat(b"]");
                    let number = constant(&index);
                    value = self.dereference(&value, number);
                }
                b"(" => value = self.call(&value),
                b"++" | b"--" => {
                    self.cursor.at += 1;
                    self.walked(&value);
                }
                b"{" if value.is_type => {
                    let ty = value.ty.clone();
                    self.list(&ty);
                    value = Value::typed(ty);
                }
                _ => return value,
            }
        }
    }

    /// A member of an object.
    fn member(&mut self, value: &Value<'t>, name: &'t [u8], arrow: bool) -> Value<'t> {
        let world = self.world();
        let ty = world.resolve(&value.ty);
        let record = match (&ty, arrow) {
            (Type::Record(record), _) => Some(*record),
            (other, _) => match other.element().map(|element| world.resolve(element)) {
                Some(Type::Record(record)) => Some(record),
                _ => None,
            },
        };
        let Some(record) = record else {
            let ty = world.holders.get(name).cloned().unwrap_or_default();
            let sums = self.kept(Slot::Member(self.cursor.file, name));
            let place = self.own_place(&ty).unwrap_or_default();
            return Value { ty, sums, place: Some(place), member: Some((b"", name)), ..Value::default() };
        };
        let ty = world.member(record, name).unwrap_or_else(|| {
            match world.records.contains_key(record)
                && !world.records.get(record).is_some_and(|known| known.has_base)
            {
                true => Type::Unknown,
                false => world.holders.get(name).cloned().unwrap_or_default(),
            }
        });
        let is_null = self.is_null(value);
        let mut place = match is_null {
            true => vec![Sum::term(Term::Offset(record, name))],
            false => vec![Sum::object(record).and(true, Term::Offset(record, name))],
        };
        // An address with what comes of pointers into other objects.
        if !is_null && let Some(own) = self.own_place(&ty) {
            place.extend(own);
        }
        let sums =
            if self.is_typed(&ty) { Vec::new() } else { self.kept(Slot::Member(self.cursor.file, name)) };
        Value { ty, sums, place: Some(place), member: Some((record, name)), ..Value::default() }
    }

    /// The place of an object inside another as one of its own.
    fn own_place(&self, ty: &Type<'t>) -> Option<Vec<Sum<'t>>> {
        match self.world().resolve(ty) {
            Type::Record(record) => Some(vec![Sum::object(record)]),
            _ => None,
        }
    }

    fn is_null(&self, value: &Value<'t>) -> bool {
        let sums =
            if value.sums.is_empty() { value.place.as_deref().unwrap_or_default() } else { &value.sums };
        !sums.is_empty()
            && sums.iter().all(|sum| sum.base.is_none() && sum.offsets().count() == 0 && !sum.has_other())
            && sums.iter().all(|sum| sum.terms.iter().all(|(_, term)| matches!(term, Term::Number(_))))
    }

    fn primary(&mut self) -> Value<'t> {
        let Some(piece) = self.cursor.pieces.get(self.cursor.at).copied() else { return Value::default() };
        match piece.kind {
            Kind::Number => {
                self.cursor.at += 1;
                let sums = number(piece.text)
                    .map_or_else(|| vec![Sum::term(Term::Other)], |number| vec![number_sum(number)]);
                Value::sums(Type::Number(b"int", 4), sums)
            }
            Kind::Quoted => {
                self.cursor.at += 1;
                let ty = if piece.text.starts_with(b"\"") {
                    Type::Byte.pointer()
                } else {
                    Type::Number(b"int", 4)
                };
                Value::typed(ty)
            }
            Kind::Word => self.named(piece.text),
            Kind::Sign => self.bracketed(piece.text),
        }
    }

    fn bracketed(&mut self, sign: &[u8]) -> Value<'t> {
        match sign {
            b"(" if self.cursor.text(self.cursor.at + 1) == b"{" => {
                let end = self.cursor.behind(self.cursor.at);
                self.cursor.at += 1;
                self.last = Value::default();
                self.block(end.saturating_sub(1));
                self.cursor.at = end;
                std::mem::take(&mut self.last)
            }
            b"(" => {
                let end = self.cursor.behind(self.cursor.at);
                self.cursor.at += 1;
                let value = if self.cursor.is(b")") { Value::default() } else { self.expression() };
                self.cursor.at = end;
                value
            }
            b"{" => {
                self.list(&Type::Unknown);
                Value::default()
            }
            b"[" => self.lambda(),
            b")" | b"]" | b"}" | b";" | b"," | b":" => Value::default(),
            _ => {
                self.cursor.at += 1;
                Value::default()
            }
        }
    }

    /// `[](int x) -> T { … }`
    fn lambda(&mut self) -> Value<'t> {
        self.cursor.at = self.cursor.behind(self.cursor.at);
        let mut scope = rustc_hash::FxHashMap::default();
        if self.cursor.is(b"(")
            && let Some(function) =
                self.cursor.declarator(&Type::Unknown).and_then(|declared| declared.function)
        {
            let named = function.parameters.into_iter().filter_map(|(name, ty)| Some((name?, ty)));
            scope.extend(named.map(|(name, ty)| (name, super::evaluator::Local { ty, sums: Vec::new() })));
        }
        let mut returns = Type::Unknown;
        while !matches!(self.cursor.here(), b"{" | b";" | b")" | b"," | b"") {
            match self.cursor.eat(b"->") {
                true => returns = self.type_name(self.cursor.at),
                false => self.cursor.at += 1,
            }
        }
        if self.cursor.is(b"{") {
            let end = self.cursor.behind(self.cursor.at);
            let before = std::mem::replace(&mut self.returns, returns);
            self.scopes.push(scope);
            self.cursor.at += 1;
            self.block(end.saturating_sub(1));
            self.scopes.pop();
            self.returns = before;
            self.cursor.at = end;
        }
        Value::default()
    }

    fn named(&mut self, word: &'t [u8]) -> Value<'t> {
        self.cursor.at += 1;
        let mut word = word;
        while self.cursor.is(b"::") && self.cursor.word(self.cursor.at + 1).is_some() {
            word = self.cursor.text(self.cursor.at + 1);
            self.cursor.at += 2;
        }
        if let Some(local) = self.local(word) {
            // A reference to something of a template's type is what was handed.
            let is_open = matches!(self.world().resolve(&local.ty), Type::Named(_) | Type::Unknown);
            let handed = if is_open { local.sums.clone() } else { Vec::new() };
            let place = self.own_place(&local.ty).unwrap_or(handed);
            return Value {
                ty: local.ty.clone(),
                sums: local.sums.clone(),
                place: Some(place),
                name: Some(word),
                ..Value::default()
            };
        }
        match word {
            b"NULL" | b"nullptr" => return Value::sums(Type::Void.pointer(), vec![Sum::default()]),
            b"this" => return Value::typed(self.class.map_or(Type::Unknown, Type::Record).pointer()),
            b"offsetof" | b"__builtin_offsetof" | b"offsetofend" if self.cursor.is(b"(") => {
                return self.offset(word);
            }
            b"sizeof_field" | b"FIELD_SIZEOF" if self.cursor.is(b"(") => return self.offset(word),
            b"va_arg" | b"__builtin_va_arg" if self.cursor.is(b"(") => return self.variadic(),
            b"_Generic" if self.cursor.is(b"(") => return self.generic(),
            b"static_cast" | b"reinterpret_cast" | b"const_cast" | b"dynamic_cast" | b"bit_cast"
            | b"__bit_cast"
                if self.cursor.is(b"<") =>
            {
                return self.named_cast(word);
            }
            b"operator" => return Value::default(),
            _ => {}
        }
        let world = self.world();
        if let Some(ty) = self.class.and_then(|class| world.member(class, word)) {
            let this = Value::typed(self.class.map_or(Type::Unknown, Type::Record).pointer());
            let _ = ty;
            return self.member(&this, word, true);
        }
        if let Some(ty) = world.globals.get(word).filter(|_| !self.cursor.is(b"(")) {
            let place = self.own_place(ty).unwrap_or_default();
            let sums = if self.is_typed(ty) { Vec::new() } else { self.kept(Slot::Global(word)) };
            return Value { ty: ty.clone(), sums, place: Some(place), name: Some(word), ..Value::default() };
        }
        if let Some(function) = world.functions.get(word) {
            let ty = Type::Function(Arc::new(function.returns.clone()));
            return Value { call: Some(word), ..Value::typed(ty) };
        }
        if let Some(sums) = self.known.get(&Slot::Global(word)) {
            return Value::sums(Type::Number(b"enum", 4), sums.clone());
        }
        let is_type = self.cursor.is_type(word) && matches!(self.cursor.here(), b"{" | b"(");
        if is_type || matches!(word, b"struct" | b"union" | b"enum") {
            let name = if is_type { word } else { self.cursor.here() };
            self.cursor.at += usize::from(!is_type);
            return Value { is_type: true, ..Value::typed(self.world().resolve(&Type::Named(name))) };
        }
        Value { call: Some(word), ..Value::default() }
    }

    /// `offsetof(T, m.n)` and its kin.
    fn offset(&mut self, word: &[u8]) -> Value<'t> {
        let end = self.cursor.behind(self.cursor.at);
        self.cursor.at += 1;
        let ty = self.type_name(end);
        let mut sum = Sum::default();
        if self.cursor.eat(b",")
            && let Type::Record(record) = self.world().resolve(&ty)
        {
            let name = self.cursor.here();
            // The offset of an array's element is counted, and its size isn't the member's.
            let is_inside = self.cursor.at + 2 < end;
            match word {
                b"sizeof_field" | b"FIELD_SIZEOF" => sum = sum.and(true, Term::MemberSize(record, name)),
                b"offsetofend" => {
                    sum = sum.and(true, Term::Offset(record, name)).and(true, Term::MemberSize(record, name));
                }
                _ => sum = sum.and(true, Term::Offset(record, name)),
            }
            if is_inside && self.cursor.text(self.cursor.at + 1) == b"[" {
                sum = sum.and(true, Term::Other);
            }
        } else {
            sum = sum.and(true, Term::Other);
        }
        self.cursor.at = end;
        if self.context == Context::Constant {
            self.constant_offset(&sum);
        }
        Value::sums(Type::Number(b"long", 8), vec![sum])
    }

    /// `va_arg(list, T)`
    fn variadic(&mut self) -> Value<'t> {
        let end = self.cursor.behind(self.cursor.at);
        self.cursor.at += 1;
        self.assignment();
        self.cursor.eat(b",");
        let ty = self.type_name(end);
        self.cursor.at = end;
        let sums = self.kept(Slot::Parameter(self.home, self.function, usize::MAX));
        self.convert(&Value::sums(Type::Void.pointer(), sums), &ty, false)
    }

    fn generic(&mut self) -> Value<'t> {
        let end = self.cursor.behind(self.cursor.at);
        self.cursor.at += 1;
        let mut value = self.assignment();
        while self.cursor.at < end && self.cursor.eat(b",") {
            while self.cursor.at < end && !self.cursor.is(b":") {
                self.cursor.at += 1;
            }
            self.cursor.at += 1;
            let branch = self.assignment();
            if branch.ty != Type::Unknown || !branch.sums.is_empty() {
                value = branch;
            }
        }
        self.cursor.at = end;
        value
    }

    fn named_cast(&mut self, word: &[u8]) -> Value<'t> {
        self.cursor.at += 1;
        let ty = self.type_name(self.cursor.at);
        self.cursor.eat(b">");
        let value = match self.cursor.is(b"(") {
            true => {
                let end = self.cursor.behind(self.cursor.at);
                self.cursor.at += 1;
                let value = self.expression();
                self.cursor.at = end;
                value
            }
            false => Value::default(),
        };
        if word.ends_with(b"bit_cast") {
            for ty in [&ty, &value.ty] {
                if let Type::Record(record) = self.world().resolve(ty) {
                    self.tell_whole(record, "its bytes are taken for another type by bit_cast".to_owned());
                }
            }
        }
        let converted = match word {
            b"dynamic_cast" | b"const_cast" => Value::typed(ty),
            _ => self.convert(&value, &ty, true),
        };
        self.postfix(converted)
    }
}

impl Sum<'_> {
    fn is_telling_or_number(&self) -> bool {
        self.is_telling() || !self.has_other()
    }
}

fn product<'t>(left: &Value<'t>, right: &Value<'t>) -> Vec<Sum<'t>> {
    let product = constant(left).zip(constant(right)).and_then(|(one, other)| one.checked_mul(other));
    let is_size = |side: &Value<'t>| constant(side).is_some_and(|number| number > 1);
    match product {
        Some(number) => vec![number_sum(number)],
        None if is_size(left) || is_size(right) => vec![Sum::term(Term::Stride)],
        None => Vec::new(),
    }
}

/// A number as a sum; zero has no terms.
pub(super) fn number_sum<'t>(number: i64) -> Sum<'t> {
    Sum::default().and(true, Term::Number(number))
}

/// The number that a value is.
pub(super) fn constant(value: &Value<'_>) -> Option<i64> {
    match value.sums.as_slice() {
        [Sum { base: None, terms }] => match terms.as_slice() {
            [] => Some(0),
            [(sign, Term::Number(number))] => Some(if *sign { *number } else { number.checked_neg()? }),
            _ => None,
        },
        _ => None,
    }
}

/// An array as the pointer it becomes.
pub(super) fn decayed<'t>(ty: &Type<'t>) -> Type<'t> {
    match ty {
        Type::Array(inner, _) => Type::Pointer(inner.clone()),
        other => other.clone(),
    }
}

fn number(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']);
    let text = text.replace('\'', "");
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|number| number as i64),
        None if text.len() > 1 && text.starts_with('0') => i64::from_str_radix(&text, 8).ok(),
        None => text.parse().ok(),
    }
}

pub(super) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
