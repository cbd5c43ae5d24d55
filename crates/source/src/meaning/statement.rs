//! Statements and declarations of functions.

use super::cursor::{Body, is_among};
use super::evaluator::{Context, Evaluator, Local, Slot};
use super::expression::lossy;
use super::items::{Items, Variable};
use super::types::Type;
use super::value::Base;
use crate::uses::UseDemand;
use rustc_hash::FxHashMap;
use std::ops::Range;

impl<'t> Evaluator<'_, '_, 't> {
    /// Reads all code of a file.
    pub(super) fn file(&mut self, items: &Items<'t>) {
        for range in &items.met.enums {
            self.enumerators(range.clone());
        }
        for variable in &items.variables {
            self.variable(variable, true);
        }
        for range in &items.loose {
            self.scopes.push(FxHashMap::default());
            self.cursor.at = range.start;
            self.block(range.end);
            self.scopes.pop();
        }
        for body in &items.bodies {
            self.body(body);
        }
    }

    fn enumerators(&mut self, range: Range<usize>) {
        self.cursor.at = range.start;
        let before = std::mem::replace(&mut self.context, Context::Constant);
        while self.cursor.at < range.end {
            let start = self.cursor.at;
            let name = self.cursor.word(start);
            self.cursor.at += 1;
            if self.cursor.eat(b"=") {
                let value = self.assignment();
                if let Some(name) = name {
                    self.keep(Slot::Global(name), &value.sums);
                }
            }
            while self.cursor.at < range.end && !self.cursor.is(b",") {
                self.cursor.at += 1;
            }
            self.cursor.at = (self.cursor.at + 1).max(start + 1);
        }
        self.context = before;
    }

    /// A variable's type and value.
    fn variable(&mut self, variable: &Variable<'t>, is_global: bool) {
        let declared = &variable.declared;
        self.dimensions(&declared.dimensions);
        let ty = self.specified(&declared.ty, variable.of.as_ref());
        if !is_global {
            self.declare(declared.name, ty.clone(), Vec::new());
        }
        if variable.value.is_empty() {
            return;
        }
        self.cursor.at = variable.value.start;
        self.value(declared.name, &ty, variable.value.end);
        self.cursor.at = variable.value.end;
        self.flush_compared();
    }

    fn dimensions(&mut self, dimensions: &[Range<usize>]) {
        let before = std::mem::replace(&mut self.context, Context::Constant);
        for range in dimensions.iter().filter(|range| range.len() > 1) {
            self.cursor.at = range.start;
            self.expression();
        }
        self.context = before;
    }

    /// A value behind a declarator: `= …`, `{…}`, `(…)`.
    fn value(&mut self, name: &'t [u8], ty: &Type<'t>, end: usize) {
        if self.cursor.is(b"(") {
            let close = self.cursor.behind(self.cursor.at);
            if close <= end {
                self.constructed(ty);
            }
            return;
        }
        self.cursor.eat(b"=");
        if self.cursor.is(b"{") {
            return self.list(ty);
        }
        let right = self.assignment();
        let value = self.convert(&right, ty, false);
        if ty == &Type::Unknown
            && let Some(local) = self.scopes.last_mut().and_then(|scope| scope.get_mut(name))
        {
            local.ty = super::expression::decayed(&value.ty);
        }
        let sums = match self.is_typed(ty) {
            true => value.sums,
            false => self.sums_of(&value),
        };
        self.assign(name, &sums);
    }

    /// A function's body.
    fn body(&mut self, body: &Body<'t>) {
        self.function = body.name;
        self.home = body.function.home;
        self.class = body.class;
        self.returns = body.function.returns.clone();
        self.described.clear();
        let mut scope = FxHashMap::default();
        for (number, (name, ty)) in body.function.parameters.iter().enumerate() {
            let Some(name) = name else { continue };
            let sums = if self.is_typed(ty) {
                Vec::new()
            } else {
                self.kept(Slot::Parameter(body.function.home, body.name, number))
            };
            scope.insert(*name, Local { ty: ty.clone(), sums });
        }
        self.scopes = vec![scope];
        self.cursor.at = body.range.start;
        self.constructor();
        self.block(body.range.end);
        self.scopes.clear();
        self.class = None;
    }

    /// `: a(x), b(a)`: a member that another's value is made of is in front of it.
    fn constructor(&mut self) {
        if !self.cursor.eat(b":") {
            return;
        }
        let mut given: Vec<&'t [u8]> = Vec::new();
        while let Some(name) = self.cursor.word(self.cursor.at) {
            self.cursor.at += 1;
            let end = self.cursor.behind(self.cursor.at);
            let inside = self.cursor.pieces.get(self.cursor.at..end).unwrap_or_default();
            let class = self.class.or(Some(self.function)).unwrap_or_default();
            let used: Vec<&'t [u8]> = given
                .iter()
                .filter(|other| inside.iter().any(|piece| piece.text == **other))
                .copied()
                .collect();
            if !used.is_empty() {
                let names: Vec<&[u8]> = used.iter().copied().chain([name]).collect();
                let what = format!("the constructor makes {} of members in front of it", lossy(name));
                self.tell_pins(class, &names, what);
            }
            given.push(name);
            self.cursor.at = end;
            if !self.cursor.eat(b",") {
                break;
            }
        }
    }

    /// Statements up to a place.
    pub(super) fn block(&mut self, end: usize) {
        if self.cursor.depth >= 80 {
            self.cursor.at = end;
            return;
        }
        self.cursor.depth += 1;
        let scopes = self.scopes.len();
        while self.cursor.at < end {
            let start = self.cursor.at;
            self.statement(end);
            if self.cursor.at <= start {
                self.cursor.at = start + 1;
            }
        }
        self.scopes.truncate(scopes.max(1));
        self.cursor.depth -= 1;
    }

    fn statement(&mut self, end: usize) {
        let word = self.cursor.here();
        match word {
            b"{" => {
                self.cursor.at += 1;
                self.scopes.push(FxHashMap::default());
            }
            b"}" => {
                self.cursor.at += 1;
                if self.scopes.len() > 1 {
                    self.scopes.pop();
                }
            }
            b";" => self.cursor.at += 1,
            b"if" | b"while" | b"switch" | b"for" | b"catch" => self.condition(),
            b"else" | b"do" | b"break" | b"continue" | b"default" | b"try" => self.cursor.at += 1,
            b"goto" => self.cursor.at += 2,
            b"case" => {
                self.cursor.at += 1;
                self.conditional_case();
            }
            b"return" | b"co_return" => self.returned(),
            b"asm" | b"__asm__" | b"__asm" => self.assembler(),
            b"static_assert" | b"_Static_assert" => {
                self.expression();
                self.compared.clear();
            }
            b"auto" if self.binds() => {}
            _ => self.plain(end),
        }
    }

    fn conditional_case(&mut self) {
        self.expression();
        if self.cursor.eat(b"...") {
            self.expression();
        }
        self.cursor.eat(b":");
    }

    /// The bracket behind `if` and its kin.
    fn condition(&mut self) {
        self.cursor.at += 1;
        if matches!(self.cursor.here(), b"constexpr") {
            self.cursor.at += 1;
        }
        if !self.cursor.is(b"(") {
            return;
        }
        let close = self.cursor.behind(self.cursor.at);
        self.cursor.at += 1;
        let last = close.saturating_sub(1);
        while self.cursor.at < last {
            let start = self.cursor.at;
            self.statement(last);
            if self.cursor.at <= start {
                self.cursor.at = start + 1;
            }
        }
        self.cursor.at = close;
    }

    fn returned(&mut self) {
        self.cursor.at += 1;
        let ty = self.returns.clone();
        if self.cursor.is(b"{") {
            return self.list(&ty);
        }
        if self.cursor.is(b";") {
            return;
        }
        let value = self.expression();
        let sums = self.sums_of(&value);
        self.convert(&value, &ty, false);
        if !self.is_typed(&ty) && !self.function.is_empty() {
            self.keep(Slot::Returned(self.home, self.function), &sums);
        }
        self.flush_compared();
    }

    /// `auto [a, b] = object`.
    fn binds(&mut self) -> bool {
        let mut at = self.cursor.at + 1;
        while matches!(self.cursor.text(at), b"&" | b"&&" | b"const") {
            at += 1;
        }
        if self.cursor.text(at) != b"[" {
            return false;
        }
        let close = self.cursor.behind(at);
        let count = self
            .cursor
            .pieces
            .get(at..close)
            .unwrap_or_default()
            .iter()
            .filter(|piece| piece.text == b",")
            .count()
            + 1;
        self.cursor.at = close;
        if !matches!(self.cursor.here(), b"=" | b":" | b"{" | b"(") {
            return true;
        }
        let is_loop = self.cursor.is(b":");
        self.cursor.at += 1;
        let value = self.expression();
        let world = self.world();
        let ty = if is_loop {
            value.ty.element().map(|ty| world.resolve(ty)).unwrap_or_default()
        } else {
            world.resolve(&value.ty)
        };
        let what = "a structured binding names its members by position".to_owned();
        match ty {
            Type::Record(record) => self.tell(record, UseDemand::Positions(count), Vec::new(), what),
            // Of what isn't known, any struct of so many members may be bound.
            _ => {
                let alike: Vec<&'t [u8]> = world
                    .subjects
                    .iter()
                    .filter(|(_, number)| {
                        self.subjects.get(**number).is_some_and(|subject| subject.members.len() == count)
                    })
                    .map(|(name, _)| *name)
                    .collect();
                for record in alike {
                    self.tell(record, UseDemand::Positions(count), Vec::new(), what.clone());
                }
            }
        }
        true
    }

    /// `asm("…" : : "r"(p))`: text that counts bytes from an address.
    fn assembler(&mut self) {
        self.cursor.at += 1;
        while matches!(
            self.cursor.here(),
            b"volatile" | b"__volatile__" | b"goto" | b"inline" | b"__inline__"
        ) {
            self.cursor.at += 1;
        }
        let close = self.cursor.behind(self.cursor.at);
        let inside = self.cursor.at + 1..close.saturating_sub(1);
        let pieces = self.cursor.pieces.get(inside.clone()).unwrap_or_default();
        let first =
            pieces.iter().position(|piece| piece.text == b":" || piece.text == b"::").unwrap_or(pieces.len());
        let counts = pieces.iter().take(first).any(|piece| counts_bytes(piece.text));
        self.cursor.at = inside.start + first;
        while self.cursor.at < inside.end {
            let start = self.cursor.at;
            if self.cursor.is(b"(") {
                let value = self.unary();
                for sum in self.sums_of(&value) {
                    if let Some(Base::Object(record)) = sum.base.filter(|_| counts && sum.terms.is_empty()) {
                        self.tell_whole(record, "assembler code counts bytes from its address".to_owned());
                    }
                }
            }
            self.cursor.at = self.cursor.at.max(start + 1);
        }
        self.cursor.at = close;
    }

    /// A declaration or an expression.
    fn plain(&mut self, end: usize) {
        let word = self.cursor.here();
        let is_label = self.cursor.word(self.cursor.at).is_some()
            && self.cursor.text(self.cursor.at + 1) == b":"
            && self.cursor.text(self.cursor.at + 2) != b":";
        if is_label {
            self.cursor.at += 2;
            return;
        }
        let start = self.cursor.at;
        let is_variable = self.local(word).is_some() && !matches!(word, b"struct" | b"union" | b"enum");
        let enums = self.cursor.met.enums.len();
        if !is_variable && !self.is_call() {
            if let Some(found) = self.cursor.specifiers(true) {
                if self.cursor.at >= end
                    || !matches!(self.cursor.here(), b"." | b"->" | b"++" | b"--")
                        && !is_among(" = += -= ? ", self.cursor.here())
                {
                    self.declarations(&found, end);
                    for range in self.cursor.met.enums.split_off(enums) {
                        let at = self.cursor.at;
                        self.enumerators(range);
                        self.cursor.at = at;
                    }
                    return;
                }
                self.cursor.at = start;
            }
        }
        self.last = self.expression();
        self.flush_compared();
    }

    /// Whether a call stands here rather than a declaration.
    fn is_call(&self) -> bool {
        let is_declarator = matches!(self.cursor.text(self.cursor.at + 2), b"*" | b"^");
        self.cursor.text(self.cursor.at + 1) == b"("
            && !(is_declarator && self.cursor.begins_type())
            && !is_among(
                " typeof __typeof__ __typeof decltype __attribute__ _Alignas alignas ",
                self.cursor.here(),
            )
    }

    fn declarations(&mut self, found: &super::cursor::Specifiers<'t>, end: usize) {
        let at = self.cursor.at;
        let base = self.specified(&found.ty, found.of.as_ref());
        self.cursor.at = at;
        loop {
            let before = self.cursor.at;
            if self.cursor.is(b";") {
                break;
            }
            let Some(declared) = self.cursor.declarator(&base) else { break };
            if found.is_typedef {
                self.cursor.met.typedefs.push((declared.name, declared.ty));
            } else if declared.function.is_some() {
                // A prototype in a function.
            } else if !declared.name.is_empty() {
                let behind = self.cursor.at;
                self.dimensions(&declared.dimensions);
                self.cursor.at = behind;
                let ty = declared.ty.clone();
                self.declare(declared.name, ty.clone(), Vec::new());
                // `for (x : range)`.
                if self.cursor.is(b":") {
                    self.cursor.at += 1;
                    let value = self.expression();
                    let element = value.ty.element().cloned();
                    if let Some(element) = element.filter(|_| ty == Type::Unknown) {
                        self.declare(declared.name, element, Vec::new());
                    }
                } else if matches!(self.cursor.here(), b"=" | b"{" | b"(") {
                    let name = declared.name;
                    self.value(name, &ty, end);
                }
            }
            while self.cursor.at < end && !matches!(self.cursor.here(), b"," | b";" | b"{" | b"}") {
                self.cursor.at = match self.cursor.here() {
                    b"(" | b"[" => self.cursor.behind(self.cursor.at),
                    _ => self.cursor.at + 1,
                };
            }
            if !self.cursor.eat(b",") || self.cursor.at <= before {
                break;
            }
        }
        self.cursor.eat(b";");
        self.flush_compared();
    }
}

/// Whether an assembler text addresses memory at a distance from a register.
fn counts_bytes(text: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(text, part).is_some();
    text.starts_with(b"\"") && (has(b"(%") || has(b"[%"))
}
