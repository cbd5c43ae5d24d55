//! Structs made by hand, for the tests of this crate and of others (feature `testing`).

use crate::abi::{AbiMember, place_members};
use crate::layout::{Layout, Member};
use crate::types::{Aggregate, Base, Encoding, MemberDecl, PointerKind, Type, TypeId, TypeTable};

/// A `long` or several at a byte; no name if it is empty.
pub fn member(name: &str, offset: u64, size: u64, align: u64) -> Member {
    Member {
        name: (!name.is_empty()).then(|| name.to_owned()),
        type_name: "long".to_owned(),
        bit_offset: offset * 8,
        bit_size: size * 8,
        align,
        ..Member::default()
    }
}

/// A struct of members where they lie, aligned to 8 bytes.
pub fn layout(name: &str, size: u64, members: Vec<Member>) -> Layout {
    let template = Layout { kind: "struct".to_owned(), name: name.to_owned(), align: 8, ..Layout::default() };
    Layout::from_members(&template, members, size)
}

/// A struct of members given by name, size and alignment, where the C ABI places them.
pub fn placed(name: &str, members: &[(&str, u64, u64)]) -> Layout {
    let abi_members: Vec<AbiMember> =
        members.iter().map(|(_, size, align)| AbiMember::bytes(*size, *align)).collect();
    let found = place_members(&abi_members, 1);
    let pairs = members.iter().zip(&found.bit_offsets);
    let members = pairs.map(|((name, size, align), bit_offset)| Member {
        type_name: format!("t{size}"),
        bit_offset: *bit_offset,
        ..member(name, 0, *size, *align)
    });
    Layout { align: found.align, ..layout(name, found.size, members.collect()) }
}

/// Like [`placed`], with members called `m0`, `m1` and so on.
pub fn numbered(name: &str, members: &[(u64, u64)]) -> Layout {
    let names: Vec<String> = (0..members.len()).map(|index| format!("m{index}")).collect();
    let named = names.iter().zip(members).map(|(name, (size, align))| (name.as_str(), *size, *align));
    placed(name, &named.collect::<Vec<_>>())
}

/// A member of a type, without a name if it is empty.
pub fn declared(name: &str, ty: TypeId, bit_offset: u64) -> MemberDecl {
    MemberDecl { name: (!name.is_empty()).then(|| name.into()), ty, bit_offset, ..MemberDecl::default() }
}

/// A struct, without a tag if its name is empty.
pub fn structure(name: &str, size: u64, members: Vec<MemberDecl>) -> Type {
    let name = (!name.is_empty()).then(|| name.into());
    Type::Aggregate(Aggregate { name, size, members, ..Aggregate::default() })
}

/// Adds a signed number to a table.
pub fn signed(table: &mut TypeTable, name: &str, size: u64) -> TypeId {
    table.push(Type::Base(Base { name: name.into(), size, encoding: Encoding::Signed }))
}

/// Adds a pointer of 8 bytes to a table.
pub fn pointer(table: &mut TypeTable, target: TypeId) -> TypeId {
    table.push(Type::Pointer { kind: PointerKind::Pointer, target, size: 8 })
}
