//! Functions that calls go to.

use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;

/// The function that a call names.
pub(crate) fn function<'u>(view: View<'_, '_, 'u>, call: Index) -> Option<Cursor<'u>> {
    let function = view.cursor(call)?.referenced()?;
    let is_function = matches!(function.kind(), Kind::Function | Kind::Constructor | Kind::Template);
    // Functions of libraries have one name, whatever they are made for; the program's have a body for each.
    is_function.then(|| function.template().filter(|template| template.is_of_system()).unwrap_or(function))
}

/// Whether a function of the compiler takes any pointer: its arguments aren't converted.
pub(crate) fn is_unconverted(function: Cursor<'_>, number: usize) -> bool {
    let own = u32::try_from(number).ok().and_then(|number| function.ty().parameter(number));
    function.name().starts_with("__builtin_") && own.is_some_and(is_void)
}

/// Whether a function is one of C++'s library, or of another one that is written in C++.
pub(super) fn is_of_cpp_library(function: Cursor<'_>) -> bool {
    function.is_of_system() && (function.is_of_cpp() || function.identifier().starts_with("c:@N@"))
}

/// Whether a type is a pointer to anything.
pub(crate) fn is_void(ty: Type<'_>) -> bool {
    ty.pointee().is_some_and(|pointee| pointee.kind() == TypeKind::Void)
}
