//! The parts of a holder, each judged alone.

use super::side::SideBySide;
use crate::cost::VisitModel;
use crate::judge::planner::Planner;
use crate::options::{PlanOptions, PlanRequest};
use crate::progress::{Steps, StructSteps};
use crate::result::Plan;
use fieldline_access::AccessProfile;
use fieldline_layout::constraint::{Constraints, constraints};

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
pub(super) fn with_planner<T>(
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

/// The order of units that gives an order of members; `None` if it tears one apart.
pub(crate) fn unit_order(limits: &Constraints, members: &[usize]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = Vec::new();
    for member in members {
        let unit = limits.units.iter().position(|unit| unit.members.contains(member))?;
        if order.last() != Some(&unit) {
            order.push(unit);
        }
    }
    limits.check(&order).ok()?;
    Some(order)
}
