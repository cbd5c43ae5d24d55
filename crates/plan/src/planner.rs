//! A plan for structs: learn visits, search, and accept only what is no worse anywhere.

use crate::cost::VisitModel;
use crate::cost::cost_terms::cost_terms;
use crate::judge::candidates::{self, knee_index, moved_members};
use crate::judge::explain::{Explainer, apply_order};
use crate::judge::forecast::OrderEvaluation;
use crate::judge::pins::{PinViolations, describe_pin_cost};
use crate::judge::planner::Planner;
use crate::options::{PlanOptions, PlanRequest};
use crate::result::{
    Basis, BeforeAfter, Candidate, Mark, Outcome, Plan, SearchReport, StructPlan, rounded, unchanged_plan,
};
use crate::search::starts::search;
use crate::search::{CostedOrder, SearchEffort, SearchResults, gap, lower_bound, reduce_moves};
use fieldline_access::AccessProfile;
use fieldline_parallel as parallel;

/// Results of a search whose moves are reduced.
const REFINED: usize = 4;

/// Plans structs, each for itself.
pub fn plan(profile: &AccessProfile, requests: &[PlanRequest<'_>], options: &PlanOptions) -> Plan {
    let structs = parallel::map(requests, |request| plan_struct(profile, *request, options));
    options.plan(Basis::Profile, structs)
}

/// Plans one struct.
pub fn plan_struct(profile: &AccessProfile, request: PlanRequest<'_>, options: &PlanOptions) -> StructPlan {
    let layout = request.layout;
    request.plan(|constraints| {
        let model = VisitModel::new(profile, layout, constraints, options.build_line);
        let mut result = match (model.is_sufficient(), model.sufficiency.describe_bias()) {
            (false, _) => {
                unchanged_plan(layout, Outcome::TooFewSamples, &model.sufficiency.describe_shortage())
            }
            (true, Some(bias)) => unchanged_plan(layout, Outcome::Refused, &bias),
            (true, None) => Planner::new(layout, constraints, &model, options).run(profile),
        };
        result.samples = model.sufficiency.have;
        result.needed = model.sufficiency.need;
        result.evidence = Some(model.evidence);
        result
    })
}

impl Planner<'_> {
    fn run(mut self, profile: &AccessProfile) -> StructPlan {
        let (problem, start) = (&self.together, self.constraints.initial_order());
        let found = search(problem, &start, SearchEffort::for_problem(problem), self.model.seed);
        let declared: Vec<usize> = (0..self.constraints.units.len()).collect();
        let before = self.evaluate(&declared);
        let violations = PinViolations::find(problem, &declared);
        let (lower, mut front) = rayon::join(
            || lower_bound(problem, found.best().map(|found| found.order.as_slice())),
            || self.candidate_orders(&found, &before, violations.is_empty()),
        );
        self.lower = lower;
        let choice = self.options.choice;
        let mut chosen = choice.index(front.len(), knee_index(&front, before.cost));
        let mut result =
            unchanged_plan(self.layout, Outcome::NoGain, "no order is better beyond what chance gives");
        if let Some(judged) = self.judge_candidates(profile, &found, &before, &mut front, &mut chosen) {
            result.confidence = Some(judged.confidence);
            result.reason = judged.doubt.or(result.reason);
        }
        let picked = chosen.and_then(|index| front.get(index));
        let after = picked.unwrap_or(&before);
        result.forecasts = self.forecasts(&before, after);
        result.sizes = self.sizes(&before, after);
        result.builds.clone_from(&self.matrix.notes);
        result.terms = cost_terms(&self.together, &declared, &after.order);
        result.search = Some(report_search(&found, after.cost, self.lower.cost));
        result.candidates = self.candidates(&front, &before, chosen);
        result.groups = self.groups(&after.order);
        match (picked, choice.describe_missing(front.len())) {
            (Some(after), _) => {
                let explainer = Explainer::new(profile, self.layout, self.model, self.options.build_line);
                apply_order(
                    &mut result,
                    self.layout,
                    self.constraints,
                    &after.order,
                    |member, chosen, order| explainer.explain(member, chosen, order),
                );
                if !violations.is_empty() {
                    result.reason = describe_pin_cost(&before, after);
                }
            }
            (None, Some(missing)) => result.reason = Some(missing),
            (None, None) if !violations.is_empty() => {
                result.outcome = Outcome::Refused;
                result.reason = Some(self.describe_violations(&violations));
            }
            (None, None) => {}
        }
        self.report_pins(&mut result, &violations, picked.map(|after| after.order.as_slice()));
        result
    }

    /// Candidates no worse than declared anywhere and better by more than chance; if that may not stay, all
    /// that are legal.
    fn candidate_orders(
        &self,
        search: &SearchResults,
        before: &OrderEvaluation,
        may_stay: bool,
    ) -> Vec<OrderEvaluation> {
        let problem = &self.together;
        let mut found = search.found.clone();
        found.sort_by_key(|found| (found.cost, found.order.clone()));
        found.dedup();
        found.truncate(REFINED);
        let found: Vec<CostedOrder> = parallel::map(&found, |found| reduce_moves(problem, found));
        let most = self.options.max_moves.unwrap_or(usize::MAX);
        let accepts = |order: &[usize]| !may_stay || self.evaluate(order).is_no_worse_than(before);
        let front =
            candidates::pareto_front(problem, &self.constraints.initial_order(), &found, most, &accepts);
        let mut front: Vec<OrderEvaluation> = front.iter().map(|found| self.evaluate(&found.order)).collect();
        let mut cheapest = u64::MAX;
        front.retain(|after| {
            let is_better = || after.is_no_worse_than(before) && self.is_gain(before, after);
            let kept = after.cost < cheapest && (!may_stay || is_better());
            cheapest = if kept { after.cost } else { cheapest };
            kept
        });
        front
    }

    fn candidates(
        &self,
        front: &[OrderEvaluation],
        before: &OrderEvaluation,
        chosen: Option<usize>,
    ) -> Vec<Candidate> {
        let marks = [
            (knee_index(front, before.cost), Mark::Smallest),
            (front.len().checked_sub(1), Mark::Best),
            (chosen, Mark::Chosen),
        ];
        let visits = self.model.together.total().max(1) as f64;
        let candidates = front.iter().enumerate().map(|(index, after)| Candidate {
            moved: moved_members(&self.together, &after.order),
            marks: marks.iter().filter(|mark| mark.0 == Some(index)).map(|mark| mark.1).collect(),
            forecasts: self.forecasts(before, after),
            sizes: self.sizes(before, after),
            coherence: BeforeAfter::round_to(
                before.lost as f64 / visits,
                after.lost as f64 / visits,
                1_000.0,
            ),
            order: self.constraints.member_order(&after.order),
            terms: cost_terms(&self.together, &before.order, &after.order),
        });
        candidates.collect()
    }
}

fn report_search(search: &SearchResults, cost: u64, lower_bound: u64) -> SearchReport {
    let costs = || search.found.iter().map(|found| found.cost).filter(|cost| *cost < u64::MAX);
    let (best, worst) = (costs().min().unwrap_or(0), costs().max().unwrap_or(0));
    let spread = (worst - best) as f64 / best.max(1) as f64;
    SearchReport {
        optimal: search.is_exact || best == lower_bound,
        cost,
        lower_bound,
        gap: gap(cost, lower_bound),
        chains: search.found.len(),
        spread: rounded(spread, 10_000.0),
    }
}
