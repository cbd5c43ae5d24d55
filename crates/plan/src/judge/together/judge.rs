//! Orders of parts, judged in their holder.

use super::flat::FlatStruct;
use super::parts::{are_parts_no_worse, unit_order};
use super::pooled::pool;
use super::side::SideBySide;
use crate::cost::VisitModel;
use crate::judge::forecast::OrderEvaluation;
use crate::judge::planner::Planner;
use crate::options::{PlanOptions, PlanRequest};
use crate::progress::{Steps, StructSteps};
use crate::result::{Plan, StructPlan, TogetherChoice, TogetherLines};
use fieldline_access::AccessProfile;
use fieldline_layout::constraint::{Constraints, constraints};

/// The orders picked for a holder's parts.
pub(super) struct Judged {
    pub(super) choice: TogetherChoice,
    /// For each part, the order of its members.
    pub(super) orders: Vec<Vec<usize>>,
    pub(super) lines: Vec<TogetherLines>,
}

/// Orders of the parts that may be chosen.
struct Offer {
    choice: TogetherChoice,
    orders: Vec<Vec<usize>>,
}

/// Plans a holder as one struct, and picks the cheapest orders that are worse nowhere.
/// Fails with the reason if that can't be judged.
pub(super) fn judge(
    plan: &Plan,
    profile: &AccessProfile,
    requests: &[PlanRequest<'_>],
    side: &SideBySide,
    options: &PlanOptions,
) -> Result<Judged, String> {
    let flat = FlatStruct::new(side, requests)?;
    let pooled = pool(profile, side, requests, &flat.layout);
    let limits = constraints(&flat.layout, &flat.requests).map_err(|refusal| refusal.to_string())?;
    // Builds of other files would have to show the holder, too: each struct is judged in them alone.
    let options = PlanOptions { resamples: 0, other_builds: Vec::new(), ..options.clone() };
    let model = VisitModel::new(&pooled, &flat.layout, &limits, options.build_line);
    if !model.is_sufficient() {
        return Err(model.sufficiency.describe_shortage());
    }
    let steps = Steps::new(0, &|_| {});
    let own = StructSteps::new(&steps, 0);
    let found = Planner::new(&flat.layout, &limits, &model, &options, &own).run(&pooled);
    let planner = Planner::new(&flat.layout, &limits, &model, &options, &own);
    let offers = offers(plan, side, &flat, &found);
    let evaluate = |offer: &Offer| Some(planner.evaluate(&unit_order(&limits, &flat.order(&offer.orders))?));
    let declared: Vec<usize> = (0..limits.units.len()).collect();
    let before = planner.evaluate(&declared);
    let evaluated: Vec<(Offer, OrderEvaluation)> =
        offers.into_iter().filter_map(|offer| evaluate(&offer).map(|found| (offer, found))).collect();
    let alone = evaluated.iter().find(|(offer, _)| offer.choice == TogetherChoice::Alone);
    let alone = alone.map_or_else(|| before.clone(), |(_, found)| found.clone());
    let is_eligible = |offer: &Offer, after: &OrderEvaluation| match offer.choice {
        TogetherChoice::Together => {
            after.cost < alone.cost
                && after.is_no_worse_than(&alone)
                && are_parts_no_worse(plan, profile, requests, side, &options, &offer.orders)
        }
        _ => after.is_no_worse_than(&before),
    };
    // The cheapest first: whether parts are worse takes time to tell. Of equal cost the first offer is chosen.
    let mut evaluated = evaluated;
    evaluated.sort_by_key(|(_, after)| after.cost);
    let Some((offer, after)) = evaluated.into_iter().find(|(offer, after)| is_eligible(offer, after)) else {
        return Err("no orders found are judged to be no worse than declared".to_owned());
    };
    let alone = planner.forecasts(&before, &alone);
    let lines = planner.forecasts(&before, &after).into_iter().zip(alone).map(|(chosen, alone)| {
        let (line, build_line) = (chosen.line, chosen.build_line);
        TogetherLines { line, build_line, lines: chosen.together, alone: alone.together.after }
    });
    Ok(Judged { choice: offer.choice, lines: lines.collect(), orders: offer.orders })
}

/// Lines that visits to a holder touch in orders of its parts if it becomes another one, whose members have more
/// alignment: by line size and build, as of [`Judged::lines`]. The visits are those that the orders were judged in.
pub(super) fn pooled_lines(
    profile: &AccessProfile,
    requests: &[PlanRequest<'_>],
    (side, aligned): (&SideBySide, &SideBySide),
    options: &PlanOptions,
    orders: &[Vec<usize>],
) -> Option<Vec<f64>> {
    let [own, flat] = [side, aligned].map(|side| FlatStruct::new(side, requests).ok());
    let (own, flat) = own.zip(flat)?;
    let pooled = pool(profile, side, requests, &own.layout);
    let [own_limits, limits] = [&own, &flat].map(|flat| constraints(&flat.layout, &flat.requests).ok());
    let (own_limits, limits) = own_limits.zip(limits)?;
    let members = |limits: &Constraints| limits.units.iter().map(|unit| unit.members.clone()).collect();
    let units: [Vec<Vec<usize>>; 2] = [&own_limits, &limits].map(members);
    if units[0] != units[1] {
        return None;
    }
    let options = PlanOptions { resamples: 0, other_builds: Vec::new(), ..options.clone() };
    let model = VisitModel::new(&pooled, &own.layout, &own_limits, options.build_line);
    let steps = Steps::new(0, &|_| {});
    let own = StructSteps::new(&steps, 0);
    let planner = Planner::new(&flat.layout, &limits, &model, &options, &own);
    let found = planner.evaluate(&unit_order(&limits, &flat.order(orders))?);
    Some(planner.forecasts(&found, &found).into_iter().map(|row| row.together.after).collect())
}

/// The plans made alone, those of which some are left out, and what was found together. Of equal cost the first is
/// chosen.
fn offers(plan: &Plan, side: &SideBySide, flat: &FlatStruct, found: &StructPlan) -> Vec<Offer> {
    let planned: Vec<&StructPlan> =
        side.parts.iter().filter_map(|part| plan.structs.get(part.request)).collect();
    let alone = || planned.iter().map(|planned| planned.order());
    let mut offers = vec![Offer { choice: TogetherChoice::Alone, orders: alone().collect() }];
    for candidate in &found.candidates {
        let orders = (0..side.parts.len()).map(|part| flat.part_order(part, &candidate.order)).collect();
        offers.push(Offer { choice: TogetherChoice::Together, orders });
    }
    let declared = |planned: &StructPlan| (0..planned.declared.members.len()).collect::<Vec<usize>>();
    for (kept, _) in planned.iter().enumerate().filter(|(_, planned)| planned.changes()) {
        let orders = planned.iter().enumerate();
        let orders = orders.map(|(part, own)| if part == kept { own.order() } else { declared(own) });
        offers.push(Offer { choice: TogetherChoice::Some, orders: orders.collect() });
    }
    let orders = planned.iter().map(|planned| declared(planned)).collect();
    offers.push(Offer { choice: TogetherChoice::Some, orders });
    offers
}
