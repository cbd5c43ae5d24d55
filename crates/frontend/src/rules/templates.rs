//! Templates: the front end shows them as they are written, not what they become, so each call of one is asked which
//! types it is made for.

use crate::addresses::reads_open_bytes;
use crate::clang::{Cursor, Identity, Kind, Type, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;

/// Most templates that call one another.
const DEEPEST: usize = 4;

/// A call of a function that was made from a template: types it is made for may be made or taken apart in it.
pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let subjects_of = |types: Vec<Type<'u>>| {
        let mut subjects: Vec<usize> = types.into_iter().filter_map(|ty| view.records.subject(ty)).collect();
        subjects.sort_unstable();
        subjects.dedup();
        subjects
    };
    hidden(view, node, &subjects_of(node.ty().template_arguments()), found);
    let Some(made) = node.referenced() else { return };
    made_in_place(view, index, made, &subjects_of(node.ty().template_arguments()), found);
    // What it becomes is read.
    let Some(template) = made.template().filter(|_| made.definition().is_none()) else { return };
    let subjects = subjects_of(types(view, index, node));
    if subjects.is_empty() {
        return;
    }
    let count = values(view, template).max(handed_on(view, index, node));
    if reads_bytes(view, template.identity(), DEEPEST) {
        for subject in subjects {
            let why = format!("the template {} reads its bytes", node.name());
            found.push(Found { subject, node, demand: Demand::Whole, why });
        }
        return;
    }
    if count == 0 {
        return;
    }
    for subject in subjects {
        let why = format!("the template {} goes by its members' position", node.name());
        found.push(Found { subject, node, demand: Demand::First { count }, why });
    }
}

/// A function that a template becomes, which asks how many values an object can be made of: where it can't be, the tree
/// shows nothing of that.
pub(super) fn asking<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let made = view.cursor(index).filter(|made| view.tree.parent(index).is_none() && !made.is_of_system());
    let Some((made, template)) = made.and_then(|made| Some((made, made.template()?))) else { return };
    let mut subjects: Vec<usize> =
        made.template_arguments().into_iter().filter_map(|ty| view.records.subject(ty)).collect();
    subjects.dedup();
    if subjects.is_empty() || !asks(&template.words()) {
        return;
    }
    for subject in subjects {
        let why = format!("the template {} asks which values it can be made of", made.name());
        found.push(Found { subject, node: made, demand: Demand::Whole, why });
    }
}

/// Whether a template's text asks what objects of its types can be made of.
fn asks(words: &[String]) -> bool {
    let is_trait = |word: &String| word.contains("constructible") && !word.contains("default_");
    let begins = words.iter().position(|word| ["requires", "decltype"].contains(&word.as_str()));
    let types: Vec<&String> = words
        .windows(2)
        .filter_map(|pair| match pair {
            [key, name] if ["typename", "class"].contains(&key.as_str()) => Some(name),
            _ => None,
        })
        .collect();
    let behind = words.get(begins.unwrap_or(words.len())..).unwrap_or_default();
    let makes = behind.windows(2).any(|pair| match pair {
        [name, bracket] => types.contains(&name) && ["{", "("].contains(&bracket.as_str()),
        _ => false,
    });
    makes || words.iter().any(is_trait)
}

/// `std::optional<T>(std::in_place, 1, 2)`: the values in turn make the object.
fn made_in_place<'u>(
    view: View<'_, '_, 'u>,
    index: Index,
    made: Cursor<'u>,
    subjects: &[usize],
    found: &mut Findings<'u>,
) {
    if subjects.is_empty() || made.kind() != Kind::Constructor || !made.is_of_system() {
        return;
    }
    let types = view.tree.values(index).filter_map(|value| Some(view.cursor(value)?.ty()));
    let types: Vec<Type<'u>> = types.map(|ty| ty.pointee().unwrap_or(ty)).collect();
    let is_tag = |ty: &Type<'u>| ty.spelling().contains("in_place");
    let count = types.iter().filter(|ty| !is_tag(ty)).count();
    let is_copy = types.iter().any(|ty| view.records.subject(*ty).is_some());
    if count == 0 || is_copy || !types.iter().any(is_tag) {
        return;
    }
    let Some(node) = view.cursor(index) else { return };
    for subject in subjects.iter().copied() {
        let why = format!("is made in place of {count} values in turn");
        found.push(Found { subject, node, demand: Demand::First { count }, why });
    }
}

/// Functions of a class that are run where the text has no call: the front end doesn't lead to what they become.
fn hidden<'u>(view: View<'_, '_, 'u>, node: Cursor<'u>, subjects: &[usize], found: &mut Findings<'u>) {
    let class = node.ty().canonical().declaration().filter(|_| !subjects.is_empty());
    let Some(class) = class.and_then(Cursor::template).filter(|class| !class.is_of_system()) else { return };
    let is_class = |at: &Index| view.cursor(*at).is_some_and(|at| at.identity() == class.identity());
    let Some(class) = (0..view.tree.len()).find(|at| view.tree.kind(*at) == Kind::Other && is_class(at))
    else {
        return;
    };
    for method in view.tree.children(class) {
        let Some(cursor) = view.cursor(method) else { continue };
        let is_hidden = match view.tree.kind(method) {
            Kind::Destructor => true,
            Kind::Function => {
                cursor.is_virtual() || ["begin", "end"].iter().any(|name| cursor.name() == *name)
            }
            _ => false,
        };
        if !is_hidden {
            continue;
        }
        let demand = match (reads_bytes(view, cursor.identity(), DEEPEST), values(view, cursor)) {
            (true, _) => Demand::Whole,
            (false, 0) => continue,
            (false, count) => Demand::First { count },
        };
        for subject in subjects.iter().copied() {
            let why =
                format!("the template {} reads it by its bytes or its members' position", cursor.name());
            found.push(Found { subject, node, demand: demand.clone(), why });
        }
    }
}

/// The types that a call can be made for: those of its result, its object and its arguments, and what templates among
/// them are made for.
fn types<'u>(view: View<'_, '_, 'u>, index: Index, call: Cursor<'u>) -> Vec<Type<'u>> {
    let function =
        view.tree.values(index).next().filter(|first| view.tree.kind(*first) == Kind::MemberAccess);
    let object = function.and_then(|function| view.tree.values(function).next());
    let values = view.tree.values(index).chain(object).filter_map(|value| view.cursor(value));
    let own = std::iter::once(call).chain(values).map(Cursor::ty);
    let mut types: Vec<Type<'u>> = own.map(|ty| ty.pointee().unwrap_or(ty)).collect();
    let records = types.iter().filter(|ty| ty.kind() == TypeKind::Record);
    let more: Vec<Type<'u>> = records.flat_map(|ty| ty.template_arguments()).collect();
    types.extend(more);
    types
}

/// Whether a template takes an address of a type it doesn't know for one of bytes, itself or through others.
fn reads_bytes(view: View<'_, '_, '_>, template: Identity, depth: usize) -> bool {
    let is_own = |at: &Index| view.cursor(*at).is_some_and(|cursor| cursor.identity() == template);
    let mut all = (0..view.tree.len()).filter(|at| is_function(view, *at));
    let Some(at) = all.find(is_own).filter(|at| view.cursor(*at).is_some_and(|own| !own.is_of_system()))
    else {
        return false;
    };
    let is_read = |below: Index| match view.tree.kind(below) {
        Kind::Cast => is_to_bytes(view, below),
        Kind::Call => calls_reader(view, below, depth),
        _ => false,
    };
    view.tree.below(at).any(is_read)
}

fn is_function(view: View<'_, '_, '_>, at: Index) -> bool {
    matches!(view.tree.kind(at), Kind::Template | Kind::Function | Kind::Destructor)
}

/// `reinterpret_cast<char *>(&object)`, where the object's type is open.
fn is_to_bytes(view: View<'_, '_, '_>, cast: Index) -> bool {
    let to = view.cursor(cast).and_then(|cursor| cursor.ty().pointee()).map(Type::kind);
    let from = view.tree.values(cast).next().and_then(|inner| view.cursor(inner)).map(Cursor::ty);
    let is_open = |ty: Type<'_>| {
        let kind = ty.pointee().unwrap_or(ty).kind();
        !matches!(kind, TypeKind::Void | TypeKind::Byte | TypeKind::Number | TypeKind::Array)
    };
    matches!(to, Some(TypeKind::Byte | TypeKind::Number)) && from.is_some_and(is_open)
}

fn calls_reader(view: View<'_, '_, '_>, call: Index, depth: usize) -> bool {
    let Some(name) = view.cursor(call).map(Cursor::name).filter(|name| !name.is_empty()) else {
        return false;
    };
    let Some(depth) = depth.checked_sub(1) else { return false };
    if reads_open_bytes(&name) {
        return true;
    }
    let others = (0..view.tree.len()).filter(|at| view.tree.kind(*at) == Kind::Template);
    let mut named = others.filter_map(|at| view.cursor(at)).filter(|other| other.name() == name);
    named.any(|other| reads_bytes(view, other.identity(), depth))
}

/// Most values in a list, or names in a binding, whose type the template doesn't know.
fn values(view: View<'_, '_, '_>, template: Cursor<'_>) -> usize {
    let identity = template.identity();
    let at = (0..view.tree.len()).filter(|at| is_function(view, *at));
    let mut at = at.filter(|at| view.cursor(*at).is_some_and(|cursor| cursor.identity() == identity));
    let count = |below: Index| match view.tree.kind(below) {
        Kind::List if is_open(view, below) => view.tree.children(below).count(),
        Kind::UnexposedDeclaration => {
            let names = view.tree.children(below);
            names.filter(|name| view.tree.kind(*name) == Kind::UnexposedDeclaration).count()
        }
        _ => 0,
    };
    at.next().map_or(0, |at| view.tree.below(at).map(count).max().unwrap_or(0))
}

fn is_open(view: View<'_, '_, '_>, list: Index) -> bool {
    let kind = view.cursor(list).map(|list| list.ty().kind());
    !matches!(kind, Some(TypeKind::Record | TypeKind::Array | TypeKind::Number | TypeKind::Pointer))
}

/// How many values a call hands on to whatever object it makes: `emplace(1, 2)`.
fn handed_on(view: View<'_, '_, '_>, index: Index, call: Cursor<'_>) -> usize {
    let count = usize::try_from(call.argument_count()).unwrap_or(0);
    let arguments: Vec<Index> = view.tree.values(index).collect();
    let arguments = arguments.get(arguments.len().saturating_sub(count)..).unwrap_or_default();
    let is_value = |argument: &&Index| {
        let ty = view.cursor(**argument).map(|argument| argument.ty());
        ty.is_some_and(|ty| view.records.subject(ty.pointee().unwrap_or(ty)).is_none())
    };
    let is_template = call
        .referenced()
        .and_then(Cursor::template)
        .is_some_and(|template| template.kind() == Kind::Template);
    if is_template && count > 1 && arguments.iter().all(|argument| is_value(&argument)) { count } else { 0 }
}
