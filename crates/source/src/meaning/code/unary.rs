//! Prefixes, casts and types in expressions.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::code::expression::DEEPEST;
use crate::meaning::stream::Kind;
use crate::meaning::syntax::cursor::Specifiers;
use crate::meaning::syntax::words::is_among;
use crate::meaning::types::{Type, decayed};
use crate::meaning::value::{Kept, Sum, Value};
use std::sync::Arc;

impl<'t> Evaluator<'_, '_, 't> {
    pub(in crate::meaning) fn unary(&mut self) -> Value<'t> {
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
                self.escape(&inner.sums);
                self.is_condition(&inner);
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
                let is_back = self.cursor.is(b"--");
                self.cursor.at += 1;
                let inner = self.unary();
                self.counted(&inner);
                self.walked(&inner);
                if is_back {
                    self.walked_back(&inner);
                }
                inner
            }
            b"sizeof" => self.size(),
            b"_Alignof" | b"alignof" | b"__alignof__" | b"__alignof" => {
                self.cursor.at += 1;
                self.cursor.at = self.cursor.behind(self.cursor.at);
                Value::typed(Type::Number(b"long", 8))
            }
            b"__extension__" | b"__real__" | b"__imag__" | b"delete" => {
                self.cursor.at += 1;
                self.unary()
            }
            b"co_await" | b"co_yield" | b"throw" => {
                self.cursor.at += 1;
                let value = self.unary();
                let sums = self.sums_of(&value);
                self.handed_to_promise(b"yield_value", &sums);
                Value::default()
            }
            b"new" => self.new_object(),
            b"(" if self.is_cast() => self.cast(),
            _ => {
                let primary = self.primary();
                self.postfix(primary)
            }
        }
    }

    pub(in crate::meaning) fn address(&mut self, inner: Value<'t>) -> Value<'t> {
        let is_function = matches!(inner.ty, Type::Function(_));
        if is_function {
            return Value { call: inner.call, ..Value::typed(inner.ty.pointer()) };
        }
        self.may_be_sorted(&inner);
        let ty = Type::Pointer(Arc::new(inner.ty));
        let sums = inner.place.unwrap_or_default();
        let variable = inner.name.filter(|_| !inner.is_content).map(Kept::Variable);
        let target = variable.or(inner.member.map(|(record, member)| Kept::Member(record, member)));
        Value { ty, sums, target, is_object: true, ..Value::default() }
    }

    pub(in crate::meaning) fn size(&mut self) -> Value<'t> {
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
        let mut place = Value::default();
        if self.cursor.is(b"(") {
            let end = self.cursor.behind(self.cursor.at);
            self.cursor.at += 1;
            place = self.expression();
            self.cursor.at = end;
        }
        let Some(ty) = self.new_type() else { return Value::default() };
        self.made_in(&place, &ty);
        if self.cursor.is(b"[") {
            self.cursor.at = self.cursor.behind(self.cursor.at);
        }
        if self.cursor.is(b"{") {
            self.list(&ty);
        } else if self.cursor.is(b"(") {
            self.constructed(&ty);
        }
        Value::typed(ty.pointer())
    }

    /// The type behind `new`, where a template that nobody declares may stand too.
    fn new_type(&mut self) -> Option<Type<'t>> {
        if let Some(found) = self.cursor.specifiers(true) {
            return Some(found.ty);
        }
        let mut name = self.cursor.word(self.cursor.at)?;
        self.cursor.at += 1;
        while self.cursor.is(b"::") && self.cursor.word(self.cursor.at + 1).is_some() {
            name = self.cursor.text(self.cursor.at + 1);
            self.cursor.at += 2;
        }
        self.cursor.skip_angles();
        Some(Type::Named(name))
    }

    /// `new (bytes) T`: others may look at the bytes.
    fn made_in(&mut self, place: &Value<'t>, ty: &Type<'t>) {
        let world = self.world();
        let is_bytes = world.pointee(&place.ty) == Some(Type::Byte);
        if let (true, Type::Record(record)) = (is_bytes, world.resolve(ty)) {
            self.tell_whole(record, "it is made in an array of bytes".to_owned());
        }
    }

    /// Whether a bracket holds a type.
    pub(in crate::meaning) fn is_cast(&mut self) -> bool {
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
            let is_function =
                self.cursor.is(b"(") && matches!(self.cursor.text(self.cursor.at + 1), b"*" | b"&");
            is_cast = self.cursor.at + 1 == end || is_function;
        } else if !is_variable && self.cursor.word(start + 1).is_some() && !is_among(" sizeof ", word) {
            // A name nobody declares, with stars, or with a value right behind.
            let mut name = start + 1;
            while matches!(self.cursor.text(name), b"const" | b"volatile") {
                name += 1;
            }
            let mut at = name + 1;
            while matches!(self.cursor.text(at), b"*" | b"const" | b"volatile")
                || is_among(" __user __iomem __percpu __rcu __force ", self.cursor.text(at))
            {
                at += 1;
            }
            let has_stars = at > name + 1;
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
    pub(in crate::meaning) fn type_in_brackets(&mut self) -> Type<'t> {
        let end = self.cursor.behind(self.cursor.at);
        self.cursor.at += 1;
        let ty = self.type_name(end);
        self.cursor.at = end;
        ty
    }

    /// A type's name up to a place.
    pub(in crate::meaning) fn type_name(&mut self, _end: usize) -> Type<'t> {
        let found = match self.cursor.specifiers(true) {
            Some(found) => found,
            None => {
                let ty = self.cursor.word(self.cursor.at).map_or(Type::Unknown, Type::Named);
                self.cursor.at += 1;
                Specifiers { ty, ..Default::default() }
            }
        };
        let base = self.specified(&found.ty, found.owner.as_ref());
        let declared = self.cursor.declarator(&base);
        declared.map_or(base, |declared| match declared.function {
            Some(function) => Type::Function(Arc::new(function.returns)),
            None => declared.ty,
        })
    }

    /// A type, or what an expression in `typeof` has for one.
    pub(in crate::meaning) fn specified(
        &mut self,
        ty: &Type<'t>,
        owner: Option<&std::ops::Range<usize>>,
    ) -> Type<'t> {
        let Some(range) = owner else { return ty.clone() };
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

    /// `(T &)object`, `reinterpret_cast<T &>(object)`: as `*(T *)&object`.
    fn referred_as(&mut self, value: Value<'t>, ty: &Type<'t>) -> Value<'t> {
        let address = self.address(value);
        let pointer = self.convert(&address, &ty.clone().pointer(), true);
        self.dereference(&pointer, Some(0))
    }

    /// Whether a type's name says that it is a reference.
    fn is_reference(&self, range: std::ops::Range<usize>) -> bool {
        let signs = self.cursor.pieces.get(range).unwrap_or_default();
        self.is_cpp && signs.iter().any(|piece| matches!(piece.text, b"&" | b"&&"))
    }

    pub(in crate::meaning) fn cast(&mut self) -> Value<'t> {
        let start = self.cursor.at;
        let ty = self.type_in_brackets();
        let is_reference = self.is_reference(start..self.cursor.at);
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
        if is_reference && inner.place.is_some() {
            return self.referred_as(inner, &ty);
        }
        let value = self.convert(&inner, &ty, true);
        let is_cast_function = inner.call.is_some() && inner.ty == Type::Unknown && !self.is_typed(&ty);
        Value {
            is_cast_function,
            target: inner.target,
            left: inner.left,
            place: inner.place.filter(|_| ty == inner.ty),
            member: inner.member.filter(|_| ty == inner.ty),
            ..value
        }
    }

    pub(in crate::meaning) fn named_cast(&mut self, word: &[u8]) -> Value<'t> {
        self.cursor.at += 1;
        let start = self.cursor.at;
        let mut ty = self.type_name(self.cursor.at);
        let is_reference = word == b"reinterpret_cast" && self.is_reference(start..self.cursor.at);
        if is_pointer_cast(word) {
            ty = ty.pointer();
        }
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
            b"reinterpret_cast" if is_reference && value.place.is_some() => self.referred_as(value, &ty),
            b"dynamic_cast" | b"const_cast" => Value::typed(ty),
            _ => self.convert(&value, &ty, true),
        };
        self.postfix(converted)
    }
}

/// Whether a word casts what a smart pointer owns.
pub(in crate::meaning) fn is_pointer_cast(word: &[u8]) -> bool {
    matches!(word, b"static_pointer_cast" | b"reinterpret_pointer_cast")
}
