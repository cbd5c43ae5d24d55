//! Where the C ABI places members: the only code that computes offsets.
//!
//! * `rules`: the placement rules themselves.
//! * `infer`: what a compiled layout must have been asked for, also where debug info doesn't tell.
//! * `marks`: what alignment to the cacheline costs.
//! * `predict`: another order of the members or one more, also on another cacheline size.

mod infer;
mod marks;
mod predict;
mod rules;

pub use infer::{Cause, Disagreement, Exception, Slots, disagreement, slots_of};
pub use marks::{Marks, marked_size, prefer_line, reproduces, resized};
pub use predict::{NewMember, insert_for_line, is_permutation, line_slots, reorder, reorder_for_line};
pub use rules::{Placement, Slot, next_offset, place, size_of};

#[cfg(test)]
mod tests;
