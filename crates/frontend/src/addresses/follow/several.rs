//! Addresses that a function without a body is handed as those of the first of several.

use super::super::facts::{End, State};
use super::super::names;
use super::callee::{function, is_of_cpp_library, is_unconverted};
use super::follower::Follower;
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;

impl<'u> Follower<'_, '_, '_, 'u> {
    /// An argument that stays a pointer to its record: a function with a body goes by the members' names.
    pub(crate) fn handed_record(&mut self, call: Index, number: usize, arguments: &[Index], state: State) {
        let view = self.unit.view;
        let Some(function) = function(view, call) else { return };
        if let Some(end) = several(view, function, number, arguments) {
            self.hand(call, state, names::parameter(function, number), Some(end));
        }
    }
}

/// The end of an address in a function without a body here that takes it for the first of several of its type: the
/// parameter is written as an array, or a number beside it is no one.
pub(super) fn several<'u>(
    view: View<'_, '_, 'u>,
    function: Cursor<'u>,
    number: usize,
    arguments: &[Index],
) -> Option<End> {
    if function.definition().is_some() || is_unconverted(function, number) {
        return None;
    }
    let own = view.cursor(*arguments.get(number)?)?.ty();
    let element = own.pointee().or_else(|| own.element())?;
    if !matches!(element.kind(), TypeKind::Record | TypeKind::Pointer) {
        return None;
    }
    if is_of_cpp_library(function) {
        let is_other = |(other, argument): (usize, &Index)| {
            let ty = view.cursor(*argument).and_then(|argument| argument.ty().pointee());
            other != number && ty.is_some_and(|ty| ty.equals(element))
        };
        let is_range = element.kind() == TypeKind::Record && arguments.iter().enumerate().any(is_other);
        return is_range.then(|| End::Several { by: function.name() });
    }
    let beside = Beside { view, function, number, arguments, element };
    let written = u32::try_from(number).ok().and_then(|number| function.argument(number)).map(Cursor::ty);
    let is_several = match written.filter(|written| written.kind() == TypeKind::Array) {
        Some(array) => match array.length() {
            Some(length) => {
                let count = length.checked_mul(element.size()?).filter(|_| length > 1);
                return count.map(|count| End::Bytes { count: Some(count), by: function.name() });
            }
            None => beside.counts().next().is_none_or(|(is_many, _)| is_many),
        },
        None => beside.has_many(),
    };
    is_several.then(|| End::Several { by: function.name() })
}

/// A pointer among other arguments.
struct Beside<'b, 'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    function: Cursor<'u>,
    number: usize,
    arguments: &'b [Index],
    element: Type<'u>,
}

impl<'u> Beside<'_, '_, '_, 'u> {
    /// Whether a number next to a pointer may be how many there are.
    fn has_many(&self) -> bool {
        let is_record = self.element.kind() == TypeKind::Record;
        self.counts().any(|(is_many, is_size)| is_many && (is_size || is_record))
    }

    /// Whether the numbers next to a pointer may be more than one, those first that are declared as sizes. Others say how
    /// many only behind the pointer.
    fn counts(&self) -> impl Iterator<Item = (bool, bool)> {
        let beside = [(self.number.checked_add(1), true), (self.number.checked_sub(1), false)];
        let numbers = beside.into_iter().filter_map(|(at, is_behind)| {
            let at = at?;
            let declared = self.function.ty().parameter(u32::try_from(at).ok()?)?;
            let is_number = declared.is_integer() && !declared.is_enumeration();
            let argument = self.arguments.get(at).copied().filter(|_| is_number)?;
            let is_size = is_size(declared);
            (is_size || is_behind).then(|| (self.is_many(argument), is_size))
        });
        let mut numbers: Vec<(bool, bool)> = numbers.collect();
        numbers.sort_by_key(|(_, is_size)| !is_size);
        numbers.into_iter()
    }

    /// Whether a number may be more than one, and is not the size of what the pointer leads to.
    fn is_many(&self, argument: Index) -> bool {
        let view = self.view;
        let cursor = view.cursor(argument);
        let named = view.cursor(view.peeled(argument)).and_then(Cursor::referenced);
        let is_named = named.is_some_and(|named| named.kind() == Kind::Enumerator && named.is_of_system());
        let number = cursor.and_then(Cursor::constant).and_then(|number| u64::try_from(number).ok());
        !is_named && number.is_none_or(|number| number > 1 && Some(number) != self.element.size())
    }
}

/// Whether a type is one of sizes: a number without a sign as wide as a pointer.
fn is_size(ty: Type<'_>) -> bool {
    ty.size() == Some(8) && ty.canonical().spelling().starts_with("unsigned ")
}
