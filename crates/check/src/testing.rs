//! Layouts for tests.

use fieldline_layout::testing;
use fieldline_layout::{Layout, Member};

pub(crate) fn member(name: Option<&str>, offset: u64, size: u64) -> Member {
    testing::member(name.unwrap_or_default(), offset, size, size.max(1))
}

pub(crate) fn typed(name: Option<&str>, type_name: &str, offset: u64, size: u64) -> Member {
    Member { type_name: type_name.to_owned(), ..member(name, offset, size) }
}

pub(crate) fn layout(size: u64, members: Vec<Member>) -> Layout {
    testing::layout("sample", size, members)
}

/// A struct of members of 8 bytes each, one after the other.
pub(crate) fn longs(names: &[&str]) -> Layout {
    let place = |(index, name): (u64, &&str)| member(Some(name), index * 8, 8);
    layout(names.len() as u64 * 8, (0..).zip(names).map(place).collect())
}
