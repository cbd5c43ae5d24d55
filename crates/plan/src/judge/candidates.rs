//! Smaller changes than the best: for each size of a change the cheapest order known.

use crate::cost::{CostCache, OrderState};
use crate::judge::forecast::OrderEvaluation;
use crate::judge::planner::Planner;
use crate::search::{
    CostedOrder, LineTargets, SearchEffort, SearchResults, SmallChange, moved_units, reduce_moves,
    small_change_effort, small_changes,
};

/// Results of a search whose moves are reduced.
const REFINED: usize = 4;
/// By which part of the best order's gain a dearer candidate must be better.
const LEAST_STEP: f64 = 0.02;
/// Which part of the best order's gain in lines the search for small changes strives for.
const WANTED_SHARE: f64 = 0.9;

impl Planner<'_> {
    /// Orders no worse than declared anywhere and significantly better, by the price of the change; if the declared
    /// order may not stay, all that are legal. The last one costs least.
    pub(crate) fn candidate_orders(
        &self,
        search: &SearchResults,
        before: &OrderEvaluation,
        may_stay: bool,
    ) -> Vec<OrderEvaluation> {
        let effort = small_change_effort(&self.together);
        let (offers, best) = self.small_offers(before, self.refined_orders(search), may_stay, effort);
        self.without_dominated(offers, best.as_ref(), before)
    }

    /// All orders that may be offered, by the price of the change, and the best one. `refined` has the best known first.
    pub(crate) fn small_offers(
        &self,
        before: &OrderEvaluation,
        refined: Vec<Vec<usize>>,
        may_stay: bool,
        effort: SearchEffort,
    ) -> (Vec<OrderEvaluation>, Option<OrderEvaluation>) {
        let small = self.small_changes(before, &refined, effort);
        let returned = refined.first().map_or_else(Vec::new, |best| self.return_units(best));
        let orders = [refined, small, returned].concat();
        let most = self.options.max_moves.unwrap_or(usize::MAX);
        let evaluated = fieldline_parallel::map(&orders, |order| self.evaluate(order));
        let mut offers: Vec<OrderEvaluation> = evaluated
            .into_iter()
            .filter(|after| after.size.moved <= most && self.fits(&after.order))
            .filter(|after| !may_stay || after.is_no_worse_than(before) && self.is_gain(before, after))
            .filter(|after| !may_stay || self.suits_cohorts(&after.order))
            .collect();
        offers.sort_by(|this, other| {
            let key = |offer: &OrderEvaluation| (offer.size.price(), offer.cost);
            key(this).cmp(&key(other)).then_with(|| this.order.cmp(&other.order))
        });
        let best = offers.iter().min_by_key(|offer| offer.cost).cloned();
        (offers, best)
    }

    /// The orders of which none is dearer than another and hardly better, the one to recommend, and the best one.
    fn without_dominated(
        &self,
        offers: Vec<OrderEvaluation>,
        best: Option<&OrderEvaluation>,
        before: &OrderEvaluation,
    ) -> Vec<OrderEvaluation> {
        let recommended = best.and_then(|best| self.recommended(&offers, best, before));
        let least_cost = best.map_or(0, |best| best.cost);
        let step = ((before.cost.saturating_sub(least_cost)) as f64 * LEAST_STEP) as u64;
        let mut cheapest = u64::MAX;
        let mut front: Vec<OrderEvaluation> = Vec::new();
        for (index, offer) in offers.into_iter().enumerate() {
            let is_better = offer.cost.saturating_add(step) < cheapest;
            if is_better || offer.cost < cheapest && offer.cost == least_cost || Some(index) == recommended {
                cheapest = cheapest.min(offer.cost);
                front.push(offer);
            }
        }
        front
    }

    /// The cheapest orders of the search, with fewer moved units each; the cheapest first.
    fn refined_orders(&self, search: &SearchResults) -> Vec<Vec<usize>> {
        let mut found = search.found.clone();
        found.sort_by_key(|found| (found.cost, found.order.clone()));
        found.dedup();
        found.truncate(REFINED);
        let mut refined: Vec<CostedOrder> =
            fieldline_parallel::map(&found, |found| reduce_moves(&self.together, found));
        refined.sort_by_key(|found| found.cost);
        refined.into_iter().map(|found| found.order).collect()
    }

    /// Orders that change little, where `refined` has the best one known first.
    fn small_changes(
        &self,
        before: &OrderEvaluation,
        refined: &[Vec<usize>],
        effort: SearchEffort,
    ) -> Vec<Vec<usize>> {
        let Some(best) = refined.first() else { return Vec::new() };
        let problem = self.balanced();
        let [now, best] = [&before.order, best].map(|order| {
            let state = OrderState::evaluate(&problem, order);
            (0..problem.configs.len()).map(|config| state.line_cost(config)).collect::<Vec<u64>>()
        });
        let wanted = |(config, (now, best)): (usize, (&u64, &u64))| match self.is_recorded_layout(config) {
            true => now.saturating_sub((now.saturating_sub(*best) as f64 * WANTED_SHARE) as u64),
            false => *now,
        };
        let wanted = now.iter().zip(&best).enumerate().map(wanted).collect();
        let targets = LineTargets { wanted, most: now };
        let start = self.constraints.initial_order();
        let found = small_changes(&problem, &start, &targets, effort, self.model.seed);
        found.into_iter().map(|SmallChange { found, .. }| found.order).collect()
    }

    /// Orders on the way back from one: moved units return to their declared neighbours one by one, the cheapest step
    /// first. In large structs these are smaller changes that no search from the declared order finds.
    fn return_units(&self, order: &[usize]) -> Vec<Vec<usize>> {
        let mut memo = CostCache::default();
        let mut state = OrderState::new(&self.together, order, &mut memo);
        let mut path = Vec::new();
        loop {
            let moved = moved_units(state.order());
            let orders = moved.iter().map(|unit| with_unit_returned(state.order(), *unit, &moved));
            let legal = orders.filter(|order| self.constraints.check(order).is_ok());
            let mut trial = state.clone();
            let priced = legal.map(|order| {
                trial.reset(&order, &mut memo);
                (trial.cost(), order)
            });
            let Some((_, next)) = priced.min_by_key(|(cost, _)| *cost) else { return path };
            state.reset(&next, &mut memo);
            path.push(next);
        }
    }

    /// Whether a configuration is of the recorded program's own layout, at whatever line size.
    pub(crate) fn is_recorded_layout(&self, config: usize) -> bool {
        self.matrix.configs.get(config).is_some_and(|config| config.build == 0 && !config.is_line_pair)
    }

    /// Whether an order keeps sizes, offsets and cacheline requests.
    pub(crate) fn fits(&self, order: &[usize]) -> bool {
        OrderState::evaluate(&self.together, order).fits()
    }
}

/// Index of the candidate at the knee of the Pareto front: where its share of the best gain is most above its share of
/// the best one's price; the first of equals. Beyond it each further member gains less than the mean.
pub(crate) fn knee_index(front: &[OrderEvaluation], declared: u64) -> Option<usize> {
    let best = front.last()?;
    let gain = |found: &OrderEvaluation| i128::from(declared.saturating_sub(found.cost));
    let price = |found: &OrderEvaluation| i128::from(found.size.price());
    // Both shares times both totals, so that integers compare.
    let above = |found: &OrderEvaluation| gain(found) * price(best) - price(found) * gain(best);
    let knee = front.iter().enumerate().rev().max_by_key(|(_, found)| above(found));
    knee.map(|(index, _)| index)
}

/// The order with a moved unit behind the nearest unit declared before it that is not moved.
pub(crate) fn with_unit_returned(order: &[usize], unit: usize, moved: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = order.iter().copied().filter(|other| *other != unit).collect();
    let before = (0..unit).rev().find(|before| !moved.contains(before));
    let index = before.and_then(|before| order.iter().position(|other| *other == before));
    order.insert(index.map_or(0, |index| index + 1), unit);
    order
}
