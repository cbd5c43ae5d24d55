//! Declarations of variables with their values.

use crate::meaning::code::evaluator::{Context, Evaluator};
use crate::meaning::syntax::cursor::Specifiers;
use crate::meaning::syntax::items::Variable;
use crate::meaning::types::{Function, Type, decayed};
use crate::meaning::value::Value;
use std::ops::Range;

impl<'t> Evaluator<'_, '_, 't> {
    /// A variable's type and value.
    pub(in crate::meaning) fn variable(&mut self, variable: &Variable<'t>, is_global: bool) {
        let declared = &variable.declared;
        self.dimensions(&declared.dimensions);
        let ty = self.specified(&declared.ty, variable.owner.as_ref());
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

    pub(in crate::meaning) fn dimensions(&mut self, dimensions: &[Range<usize>]) {
        let before = std::mem::replace(&mut self.context, Context::Constant);
        for range in dimensions.iter().filter(|range| range.len() > 1) {
            self.cursor.at = range.start;
            self.expression();
        }
        self.context = before;
    }

    /// A value behind a declarator: `= …`, `{…}`, `(…)`.
    pub(in crate::meaning) fn value(&mut self, name: &'t [u8], ty: &Type<'t>, end: usize) {
        if self.cursor.is(b"(") {
            let close = self.cursor.behind(self.cursor.at);
            if close <= end {
                self.constructed(ty);
            }
            return;
        }
        self.cursor.eat(b"=");
        if self.cursor.is(b"{") {
            if self.is_row_of_numbers(ty) && self.cursor.at + 3 < self.cursor.behind(self.cursor.at) {
                self.holds_numbers(name);
            }
            return self.list(ty);
        }
        let right = self.assignment();
        let is_auto = *ty == Type::Unknown || *ty == Type::Unknown.pointer();
        let value = if is_auto { right.clone() } else { self.convert(&right, ty, false) };
        let own = Value { name: Some(name), ty: value.ty.clone(), ..Value::default() };
        self.keep_entry(&own, &right);
        // `auto p`, `auto *p`.
        if is_auto && let Some(local) = self.scopes.last_mut().and_then(|scope| scope.get_mut(name)) {
            local.ty = decayed(&value.ty);
        }
        let sums = match self.is_typed(ty) {
            true => value.sums,
            false => self.sums_of(&value),
        };
        self.assign(name, &sums);
        self.keep_parts(name, &right);
    }

    /// Whether what looks like parameters are values: variables stand there.
    fn are_values(&self, function: &Function<'t>) -> bool {
        function.parameters.iter().any(|(name, ty)| match ty {
            Type::Named(word) => name.is_none() && self.local(word).is_some(),
            _ => false,
        })
    }

    pub(in crate::meaning) fn declarations(&mut self, found: &Specifiers<'t>, end: usize) {
        let at = self.cursor.at;
        let base = self.specified(&found.ty, found.owner.as_ref());
        self.cursor.at = at;
        loop {
            let before = self.cursor.at;
            if self.cursor.is(b";") {
                break;
            }
            let Some(declared) = self.cursor.declarator(&base) else { break };
            let is_function = declared.function.is_some();
            if let Some(function) = declared.function.as_ref().filter(|_| self.is_cpp)
                && self.are_values(function)
            {
                self.cursor.at = before;
                while !matches!(self.cursor.here(), b"(" | b";" | b"") {
                    self.cursor.at += 1;
                }
                self.declare(declared.name, declared.ty.clone(), Vec::new());
                self.constructed(&declared.ty);
                continue;
            }
            if found.is_typedef {
                self.cursor.met.typedefs.push((declared.name, declared.ty));
            } else if let Some(function) = declared.function.filter(|_| self.cursor.is(b"{")) {
                self.nested(declared.name, &function);
                return;
            } else if is_function {
                // A prototype in a function.
            } else if !declared.name.is_empty() {
                let behind = self.cursor.at;
                self.dimensions(&declared.dimensions);
                self.cursor.at = behind;
                let ty = declared.ty.clone();
                self.declare(declared.name, ty.clone(), Vec::new());
                if let Some(local) = self.scopes.last_mut().and_then(|scope| scope.get_mut(declared.name)) {
                    local.is_static = found.is_static;
                }
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
