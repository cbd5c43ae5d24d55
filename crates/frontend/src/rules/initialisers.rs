//! Members that are read by the values which others are constructed with.

use super::effects::Effects;
use crate::clang::{Cursor, Identity, Kind};
use crate::sum::View;
use crate::tree::Index;
use rustc_hash::FxHashSet;

/// Members that a value reads.
#[derive(Debug, Default)]
pub(super) struct Reads<'u> {
    /// Those that are named, in this value or in methods that it calls.
    pub(super) members: Vec<Cursor<'u>>,
    /// Whether any other may be read, too.
    pub(super) is_open: bool,
}

/// Members of the own object that a value, or a method's body, reads.
pub(super) fn reads<'u>(effects: &Effects<'_, '_, 'u>, view: View<'_, '_, 'u>, value: Index) -> Reads<'u> {
    let mut search = Search { effects, view, found: Reads::default(), seen: FxHashSet::default() };
    std::iter::once(value).chain(view.tree.below(value)).for_each(|node| search.node(node));
    search.found
}

struct Search<'e, 'v, 's, 'u> {
    effects: &'e Effects<'v, 's, 'u>,
    view: View<'e, 's, 'u>,
    found: Reads<'u>,
    /// Methods.
    seen: FxHashSet<Identity>,
}

impl<'u> Search<'_, '_, '_, 'u> {
    fn node(&mut self, node: Index) {
        let referenced = self.view.cursor(node).and_then(Cursor::referenced);
        match self.view.tree.kind(node) {
            Kind::MemberAccess if is_own(self.view, node) && !self.is_kept(node) => {
                match referenced.filter(|member| member.kind() == Kind::Function) {
                    Some(method) => self.method(method),
                    None => self.found.members.extend(referenced),
                }
            }
            Kind::This => self.object(node),
            _ => {}
        }
    }

    fn method(&mut self, method: Cursor<'u>) {
        if !self.seen.insert(method.identity()) {
            return;
        }
        match self.effects.body(method).filter(|_| !method.is_virtual()) {
            Some(body) => self.view.tree.below(body).for_each(|node| self.node(node)),
            None => self.found.is_open = true,
        }
    }

    /// `this` is handed to whatever may read what it leads to.
    fn object(&mut self, this: Index) {
        let mut at = this;
        while let Some(parent) = self.view.tree.parent(at) {
            match self.view.tree.kind(parent) {
                Kind::Paren | Kind::Unexposed | Kind::Unary | Kind::Cast | Kind::List => at = parent,
                Kind::Call => {
                    self.found.is_open |= !self.is_kept(this) && !self.only_keeps(parent);
                    return;
                }
                _ => return,
            }
        }
    }

    /// Whether a call does nothing with what it is handed but keep it.
    fn only_keeps(&self, call: Index) -> bool {
        let Some(cursor) = self.view.cursor(call) else { return false };
        let Some(callee) = cursor.referenced() else { return false };
        let effect = match self.effects.body(callee) {
            Some(_) => self.effects.of_function(callee),
            None => self.effects.of_type(cursor.ty()),
        };
        !effect.acts && !effect.reads
    }

    /// Whether a node stands in a function that is only kept: `std::function<void ()> done = [this] { … };`.
    fn is_kept(&self, node: Index) -> bool {
        let view = self.view;
        let mut parents = std::iter::successors(view.tree.parent(node), |parent| view.tree.parent(*parent));
        let Some(lambda) = parents.find(|parent| view.tree.kind(*parent) == Kind::Lambda) else {
            return false;
        };
        let mut at = lambda;
        while let Some(parent) = view.tree.parent(at) {
            match view.tree.kind(parent) {
                Kind::Paren | Kind::Unexposed | Kind::List => at = parent,
                Kind::Call => {
                    let callee = view.cursor(parent).and_then(Cursor::referenced);
                    let is_wrapper = callee.is_some_and(|callee| {
                        callee.kind() == Kind::Constructor
                            && callee.is_of_system()
                            && callee.name().starts_with("function")
                    });
                    if !is_wrapper {
                        return false;
                    }
                    at = parent;
                }
                kind => return matches!(kind, Kind::Constructor | Kind::Member),
            }
        }
        false
    }
}

/// Whether a member is one of the object at hand.
pub(super) fn is_own(view: View<'_, '_, '_>, access: Index) -> bool {
    view.tree.values(access).next().is_none_or(|inner| view.tree.kind(view.peeled(inner)) == Kind::This)
}
