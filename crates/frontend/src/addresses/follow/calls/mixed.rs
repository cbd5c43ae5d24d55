//! Numbers that functions are handed only to compute others of, as the first value of a hash: they count no bytes.

use super::{Handed, function};
use crate::clang::{Cursor, Identity, Kind, Operator, TypeKind};
use crate::tree::Index;
use rustc_hash::FxHashSet;

impl<'u> Handed<'_, '_, '_, 'u> {
    /// Whether the function that is called computes numbers of an argument that neither number elements, nor are asked how
    /// large they are, nor go to other functions.
    pub(super) fn is_only_mixed_in(&self, argument: Index) -> bool {
        let number = self.arguments.iter().position(|own| *own == argument);
        // Another body may stand behind a virtual one.
        let body = function(self.view, self.call).filter(|body| !body.is_virtual());
        let body = body.and_then(Cursor::definition);
        // Without a body in this unit nobody names its parameters.
        let parameter = |number: usize| {
            let own = body?.argument(u32::try_from(number).ok()?)?;
            self.unit.names.contains_key(&own.identity()).then(|| own.identity())
        };
        let own = number.and_then(parameter).filter(|_| parameter(self.number).is_some());
        own.is_some_and(|own| self.are_mixed_in(own))
    }

    fn are_mixed_in(&self, first: Identity) -> bool {
        let (mut seen, mut open) = (FxHashSet::default(), vec![first]);
        while let Some(variable) = open.pop().filter(|_| seen.len() < MOST_VARIABLES) {
            if !seen.insert(variable) {
                continue;
            }
            for name in self.unit.names.get(&variable).into_iter().flatten() {
                match self.mixed_into(*name) {
                    Some(Mixed::Into(next)) => open.push(next),
                    Some(Mixed::Away) => {}
                    None => return false,
                }
            }
        }
        open.is_empty()
    }

    /// The variable that a number becomes a part of.
    fn mixed_into(&self, name: Index) -> Option<Mixed> {
        let view = self.view;
        let mut at = name;
        loop {
            let parent = view.tree.parent(at)?;
            let cursor = view.cursor(parent)?;
            match view.tree.kind(parent) {
                Kind::Paren | Kind::Unexposed | Kind::Cast | Kind::Unary if is_number(cursor) => at = parent,
                Kind::Return => return Some(Mixed::Away),
                Kind::Variable if cursor.is_local() && is_number(cursor) => {
                    return Some(Mixed::Into(cursor.identity()));
                }
                Kind::Binary => match cursor.binary_operator() {
                    Operator::Assign
                    | Operator::AssignBits
                    | Operator::Move
                    | Operator::MoveBack
                    | Operator::Scale => return self.assigned_to(parent, at),
                    Operator::Compare | Operator::Order | Operator::Logic | Operator::Comma => return None,
                    _ if is_number(cursor) => at = parent,
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    /// A number is assigned to a variable of the function, or is what another is assigned to.
    fn assigned_to(&self, assignment: Index, side: Index) -> Option<Mixed> {
        let view = self.view;
        let left = view.tree.values(assignment).next()?;
        if !self.is_alone(assignment) {
            return None;
        }
        if left == side {
            return Some(Mixed::Away);
        }
        let left = view.peeled(left);
        let variable = view.cursor(left).filter(|_| view.tree.kind(left) == Kind::Name)?.referenced()?;
        let is_own = variable.is_local() || variable.kind() == Kind::Parameter;
        (is_own && is_number(variable)).then(|| Mixed::Into(variable.identity()))
    }
}

impl Handed<'_, '_, '_, '_> {
    /// Whether an expression is a statement, or the body of one.
    fn is_alone(&self, index: Index) -> bool {
        let tree = self.view.tree;
        tree.parent(index).is_some_and(|parent| match tree.kind(parent) {
            Kind::Block => true,
            Kind::Statement => tree.children(parent).last() == Some(index),
            _ => false,
        })
    }
}

/// Most variables that a number may become a part of.
const MOST_VARIABLES: usize = 16;

/// A use of a number.
enum Mixed {
    /// A variable gets a number that is made of it.
    Into(Identity),
    /// Nothing that the function asks.
    Away,
}

fn is_number(cursor: Cursor<'_>) -> bool {
    cursor.ty().kind() == TypeKind::Number
}
