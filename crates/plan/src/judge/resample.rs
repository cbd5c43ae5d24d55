//! The whole pipeline, from samples to order, run again on parts and resamples of the time.

use crate::cost::{Model, OrderState, Problem};
use crate::judge::candidates::{moved_members, returned};
use crate::judge::confidence::{FOLDS, Pairs, STABLE, drawn, fold, pair_shares, share, stability};
use crate::judge::forecast::Counts;
use crate::judge::planner::Planner;
use crate::result::{BeforeAfter, Confidence, Forecast, Grouping, Interval, OutOfFold, Stability, rounded};
use crate::search::order::hottest_first;
use crate::search::starts::{search, search_near};
use crate::search::{CostedOrder, Effort, Search, moved, tidy};
use crate::visits::sources;
use fieldline_access::AccessProfile;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// By what the rounds of a search from nothing are divided: figures out of fold err on the careful side.
const SHORT: usize = 4;
/// The same for one that begins with orders already known: it settles whether any is better by more than chance.
const NEAR: usize = 24;

/// An order, or nothing if none is sure enough; and why that is so.
pub(crate) struct Judged {
    pub(crate) confidence: Confidence,
    pub(crate) order: Option<Counts>,
    pub(crate) doubt: Option<String>,
}

/// A model of other times than the plan's, and an order for it.
struct Refit {
    model: Model,
    order: Vec<usize>,
}

impl Planner<'_> {
    /// Judges the chosen candidate, if that is asked for, and puts what is left of it among the candidates.
    pub(crate) fn judge_front(
        &self,
        profile: &AccessProfile,
        search: &Search,
        before: &Counts,
        front: &mut Vec<Counts>,
        chosen: &mut Option<usize>,
    ) -> Option<Judged> {
        let number = (*chosen).filter(|number| self.options.resamples > 0 && *number < front.len())?;
        let judged = self.judge(profile, search, before, &front[..=number])?;
        *chosen = judged.order.clone().map(|order| insert(&self.together, front, order));
        Some(judged)
    }

    /// Judges the last candidate out of fold and in resamples; members whose place doesn't come again stay.
    fn judge(
        &self,
        profile: &AccessProfile,
        search: &Search,
        before: &Counts,
        front: &[Counts],
    ) -> Option<Judged> {
        let found = front.last()?.clone();
        let blocks = profile.blocks.len();
        let mut confidence = Confidence { blocks, ..Confidence::default() };
        if blocks < FOLDS {
            let missing = format!("the profile holds {blocks} blocks of time, {FOLDS} are needed");
            confidence.missing = Some(missing);
            return Some(Judged { confidence, order: Some(found), doubt: None });
        }
        (confidence.folds, confidence.out_of_fold) = self.out_of_fold(profile, before, &found);
        confidence.resamples = self.options.resamples;
        // Orders that a search in other visits of the same struct begins with, the hottest first.
        let declared = std::iter::once(self.constraints.initial_order());
        let known: Vec<Vec<usize>> = declared.chain(hottest_first(&search.found)).collect();
        let refits: Vec<Refit> = (0..self.options.resamples as u64)
            .into_par_iter()
            .map(|number| self.redraw(profile, number, &found.order, &known))
            .collect();
        let resampled = Resampled::new(self, &refits, &before.order);
        let shares = resampled.shares(&found.order);
        confidence.groupings = resampled.groupings(&found.order);
        let order = self.stable(before, &resampled, front);
        let stays = shares.iter().filter(|share| {
            share.is_chance() && !order.as_ref().is_some_and(|left| moved(&left.order).contains(&share.unit))
        });
        confidence.kept = self.members(stays.map(|share| share.unit));
        let members = |of: &Share| self.members(std::iter::once(of.unit)).into_iter();
        let stabilities = shares
            .iter()
            .flat_map(|of| members(of).map(|index| Stability { index, share: of.share, worth: of.worth }));
        confidence.members = stabilities.collect();
        confidence.interval = resampled.interval(before, order.as_ref().unwrap_or(&found));
        let doubt = match &order {
            None => Some(format!(
                "no grouping comes again in {:.0} % of {} resamples and brings a gain",
                100.0 * STABLE,
                self.options.resamples
            )),
            Some(after) if self.saves_a_line(before, after) => None,
            Some(_) => noise(&confidence),
        };
        Some(Judged { confidence, order: order.filter(|_| doubt.is_none()), doubt })
    }

    fn members(&self, units: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut members: Vec<usize> =
            units.flat_map(|unit| self.constraints.units[unit].members.iter().copied()).collect();
        members.sort_unstable();
        members
    }

    /// A planner for other samples of the same struct.
    fn with<'m>(&'m self, model: &'m Model) -> Planner<'m> {
        Planner::new(self.layout, self.constraints, model, self.options)
    }

    /// Plans without each fold, and counts lines of that order in its visits; folds without visits are left out.
    fn out_of_fold(
        &self,
        profile: &AccessProfile,
        before: &Counts,
        after: &Counts,
    ) -> (usize, Vec<OutOfFold>) {
        let folds = (0..FOLDS).into_par_iter().filter_map(|number| {
            let (train, test) = fold(profile.blocks.len(), number);
            let order = self.with(&self.model_of(profile, &train, None)).search_again();
            let model = self.model_of(profile, &test, None);
            let test = (!model.together.is_empty()).then(|| self.with(&model))?;
            Some(test.forecasts(&test.counts(&before.order), &test.counts(&order)))
        });
        let folds: Vec<Vec<Forecast>> = folds.collect();
        let in_sample = self.forecasts(before, after);
        let rows = in_sample.iter().enumerate().filter_map(|(row, in_sample)| {
            let changes: Vec<BeforeAfter> = folds.iter().map(|fold| fold[row].together).collect();
            out_of_fold(in_sample, &changes)
        });
        (folds.len(), rows.collect())
    }

    /// A model of blocks that happened as often as their weights say; of much the same samples as a known one, if any.
    fn model_of(&self, profile: &AccessProfile, weights: &[u64], known: Option<&Model>) -> Model {
        let sources = sources(profile, self.layout);
        let is_source = |index| sources.iter().any(|source| source.type_index == index);
        let profile = profile.resampled_for(weights, &is_source);
        Model::learn(&profile, self.layout, self.constraints, self.options.build_line, 0, known)
    }

    fn search_again(&self) -> Vec<usize> {
        let (problem, start) = (&self.together, self.constraints.initial_order());
        let effort = Effort { chains: 1, rounds: Effort::for_problem(problem).rounds.div_ceil(SHORT) };
        let found = search(problem, &start, effort, self.model.seed);
        found.best().map_or(start, |best| tidy(problem, best).order)
    }

    /// Settles the visits of the whole recording, and its orders, on blocks drawn with replacement. The order is what the
    /// planned one settles to in the new visits, unless a search finds one better by more than chance: many orders are
    /// equally good, and another one of them is no other opinion.
    fn redraw(&self, profile: &AccessProfile, number: u64, order: &[usize], known: &[Vec<usize>]) -> Refit {
        let weights = drawn(profile.blocks.len(), self.model.seed, number);
        let model = self.model_of(profile, &weights, Some(self.model));
        let order = self.with(&model).settle(order, known);
        Refit { model, order }
    }

    fn settle(&self, order: &[usize], known: &[Vec<usize>]) -> Vec<usize> {
        let problem = &self.together;
        let settled = tidy(problem, &CostedOrder { order: order.to_vec(), cost: 0 }).order;
        let known: Vec<Vec<usize>> = known.iter().cloned().chain([settled.clone()]).collect();
        let start = self.constraints.initial_order();
        let rounds = Effort::for_problem(problem).rounds.div_ceil(NEAR);
        let other = search_near(problem, &start, &known, rounds, self.model.seed);
        let is_better = self.touches_fewer(&self.counts(&settled), &self.counts(&other.order));
        if is_better { tidy(problem, &other).order } else { settled }
    }

    /// The cheapest order all of whose moves come again: the last of some candidates, one of the others, or what is
    /// left of it as members whose place is chance go back, one by one, and the rest settles.
    fn stable(&self, before: &Counts, resampled: &Resampled<'_>, front: &[Counts]) -> Option<Counts> {
        let found = front.last()?;
        if resampled.pairs.is_empty() || resampled.unstable(&found.order).is_none() {
            return Some(found.clone());
        }
        let mut orders: Vec<Vec<usize>> = front.iter().map(|found| found.order.clone()).collect();
        let mut order = found.order.clone();
        while let Some(unit) = resampled.unstable(&order) {
            order = returned(&order, unit, &moved(&order));
            if self.constraints.check(&order).is_ok() {
                orders.push(tidy(&self.together, &CostedOrder { order: order.clone(), cost: 0 }).order);
            }
            orders.push(order.clone());
        }
        let offers = orders.into_par_iter().filter_map(|order| {
            let after = self.counts(&order);
            (resampled.unstable(&order).is_none() && self.is_offer(before, &after)).then_some(after)
        });
        offers.min_by(|one, other| (one.cost, &one.order).cmp(&(other.cost, &other.order)))
    }

    fn is_offer(&self, before: &Counts, after: &Counts) -> bool {
        self.constraints.check(&after.order).is_ok()
            && OrderState::of(&self.together, &after.order).fits()
            && after.is_no_worse_than(before)
            && self.is_gain(before, after)
            && moved_members(&self.together, &after.order) <= self.options.max_moves.unwrap_or(usize::MAX)
    }
}

/// Puts an order among candidates in place of those that cost no less and move no fewer; tells where.
fn insert(problem: &Problem<'_>, front: &mut Vec<Counts>, order: Counts) -> usize {
    let moves = |found: &Counts| moved_members(problem, &found.order);
    let own = moves(&order);
    front.retain(|found| moves(found) < own || found.cost < order.cost);
    let place = front.partition_point(|found| moves(found) <= own);
    front.insert(place, order);
    place
}

/// The reason to leave a struct alone if figures don't rule chance out.
fn noise(confidence: &Confidence) -> Option<String> {
    let percent = |interval: Interval| {
        let [change, low, high] = [interval.change, interval.low, interval.high].map(|share| 100.0 * share);
        format!("{change:+.1} % lines per visit, 95 % between {low:+.1} % and {high:+.1} %")
    };
    let out_of_fold = confidence.out_of_fold.first().map(|row| ("out of fold", row.interval));
    let resampled = confidence.interval.map(|interval| ("over resamples", interval));
    let mut intervals = out_of_fold.into_iter().chain(resampled);
    let (what, interval) = intervals.find(|(_, interval)| interval.high >= 0.0)?;
    Some(format!("the gain is within noise: {what} {}", percent(interval)))
}

fn out_of_fold(in_sample: &Forecast, changes: &[BeforeAfter]) -> Option<OutOfFold> {
    let relative = |change: &BeforeAfter| change.after / change.before - 1.0;
    let mean = |side: fn(&BeforeAfter) -> f64| changes.iter().map(side).sum::<f64>() / changes.len() as f64;
    let relatives: Vec<f64> = changes.iter().map(relative).filter(|change| change.is_finite()).collect();
    let interval = Interval::of_few(&relatives)?;
    let in_sample_change = rounded(relative(&in_sample.together), 10_000.0);
    Some(OutOfFold {
        line: in_sample.line,
        build_line: in_sample.build_line,
        together: BeforeAfter::rounded(mean(|change| change.before), mean(|change| change.after), 1_000.0),
        interval,
        in_sample: in_sample_change,
        optimism: rounded(interval.change - in_sample_change, 10_000.0),
    })
}

/// How often a moved unit comes again.
struct Share {
    unit: usize,
    share: f64,
    /// Looked at only where the share is too small.
    worth: Option<f64>,
}

impl Share {
    /// Whether its place is chance: it neither comes again nor costs lines if it stays where it was declared.
    fn is_chance(&self) -> bool {
        self.share < STABLE && self.worth.is_none_or(|worth| worth < STABLE)
    }
}

struct Resampled<'p> {
    planner: &'p Planner<'p>,
    declared: Pairs,
    pairs: Vec<Pairs>,
    refits: Vec<Planner<'p>>,
}

impl<'p> Resampled<'p> {
    fn new(planner: &'p Planner<'p>, refits: &'p [Refit], declared: &[usize]) -> Self {
        let pairs = |order: &[usize]| Pairs::new(&lines(planner, order));
        Self {
            planner,
            declared: pairs(declared),
            pairs: refits.iter().map(|refit| pairs(&refit.order)).collect(),
            refits: refits.par_iter().map(|refit| planner.with(&refit.model)).collect(),
        }
    }

    /// Relative changes of lines over all views from one order to another, in the visits of each refit.
    fn changes(&self, from: &[usize], to: &[usize]) -> Vec<f64> {
        let refits = self.refits.par_iter();
        refits.map(|refit| refit.change(&refit.counts(from), &refit.counts(to))).collect()
    }

    fn interval(&self, before: &Counts, after: &Counts) -> Option<Interval> {
        let changes = self.changes(&before.order, &after.order);
        Interval::of_resamples(self.planner.change(before, after), changes)
    }

    /// Share of refits in whose visits the order without a unit's move touches more lines.
    fn worth(&self, order: &[usize], unit: usize) -> f64 {
        let changes = self.changes(order, &returned(order, unit, &moved(order)));
        share(changes.iter().filter(|change| **change > 0.0).count(), changes.len())
    }

    /// How often moved units that visits touch come again. Others make room for them and have no say.
    fn shares(&self, order: &[usize]) -> Vec<Share> {
        let pairs = Pairs::new(&lines(self.planner, order));
        let is_touched = |unit: &usize| self.planner.model.cells.iter().any(|cell| cell.unit == *unit);
        let of_unit = |unit: usize| {
            let share = stability(unit, &pairs, &self.declared, &self.pairs);
            Share { unit, share, worth: (share < STABLE).then(|| self.worth(order, unit)) }
        };
        moved(order).into_iter().filter(is_touched).map(of_unit).collect()
    }

    /// The unit that comes again least often of those whose place is chance.
    fn unstable(&self, order: &[usize]) -> Option<usize> {
        let chance = self.shares(order).into_iter().filter(Share::is_chance);
        Some(chance.min_by(|one, other| one.share.total_cmp(&other.share))?.unit)
    }

    fn groupings(&self, order: &[usize]) -> Vec<Grouping> {
        if self.pairs.is_empty() {
            return Vec::new();
        }
        let groupings = lines(self.planner, order).into_iter().filter_map(|units| {
            let (stability, weakest) = pair_shares(&units, &self.pairs)?;
            Some(Grouping { members: self.planner.members(units.into_iter()), stability, weakest })
        });
        groupings.collect()
    }
}

/// Touched units by line of the recorded machine, in an order.
fn lines(planner: &Planner<'_>, order: &[usize]) -> Vec<Vec<usize>> {
    let (Some(build), Some(view)) = (planner.matrix.builds.first(), planner.matrix.views.first()) else {
        return Vec::new();
    };
    let starts: BTreeMap<usize, u64> =
        order.iter().copied().zip(build.spans(order).into_iter().map(|span| span.0)).collect();
    let mut lines: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for cell in planner.model.cells.iter().filter(|cell| cell.size > 0) {
        let start = starts.get(&cell.unit).copied().unwrap_or(0) + 8 * cell.start;
        let (first, last) = view.lines_of(start, start + 8 * cell.size);
        for line in first..=last {
            let units = lines.entry(line).or_default();
            if !units.contains(&cell.unit) {
                units.push(cell.unit);
            }
        }
    }
    lines.into_values().collect()
}
