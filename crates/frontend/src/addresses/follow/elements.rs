//! Lengths that count elements, in bytes.

use crate::clang::{Kind, Operator, Type, TypeKind};
use crate::sum::plain::constant;
use crate::sum::{Term, View};
use crate::tree::Index;

/// The bytes that a length of so many is: `f(values, 3, sizeof(int))` tells the size of one of three elements, and
/// `f(longs, sizeof("abc") - 1)` a number of longs.
pub(super) fn bytes(
    view: View<'_, '_, '_>,
    arguments: &[Index],
    (pointer, length): (Index, Index),
    count: u64,
) -> Option<u64> {
    let sum = view.sum(length);
    let of_one = view.tree.kind(view.peeled(length)) == Kind::SizeOf
        && match sum.terms.as_slice() {
            [(true, Term::Size(ty, _))] => {
                matches!(ty.kind(), TypeKind::Number | TypeKind::Byte | TypeKind::Pointer)
            }
            // A type without a declaration.
            [(true, Term::Number(_))] => true,
            _ => false,
        };
    if of_one {
        let behind = arguments.iter().skip_while(|argument| **argument != pointer).skip(1);
        let numbers = behind.filter(|argument| **argument != length).filter_map(|argument| {
            let node = view.cursor(*argument)?;
            // Flags count nothing.
            if view.cursor(view.peeled(*argument))?.binary_operator() == Operator::Bits {
                return None;
            }
            u64::try_from(constant(view, *argument).filter(|_| node.ty().is_integer())?).ok()
        });
        return numbers.filter(|number| *number > 1).try_fold(count, u64::checked_mul);
    }
    let element = view.cursor(view.peeled(pointer)).and_then(|pointer| pointer.ty().pointee());
    let element = element.filter(|element| element.kind() == TypeKind::Number);
    let is_of_other = |element: Type<'_>| {
        let mut sizes = sum.sizes(true).map(|(ty, _)| {
            let mut ty = ty;
            while let Some(inner) = ty.element() {
                ty = inner;
            }
            ty
        });
        sizes.next().is_some_and(|ty| ty.kind() == TypeKind::Byte && ty.size() != element.size())
    };
    match element.filter(|element| is_of_other(*element)).and_then(|element| element.size()) {
        Some(size) => count.checked_mul(size),
        None => Some(count),
    }
}
