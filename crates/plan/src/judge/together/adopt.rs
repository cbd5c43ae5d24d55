//! Plans of structs changed by what was judged side by side.

use super::judge::Judged;
use super::parts::{unit_order, with_planner};
use super::side::SideBySide;
use crate::decision::Decision;
use crate::options::{PlanOptions, PlanRequest};
use crate::result::{Candidate, Mark, Plan, StructPlan, Together, TogetherChoice};
use fieldline_access::AccessProfile;

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
