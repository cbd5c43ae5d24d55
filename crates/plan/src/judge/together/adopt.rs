//! What becomes of the plans of structs that were judged side by side.

use super::SideBySide;
use super::judge::{Judged, unit_order};
use crate::cost::VisitModel;
use crate::decision::Decision;
use crate::judge::planner::Planner;
use crate::options::{PlanOptions, PlanRequest};
use crate::progress::{Steps, StructSteps};
use crate::result::{Candidate, Mark, Plan, StructPlan, Together, TogetherChoice};
use fieldline_access::AccessProfile;
use fieldline_layout::constraint::constraints;

/// Why a struct stays as declared although its own plan moves members.
const WORSE_SIDE_BY_SIDE: &str = "beside the other structs of its holder the order found alone costs more";

/// Takes the chosen orders over into the plan.
pub(super) fn adopt(
    plan: &mut Plan,
    profile: &AccessProfile,
    requests: &[PlanRequest<'_>],
    side: &SideBySide,
    options: &PlanOptions,
    judged: Judged,
) -> Together {
    for (part, order) in side.parts.iter().zip(&judged.orders) {
        let Some((planned, request)) = plan.structs.get_mut(part.request).zip(requests.get(part.request))
        else {
            continue;
        };
        if *order != planned.order() {
            *planned = match judged.choice {
                TogetherChoice::Together => replan(planned, profile, *request, options, order),
                _ => keep_declared(planned, *request),
            };
        }
    }
    Together { lines: judged.lines, chosen: judged.choice, ..Together::default() }
}

/// Whether no part fetches more lines, or takes more room, in orders than in its own plan, in any configuration.
pub(super) fn are_parts_no_worse(
    plan: &Plan,
    profile: &AccessProfile,
    requests: &[PlanRequest<'_>],
    side: &SideBySide,
    options: &PlanOptions,
    orders: &[Vec<usize>],
) -> bool {
    side.parts.iter().zip(orders).all(|(part, order)| {
        let found = plan.structs.get(part.request).zip(requests.get(part.request));
        found.is_some_and(|(planned, request)| {
            let judged = with_planner(profile, *request, options, |planner| {
                let evaluate =
                    |order: &[usize]| Some(planner.evaluate(&unit_order(planner.constraints, order)?));
                let (before, after) = (evaluate(&planned.order())?, evaluate(order)?);
                Some(after.is_no_worse_than(&before) && planner.fits(&after.order))
            });
            *order == planned.order() || judged.flatten() == Some(true)
        })
    })
}

/// Calls a function with the planner of one struct; nothing if its members can't be reordered.
fn with_planner<T>(
    profile: &AccessProfile,
    request: PlanRequest<'_>,
    options: &PlanOptions,
    judge: impl FnOnce(&Planner<'_>) -> T,
) -> Option<T> {
    let limits = constraints(request.layout, request.requests).ok()?;
    let model = VisitModel::new(profile, request.layout, &limits, options.build_line);
    let steps = Steps::new(0, &|_| {});
    let own = StructSteps::new(&steps, 0);
    Some(judge(&Planner::new(request.layout, &limits, &model, options, &own)))
}

/// The plan of a struct with another order, which becomes the last candidate.
fn replan(
    planned: &StructPlan,
    profile: &AccessProfile,
    request: PlanRequest<'_>,
    options: &PlanOptions,
    order: &[usize],
) -> StructPlan {
    let replanned = with_planner(profile, request, options, |planner| {
        let order = unit_order(planner.constraints, order)?;
        let declared: Vec<usize> = (0..order.len()).collect();
        let (before, after) = (planner.evaluate(&declared), planner.evaluate(&order));
        let decided = planner.adopt(profile, &after, None).plan(request.layout);
        let mut candidates = planned.candidates.clone();
        candidates.iter_mut().for_each(|known| known.marks.retain(|mark| *mark != Mark::Chosen));
        candidates.push(Candidate { marks: vec![Mark::Chosen], ..planner.candidate(&after, &before, None) });
        Some(StructPlan {
            forecasts: planner.forecasts(&before, &after),
            sizes: planner.sizes(&before, &after),
            groups: planner.groups(&after.order, profile),
            candidates,
            // What was said of the order found alone says nothing of this one.
            confidence: None,
            terms: crate::cost::cost_terms::cost_terms(&planner.together, &before.order, &after.order),
            verdict: decided.verdict,
            chosen: decided.chosen,
            moved: decided.moved,
            ..planned.clone()
        })
    });
    replanned.flatten().unwrap_or_else(|| planned.clone())
}

/// The plan of a struct that stays.
fn keep_declared(planned: &StructPlan, request: PlanRequest<'_>) -> StructPlan {
    let decided = Decision::Keep(WORSE_SIDE_BY_SIDE.to_owned()).plan(request.layout);
    let mut candidates = planned.candidates.clone();
    candidates.iter_mut().for_each(|known| known.marks.retain(|mark| *mark != Mark::Chosen));
    StructPlan {
        verdict: decided.verdict,
        chosen: decided.chosen,
        moved: Vec::new(),
        groups: Vec::new(),
        candidates,
        ..planned.clone()
    }
}
