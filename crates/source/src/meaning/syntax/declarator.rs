//! Declarators: pointers, names, arrays and parameters.

use crate::meaning::stream::Kind;
use crate::meaning::syntax::cursor::{Cursor, Declared, Specifiers};
use crate::meaning::syntax::words::{STATEMENT_WORDS, is_among, is_type_word};
use crate::meaning::types::{Function, Type};
use std::sync::Arc;

/// Bytes of the widest vector of numbers.
const LARGEST_VECTOR: u8 = 64;

/// Most words of an operator's name.
const OPERATOR_WORDS: usize = 8;

/// Deepest nesting that is read.
pub(in crate::meaning) const DEEPEST: usize = 60;

impl<'t> Cursor<'_, '_, 't> {
    /// A declarator behind a type: pointers, the name, arrays, parameters. The name may be missing.
    pub(in crate::meaning) fn declarator(&mut self, base: &Type<'t>) -> Option<Declared<'t>> {
        if self.depth >= DEEPEST {
            return None;
        }
        let mut ty = base.clone();
        let mut silent = Specifiers::default();
        loop {
            if self.eat(b"*") || self.eat(b"^") {
                ty = ty.pointer();
            } else if !(self.eat(b"&") || self.eat(b"&&") || self.skip_silent(&mut silent)) {
                break;
            }
        }
        let is_inner = self.is(b"(")
            && (matches!(self.text(self.at + 1), b"*" | b"^")
                || self.is_reference_to_several()
                || self.word(self.at + 1).is_some()
                    && self.text(self.at + 2) == b")"
                    && self.text(self.at + 3) != b";");
        if is_inner && (self.text(self.at + 1) != b")") {
            return self.nested(ty);
        }
        let (mut name, mut class) = (b"".as_slice(), None);
        if let Some(word) =
            self.word(self.at).filter(|word| !STATEMENT_WORDS.has(word) || *word == b"operator")
        {
            name = word;
            self.at += 1;
            if word == b"operator" {
                self.operator_name();
            }
            while self.is(b"::") && self.word(self.at + 1).is_some() {
                class = Some(name);
                name = self.text(self.at + 1);
                self.at += 2;
            }
        }
        let mut declared = Declared { name, ty, class, ..Declared::default() };
        while self.skip_silent(&mut silent) {}
        self.suffixes(&mut declared);
        while self.is(b"__attribute__") && self.skip_silent(&mut silent) {}
        if silent.is_vector {
            declared.ty = Type::Number(b"vector", LARGEST_VECTOR);
        }
        Some(declared)
    }

    /// `(&name)[3]`, `(&)(int)`: a reference to an array or to a function.
    fn is_reference_to_several(&self) -> bool {
        let is_reference = self.is(b"(") && matches!(self.text(self.at + 1), b"&" | b"&&");
        let end = self.behind(self.at);
        is_reference && end <= self.at + 4 && matches!(self.text(end), b"[" | b"(")
    }

    /// `[]`, `()`, `+=`, `const char *` behind `operator`.
    pub(in crate::meaning) fn operator_name(&mut self) {
        if self.is(b"(") && self.text(self.at + 1) == b")" {
            self.at += 2;
        }
        for _ in 0..OPERATOR_WORDS {
            if matches!(self.here(), b"(" | b"{" | b";" | b"") {
                break;
            }
            self.at += 1;
        }
    }

    /// `(*name)(…)`, `(*name[4])(…)`.
    pub(in crate::meaning) fn nested(&mut self, ty: Type<'t>) -> Option<Declared<'t>> {
        let end = self.behind(self.at);
        let inside = self.at + 1;
        self.at = end;
        let mut outer = Declared { ty, ..Declared::default() };
        self.suffixes(&mut outer);
        let behind = self.at;
        let mut ty = outer.ty;
        if let Some(function) = outer.function {
            ty = Type::Function(Arc::new(function.returns));
        }
        self.at = inside;
        self.depth += 1;
        let found = self.declarator(&ty);
        self.depth -= 1;
        self.at = behind;
        found
    }

    fn suffixes(&mut self, declared: &mut Declared<'t>) {
        let mut counts = Vec::new();
        while self.is(b"[") && self.text(self.at + 1) != b"[" {
            let end = self.behind(self.at);
            let inside = self.at + 1..end.saturating_sub(1);
            let count = match self.pieces.get(inside.clone()) {
                Some([only]) => std::str::from_utf8(only.text).ok().and_then(|text| text.parse().ok()),
                Some([]) => Some(0),
                _ => None,
            };
            counts.push(count);
            declared.dimensions.push(inside);
            self.at = end;
        }
        for count in counts.into_iter().rev() {
            let inner = std::mem::take(&mut declared.ty);
            declared.ty = Type::Array(Arc::new(inner), count);
        }
        if self.is(b"(") && declared.dimensions.is_empty() && self.are_parameters() {
            let end = self.behind(self.at);
            let parameters = self.parameters(end.saturating_sub(1));
            self.at = end;
            let returns = declared.ty.clone();
            declared.function = Some(Function { returns, parameters, ..Function::default() });
        }
    }

    /// Whether a bracket holds parameters rather than values of a C++ object.
    fn are_parameters(&self) -> bool {
        let first = self.pieces.get(self.at + 1);
        !(self.world.has_cpp && self.has_value())
            && first.is_none_or(|first| {
                first.kind == Kind::Word
                    && (first.text == b"operator" || !STATEMENT_WORDS.has(first.text))
                    && !is_among(" reinterpret_cast static_cast const_cast dynamic_cast ", first.text)
                    && !matches!(self.text(self.at + 2), b"." | b"->" | b"+" | b"-")
                    && (!self.world.globals.contains_key(first.text)
                        || self.is_type(first.text)
                        || is_type_word(first.text))
                    || matches!(first.text, b")" | b"...")
            })
    }

    /// Whether a value stands behind a comma or the bracket here: an address, a number, a text, a function's name.
    fn has_value(&self) -> bool {
        let end = self.behind(self.at);
        let mut at = self.at + 1;
        while at < end {
            let begins = self.pieces.get(at);
            let is_value = begins.is_some_and(|piece| match piece.kind {
                Kind::Number | Kind::Quoted => true,
                Kind::Sign => matches!(piece.text, b"&" | b"*" | b"-" | b"!" | b"~" | b"{"),
                Kind::Word => {
                    matches!(piece.text, b"this" | b"nullptr" | b"true" | b"false" | b"new")
                        || self.world.functions.contains_key(piece.text)
                            && !self.is_type(piece.text)
                            && !is_type_word(piece.text)
                        || self.begins_value(at)
                }
            });
            if is_value {
                return true;
            }
            while at < end && self.text(at) != b"," {
                at = if matches!(self.text(at), b"(" | b"[" | b"{") { self.behind(at) } else { at + 1 };
            }
            at += 1;
        }
        false
    }

    /// Whether a name at a place is called, or is an object of which a part is taken.
    fn begins_value(&self, at: usize) -> bool {
        let mut at = at;
        while self.text(at + 1) == b"::" && self.word(at + 2).is_some() {
            at += 2;
        }
        let word = self.text(at);
        let is_type = self.is_type(word) || is_type_word(word);
        let is_part =
            matches!(self.text(at + 1), b"." | b"->") || self.text(at + 1) == b"[" && self.word(at).is_some();
        !is_type && (is_part || self.text(at + 1) == b"(" && self.text(at + 2) != b"*")
    }

    pub(in crate::meaning) fn parameters(&mut self, end: usize) -> Vec<(Option<&'t [u8]>, Type<'t>)> {
        let mut found = Vec::new();
        self.at += 1;
        self.depth += 1;
        while self.at < end && self.depth < DEEPEST {
            let start = self.at;
            if self.eat(b"...") {
                continue;
            }
            match self.specifiers(true) {
                Some(specifiers) => {
                    let declared = self.declarator(&specifiers.ty).unwrap_or_default();
                    let ty = match (declared.ty, declared.function) {
                        (_, Some(function)) => Type::Function(Arc::new(function.returns)).pointer(),
                        (Type::Array(inner, _), _) => Type::Pointer(inner),
                        (ty, _) => ty,
                    };
                    self.default_list(Some(&ty));
                    let is_nothing = ty == Type::Void && declared.name.is_empty();
                    if !is_nothing {
                        found.push(((!declared.name.is_empty()).then_some(declared.name), ty));
                    }
                }
                None => {
                    // A name alone is a type that nobody declares, or a parameter of old C.
                    found.push((None, self.word(self.at).map_or(Type::Unknown, Type::Named)));
                }
            }
            self.skip_value(end);
            self.at = (self.at + 1).max(start + 1);
        }
        self.depth -= 1;
        found
    }
}
