//! Names, members, literals and calls in expressions.

use crate::meaning::code::evaluator::{Context, Evaluator, Local};
use crate::meaning::flows::Slot;
use crate::meaning::stream::Kind;
use crate::meaning::syntax::words::is_among;
use crate::meaning::types::Type;
use crate::meaning::value::{Sum, Term, Value, constant, join, number_sum};
use std::sync::Arc;

/// Words that cast what stands in brackets behind a type.
const CASTS: &str = " static_cast reinterpret_cast const_cast dynamic_cast bit_cast __bit_cast static_pointer_cast \
     reinterpret_pointer_cast ";

/// Members of the system's structs by which a handler of faults learns where memory was touched.
const FAULTS: [&[u8]; 2] = [b"si_addr", b"pagefault"];

/// The name of a function without one: all share what they give back.
pub(in crate::meaning) const LAMBDA: &[u8] = b"[]";

impl<'t> Evaluator<'_, '_, 't> {
    pub(in crate::meaning) fn postfix(&mut self, value: Value<'t>) -> Value<'t> {
        let mut value = value;
        loop {
            match self.cursor.here() {
                b"." | b"->" => {
                    let arrow = self.cursor.is(b"->");
                    self.cursor.at += 1;
                    if self.cursor.eat(b"*") {
                        value = self.picked(&value, arrow);
                        continue;
                    }
                    let Some(name) = self.cursor.word(self.cursor.at) else { return value };
                    self.cursor.at += 1;
                    value = match self.edge_by_method(&value, name) {
                        Some(edge) => edge,
                        None => self.member(&value, name, arrow),
                    };
                }
                b"[" => {
                    self.cursor.at += 1;
                    let begin = self.cursor.at;
                    let index = self.expression();
                    let rows = self.rows(begin);
                    let is_bytes =
                        matches!(self.world().pointee(&value.ty), Some(Type::Byte)) && !value.sums.is_empty();
                    if !is_bytes {
                        self.offset_is_number(&index, "an index");
                    }
                    self.cursor.eat(b"]");
                    // `1[&p.x]`
                    let is_turned = matches!(self.world().resolve(&value.ty), Type::Number(..) | Type::Byte)
                        && self.world().resolve(&index.ty).element().is_some();
                    let (array, index) = if is_turned { (index, value) } else { (value, index) };
                    let number = constant(&index);
                    self.goes_beyond(&array, &index);
                    self.counted_in_rows(&array, rows);
                    value = self.dereference(&array, number);
                }
                b"(" => value = self.call(&value),
                b"++" | b"--" => {
                    self.cursor.at += 1;
                    self.counted(&value);
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

    /// `object.*pointer`: any member.
    fn picked(&mut self, value: &Value<'t>, arrow: bool) -> Value<'t> {
        self.unary();
        let world = self.world();
        let ty = if arrow { world.pointee(&value.ty) } else { Some(world.resolve(&value.ty)) };
        let place = match ty {
            Some(Type::Record(record)) => vec![Sum::object(record).and(true, Term::Stride)],
            _ => Vec::new(),
        };
        Value { place: Some(place), ..Value::default() }
    }

    /// A member of an object.
    pub(in crate::meaning) fn member(&mut self, value: &Value<'t>, name: &'t [u8], arrow: bool) -> Value<'t> {
        let world = self.world();
        if FAULTS.contains(&name) && world.is_complete {
            self.mapped_otherwise();
        }
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
            let sums = self.kept_member(b"", name);
            let place = self.own_place(&ty).unwrap_or_default();
            return Value { ty, sums, place: Some(place), member: Some((b"", name)), ..Value::default() };
        };
        let ty = world.member(record, name).unwrap_or_else(|| {
            // What a record without a definition here holds isn't a subject: those that say its name are read.
            match world.records.get(record).is_some_and(|known| known.has_base) {
                true => world.holders.get(name).cloned().unwrap_or_default(),
                false => Type::Unknown,
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
        let sums = if self.is_typed(&ty) { Vec::new() } else { self.kept_member(record, name) };
        let is_object = self.tested.contains(name);
        Value { ty, sums, place: Some(place), member: Some((record, name)), is_object, ..Value::default() }
    }

    pub(in crate::meaning) fn is_null(&self, value: &Value<'t>) -> bool {
        let sums =
            if value.sums.is_empty() { value.place.as_deref().unwrap_or_default() } else { &value.sums };
        !sums.is_empty()
            && sums.iter().all(|sum| sum.base.is_none() && sum.offsets().count() == 0 && !sum.has_other())
            && sums.iter().all(|sum| sum.terms.iter().all(|(_, term)| matches!(term, Term::Number(_))))
    }

    pub(in crate::meaning) fn primary(&mut self) -> Value<'t> {
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
                let is_next = |piece: &&crate::meaning::stream::Piece<'t>| piece.kind == Kind::Quoted;
                let rest = self.cursor.pieces.get(self.cursor.at..).unwrap_or_default();
                let more = rest.iter().take_while(is_next).count();
                self.cursor.at += more;
                let text = if more == 0 { piece.text } else { b"" };
                let ty = if piece.text.starts_with(b"\"") {
                    Type::Byte.pointer()
                } else {
                    Type::Number(b"int", 4)
                };
                Value { is_text: piece.text.starts_with(b"\""), text, ..Value::typed(ty) }
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
        let mut scope = rustc_hash::FxHashMap::default();
        let end = self.cursor.behind(self.cursor.at);
        // `[copy = s]`
        for at in self.cursor.at..end {
            if let (Some(name), b"=") = (self.cursor.word(at), self.cursor.text(at + 1)) {
                self.cursor.at = at + 2;
                let value = self.assignment();
                scope.insert(name, Local { ty: value.ty, sums: value.sums, ..Local::default() });
            }
        }
        self.cursor.at = end;
        if self.cursor.is(b"(")
            && let Some(function) =
                self.cursor.declarator(&Type::Unknown).and_then(|declared| declared.function)
        {
            for (number, (name, ty)) in function.parameters.into_iter().enumerate() {
                let Some(name) = name else { continue };
                let sums = self.handed_to_body(LAMBDA, number, &ty);
                scope.insert(name, Local { ty, sums, ..Local::default() });
            }
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
            let outer = std::mem::replace(&mut self.function, LAMBDA);
            self.scopes.push(scope);
            self.cursor.at += 1;
            self.block(end.saturating_sub(1));
            self.scopes.pop();
            (self.returns, self.function) = (before, outer);
            self.cursor.at = end;
        }
        Value::default()
    }

    pub(in crate::meaning) fn named(&mut self, word: &'t [u8]) -> Value<'t> {
        let before = self.cursor.text(self.cursor.at.wrapping_sub(1));
        self.cursor.at += 1;
        let mut word = word;
        while self.cursor.is(b"::") && self.cursor.word(self.cursor.at + 1).is_some() {
            word = self.cursor.text(self.cursor.at + 1);
            self.cursor.at += 2;
        }
        if let Some(local) = self.local(word) {
            // A reference to something of a template's type is what was handed.
            let is_open = matches!(self.world().resolve(&local.ty), Type::Named(_) | Type::Unknown);
            let handed = match local.parameter.filter(|_| self.is_cpp) {
                _ if is_open => local.sums.clone(),
                Some(number) => self.kept(Slot::Referred(self.home, self.function, number)),
                None => Vec::new(),
            };
            let mut place = self.own_place(&local.ty).unwrap_or(handed);
            join(&mut place, &self.place_of_numbers(&local.ty, &local.sums));
            return Value {
                ty: local.ty.clone(),
                sums: local.sums.clone(),
                place: Some(place),
                name: Some(word),
                is_object: local.is_object,
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
            _ if self.cursor.is(b"<") && is_among(CASTS, word) => return self.named_cast(word),
            b"operator" => return Value::default(),
            _ => {}
        }
        let world = self.world();
        if self.class.is_some_and(|class| world.member(class, word).is_some()) {
            let this = Value::typed(self.class.map_or(Type::Unknown, Type::Record).pointer());
            return self.member(&this, word, true);
        }
        if let Some(ty) = world.globals.get(word).filter(|_| !self.cursor.is(b"(")) {
            let sums = if self.is_typed(ty) { Vec::new() } else { self.kept(Slot::Global(word)) };
            let place = self.own_place(ty).unwrap_or_else(|| self.place_of_numbers(ty, &sums));
            return Value { ty: ty.clone(), sums, place: Some(place), name: Some(word), ..Value::default() };
        }
        if let Some(function) = world.functions.get(word) {
            self.template_arguments(word);
            let ty = Type::Function(Arc::new(function.returns.clone()));
            return Value { call: Some(word), ..Value::typed(ty) };
        }
        // `return T{…}`: a list of a type that nobody declares.
        let is_list = self.is_cpp && self.cursor.is(b"{") && !self.cursor.is_type(word);
        if is_list && matches!(before, b"return" | b"=" | b"(" | b",") {
            self.list(&Type::Unknown);
            return Value::default();
        }
        if let Some(sums) = self.known.get(Slot::Global(word)) {
            return Value::sums(Type::Number(b"enum", 4), sums.clone());
        }
        let is_type = self.cursor.is_type(word) && matches!(self.cursor.here(), b"{" | b"(");
        if is_type || matches!(word, b"struct" | b"union" | b"enum") {
            let name = if is_type { word } else { self.cursor.here() };
            self.cursor.at += usize::from(!is_type);
            return Value { is_type: true, ..Value::typed(self.world().resolve(&Type::Named(name))) };
        }
        self.template_arguments(word);
        if !self.cursor.is(b"(") {
            self.memory_function(word);
        }
        Value { call: Some(word), ..Value::default() }
    }

    /// Skips `<0, T>` behind a function's name. One that is told a subject may make it of what it is handed.
    fn template_arguments(&mut self, name: &'t [u8]) {
        if !self.is_cpp || !self.cursor.is(b"<") {
            return;
        }
        let start = self.cursor.at;
        self.cursor.skip_angles();
        if self.cursor.is(b"{") {
            return self.list(&Type::Named(name));
        }
        if !self.cursor.is(b"(") {
            self.cursor.at = start;
            return;
        }
        let inside = self.cursor.pieces.get(start..self.cursor.at).unwrap_or_default();
        let close = self.cursor.behind(self.cursor.at);
        let values = self.cursor.pieces.get(self.cursor.at..close).unwrap_or_default();
        let commas = values.iter().filter(|piece| piece.text == b",").count();
        let subjects = inside.iter().filter(|piece| self.world().subjects.contains_key(piece.text));
        let subjects: Vec<&'t [u8]> = subjects.map(|piece| piece.text).collect();
        for record in subjects.into_iter().filter(|_| commas > 0) {
            let is_aggregate = self.world().records.get(record).is_some_and(|known| !known.has_constructor);
            if is_aggregate {
                let what =
                    format!("{} is handed {} values for it", super::super::types::lossy(name), commas + 1);
                self.tell(record, crate::uses::UseDemand::Positions(commas + 1), Vec::new(), what);
            }
        }
    }

    /// `offsetof(T, m.n)` and its kin.
    pub(in crate::meaning) fn offset(&mut self, word: &[u8]) -> Value<'t> {
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
        self.taken_from_list(&ty);
        let sums = self.parameter(self.home, self.function, usize::MAX);
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
}

pub(in crate::meaning) fn number(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']);
    let text = text.replace('\'', "");
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|number| number as i64),
        None if text.len() > 1 && text.starts_with('0') => i64::from_str_radix(&text, 8).ok(),
        None => text.parse().ok(),
    }
}
