//! A unit with the nodes that name each variable and member.

use super::facts::{CodePlace, Place, ShapeNumber, State};
use super::shapes::Shapes;
use super::shapes::wrappers::is_wrapped;
use crate::clang::{Cursor, Identity, Kind, Type, TypeKind};
use crate::report::Places;
use crate::sum::View;
use crate::tree::Index;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A function, a parameter's number, and how often what it is handed must be read to get at the address.
pub(crate) type Question = (Identity, usize, u8);

/// Where a function brings what it is handed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brought {
    /// How an address has changed that it returns.
    pub(crate) returned: Vec<State>,
    /// How one has changed that it writes behind another argument, by that one's number.
    pub(crate) stored: Vec<(usize, State)>,
}

/// Answers so far. While a question is being answered it has none, nor do functions that call themselves.
#[derive(Debug, Default)]
pub(crate) struct Answers(pub(crate) FxHashMap<Question, Answer>);

/// An answer to where a function brings an argument.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// It is being found.
    Open,
    /// The function calls itself: all its calls are one.
    Cyclic,
    /// It is known.
    Known(Rc<Brought>),
}

/// A unit with the nodes that name each variable and member.
pub(crate) struct Unit<'v, 's, 'u> {
    pub(crate) view: View<'v, 's, 'u>,
    /// Bytes of an address.
    pub(crate) address_size: u64,
    pub(crate) names: FxHashMap<Identity, Vec<Index>>,
    /// Variables and members in the order of the text: the order of the map is by address, another in each run.
    named: Vec<Identity>,
    /// The only members of wrappers.
    wrapped: FxHashSet<Identity>,
    /// Arrays of numbers whose values are listed where they are defined.
    filled: FxHashSet<Identity>,
    pub(crate) shapes: RefCell<Shapes>,
    pub(crate) places: RefCell<Places<'v, 's, 'u>>,
    /// Functions of this unit alone that only calls by name lead to.
    private: FxHashSet<Identity>,
    pub(crate) brought: RefCell<Answers>,
    /// Addresses that are moved by what parameters or members are given, by their places' names.
    pub(crate) sums: RefCell<BTreeSet<(Place, Index)>>,
}

impl<'v, 's, 'u> Unit<'v, 's, 'u> {
    pub(crate) fn new(view: View<'v, 's, 'u>, address_size: u64) -> Self {
        let (mut names, mut named): (FxHashMap<Identity, Vec<Index>>, _) = (FxHashMap::default(), Vec::new());
        for index in 0..view.tree.len() {
            if matches!(view.tree.kind(index), Kind::Name | Kind::MemberAccess)
                && let Some(declared) = view.cursor(index).and_then(Cursor::referenced)
            {
                let nodes = names.entry(declared.identity()).or_default();
                if nodes.is_empty() {
                    named.push(declared.identity());
                }
                nodes.push(index);
            }
        }
        let is_wrapped = |nodes: &[Index]| nodes.first().is_some_and(|node| is_wrapped(view, *node));
        let wrapped =
            names.iter().filter(|(_, nodes)| is_wrapped(nodes)).map(|(member, _)| *member).collect();
        Self {
            view,
            address_size,
            names,
            named,
            wrapped,
            filled: filled(view),
            shapes: RefCell::default(),
            places: RefCell::new(Places::new(view.records)),
            private: private(view),
            brought: RefCell::default(),
            sums: RefCell::default(),
        }
    }

    /// The nodes that name each variable and member, in the order of the text.
    pub(crate) fn named(&self) -> impl Iterator<Item = &Vec<Index>> {
        self.named.iter().filter_map(|declared| self.names.get(declared))
    }

    /// Whether all calls of a function are in this unit, by its name.
    pub(crate) fn is_private(&self, function: Cursor<'u>) -> bool {
        self.private.contains(&function.identity())
    }

    /// The object or the pointer that a wrapper's member is named of, and whether it is a pointer.
    pub(crate) fn wrapper_of(&self, node: Index) -> Option<(Index, bool)> {
        let view = self.view;
        let member =
            view.cursor(node).and_then(Cursor::referenced).filter(|member| self.is_wrapped(*member))?;
        let holder = view.tree.values(node).next().filter(|_| member.kind() == Kind::Member)?;
        Some((holder, view.cursor(holder)?.ty().kind() == TypeKind::Pointer))
    }

    /// Whether an array's values are listed where it is defined.
    pub(crate) fn is_filled(&self, array: Cursor<'u>) -> bool {
        self.filled.contains(&array.identity())
    }

    /// Whether a member is the only one of a wrapper.
    pub(crate) fn is_wrapped(&self, member: Cursor<'u>) -> bool {
        self.wrapped.contains(&member.identity())
    }

    pub(crate) fn shape(&self, ty: Type<'u>) -> ShapeNumber {
        self.shapes.borrow_mut().number(self.view.records, ty)
    }

    pub(crate) fn place(&self, index: Index) -> CodePlace {
        self.view.cursor(index).map(|cursor| self.places.borrow_mut().find(cursor)).unwrap_or_default()
    }
}

/// Arrays of numbers or bytes with a list of values, or a text, that isn't nothing but zero.
fn filled(view: View<'_, '_, '_>) -> FxHashSet<Identity> {
    let is_array_of_numbers = |variable: &Cursor<'_>| {
        let mut ty = variable.ty();
        while let Some(element) = ty.element() {
            ty = element;
        }
        variable.ty().kind() == TypeKind::Array && matches!(ty.kind(), TypeKind::Number | TypeKind::Byte)
    };
    // The array's length stands in front of its values.
    let has_values = |variable: Index| {
        let Some(values) = view.tree.children(variable).last() else { return false };
        std::iter::once(values).chain(view.tree.below(values)).any(|below| {
            let has_no_parts = view.tree.below(below).next().is_none() && view.tree.kind(below) != Kind::List;
            let is_value = |value: Cursor<'_>| {
                value.constant() != Some(0) && value.words().first().is_none_or(|word| word != "\"\"")
            };
            has_no_parts && view.cursor(below).is_some_and(is_value)
        })
    };
    let variables = (0..view.tree.len()).filter(|index| view.tree.kind(*index) == Kind::Variable);
    let filled = variables.filter_map(|index| {
        let variable = view.cursor(index).filter(is_array_of_numbers)?;
        (variable.is_initialized() && has_values(index)).then(|| variable.identity())
    });
    filled.collect()
}

/// Static functions with a body whose addresses are not taken.
fn private(view: View<'_, '_, '_>) -> FxHashSet<Identity> {
    let (mut defined, mut taken) = (FxHashSet::default(), FxHashSet::default());
    for index in 0..view.tree.len() {
        let Some(node) = view.tree.get(index) else { continue };
        let has_body = || view.tree.children(index).any(|child| view.tree.kind(child) == Kind::Block);
        match node.kind {
            Kind::Function if !node.cursor.is_shared() && has_body() => {
                defined.insert(node.cursor.identity());
            }
            Kind::Name => {
                let named = node.cursor.referenced().filter(|named| named.kind() == Kind::Function);
                taken.extend(named.filter(|_| !is_callee(view, index)).map(Cursor::identity));
            }
            _ => {}
        }
    }
    defined.retain(|function| !taken.contains(function));
    defined
}

/// Whether a name is the function of a call.
pub(crate) fn is_callee(view: View<'_, '_, '_>, index: Index) -> bool {
    let mut at = index;
    while let Some(parent) = view.tree.parent(at) {
        match view.tree.kind(parent) {
            Kind::Unexposed | Kind::Paren => at = parent,
            Kind::Call => return view.tree.values(parent).next() == Some(at),
            _ => return false,
        }
    }
    false
}
