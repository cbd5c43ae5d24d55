//! Splits of made-up structs.

use crate::common::{Workload, best_order, layout};
use fieldline_layout::constraint::{MemberNote, PlacementRequests};
use fieldline_plan::PlanRequest;
use fieldline_plan::judge::split::{SplitReason, SplitReport, find_splits};

/// Visits to every fourth of 32 words; others to all words between, rarely.
fn splits(requests: &PlacementRequests) -> SplitReport {
    let layout = layout("sample", &[8; 32]);
    let hot: Vec<usize> = (0..32).step_by(4).collect();
    let cold: Vec<usize> = (0..32).filter(|index| index % 4 != 0).collect();
    let workload = Workload::for_sets(&[(hot, 40_000), (cold, 100)]);
    let profile = workload.record(&layout, 5);
    find_splits(&profile, PlanRequest { layout: &layout, requests }, &best_order(), &[]).unwrap()
}

#[test]
fn nothing_is_split_where_an_order_does_as_well() {
    let report = splits(&PlacementRequests::default());
    assert!(report.splits.iter().any(|split| !split.members.is_empty()));
    assert_eq!(report.advised, None, "{}", report.reason);
    // The order brings the words of a visit to one line.
    let lines = &report.reorder.lines[0];
    assert!(lines.line == 64 && lines.figure.before > 3.0 && lines.figure.after < 1.2, "{lines:?}");
}

#[test]
fn rare_members_leave_where_the_text_keeps_their_order() {
    let held = MemberNote { immovable: Some("declared by a macro".to_owned()), ..MemberNote::default() };
    let mut notes = vec![held; 32];
    (notes[1].immovable, notes[2].immovable) = (None, None);
    let report = splits(&PlacementRequests { notes, ..PlacementRequests::default() });
    let split = &report.splits[report.advised.unwrap()];
    assert!(split.why.iter().any(|why| matches!(why, SplitReason::RarelyTouched(_))), "{:?}", split.why);
    assert!(split.indices.iter().all(|index| index % 4 != 0) && split.indices.len() > 16);
    let (before, after) = (&report.reorder.lines[0].figure, &split.layout.lines[0].figure);
    assert!(after.after < 1.5 && before.after > 3.0, "{before:?} {after:?}");
    // Each member is in one of the two, behind its border or before it, with the pointer.
    assert_eq!(split.layout.placed.members.len(), 32);
    let behind = split.layout.placed.members.iter().filter(|member| member.offset >= split.layout.border);
    assert_eq!(behind.count(), split.indices.len());
    assert_eq!(split.stays, (32 - split.indices.len() as u64) * 8 + 8);
    assert_eq!(split.leaves, split.indices.len() as u64 * 8);
    assert!(split.layout.pointer.unwrap() < split.layout.border);
}
