//! Initialisers by position. The front end shows lists as they are written, so the declared types are followed here.

use crate::clang::{Kind, Operator, Type, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;
use std::iter::Peekable;
use std::vec::IntoIter;

/// The values of a list that are still to be placed.
type Values = Peekable<IntoIter<Index>>;

/// A list being read.
struct List<'l, 'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    node: Index,
    found: &'l mut Findings<'u>,
}

pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(cursor) = view.cursor(index) else { return };
    let values: Vec<Index> = view.tree.children(index).collect();
    let ty = cursor.ty();
    if values.is_empty() || is_zero(view, index) && fits_any_first(view, index, ty) {
        return;
    }
    asked(view, index, ty, found);
    let mut list = List { view, node: index, found };
    let mut values = values.into_iter().peekable();
    match ty.kind() {
        TypeKind::Record => {
            list.evaluated(ty);
            list.record(ty, &mut values);
        }
        TypeKind::Array => list.array(ty, &mut values),
        _ => {}
    }
}

/// `requires { T{1, 2} }`: how many values make an object, and of which types.
fn asked<'u>(view: View<'_, '_, 'u>, index: Index, ty: Type<'u>, found: &mut Findings<'u>) {
    let mut parents = std::iter::successors(view.tree.parent(index), |parent| view.tree.parent(*parent));
    let Some((subject, node)) = view.records.subject(ty).zip(view.cursor(index)) else { return };
    if parents.any(|parent| view.tree.kind(parent) == Kind::Requires) {
        let why = "is asked which values it can be made of".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}

/// Whether a list is `{0}`, which clears all.
fn is_zero(view: View<'_, '_, '_>, index: Index) -> bool {
    let Some(only) = view.tree.only(index) else { return false };
    match view.tree.kind(only) {
        Kind::List => view.tree.children(only).next().is_none() || is_zero(view, only),
        Kind::Unexposed if is_designated(view, only) => false,
        _ => view.cursor(only).is_some_and(|cursor| cursor.constant() == Some(0)),
    }
}

/// Whether what clears an object may stand for whatever member is the first. In C a pointer is no number
/// (`{NULL}`, `-Wint-conversion`), and braces don't belong around a number (`{{0}}`): compilers warn.
fn fits_any_first(view: View<'_, '_, '_>, index: Index, ty: Type<'_>) -> bool {
    let Some(only) = view.tree.only(index) else { return true };
    if view.tree.kind(only) == Kind::List {
        // Lists of elements are judged by themselves.
        let is_cpp = ty.canonical().declaration().is_some_and(|record| record.is_of_cpp());
        return is_cpp || ty.kind() == TypeKind::Array;
    }
    let is_pointer = |node: Index| {
        view.tree.kind(node) == Kind::Cast
            && view.cursor(node).is_some_and(|cursor| cursor.ty().kind() == TypeKind::Pointer)
    };
    !is_pointer(only) && !view.tree.below(only).any(is_pointer)
}

/// Whether a value of a list says where it goes. It has no type of its own then.
fn is_designated(view: View<'_, '_, '_>, index: Index) -> bool {
    view.tree.kind(index) == Kind::Unexposed
        && view.cursor(index).is_some_and(|cursor| cursor.ty().kind() == TypeKind::Void)
        && view.tree.children(index).count() > 1
}

impl<'u> List<'_, '_, '_, 'u> {
    fn array(&mut self, ty: Type<'u>, values: &mut Values) {
        let Some(element) = ty.element() else { return };
        let mut count = 0;
        while let Some(value) = values.peek().copied() {
            if ty.length().is_some_and(|length| length > 0 && count >= length) {
                return;
            }
            if is_designated(self.view, value) {
                values.next();
                if self.names(value) > 0 {
                    self.goes_on_inside(element, values);
                }
            } else {
                self.place(element, values);
            }
            count += 1;
        }
    }

    /// One value into a place of a type, or as many as a place of that type holds.
    fn place(&mut self, ty: Type<'u>, values: &mut Values) {
        let Some(value) = values.peek().copied() else { return };
        let is_whole = !matches!(ty.kind(), TypeKind::Record | TypeKind::Array)
            || self.view.tree.kind(value) == Kind::List
            || self.has_type(value, ty);
        if is_whole {
            values.next();
        } else if ty.kind() == TypeKind::Record {
            self.record(ty, values);
        } else {
            self.array(ty, values);
        }
    }

    fn has_type(&self, value: Index, ty: Type<'u>) -> bool {
        let Some(own) = self.view.cursor(value).map(|cursor| cursor.ty()) else { return false };
        let is_text = ty.kind() == TypeKind::Array && own.kind() == TypeKind::Array;
        is_text || own.kind() == TypeKind::Record || own.kind() == TypeKind::Other
    }

    /// Named values that do something are evaluated in the members' order; C++ wants all names in that order.
    fn evaluated(&mut self, ty: Type<'u>) {
        let (Some(subject), Some(node)) = (self.view.records.subject(ty), self.view.cursor(self.node)) else {
            return;
        };
        let members = self.view.records.members(ty);
        let is_cpp = ty.canonical().declaration().is_some_and(|record| record.is_of_cpp());
        let tree = self.view.tree;
        let named = tree.children(self.node).filter(|value| is_designated(self.view, *value));
        let named =
            named.filter(|value| is_cpp || tree.below(*value).any(|below| has_effect(self.view, below)));
        let names: Vec<String> = named
            .filter_map(|value| members.get(self.designated(ty, value)?).map(|member| member.name.clone()))
            .collect();
        for (first, then) in names.iter().zip(names.iter().skip(1)) {
            let why = format!("initialisers of {first} and {then} are evaluated in the members' order");
            let demand = Demand::Order { first: first.clone(), then: then.clone() };
            self.found.push(Found { subject, node, demand, why });
        }
    }

    fn record(&mut self, ty: Type<'u>, values: &mut Values) {
        let members = self.view.records.members(ty);
        let is_union = ty.canonical().declaration().is_some_and(|record| record.kind() == Kind::Union);
        let mut run = Run { from: 0, count: 0, is_designated: false };
        let mut at = 0;
        while let Some(value) = values.peek().copied() {
            if is_designated(self.view, value) {
                let Some(number) = self.designated(ty, value) else { break };
                self.tell(ty, &run);
                values.next();
                if self.names(value) > 1 {
                    self.goes_on_inside(ty, values);
                }
                run = Run { from: number, count: 1, is_designated: true };
                at = number + 1;
                continue;
            }
            let Some(member) = members.get(at) else { break };
            run.count += 1;
            at += 1;
            self.place(member.ty, values);
            if is_union {
                break;
            }
        }
        self.tell(ty, &run);
    }

    /// How many members inside one another a value names.
    fn names(&self, value: Index) -> usize {
        let children = self.view.tree.children(value);
        children.filter(|child| self.view.tree.kind(*child) == Kind::MemberName).count()
    }

    /// `.a.b = 1, 2`: a value without a name behind one deep inside. Nothing in the type may move.
    fn goes_on_inside(&mut self, ty: Type<'u>, values: &mut Values) {
        if values.peek().is_none_or(|next| is_designated(self.view, *next)) {
            return;
        }
        let members = self.view.records.members(ty);
        let inner = members.iter().map(|member| member.ty);
        let subjects: Vec<usize> =
            std::iter::once(ty).chain(inner).filter_map(|ty| self.view.records.subject(ty)).collect();
        let Some(node) = self.view.cursor(self.node) else { return };
        for subject in subjects {
            let why = "an initialiser goes on behind a member inside a member".to_owned();
            self.found.push(Found { subject, node, demand: Demand::Whole, why });
        }
    }

    /// The number of the member that a value names; `None` if it names one of another record.
    fn designated(&self, ty: Type<'u>, value: Index) -> Option<usize> {
        let tree = self.view.tree;
        let name = tree.children(value).find(|child| tree.kind(*child) == Kind::MemberName)?;
        self.view.records.number(ty, &self.view.cursor(name)?.name())
    }

    fn tell(&mut self, ty: Type<'u>, run: &Run) {
        let (Some(subject), Some(list)) = (self.view.records.subject(ty), self.view.cursor(self.node)) else {
            return;
        };
        let demand = match (run.is_designated, run.count) {
            (_, 0) | (true, 1) => return,
            (false, count) => Demand::First { count },
            (true, count) => {
                let members = self.view.records.members(ty);
                let names = members.iter().skip(run.from).take(count).map(|member| member.name.clone());
                Demand::Run { members: names.collect() }
            }
        };
        let why = match run.is_designated {
            true => "an initialiser goes on behind a named member without names".to_owned(),
            false => format!("is initialised by position ({} values)", run.count),
        };
        self.found.push(Found { subject, node: list, demand, why });
    }
}

/// Values without names in a row.
struct Run {
    /// The member the first goes into.
    from: usize,
    count: usize,
    /// Whether the first had a name.
    is_designated: bool,
}

/// Whether a node does something but give a value: `f()`, `n++`, `a = b`.
pub(super) fn has_effect(view: View<'_, '_, '_>, index: Index) -> bool {
    let Some(cursor) = view.cursor(index) else { return false };
    match view.tree.kind(index) {
        Kind::Call => true,
        Kind::Unary => matches!(cursor.unary_operator(), Operator::Step | Operator::StepBack),
        Kind::Binary => {
            matches!(cursor.binary_operator(), Operator::Assign | Operator::Move | Operator::MoveBack)
        }
        _ => false,
    }
}
