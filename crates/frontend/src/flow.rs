//! Where variables get their values from, inside one unit.

use crate::clang::{Cursor, Identity, Kind, Operator, Type, TypeKind};
use crate::records::Records;
use crate::records::positions::{Position, positions};
use crate::tree::{Index, Tree};
use rustc_hash::{FxHashMap, FxHashSet};

/// Most values that are remembered for one variable.
const MOST: usize = 200;

/// The values that each variable is given, by the variable's declaration.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    given: FxHashMap<Identity, Vec<Index>>,
    /// Variables that are stepped or moved on.
    changed: FxHashSet<Identity>,
    /// Those of them that are moved back.
    lowered: FxHashSet<Identity>,
}

impl Flow {
    pub(crate) fn read<'u>(tree: &Tree<'u>, records: &Records<'_, 'u>) -> Self {
        let mut flow = Self::default();
        for index in 0..tree.len() {
            match tree.kind(index) {
                Kind::Variable | Kind::Enumerator => flow.declared(tree, index),
                Kind::Unary => flow.stepped(tree, index),
                Kind::Binary => {
                    flow.assigned(tree, index);
                    flow.stepped(tree, index);
                }
                Kind::Call => {
                    flow.handed_on(tree, index);
                    flow.handed_to_callback(tree, index);
                }
                Kind::Return => flow.returned(tree, index),
                Kind::List => flow.listed(tree, records, index),
                _ => {}
            }
        }
        flow
    }

    /// The values that a variable, a member of type `void *`, or the result of a function is given.
    pub(crate) fn given(&self, variable: Identity) -> &[Index] {
        self.given.get(&variable).map_or(&[], Vec::as_slice)
    }

    /// Whether a variable is stepped or moved on.
    pub(crate) fn is_changed(&self, variable: Identity) -> bool {
        self.changed.contains(&variable)
    }

    /// Whether a variable is moved back.
    pub(crate) fn is_counted_down(&self, variable: Identity) -> bool {
        self.lowered.contains(&variable)
    }

    fn stepped(&mut self, tree: &Tree<'_>, index: Index) {
        let Some(node) = tree.get(index) else { return };
        let is_back = match node.kind {
            Kind::Unary => match node.cursor.unary_operator() {
                Operator::Step => false,
                Operator::StepBack => true,
                _ => return,
            },
            _ => match node.cursor.binary_operator() {
                Operator::Move => false,
                Operator::MoveBack => true,
                _ => return,
            },
        };
        let variable = tree.values(index).next().and_then(|left| tree.get(left));
        let Some(variable) = variable.and_then(|left| left.cursor.referenced()) else { return };
        self.changed.insert(variable.identity());
        if is_back {
            self.lowered.insert(variable.identity());
        }
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
            && matches!(tree.kind(left), Kind::Name | Kind::MemberAccess)
            && node.cursor.binary_operator() == Operator::Assign
            && let Some(variable) = tree.get(left).and_then(|left| left.cursor.referenced())
        {
            self.add(variable.identity(), right);
        }
    }

    /// Values of members in lists.
    fn listed<'u>(&mut self, tree: &Tree<'u>, records: &Records<'_, 'u>, list: Index) {
        for value in tree.children(list) {
            let names = tree.children(value).filter(|child| tree.kind(*child) == Kind::MemberName);
            if let Some(member) = names.last().and_then(|name| tree.get(name)?.cursor.referenced()) {
                self.add(member.identity(), tree.children(value).last().unwrap_or(value));
            }
        }
        for (value, position) in positions(tree, records, list) {
            if let Position::Member(member) = position {
                self.add(member.identity(), value);
            }
        }
    }

    /// Results of functions that return `void *`.
    fn returned(&mut self, tree: &Tree<'_>, index: Index) {
        let Some(value) = tree.values(index).next().filter(|value| is_untyped(tree, *value)) else { return };
        let holders = std::iter::successors(tree.parent(index), |holder| tree.parent(*holder));
        let function = holders
            .filter_map(|holder| tree.get(holder))
            .find(|node| matches!(node.kind, Kind::Function | Kind::Lambda));
        if let Some(function) = function.filter(|function| function.kind == Kind::Function) {
            self.add(function.cursor.identity(), value);
        }
    }

    /// `call(function, object)`: the function may be handed the object.
    fn handed_to_callback(&mut self, tree: &Tree<'_>, index: Index) {
        let arguments: Vec<Index> = tree.values(index).skip(1).collect();
        let objects: Vec<Index> =
            arguments.iter().copied().filter(|argument| is_untyped(tree, *argument)).collect();
        if objects.is_empty() {
            return;
        }
        for argument in arguments.iter().copied() {
            let Some(function) = named_function(tree, argument) else { continue };
            let parameters = (0..function.argument_count()).filter_map(|number| function.argument(number));
            for parameter in parameters.filter(|parameter| is_void_pointer(parameter.ty())) {
                objects.iter().for_each(|object| self.add(parameter.identity(), *object));
            }
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

/// The function of this unit whose address an expression is.
fn named_function<'u>(tree: &Tree<'u>, index: Index) -> Option<Cursor<'u>> {
    let mut index = index;
    while matches!(tree.kind(index), Kind::Unexposed | Kind::Paren | Kind::Cast | Kind::Unary) {
        index = tree.only(index)?;
    }
    let name = tree.get(index).filter(|node| node.kind == Kind::Name)?;
    name.cursor.referenced()?.definition().filter(|function| function.kind() == Kind::Function)
}

fn is_untyped(tree: &Tree<'_>, index: Index) -> bool {
    tree.get(index).is_some_and(|node| is_void_pointer(node.cursor.ty()))
}

fn is_void_pointer(ty: Type<'_>) -> bool {
    ty.pointee().is_some_and(|pointee| pointee.kind() == TypeKind::Void)
}

/// Whether a node below a variable can be its value.
fn is_value(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::TypeName | Kind::Record | Kind::Union | Kind::Enumeration | Kind::Packed | Kind::Parameter
    )
}
