//! Classes and functions of libraries that do nothing another object can see.

use crate::clang::{Cursor, Kind, Type, TypeKind};

/// Classes whose objects only keep values, or memory of their own, of the types they are made for.
const VALUES: [&str; 66] = [
    "string",
    "basic_string",
    "basic_string_view",
    "vector",
    "deque",
    "list",
    "forward_list",
    "map",
    "set",
    "multimap",
    "multiset",
    "unordered_map",
    "unordered_set",
    "unordered_multimap",
    "unordered_multiset",
    "stack",
    "queue",
    "priority_queue",
    "array",
    "pair",
    "tuple",
    "optional",
    "variant",
    "monostate",
    "expected",
    "unexpected",
    "default_delete",
    "weak_ptr",
    "reference_wrapper",
    "span",
    "mdspan",
    "bitset",
    "complex",
    "valarray",
    "atomic",
    "__atomic_base",
    "atomic_flag",
    "duration",
    "time_point",
    "mutex",
    "recursive_mutex",
    "timed_mutex",
    "shared_mutex",
    "condition_variable",
    "once_flag",
    "counting_semaphore",
    "initializer_list",
    "allocator",
    "char_traits",
    "less",
    "greater",
    "equal_to",
    "hash",
    "plus",
    "nullopt_t",
    "error_code",
    "type_index",
    "path",
    "basic_regex",
    "basic_stringstream",
    "basic_ostringstream",
    "basic_istringstream",
    "coroutine_handle",
    "basic_stringbuf",
    "byte",
    "identity",
];

/// Those of them without memory of their own: dropping one does no more than dropping what it holds.
const FLAT: [&str; 23] = [
    "basic_string_view",
    "array",
    "pair",
    "tuple",
    "optional",
    "variant",
    "monostate",
    "reference_wrapper",
    "span",
    "bitset",
    "complex",
    "atomic",
    "atomic_flag",
    "duration",
    "time_point",
    "initializer_list",
    "allocator",
    "less",
    "hash",
    "equal_to",
    "default_delete",
    "nullopt_t",
    "error_code",
];

/// Functions of C++'s library that run other functions, or read and write files.
const ACTING: [&str; 22] = [
    "operator<<",
    "operator>>",
    "operator()",
    "get",
    "put",
    "write",
    "read",
    "open",
    "close",
    "flush",
    "getline",
    "invoke",
    "apply",
    "call_once",
    "async",
    "print",
    "println",
    "lock",
    "unlock",
    "join",
    "detach",
    "rename",
];

/// Functions of C that do no more than read what they are handed, or fill it.
const QUIET: [&str; 19] = [
    "malloc", "calloc", "realloc", "free", "abort", "abs", "labs", "fabs", "sqrt", "floor", "ceil", "round",
    "toupper", "tolower", "isspace", "isdigit", "isalpha", "pow", "atoi",
];

/// Whether a declaration is one of C++'s library.
pub(crate) fn is_standard(declared: Cursor<'_>) -> bool {
    let mut holders = std::iter::successors(declared.holder(), |holder| holder.holder());
    declared.is_of_system() && holders.any(|holder| ["std", "__gnu_cxx"].contains(&holder.name().as_str()))
}

/// Whether objects of a class of C++'s library only keep values.
pub(crate) fn keeps_values(name: &str) -> bool {
    let is_chosen_by_number = ["_engine", "_distribution", "iterator"];
    VALUES.contains(&name) || is_chosen_by_number.iter().any(|end| name.ends_with(end))
}

/// Whether such an object has nothing to drop but what it holds.
pub(crate) fn is_flat(name: &str) -> bool {
    FLAT.contains(&name) || name.ends_with("iterator")
}

/// Whether a pointer that owns an object deletes it, and does nothing else.
pub(crate) fn deletes(name: &str, arguments: &[Type<'_>]) -> bool {
    let deleter = arguments.get(1).filter(|deleter| deleter.kind() == TypeKind::Record);
    let deleter = deleter.and_then(|deleter| deleter.canonical().declaration());
    name == "unique_ptr"
        && deleter.is_some_and(|deleter| is_standard(deleter) && deleter.name() == "default_delete")
}

/// Whether a function of C++'s library does more than make a value, or change what it is handed.
pub(crate) fn acts(name: &str) -> bool {
    ACTING.contains(&name)
}

/// Whether a function of C's library changes nothing but what it is handed.
pub(crate) fn is_quiet(name: &str) -> bool {
    let plain = name.trim_start_matches("__builtin_");
    gives_values(name)
        || plain.starts_with("mem")
        || plain.starts_with("str")
        || plain.starts_with("__assert")
        || plain.len() < name.len()
}

/// Whether a function of C's library changes nothing at all that another object can see.
pub(crate) fn gives_values(name: &str) -> bool {
    QUIET.contains(&name.trim_start_matches("__builtin_"))
}

/// Whether a function takes the place of one of the library's for memory.
pub(crate) fn hands_out(function: Cursor<'_>) -> bool {
    let name = function.name();
    let is_of_class = || {
        let class = function.ty().parameter(0).and(function.holder());
        class.is_some_and(|class| matches!(class.kind(), Kind::Record | Kind::Union) || class.ty().is_known())
    };
    (name.starts_with("operator new") || name.starts_with("operator delete"))
        && !function.is_of_system()
        && !is_of_class()
}
