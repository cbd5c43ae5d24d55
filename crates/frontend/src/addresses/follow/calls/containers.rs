//! Objects of C++'s standard library that keep pointers to anything: what is put in comes out as what it is.

use super::super::callee::is_void;
use super::arguments;
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::rules::is_standard;
use crate::sum::View;
use crate::tree::Index;

/// Classes that give back what they were given, and that don't ask which of two addresses is the lower one, unless they are
/// keys (C++20, "Containers library", "Pairs", "Tuples", "Optional objects").
const KEEPERS: [&str; 17] = [
    "array",
    "deque",
    "forward_list",
    "initializer_list",
    "list",
    "map",
    "multimap",
    "optional",
    "pair",
    "queue",
    "stack",
    "tuple",
    "unordered_map",
    "unordered_multimap",
    "unordered_multiset",
    "unordered_set",
    "vector",
];

/// Those of them whose first argument is a key in an order.
const ORDERED: [&str; 2] = ["map", "multimap"];

/// Most classes in one another.
const DEEPEST: usize = 16;

/// Functions that give what such objects keep as a pointer, such an object, or a number of elements.
const GIVERS: [&str; 20] = [
    "advance",
    "as_const",
    "begin",
    "cbegin",
    "cend",
    "distance",
    "empty",
    "end",
    "forward",
    "get",
    "make_pair",
    "make_tuple",
    "move",
    "next",
    "operator!=",
    "operator==",
    "prev",
    "rbegin",
    "rend",
    "size",
];

/// Whether a pointer to anything that is an argument is kept until the program asks for it.
pub(crate) fn keeps_pointer(view: View<'_, '_, '_>, call: Index) -> bool {
    let Some(callee) = view.cursor(call).and_then(Cursor::referenced).filter(|own| is_standard(*own)) else {
        return false;
    };
    let is_kept = match class_of(callee) {
        Some(class) => keeps_pointers(class.ty()),
        None => GIVERS.contains(&callee.name().as_str()),
    };
    is_kept && gives_only_pointers(view, call, callee)
}

/// Whether a function of the library makes a pointer to anything of another that it is handed, for an object to keep.
pub(crate) fn opens_pointer(view: View<'_, '_, '_>, call: Index) -> bool {
    let callee = view.cursor(call).and_then(Cursor::referenced).filter(|own| is_standard(*own));
    let result = || view.cursor(call).map(Cursor::ty);
    callee.is_some_and(|callee| class_of(callee).map(Cursor::ty).or_else(result).is_some_and(has_pointers))
}

/// Whether a call gets pointers out of what keeps them in a way that nobody follows: a function is called with them, or they
/// are written to variables.
pub(crate) fn gives_otherwise(view: View<'_, '_, '_>, call: Index) -> bool {
    let Some(callee) = view.cursor(call).and_then(Cursor::referenced).filter(|own| own.is_of_system()) else {
        return false;
    };
    let own = arguments(view, call).into_iter().filter_map(|argument| view.cursor(argument)).map(Cursor::ty);
    let all = own.chain(view.cursor(call).map(Cursor::ty)).chain(class_of(callee).map(Cursor::ty));
    let all: Vec<Type<'_>> = all.collect();
    if !all.iter().any(|ty| has_pointers(*ty)) {
        return false;
    }
    if !all.iter().filter(|ty| ty.kind() == TypeKind::Record).all(|ty| is_plain(*ty, DEEPEST)) {
        return true;
    }
    let is_known = class_of(callee).is_some() && !["sort", "merge"].contains(&callee.name().as_str())
        || GIVERS.contains(&callee.name().as_str());
    !is_known || !gives_only_pointers(view, call, callee)
}

/// Whether a node is a pointer to anything that such an object keeps: an element, a member of a pair, a part of one that has
/// a name of its own.
pub(crate) fn is_kept_pointer(view: View<'_, '_, '_>, node: Index) -> bool {
    let Some(cursor) = view.cursor(node).filter(|node| is_void(node.ty())) else { return false };
    let Some(declared) = cursor.referenced() else { return false };
    match view.tree.kind(node) {
        Kind::Call | Kind::MemberAccess => is_standard(declared),
        Kind::Name => declared.kind() == Kind::UnexposedDeclaration,
        _ => false,
    }
}

/// The class that a function is a method or a constructor of.
fn class_of(callee: Cursor<'_>) -> Option<Cursor<'_>> {
    callee.holder().filter(|class| matches!(class.kind(), Kind::Record | Kind::Other))
}

/// Whether a call calls nothing of the program and writes to none of its variables.
fn gives_only_pointers<'u>(view: View<'_, '_, 'u>, call: Index, callee: Cursor<'u>) -> bool {
    let is_called = |argument: Index| {
        let ty = view.cursor(argument).map(Cursor::ty);
        let ty = ty.map(|ty| ty.pointee().unwrap_or(ty));
        ty.is_some_and(|ty| match ty.kind() {
            TypeKind::Function => true,
            TypeKind::Record => !ty.canonical().declaration().is_some_and(is_standard),
            _ => false,
        })
    };
    let function = callee.ty();
    let count = u32::try_from(function.parameter_count()).unwrap_or(0);
    let mut types = (0..count).filter_map(|number| function.parameter(number)).chain(function.result());
    let is_written = |ty: Type<'u>| {
        let spelled = ty.canonical().spelling();
        spelled.contains("void **") || spelled.contains("void *const *") || spelled.ends_with("void *&")
    };
    // What is given by reference is the element itself.
    let gives = function.result().map(|ty| ty.canonical().spelling());
    !arguments(view, call).into_iter().any(is_called)
        && !types.any(|ty| is_written(ty) && gives.as_ref() != Some(&ty.canonical().spelling()))
        && !gives.is_some_and(|own| own.ends_with("void **") || own.ends_with("void *const *"))
}

/// Whether objects of a type keep pointers to anything.
fn has_pointers(ty: Type<'_>) -> bool {
    let spelled = ty.canonical().spelling();
    let is_class = spelled.contains('<') && spelled.contains("void *");
    is_class && ty.canonical().declaration().is_some_and(is_standard)
}

/// Whether a type is made of the library's classes alone: no function of the program, which the library would call with what
/// an object keeps.
fn is_plain(ty: Type<'_>, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let ty = ty.pointee().unwrap_or(ty);
    match ty.kind() {
        TypeKind::Function => false,
        TypeKind::Record => {
            let own = ty.canonical();
            own.declaration().is_some_and(is_standard)
                && !own.spelling().contains("(lambda")
                && own.template_arguments().into_iter().all(|inner| is_plain(inner, depth))
        }
        _ => true,
    }
}

/// Whether a class keeps pointers to anything and gives them back.
pub(crate) fn keeps_pointers(class: Type<'_>) -> bool {
    let spelled = class.canonical().spelling();
    let Some((name, inner)) = spelled.split_once('<') else { return false };
    let name = name.rsplit("::").next().unwrap_or(name).trim();
    let is_ordered = ORDERED.contains(&name) && is_key(inner);
    KEEPERS.contains(&name) && is_plain(class, DEEPEST) && !is_ordered
}

/// Whether the first argument of a template has a pointer to anything.
fn is_key(arguments: &str) -> bool {
    let mut depth = 0_usize;
    let end = arguments.find(|letter: char| {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    arguments.get(..end.unwrap_or(arguments.len())).unwrap_or(arguments).contains("void *")
}
