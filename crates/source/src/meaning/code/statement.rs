//! Statements of functions.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::syntax::words::is_among;
use crate::meaning::types::Type;
use crate::meaning::value::{Base, Sum, Term, Value};
use crate::uses::UseDemand;
use rustc_hash::FxHashMap;

impl<'t> Evaluator<'_, '_, 't> {
    /// Statements up to a place.
    pub(in crate::meaning) fn block(&mut self, end: usize) {
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

    pub(in crate::meaning) fn statement(&mut self, end: usize) {
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
            b"auto" if self.binds(1) => {}
            b"const" if self.cursor.text(self.cursor.at + 1) == b"auto" && self.binds(2) => {}
            _ => self.plain(end),
        }
    }

    fn conditional_case(&mut self) {
        let value = self.expression();
        self.is_case(&value);
        self.offset_is_number(&value, "a label of a switch");
        if self.cursor.eat(b"...") {
            let value = self.expression();
            self.offset_is_number(&value, "a label of a switch");
        }
        self.cursor.eat(b":");
    }

    /// The bracket behind `if` and its kin.
    fn condition(&mut self) {
        let is_loop = self.cursor.is(b"for");
        let is_choice = self.cursor.is(b"switch");
        let before = std::mem::replace(&mut self.is_head, is_loop || self.cursor.is(b"while"));
        self.cursor.at += 1;
        if matches!(self.cursor.here(), b"constexpr") {
            self.cursor.at += 1;
        }
        if !self.cursor.is(b"(") {
            self.is_head = before;
            return;
        }
        let close = self.cursor.behind(self.cursor.at);
        self.cursor.at += 1;
        let last = close.saturating_sub(1);
        let mut ends = 0;
        while self.cursor.at < last {
            let start = self.cursor.at;
            self.last = Value::default();
            self.statement(last);
            if self.cursor.at <= start {
                self.cursor.at = start + 1;
            }
            // Of `for` it is the second part that is tested.
            let before = self.cursor.text(start.wrapping_sub(1));
            ends += usize::from(before == b";" || self.cursor.text(start) == b";");
            if !is_loop || ends == 1 {
                let value = std::mem::take(&mut self.last);
                match is_choice {
                    true => {
                        self.null_is_tested(&value);
                        self.switched_by(&value);
                    }
                    false => self.is_condition(&value),
                }
            }
        }
        self.is_head = before;
        self.cursor.at = close;
    }

    pub(in crate::meaning) fn returned(&mut self) {
        let is_coroutine = self.cursor.is(b"co_return");
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
        self.returned_entry(&value);
        if is_coroutine {
            return self.handed_to_promise(b"return_value", &sums);
        }
        self.returned_end(&sums, &value);
        self.convert(&value, &ty, false);
        if !self.is_typed(&ty) && !self.function.is_empty() {
            self.keep_result(self.home, self.function, &sums);
        }
        self.flush_compared();
    }

    /// The place behind a member, or a conversion of an object to the address of one: both are for walking.
    fn returned_end(&mut self, sums: &[Sum<'t>], value: &Value<'t>) {
        let is_conversion = self.function == b"operator";
        let is_record = matches!(self.world().pointee(&value.ty), Some(Type::Record(_)));
        let is_walked = self.is_cpp && !is_record;
        for sum in sums.iter().filter(|_| is_walked) {
            match (sum.base, sum.terms.as_slice()) {
                (
                    Some(Base::Object(record)),
                    [(true, Term::Offset(own, member)), (true, Term::Number(_))],
                ) if record == *own => {
                    self.walk(record, member);
                }
                (Some(Base::Object(record)), [(true, Term::Offset(own, member))])
                    if record == *own && is_conversion && !self.is_array(record, member) =>
                {
                    self.walk(record, member);
                }
                _ => {}
            }
        }
    }

    /// `auto [a, b] = object`.
    fn binds(&mut self, words: usize) -> bool {
        let mut at = self.cursor.at + words;
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
                let similar: Vec<&'t [u8]> = world
                    .subjects
                    .iter()
                    .filter(|(_, number)| {
                        self.subjects.get(**number).is_some_and(|subject| subject.members.len() == count)
                    })
                    .map(|(name, _)| *name)
                    .collect();
                for record in similar {
                    self.tell(record, UseDemand::Positions(count), Vec::new(), what.clone());
                }
            }
        }
        true
    }

    /// A declaration or an expression.
    pub(in crate::meaning) fn plain(&mut self, end: usize) {
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
        if !is_variable
            && !self.is_call()
            && let Some(found) = self.cursor.specifiers(true)
        {
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
}
