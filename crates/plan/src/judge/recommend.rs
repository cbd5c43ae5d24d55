//! The recommended order: the least to read among those that keep most of what the best order gains.

use crate::judge::forecast::OrderEvaluation;
use crate::judge::planner::Planner;
use crate::result::{KeptGain, rounded};
use crate::search::ChangeSize;
use std::collections::BTreeMap;

/// Least share of the best order's gain at each line size, in lines and in lines weighted by misses.
const LEAST_KEPT: f64 = 0.75;
/// Least part of the best order's gain that each further member moved must bring, or what costs a reader as much.
const LEAST_FURTHER_GAIN: f64 = 0.03;
/// By how much lines lost to other CPUs may exceed those of the declared order, or of the best: samples show no less.
const LOST_MARGIN: f64 = 1.05;

impl Planner<'_> {
    /// The first of some orders that keeps enough of the best one's gain, or a dearer one if what it costs beyond pays. They
    /// are in order of their price.
    pub(crate) fn recommended(
        &self,
        offers: &[OrderEvaluation],
        best: &OrderEvaluation,
        before: &OrderEvaluation,
    ) -> Option<usize> {
        let gain = |offer: &OrderEvaluation| before.cost.saturating_sub(offer.cost) as f64;
        let least_gain =
            LEAST_FURTHER_GAIN * gain(best) / ChangeSize { moved: 1, ..ChangeSize::default() }.price() as f64;
        let eligible = offers.iter().enumerate().filter(|(_, offer)| self.keeps_enough(offer, best, before));
        let chosen = eligible.reduce(|chosen, next| {
            let further = next.1.size.price().saturating_sub(chosen.1.size.price()) as f64;
            if gain(next.1) - gain(chosen.1) > least_gain * further { next } else { chosen }
        });
        chosen.map(|(index, _)| index)
    }

    fn keeps_enough(
        &self,
        offer: &OrderEvaluation,
        best: &OrderEvaluation,
        before: &OrderEvaluation,
    ) -> bool {
        let kept = self.kept_gains(offer, best, before);
        let is_enough = |kept: &KeptGain| kept.lines.min(kept.misses) >= LEAST_KEPT;
        let most =
            before.lost_together.iter().zip(&best.lost_together).map(|(before, best)| *before.max(best));
        let lost = offer.lost_together.iter().zip(most).enumerate();
        let mut lost = lost.filter(|(config, _)| self.is_recorded_layout(*config));
        kept.iter().all(is_enough)
            && lost.all(|(_, (after, most))| *after as f64 <= most as f64 * LOST_MARGIN)
            && (!self.saves_a_line(before, best) || self.saves_a_line(before, offer))
    }

    /// Shares of the best order's gain that an order keeps, by line size.
    pub(crate) fn kept_gains(
        &self,
        offer: &OrderEvaluation,
        best: &OrderEvaluation,
        before: &OrderEvaluation,
    ) -> Vec<KeptGain> {
        let orders = [before, best, offer];
        let kept = self.recorded_lines().into_iter().map(|(line, configs)| {
            let share = |counts: fn(&OrderEvaluation) -> &[u64]| {
                let share = share_of_gain(orders.map(|order| self.mean_lines(&configs, counts(order))));
                rounded(share, 1_000.0)
            };
            KeptGain { line, lines: share(|order| &order.together), misses: share(|order| &order.missing) }
        });
        kept.collect()
    }

    /// The share of a gain in lines over all line sizes of the recorded layout: of the declared order, the best and
    /// another.
    pub(crate) fn share_kept(&self, orders: [&OrderEvaluation; 3]) -> f64 {
        let lines = self.recorded_lines();
        let sum = |order: &OrderEvaluation| -> f64 {
            lines.values().map(|configs| self.mean_lines(configs, &order.together)).sum()
        };
        share_of_gain(orders.map(sum))
    }

    /// Lines that a visit touches in an order, by line size of the recorded layout, and those that it loses to other
    /// CPUs.
    pub(crate) fn lines_per_visit(&self, order: &[usize]) -> (Vec<(u64, f64)>, f64) {
        let found = self.evaluate(order);
        let visits = self.model.together.total().max(1) as f64;
        let lines = self.recorded_lines().into_iter();
        let lines = lines.map(|(line, configs)| (line, self.mean_lines(&configs, &found.together) / visits));
        (lines.collect(), found.lost() as f64 / visits)
    }

    /// Configurations of the recorded program's own layout, by line size.
    fn recorded_lines(&self) -> BTreeMap<u64, Vec<usize>> {
        let mut by_line: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, config) in self.matrix.configs.iter().enumerate() {
            if self.is_recorded_layout(index) {
                by_line.entry(config.line()).or_default().push(index);
            }
        }
        by_line
    }

    /// Lines of all visits, the mean over configurations by weight.
    fn mean_lines(&self, configs: &[usize], counts: &[u64]) -> f64 {
        let weight = |config: &usize| self.matrix.configs.get(*config).map_or(0, |config| config.weight);
        let line = |config: &usize| weight(config) * counts.get(*config).copied().unwrap_or(0);
        let (lines, weights) =
            (configs.iter().map(line).sum::<u64>(), configs.iter().map(weight).sum::<u64>());
        lines as f64 / weights.max(1) as f64
    }
}

/// The part of a gain that is kept, from lines before, in the best order and in another; all of it where there is none.
fn share_of_gain([before, best, after]: [f64; 3]) -> f64 {
    if best >= before {
        return if after <= before { 1.0 } else { 0.0 };
    }
    (before - after) / (before - best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_what_the_best_order_gains() {
        assert_eq!(share_of_gain([100.0, 80.0, 85.0]), 0.75);
        assert_eq!(share_of_gain([100.0, 100.0, 100.0]), 1.0);
        assert_eq!(share_of_gain([100.0, 100.0, 101.0]), 0.0);
        assert!(share_of_gain([100.0, 80.0, 101.0]) < 0.0);
    }
}
