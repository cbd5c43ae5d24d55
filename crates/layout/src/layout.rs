//! One struct as its members and the gaps between them.
//!
//! A [`Layout`] is plain data that can be written to a file. Its [`LayoutItem`]s tile the struct: every bit
//! belongs to exactly one item, members that share bits (of a union) to one item together. Nobody else
//! computes gaps.

use crate::declaration::{TypeNames, flat_arrays};
use crate::types::{
    Aggregate, AggregateKind, MemberDecl, MemberOrder, NaturalAlignments, Type, TypeId, TypeTable,
};
use serde::{Deserialize, Serialize};

/// How deep aggregates held by value are opened.
const MAX_DEPTH: u32 = 24;

/// A member at its offset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Name; `None` for an anonymous struct or union.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Type as C spells it, such as `struct list_head` or `int[4]`.
    pub type_name: String,
    /// Offset in bits from the start of the outermost struct.
    pub bit_offset: u64,
    /// Size in bits; 0 for a flexible array or a marker.
    pub bit_size: u64,
    /// Size in bits of the declared type if the member is a bit-field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_field_storage: Option<u64>,
    /// Alignment in bytes that the member's type and attributes ask for.
    pub align: u64,
    /// Alignment in bytes written at the member, where debug info has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explicit_align: Option<u64>,
    /// Whether its type asks for `explicit_align` itself: gcc repeats a type's alignment at members.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aligned_type: bool,
    /// The member's role.
    #[serde(default, skip_serializing_if = "MemberRole::is_plain")]
    pub role: MemberRole,
    /// File of the declaration, if it is another one than the struct's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line of the declaration.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::line_number")]
    pub line: Option<u32>,
    /// Members of the aggregate held by value, offsets as above. Elements of arrays are not opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Self>,
    /// Whether the members lie over one another.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_union: bool,
}

/// Roles of members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemberRole {
    /// Data.
    #[default]
    Plain,
    /// `type name[]` at the end.
    FlexibleArray,
    /// `__cacheline_group_begin__NAME` (include/linux/cache.h): no data, marks the start of a group.
    GroupBegin,
    /// `__cacheline_group_end__NAME`: no data, marks the end of a group.
    GroupEnd,
    /// `__cacheline_group_pad__NAME` or another member without size that only aligns.
    Pad,
    /// A C++ base class or the pointer to virtual functions: the compiler places it.
    Inherited,
}

impl MemberRole {
    fn is_plain(&self) -> bool {
        *self == Self::Plain
    }

    /// Whether the member holds no data and exists for its place only.
    pub fn is_marker(self) -> bool {
        matches!(self, Self::GroupBegin | Self::GroupEnd | Self::Pad)
    }
}

impl Member {
    /// Whether it ends with an array that says no length, itself or inside: its elements are in what stands behind it.
    pub fn ends_open(&self) -> bool {
        let is_empty_array = self.bit_size == 0 && self.role == MemberRole::Plain && self.members.is_empty();
        let mut last = self.members.iter().rev().take(if self.is_union { usize::MAX } else { 1 });
        self.role == MemberRole::FlexibleArray
            || self.name.is_some() && is_empty_array
            || last.any(Self::ends_open)
    }

    /// First bit behind the member.
    pub fn bit_end(&self) -> u64 {
        self.bit_offset.saturating_add(self.bit_size)
    }

    /// Offset in bytes of the first byte that holds a bit of it.
    pub fn offset(&self) -> u64 {
        self.bit_offset / 8
    }

    /// Size in bytes: of the bytes that hold a bit of it.
    pub fn size(&self) -> u64 {
        self.bit_end().div_ceil(8) - self.offset()
    }

    /// Whether its bytes lie on more than one line of `line` bytes, in a struct that begins on a line.
    pub fn crosses_line(&self, line: u64) -> bool {
        let line = line.max(1);
        let last = self.offset().saturating_add(self.size().saturating_sub(1));
        self.bit_size > 0 && self.offset() / line != last / line
    }

    /// Whether it crosses a line of `line` bytes although it would fit on one. All reports ask here, so that
    /// none contradicts another.
    pub fn straddles_line(&self, line: u64) -> bool {
        self.size() <= line.max(1) && self.crosses_line(line)
    }

    /// Whether no declaration among the members stands for it, but the compiler of C++ places it.
    pub fn is_inherited(&self) -> bool {
        self.role == MemberRole::Inherited
    }

    /// Whether it is a bit-field.
    pub fn is_bit_field(&self) -> bool {
        self.bit_field_storage.is_some()
    }

    /// The name, or what stands for it.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("(anonymous)")
    }
}

/// A range of the struct. Sizes and offsets in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "item", rename_all = "kebab-case")]
pub enum LayoutItem {
    /// Members `first..first + count` of [`Layout::members`]; more than one where they overlap.
    Members {
        /// Index of the first.
        first: usize,
        /// How many.
        count: usize,
        /// Where they begin.
        bit_offset: u64,
        /// How many bits they cover together.
        bit_size: u64,
    },
    /// Unused whole bytes between members.
    Hole(Gap),
    /// Unused bits, fewer than the next byte boundary away, between members.
    BitHole(Gap),
    /// Unused whole bytes after the last member.
    Padding(Gap),
    /// Unused bits of the last member's last byte.
    BitPadding(Gap),
}

/// An unused range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Where it begins.
    pub bit_offset: u64,
    /// How long it is.
    pub bit_size: u64,
}

impl LayoutItem {
    /// Where it begins and how long it is, in bits.
    pub fn bits(&self) -> (u64, u64) {
        match *self {
            Self::Members { bit_offset, bit_size, .. } => (bit_offset, bit_size),
            Self::Hole(gap) | Self::BitHole(gap) | Self::Padding(gap) | Self::BitPadding(gap) => {
                (gap.bit_offset, gap.bit_size)
            }
        }
    }
}

/// A struct, union or class with every bit accounted for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// struct, union or class.
    pub kind: String,
    /// Tag, or the typedef's name of an anonymous one.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Alignment in bytes written at the struct itself, where debug info has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explicit_align: Option<u64>,
    /// File that declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line that declares it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::line_number")]
    pub line: Option<u32>,
    /// Who orders the members.
    #[serde(default, skip_serializing_if = "MemberOrder::is_declared")]
    pub order: MemberOrder,
    /// Members in declaration order; of Rust in order of place.
    pub members: Vec<Member>,
    /// Members and gaps in order of their place; they tile the struct.
    pub items: Vec<LayoutItem>,
}

impl Layout {
    /// The layout of an aggregate.
    pub fn from_type(table: &TypeTable, id: TypeId) -> Option<Self> {
        let aggregate = table.aggregate(id)?;
        let names = TypeNames::new(table);
        let file = aggregate.decl.as_ref().map(|decl| &*decl.file);
        let mut reader = MemberReader {
            table,
            aligns: NaturalAlignments::new(table),
            names,
            remaining: MAX_MEMBERS,
            file,
        };
        let mut members = reader.members(aggregate, 0, MAX_DEPTH);
        // An empty base class lies where another begins.
        members.sort_by_key(|member| match member.is_inherited() {
            true => (0, member.bit_offset, member.bit_size),
            false => (1, 0, 0),
        });
        let name = match table.get(id) {
            Type::Typedef { name, .. } if aggregate.name.is_none() => name.to_string(),
            _ => aggregate.name.as_deref().unwrap_or("(anonymous)").to_owned(),
        };
        let decl = aggregate.decl.as_ref();
        Some(Self {
            kind: aggregate.kind.to_string(),
            name,
            size: aggregate.size,
            align: table.align_of(id),
            explicit_align: aggregate.align,
            file: decl.map(|decl| decl.file.to_string()).filter(|file| !file.is_empty()),
            line: decl.and_then(|decl| decl.line),
            order: find_order(table, aggregate),
            items: tile_members(&members, aggregate.size.saturating_mul(8)),
            members,
        })
    }

    /// A layout from members placed by [`crate::abi`] or by hand; the items follow.
    pub fn from_members(template: &Self, members: Vec<Member>, size: u64) -> Self {
        let items = tile_members(&members, size.saturating_mul(8));
        Self { size, members, items, ..template.clone() }
    }

    /// Whether it is a union.
    pub fn is_union(&self) -> bool {
        self.kind == "union"
    }

    /// How many cachelines of `line` bytes the struct covers when it starts on one.
    pub fn cachelines(&self, line: u64) -> u64 {
        self.size.div_ceil(line.max(1))
    }

    /// The top-level member that holds the byte at `offset`, the smallest if several overlap.
    pub fn member_at(&self, offset: u64) -> Option<usize> {
        find_smallest_at(&self.members, offset)
    }

    /// The path of the innermost named member at a byte, such as `avg.load_avg`; `None` in a gap.
    pub fn path_at(&self, offset: u64) -> Option<String> {
        self.member_at(offset)?;
        let (mut members, mut names) = (&self.members, Vec::new());
        while let Some(inner) = find_smallest_at(members, offset).and_then(|index| members.get(index)) {
            names.extend(inner.name.as_deref());
            members = &inner.members;
        }
        Some(if names.is_empty() { "(anonymous)".to_owned() } else { names.join(".") })
    }

    /// A number that differs when size, order, offsets, names or types of the members differ, but for what
    /// only one kind of debug info has ([`flat_arrays`]). FNV-1a of 64 bits over them (Fowler, Noll, Vo),
    /// stable over releases as long as the JSON format version stays.
    pub fn fingerprint(&self) -> u64 {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let mut add = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        add(&self.size.to_le_bytes());
        for member in &self.members {
            for text in [member.name.as_deref().unwrap_or(""), &flat_arrays(&member.type_name)] {
                add(text.as_bytes());
                add(&[0xff]);
            }
            add(&member.bit_offset.to_le_bytes());
            add(&member.bit_size.to_le_bytes());
        }
        hash
    }
}

/// How many members an order of a class with base classes keeps at its start: those that the compiler places, and those
/// that lie, or may come to lie, in the padding at the end of a base class. So where a class begins to have room is of no
/// account, nor what code clears or copies a whole base class.
pub fn inherited_part(members: &[Member]) -> usize {
    let inherited = members.iter().take_while(|member| member.is_inherited()).count();
    let (placed, declared) = members.split_at(inherited);
    let end = placed.iter().map(Member::bit_end).max().unwrap_or(0);
    let data_end = placed.iter().map(data_end).max().unwrap_or(0);
    if data_end.div_ceil(8) >= end / 8 {
        return inherited;
    }
    let before = declared.iter().take_while(|member| member.bit_end() < end).count();
    members.len().min(inherited + before + 1)
}

/// The first bit behind the last member of what the compiler places, also within its base classes.
fn data_end(member: &Member) -> u64 {
    let inner = member.members.iter();
    let ends = inner.map(|inner| if inner.is_inherited() { data_end(inner) } else { inner.bit_end() });
    let is_pointer = member.name.is_some();
    ends.max().unwrap_or(if is_pointer { member.bit_end() } else { member.bit_offset })
}

/// Index of the member that holds a byte, the smallest if several overlap.
fn find_smallest_at(members: &[Member], offset: u64) -> Option<usize> {
    let bit = offset.saturating_mul(8);
    let holds = |member: &Member| member.bit_offset < bit.saturating_add(8) && bit < member.bit_end();
    let candidates = members.iter().enumerate().filter(|(_, member)| holds(member));
    candidates.min_by_key(|(_, member)| member.bit_size).map(|(index, _)| index)
}

/// Limit of nested members in one layout: more than any source has, since corrupt debug info asks for any
/// number.
const MAX_MEMBERS: usize = 1 << 16;

/// Opens aggregates held by value.
struct MemberReader<'t> {
    table: &'t TypeTable,
    aligns: NaturalAlignments<'t>,
    names: TypeNames<'t>,
    remaining: usize,
    /// File that declares the outermost aggregate.
    file: Option<&'t str>,
}

impl MemberReader<'_> {
    fn members(&mut self, aggregate: &Aggregate, base: u64, depth: u32) -> Vec<Member> {
        let present = aggregate.members.iter().filter(|member| !member.is_static);
        let file = self.foreign_file(aggregate);
        let placed = present.map(|member| Member {
            file: member.file.as_deref().or(file).map(str::to_owned),
            ..self.member(member, base, depth)
        });
        placed.collect()
    }

    /// The file of an unnamed aggregate, if it is another one than the outermost's.
    fn foreign_file<'a>(&self, aggregate: &'a Aggregate) -> Option<&'a str> {
        let decl = aggregate.decl.as_ref().filter(|_| aggregate.name.is_none())?;
        Some(&*decl.file).filter(|file| self.file.is_some_and(|own| own != *file))
    }

    fn member(&mut self, member: &MemberDecl, base: u64, depth: u32) -> Member {
        let table = self.table;
        let size = table.size_of(member.ty);
        let bit_offset = base.saturating_add(member.bit_offset);
        self.remaining = self.remaining.saturating_sub(1);
        let inner = table.aggregate(member.ty).filter(|_| depth > 0 && self.remaining > 0);
        Member {
            name: member.name.as_deref().map(str::to_owned),
            type_name: self.names.get(member.ty),
            bit_offset,
            bit_size: member.bit_field.unwrap_or(size.saturating_mul(8)),
            bit_field_storage: member.bit_field.map(|_| size.saturating_mul(8)),
            align: self.aligns.get(member.ty).max(member.align.unwrap_or(1)),
            explicit_align: member.align,
            aligned_type: member.align.is_some_and(|align| align == self.aligns.get(member.ty)),
            role: find_role(table, member, size),
            file: None,
            line: member.line,
            members: inner.map(|inner| self.members(inner, bit_offset, depth - 1)).unwrap_or_default(),
            is_union: inner.is_some_and(|inner| inner.kind == AggregateKind::Union),
        }
    }
}

/// Who orders the members, also where a base class has a virtual one.
fn find_order(table: &TypeTable, aggregate: &Aggregate) -> MemberOrder {
    let is_inherited = aggregate.order == MemberOrder::Inherited;
    if is_inherited && has_virtual_base(table, aggregate, MAX_DEPTH) {
        return MemberOrder::Virtual;
    }
    aggregate.order
}

fn has_virtual_base(table: &TypeTable, aggregate: &Aggregate, depth: u32) -> bool {
    let mut bases = aggregate.members.iter().filter(|member| member.is_base);
    bases.any(|base| {
        let inner = table.aggregate(base.ty);
        let may_have = |inner: &Aggregate| depth == 0 || has_virtual_base(table, inner, depth - 1);
        base.is_static || inner.is_some_and(may_have)
    })
}

fn find_role(table: &TypeTable, member: &MemberDecl, size: u64) -> MemberRole {
    let name = member.name.as_deref().unwrap_or("");
    if member.is_base || name.starts_with("_vptr") {
        return MemberRole::Inherited;
    }
    if size > 0 {
        return MemberRole::Plain;
    }
    if name.starts_with("__cacheline_group_begin__") {
        MemberRole::GroupBegin
    } else if name.starts_with("__cacheline_group_end__") {
        MemberRole::GroupEnd
    } else if matches!(table.get(table.strip(member.ty)), Type::Array { dimensions, .. } if dimensions.first() == Some(&None))
    {
        MemberRole::FlexibleArray
    } else if table.aggregate(member.ty).is_some() {
        MemberRole::Pad
    } else {
        MemberRole::Plain
    }
}

/// Members and gaps in order of place. Members that overlap (of a union, or of C++ bases) become one item.
fn tile_members(members: &[Member], bits: u64) -> Vec<LayoutItem> {
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|index| (members[*index].bit_offset, *index));
    let in_order = order.iter().enumerate().all(|(place, index)| place == *index);
    let mut items: Vec<LayoutItem> = Vec::new();
    let mut end = 0;
    for index in order {
        let member = &members[index];
        let (start, stop) = (member.bit_offset, member.bit_end().min(bits.max(member.bit_offset)));
        if start > end {
            push_gap(&mut items, end, start, false);
        }
        let overlaps = start < end;
        match items.last_mut() {
            Some(LayoutItem::Members { first, count, bit_offset, bit_size }) if overlaps => {
                if in_order {
                    *count = index + 1 - *first;
                }
                *bit_size = (*bit_size).max(stop.saturating_sub(*bit_offset));
            }
            _ => {
                let (bit_offset, bit_size) = (start, stop - start);
                items.push(LayoutItem::Members { first: index, count: 1, bit_offset, bit_size })
            }
        }
        end = end.max(stop);
    }
    if bits > end {
        push_gap(&mut items, end, bits, true);
    }
    items
}

/// A gap of bits up to the next byte boundary, then one of whole bytes.
fn push_gap(items: &mut Vec<LayoutItem>, start: u64, end: u64, last: bool) {
    let whole = start.next_multiple_of(8).min(end);
    let tail = if last { end } else { whole.max(end / 8 * 8) };
    let kinds: [fn(Gap) -> LayoutItem; 2] = match last {
        true => [LayoutItem::BitPadding, LayoutItem::Padding],
        false => [LayoutItem::BitHole, LayoutItem::Hole],
    };
    let gaps = [(kinds[0], start, whole), (kinds[1], whole, tail), (LayoutItem::BitHole, tail, end)];
    let gaps = gaps.into_iter().filter(|(_, start, end)| end > start);
    items.extend(gaps.map(|(kind, start, end)| kind(Gap { bit_offset: start, bit_size: end - start })));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(bit_offset: u64, bit_size: u64) -> Member {
        Member { bit_offset, bit_size, ..crate::testing::member("m", 0, 0, 1) }
    }

    fn covered(items: &[LayoutItem]) -> u64 {
        let mut end = 0;
        for item in items {
            let (offset, size) = item.bits();
            assert_eq!(offset, end, "items follow one another");
            end = offset + size;
        }
        end
    }

    #[test]
    fn items_tile_members_holes_and_padding() {
        let items = tile_members(&[member(0, 3), member(64, 32)], 128);
        assert_eq!(covered(&items), 128);
        assert_eq!(items[1], LayoutItem::BitHole(Gap { bit_offset: 3, bit_size: 5 }));
        assert_eq!(items[2], LayoutItem::Hole(Gap { bit_offset: 8, bit_size: 56 }));
        assert_eq!(items[4], LayoutItem::Padding(Gap { bit_offset: 96, bit_size: 32 }));
    }

    #[test]
    fn overlapping_members_are_one_item() {
        let items = tile_members(&[member(0, 64), member(0, 32), member(0, 96)], 96);
        assert_eq!(items, [LayoutItem::Members { first: 0, count: 3, bit_offset: 0, bit_size: 96 }]);
    }

    #[test]
    fn bits_before_a_member_that_starts_inside_a_byte_are_a_bit_hole() {
        let items = tile_members(&[member(0, 8), member(20, 4)], 24);
        assert_eq!(covered(&items), 24);
        assert_eq!(items[1], LayoutItem::Hole(Gap { bit_offset: 8, bit_size: 8 }));
        assert_eq!(items[2], LayoutItem::BitHole(Gap { bit_offset: 16, bit_size: 4 }));
    }
}
