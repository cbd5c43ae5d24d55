//! Objects in front of memory that is handed out: an allocator's `struct block *block = (struct block *)memory - 1`.

use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::sum::nearby::{counted_back, outermost};
use crate::sum::plain::constant;
use crate::sum::{Term, View};
use crate::tree::Index;

/// Whether an address becomes that of an object which ends there, of a type whose objects have memory behind them that the
/// unit hands out. Bytes that are read as such an object are not those of the memory.
pub(super) fn is_in_front<'u>(view: View<'_, '_, 'u>, cast: Index, inner: Index, to: Type<'u>) -> bool {
    is_counted_back(view, cast, inner, to) && hands_out_behind(view, to)
}

/// `(T *)memory - 1`, `((T *)memory)[-1]`, `(T *)(memory - sizeof(T))`
fn is_counted_back<'u>(view: View<'_, '_, 'u>, cast: Index, inner: Index, to: Type<'u>) -> bool {
    let sum = view.sum(inner);
    if sum.sizes(false).any(|(ty, member)| member.is_none() && ty.equals(to)) {
        return !sum.terms.iter().any(|(is_added, term)| *is_added || matches!(term, Term::Other));
    }
    counted_back(view, cast).is_some()
}

/// Whether the unit gives the address behind an object of a type as one of bytes, or names the bytes of any number that
/// its objects end by.
fn hands_out_behind<'u>(view: View<'_, '_, 'u>, ty: Type<'u>) -> bool {
    let members = view.records.members(ty);
    let tail = members.last().filter(|last| {
        last.ty.kind() == TypeKind::Array
            && last.ty.size().is_none_or(|size| size == 0)
            && last.ty.element().is_some_and(|element| element.kind() == TypeKind::Byte)
    });
    let tail = tail.map(|last| last.cursor.identity());
    let is_tail = |index: Index| {
        let named = view.cursor(index).and_then(Cursor::referenced).map(Cursor::identity);
        tail.is_some() && named == tail
    };
    let is_open = |index: Index| {
        let pointee = view.cursor(index).and_then(|node| node.ty().pointee());
        pointee.is_some_and(|pointee| matches!(pointee.kind(), TypeKind::Void | TypeKind::Byte))
    };
    let is_behind = |index: Index| {
        let mut sides = view.tree.values(index);
        let (Some(left), Some(right)) = (sides.next(), sides.next()) else { return false };
        let own = view.cursor(left).and_then(|left| left.ty().pointee());
        let is_next = || own.is_some_and(|own| own.equals(ty)) && constant(view, right) == Some(1);
        let is_own = |(size, member): (Type<'u>, Option<Cursor<'u>>)| member.is_none() && size.equals(ty);
        // `(char *)block + sizeof(struct block)`
        let is_size = || own.is_some() && view.sum(right).sizes(true).any(is_own);
        view.cursor(index).map(Cursor::binary_operator) == Some(Operator::Add)
            && (is_next() || is_size())
            && outermost(view, index, |kind| matches!(kind, Kind::Paren | Kind::Unexposed | Kind::Cast))
                .is_some_and(|(outer, _)| is_open(outer))
    };
    (0..view.tree.len()).any(|index| match view.tree.kind(index) {
        Kind::Binary => is_behind(index),
        Kind::MemberAccess => is_tail(index),
        _ => false,
    })
}
