//! The whole pipeline, from samples to order, repeated on folds and resamples of the time blocks.

use crate::cost::model::{ModelSamples, StructWindows};
use crate::cost::{OrderState, VisitModel};
use crate::judge::candidates::with_unit_returned;
use crate::judge::confidence::{
    FOLDS, STABLE, UnitPairs, bootstrap_weights, fold_weights, pair_shares, rounded_share, stability,
};
use crate::judge::forecast::OrderEvaluation;
use crate::judge::planner::Planner;
use crate::result::{BeforeAfter, Confidence, CrossValidation, Forecast};
use crate::result::{Grouping, Interval, Stability, rounded};
use crate::search::order::costliest_first;
use crate::search::starts::{search, search_from};
use crate::search::{
    CostedOrder, SearchEffort, SearchResults, moved_units, reduce_moves, small_change_effort,
};
use crate::visits::find_occurrences;
use fieldline_access::AccessProfile;
use fieldline_access::access::Window;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Divisor of the rounds of a search in a fold: its figures err on the careful side.
const SHORT_SEARCH_DIVISOR: usize = 4;
/// The same for small changes: with fewer rounds, folds find larger ones than the whole recording.
const SHORT_CHANGE_SEARCH_DIVISOR: usize = 3;
/// The same for a search with a warm start: it checks whether any order is significantly better.
const WARM_START_DIVISOR: usize = 24;

/// Samples of a struct, to be weighted by time block.
struct BlockSamples<'p> {
    profile: &'p AccessProfile,
    windows: StructWindows<'p>,
    /// Indices of the types that are or hold the struct.
    types: FxHashSet<usize>,
    /// Instructions that access it.
    instructions: FxHashSet<u64>,
}

/// Which candidate is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CandidateKind {
    /// The best: folds and resamples are searched for theirs.
    Best,
    /// The recommended one: the same, for what would be recommended there.
    Recommended,
    /// One that a user chose: its own order is counted in folds and resamples.
    Other,
}

/// Results of a cross-validation.
struct CrossValidated {
    folds: usize,
    rows: Vec<CrossValidation>,
    /// Share of the best order's gain that the judged one keeps, unless it is the best.
    kept: Option<f64>,
}

/// Lines touched by line size, and lines lost, of a visit in one fold.
pub(crate) type FoldLines = (Vec<(u64, f64)>, f64);

/// Forecasts of one fold.
struct FoldForecasts {
    /// Of the order planned without the fold, in the fold's visits.
    planned: Vec<Forecast>,
    /// Of the same order, in the visits it was planned on.
    in_sample: Vec<Forecast>,
    /// Of the order that is judged, in the fold's visits.
    chosen: Vec<Forecast>,
}

/// A model of resampled time blocks, and an order for it.
struct ResamplePlan {
    model: VisitModel,
    order: Vec<usize>,
}

impl Planner<'_> {
    /// Judges the last candidate by cross-validation and bootstrap: its order without the moves that resamples
    /// don't repeat, or why there is doubt.
    pub(crate) fn judge(
        &self,
        profile: &AccessProfile,
        search: &SearchResults,
        before: &OrderEvaluation,
        front: &[OrderEvaluation],
        kind: CandidateKind,
    ) -> Option<(Confidence, Result<OrderEvaluation, String>)> {
        let found = front.last()?;
        let is_best = kind == CandidateKind::Best;
        let (blocks, resamples) = (profile.blocks.len(), self.options.resamples);
        if blocks < FOLDS {
            let missing = Some(format!("the profile holds {blocks} blocks of time, {FOLDS} are needed"));
            return Some((Confidence { blocks, missing, ..Confidence::default() }, Ok(found.clone())));
        }
        let samples = self.block_samples(profile);
        let CrossValidated { folds, rows, kept } = self.cross_validate(&samples, before, found, kind);
        // Orders that a search in other visits of the same struct begins with, the hottest first.
        let declared = std::iter::once(self.constraints.initial_order());
        let known: Vec<Vec<usize>> = declared.chain(costliest_first(&search.found)).collect();
        let numbers = Vec::from_iter(0..resamples as u64);
        let known = is_best.then_some(known.as_slice());
        let plan = |number: &u64| {
            let plan = self.plan_resample(&samples, *number, &found.order, known);
            self.steps.finish_step();
            plan
        };
        let plans = fieldline_parallel::map(&numbers, plan);
        let bootstrap = BootstrapPlans::new(self, &plans, &before.order, is_best);
        let order = self.stable_order(before, &bootstrap, front);
        let unit_stabilities = bootstrap.unit_stabilities(&found.order);
        let moves = |unit| order.as_ref().is_some_and(|left| moved_units(&left.order).contains(&unit));
        let stays = unit_stabilities.iter().filter(|share| share.is_unstable() && !moves(share.unit));
        let stabilities = unit_stabilities.iter().flat_map(|unit| {
            let members = self.members(std::iter::once(unit.unit)).into_iter();
            members.map(|index| Stability { index, share: unit.share, worth: unit.worth })
        });
        let confidence = Confidence {
            missing: None,
            blocks,
            folds,
            cross_validation: rows,
            kept_gain: kept,
            resamples,
            interval: bootstrap.interval(before, order.as_ref().unwrap_or(found)),
            groupings: bootstrap.groupings(&found.order),
            kept: self.members(stays.map(|share| share.unit)),
            members: stabilities.collect(),
        };
        let verdict = match order {
            None => Err(format!(
                "no grouping recurs in {:.0} % of {resamples} resamples and brings a gain",
                100.0 * STABLE
            )),
            Some(after) if self.saves_a_line(before, &after) => Ok(after),
            Some(after) => describe_insignificance(&confidence).map_or(Ok(after), Err),
        };
        Some((confidence, verdict))
    }

    fn members(&self, units: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut members: Vec<usize> =
            units.flat_map(|unit| self.constraints.units[unit].members.iter().copied()).collect();
        members.sort_unstable();
        members
    }

    /// A planner for other samples of the same struct.
    fn with_model<'m>(&'m self, model: &'m VisitModel) -> Planner<'m> {
        Planner::new(self.layout, self.constraints, model, self.options, self.steps)
    }

    /// Cross-validation: plans without each fold, and counts lines of that order in the fold's visits; folds
    /// without visits are left out.
    fn cross_validate(
        &self,
        samples: &BlockSamples<'_>,
        before: &OrderEvaluation,
        after: &OrderEvaluation,
        kind: CandidateKind,
    ) -> CrossValidated {
        let folds = fieldline_parallel::map(&Vec::from_iter(0..FOLDS), |number| {
            let (train, test) = fold_weights(samples.profile.blocks.len(), *number);
            let is_planned = kind == CandidateKind::Recommended;
            let train = self.model_for(samples, &train, None, is_planned);
            let train = self.with_model(&train);
            let best = train.search_briefly();
            let order = match kind {
                CandidateKind::Best => best.clone(),
                CandidateKind::Recommended => train.recommended_briefly(best.clone(), &before.order),
                CandidateKind::Other => after.order.clone(),
            };
            let model = self.model_for(samples, &test, None, false);
            let test = (!model.together.is_empty()).then(|| self.with_model(&model))?;
            let orders = [&before.order, &best, &order, &after.order];
            let [before, best, order, chosen] = orders.map(|order| test.evaluate(order));
            let [seen_before, seen] = [&before, &order].map(|evaluated| train.evaluate(&evaluated.order));
            let forecasts = FoldForecasts {
                planned: test.forecasts(&before, &order),
                in_sample: train.forecasts(&seen_before, &seen),
                chosen: test.forecasts(&before, &chosen),
            };
            self.steps.finish_step();
            Some((forecasts, test.share_kept([&before, &best, &order])))
        });
        let (folds, kept): (Vec<FoldForecasts>, Vec<f64>) = folds.into_iter().flatten().unzip();
        let in_sample = self.forecasts(before, after);
        let rows = in_sample
            .iter()
            .enumerate()
            .filter_map(|(row, in_sample)| summarise_folds(in_sample, &folds, row));
        let mean = |kept: &[f64]| rounded(kept.iter().sum::<f64>() / kept.len() as f64, 1_000.0);
        let kept = (kind != CandidateKind::Best && !kept.is_empty()).then(|| mean(&kept));
        CrossValidated { folds: folds.len(), rows: rows.collect(), kept }
    }

    /// Lines of an order, as [`Planner::lines_per_visit`] counts them, in the visits of each fold of the time blocks;
    /// nothing for a fold without visits.
    pub(crate) fn fold_lines(&self, profile: &AccessProfile, order: &[usize]) -> Vec<Option<FoldLines>> {
        let blocks = profile.blocks.len();
        if blocks < FOLDS {
            return Vec::new();
        }
        let samples = self.block_samples(profile);
        fieldline_parallel::map(&Vec::from_iter(0..FOLDS), |number| {
            let (_, test) = fold_weights(blocks, *number);
            let model = self.model_for(&samples, &test, None, false);
            (!model.together.is_empty()).then(|| self.with_model(&model).lines_per_visit(order))
        })
    }

    fn block_samples<'p>(&self, profile: &'p AccessProfile) -> BlockSamples<'p> {
        let sources = find_occurrences(profile, self.layout);
        BlockSamples {
            profile,
            windows: StructWindows::new(profile, self.layout),
            types: sources.iter().map(|source| source.type_index).collect(),
            instructions: self.model.accesses.iter().map(|access| access.ip).collect(),
        }
    }

    /// A model of time blocks with weights; with a warm start from a known model, if any.
    fn model_for(
        &self,
        samples: &BlockSamples<'_>,
        weights: &[u64],
        known: Option<&VisitModel>,
        is_planned: bool,
    ) -> VisitModel {
        let has_detail = |index| samples.types.contains(&index);
        let is_own = |instruction| samples.instructions.contains(&instruction);
        let profile = samples.profile.resample(weights, &has_detail, &is_own);
        let count = |window: &Window| window.resampled_count(weights);
        let windows = &samples.windows;
        let samples = ModelSamples {
            profile: &profile,
            windows,
            count: &count,
            is_planned,
            is_drawn_alone: false,
            known,
        };
        let model = VisitModel::learn(&samples, self.layout, self.constraints, self.options.build_line);
        // Objects begin where they do in the whole recording, or where they are judged to.
        model.with_phases(self.model.phases.clone())
    }

    /// A cheap order, by a shorter search.
    pub(crate) fn search_briefly(&self) -> Vec<usize> {
        let (problem, start) = (&self.together, self.constraints.initial_order());
        let effort = SearchEffort {
            chains: 1,
            rounds: SearchEffort::for_problem(problem).rounds.div_ceil(SHORT_SEARCH_DIVISOR),
        };
        let found = search(problem, &start, effort, self.model.seed);
        found.best().map_or(start, |best| reduce_moves(problem, best).order)
    }

    /// Plans a resample of time blocks with a warm start from the plan, or only learns its visits if there is nothing
    /// to start from. Its order is the local optimum next to the planned one, unless a search finds one significantly better: many orders are equally
    /// good, and another one of them is no contradiction.
    fn plan_resample(
        &self,
        samples: &BlockSamples<'_>,
        number: u64,
        order: &[usize],
        known: Option<&[Vec<usize>]>,
    ) -> ResamplePlan {
        let weights = bootstrap_weights(samples.profile.blocks.len(), self.model.seed, number);
        let model = self.model_for(samples, &weights, Some(self.model), false);
        let order =
            known.map_or_else(|| order.to_vec(), |known| self.with_model(&model).warm_start(order, known));
        ResamplePlan { model, order }
    }

    /// The order that would be recommended, by a shorter search, where `best` is the best one known.
    fn recommended_briefly(&self, best: Vec<usize>, declared: &[usize]) -> Vec<usize> {
        let before = self.evaluate(declared);
        let rounds = small_change_effort(&self.together).rounds.div_ceil(SHORT_CHANGE_SEARCH_DIVISOR);
        let (offers, best) = self.small_offers(&before, vec![best], true, SearchEffort { chains: 1, rounds });
        let index = best.as_ref().and_then(|best| self.recommended(&offers, best, &before));
        index.and_then(|index| offers.get(index)).map_or(before.order, |offer| offer.order.clone())
    }

    fn warm_start(&self, order: &[usize], known: &[Vec<usize>]) -> Vec<usize> {
        let problem = &self.together;
        let settled = reduce_moves(problem, &CostedOrder { order: order.to_vec(), cost: 0 }).order;
        let known: Vec<Vec<usize>> = known.iter().cloned().chain([settled.clone()]).collect();
        let start = self.constraints.initial_order();
        let rounds = SearchEffort::for_problem(problem).rounds.div_ceil(WARM_START_DIVISOR);
        let other = search_from(problem, &start, &known, rounds, self.model.seed);
        let is_better = self.touches_fewer(&self.evaluate(&settled), &self.evaluate(&other.order));
        if is_better { reduce_moves(problem, &other).order } else { settled }
    }

    /// The cheapest order all of whose moves are stable: the last of some candidates, one of the others, or
    /// the last one with unstable members returned one by one and the rest optimised again.
    fn stable_order(
        &self,
        before: &OrderEvaluation,
        bootstrap: &BootstrapPlans<'_>,
        front: &[OrderEvaluation],
    ) -> Option<OrderEvaluation> {
        let found = front.last()?;
        if bootstrap.pairs.is_empty() || bootstrap.least_stable_unit(&found.order).is_none() {
            return Some(found.clone());
        }
        let mut orders: Vec<Vec<usize>> = front.iter().map(|found| found.order.clone()).collect();
        let mut order = found.order.clone();
        while let Some(unit) = bootstrap.least_stable_unit(&order) {
            order = with_unit_returned(&order, unit, &moved_units(&order));
            if self.constraints.check(&order).is_ok() {
                let returned = CostedOrder { order: order.clone(), cost: 0 };
                orders.extend(bootstrap.is_best.then(|| reduce_moves(&self.together, &returned).order));
            }
            orders.push(order.clone());
        }
        let offers = fieldline_parallel::map(&orders, |order| {
            let after = self.evaluate(order);
            (bootstrap.least_stable_unit(order).is_none() && self.is_offer(before, &after)).then_some(after)
        });
        offers
            .into_iter()
            .flatten()
            .min_by(|this, other| (this.cost, &this.order).cmp(&(other.cost, &other.order)))
    }

    fn is_offer(&self, before: &OrderEvaluation, after: &OrderEvaluation) -> bool {
        self.constraints.check(&after.order).is_ok()
            && OrderState::evaluate(&self.together, &after.order).fits()
            && after.is_no_worse_than(before)
            && self.is_gain(before, after)
            && after.size.moved <= self.options.max_moves.unwrap_or(usize::MAX)
    }
}

/// Inserts an order among candidates in place of those that it dominates; returns its index.
pub(crate) fn insert_candidate(front: &mut Vec<OrderEvaluation>, order: OrderEvaluation) -> usize {
    let own = order.size.price();
    front.retain(|found| found.size.price() < own || found.cost < order.cost);
    let place = front.partition_point(|found| found.size.price() <= own);
    front.insert(place, order);
    place
}

/// The reason to leave a struct unchanged if intervals include no gain.
fn describe_insignificance(confidence: &Confidence) -> Option<String> {
    let percent = |interval: Interval| {
        let [change, low, high] = [interval.change, interval.low, interval.high].map(|share| 100.0 * share);
        format!("{change:+.1} % lines per visit, 95 % between {low:+.1} % and {high:+.1} %")
    };
    let folds = confidence.cross_validation.first().map(|row| ("in cross-validation", row.sampling));
    let resamples = confidence.interval.map(|interval| ("over resamples", interval));
    let mut intervals = folds.into_iter().chain(resamples);
    let (what, interval) = intervals.find(|(_, interval)| interval.high >= 0.0)?;
    Some(format!("the gain is not statistically significant: {what} {}", percent(interval)))
}

/// The change that an order found on all samples has on others: that on its own samples, and what is lost from the
/// samples that an order was found on to others, the mean over folds (optimism, Efron 1983).
fn summarise_folds(in_sample: &Forecast, folds: &[FoldForecasts], row: usize) -> Option<CrossValidation> {
    let relative = |change: BeforeAfter| change.after / change.before - 1.0;
    let lines_in = |forecasts: &[Forecast]| forecasts.get(row).map(|forecast| forecast.together);
    let chosen: Vec<BeforeAfter> = folds.iter().filter_map(|fold| lines_in(&fold.chosen)).collect();
    let losses = folds.iter().filter_map(|fold| {
        let loss = relative(lines_in(&fold.planned)?) - relative(lines_in(&fold.in_sample)?);
        loss.is_finite().then_some(loss)
    });
    let losses: Vec<f64> = losses.collect();
    let changes = chosen.iter().copied().map(relative).filter(|change| change.is_finite());
    let spread = Interval::half_width(&Vec::from_iter(changes))?;
    let bias = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
    let seen = relative(in_sample.together);
    let change = seen + bias;
    let before = chosen.iter().map(|change| change.before).sum::<f64>() / chosen.len() as f64;
    Some(CrossValidation {
        line: in_sample.line,
        build_line: in_sample.build_line,
        together: BeforeAfter::round_to(before, before * (1.0 + change), 1_000.0),
        interval: Interval::of_visits(change, spread),
        sampling: Interval::of_samples(change, spread),
        in_sample: rounded(seen, 10_000.0),
        in_sample_bias: rounded(bias, 10_000.0),
    })
}

/// How often resamples repeat a unit's move.
struct UnitStability {
    unit: usize,
    share: f64,
    /// Computed only where the share is too small.
    worth: Option<f64>,
}

impl UnitStability {
    /// Whether its move is unstable: resamples don't repeat it, and undoing it costs no lines.
    fn is_unstable(&self) -> bool {
        self.share < STABLE && self.worth.is_none_or(|worth| worth < STABLE)
    }
}

struct BootstrapPlans<'p> {
    planner: &'p Planner<'p>,
    declared: UnitPairs,
    pairs: Vec<UnitPairs>,
    planners: Vec<Planner<'p>>,
    /// Whether the best order is judged: then resamples search for better ones. A smaller change is no contradiction to
    /// better orders; only whether each of its moves pays counts.
    is_best: bool,
}

impl<'p> BootstrapPlans<'p> {
    fn new(planner: &'p Planner<'p>, plans: &'p [ResamplePlan], declared: &[usize], is_best: bool) -> Self {
        let pairs = |order: &[usize]| UnitPairs::new(&units_by_line(planner, order));
        Self {
            planner,
            declared: pairs(declared),
            pairs: plans.iter().map(|plan| pairs(&plan.order)).collect(),
            planners: fieldline_parallel::map(plans, |plan| planner.with_model(&plan.model)),
            is_best,
        }
    }

    /// Relative changes of lines over all configurations from one order to another, in the visits of each
    /// refit.
    fn changes(&self, from: &[usize], to: &[usize]) -> Vec<f64> {
        let change = |plan: &Planner<'_>| plan.relative_change(&plan.evaluate(from), &plan.evaluate(to));
        fieldline_parallel::map(&self.planners, change)
    }

    fn interval(&self, before: &OrderEvaluation, after: &OrderEvaluation) -> Option<Interval> {
        let changes = self.changes(&before.order, &after.order);
        Interval::from_resamples(self.planner.relative_change(before, after), changes)
    }

    /// Share of refits in whose visits the order without a unit's move touches more lines.
    fn gain_share(&self, order: &[usize], unit: usize) -> f64 {
        let changes = self.changes(order, &with_unit_returned(order, unit, &moved_units(order)));
        rounded_share(changes.iter().filter(|change| **change > 0.0).count(), changes.len())
    }

    /// Stability of moved units that visits touch. Others make room for them and don't count.
    fn unit_stabilities(&self, order: &[usize]) -> Vec<UnitStability> {
        let pairs = UnitPairs::new(&units_by_line(self.planner, order));
        let is_touched = |unit: &usize| self.planner.model.ranges.iter().any(|range| range.unit == *unit);
        let of_unit = |unit: usize| {
            if !self.is_best {
                return UnitStability { unit, share: self.gain_share(order, unit), worth: None };
            }
            let share = stability(unit, &pairs, &self.declared, &self.pairs);
            UnitStability { unit, share, worth: (share < STABLE).then(|| self.gain_share(order, unit)) }
        };
        moved_units(order).into_iter().filter(is_touched).map(of_unit).collect()
    }

    /// The least stable unit of those whose move is unstable.
    fn least_stable_unit(&self, order: &[usize]) -> Option<usize> {
        let unstable = self.unit_stabilities(order).into_iter().filter(UnitStability::is_unstable);
        Some(unstable.min_by(|this, other| this.share.total_cmp(&other.share))?.unit)
    }

    fn groupings(&self, order: &[usize]) -> Vec<Grouping> {
        if self.pairs.is_empty() || !self.is_best {
            return Vec::new();
        }
        let groupings = units_by_line(self.planner, order).into_iter().filter_map(|units| {
            let (stability, weakest) = pair_shares(&units, &self.pairs)?;
            Some(Grouping { members: self.planner.members(units.into_iter()), stability, weakest })
        });
        groupings.collect()
    }
}

/// Touched units by line of the recorded machine, in an order.
fn units_by_line(planner: &Planner<'_>, order: &[usize]) -> Vec<Vec<usize>> {
    let (Some(build), Some(config)) = (planner.matrix.builds.first(), planner.matrix.configs.first()) else {
        return Vec::new();
    };
    let starts: BTreeMap<usize, u64> =
        order.iter().copied().zip(build.spans(order).into_iter().map(|span| span.0)).collect();
    let mut lines: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for range in planner.model.ranges.iter().filter(|range| range.size > 0) {
        let start = starts.get(&range.unit).copied().unwrap_or(0) + 8 * range.start;
        let (first, last) = config.lines_of(start, start + 8 * range.size);
        for line in first..=last {
            let units = lines.entry(line).or_default();
            if !units.contains(&range.unit) {
                units.push(range.unit);
            }
        }
    }
    lines.into_values().collect()
}
