//! Members with their places.

use fieldline_layout::{Layout, Member, line_number};
use serde::{Deserialize, Serialize};

/// Top-level members by offset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrangement {
    /// Size of the struct in bytes.
    pub size: u64,
    /// Its members.
    pub members: Vec<PlacedMember>,
}

/// A member with its offset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedMember {
    /// Its index in declared order, which also identifies unnamed members.
    pub index: usize,
    /// Name; absent for an anonymous struct or union.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Type as C spells it.
    pub type_name: String,
    /// Offset in bytes of the first byte that holds a bit of it.
    pub offset: u64,
    /// Bytes that hold a bit of it.
    pub size: u64,
    /// For a bit-field, its offset in bits from the start of the struct.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_offset: Option<u64>,
    /// For a bit-field, its width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_size: Option<u64>,
    /// Line of the declaration.
    #[serde(default, with = "line_number")]
    pub line: Option<u32>,
    /// Whether it is a C++ base class or the pointer to virtual functions, which no declaration stands for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inherited: bool,
}

impl PlacedMember {
    /// A member of a layout, with its index in declared order.
    pub fn new(index: usize, member: &Member) -> Self {
        Self {
            index,
            name: member.name.clone(),
            type_name: member.type_name.clone(),
            offset: member.offset(),
            size: member.size(),
            bit_offset: member.is_bit_field().then_some(member.bit_offset),
            bit_size: member.is_bit_field().then_some(member.bit_size),
            line: member.line,
            inherited: member.is_inherited(),
        }
    }
}

impl Arrangement {
    /// The members of a layout that has them in `order`.
    pub fn new(layout: &Layout, order: impl IntoIterator<Item = usize>) -> Self {
        let placed = order.into_iter().zip(&layout.members);
        let members = placed.map(|(index, member)| PlacedMember::new(index, member));
        Self { size: layout.size, members: members.collect() }
    }
}
