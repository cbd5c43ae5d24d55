//! A plan for structs: learn visits, search, and accept only what is no worse anywhere.

use crate::cost::terms::terms;
use crate::cost::{Model, Problem, Sharing};
use crate::judge::candidates;
use crate::judge::choice::{choose, smallest};
use crate::judge::explain::Explainer;
use crate::judge::forecast::Counts;
use crate::judge::pins::{Broken, price};
use crate::judge::planner::{Planner, Problems};
use crate::options::{Choice, PlanOptions, Request};
use crate::result::{
    Arrangement, Basis, BeforeAfter, Candidate, FORMAT, Mark, Outcome, Plan, SearchReport, StructPlan,
    VERSION, held, refused, rounded, unchanged,
};
use crate::search::{CostedOrder, Effort, Search, gap, lower_bound, moved, tidy};
use fieldline_access::AccessProfile;
use fieldline_layout::abi;
use fieldline_layout::constraint::constraints;
use rayon::prelude::*;

/// Results of a search that are worth tidying.
const TIDIED: usize = 4;
/// Plans structs, each for itself.
pub fn plan(profile: &AccessProfile, requests: &[Request<'_>], options: &PlanOptions) -> Plan {
    let structs = requests.par_iter().map(|request| plan_struct(profile, *request, options));
    Plan {
        format: FORMAT.to_owned(),
        version: VERSION,
        basis: Basis::Profile,
        lines: options.lines.clone(),
        build_line: options.build_line,
        structs: structs.collect(),
    }
}

/// Plans one struct.
pub fn plan_struct(profile: &AccessProfile, request: Request<'_>, options: &PlanOptions) -> StructPlan {
    let layout = request.layout;
    let constraints = match constraints(layout, request.wishes) {
        Ok(constraints) => constraints,
        Err(refusal) => return refused(layout, request.wishes, &refusal),
    };
    let model = Model::new(profile, layout, &constraints, options.build_line);
    let mut result = match unfit(&model) {
        Some((outcome, reason)) => unchanged(layout, outcome, &reason),
        None => Planner::new(layout, &constraints, &model, options).run(profile),
    };
    result.samples = model.enough.have;
    result.needed = model.enough.need;
    result.evidence = Some(model.evidence);
    result.held = held(&constraints);
    result
}

/// Why a model can't carry advice, if so.
fn unfit(model: &Model) -> Option<(Outcome, String)> {
    if !model.is_sufficient() {
        return Some((Outcome::TooFewSamples, model.enough.shortage()));
    }
    model.enough.bias().map(|bias| (Outcome::Refused, bias))
}

impl Planner<'_> {
    fn run(mut self, profile: &AccessProfile) -> StructPlan {
        let none = Sharing::none();
        let problems = self.problems(&none);
        let problem = &problems.together;
        let found = self.search(problem, Effort::for_problem(problem));
        let declared: Vec<usize> = (0..self.constraints.units.len()).collect();
        let before = self.counts(&problems, &declared);
        let broken = Broken::of(problem, &declared);
        let (lower, mut front) = rayon::join(
            || lower_bound(problem, found.best().map(|found| found.order.as_slice())),
            || self.front(&problems, &found, &before, broken.is_none()),
        );
        self.lower = lower;
        let mut chosen = choose(&front, before.cost, self.options.choice);
        let mut result =
            unchanged(self.layout, Outcome::NoGain, "no order is better beyond what chance gives");
        if let Some(judged) = self.judge_front(profile, &problems, &found, &before, &mut front, &mut chosen) {
            result.confidence = Some(judged.confidence);
            result.reason = judged.doubt.or(result.reason);
        }
        let picked = chosen.and_then(|index| front.get(index));
        let after = picked.map_or(&before, |(_, counts)| counts);
        let order = picked.map_or(&declared, |(found, _)| &found.order);
        result.forecasts = self.forecasts(&before, after);
        result.sizes = self.sizes(&before, after);
        result.builds.clone_from(&self.matrix.notes);
        result.terms = terms(problem, &declared, order);
        result.search = Some(report(&found, after.cost, self.lower.cost));
        result.candidates = self.candidates(problem, &front, &before, chosen);
        result.groups = self.groups(order);
        match (picked, self.options.choice) {
            (Some((found, _)), _) => self.describe(&mut result, profile, &found.order),
            (None, Choice::Number(number)) if !front.is_empty() => {
                result.reason = Some(format!("there is no candidate {number}; there are {}", front.len()));
            }
            (None, _) if !broken.is_none() => {
                result.outcome = Outcome::Refused;
                result.reason = Some(self.unkept(&broken));
            }
            _ => {}
        }
        let order = picked.map(|(found, _)| found.order.as_slice());
        self.report_pins(&mut result, &problems, &broken, order);
        if picked.is_some() && !broken.is_none() {
            result.reason = price(&before, after);
        }
        result
    }

    /// Candidates no worse than declared anywhere and better by more than chance; if that may not stay, all that are legal.
    fn front(
        &self,
        problems: &Problems<'_>,
        search: &Search,
        before: &Counts,
        may_stay: bool,
    ) -> Vec<(CostedOrder, Counts)> {
        let problem = &problems.together;
        let mut found = search.found.clone();
        found.sort_by_key(|found| (found.cost, found.order.clone()));
        found.dedup();
        found.truncate(TIDIED);
        let found: Vec<CostedOrder> = found.par_iter().map(|found| tidy(problem, found)).collect();
        let most = self.options.max_moves.unwrap_or(usize::MAX);
        let accepts = |order: &[usize]| !may_stay || self.counts(problems, order).is_no_worse_than(before);
        let front = candidates::front(problem, &self.constraints.initial_order(), &found, most, &accepts);
        let counted = front.into_iter().map(|found| {
            let after = self.counts(problems, &found.order);
            (found, after)
        });
        let mut cheapest = u64::MAX;
        counted
            .filter(|(found, after)| {
                let is_better = || after.is_no_worse_than(before) && self.is_gain(before, after);
                let kept = found.cost < cheapest && (!may_stay || is_better());
                cheapest = if kept { found.cost } else { cheapest };
                kept
            })
            .collect()
    }

    fn candidates(
        &self,
        problem: &Problem<'_>,
        front: &[(CostedOrder, Counts)],
        before: &Counts,
        chosen: Option<usize>,
    ) -> Vec<Candidate> {
        let marks = [
            (smallest(front, before.cost), Mark::Smallest),
            (front.len().checked_sub(1), Mark::Best),
            (chosen, Mark::Chosen),
        ];
        let visits = self.model.together.total().max(1) as f64;
        let declared: Vec<usize> = (0..self.constraints.units.len()).collect();
        let candidates = front.iter().enumerate().map(|(index, (found, after))| Candidate {
            moved: candidates::moved_members(problem, &found.order),
            marks: marks.iter().filter(|mark| mark.0 == Some(index)).map(|mark| mark.1).collect(),
            forecasts: self.forecasts(before, after),
            sizes: self.sizes(before, after),
            coherence: BeforeAfter {
                before: rounded(before.lost as f64 / visits, 1_000.0),
                after: rounded(after.lost as f64 / visits, 1_000.0),
            },
            order: self.constraints.members_in(&found.order),
            terms: terms(problem, &declared, &found.order),
        });
        candidates.collect()
    }

    fn describe(&self, result: &mut StructPlan, profile: &AccessProfile, order: &[usize]) {
        let members = self.constraints.members_in(order);
        let Some(chosen) = abi::reorder(self.layout, &members) else { return };
        let explainer = Explainer::new(profile, self.layout, self.model, self.options.build_line);
        let units = moved(order).into_iter().map(|unit| &self.constraints.units[unit]);
        let moved = units.flat_map(|unit| &unit.members);
        result.moved = moved.filter_map(|index| explainer.explain(*index, &chosen, &members)).collect();
        result.chosen = Arrangement::new(&chosen, members.iter().copied());
        result.outcome = Outcome::Moved;
        result.reason = None;
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
