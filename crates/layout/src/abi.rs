//! Where the C ABI places members: the only code that computes offsets.
//!
//! * `rules`: the placement rules themselves.
//! * `infer`: the alignments of a compiled layout, also where debug info lacks them.
//! * `cacheline`: the cost of alignment to the cacheline.
//! * `predict`: another order of the members or one more, also on another cacheline size.

mod cacheline;
mod infer;
mod predict;
mod rules;

pub use cacheline::{
    ChangedMembers, GroupMarkerKind, layout_with_members, raise_to_line, reproduces, size_with_group,
    size_with_members,
};
pub use infer::{AbiException, AbiExceptionCause, AbiStruct, PlacementMismatch, find_mismatch, infer_abi};
pub use predict::{NewMember, adapt_to_line, insert_for_line, is_permutation, reorder, reorder_for_line};
pub use rules::{AbiMember, Placement, next_offset, place_members, round_size};

#[cfg(test)]
mod tests;
