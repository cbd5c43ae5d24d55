//! Bodies of functions, and what stands outside of them.

use crate::meaning::code::evaluator::{Context, Evaluator, Local};
use crate::meaning::flows::Slot;
use crate::meaning::judge::cpp::methods::joined;
use crate::meaning::syntax::cursor::Body;
use crate::meaning::syntax::items::Items;
use crate::meaning::types::{Function, Type, lossy};
use crate::meaning::value::{Base, Sum, Value};
use crate::uses::UseDemand;
use rustc_hash::FxHashMap;
use std::ops::Range;

impl<'t> Evaluator<'_, '_, 't> {
    /// Reads all code of a file.
    pub(in crate::meaning) fn file(&mut self, items: &Items<'t>) {
        for range in &items.met.enums {
            self.enumerators(range.clone());
        }
        for variable in &items.variables {
            self.variable(variable, true);
        }
        for (ty, at) in &items.met.defaults {
            self.cursor.at = *at;
            self.list(ty);
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

    pub(in crate::meaning) fn enumerators(&mut self, range: Range<usize>) {
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

    /// A function's body.
    pub(in crate::meaning) fn body(&mut self, body: &Body<'t>) {
        let is_unnamed = body.name.is_empty();
        self.function = if is_unnamed { body.class.unwrap_or_default() } else { body.name };
        self.home = body.function.home;
        self.class = body.class;
        self.returns = body.function.returns.clone();
        self.described.clear();
        self.tested.clear();
        self.bounds.clear();
        self.switched.clear();
        self.cursor.at = body.range.start;
        // A constructor is called by its class.
        let scope = self.parameters(self.function, &body.function);
        self.taken_by_value(self.function, &body.function);
        self.scopes = vec![scope];
        self.cursor.at = body.range.start;
        if let Some(class) = body.class.filter(|class| is_unnamed || body.name == *class) {
            let seen = Sum { base: Some(Base::Mapped(b"")), terms: Vec::new() };
            self.keep(Slot::Constructor(class), &[seen]);
        }
        self.constructor();
        self.block(body.range.end);
        self.scopes.clear();
        self.class = None;
    }

    /// `: a(x), b(a)`: a member that another's value is made of is in front of it.
    pub(in crate::meaning) fn constructor(&mut self) {
        if !self.cursor.eat(b":") {
            return;
        }
        let mut called: Vec<(&'t [u8], &'t [u8])> = Vec::new();
        let mut values = Vec::new();
        while let Some(name) = self.cursor.word(self.cursor.at) {
            self.cursor.at += 1;
            if self.cursor.is(b"<") {
                self.cursor.skip_angles();
            }
            let start = self.cursor.at;
            let end = self.cursor.behind(start);
            let inside = self.cursor.pieces.get(start..end).unwrap_or_default();
            let class = self.class.or(Some(self.function)).unwrap_or_default();
            let effects = self.effects;
            values.push((name, start..end));
            self.initialised(class, name);
            let used = self.siblings_in(class, name, start..end);
            if !used.is_empty() {
                let names: Vec<&[u8]> = used.iter().copied().chain([name]).collect();
                let what = format!("the constructor makes {} of members in front of it", lossy(name));
                self.tell_pins(class, &names, what);
            }
            if (start..end).any(|at| self.reads_siblings(class, at)) {
                let what = format!("the constructor makes {} of the object itself", lossy(name));
                self.tell(class, UseDemand::Whole, Vec::new(), what);
            }
            let calls = inside.windows(2).skip(1).any(|pair| {
                matches!(pair, [first, second] if first.kind == crate::meaning::stream::Kind::Word && second.text == b"(")
            });
            if calls || self.effects > effects {
                called.push((class, name));
            }
            self.cursor.at = end;
            if !self.cursor.eat(b",") {
                break;
            }
        }
        self.parameters_changed(self.class.unwrap_or(self.function), &values);
        if let [(class, _), _, ..] = called.as_slice() {
            let names: Vec<&[u8]> = called.iter().map(|(_, name)| *name).collect();
            let what = "the constructor calls functions for members, in their order".to_owned();
            self.tell_pins(class, &names, what);
        }
    }

    /// The value in brackets that a constructor gives a member.
    fn initialised(&mut self, class: &'t [u8], name: &'t [u8]) {
        // A name that isn't a member's is that of a class which this one is derived from, or its own.
        let world = self.world();
        let base = Type::Named(name);
        let base = if matches!(world.resolve(&base), Type::Record(_)) { base } else { Type::Unknown };
        let ty = world.member(class, name).unwrap_or(base);
        let is_object =
            !matches!(self.world().resolve(&ty), Type::Number(..) | Type::Byte | Type::Pointer(_));
        match self.cursor.here() {
            b"{" if is_object => self.list(&ty),
            b"(" if is_object => self.constructed(&ty),
            b"(" | b"{" => {
                self.cursor.at += 1;
                let value = self.expression();
                self.convert(&value, &ty, false);
                if !self.is_typed(&ty) {
                    let sums = self.sums_of(&value);
                    self.keep_member(class, name, &sums);
                }
            }
            _ => {}
        }
    }

    /// Other members whose values are read in a range.
    fn siblings_in(&self, class: &'t [u8], name: &[u8], range: Range<usize>) -> Vec<&'t [u8]> {
        let members = self.world().records.get(class).map(|known| known.members.as_slice());
        let is_read = |other: &&'t [u8]| {
            let other = *other;
            range.clone().any(|at| {
                let before = self.cursor.text(at.wrapping_sub(1));
                let is_own = !matches!(before, b"." | b"::")
                    && (before != b"->" || self.cursor.text(at.wrapping_sub(2)) == b"this");
                is_own && self.cursor.text(at) == other
            })
        };
        let names = members.unwrap_or_default().iter().map(|member| member.name);
        let others = names.filter(|other| !other.is_empty() && *other != name && self.local(other).is_none());
        others.filter(is_read).collect()
    }

    /// A function in a function.
    pub(in crate::meaning) fn nested(&mut self, name: &'t [u8], function: &Function<'t>) {
        let end = self.cursor.behind(self.cursor.at);
        let returns = std::mem::replace(&mut self.returns, function.returns.clone());
        let outer = std::mem::replace(&mut self.function, name);
        let home = self.home.take();
        let scope = self.parameters(name, function);
        self.scopes.push(scope);
        self.cursor.at += 1;
        self.block(end.saturating_sub(1));
        self.scopes.pop();
        (self.returns, self.function, self.home) = (returns, outer, home);
        self.cursor.at = end;
    }

    /// A function's parameters with what they are handed.
    pub(in crate::meaning) fn parameters(
        &mut self,
        name: &'t [u8],
        function: &Function<'t>,
    ) -> FxHashMap<&'t [u8], Local<'t>> {
        let mut scope = FxHashMap::default();
        for (number, (parameter, ty)) in function.parameters.iter().enumerate() {
            let Some(parameter) = parameter else { continue };
            let handed = self.handed_to_body(name, number, ty);
            let mut sums = joined(self.parameter(function.home, name, number), &handed);
            if self.is_typed(ty) {
                // Handed by callers that know it as another type.
                let handed = Value::sums(Type::Void.pointer(), std::mem::take(&mut sums));
                self.convert(&handed, ty, false);
            }
            let local =
                Local { ty: ty.clone(), sums, parameter: Some(number), is_object: true, ..Local::default() };
            scope.insert(*parameter, local);
        }
        scope
    }
}
