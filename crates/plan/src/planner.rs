//! A plan for structs: learn visits, search, and accept only what is no worse anywhere.

use crate::cost::Model;
use crate::cost::terms::terms;
use crate::judge::candidates::{self, moved_members, smallest};
use crate::judge::explain::{Explainer, adopt};
use crate::judge::forecast::Counts;
use crate::judge::pins::{Broken, price};
use crate::judge::planner::Planner;
use crate::options::{PlanOptions, Request};
use crate::result::{
    Basis, BeforeAfter, Candidate, Mark, Outcome, Plan, SearchReport, StructPlan, rounded, unchanged,
};
use crate::search::starts::search;
use crate::search::{CostedOrder, Effort, Search, gap, lower_bound, tidy};
use fieldline_access::AccessProfile;
use rayon::prelude::*;

/// Results of a search that are worth tidying.
const TIDIED: usize = 4;

/// Plans structs, each for itself.
pub fn plan(profile: &AccessProfile, requests: &[Request<'_>], options: &PlanOptions) -> Plan {
    let structs = requests.par_iter().map(|request| plan_struct(profile, *request, options));
    options.plan(Basis::Profile, structs.collect())
}

/// Plans one struct.
pub fn plan_struct(profile: &AccessProfile, request: Request<'_>, options: &PlanOptions) -> StructPlan {
    let layout = request.layout;
    request.plan(|constraints| {
        let model = Model::new(profile, layout, constraints, options.build_line);
        let mut result = match (model.is_sufficient(), model.enough.bias()) {
            (false, _) => unchanged(layout, Outcome::TooFewSamples, &model.enough.shortage()),
            (true, Some(bias)) => unchanged(layout, Outcome::Refused, &bias),
            (true, None) => Planner::new(layout, constraints, &model, options).run(profile),
        };
        result.samples = model.enough.have;
        result.needed = model.enough.need;
        result.evidence = Some(model.evidence);
        result
    })
}

impl Planner<'_> {
    fn run(mut self, profile: &AccessProfile) -> StructPlan {
        let (problem, start) = (&self.together, self.constraints.initial_order());
        let found = search(problem, &start, Effort::for_problem(problem), self.model.seed);
        let declared: Vec<usize> = (0..self.constraints.units.len()).collect();
        let before = self.counts(&declared);
        let broken = Broken::of(problem, &declared);
        let (lower, mut front) = rayon::join(
            || lower_bound(problem, found.best().map(|found| found.order.as_slice())),
            || self.front(&found, &before, broken.is_none()),
        );
        self.lower = lower;
        let choice = self.options.choice;
        let mut chosen = choice.index(front.len(), smallest(&front, before.cost));
        let mut result =
            unchanged(self.layout, Outcome::NoGain, "no order is better beyond what chance gives");
        if let Some(judged) = self.judge_front(profile, &found, &before, &mut front, &mut chosen) {
            result.confidence = Some(judged.confidence);
            result.reason = judged.doubt.or(result.reason);
        }
        let picked = chosen.and_then(|index| front.get(index));
        let after = picked.unwrap_or(&before);
        result.forecasts = self.forecasts(&before, after);
        result.sizes = self.sizes(&before, after);
        result.builds.clone_from(&self.matrix.notes);
        result.terms = terms(&self.together, &declared, &after.order);
        result.search = Some(report(&found, after.cost, self.lower.cost));
        result.candidates = self.candidates(&front, &before, chosen);
        result.groups = self.groups(&after.order);
        match (picked, choice.missing(front.len())) {
            (Some(after), _) => {
                let explainer = Explainer::new(profile, self.layout, self.model, self.options.build_line);
                adopt(&mut result, self.layout, self.constraints, &after.order, |member, chosen, order| {
                    explainer.explain(member, chosen, order)
                });
                if !broken.is_none() {
                    result.reason = price(&before, after);
                }
            }
            (None, Some(missing)) => result.reason = Some(missing),
            (None, None) if !broken.is_none() => {
                result.outcome = Outcome::Refused;
                result.reason = Some(self.unkept(&broken));
            }
            (None, None) => {}
        }
        self.report_pins(&mut result, &broken, picked.map(|after| after.order.as_slice()));
        result
    }

    /// Candidates no worse than declared anywhere and better by more than chance; if that may not stay, all that are legal.
    fn front(&self, search: &Search, before: &Counts, may_stay: bool) -> Vec<Counts> {
        let problem = &self.together;
        let mut found = search.found.clone();
        found.sort_by_key(|found| (found.cost, found.order.clone()));
        found.dedup();
        found.truncate(TIDIED);
        let found: Vec<CostedOrder> = found.par_iter().map(|found| tidy(problem, found)).collect();
        let most = self.options.max_moves.unwrap_or(usize::MAX);
        let accepts = |order: &[usize]| !may_stay || self.counts(order).is_no_worse_than(before);
        let front = candidates::front(problem, &self.constraints.initial_order(), &found, most, &accepts);
        let mut front: Vec<Counts> = front.iter().map(|found| self.counts(&found.order)).collect();
        let mut cheapest = u64::MAX;
        front.retain(|after| {
            let is_better = || after.is_no_worse_than(before) && self.is_gain(before, after);
            let kept = after.cost < cheapest && (!may_stay || is_better());
            cheapest = if kept { after.cost } else { cheapest };
            kept
        });
        front
    }

    fn candidates(&self, front: &[Counts], before: &Counts, chosen: Option<usize>) -> Vec<Candidate> {
        let marks = [
            (smallest(front, before.cost), Mark::Smallest),
            (front.len().checked_sub(1), Mark::Best),
            (chosen, Mark::Chosen),
        ];
        let visits = self.model.together.total().max(1) as f64;
        let candidates = front.iter().enumerate().map(|(index, after)| Candidate {
            moved: moved_members(&self.together, &after.order),
            marks: marks.iter().filter(|mark| mark.0 == Some(index)).map(|mark| mark.1).collect(),
            forecasts: self.forecasts(before, after),
            sizes: self.sizes(before, after),
            coherence: BeforeAfter::rounded(before.lost as f64 / visits, after.lost as f64 / visits, 1_000.0),
            order: self.constraints.members_in(&after.order),
            terms: terms(&self.together, &before.order, &after.order),
        });
        candidates.collect()
    }
}

fn report(search: &Search, cost: u64, lower_bound: u64) -> SearchReport {
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
