//! A place in pieces, and how types and declarators are read there.

use super::stream::{Kind, Piece};
use super::types::{Function, Member, Record, Type, World};
use rustc_hash::FxHashSet;
use std::sync::{Arc, LazyLock};

/// Deepest nesting that is read.
const DEEPEST: usize = 60;

/// Words that say nothing of a type.
const SILENT: &str = " const volatile static extern inline register typedef restrict __restrict __restrict__ \
    __inline __inline__ __always_inline noinline __extension__ _Noreturn constexpr mutable explicit virtual friend auto_ \
    _Thread_local thread_local __thread __const __volatile__ typename final override noexcept __user __iomem __percpu \
    __rcu __init __exit __initdata __read_mostly asmlinkage __ro_after_init __force __kernel __must_check \
    __maybe_unused __packed __cold __hot notrace consteval constinit _Atomic const_ __signed__ __private __refdata ";
const NUMBERS: &str = " char short int long float double signed unsigned _Bool bool __int128 _Float128 wchar_t char8_t \
    char16_t char32_t ";
const ATTRIBUTES: &str = " __attribute__ __attribute _Alignas alignas __aligned __declspec __printf __section \
    __asm__ asm __asm __acquires __releases __must_hold __counted_by __alloc_size __printf_like ";
/// Words of statements and operators, which begin no type.
const STATEMENTS: &str = " return if else while for do switch case default goto break continue sizeof _Alignof alignof \
    throw new delete this operator using static_assert _Static_assert __builtin_offsetof offsetof not and or catch try \
    asm __asm__ __asm co_return co_await public private protected ";

/// Whether a word is one of a short list of words between blanks.
pub(super) fn is_among(list: &str, word: &[u8]) -> bool {
    !word.is_empty() && list.as_bytes().split(|byte| *byte == b' ').any(|known| known == word)
}

/// A long list of words.
pub(super) struct Words(LazyLock<FxHashSet<&'static [u8]>>);

impl Words {
    fn has(&self, word: &[u8]) -> bool {
        self.0.contains(word)
    }
}

fn split(list: &'static str) -> FxHashSet<&'static [u8]> {
    list.as_bytes().split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect()
}

static SILENT_WORDS: Words = Words(LazyLock::new(|| split(SILENT)));
static STATEMENT_WORDS: Words = Words(LazyLock::new(|| split(STATEMENTS)));

/// Declarations that are met on the way: definitions of structs and enums.
#[derive(Clone, Debug, Default)]
pub(super) struct Met<'t> {
    pub(super) records: Vec<(&'t [u8], Record<'t>)>,
    pub(super) declared: Vec<&'t [u8]>,
    pub(super) typedefs: Vec<(&'t [u8], Type<'t>)>,
    /// Values of enums: where their expressions stand.
    pub(super) enums: Vec<std::ops::Range<usize>>,
    /// Bodies of functions inside classes.
    pub(super) bodies: Vec<Body<'t>>,
    /// Members of unnamed unions, with their lines.
    pub(super) unions: Vec<(u32, Vec<Member<'t>>)>,
}

/// A function's body.
#[derive(Clone, Debug, Default)]
pub(super) struct Body<'t> {
    pub(super) name: &'t [u8],
    pub(super) function: Function<'t>,
    /// What stands between the parameters and the brace, and the text in braces, braces included.
    pub(super) range: std::ops::Range<usize>,
    /// The class it belongs to.
    pub(super) class: Option<&'t [u8]>,
}

/// A name with its type.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared<'t> {
    pub(super) name: &'t [u8],
    pub(super) ty: Type<'t>,
    pub(super) function: Option<Function<'t>>,
    /// Where the sizes of arrays stand.
    pub(super) dimensions: Vec<std::ops::Range<usize>>,
}

/// What stands in front of declarators.
#[derive(Clone, Debug, Default)]
pub(super) struct Specifiers<'t> {
    pub(super) ty: Type<'t>,
    pub(super) is_typedef: bool,
    pub(super) is_static: bool,
    pub(super) is_packed: bool,
    /// Whether the type has its body here.
    pub(super) is_definition: bool,
    /// `auto`, `typeof`: where the expression stands.
    pub(super) of: Option<std::ops::Range<usize>>,
    /// Whether it is `auto`.
    pub(super) is_auto: bool,
}

/// Reads pieces.
#[derive(Debug)]
pub(super) struct Cursor<'w, 'p, 't> {
    pub(super) world: &'w World<'t>,
    pub(super) pieces: &'p [Piece<'t>],
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) file: usize,
    pub(super) packs: &'p [(u32, bool)],
    pub(super) met: Met<'t>,
}

impl<'t> Cursor<'_, '_, 't> {
    pub(super) fn text(&self, at: usize) -> &'t [u8] {
        self.pieces.get(at).map_or(b"", |piece| piece.text)
    }

    pub(super) fn here(&self) -> &'t [u8] {
        self.text(self.at)
    }

    pub(super) fn is(&self, text: &[u8]) -> bool {
        self.here() == text
    }

    pub(super) fn word(&self, at: usize) -> Option<&'t [u8]> {
        self.pieces.get(at).filter(|piece| piece.kind == Kind::Word).map(|piece| piece.text)
    }

    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let is = self.is(text) && self.at < self.pieces.len();
        self.at += usize::from(is);
        is
    }

    /// The place behind the bracket that closes the one here; the next place if none does.
    pub(super) fn behind(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for (at, piece) in self.pieces.iter().enumerate().skip(open) {
            if piece.kind != Kind::Sign {
                continue;
            }
            match piece.text {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        open + 1
    }

    /// Skips attributes, and words that say nothing of a type.
    fn skip_silent(&mut self, found: &mut Specifiers<'t>) -> bool {
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
    pub(super) fn specifiers(&mut self, may_be_unknown: bool) -> Option<Specifiers<'t>> {
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
                found.of = Some(self.at + 2..end.saturating_sub(1));
                (self.at, is_known) = (end, true);
            } else if matches!(word, b"auto" | b"__auto_type") {
                (found.is_auto, is_known) = (true, true);
                self.at += 1;
            } else if STATEMENT_WORDS.has(word) {
                break;
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
            if self.is(b"<") && !is_known {
                self.skip_angles();
            }
            return Some(Type::Named(word));
        }
        None
    }

    fn skip_angles(&mut self) {
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

    /// Whether a type's name stands here.
    pub(super) fn begins_type(&self) -> bool {
        is_among(NUMBERS, self.here()) || self.is(b"void") || self.is_type(self.here())
    }

    pub(super) fn is_type(&self, word: &[u8]) -> bool {
        self.world.typedefs.contains_key(word)
            || self.met.typedefs.iter().any(|(name, _)| *name == word)
            || self.world.records.contains_key(word) && !self.world.globals.contains_key(word)
            || (word.ends_with(b"_t") || super::types::fixed_width(word).is_some())
                && !self.world.globals.contains_key(word)
                && !self.world.functions.contains_key(word)
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

    /// `struct tag`, or a definition.
    fn record(&mut self) -> Option<(Type<'t>, bool)> {
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
        self.members(end.saturating_sub(1), &mut record);
        self.at = end;
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
                            .map(|piece| Member { name: b"", ty: Type::Named(piece.text) }),
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

    fn members(&mut self, end: usize, record: &mut Record<'t>) {
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

    fn member(&mut self, end: usize, record: &mut Record<'t>) {
        if matches!(self.here(), b"public" | b"private" | b"protected") {
            self.at += 1;
        }
        if self.eat(b";") || self.eat(b":") {
            return;
        }
        let met = self.met.records.len();
        let is_static = self.is(b"static");
        let Some(found) = self.specifiers(true) else {
            // Unknown macros: `DECLARE_BITMAP(name, bits)`.
            let named = self.pieces.get(self.at..end).unwrap_or_default();
            let stop = named.iter().position(|piece| piece.text == b";").map_or(end, |at| self.at + at);
            if self.word(self.at).is_some() && self.text(self.at + 1) == b"(" {
                let words = self.pieces.get(self.at + 2..stop).unwrap_or_default();
                let name = words.iter().find(|piece| piece.kind == Kind::Word);
                record.members.extend(name.map(|piece| Member { name: piece.text, ty: Type::Unknown }));
            }
            self.at = stop + 1;
            return;
        };
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
            if self.eat(b":") {
                while self.at < end && !matches!(self.here(), b"," | b";") {
                    self.at += 1;
                }
            }
            let mut silent = Specifiers::default();
            while self.skip_silent(&mut silent) {}
            if self.is(b"=")
                || self.is(b"{") && declared.as_ref().is_none_or(|declared| declared.function.is_none())
            {
                self.skip_value(end);
            }
            let is_function = declared.as_ref().is_some_and(|declared| declared.function.is_some());
            let body =
                declared.as_ref().and_then(|declared| Some((declared.name, declared.function.clone()?)));
            if let Some(declared) = declared.filter(|declared| {
                !is_function && !is_static && !found.is_typedef && !declared.name.is_empty()
            }) {
                record.members.push(Member { name: declared.name, ty: declared.ty });
            }
            if is_function && self.at < end {
                let start = self.at;
                while self.at < end && !matches!(self.here(), b";" | b"{") {
                    let is_value = self.text(start) == b":"
                        && self.word(self.at).is_some()
                        && matches!(self.text(self.at + 1), b"(" | b"{");
                    self.at = if is_value { self.behind(self.at + 1) } else { self.at + 1 };
                }
                if self.is(b"{") {
                    self.at = self.behind(self.at);
                    if let Some((name, function)) = body {
                        self.met.bodies.push(Body { name, function, range: start..self.at, class: None });
                    }
                    return;
                }
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

    fn skip_value(&mut self, end: usize) {
        while self.at < end && !matches!(self.here(), b"," | b";") {
            self.at =
                if matches!(self.here(), b"(" | b"{" | b"[") { self.behind(self.at) } else { self.at + 1 };
        }
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

    /// A declarator behind a type: pointers, the name, arrays, parameters. The name may be missing.
    pub(super) fn declarator(&mut self, base: &Type<'t>) -> Option<Declared<'t>> {
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
                || self.word(self.at + 1).is_some()
                    && self.text(self.at + 2) == b")"
                    && self.text(self.at + 3) != b";");
        if is_inner && (self.text(self.at + 1) != b")") {
            return self.nested(ty);
        }
        let mut name = b"".as_slice();
        if let Some(word) =
            self.word(self.at).filter(|word| !STATEMENT_WORDS.has(word) || *word == b"operator")
        {
            name = word;
            self.at += 1;
            while self.is(b"::") && self.word(self.at + 1).is_some() {
                name = self.text(self.at + 1);
                self.at += 2;
            }
        }
        let mut declared = Declared { name, ty, ..Declared::default() };
        while self.skip_silent(&mut silent) {}
        self.suffixes(&mut declared);
        Some(declared)
    }

    /// `(*name)(…)`, `(*name[4])(…)`.
    fn nested(&mut self, ty: Type<'t>) -> Option<Declared<'t>> {
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
        first.is_none_or(|first| {
            first.kind == Kind::Word
                && (first.text != b"this" && first.text != b"sizeof" && first.text != b"new")
                && !matches!(self.text(self.at + 2), b"." | b"->" | b"+" | b"-")
                && (!self.world.globals.contains_key(first.text) || self.is_type(first.text))
                || matches!(first.text, b")" | b"...")
        })
    }

    fn parameters(&mut self, end: usize) -> Vec<(Option<&'t [u8]>, Type<'t>)> {
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

fn number<'t>(words: &[&'t [u8]]) -> Type<'t> {
    let has = |word: &[u8]| words.contains(&word);
    let count = words.iter().filter(|word| **word == b"long").count();
    let first = words.first().copied().unwrap_or_default();
    match () {
        () if has(b"char") || has(b"char8_t") => Type::Byte,
        () if has(b"double") => Type::Number(b"double", if count > 0 { 16 } else { 8 }),
        () if has(b"float") => Type::Number(b"float", 4),
        () if has(b"short") => Type::Number(b"short", 2),
        () if has(b"bool") || has(b"_Bool") => Type::Number(b"bool", 1),
        () if has(b"__int128") => Type::Number(first, 16),
        () if count > 0 => Type::Number(b"long", 8),
        () => Type::Number(b"int", 4),
    }
}
