//! A plan for structs: learn visits, search, and accept only what is no worse anywhere.

use crate::cost::VisitModel;
use crate::cost::cost_terms::cost_terms;
use crate::decision::Decision;
use crate::judge::candidates::knee_index;
use crate::judge::cohorts::CohortModels;
use crate::judge::confidence::FOLDS;
use crate::judge::explain::Explainer;
use crate::judge::forecast::OrderEvaluation;
use crate::judge::pins::{PinViolations, describe_pin_cost};
use crate::judge::planner::Planner;
use crate::judge::resample::{CandidateKind, insert_candidate};
use crate::options::{PlanOptions, PlanRequest};
use crate::progress::{Observer, Steps, StructSteps};
use crate::result::{Basis, BeforeAfter, Candidate, Confidence, Mark, Plan, SearchReport, StructPlan};
use crate::search::starts::search;
use crate::search::{SearchEffort, SearchResults, gap, lower_bound};
use crate::visits::sufficiency::SampleSufficiency;
use fieldline_access::AccessProfile;

/// Why no order is adopted where no pin is violated.
const INSIGNIFICANT: &str = "no order brings a statistically significant gain";

/// Why an order is not adopted that confidence left of a candidate.
const WORSE_IN_COHORT: &str = "what is stable of the order over resamples is worse in a cohort";

/// Plans structs, each for itself.
pub fn plan(profile: &AccessProfile, requests: &[PlanRequest<'_>], options: &PlanOptions) -> Plan {
    plan_observed(profile, requests, options, &|_| {})
}

/// Plans structs, each for itself, while `observer` gets how far that is.
pub fn plan_observed(
    profile: &AccessProfile,
    requests: &[PlanRequest<'_>],
    options: &PlanOptions,
    observer: Observer<'_>,
) -> Plan {
    let steps = Steps::new(requests.len() * step_count(options), observer);
    let structs = fieldline_parallel::map(requests, |request| {
        let own = StructSteps::new(&steps, step_count(options));
        plan_with_steps(profile, *request, options, &own)
    });
    options.plan(Basis::Profile, structs)
}

/// Steps of one struct: the search, smaller changes, folds, resamples.
fn step_count(options: &PlanOptions) -> usize {
    if options.resamples > 0 { 2 + FOLDS + options.resamples } else { 2 }
}

/// Plans one struct.
pub fn plan_struct(profile: &AccessProfile, request: PlanRequest<'_>, options: &PlanOptions) -> StructPlan {
    let steps = Steps::new(0, &|_| {});
    plan_with_steps(profile, request, options, &StructSteps::new(&steps, 0))
}

fn plan_with_steps(
    profile: &AccessProfile,
    request: PlanRequest<'_>,
    options: &PlanOptions,
    steps: &StructSteps<'_>,
) -> StructPlan {
    let layout = request.layout;
    request.plan(|constraints| {
        let model = VisitModel::new(profile, layout, constraints, options.build_line);
        let plan = match (model.is_sufficient(), model.sufficiency.describe_bias()) {
            (false, _) => Decision::Defer(model.sufficiency.describe_shortage()).plan(layout),
            (true, Some(bias)) => Decision::Refuse(bias).plan(layout),
            (true, None) => {
                let cohorts = CohortModels::learn(options, layout, constraints);
                let judges = cohorts.judges((layout, constraints), options, steps);
                let planner = Planner::new(layout, constraints, &model, options, steps);
                Planner { cohorts: judges, ..planner }.run(profile)
            }
        };
        let SampleSufficiency { have: samples, need: needed, .. } = model.sufficiency;
        StructPlan { samples, needed, evidence: Some(model.evidence), ..plan }
    })
}

impl Planner<'_> {
    /// The plan of the struct.
    pub(crate) fn run(mut self, profile: &AccessProfile) -> StructPlan {
        let (problem, start) = (&self.together, self.constraints.initial_order());
        let found = search(problem, &start, SearchEffort::for_problem(problem), self.model.seed);
        self.steps.finish_step();
        let declared: Vec<usize> = (0..self.constraints.units.len()).collect();
        let before = self.evaluate(&declared);
        let violations = PinViolations::find(problem, &declared);
        let (lower, mut front) = rayon::join(
            || lower_bound(problem, found.best().map(|found| found.order.as_slice())),
            || self.candidate_orders(&found, &before, violations.is_empty()),
        );
        self.lower = lower;
        self.steps.finish_step();
        let (confidence, chosen) = self.choose(profile, &found, &before, &mut front);
        // A part of a candidate that confidence found stable is no candidate that cohorts were asked about.
        let chosen = match chosen {
            Ok(index) if violations.is_empty() && !self.suits_cohorts(&front[index].order) => {
                Err(WORSE_IN_COHORT.to_owned())
            }
            chosen => chosen,
        };
        let chosen_index = chosen.as_ref().ok().copied();
        let picked = chosen_index.map(|index| &front[index]);
        let after = picked.unwrap_or(&before);
        StructPlan {
            confidence,
            forecasts: self.forecasts(&before, after),
            sizes: self.sizes(&before, after),
            builds: self.matrix.notes.clone(),
            cohorts: self.cohort_forecasts(&after.order),
            terms: cost_terms(&self.together, &declared, &after.order),
            search: Some(report_search(&found, after.cost, self.lower.cost)),
            candidates: self.candidates(&front, &before, chosen_index),
            groups: self.groups(&after.order, profile),
            pins: self.pin_reports(&violations, picked.map(|after| after.order.as_slice())),
            ..self.decide(profile, &before, &front, chosen, &violations).plan(self.layout)
        }
    }

    /// The index of the candidate that is asked for, or why there is none. If confidence is asked for too, it
    /// is judged, and the stable part of it is inserted among the candidates.
    fn choose(
        &self,
        profile: &AccessProfile,
        search: &SearchResults,
        before: &OrderEvaluation,
        front: &mut Vec<OrderEvaluation>,
    ) -> (Option<Confidence>, Result<usize, String>) {
        let knee = knee_index(front, before.cost);
        let recommended = front.last().and_then(|best| self.recommended(front, best, before));
        let asked = self.options.choice.index(front.len(), knee, recommended);
        let is_judged = self.options.resamples > 0;
        let candidates = asked.filter(|_| is_judged).and_then(|index| front.get(..=index));
        let kind = match asked {
            Some(index) if index + 1 == front.len() => CandidateKind::Best,
            index if index == recommended => CandidateKind::Recommended,
            _ => CandidateKind::Other,
        };
        match candidates.and_then(|candidates| self.judge(profile, search, before, candidates, kind)) {
            Some((confidence, verdict)) => {
                (Some(confidence), verdict.map(|order| insert_candidate(front, order)))
            }
            None => (None, asked.ok_or_else(|| INSIGNIFICANT.to_owned())),
        }
    }

    fn decide(
        &self,
        profile: &AccessProfile,
        before: &OrderEvaluation,
        front: &[OrderEvaluation],
        chosen: Result<usize, String>,
        violations: &PinViolations,
    ) -> Decision {
        match (chosen, self.options.choice.describe_missing(front.len())) {
            (Ok(index), _) => {
                let after = &front[index];
                let price = if violations.is_empty() { None } else { describe_pin_cost(before, after) };
                self.adopt(profile, after, price)
            }
            (Err(_), Some(missing)) => Decision::Keep(missing),
            (Err(doubt), None) if violations.is_empty() => Decision::Keep(doubt),
            (Err(_), None) => Decision::Refuse(self.describe_violations(violations)),
        }
    }

    /// The decision for an order, with what it costs, if anything.
    pub(crate) fn adopt(
        &self,
        profile: &AccessProfile,
        after: &OrderEvaluation,
        price: Option<String>,
    ) -> Decision {
        let explainer = Explainer::new(profile, self.layout, self.model, self.options.build_line);
        let explain = |member, chosen: &_, order: &_| explainer.explain(member, chosen, order);
        Decision::adopt(self.layout, self.constraints, &after.order, price, explain)
    }

    fn candidates(
        &self,
        front: &[OrderEvaluation],
        before: &OrderEvaluation,
        chosen: Option<usize>,
    ) -> Vec<Candidate> {
        let best = front.last();
        let marks = [
            (knee_index(front, before.cost), Mark::Smallest),
            (best.and_then(|best| self.recommended(front, best, before)), Mark::Recommended),
            (front.len().checked_sub(1), Mark::Best),
            (chosen, Mark::Chosen),
        ];
        let candidates = front.iter().enumerate().map(|(index, after)| Candidate {
            marks: marks.iter().filter(|mark| mark.0 == Some(index)).map(|mark| mark.1).collect(),
            ..self.candidate(after, before, best)
        });
        candidates.collect()
    }

    /// An order's figures, without marks; the gain it keeps of the best one's if that is given.
    pub(crate) fn candidate(
        &self,
        after: &OrderEvaluation,
        before: &OrderEvaluation,
        best: Option<&OrderEvaluation>,
    ) -> Candidate {
        let visits = self.model.together.total().max(1) as f64;
        let lost = |order: &OrderEvaluation| order.lost() as f64 / visits;
        Candidate {
            moved: after.size.moved,
            split_blocks: after.size.blocks,
            parted: after.size.parted,
            kept: best.map(|best| self.kept_gains(after, best, before)).unwrap_or_default(),
            marks: Vec::new(),
            forecasts: self.forecasts(before, after),
            sizes: self.sizes(before, after),
            coherence: BeforeAfter::round_to(lost(before), lost(after), 1_000.0),
            order: self.constraints.member_order(&after.order),
            terms: cost_terms(&self.together, &before.order, &after.order),
        }
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
        spread: crate::result::rounded(spread, 10_000.0),
    }
}
