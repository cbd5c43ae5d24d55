//! Structs that live side by side in one allocation, because a third one holds both by value.
//!
//! The tail of one and the head of the next share cachelines, and the size of one decides where the next begins. So
//! the holder is planned as one struct whose parts don't mix. Orders found so are chosen only if they cost less there
//! than each struct's own plan, and if no struct fetches more lines than in its own plan. If all plans made alone are
//! worse than declared side by side, those that are not are kept.
//!
//! * `side`: which structs a holder has; `flat`: the holder as one struct; `pooled`: its accesses.
//! * `parts`: each struct judged alone; `judge`: orders of all of them, judged in the holder; `adopt`: the plans
//!   changed.
//! * `align`: parts aligned within the holder, where that pays.

mod adopt;
mod align;
mod flat;
mod judge;
mod parts;
mod pooled;
mod side;

pub(crate) use parts::unit_order;
pub use side::{HeldPart, SideBySide};

use crate::options::{PlanOptions, PlanRequest};
use crate::result::{Plan, Together, TogetherPart, slab_class};
use fieldline_access::AccessProfile;
use fieldline_layout::abi::ChangedMembers;

/// Judges planned structs in those that hold several of them, and changes their plans where that is better.
/// `requests` are those the plan was made of, in its order.
pub fn judge_together(
    plan: &mut Plan,
    profile: &AccessProfile,
    requests: &[PlanRequest<'_>],
    sides: &[SideBySide],
    options: &PlanOptions,
) {
    for side in sides {
        let judged = judge::judge(plan, profile, requests, side, options);
        let found = match judged {
            Ok(judged) => adopt::adopt(plan, profile, requests, side, options, judged),
            Err(reason) => Together { unjudged: Some(reason), ..Together::default() },
        };
        plan.together.push(found);
    }
    // A later holder may have changed what an earlier one holds.
    let mut all = std::mem::take(&mut plan.together);
    for (found, side) in all.iter_mut().zip(sides) {
        align::HolderToAlign { plan, profile, requests, side, options }.align(found);
        describe_sizes(found, plan, side);
    }
    plan.together = all;
}

/// Sizes and offsets of a holder by the orders and alignments that the plan has now.
fn describe_sizes(found: &mut Together, plan: &Plan, side: &SideBySide) {
    let planned = |part: &HeldPart| plan.structs.get(part.request);
    let label = |part: &HeldPart| side.holder.members.get(part.member).map_or("", |member| member.label());
    let align = |part: &HeldPart| {
        let written = found.aligned.iter().find(|aligned| aligned.member == label(part))?;
        Some((part.member, written.to))
    };
    let aligned: Vec<(usize, u64)> = side.parts.iter().filter_map(align).collect();
    let changed = ChangedMembers { sizes: &side.planned_sizes(plan), aligned: &aligned };
    let placed = changed.layout(&side.holder);
    let parts = side.parts.iter().map(|part| TogetherPart {
        name: planned(part).map(|planned| planned.name.clone()).unwrap_or_default(),
        member: label(part).to_owned(),
        from: side.base(part),
        to: placed.members.get(part.member).map_or(0, fieldline_layout::Member::offset),
    });
    let parts = parts.collect();
    found.holder = side.holder.name.clone();
    (found.before, found.after) = (side.holder.size, placed.size);
    (found.slab_before, found.slab_after) = (slab_class(found.before), slab_class(found.after));
    found.parts = parts;
}
