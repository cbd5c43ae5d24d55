//! A plan for structs: learn visits, search, and accept only what is no worse anywhere.

mod choice;
mod confidence;
mod forecast;
mod matrix;
mod pins;

pub use choice::Choice;

use crate::candidates;
use crate::elsewhere::Elsewhere;
use crate::explain::Explainer;
use crate::groups::Grouping;
use crate::lower_bound::{LowerBound, gap, lower_bound};
use crate::model::Model;
use crate::problem::Problem;
use crate::result::{
    Arrangement, Basis, Candidate, Change, FORMAT, HeldMember, Mark, Outcome, Plan, SearchReport, StructPlan,
    VERSION,
};
use crate::search::{Effort, Found, Search, search};
use crate::sharing::Sharing;
use crate::terms::terms;
use crate::tidy::{moved, tidy};
use crate::visits::Visits;
use choice::{choose, smallest};
use fieldline_access::AccessProfile;
use fieldline_layout::constraint::{self, Constraints, ReorderRefusal, Wishes, constraints};
use fieldline_layout::{Layout, abi};
use forecast::{Counts, digits};
use matrix::Matrix;
use pins::{Broken, price};
use rayon::prelude::*;

/// Results of a search that are worth tidying.
const TIDIED: usize = 4;
/// What is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Line sizes in bytes, powers of two.
    pub lines: Vec<u64>,
    /// Line size in bytes of the machine that the layouts were compiled for.
    pub build_line: u64,
    /// Which candidate is proposed.
    pub choice: Choice,
    /// Most members that move.
    pub max_moves: Option<usize>,
    /// How often the whole is done again on resamples of the time, to see what of the advice is chance; 0: not at all.
    pub resamples: usize,
    /// Whether the machine fetches lines in pairs (x86's spatial prefetcher): members on one pair then help each other
    /// and disturb each other, by less than on one line.
    pub adjacent_lines: bool,
    /// Other builds in which no order may be worse than the declared one.
    pub elsewhere: Vec<Elsewhere>,
    /// Size of a pointer in bytes on the recorded machine.
    pub pointer: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            lines: vec![64, 128],
            build_line: 64,
            choice: Choice::Best,
            max_moves: None,
            resamples: 0,
            adjacent_lines: false,
            elsewhere: Vec::new(),
            pointer: 8,
        }
    }
}

/// A struct to plan.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its declared layout, the one the profile was made with.
    pub layout: &'a Layout,
    /// What the source and the user say.
    pub wishes: &'a Wishes,
}

/// Plans structs, each for itself.
pub fn plan(profile: &AccessProfile, requests: &[Request<'_>], options: &Options) -> Plan {
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
pub fn plan_struct(profile: &AccessProfile, request: Request<'_>, options: &Options) -> StructPlan {
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

/// A plan that refuses, and says what holds each member if nothing may move.
pub(crate) fn refused(layout: &Layout, wishes: &Wishes, refusal: &ReorderRefusal) -> StructPlan {
    let mut result = unchanged(layout, Outcome::Refused, &refusal.to_string());
    if let (ReorderRefusal::Fixed, Ok(limits)) = (refusal, constraint::limits(layout, wishes)) {
        result.held = held(&limits);
    }
    result
}

/// A plan that leaves the struct as it is declared.
pub(crate) fn unchanged(layout: &Layout, outcome: Outcome, reason: &str) -> StructPlan {
    let declared = Arrangement::new(layout, 0..layout.members.len());
    StructPlan {
        name: layout.name.clone(),
        fingerprint: layout.fingerprint(),
        file: layout.file.clone(),
        line: layout.line,
        outcome,
        reason: Some(reason.to_owned()),
        chosen: declared.clone(),
        declared,
        candidates: Vec::new(),
        forecasts: Vec::new(),
        sizes: Vec::new(),
        builds: Vec::new(),
        groups: Vec::new(),
        embedded_in: Vec::new(),
        moved: Vec::new(),
        held: Vec::new(),
        pins: Vec::new(),
        notes: Vec::new(),
        grows: Vec::new(),
        samples: 0,
        needed: 0,
        evidence: None,
        search: None,
        confidence: None,
        terms: Vec::new(),
    }
}

pub(crate) fn held(constraints: &Constraints) -> Vec<HeldMember> {
    let units = constraints.units.iter().filter_map(|unit| Some((unit, unit.hold.as_ref()?)));
    let members = units.flat_map(|(unit, hold)| {
        unit.members.iter().map(|index| HeldMember { index: *index, reason: hold.reason.clone() })
    });
    members.collect()
}

struct Planner<'a> {
    layout: &'a Layout,
    constraints: &'a Constraints,
    model: &'a Model,
    options: &'a Options,
    matrix: Matrix,
    /// What no order can avoid.
    lower: LowerBound,
}

/// What an order is judged by.
struct Problems<'a> {
    together: Problem<'a>,
    alone: Problem<'a>,
}

impl<'a> Planner<'a> {
    fn new(layout: &'a Layout, constraints: &'a Constraints, model: &'a Model, options: &'a Options) -> Self {
        Self {
            matrix: Matrix::new(layout, constraints, model, options),
            lower: LowerBound::default(),
            layout,
            constraints,
            model,
            options,
        }
    }

    fn problem(&self, visits: &'a Visits, sharing: &'a Sharing) -> Problem<'a> {
        let (builds, views) = (self.matrix.builds.clone(), self.matrix.views.clone());
        Problem::new(self.constraints, &self.model.cells, visits, sharing, builds, views)
    }

    fn problems(&self, none: &'a Sharing) -> Problems<'a> {
        Problems {
            together: self.problem(&self.model.together, &self.model.sharing),
            alone: self.problem(&self.model.alone, none),
        }
    }

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
        let after = chosen.and_then(|index| front.get(index)).map_or(&before, |(_, counts)| counts);
        result.forecasts = self.forecasts(&before, after);
        result.sizes = self.sizes(&before, after);
        result.builds.clone_from(&self.matrix.notes);
        let order = chosen.and_then(|index| front.get(index)).map_or(&declared, |(found, _)| &found.order);
        result.terms = terms(problem, &declared, order);
        result.search = Some(report(&found, after.cost, self.lower.cost));
        result.candidates = self.candidates(problem, &front, &before, chosen);
        let order = chosen.and_then(|index| front.get(index)).map_or(&declared, |(found, _)| &found.order);
        result.groups = self.grouping().groups(order);
        match (chosen.and_then(|index| front.get(index)), self.options.choice) {
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
        let order = chosen.and_then(|index| front.get(index)).map(|(found, _)| found.order.as_slice());
        self.report_pins(&mut result, &problems, &broken, order);
        if let (Some(_), false) = (order, broken.is_none()) {
            result.reason = price(&before, after);
        }
        result
    }

    /// Cheap orders.
    fn search(&self, problem: &Problem<'_>, effort: Effort) -> Search {
        search(problem, &self.constraints.initial_order(), effort, self.model.seed)
    }

    /// Candidates that are no worse than the declared order anywhere and better by more than chance, by number of
    /// moved members. If the declared order may not stay, all that keep the constraints.
    fn front(
        &self,
        problems: &Problems<'_>,
        search: &Search,
        before: &Counts,
        may_stay: bool,
    ) -> Vec<(Found, Counts)> {
        let problem = &problems.together;
        let mut found = search.found.clone();
        found.sort_by_key(|found| (found.cost, found.order.clone()));
        found.dedup();
        found.truncate(TIDIED);
        let found: Vec<Found> = found.par_iter().map(|found| tidy(problem, found)).collect();
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
        front: &[(Found, Counts)],
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
            coherence: Change {
                before: digits(before.lost as f64 / visits),
                after: digits(after.lost as f64 / visits),
            },
            order: self.constraints.members_in(&found.order),
            terms: terms(problem, &declared, &found.order),
        });
        candidates.collect()
    }

    fn grouping(&self) -> Grouping<'_> {
        Grouping {
            layout: self.layout,
            constraints: self.constraints,
            model: self.model,
            line: self.options.build_line,
            pointer: self.options.pointer,
            builds: self.matrix.with_pointers(self.options),
        }
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
        spread: (spread * 10_000.0).round() / 10_000.0,
    }
}
