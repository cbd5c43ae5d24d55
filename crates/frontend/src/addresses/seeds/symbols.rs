//! Assembler code between functions, which knows variables and functions by their symbols, and operands of that inside.

use super::super::facts::{End, State};
use super::super::follow;
use super::super::follow::Follower;
use super::reader::Reader;
use crate::clang::{Kind, Type, TypeKind};
use crate::tree::Index;
use std::collections::BTreeSet;

/// Directives that give a symbol to other files.
const SHARED: [&str; 4] = [".globl", ".global", ".weak", ".comm"];

/// Directives that give a symbol a value.
const VALUES: [&str; 4] = [".set", ".equ", ".equiv", ".thumb_set"];

impl<'u> Reader<'_, '_, '_, 'u> {
    /// Pointers to records that are operands, and members that instructions read more than.
    pub(crate) fn operands(&mut self, index: Index) {
        let view = self.unit.view;
        for (operand, bytes) in follow::wide_operands(view, index) {
            let mut follower = Follower::new(self.unit);
            let by = "assembler code".to_owned();
            follower.end(operand, State::PLAIN, End::Bytes { count: Some(bytes), by });
            let outcome = follower.run();
            self.member_of(operand, &view.address_sum(view.peeled(operand)), outcome);
        }
        for operand in view.tree.values(index).collect::<Vec<_>>() {
            let own = view.cursor(operand).and_then(|operand| operand.ty().pointee());
            let Some(own) = own.filter(|own| own.kind() == TypeKind::Record) else { continue };
            let mut follower = Follower::new(self.unit);
            follower.laundered(operand, index);
            let (origin, outcome) = (self.origin(own), follower.run());
            self.depart(operand, origin, outcome);
        }
    }

    /// `asm(".globl name\nname: .quad object\n");`
    pub(crate) fn assembler(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(cursor) = view.cursor(index).filter(|cursor| !cursor.is_of_system()) else { return };
        if view.tree.children(index).next().is_some() {
            return;
        }
        let words = cursor.words();
        if words.first().is_none_or(|first| first.trim_matches('_') != "asm") {
            return;
        }
        let texts = words.iter().filter_map(|word| word.strip_prefix('"')?.strip_suffix('"'));
        let code = Code::read(&texts.collect::<String>());
        let (variables, functions) = self.declared(&code);
        let is_seen = |symbol: &String| {
            code.shared.contains(symbol)
                || functions.contains(symbol)
                || variables.iter().any(|(own, _)| own == symbol)
        };
        let seen: Vec<String> = code.made.iter().filter(|symbol| is_seen(symbol)).cloned().collect();
        if seen.is_empty() && !code.has_section {
            return;
        }
        let place = self.unit.place(index);
        for (symbol, ty) in variables {
            self.named(index, symbol, ty);
        }
        self.assembled.extend(seen);
        self.mentioned.extend(code.symbols.into_iter().map(|symbol| (symbol, place.clone())));
    }

    /// Variables and functions of this unit that assembler code names.
    fn declared(&self, code: &Code) -> (Vec<(String, Type<'u>)>, BTreeSet<String>) {
        let view = self.unit.view;
        let (mut variables, mut functions) = (Vec::new(), BTreeSet::new());
        for index in 0..view.tree.len() {
            if !matches!(view.tree.kind(index), Kind::Variable | Kind::Function) {
                continue;
            }
            let Some(cursor) = view.cursor(index) else { continue };
            let is_global = cursor.holder().is_none_or(|holder| holder.kind() == Kind::Other);
            let symbol = if is_global { cursor.symbol() } else { String::new() };
            let symbol = symbol.trim_start_matches('\u{1}');
            match view.tree.kind(index) {
                _ if !code.symbols.contains(symbol) => {}
                Kind::Variable => variables.push((symbol.to_owned(), cursor.ty())),
                _ => {
                    functions.insert(symbol.to_owned());
                }
            }
        }
        (variables, functions)
    }
}

/// Symbols in assembler code.
#[derive(Debug, Default)]
struct Code {
    /// All words.
    symbols: BTreeSet<String>,
    /// Those that it makes.
    made: BTreeSet<String>,
    /// Those that other files see.
    shared: BTreeSet<String>,
    /// Whether it writes to a section whose begin and end have symbols.
    has_section: bool,
}

impl Code {
    /// Of a text as it is written between quotes.
    fn read(text: &str) -> Self {
        let text = text.replace("\\n", "\n").replace("\\t", " ").replace("\\\"", "\"");
        let mut code = Self::default();
        for line in text.split(['\n', ';']) {
            code.line(line.trim());
        }
        code
    }

    fn line(&mut self, line: &str) {
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$');
        let words: Vec<&str> =
            line.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).collect();
        self.symbols.extend(words.iter().map(|word| (*word).to_owned()));
        let (Some(first), second) = (words.first(), words.get(1)) else { return };
        let rest = line.strip_prefix(first).unwrap_or_default().trim_start();
        if rest.starts_with(':') || rest.starts_with('=') {
            self.made.insert((*first).to_owned());
        }
        if VALUES.contains(first) {
            self.made.extend(second.map(|symbol| (*symbol).to_owned()));
        }
        if SHARED.contains(first) {
            self.shared.extend(words.iter().skip(1).map(|symbol| (*symbol).to_owned()));
        }
        if let Some(name) =
            second.filter(|name| matches!(*first, ".section" | ".pushsection") && !name.contains('.'))
        {
            self.has_section = true;
            // The linker makes them, for all files.
            for symbol in [format!("__start_{name}"), format!("__stop_{name}")] {
                self.symbols.insert(symbol.clone());
                self.shared.insert(symbol.clone());
                self.made.insert(symbol);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_made_by_labels_and_directives() {
        let code = Code::read(".globl a\\na:\\n\\t.quad b + 8\\n.set c, d; e = f\\n.section table\\n");
        let names = |symbols: &BTreeSet<String>| symbols.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(names(&code.made), "__start_table __stop_table a c e");
        assert_eq!(names(&code.shared), "__start_table __stop_table a");
        assert!(["b", "d", "f"].iter().all(|symbol| code.symbols.contains(*symbol)) && code.has_section);
        assert!(!Code::read(".section .text\\n").has_section);
    }
}
