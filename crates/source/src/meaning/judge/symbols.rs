//! Symbols: names that the linker and assembler code give to objects and functions.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::stream::Kind;
use crate::meaning::types::{Type, innermost};
use crate::meaning::value::{Base, Sum, Value};
use crate::uses::UseDemand;

/// Most words between a declaration's type and an attribute.
const DECLARATION: usize = 14;

/// Most parameters of a function with two names.
const PARAMETERS: usize = 6;

/// Words in a text in quotes.
pub(in crate::meaning) fn words_in(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    text.split(move |byte| !is_word(byte)).filter(|word| word.len() > 1)
}

/// Beginnings of the names that the linker gives the ends of a section.
const EDGES: [&[u8]; 2] = [b"__start_", b"__stop_"];

/// A text without its quotes.
fn unquoted(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text)
}

/// Whether the text of a pragma gives a name another symbol.
fn gives_name(text: &[u8]) -> bool {
    let text = unquoted(text).trim_ascii_start();
    text.starts_with(b"weak") || text.starts_with(b"redefine_extname")
}

/// The last name in a symbol of C++: `active` of `_ZN6engine6activeE`.
pub(in crate::meaning) fn mangled(symbol: &[u8]) -> Option<&[u8]> {
    let mut rest = symbol.strip_prefix(b"_Z")?;
    rest = rest.strip_prefix(b"N").unwrap_or(rest);
    // Marks of constness, and of a name in an unnamed namespace.
    rest = rest.trim_ascii_start();
    while let [b'K' | b'V' | b'L', more @ ..] = rest {
        rest = more;
    }
    let mut last = None;
    loop {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (length, behind) = rest.split_at(digits);
        let length: Option<usize> = std::str::from_utf8(length).ok().and_then(|text| text.parse().ok());
        let Some(name) = length.and_then(|length| behind.get(..length)) else { return last };
        rest = behind.get(name.len()..).unwrap_or_default();
        last = Some(name);
    }
}

impl<'t> Evaluator<'_, '_, 't> {
    /// Names of objects that the linker is told: others read them as something else.
    pub(in crate::meaning) fn symbols(&mut self) {
        let world = self.world();
        let pieces = self.cursor.pieces;
        for (at, piece) in pieces.iter().enumerate() {
            let is_open = self.cursor.text(at + 1) == b"(";
            match piece.text {
                b"asm" | b"__asm__" if is_open && world.is_complete => self.symbols_said(at),
                b"_Pragma" if is_open && world.is_complete && gives_name(self.cursor.text(at + 2)) => {
                    self.symbols_said(at);
                }
                b"ifunc" | b"__ifunc__" | b"alias" | b"__alias__" | b"weakref" | b"__weakref__"
                    if is_open =>
                {
                    self.other_name(at);
                }
                _ => {}
            }
            match piece.text {
                b"alias" | b"__alias__" | b"weakref" | b"__weakref__" | b"asm" | b"__asm__" if is_open => {
                    let ty = self.named_by_symbol(unquoted(self.cursor.text(at + 2)));
                    if let Some(Type::Record(record)) = ty {
                        let what = "another symbol is given its address".to_owned();
                        self.tell_at(record, piece.line, UseDemand::Whole, Vec::new(), what);
                    } else if let Some(record) = self.labelled(at).filter(|_| world.is_complete) {
                        let what = "a symbol is its name that others may declare in another way".to_owned();
                        self.tell_at(record, piece.line, UseDemand::Whole, Vec::new(), what);
                    }
                }
                b"section" | b"__section__" if is_open && world.is_complete => {
                    self.address_in_section(at);
                    let Some(record) = self.declared_before(at).or_else(|| self.declared_behind(at)) else {
                        continue;
                    };
                    let what = "it is put into a section, where others walk it".to_owned();
                    self.tell_at(record, piece.line, UseDemand::Whole, Vec::new(), what);
                }
                b"cleanup" | b"__cleanup__" if is_open => {
                    if let Some(name) = self.cursor.word(at + 2) {
                        self.cleaned_up(at, name);
                    }
                }
                _ => {}
            }
        }
    }

    /// A function that is handed the address of a variable when its scope ends.
    fn cleaned_up(&mut self, at: usize, name: &'t [u8]) {
        let world = self.world();
        let from = at.saturating_sub(DECLARATION);
        let is_edge = |at: &usize| matches!(self.cursor.text(*at), b";" | b"}" | b"{" | b"(" | b")" | b",");
        // Attributes stand in brackets, in front of the type or behind the name.
        let before = (from..at).rev().skip_while(|at| self.is_attribute(*at)).take_while(|at| !is_edge(at));
        let end = self.cursor.behind(at + 1);
        let behind = (end..end + DECLARATION).skip_while(|at| self.cursor.text(*at) == b")");
        let behind = behind.take_while(|at| !is_edge(at) && self.cursor.text(*at) != b"=");
        let typed = |at: usize| match world.resolve(&Type::Named(self.cursor.word(at)?)) {
            Type::Record(record) => Some((record, self.cursor.text(at + 1) == b"*")),
            Type::Pointer(inner) => match world.resolve(&inner) {
                Type::Record(record) => Some((record, true)),
                _ => None,
            },
            _ => None,
        };
        let Some((record, is_pointer)) = before.chain(behind).find_map(typed) else { return };
        let base = if is_pointer { Base::Content(record) } else { Base::Object(record) };
        let sums = vec![Sum { base: Some(base), terms: Vec::new() }];
        let function = world.functions.get(name);
        self.keep(Slot::Parameter(function.and_then(|function| function.home), name, 0), &sums);
        if let Some((_, ty)) = function.and_then(|function| function.parameters.first()) {
            self.convert(&Value::sums(Type::Void.pointer(), sums), ty, false);
        }
    }

    /// Whether a piece is the beginning of an attribute, in front of its name.
    fn is_attribute(&self, at: usize) -> bool {
        matches!(self.cursor.text(at), b"(" | b"__attribute__" | b"__attribute" | b"[" | b"gnu" | b"::")
    }

    /// The type of the variable that a symbol is the name of.
    pub(in crate::meaning) fn named_by_symbol(&self, symbol: &[u8]) -> Option<Type<'t>> {
        let world = self.world();
        let ty = world.globals.get(symbol).or_else(|| world.globals.get(mangled(symbol)?))?;
        Some(innermost(world, ty))
    }

    /// The subject whose name stands a few words in front.
    fn declared_before(&self, at: usize) -> Option<&'t [u8]> {
        let from = at.saturating_sub(DECLARATION);
        let words = self.cursor.pieces.get(from..at)?.iter().rev();
        let mut words = words.take_while(|piece| !matches!(piece.text, b";" | b"}" | b"{"));
        let found = words.find(|piece| self.world().subjects.contains_key(piece.text))?;
        Some(found.text)
    }

    /// The subject whose object, not a pointer to it, has a name of the assembler's: `struct s object asm("symbol")`.
    fn labelled(&self, at: usize) -> Option<&'t [u8]> {
        let [tag, name] = [at.checked_sub(2)?, at.checked_sub(1)?];
        self.cursor.word(name)?;
        self.world().subjects.get_key_value(self.cursor.text(tag)).map(|(tag, _)| *tag)
    }

    /// The subject that is declared behind an attribute that stands in front.
    fn declared_behind(&self, at: usize) -> Option<&'t [u8]> {
        let words = self.cursor.pieces.get(self.cursor.behind(at + 1)..)?.iter().take(DECLARATION);
        // Not a function's parameters.
        let mut words = words.take_while(|piece| !matches!(piece.text, b";" | b"=" | b"{" | b"("));
        let found = words.find(|piece| self.world().subjects.contains_key(piece.text))?;
        Some(found.text)
    }

    /// Objects that assembler code says the names of.
    fn symbols_said(&mut self, at: usize) {
        let end = self.cursor.behind(at + 1);
        let inside = self.cursor.pieces.get(at + 1..end).unwrap_or_default();
        let texts = inside.iter().take_while(|piece| !matches!(piece.text, b":" | b"::"));
        for piece in texts.filter(|piece| piece.kind == Kind::Quoted) {
            for word in words_in(piece.text) {
                // What follows a backslash is a letter of the text's own.
                let names = [word, word.get(1..).unwrap_or_default()];
                let known = names.iter().find_map(|name| self.named_by_symbol(name));
                if let Some(Type::Record(record)) = known {
                    let what = "assembler code says its name".to_owned();
                    self.tell_at(record, piece.line, UseDemand::Whole, Vec::new(), what);
                }
            }
        }
    }

    /// Rows between the ends of a section that assembler code says the name of: it may write them.
    pub(in crate::meaning) fn section_is_written(&mut self, name: &[u8], ty: &Type<'t>, line: u32) {
        let section = EDGES.iter().find_map(|edge| name.strip_prefix(*edge));
        let is_said = section.is_some_and(|section| self.world().assembler.contains(section));
        if let (true, Type::Record(record)) = (is_said, innermost(self.world(), ty)) {
            let what = "assembler code may write to its section".to_owned();
            self.tell_at(record, line, UseDemand::Whole, Vec::new(), what);
        }
    }

    /// A variable that others may know by its name, or a pointer to an object: assembler code that says the name counts
    /// bytes from there.
    pub(in crate::meaning) fn said_by_assembler(&mut self, name: &[u8], ty: &Type<'t>, line: u32) {
        let world = self.world();
        if !world.is_complete || !world.assembler.contains(name) {
            return;
        }
        let ty = innermost(world, ty);
        let ty = if let Type::Pointer(inner) = &ty { innermost(world, inner) } else { ty };
        if let Type::Record(record) = ty {
            let what = "assembler code says its name".to_owned();
            self.tell_at(record, line, UseDemand::Whole, Vec::new(), what);
        }
    }

    /// A second name of a function: what it is handed, the first is handed.
    fn other_name(&mut self, at: usize) {
        let world = self.world();
        let text = self.cursor.text(at + 2);
        let Some(first) = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")) else { return };
        let Some(second) = self.function_before(at) else { return };
        let home = world.functions.get(first).and_then(|function| function.home);
        let mut targets = vec![(home, first)];
        targets.extend(self.functions_among(&self.kept(Slot::Returned(home, first))));
        for (home, target) in targets {
            for number in 0..PARAMETERS {
                let sums = self.parameter(None, second, number);
                self.keep(Slot::Parameter(home, target, number), &sums);
                let function = world.functions.get(target);
                if let Some((_, ty)) = function.and_then(|function| function.parameters.get(number)) {
                    self.convert(&Value::sums(Type::Void.pointer(), sums), ty, false);
                }
            }
            let given = self.kept(Slot::Returned(home, target));
            self.keep_result(None, second, &given);
        }
    }

    /// The function that an attribute stands behind.
    fn function_before(&self, at: usize) -> Option<&'t [u8]> {
        let from = at.saturating_sub(DECLARATION * 3);
        let mut places = (from + 1..at).rev();
        let edge = places.find(|at| matches!(self.cursor.text(*at), b";" | b"}")).unwrap_or(from);
        (edge..at).find_map(|at| {
            let is_name =
                self.cursor.text(at + 1) == b"(" && self.world().functions.contains_key(self.cursor.text(at));
            is_name.then(|| self.cursor.text(at))
        })
    }

    /// A variable in a section that has an object's address: who walks the section has it too.
    fn address_in_section(&mut self, at: usize) {
        let world = self.world();
        let rest = self.cursor.pieces.get(at..).unwrap_or_default();
        let rest = rest.iter().take(DECLARATION * 2).take_while(|piece| piece.text != b";");
        let words: Vec<_> = rest.collect();
        for pair in words.windows(2).filter(|pair| pair[0].text == b"&") {
            let ty = world.globals.get(pair[1].text).map(|ty| innermost(world, ty));
            if let Some(Type::Record(record)) = ty {
                let what = "its address is put into a section, where others walk it".to_owned();
                self.tell_at(record, pair[1].line, UseDemand::Whole, Vec::new(), what);
            }
        }
    }
}
