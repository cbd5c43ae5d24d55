//! Constructors, comparisons and bindings of C++.
//!
//! * `assigned`: objects that are left half assigned.
//! * `parameters`: parameters that values of members change.
//! * `numbered`: members whose declarations count.
//! * `tails`: bytes behind the last member of a part.

mod assigned;
mod numbered;
mod parameters;
mod tails;

use super::effects::{Effect, Effects};
use super::{initialisers, lists};
use crate::clang::{Cursor, Kind, Type, below};
use crate::demand::Demand;
use crate::records::{Part, own_name};
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;
use parameters::Accesses;

/// Most classes that are derived from one another.
const DEEPEST: usize = 8;

/// All that classes of a unit ask by how they are declared and derived.
pub(super) fn declared<'u>(view: View<'_, '_, 'u>, found: &mut Findings<'u>) {
    numbered::find(view, found);
    tails::find(view, found);
}

pub(super) fn find<'u>(
    view: View<'_, '_, 'u>,
    index: Index,
    effects: &Effects<'_, '_, 'u>,
    found: &mut Findings<'u>,
) {
    match view.tree.kind(index) {
        Kind::Constructor => constructor(view, index, effects, found),
        Kind::Function => comparison(view, index, effects, found),
        _ => binding(view, index, found),
    }
}

/// Members are constructed in their order, so what an initialiser reads stands in front.
fn constructor<'u>(
    view: View<'_, '_, 'u>,
    index: Index,
    effects: &Effects<'_, '_, 'u>,
    found: &mut Findings<'u>,
) {
    let class = view.cursor(index).and_then(Cursor::holder);
    let Some((class, node)) = class.zip(view.cursor(index)) else { return };
    let Some(subject) = view.records.declared(class) else { return };
    let mut members = special(view, class.ty(), effects);
    let mut initialised: Option<Part> = None;
    let mut given = Vec::new();
    for child in view.tree.children(index) {
        let Some(cursor) = view.cursor(child) else { continue };
        if view.tree.kind(child) == Kind::MemberName {
            initialised = cursor.referenced().and_then(|member| view.records.part(member));
        } else if let Some(then) = initialised.take() {
            let effect = of_value(view, child, effects);
            if let Some(own) = members.iter_mut().find(|own| own.name == then.member) {
                own.effect |= effect;
            }
            given.push((then.member.clone(), Accesses::read(effects, view, child)));
            constructed_from(view, (child, then), effects, found);
        }
    }
    ordered(subject, node, &members, found);
    let place = |name: &String| members.iter().position(|own| own.name == *name);
    given.sort_by_key(|(name, _)| place(name));
    for (at, (first, own)) in given.iter().enumerate() {
        for (then, _) in given.iter().skip(at + 1).filter(|(_, other)| own.meet(other)) {
            let why = format!("{first} and {then} are made of one parameter, which a value changes");
            let demand = Demand::Order { first: first.clone(), then: then.clone() };
            found.push(Found { subject, node, demand, why });
        }
    }
}

/// Members that a member's value reads stand in front of it, as they do.
fn constructed_from<'u>(
    view: View<'_, '_, 'u>,
    (value, then): (Index, Part),
    effects: &Effects<'_, '_, 'u>,
    found: &mut Findings<'u>,
) {
    let Some(node) = view.cursor(value) else { return };
    let reads = initialisers::reads(effects, view, value);
    let members = reads.members.into_iter().filter(|member| member.kind() == Kind::Member);
    for first in members.filter_map(|member| view.records.part(member)) {
        if first.subject != then.subject || first.member == then.member {
            continue;
        }
        let why = format!("{} is constructed from {}", then.member, first.member);
        let demand = Demand::Order { first: first.member, then: then.member.clone() };
        found.push(Found { subject: then.subject, node, demand, why });
    }
    if reads.is_open {
        around(view, node, &then, found);
    }
}

/// A member whose value may read all others keeps its place among them.
fn around<'u>(view: View<'_, '_, 'u>, node: Cursor<'u>, own: &Part, found: &mut Findings<'u>) {
    let is_declared = |record: &Cursor<'u>| view.records.declared(*record) == Some(own.subject);
    let mut holders = std::iter::successors(Some(node), |holder| holder.holder());
    let Some(class) = holders.find(is_declared) else { return };
    let members = view.records.members(class.ty());
    let Some(at) = members.iter().position(|member| member.name == own.member) else { return };
    for (number, other) in members.iter().enumerate().filter(|(number, _)| *number != at) {
        let (first, then) = if number < at { (&other.name, &own.member) } else { (&own.member, &other.name) };
        let why = format!("{} is constructed with the object, which has {} too", own.member, other.name);
        let demand = Demand::Order { first: first.clone(), then: then.clone() };
        found.push(Found { subject: own.subject, node, demand, why });
    }
}

/// A member and what making and dropping it does.
struct Special {
    name: String,
    effect: Effect,
}

fn special<'u>(view: View<'_, '_, 'u>, class: Type<'u>, effects: &Effects<'_, '_, 'u>) -> Vec<Special> {
    let members = view.records.members(class);
    let special =
        members.iter().map(|own| Special { name: own.name.clone(), effect: effects.of_type(own.ty) });
    special.collect()
}

/// An initialiser's effects.
fn of_value<'u>(view: View<'_, '_, 'u>, value: Index, effects: &Effects<'_, '_, 'u>) -> Effect {
    let nodes = || std::iter::once(value).chain(view.tree.below(value));
    Effect {
        acts: nodes().any(|below| changes(view, below, effects)),
        reads: nodes().any(|below| is_shared(view, below)),
        ..Effect::default()
    }
}

/// Whether a node is the name of a variable that others may change.
fn is_shared(view: View<'_, '_, '_>, index: Index) -> bool {
    let named = view.cursor(index).filter(|_| view.tree.kind(index) == Kind::Name);
    named.and_then(Cursor::referenced).is_some_and(|named| {
        let is_of_function = named.holder().is_some_and(|holder| {
            matches!(holder.kind(), Kind::Function | Kind::Constructor | Kind::Template)
        });
        named.kind() == Kind::Variable && !is_of_function && !named.ty().is_const()
    })
}

/// Whether a node may change something that another one sees: constructors and functions of C++'s library make values,
/// but for those that read streams.
fn changes<'u>(view: View<'_, '_, 'u>, index: Index, effects: &Effects<'_, '_, 'u>) -> bool {
    if view.tree.kind(index) != Kind::Call {
        return lists::has_effect(view, index);
    }
    let Some(function) = view.cursor(index).and_then(Cursor::referenced) else { return true };
    match function.kind() {
        // What classes of the program do when they are constructed is asked by their members.
        Kind::Constructor => false,
        _ if effects.body(function).is_some() && !function.is_of_system() && !function.is_virtual() => {
            effects.of_function(function).acts
        }
        _ => {
            !function.is_of_system()
                || !function.is_of_cpp() && function.template().is_none()
                || ["operator>>", "operator()", "get", "exchange"].contains(&function.name().as_str())
        }
    }
}

/// Members that do something when they are made, copied or dropped keep their order.
pub(super) fn effects<'u>(
    view: View<'_, '_, 'u>,
    index: Index,
    effects: &Effects<'_, '_, 'u>,
    found: &mut Findings<'u>,
) {
    let record = view.cursor(index).filter(|_| view.records.is_definition(view.tree, index));
    let Some((node, subject)) = record.and_then(|node| Some((node, view.records.declared(node)?))) else {
        return;
    };
    if !node.is_of_cpp() {
        return;
    }
    if has_own_memory(view, node.ty(), DEEPEST) {
        let why = "is made in memory that its class hands out".to_owned();
        found.push(Found { subject, node, demand: Demand::Room, why });
    }
    assigned::find(view, (index, subject), effects, found);
    let mut members = special(view, node.ty(), effects);
    for child in view.tree.children(index).filter(|child| view.tree.kind(*child) == Kind::Member) {
        let name = view.cursor(child).and_then(own_name);
        let own = members.iter_mut().find(|own| name.as_deref() == Some(own.name.as_str()));
        if let Some(own) = own {
            view.tree.values(child).for_each(|value| own.effect |= of_value(view, value, effects));
        }
    }
    ordered(subject, node, &members, found);
}

/// Members that do something stay in their order, and those that look at others stay among those they may find gone.
fn ordered<'u>(subject: usize, node: Cursor<'u>, members: &[Special], found: &mut Findings<'u>) {
    let acts = members.iter().any(|own| own.effect.acts);
    let is_busy = |own: &&Special| own.effect.acts || own.effect.looks || own.effect.reads && acts;
    let mut push = |first: &Special, then: &Special| {
        let why = format!("{} is constructed before {}", first.name, then.name);
        let demand = Demand::Order { first: first.name.clone(), then: then.name.clone() };
        found.push(Found { subject, node, demand, why });
    };
    let busy: Vec<&Special> = members.iter().filter(is_busy).collect();
    busy.iter().zip(busy.iter().skip(1)).for_each(|(first, then)| push(first, then));
    for (at, own) in members.iter().enumerate().filter(|(_, own)| !is_busy(own) && own.effect.ends) {
        let (before, behind) = members.split_at(at);
        if let Some(first) = before.iter().rfind(|other| other.effect.looks) {
            push(first, own);
        }
        if let Some(then) = behind.iter().find(|other| other.effect.looks) {
            push(own, then);
        }
    }
}

/// Whether a class, or one it is derived from, has an `operator new` of its own: it may know how many bytes are asked for.
fn has_own_memory<'u>(view: View<'_, '_, 'u>, ty: Type<'u>, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let Some(class) = ty.canonical().declaration().and_then(Cursor::definition) else { return false };
    let mut is_own = false;
    below(class, |part, _| {
        is_own |= part.kind() == Kind::Function && part.name().starts_with("operator new");
    });
    is_own || view.records.bases(ty).into_iter().any(|base| has_own_memory(view, base, depth))
}

/// `int b = a + 1;`: the value a member has if no constructor gives it another.
pub(super) fn member<'u>(
    view: View<'_, '_, 'u>,
    index: Index,
    effects: &Effects<'_, '_, 'u>,
    found: &mut Findings<'u>,
) {
    let Some(then) = view.cursor(index).and_then(|node| view.records.part(node)) else { return };
    for value in view.tree.values(index) {
        constructed_from(view, (value, then.clone()), effects, found);
    }
}

/// `= default`ed order goes by the members'.
fn comparison<'u>(
    view: View<'_, '_, 'u>,
    index: Index,
    effects: &Effects<'_, '_, 'u>,
    found: &mut Findings<'u>,
) {
    let Some(node) = view.cursor(index).filter(|node| node.is_defaulted() || is_defaulted_friend(*node))
    else {
        return;
    };
    let of_friend = || node.argument(0)?.ty().pointee()?.canonical().declaration();
    let class = if node.is_defaulted() { node.holder() } else { of_friend() };
    let Some(class) = class else { return };
    let Some(subject) = view.records.declared(class) else { return };
    // It ends at the first members that differ.
    if node.name() == "operator==" && effects.of_comparing(class.ty()).acts {
        let why = "is compared by its members in turn, and comparing one of them can be seen".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
    if ["operator<=>", "operator<", "operator>", "operator<=", "operator>="].contains(&node.name().as_str()) {
        let why = "is ordered by its members in turn".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}

/// `friend bool operator<(const T &, const T &) = default;`: the front end tells only of methods.
fn is_defaulted_friend(node: Cursor<'_>) -> bool {
    let is_operator = !node.is_of_system() && node.name().starts_with("operator");
    is_operator && node.words().ends_with(&["=".to_owned(), "default".to_owned()])
}

/// `auto [a, b] = object;`
fn binding<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let names =
        view.tree.children(index).filter(|child| view.tree.kind(*child) == Kind::UnexposedDeclaration);
    let count = names.count();
    let Some(node) = view.cursor(index).filter(|_| count > 0) else { return };
    let ty = node.ty();
    let ty = ty.pointee().unwrap_or(ty);
    if let Some(subject) = view.records.subject(ty) {
        let why = "is taken apart by position".to_owned();
        found.push(Found { subject, node, demand: Demand::First { count }, why });
    }
}
