//! Where variables get their values from, inside one unit.

use crate::clang::{Identity, Kind, Operator};
use crate::tree::{Index, Tree};
use rustc_hash::FxHashMap;

/// Most values that are remembered for one variable.
const MOST: usize = 48;

/// The values that each variable is given, by the variable's declaration.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    given: FxHashMap<Identity, Vec<Index>>,
}

impl Flow {
    pub(crate) fn read(tree: &Tree<'_>) -> Self {
        let mut flow = Self::default();
        for index in 0..tree.len() {
            match tree.kind(index) {
                Kind::Variable | Kind::Enumerator => flow.declared(tree, index),
                Kind::Binary => flow.assigned(tree, index),
                Kind::Call => flow.handed_on(tree, index),
                _ => {}
            }
        }
        flow
    }

    /// The values a variable is given.
    pub(crate) fn given(&self, variable: Identity) -> &[Index] {
        self.given.get(&variable).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, variable: Identity, value: Index) {
        let given = self.given.entry(variable).or_default();
        if given.len() < MOST {
            given.push(value);
        }
    }

    fn declared(&mut self, tree: &Tree<'_>, index: Index) {
        let Some(node) = tree.get(index) else { return };
        if let Some(value) = tree.values(index).filter(|value| is_value(tree.kind(*value))).last() {
            self.add(node.cursor.identity(), value);
        }
    }

    fn assigned(&mut self, tree: &Tree<'_>, index: Index) {
        let Some(node) = tree.get(index) else { return };
        let mut sides = tree.values(index);
        if let (Some(left), Some(right)) = (sides.next(), sides.next())
            && tree.kind(left) == Kind::Name
            && node.cursor.binary_operator() == Operator::Assign
            && let Some(variable) = tree.get(left).and_then(|left| left.cursor.referenced())
        {
            self.add(variable.identity(), right);
        }
    }

    /// Arguments of functions that the unit defines.
    fn handed_on(&mut self, tree: &Tree<'_>, index: Index) {
        let Some(node) = tree.get(index) else { return };
        let Some(function) = node.cursor.referenced().and_then(|function| function.definition()) else {
            return;
        };
        if function.kind() != Kind::Function {
            return;
        }
        let arguments = tree.values(index).skip(1);
        for (number, argument) in (0..function.argument_count()).zip(arguments) {
            if let Some(parameter) = function.argument(number) {
                self.add(parameter.identity(), argument);
            }
        }
    }
}

/// Whether a node below a variable can be its value.
fn is_value(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::TypeName | Kind::Record | Kind::Union | Kind::Enumeration | Kind::Packed | Kind::Parameter
    )
}
