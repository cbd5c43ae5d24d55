//! Layouts made by hand.

use fieldline_layout::layout::{Layout, Member, Role};

pub(crate) fn member(name: Option<&str>, offset: u64, size: u64) -> Member {
    typed(name, "long", offset, size)
}

pub(crate) fn typed(name: Option<&str>, type_name: &str, offset: u64, size: u64) -> Member {
    Member {
        name: name.map(str::to_owned),
        type_name: type_name.to_owned(),
        bit_offset: offset * 8,
        bit_size: size * 8,
        bit_field_storage: None,
        align: size.max(1),
        explicit_align: None,
        aligned_type: false,
        role: Role::Plain,
        line: 0,
        members: Vec::new(),
        is_union: false,
    }
}

pub(crate) fn layout(size: u64, members: Vec<Member>) -> Layout {
    let empty = Layout {
        kind: "struct".to_owned(),
        order: fieldline_layout::types::MemberOrder::default(),
        name: "sample".to_owned(),
        size,
        align: 8,
        explicit_align: None,
        file: None,
        line: 0,
        members: Vec::new(),
        items: Vec::new(),
    };
    Layout::from_members(&empty, members, size)
}

/// A struct of members of 8 bytes each, one after the other.
pub(crate) fn longs(names: &[&str]) -> Layout {
    let place = |(index, name): (u64, &&str)| member(Some(name), index * 8, 8);
    layout(names.len() as u64 * 8, (0..).zip(names).map(place).collect())
}
