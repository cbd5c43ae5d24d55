//! Records of one member that may keep an address, as the kernel's atomic types are: such a record is a number by another
//! name. Its value is that of the variable or the member that has this type, and a pointer to it is one to a number.
//! Otherwise all objects of the type would keep the same addresses.

use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;

/// Most records of one member inside one another.
const DEEPEST: usize = 4;

/// The type that a record consists of, if it is a wrapper; else the type itself.
pub(crate) fn unwrapped(ty: Type<'_>) -> Type<'_> {
    let mut inner = ty;
    for _ in 0..DEEPEST {
        match only_member(inner) {
            Some(member) => inner = member.ty(),
            None => break,
        }
    }
    let is_address = match inner.kind() {
        TypeKind::Number => inner.size() == Some(8) && !inner.is_enumeration(),
        TypeKind::Pointer => inner.pointee().is_some_and(|pointee| pointee.kind() == TypeKind::Void),
        _ => false,
    };
    if is_address { inner } else { ty }
}

/// Whether a type is such a record.
pub(crate) fn is_wrapper(ty: Type<'_>) -> bool {
    ty.kind() == TypeKind::Record && unwrapped(ty).kind() != TypeKind::Record
}

fn only_member(ty: Type<'_>) -> Option<Cursor<'_>> {
    if ty.kind() != TypeKind::Record {
        return None;
    }
    let declared = ty.canonical().declaration()?;
    if declared.kind() != Kind::Record || declared.is_of_cpp() {
        return None;
    }
    let members = ty.members();
    let [member] = members.as_slice() else { return None };
    (member.bits().is_none() && member.ty().size() == ty.size()).then_some(*member)
}

/// Whether a node names the only member of a wrapper.
pub(crate) fn is_wrapped(view: View<'_, '_, '_>, node: Index) -> bool {
    let member = view.cursor(node).and_then(Cursor::referenced).filter(|named| named.kind() == Kind::Member);
    member.and_then(Cursor::holder).is_some_and(|holder| is_wrapper(holder.ty()))
}
