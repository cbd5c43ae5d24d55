//! Parameters of constructors that one member's value changes and another one's reads: the values are made in the members'
//! order.

use crate::clang::{Cursor, Identity, Kind, Operator, Type, TypeKind};
use crate::rules::effects::Effects;
use crate::sum::View;
use crate::tree::Index;
use rustc_hash::{FxHashMap, FxHashSet};

/// Most functions that hand an object on to one another.
const DEEPEST: usize = 6;

/// Methods of C++'s library that are there for objects that may be changed, and only lead to their parts.
const LEADING: [&str; 24] = [
    "operator[]",
    "operator*",
    "operator->",
    "operator bool",
    "at",
    "front",
    "back",
    "top",
    "data",
    "c_str",
    "get",
    "value",
    "begin",
    "end",
    "rbegin",
    "rend",
    "find",
    "lower_bound",
    "upper_bound",
    "equal_range",
    "operator=",
    "rdbuf",
    "view",
    "str",
];

/// Functions of C++'s library that hand on the object they are given as it is.
const SAME: [&str; 3] = ["move", "forward", "move_if_noexcept"];

/// Functions of C++'s library that only lead to an object they are given or to its parts, or make another one of it.
const POINTING: [&str; 19] = [
    "addressof",
    "as_const",
    "ref",
    "cref",
    "get",
    "get_if",
    "begin",
    "end",
    "data",
    "size",
    "min",
    "max",
    "to_address",
    "__addressof",
    "make_unique",
    "make_shared",
    "make_pair",
    "make_tuple",
    "tie",
];

/// A step from an object to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Member(Identity),
    /// The object that a pointer leads to.
    Target,
}

/// An object that a function is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Root {
    Parameter(Identity),
    This,
}

/// A part of such an object that is read or changed.
#[derive(Clone, Debug)]
struct Access {
    root: Root,
    path: Vec<Step>,
    is_change: bool,
}

impl Access {
    /// Whether it matters which of two comes first.
    fn meets(&self, other: &Self) -> bool {
        if self.root != other.root || !self.is_change && !other.is_change {
            return false;
        }
        let (short, long) = if self.path.len() <= other.path.len() { (self, other) } else { (other, self) };
        let Some(rest) = long.path.strip_prefix(short.path.as_slice()) else { return false };
        // A pointer stays the same when what it leads to is changed.
        short.is_change || !rest.contains(&Step::Target)
    }
}

/// The parts of a constructor's parameters that a value reads or changes.
#[derive(Debug, Default)]
pub(super) struct Accesses(Vec<Access>);

impl Accesses {
    pub(super) fn read<'u>(effects: &Effects<'_, '_, 'u>, view: View<'_, '_, 'u>, value: Index) -> Self {
        let mut reader = Reader {
            effects,
            view,
            called: FxHashSet::default(),
            known: FxHashMap::default(),
            depth: DEEPEST,
        };
        Self(reader.below(value).into_iter().filter(|access| access.root != Root::This).collect())
    }

    /// Whether it matters which of two values is made first.
    pub(super) fn meet(&self, other: &Self) -> bool {
        self.0.iter().any(|own| other.0.iter().any(|access| own.meets(access)))
    }
}

struct Reader<'e, 'v, 's, 'u> {
    effects: &'e Effects<'v, 's, 'u>,
    view: View<'e, 's, 'u>,
    /// Functions that are being read.
    called: FxHashSet<Identity>,
    /// Whether functions change what they are given.
    known: FxHashMap<(Identity, Root), bool>,
    depth: usize,
}

impl<'u> Reader<'_, '_, '_, 'u> {
    /// All accesses in a node and below it.
    fn below(&mut self, at: Index) -> Vec<Access> {
        let nodes = std::iter::once(at).chain(self.view.tree.below(at));
        nodes.flat_map(|node| self.access(node)).collect()
    }

    /// Accesses to the object that a node names.
    fn access(&mut self, node: Index) -> Vec<Access> {
        let Some(cursor) = self.view.cursor(node) else { return Vec::new() };
        let mut place = match self.view.tree.kind(node) {
            Kind::This => Place { at: node, root: Root::This, path: vec![Step::Target], is_given_up: false },
            Kind::MemberAccess if self.view.tree.values(node).next().is_none() => {
                let Some(member) = cursor.referenced().filter(|member| member.kind() == Kind::Member) else {
                    return self.own_method(node, cursor);
                };
                let path = vec![Step::Target, Step::Member(member.identity())];
                Place { at: node, root: Root::This, path, is_given_up: false }
            }
            Kind::Name => {
                let Some(own) = cursor.referenced().filter(|named| named.kind() == Kind::Parameter) else {
                    return Vec::new();
                };
                Place {
                    at: node,
                    root: Root::Parameter(own.identity()),
                    path: Vec::new(),
                    is_given_up: false,
                }
            }
            _ => return Vec::new(),
        };
        place.lead(self.view);
        self.used(place)
    }

    /// A method of the own object that is called by its name alone.
    fn own_method(&mut self, node: Index, cursor: Cursor<'u>) -> Vec<Access> {
        let is_change = cursor.referenced().is_some_and(|method| self.method_changes(method));
        let is_called =
            self.view.tree.parent(node).is_some_and(|parent| self.view.tree.kind(parent) == Kind::Call);
        let path = vec![Step::Target];
        Vec::from_iter(is_called.then_some(Access { root: Root::This, path, is_change }))
    }

    /// Accesses of the expression around a place.
    fn used(&mut self, place: Place) -> Vec<Access> {
        let Place { at, root, path, is_given_up } = place;
        let ty = self.view.cursor(at).map(Cursor::ty);
        let mut accesses = Vec::new();
        let mut add = |path: &[Step], is_change: bool| {
            accesses.push(Access { root, path: path.to_vec(), is_change });
        };
        let target = || path.iter().copied().chain([Step::Target]).collect::<Vec<Step>>();
        match self.use_at(at) {
            Way::Written => add(&path, true),
            Way::Method(method) => add(&path, self.method_changes(method)),
            Way::Unknown => {
                add(&path, true);
                add(&target(), true);
            }
            Way::Given { callee, number, is_address } => {
                let is_change = self.changes(callee, number);
                let is_pointer = ty.is_some_and(|ty| is_pointer(ty)) && !is_address;
                match passed(callee, number) {
                    Some(Passed::Value) | None if is_pointer => add(&target(), is_change),
                    Some(Passed::Value) if !is_address => add(&path, is_given_up && self.is_owner(ty)),
                    Some(Passed::GivenUp) => add(&path, is_change || self.is_owner(ty)),
                    _ => add(&path, is_change),
                }
                add(&path, false);
            }
            Way::Read => add(&path, is_given_up && self.is_owner(ty)),
        }
        accesses
    }

    /// Whether an object is left without something when it is moved from.
    fn is_owner(&self, ty: Option<Type<'u>>) -> bool {
        let own = ty.map(|ty| ty.pointee().filter(|_| ty.is_reference()).unwrap_or(ty));
        own.is_none_or(|own| match own.kind() {
            TypeKind::Record => !own.is_plain_data(),
            TypeKind::Other => !own.is_enumeration() && !own.is_known(),
            _ => false,
        })
    }

    /// The use that the nearest expression around a place makes of it.
    fn use_at(&self, place: Index) -> Way<'u> {
        let (view, mut at, mut is_address) = (self.view, place, false);
        while let Some(parent) = view.tree.parent(at) {
            let Some(cursor) = view.cursor(parent) else { return Way::Read };
            let is_first = view.tree.values(parent).next() == Some(at);
            match view.tree.kind(parent) {
                Kind::Paren | Kind::Cast | Kind::FunctionalCast => at = parent,
                Kind::Unexposed if view.tree.only(parent).is_some() => at = parent,
                Kind::Conditional if !is_first => at = parent,
                Kind::Unary => match cursor.unary_operator() {
                    Operator::Step | Operator::StepBack => return Way::Written,
                    Operator::AddressOf => (at, is_address) = (parent, true),
                    _ => return Way::Read,
                },
                Kind::Binary if is_first && is_assignment(cursor.binary_operator()) => return Way::Written,
                Kind::MemberAccess => return self.method(parent, cursor),
                Kind::Call => return self.handed(parent, at, is_address),
                _ => return Way::Read,
            }
        }
        Way::Read
    }

    /// `object.method()`
    fn method(&self, access: Index, cursor: Cursor<'u>) -> Way<'u> {
        let call = self.view.tree.parent(access).filter(|call| self.view.tree.kind(*call) == Kind::Call);
        match cursor.referenced() {
            Some(method) if method.kind() == Kind::Function => Way::Method(method),
            None if call.is_some() && !LEADING.contains(&cursor.name().as_str()) => Way::Unknown,
            _ => Way::Read,
        }
    }

    /// An object that a call is given.
    fn handed(&self, call: Index, value: Index, is_address: bool) -> Way<'u> {
        let Some(cursor) = self.view.cursor(call) else { return Way::Unknown };
        let Some(callee) = cursor.referenced() else { return Way::Unknown };
        let count = usize::try_from(cursor.argument_count()).unwrap_or(0);
        let values: Vec<Index> = self.view.tree.values(call).collect();
        // The function's name stands in front, or behind the first operand.
        let is_name = |at: &Index| {
            let named = self.view.cursor(self.view.peeled(*at)).and_then(Cursor::referenced);
            named.is_some_and(|named| named.identity() == callee.identity())
        };
        let arguments: Vec<Index> = values.iter().copied().filter(|at| !is_name(at)).collect();
        let skipped = arguments.len().saturating_sub(count.min(arguments.len()));
        let Some(number) = arguments.iter().skip(skipped).position(|at| *at == value) else {
            return Way::Read;
        };
        // An operator that is a method has its object for an argument.
        let is_operator = callee.name().starts_with("operator") && count > callee.ty().parameter_count();
        match number {
            0 if is_operator => Way::Method(callee),
            _ => {
                let number = number.saturating_sub(usize::from(is_operator));
                Way::Given { callee, number: u32::try_from(number).unwrap_or(u32::MAX), is_address }
            }
        }
    }

    /// Whether a method may change its object.
    fn method_changes(&mut self, method: Cursor<'u>) -> bool {
        if method.is_const_method() || method.is_static() || method.kind() != Kind::Function {
            return false;
        }
        let name = method.name();
        if method.is_of_system() {
            return !LEADING.contains(&name.as_str()) || name == "operator=";
        }
        method.is_virtual() || self.body_changes(method, Root::This)
    }

    /// Whether a function may change what it is given: the object itself by a reference, or what a pointer leads to.
    fn changes(&mut self, callee: Cursor<'u>, number: u32) -> bool {
        if !callee.ty().parameter(number).is_some_and(may_be_changed) {
            return callee.ty().parameter(number).is_none() && !callee.is_of_system();
        }
        let name = callee.name();
        match callee.kind() {
            _ if SAME.contains(&name.as_str()) && callee.is_of_system() => false,
            Kind::Constructor if callee.is_of_system() => false,
            _ if callee.is_of_system() => !POINTING.contains(&name.as_str()),
            Kind::Constructor if self.effects.body(callee).is_none() => !callee.is_defaulted(),
            _ if callee.is_virtual() => true,
            _ => {
                let own = callee.definition().unwrap_or(callee).argument(number).map(Cursor::identity);
                own.is_none_or(|own| self.body_changes(callee, Root::Parameter(own)))
            }
        }
    }

    /// Whether a function's body changes an object that it is given.
    fn body_changes(&mut self, function: Cursor<'u>, root: Root) -> bool {
        let Some(body) = self.effects.body(function) else { return true };
        let Some(depth) = self.depth.checked_sub(1) else { return true };
        if let Some(known) = self.known.get(&(function.identity(), root)) {
            return *known;
        }
        if !self.called.insert(function.identity()) {
            return false;
        }
        let kept = std::mem::replace(&mut self.depth, depth);
        let accesses = self.below(body);
        self.depth = kept;
        self.called.remove(&function.identity());
        let is_own = |access: &Access| access.root == root && access.is_change;
        let is_changed = accesses.iter().any(is_own) || self.effects.of_function(function).acts;
        self.known.insert((function.identity(), root), is_changed);
        is_changed
    }
}

/// An expression that is a part of an object.
#[derive(Debug)]
struct Place {
    at: Index,
    root: Root,
    path: Vec<Step>,
    /// Whether it may be moved from.
    is_given_up: bool,
}

impl Place {
    /// Goes on to the widest expression that is a part of the object.
    fn lead(&mut self, view: View<'_, '_, '_>) {
        while let Some(parent) = view.tree.parent(self.at) {
            let Some(cursor) = view.cursor(parent) else { return };
            let is_first = view.tree.values(parent).next() == Some(self.at);
            let is_pointer = view.cursor(self.at).is_some_and(|own| is_pointer(own.ty()));
            match view.tree.kind(parent) {
                Kind::Paren => {}
                Kind::Unexposed if view.tree.only(parent).is_some() => {}
                Kind::MemberAccess => {
                    let member = cursor.referenced().filter(|member| member.kind() == Kind::Member);
                    let Some(member) = member else { return };
                    self.path.extend((is_pointer && self.path != [Step::Target]).then_some(Step::Target));
                    self.path.push(Step::Member(member.identity()));
                }
                Kind::Unary if cursor.unary_operator() == Operator::Dereference => {
                    self.path.extend((self.path != [Step::Target]).then_some(Step::Target));
                }
                Kind::Subscript if is_first => self.path.extend(is_pointer.then_some(Step::Target)),
                // `static_cast<T &&>(object)`
                Kind::Cast if view.cursor(self.at).is_some_and(|own| own.ty().equals(cursor.ty())) => {
                    self.is_given_up = true;
                }
                Kind::Call if gives_up(cursor) => self.is_given_up = true,
                _ => return,
            }
            self.at = parent;
        }
    }
}

/// The use that an expression makes of a place in it.
enum Way<'u> {
    Read,
    Written,
    /// A method is called.
    Method(Cursor<'u>),
    /// It is an argument of a function, or its address is.
    Given {
        callee: Cursor<'u>,
        number: u32,
        is_address: bool,
    },
    /// It is handed to a function that nobody knows.
    Unknown,
}

/// How an argument is passed.
enum Passed {
    Value,
    Reference,
    /// As an object that may be moved from.
    GivenUp,
}

/// How a function takes an argument; `None` if it doesn't say.
fn passed(callee: Cursor<'_>, number: u32) -> Option<Passed> {
    let ty = callee.ty().parameter(number)?;
    let is_owner = |own: Type<'_>| own.kind() == TypeKind::Record && !own.is_plain_data();
    Some(match ty.is_bound() {
        true if ty.is_given_up() && ty.pointee().is_some_and(is_owner) => Passed::GivenUp,
        true => Passed::Reference,
        false => Passed::Value,
    })
}

/// `std::move(object)`
fn gives_up(call: Cursor<'_>) -> bool {
    let name = call.name();
    let callee = call.referenced();
    SAME.contains(&name.as_str()) && call.argument_count() == 1 && callee.is_none_or(Cursor::is_of_system)
}

/// Whether a parameter's type lets a function change what it is given.
fn may_be_changed(ty: Type<'_>) -> bool {
    ty.kind() == TypeKind::Pointer && ty.pointee().is_some_and(|own| !own.is_const())
}

fn is_pointer(ty: Type<'_>) -> bool {
    ty.kind() == TypeKind::Pointer && !ty.is_bound()
}

fn is_assignment(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Assign | Operator::Move | Operator::MoveBack | Operator::AssignBits | Operator::Scale
    )
}
