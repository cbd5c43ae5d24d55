//! Which planned structs a holder has, and where.

use crate::result::Plan;
use fieldline_layout::Layout;

/// A struct that holds planned ones side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideBySide {
    /// Its layout, which has the planned structs as members.
    pub holder: Layout,
    /// The planned structs in it, in declared order.
    pub parts: Vec<HeldPart>,
    /// Why no alignment can be written at its members; `None` if one can.
    pub unalignable: Option<String>,
}

/// A planned struct that another one holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPart {
    /// Index of the holder's member.
    pub member: usize,
    /// Index among the planned structs.
    pub request: usize,
}

impl SideBySide {
    /// Where a part begins in the declared holder, in bytes.
    pub(super) fn base(&self, part: &HeldPart) -> u64 {
        self.holder.members.get(part.member).map_or(0, fieldline_layout::Member::offset)
    }

    /// Planned sizes in bytes of its parts, by its members.
    pub(super) fn planned_sizes(&self, plan: &Plan) -> Vec<(usize, u64)> {
        let size = |part: &HeldPart| Some((part.member, plan.structs.get(part.request)?.chosen.size));
        self.parts.iter().filter_map(size).collect()
    }
}
