//! The words of a type in front of declarators.

use crate::meaning::syntax::cursor::{Cursor, Specifiers};
use crate::meaning::syntax::words::{ATTRIBUTES, NUMBERS, SILENT_WORDS, STATEMENT_WORDS, is_among};
use crate::meaning::types::Type;

impl<'t> Cursor<'_, '_, 't> {
    /// Skips attributes, and words that say nothing of a type.
    pub(in crate::meaning) fn skip_silent(&mut self, found: &mut Specifiers<'t>) -> bool {
        let word = self.here();
        if SILENT_WORDS.has(word) {
            found.is_typedef |= word == b"typedef";
            found.is_static |= word == b"static";
            found.is_packed |= word == b"__packed";
            self.at += 1;
            return true;
        }
        if is_among(ATTRIBUTES, word) && self.text(self.at + 1) == b"(" {
            let end = self.behind(self.at + 1);
            let inside = self.pieces.get(self.at..end).unwrap_or_default();
            found.is_packed |= inside.iter().any(|piece| matches!(piece.text, b"packed" | b"__packed__"));
            found.is_vector |=
                inside.iter().any(|piece| matches!(piece.text, b"vector_size" | b"__vector_size__"));
            self.at = end;
            return true;
        }
        if word == b"[" && self.text(self.at + 1) == b"[" {
            self.at = self.behind(self.at);
            return true;
        }
        false
    }

    /// Reads a type's words. `may_be_unknown`: a name that nobody declares may be one.
    pub(in crate::meaning) fn specifiers(&mut self, may_be_unknown: bool) -> Option<Specifiers<'t>> {
        let start = self.at;
        let mut found = Specifiers::default();
        let mut is_known = false;
        let mut numbers: Vec<&'t [u8]> = Vec::new();
        while self.at < self.pieces.len() {
            if self.skip_silent(&mut found) {
                continue;
            }
            let Some(word) = self.word(self.at) else { break };
            if is_among(NUMBERS, word) {
                numbers.push(word);
                self.at += 1;
            } else if is_known || !numbers.is_empty() {
                break;
            } else if matches!(word, b"struct" | b"union" | b"class") {
                (found.ty, found.is_definition) = self.record()?;
                is_known = true;
            } else if word == b"enum" {
                self.enumeration();
                found.ty = Type::Number(b"enum", 4);
                is_known = true;
            } else if word == b"void" {
                (found.ty, is_known) = (Type::Void, true);
                self.at += 1;
            } else if matches!(word, b"typeof" | b"__typeof__" | b"__typeof" | b"decltype" | b"typeof_unqual")
                && self.text(self.at + 1) == b"("
            {
                let end = self.behind(self.at + 1);
                found.owner = Some(self.at + 2..end.saturating_sub(1));
                (self.at, is_known) = (end, true);
            } else if matches!(word, b"auto" | b"__auto_type") {
                (found.is_auto, is_known) = (true, true);
                self.at += 1;
            } else if STATEMENT_WORDS.has(word) {
                break;
            } else if may_be_unknown && !self.is_type(word) && begins_type(self.text(self.at + 1)) {
                // `VISIBLE struct s *f()`: a macro that nobody defines.
                self.at += 1;
            } else if let Some(ty) = self.name_of_type(word, may_be_unknown) {
                (found.ty, is_known) = (ty, true);
            } else {
                break;
            }
        }
        if !numbers.is_empty() {
            (found.ty, is_known) = (number(&numbers), true);
        }
        if !is_known {
            self.at = start;
            return None;
        }
        Some(found)
    }

    /// A type's name, perhaps one that nobody declares.
    fn name_of_type(&mut self, word: &'t [u8], may_be_unknown: bool) -> Option<Type<'t>> {
        let mut at = self.at;
        let mut word = word;
        while self.text(at + 1) == b"::" && self.word(at + 2).is_some() {
            at += 2;
            word = self.text(at);
        }
        let is_known = self.is_type(word);
        if is_known || may_be_unknown && self.looks_like_type(at) {
            self.at = at + 1;
            if self.is(b"<") && (!is_known || self.world.templates.contains(word)) {
                self.skip_angles();
            }
            return Some(Type::Named(word));
        }
        if may_be_unknown && let Some((name, behind)) = self.template_type(at) {
            self.at = behind;
            return Some(Type::Named(name));
        }
        None
    }

    /// `vector<unsigned char> name`, `map<int, T>::iterator name`: the type's last word, and the place behind it.
    fn template_type(&mut self, at: usize) -> Option<(&'t [u8], usize)> {
        let start = std::mem::replace(&mut self.at, at + 1);
        let mut name = self.text(at);
        while self.is(b"<") {
            let open = self.at;
            self.skip_angles();
            let inside = self.pieces.get(open..self.at).unwrap_or_default();
            if inside.is_empty() || inside.iter().any(|piece| is_among(" && || == != ? = ", piece.text)) {
                break;
            }
            if self.is(b"::") && self.word(self.at + 1).is_some() {
                name = self.text(self.at + 1);
                self.at += 2;
            }
        }
        let behind = std::mem::replace(&mut self.at, start);
        let is_closed =
            self.text(behind.wrapping_sub(1)) == b">" || self.text(behind.wrapping_sub(2)) == b"::";
        let is_type = self.text(at + 1) == b"<" && is_closed && self.names_follow(behind);
        is_type.then_some((name, behind))
    }

    /// Whether a declarator's name stands at a place, perhaps behind stars.
    fn names_follow(&self, at: usize) -> bool {
        let mut next = at;
        while is_among(" * & && const ", self.text(next)) {
            next += 1;
        }
        self.word(next).is_some_and(|name| !STATEMENT_WORDS.has(name))
    }

    pub(in crate::meaning) fn skip_angles(&mut self) {
        let start = self.at;
        let mut depth = 0_usize;
        for _ in 0..200 {
            match self.here() {
                b"<" => depth += 1,
                b">" => depth = depth.saturating_sub(1),
                b">>" => depth = depth.saturating_sub(2),
                b";" | b"{" | b"" => break,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
        self.at = start;
    }

    /// A name followed by a name, or by stars and a name: a declaration, as nobody multiplies for nothing.
    fn looks_like_type(&self, at: usize) -> bool {
        let mut next = at + 1;
        if self.text(next) == b"<" {
            return false;
        }
        let mut stars = 0;
        while matches!(
            self.text(next),
            b"*" | b"const"
                | b"volatile"
                | b"restrict"
                | b"__restrict"
                | b"&"
                | b"&&"
                | b"__user"
                | b"__iomem"
                | b"__rcu"
        ) {
            stars += 1;
            next += 1;
        }
        let Some(name) = self.word(next) else { return stars > 0 && self.text(next) == b")" };
        if STATEMENT_WORDS.has(name) {
            return false;
        }
        stars == 0 || matches!(self.text(next + 1), b";" | b"=" | b"," | b"[" | b")" | b"(" | b"{" | b":")
    }

    fn enumeration(&mut self) {
        self.at += 1;
        if matches!(self.here(), b"class" | b"struct") {
            self.at += 1;
        }
        let mut silent = Specifiers::default();
        while self.skip_silent(&mut silent) {}
        if self.word(self.at).is_some() {
            self.at += 1;
        }
        if self.is(b":") {
            while !matches!(self.here(), b"{" | b";" | b"") {
                self.at += 1;
            }
        }
        if self.is(b"{") {
            let end = self.behind(self.at);
            self.met.enums.push(self.at + 1..end.saturating_sub(1));
            self.at = end;
        }
    }
}

pub(in crate::meaning) fn number<'t>(words: &[&'t [u8]]) -> Type<'t> {
    let has = |word: &[u8]| words.contains(&word);
    let count = words.iter().filter(|word| **word == b"long").count();
    let first = words.first().copied().unwrap_or_default();
    match () {
        () if has(b"char") || has(b"char8_t") => Type::Byte,
        () if has(b"complex") || has(b"_Complex") || has(b"__complex__") => {
            Type::Number(b"complex", if has(b"float") { 8 } else { 16 })
        }
        () if has(b"double") => Type::Number(b"double", if count > 0 { 16 } else { 8 }),
        () if has(b"float") => Type::Number(b"float", 4),
        () if has(b"short") => Type::Number(b"short", 2),
        () if has(b"bool") || has(b"_Bool") => Type::Number(b"bool", 1),
        () if has(b"__int128") => Type::Number(first, 16),
        () if count > 0 => Type::Number(b"long", 8),
        () => Type::Number(b"int", 4),
    }
}

/// Whether a word can only be the first of a type.
fn begins_type(word: &[u8]) -> bool {
    is_among(NUMBERS, word) || is_among(" struct union enum void ", word)
}
