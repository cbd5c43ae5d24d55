//! Whether making, copying and dropping objects of a type does something that others can see. What isn't known to be free
//! of effects has some.

mod bodies;
mod library;
mod memory;
mod special;

pub(crate) use library::is_standard;

use crate::clang::{Cursor, Identity, Kind, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::BitOrAssign;

/// Effects of what is done to objects of a type by the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// It changes something outside, or asks for something that changes.
    pub(super) acts: bool,
    /// It reads what pointers lead to.
    pub(super) reads: bool,
    /// Dropping an object may read what pointers lead to, or change it.
    pub(super) looks: bool,
    /// Dropping an object leaves it unusable.
    pub(super) ends: bool,
}

impl Effect {
    /// Nothing is known.
    const UNKNOWN: Self = Self { acts: true, reads: true, looks: true, ends: true };
}

impl BitOrAssign for Effect {
    fn bitor_assign(&mut self, other: Self) {
        self.acts |= other.acts;
        self.reads |= other.reads;
        self.looks |= other.looks;
        self.ends |= other.ends;
    }
}

/// Nodes of a unit by what they declare.
#[derive(Debug, Default)]
struct Declared {
    /// Functions with a body.
    bodies: FxHashMap<Identity, Index>,
    /// Classes and templates of classes.
    classes: FxHashMap<Identity, Index>,
    /// Functions with a body that hand out memory or take it back.
    memory: Vec<Index>,
}

impl Declared {
    fn read(view: View<'_, '_, '_>) -> Self {
        let mut declared = Self::default();
        for index in 0..view.tree.len() {
            let Some(node) = view.tree.get(index) else { continue };
            let has_body = || view.tree.children(index).any(|child| view.tree.kind(child) == Kind::Block);
            match node.kind {
                Kind::Constructor | Kind::Destructor | Kind::Function | Kind::Template if has_body() => {
                    declared.bodies.insert(node.cursor.identity(), index);
                    declared.memory.extend(library::hands_out(node.cursor).then_some(index));
                }
                Kind::Record | Kind::Union | Kind::Other => {
                    declared.classes.entry(node.cursor.identity()).or_insert(index);
                }
                _ => {}
            }
        }
        declared
    }
}

/// Effects of a unit's types, each found once.
pub(super) struct Effects<'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    declared: OnceCell<Declared>,
    known: RefCell<FxHashMap<Identity, Effect>>,
    /// The effects of memory that the program hands out itself.
    memory: Cell<Option<Effect>>,
}

impl<'v, 's, 'u> Effects<'v, 's, 'u> {
    pub(super) fn new(view: View<'v, 's, 'u>) -> Self {
        Self { view, declared: OnceCell::new(), known: RefCell::default(), memory: Cell::default() }
    }

    /// The effects of objects of a type.
    pub(super) fn of_type(&self, ty: Type<'u>) -> Effect {
        let class = element(ty).canonical().declaration().map(Cursor::identity);
        let known = class.and_then(|class| self.known.borrow().get(&class).copied());
        if let Some(known) = known {
            return known;
        }
        let mut search = Search::new(self);
        search.ty(ty);
        let effect = search.found;
        self.known.borrow_mut().extend(class.map(|class| (class, effect)));
        effect
    }

    /// The effects of a function's body.
    pub(super) fn of_function(&self, function: Cursor<'u>) -> Effect {
        let mut search = Search::new(self);
        search.function(function, false);
        search.found
    }

    /// The body of a function.
    pub(super) fn body(&self, function: Cursor<'u>) -> Option<Index> {
        let own = function.definition().unwrap_or(function);
        self.declared().bodies.get(&own.identity()).copied()
    }

    fn declared(&self) -> &Declared {
        self.declared.get_or_init(|| Declared::read(self.view))
    }

    /// The node that shows a class, or the template it was made from.
    fn class(&self, class: Cursor<'u>) -> Option<Index> {
        let classes = &self.declared().classes;
        let of_template = || classes.get(&class.template()?.identity());
        classes.get(&class.identity()).or_else(of_template).copied()
    }
}

/// A search through all that is done to an object.
struct Search<'e, 'v, 's, 'u> {
    effects: &'e Effects<'v, 's, 'u>,
    view: View<'v, 's, 'u>,
    found: Effect,
    /// Classes.
    seen: FxHashSet<Identity>,
    /// Functions, and whether an object is being dropped.
    called: FxHashSet<(Identity, bool)>,
}

impl<'e, 'v, 's, 'u> Search<'e, 'v, 's, 'u> {
    fn new(effects: &'e Effects<'v, 's, 'u>) -> Self {
        let (seen, called) = (FxHashSet::default(), FxHashSet::default());
        Self { effects, view: effects.view, found: Effect::default(), seen, called }
    }

    fn ty(&mut self, ty: Type<'u>) {
        let ty = element(ty);
        match ty.kind() {
            TypeKind::Record => self.class(ty),
            TypeKind::Other if !ty.is_known() => self.found = Effect::UNKNOWN,
            _ => {}
        }
    }

    fn class(&mut self, ty: Type<'u>) {
        let declared = ty.canonical().declaration();
        let Some(class) = declared.and_then(Cursor::definition) else {
            return self.found = Effect::UNKNOWN;
        };
        if !self.seen.insert(class.identity()) || ty.is_plain_data() {
            return;
        }
        if library::is_standard(class) {
            return self.standard(ty, &class.name());
        }
        let Some(node) = self.effects.class(class) else {
            return self.found = Effect::UNKNOWN;
        };
        ty.members().into_iter().for_each(|member| self.ty(member.ty()));
        for part in self.view.tree.children(node).collect::<Vec<_>>() {
            self.part(part, &class.name());
        }
    }

    /// A class of C++'s library does what its values do.
    fn standard(&mut self, ty: Type<'u>, name: &str) {
        let arguments = ty.template_arguments();
        let deletes = library::deletes(name, &arguments);
        if !deletes && !library::keeps_values(name) {
            return self.found = Effect::UNKNOWN;
        }
        if !library::is_flat(name) {
            self.found.ends = true;
            self.found |= self.effects.of_memory();
        }
        for argument in arguments {
            match argument.kind() {
                TypeKind::Record if deletes => self.deleted(argument),
                TypeKind::Record | TypeKind::Array => self.ty(argument),
                _ => {}
            }
        }
    }

    /// An object is deleted by a pointer of a type, which may be a base's.
    fn deleted(&mut self, ty: Type<'u>) {
        let ty = element(ty);
        let class = ty.canonical().declaration().and_then(Cursor::definition);
        let node = class.and_then(|class| self.effects.class(class));
        let is_virtual = |node: Index| {
            let mut parts = self.view.tree.children(node).filter_map(|part| self.view.cursor(part));
            parts.any(|part| part.kind() == Kind::Destructor && part.is_virtual())
        };
        if node.is_some_and(is_virtual) {
            self.found = Effect::UNKNOWN;
        }
        self.given_back(ty);
        self.ty(ty);
    }

    /// A base, a special function or a member's first value of a class.
    fn part(&mut self, part: Index, class: &str) {
        let Some(cursor) = self.view.cursor(part) else { return };
        let plain = |name: &str| name.split('<').next().unwrap_or_default().to_owned();
        match self.view.tree.kind(part) {
            Kind::Base => match cursor.ty().is_known() {
                true => self.ty(cursor.ty()),
                false => self.found = Effect::UNKNOWN,
            },
            Kind::Constructor => self.special(cursor, false),
            Kind::Destructor => self.special(cursor, true),
            Kind::Function if cursor.name() == "operator=" => self.special(cursor, false),
            Kind::Template if cursor.name() == "operator=" || plain(&cursor.name()) == plain(class) => {
                self.special(cursor, false);
            }
            Kind::Member => self.nodes(part, false),
            _ => {}
        }
    }

    /// A constructor, destructor or assignment.
    fn special(&mut self, function: Cursor<'u>, is_end: bool) {
        let own = function.definition().unwrap_or(function);
        if function.is_deleted() || own.is_defaulted() {
            return;
        }
        self.found.ends |= is_end;
        self.function(function, is_end);
    }

    fn function(&mut self, function: Cursor<'u>, is_end: bool) {
        let Some(body) = self.effects.body(function) else {
            return self.found = Effect::UNKNOWN;
        };
        if self.called.insert((function.identity(), is_end)) {
            self.nodes(body, is_end);
        }
    }
}

/// The type of an array's elements, or the type.
fn element(ty: Type<'_>) -> Type<'_> {
    std::iter::successors(Some(ty), |ty| ty.element()).last().unwrap_or(ty)
}
