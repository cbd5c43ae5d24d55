//! A file's declarations and the bodies of its functions.

use crate::meaning::stream::Piece;
use crate::meaning::syntax::cursor::{Body, Cursor, Declared, Met, Specifiers};
use crate::meaning::syntax::words::is_among;
use crate::meaning::syntax::words::is_type_word;
use crate::meaning::types::{Function, Type, World};
use std::ops::Range;

/// Declarations of a file.
#[derive(Clone, Debug, Default)]
pub(in crate::meaning) struct Items<'t> {
    pub(in crate::meaning) met: Met<'t>,
    pub(in crate::meaning) bodies: Vec<Body<'t>>,
    pub(in crate::meaning) variables: Vec<Variable<'t>>,
    pub(in crate::meaning) functions: Vec<(&'t [u8], Function<'t>)>,
    /// Calls of macros that nobody defines, and assertions: where they stand.
    pub(in crate::meaning) loose: Vec<Range<usize>>,
}

/// A variable outside functions.
#[derive(Clone, Debug, Default)]
pub(in crate::meaning) struct Variable<'t> {
    pub(in crate::meaning) declared: Declared<'t>,
    /// Where the value stands, from the `=`, `{` or `(` on.
    pub(in crate::meaning) value: Range<usize>,
    /// Where the expression stands that gives its type.
    pub(in crate::meaning) owner: Option<Range<usize>>,
    pub(in crate::meaning) is_static: bool,
}

/// Reads the declarations of a file.
pub(in crate::meaning) fn read<'t>(
    world: &World<'t>,
    pieces: &[Piece<'t>],
    file: usize,
    packs: &[(u32, bool)],
) -> Items<'t> {
    let cursor = Cursor { world, pieces, at: 0, depth: 0, file, packs, met: Met::default() };
    let mut reader = Reader { cursor, items: Items::default() };
    while reader.cursor.at < pieces.len() {
        let start = reader.cursor.at;
        reader.item();
        if reader.cursor.at <= start {
            reader.cursor.at = start + 1;
        }
    }
    let mut items = reader.items;
    items.met = reader.cursor.met;
    items.bodies.append(&mut items.met.bodies);
    items
}

struct Reader<'w, 'p, 't> {
    cursor: Cursor<'w, 'p, 't>,
    items: Items<'t>,
}

impl<'t> Reader<'_, '_, 't> {
    fn item(&mut self) {
        let cursor = &mut self.cursor;
        match cursor.here() {
            b";" | b"}" => cursor.at += 1,
            b"extern" if cursor.text(cursor.at + 1).starts_with(b"\"") => {
                cursor.at += 2;
                cursor.eat(b"{");
            }
            b"namespace" => {
                while !matches!(cursor.here(), b"{" | b";" | b"") {
                    cursor.at += 1;
                }
                cursor.at += 1;
            }
            b"template" => self.template(),
            b"using" => self.alias(),
            _ => self.declaration(),
        }
    }

    pub(in crate::meaning) fn template(&mut self) {
        let cursor = &mut self.cursor;
        cursor.at += 1;
        let mut depth = 0_usize;
        while cursor.at < cursor.pieces.len() {
            match cursor.here() {
                b"<" => depth += 1,
                b">" => depth = depth.saturating_sub(1),
                b">>" => depth = depth.saturating_sub(2),
                b";" | b"{" => return,
                _ => {}
            }
            cursor.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn alias(&mut self) {
        let cursor = &mut self.cursor;
        if cursor.text(cursor.at + 2) == b"=" {
            let name = cursor.text(cursor.at + 1);
            cursor.at += 3;
            if let Some(found) = cursor.specifiers(true)
                && let Some(declared) = cursor.declarator(&found.ty)
            {
                cursor.met.typedefs.push((name, declared.ty));
            }
        }
        self.skip_to(&[b";"]);
    }

    fn skip_to(&mut self, ends: &[&[u8]]) {
        let cursor = &mut self.cursor;
        while cursor.at < cursor.pieces.len() && !ends.contains(&cursor.here()) {
            cursor.at = match cursor.here() {
                b"(" | b"{" | b"[" => cursor.behind(cursor.at),
                _ => cursor.at + 1,
            };
        }
    }

    pub(in crate::meaning) fn declaration(&mut self) {
        let start = self.cursor.at;
        let Some(found) = self.cursor.specifiers(true) else { return self.loose() };
        // `struct tag NAME(…) {`: a macro.
        if let (Type::Record(tag), false) = (&found.ty, found.is_definition)
            && (found.is_typedef || self.cursor.is(b";"))
        {
            self.cursor.met.declared.push(tag);
        }
        if self.cursor.eat(b";") {
            return;
        }
        loop {
            let before = self.cursor.at;
            let Some(mut declared) = self.cursor.declarator(&found.ty) else { break };
            if found.is_typedef {
                let ty = match declared.function.take() {
                    Some(function) => Type::Function(std::sync::Arc::new(function.returns)),
                    None => declared.ty,
                };
                self.cursor.met.typedefs.push((declared.name, ty));
            } else if let Some(function) = declared.function.take() {
                let function = Function { home: found.is_static.then_some(self.cursor.file), ..function };
                // `T::T()`: the type is the class.
                let own = match &found.ty {
                    Type::Named(name) | Type::Record(name) if declared.name.is_empty() => Some(*name),
                    _ => None,
                };
                if self.function(declared.name, declared.class.or(own), function) {
                    return;
                }
            } else if !declared.name.is_empty() && !is_type_word(declared.name) {
                self.variable(declared, &found);
            }
            if !self.cursor.eat(b",") || self.cursor.at <= before {
                break;
            }
        }
        if self.cursor.is(b"{") && self.cursor.at > start {
            let range = self.cursor.at..self.cursor.behind(self.cursor.at);
            self.cursor.at = range.end;
            self.items.bodies.push(Body { range, ..Body::default() });
            return;
        }
        let from = self.cursor.at;
        self.skip_to(&[b";", b"{"]);
        if self.cursor.at > from {
            self.items.loose.push(from..self.cursor.at);
        }
    }

    /// A prototype, or a function with its body; whether it was the latter.
    pub(in crate::meaning) fn function(
        &mut self,
        name: &'t [u8],
        class: Option<&'t [u8]>,
        mut function: Function<'t>,
    ) -> bool {
        let start = self.cursor.at;
        let is_old = !function.parameters.is_empty()
            && function.parameters.iter().all(|(name, ty)| name.is_none() && matches!(ty, Type::Named(_)))
            && function
                .parameters
                .iter()
                .all(|(_, ty)| matches!(ty, Type::Named(name) if !self.cursor.is_type(name)))
            && (self.cursor.begins_type() || matches!(self.cursor.here(), b"struct" | b"const" | b"union"));
        if self.is_constructor(start) {
            self.skip_values();
        }
        // Attributes, parameters of old C.
        while !matches!(self.cursor.here(), b"{" | b";" | b"," | b"=" | b"")
            || self.cursor.is(b",") && is_old
            || self.cursor.is(b";") && is_old && self.cursor.at < start + 60
        {
            if self.cursor.at > start + 2000 {
                break;
            }
            let at = self.cursor.at;
            self.cursor.at = match self.cursor.here() {
                b"(" | b"[" => self.cursor.behind(at),
                _ => at + 1,
            };
        }
        let is_body = self.cursor.is(b"{");
        function.is_defined = is_body;
        if is_body && self.cursor.at > start && self.cursor.text(start) != b":" {
            self.old_parameters(start, &mut function);
        }
        if is_body {
            let range = start..self.cursor.behind(self.cursor.at);
            self.cursor.at = range.end;
            let class = class.filter(|class| self.cursor.world.records.contains_key(class));
            self.items.bodies.push(Body { name, function: function.clone(), range, class });
        }
        // A macro that nobody defines before `struct` or `void` looks like a function of that name.
        if !is_type_word(name) {
            self.items.functions.push((name, function));
        }
        is_body
    }

    /// `f(a, b) int a; struct s *b; {`
    fn old_parameters(&mut self, start: usize, function: &mut Function<'t>) {
        let end = std::mem::replace(&mut self.cursor.at, start);
        while self.cursor.at < end {
            let before = self.cursor.at;
            if let Some(found) = self.cursor.specifiers(true) {
                while let Some(declared) = self.cursor.declarator(&found.ty) {
                    for (name, ty) in &mut function.parameters {
                        if name.is_none() && *ty == Type::Named(declared.name) {
                            (*name, *ty) = (Some(declared.name), declared.ty.clone());
                        }
                    }
                    if !self.cursor.eat(b",") {
                        break;
                    }
                }
            }
            self.cursor.at = (self.cursor.at + usize::from(self.cursor.is(b";"))).max(before + 1);
        }
        self.cursor.at = end;
    }

    fn is_constructor(&self, start: usize) -> bool {
        self.cursor.text(start) == b":"
    }

    pub(in crate::meaning) fn variable(&mut self, declared: Declared<'t>, found: &Specifiers<'t>) {
        let (owner, is_static) = (&found.owner, found.is_static);
        let start = self.cursor.at;
        if matches!(self.cursor.here(), b"=" | b"{" | b"(") {
            self.skip_to(&[b",", b";"]);
        } else {
            // Attributes and macros between.
            let mut at = start;
            while self.cursor.word(at).is_some() || self.cursor.text(at) == b"(" {
                at = if self.cursor.text(at) == b"(" { self.cursor.behind(at) } else { at + 1 };
            }
            if self.cursor.text(at) == b"=" {
                self.cursor.at = at;
                self.skip_to(&[b",", b";"]);
                let value = at..self.cursor.at;
                self.items.variables.push(Variable { declared, value, owner: owner.clone(), is_static });
                return;
            }
        }
        let value = start..self.cursor.at;
        self.items.variables.push(Variable { declared, value, owner: owner.clone(), is_static });
    }

    /// Anything but a declaration: `MACRO(…);`, `MACRO(…) { … }`, `Class::Class() { … }`.
    pub(in crate::meaning) fn loose(&mut self) {
        let start = self.cursor.at;
        self.skip_to(&[b";", b"{", b"}"]);
        let mut end = self.cursor.at;
        if self.cursor.is(b"{") {
            let is_list = self.cursor.text(end.wrapping_sub(1)) == b"=";
            let mut body = self.parameters_of(start..end);
            if is_list {
                self.cursor.at = self.cursor.behind(end);
            } else {
                // `T::T() : a(1), b{2} { … }`: values of members stand in front of the body.
                let values = body.range.start;
                if self.cursor.text(values) == b":" {
                    end = values;
                    self.cursor.at = values;
                    self.skip_values();
                }
                body.range = end..self.cursor.behind(self.cursor.at);
                self.cursor.at = body.range.end;
                self.items.bodies.push(body);
            }
        }
        self.items.loose.push(start..end);
    }

    /// Goes to the brace of a constructor's body.
    fn skip_values(&mut self) {
        let cursor = &mut self.cursor;
        while !matches!(cursor.here(), b";" | b"") {
            let before = cursor.at.wrapping_sub(1);
            let is_value = cursor.word(before).is_some() || cursor.text(before) == b">";
            match cursor.here() {
                b"{" if !is_value => return,
                b"(" | b"{" | b"[" => cursor.at = cursor.behind(cursor.at),
                _ => cursor.at += 1,
            }
        }
    }

    /// The name, parameters and class in front of a body; its range begins behind the parameters.
    fn parameters_of(&mut self, range: Range<usize>) -> Body<'t> {
        let behind = self.cursor.at;
        let name = |at: usize| self.cursor.word(at).filter(|word| !is_among(" if for while switch ", word));
        let mut at = range.start;
        while self.cursor.text(at + 1) == b"::" && at + 2 < range.end {
            at += 2;
        }
        let class = self.cursor.word(at.wrapping_sub(2)).filter(|_| at > range.start);
        let class = class.filter(|class| self.cursor.world.records.contains_key(class));
        let Some(name) = name(at).filter(|_| self.cursor.text(at + 1) == b"(") else {
            return Body { range, class, ..Body::default() };
        };
        self.cursor.at = at;
        let declared = self.cursor.declarator(&Type::Unknown);
        let range = self.cursor.at..behind;
        self.cursor.at = behind;
        let mut function = declared.and_then(|declared| declared.function).unwrap_or_default();
        function.is_defined = true;
        Body { name, function, range, class }
    }
}
