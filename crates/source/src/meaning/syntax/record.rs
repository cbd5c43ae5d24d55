//! Definitions of structs, unions and classes.

use crate::meaning::stream::Kind;
use crate::meaning::syntax::cursor::{Body, Cursor, Specifiers};
use crate::meaning::syntax::declarator::DEEPEST;
use crate::meaning::syntax::words::{SILENT_WORDS, STATEMENT_WORDS};
use crate::meaning::types::{DefaultValue, Function, Member, Record, Type};
use std::ops::Range;

/// Most words of a member's type that are kept.
const MOST_WORDS: usize = 60;

impl<'t> Cursor<'_, '_, 't> {
    /// `struct tag`, or a definition.
    pub(in crate::meaning) fn record(&mut self) -> Option<(Type<'t>, bool)> {
        let is_union = self.is(b"union");
        let keyword = self.at;
        self.at += 1;
        let mut found = Specifiers::default();
        let mut tag = None;
        for _ in 0..12 {
            if self.skip_silent(&mut found) {
                continue;
            }
            match self.word(self.at) {
                Some(_) if self.text(self.at + 1) == b"(" && tag.is_none() => {
                    self.at = self.behind(self.at + 1)
                }
                Some(word) if tag.is_none() || self.text(self.at + 1) == b"{" => {
                    if tag.is_none() {
                        tag = Some(word);
                    }
                    self.at += 1;
                    if self.is(b"<") {
                        self.skip_angles();
                    }
                }
                _ => break,
            }
        }
        let mut bases = Vec::new();
        let has_base = self.is(b":") && self.base_clause(&mut bases);
        if !self.is(b"{") {
            let tag = tag?;
            return Some((Type::Record(tag), false));
        }
        let line = self.pieces.get(keyword).map_or(0, |piece| piece.line);
        let mut record = Record { is_union, is_packed: found.is_packed, has_base, line, ..Record::default() };
        record.is_packed |=
            self.packs.iter().rev().find(|(from, _)| *from < line).is_some_and(|(_, packed)| *packed);
        let end = self.behind(self.at);
        self.at += 1;
        record.members = bases;
        let bodies = self.met.bodies.len();
        let start = self.at;
        self.members(end.saturating_sub(1), &mut record);
        self.at = end;
        self.special_methods(start..end, tag, &mut record);
        for body in self.met.bodies.iter_mut().skip(bodies) {
            body.class = body.class.or(tag);
        }
        let mut behind = Specifiers::default();
        while self.skip_silent(&mut behind) {}
        record.is_packed |= behind.is_packed;
        // One without a tag is called by the name behind it.
        let name = match tag {
            Some(tag) => tag,
            None => self.name_behind(),
        };
        if name.is_empty() {
            // Unnamed: its members are the holder's.
            self.met.records.push((b"", record));
            return Some((Type::Record(b""), true));
        }
        self.met.records.push((name, record));
        Some((Type::Record(name), true))
    }

    /// Constructors, destructors and the like that stand in a class's body.
    fn special_methods(&self, mut inside: Range<usize>, tag: Option<&'t [u8]>, record: &mut Record<'t>) {
        let is_operator = |at: usize, sign: &[u8]| self.text(at) == b"operator" && self.text(at + 1) == sign;
        record.has_copy = inside.clone().any(|at| is_operator(at, b"=") && !is_defaulted(self, at));
        record.has_storage = inside.clone().any(|at| is_operator(at, b"new"));
        record.has_release = inside.clone().any(|at| is_operator(at, b"delete"));
        let Some(tag) = tag else { return };
        record.has_constructor = inside.clone().any(|at| {
            let before = self.text(at.wrapping_sub(1));
            self.word(at) == Some(tag)
                && self.text(at + 1) == b"("
                && !matches!(before, b"~" | b"new" | b"." | b"->" | b"=" | b"return")
        });
        record.has_destructor = inside.clone().any(|at| {
            let is_own = self.text(at) == b"~" && self.word(at + 1) == Some(tag);
            let is_empty = self.text(at + 4) == b"{" && self.text(at + 5) == b"}";
            is_own && self.text(at + 4) != b"=" && !is_empty
        });
        record.is_made_elsewhere = inside.any(|at| self.declares_constructor(at, tag));
    }

    /// Whether a constructor is declared at a place whose body stands elsewhere.
    fn declares_constructor(&self, at: usize, tag: &[u8]) -> bool {
        let is_constructor = self.word(at) == Some(tag)
            && self.text(at + 1) == b"("
            && (matches!(self.text(at.wrapping_sub(1)), b";" | b"{" | b"}" | b":")
                || matches!(self.text(at.wrapping_sub(1)), b"explicit" | b"constexpr" | b"inline"));
        let mut end = self.behind(at + 1);
        while self.text(end) == b"noexcept" {
            end += 1;
        }
        is_constructor && self.text(end) == b";"
    }

    fn base_clause(&mut self, bases: &mut Vec<Member<'t>>) -> bool {
        let from = self.at;
        for at in from..from + 40 {
            match self.text(at) {
                b"{" => {
                    let words = self.pieces.get(from..at).unwrap_or_default().iter();
                    let words = words.filter(|piece| {
                        piece.kind == Kind::Word
                            && !STATEMENT_WORDS.has(piece.text)
                            && !SILENT_WORDS.has(piece.text)
                    });
                    bases.extend(
                        words
                            .filter(|piece| self.is_type(piece.text))
                            .map(|piece| Member { ty: Type::Named(piece.text), ..Member::default() }),
                    );
                    self.at = at;
                    return true;
                }
                b";" | b")" | b"" => break,
                _ => {}
            }
        }
        false
    }

    /// The declared name behind a body.
    fn name_behind(&self) -> &'t [u8] {
        let mut at = self.at;
        while matches!(self.text(at), b"*" | b"const") {
            at += 1;
        }
        self.word(at).unwrap_or_default()
    }

    pub(in crate::meaning) fn members(&mut self, end: usize, record: &mut Record<'t>) {
        if self.depth >= DEEPEST {
            return;
        }
        self.depth += 1;
        while self.at < end {
            let start = self.at;
            self.member(end, record);
            if self.at <= start {
                self.at = start + 1;
            }
        }
        self.depth -= 1;
    }

    pub(in crate::meaning) fn member(&mut self, end: usize, record: &mut Record<'t>) {
        if matches!(self.here(), b"public" | b"private" | b"protected") {
            self.at += 1;
        }
        if self.eat(b";") || self.eat(b":") {
            return;
        }
        let met = self.met.records.len();
        let is_static = self.is(b"static");
        if self.conversion(end) {
            return;
        }
        let first = self.at;
        let Some(found) = self.specifiers(true) else {
            return self.macro_member(end, record);
        };
        let words = self.words_of(first);
        let said = self.pieces.get(first..self.at).unwrap_or_default();
        let is_volatile = said.iter().any(|piece| matches!(piece.text, b"volatile" | b"__volatile__"));
        let is_unnamed = found.ty == Type::Record(b"") || found.is_definition && self.is(b";");
        if is_unnamed && self.is(b";") {
            if let Some((_, inner)) = self.met.records.get(met..).and_then(|met| met.last()).cloned() {
                if inner.is_union {
                    self.met.unions.push((inner.line, inner.members.clone()));
                }
                record.members.extend(inner.members);
            }
            self.at += 1;
            return;
        }
        loop {
            let before = self.at;
            let declared = self.declarator(&found.ty);
            let is_field = declared.as_ref().is_none_or(|declared| declared.function.is_none());
            let bits = if is_field { self.bits(end) } else { None };
            let mut silent = Specifiers::default();
            while self.skip_silent(&mut silent) {}
            self.default_list(declared.as_ref().filter(|_| is_field).map(|declared| &declared.ty));
            let default = self.at;
            if self.is(b"=")
                || self.is(b"{") && declared.as_ref().is_none_or(|declared| declared.function.is_none())
            {
                self.skip_value(end);
            }
            let default = default..self.at;
            let with_default = declared
                .as_ref()
                .filter(|_| is_field && !is_static && !default.is_empty() && self.world.has_cpp);
            record.defaults.extend(with_default.map(|declared| self.default_value(declared.name, default)));
            let is_function = declared.as_ref().is_some_and(|declared| declared.function.is_some());
            let body =
                declared.as_ref().and_then(|declared| Some((declared.name, declared.function.clone()?)));
            if let Some(declared) = declared.filter(|declared| {
                !is_function && !is_static && !found.is_typedef && !declared.name.is_empty()
            }) {
                let (name, ty, words) = (declared.name, declared.ty, words.clone());
                let is_volatile = is_volatile && !matches!(ty, Type::Pointer(_));
                record.members.push(Member { name, ty, words, bits, is_volatile });
            }
            if is_function && self.at < end && self.method(end, body) {
                return;
            }
            if !self.eat(b",") || self.at <= before {
                break;
            }
        }
        while self.at < end && !self.eat(b";") {
            self.at =
                if matches!(self.here(), b"(" | b"{" | b"[") { self.behind(self.at) } else { self.at + 1 };
        }
    }

    /// The bits of a bit-field, whose colon stands here; 0 if they aren't a number.
    fn bits(&mut self, end: usize) -> Option<u32> {
        if !self.eat(b":") {
            return None;
        }
        let start = self.at;
        while self.at < end && !matches!(self.here(), b"," | b";") {
            self.at += 1;
        }
        let inside = self.pieces.get(start..self.at).unwrap_or_default();
        let number = match inside {
            [only] => std::str::from_utf8(only.text).ok().and_then(|text| text.parse().ok()),
            _ => None,
        };
        Some(number.unwrap_or(0))
    }

    /// The words of a member's type from a place to here, with the sign of a reference; in C++ only.
    fn words_of(&self, first: usize) -> Vec<&'t [u8]> {
        let is_reference = matches!(self.here(), b"&" | b"&&");
        let end = self.at + usize::from(is_reference);
        let words = self.pieces.get(first..end).filter(|_| self.world.has_cpp).unwrap_or_default();
        words.iter().take(MOST_WORDS).map(|piece| piece.text).collect()
    }

    /// `operator const char *() const`; whether the member ends with it.
    fn conversion(&mut self, end: usize) -> bool {
        while self.is(b"explicit") {
            self.at += 1;
        }
        let is_conversion = self.is(b"operator")
            && self.word(self.at + 1).is_some()
            && self.text(self.at + 1) != b"new"
            && self.text(self.at + 1) != b"delete";
        is_conversion
            && self.declarator(&Type::Unknown).is_some_and(|declared| {
                let name = declared.name;
                declared.function.is_some_and(|function| self.method(end, Some((name, function))))
            })
    }

    /// Unknown macros: `DECLARE_BITMAP(name, bits)`.
    fn macro_member(&mut self, end: usize, record: &mut Record<'t>) {
        let named = self.pieces.get(self.at..end).unwrap_or_default();
        let stop = named.iter().position(|piece| piece.text == b";").map_or(end, |at| self.at + at);
        if self.word(self.at).is_some() && self.text(self.at + 1) == b"(" {
            let words = self.pieces.get(self.at + 2..stop).unwrap_or_default();
            let name = words.iter().find(|piece| piece.kind == Kind::Word);
            record.members.extend(name.map(|piece| Member { name: piece.text, ..Member::default() }));
        }
        self.at = stop + 1;
    }

    /// The body of a function in a class, if one stands here.
    fn method(&mut self, end: usize, body: Option<(&'t [u8], Function<'t>)>) -> bool {
        let start = self.at;
        while self.at < end && !matches!(self.here(), b";" | b"{") {
            let is_value = self.text(start) == b":"
                && self.word(self.at).is_some()
                && matches!(self.text(self.at + 1), b"(" | b"{");
            self.at = if is_value { self.behind(self.at + 1) } else { self.at + 1 };
        }
        if !self.is(b"{") {
            return false;
        }
        self.at = self.behind(self.at);
        if let Some((name, function)) = body {
            self.met.bodies.push(Body { name, function, range: start..self.at, class: None });
        }
        true
    }

    /// The default of a member, which stands in a range.
    fn default_value(&self, member: &'t [u8], range: Range<usize>) -> DefaultValue<'t> {
        let inside = self.pieces.get(range.clone()).unwrap_or_default();
        let is_change = |text: &[u8]| matches!(text, b"++" | b"--" | b"__COUNTER__" | b"__LINE__");
        let is_literal = |text: &[u8]| matches!(text, b"true" | b"false" | b"nullptr" | b"NULL");
        let is_called = |at: &usize| self.word(*at).is_some() && self.text(at + 1) == b"(";
        DefaultValue {
            member,
            changes: inside.iter().any(|piece| is_change(piece.text)),
            reads: inside.iter().any(|piece| piece.kind == Kind::Word && !is_literal(piece.text)),
            calls: range.filter(is_called).map(|at| self.text(at)).collect(),
        }
    }

    /// Keeps where a default stands that is a list.
    pub(in crate::meaning) fn default_list(&mut self, ty: Option<&Type<'t>>) {
        let at = self.at + usize::from(self.is(b"="));
        if let Some(ty) = ty.filter(|_| self.text(at) == b"{") {
            self.met.defaults.push((ty.clone(), at));
        }
    }

    pub(in crate::meaning) fn skip_value(&mut self, end: usize) {
        while self.at < end && !matches!(self.here(), b"," | b";") {
            self.at =
                if matches!(self.here(), b"(" | b"{" | b"[") { self.behind(self.at) } else { self.at + 1 };
        }
    }
}

/// Whether `= default` or `= delete` stands behind an operator's parameters.
fn is_defaulted(cursor: &Cursor<'_, '_, '_>, at: usize) -> bool {
    let end = cursor.behind(at + 2);
    (end..end + 3).any(|at| matches!(cursor.text(at), b"default" | b"delete"))
}
