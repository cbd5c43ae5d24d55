//! A member that somebody wants to add.

use fieldline_layout::constraint::Wishes;
use fieldline_layout::{Layout, Member, abi};

/// A member that somebody wants to add.
#[derive(Clone, Copy, Debug)]
pub struct Addition<'a> {
    /// The struct as declared.
    pub layout: &'a Layout,
    /// What the source and the user say.
    pub wishes: &'a Wishes,
    /// For each declared member the `#if` conditions around it, outermost first; empty without source.
    pub guards: &'a [Vec<String>],
    /// The new member; its offset counts for nothing.
    pub member: &'a Member,
    /// The member as the user declares it.
    pub declaration: &'a str,
    /// Alignment in bytes the program's ABI gives no scalar more than.
    pub align_limit: u64,
    /// Declared members it is touched together with.
    pub with: &'a [usize],
    /// Whether it is rarely touched.
    pub is_cold: bool,
}

/// The layout with the new member in a place, on a machine with lines of `line` bytes.
pub(super) fn inserted(addition: &Addition<'_>, place: usize, build_line: u64, line: u64) -> Option<Layout> {
    let new = abi::NewMember { member: addition.member, align_limit: addition.align_limit };
    abi::insert_for_line(addition.layout, new, place, build_line, line)
}
