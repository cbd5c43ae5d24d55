//! Members that could be a struct of their own, reached by a pointer.
//!
//! A split is planned as one struct: what stays, the pointer, a border at a cacheline, and what leaves. Nothing
//! crosses the border, so the search finds an order of either side, and lines and losses are counted as everywhere.
//! Who touches what left, touches the pointer first. A split is compared with the best order of the whole struct, in
//! the same visits.
//!
//! * `seeds`: sets of members that might leave.
//! * `divided`: the struct with a border, and its accesses.
//! * `report`: splits as a value; `figures`: lines of visits with intervals, over time blocks.

mod divided;
mod figures;
mod report;
mod seeds;

use crate::cost::VisitModel;
use crate::judge::planner::Planner;
use crate::options::{CandidateChoice, PlanOptions, PlanRequest};
use crate::progress::{Steps, StructSteps};
use divided::DividedStruct;
use fieldline_access::AccessProfile;
use fieldline_layout::constraint::constraints;
use figures::FoldedLines;
pub use report::{Split, SplitFigure, SplitLayout, SplitLines, SplitReport};
pub use seeds::{SplitReason, SplitSeed};

/// Smaller relative gains over the best order are none.
const LEAST_GAIN: f64 = 0.02;
/// Members that leave take a line divided by this at least: a pointer and an allocation are no price for less.
const LEAST_LEAVING: u64 = 2;

/// Finds splits of a struct. `seeds` are sets of members beyond those that the profile and the source show.
///
/// # Errors
/// With the reason, if the struct can't be split or there are too few samples.
pub fn find_splits(
    profile: &AccessProfile,
    request: PlanRequest<'_>,
    options: &PlanOptions,
    seeds: &[SplitSeed],
) -> Result<SplitReport, String> {
    let layout = request.layout;
    let limits = constraints(layout, request.requests).map_err(|refusal| refusal.to_string())?;
    let choice = CandidateChoice::Best;
    let options = PlanOptions { choice, resamples: 0, other_builds: Vec::new(), ..options.clone() };
    let model = VisitModel::new(profile, layout, &limits, options.build_line);
    if !model.is_sufficient() {
        return Err(model.sufficiency.describe_shortage());
    }
    if let Some(bias) = model.sufficiency.describe_bias() {
        return Err(bias);
    }
    let steps = Steps::new(0, &|_| {});
    let own = StructSteps::new(&steps, 0);
    let planner = || Planner::new(layout, &limits, &model, &options, &own);
    let best = planner().run(profile);
    let planner = planner();
    let declared = FoldedLines::new(&planner, profile, &(0..limits.units.len()).collect::<Vec<_>>());
    let order = crate::judge::together::unit_order(&limits, &best.order()).unwrap_or_default();
    let reordered = FoldedLines::new(&planner, profile, &order);
    let tried = seeds::all(&planner, request.requests, seeds).into_iter().filter_map(|seed| {
        let divided =
            DividedStruct::new(layout, &limits, request.requests, &seed.members, options.build_line)?;
        (divided.leaving_bytes() * LEAST_LEAVING >= options.build_line).then_some((seed, divided))
    });
    let tried: Vec<(SplitSeed, DividedStruct)> = tried.collect();
    let mut splits: Vec<(f64, Split)> = tried
        .iter()
        .filter_map(|(seed, divided)| try_split(profile, (seed, divided), &declared, &options))
        .collect();
    splits
        .sort_by(|this, other| this.0.total_cmp(&other.0).then_with(|| this.1.indices.cmp(&other.1.indices)));
    let cost = splits.first().map(|split| split.0);
    let mut report = SplitReport {
        name: layout.name.clone(),
        size: layout.size,
        samples: model.sufficiency.have,
        reorder: SplitLayout {
            placed: best.chosen,
            border: 0,
            pointer: None,
            lines: reordered.lines(&declared),
            lost: reordered.lost(&declared),
        },
        splits: splits.into_iter().map(|split| split.1).collect(),
        ..SplitReport::default()
    };
    (report.advised, report.reason) = decide(cost, reordered.cost());
    Ok(report)
}

fn decide(cost: Option<f64>, reordered: f64) -> (Option<usize>, String) {
    match cost {
        None => (None, "no members are found whose work is apart from that of the others".to_owned()),
        Some(cost) if cost < reordered * (1.0 - LEAST_GAIN) => {
            (Some(0), "visits fetch fewer lines than in the best order of the whole struct".to_owned())
        }
        Some(_) => {
            let reason =
                "the best order of the whole struct does as well: the pointer costs what the split saves";
            (None, reason.to_owned())
        }
    }
}

/// Plans both sides of a split, and counts lines. The first number is what visits fetch, as a weighted mean.
fn try_split(
    profile: &AccessProfile,
    (seed, divided): (&SplitSeed, &DividedStruct),
    declared: &FoldedLines,
    options: &PlanOptions,
) -> Option<(f64, Split)> {
    let pooled = divided.pool(profile);
    let limits = constraints(&divided.layout, &divided.requests).ok()?;
    let model = VisitModel::new(&pooled, &divided.layout, &limits, options.build_line);
    let steps = Steps::new(0, &|_| {});
    let own = StructSteps::new(&steps, 0);
    let planner = || Planner::new(&divided.layout, &limits, &model, options, &own);
    let order = planner().search_briefly();
    let planner = planner();
    let found = FoldedLines::new(&planner, &pooled, &order);
    let members = limits.member_order(&order);
    let placed = fieldline_layout::abi::reorder(&divided.layout, &members)?;
    let sides = divided.sides(&members, &placed);
    let leaving = divided.leaving_units(&limits);
    let split = Split {
        why: seed.why.clone(),
        members: seed.members.iter().map(|index| divided.label(*index)).collect(),
        indices: seed.members.clone(),
        stays: sides.stays,
        leaves: sides.leaves,
        visits: crate::result::rounded(planner.share_touching(&leaving), 1_000.0),
        layout: SplitLayout {
            placed: sides.placed,
            border: sides.border,
            pointer: Some(sides.pointer),
            lines: found.lines(declared),
            lost: found.lost(declared),
        },
    };
    Some((found.cost(), split))
}
