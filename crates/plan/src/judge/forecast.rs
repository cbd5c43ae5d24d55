//! The figures of an order in each configuration, raw and human-readable.

use crate::cost::{OrderState, Problem};
pub(crate) use crate::judge::evaluation::OrderEvaluation;
use crate::judge::planner::Planner;
use crate::result::{BeforeAfter, Forecast, SizeForecast, rounded};
use crate::search::ChangeSize;
use crate::visits::Visits;
use std::collections::BTreeMap;

/// A smaller relative gain is not significant.
pub(crate) const LEAST_GAIN: f64 = 0.02;

/// Lines that the visits of a problem touch, by configuration.
fn lines_in(problem: &Problem<'_>, order: &[usize]) -> Vec<u64> {
    OrderState::evaluate(problem, order).touched_lines()
}

impl Planner<'_> {
    /// Whether visits touch and lose significantly fewer lines, or the struct takes fewer.
    pub(crate) fn is_gain(&self, before: &OrderEvaluation, after: &OrderEvaluation) -> bool {
        self.touches_fewer(before, after) || self.saves_a_line(before, after)
    }

    /// Whether visits touch, and lose to other CPUs, significantly fewer lines.
    pub(crate) fn touches_fewer(&self, before: &OrderEvaluation, after: &OrderEvaluation) -> bool {
        -self.relative_change(before, after) >= LEAST_GAIN
    }

    /// Whether the struct takes fewer lines on the recorded machine.
    pub(crate) fn saves_a_line(&self, before: &OrderEvaluation, after: &OrderEvaluation) -> bool {
        let lines = |size: Option<&u64>| size.map_or(0, |size| size.div_ceil(self.options.build_line.max(1)));
        lines(after.sizes.first()) < lines(before.sizes.first())
    }

    /// Lines touched and lost over all configurations, after less before, as a share of before.
    pub(crate) fn relative_change(&self, before: &OrderEvaluation, after: &OrderEvaluation) -> f64 {
        let configs = &self.matrix.configs;
        let weighted = |counts: &OrderEvaluation| -> u64 {
            let touched = configs.iter().zip(&counts.together).map(|(config, lines)| config.weight * lines);
            let lost = configs.first().map_or(0, |config| config.weight * counts.lost());
            touched.sum::<u64>() + counts.lost_pairs + lost
        };
        weighted(after) as f64 / weighted(before).max(1) as f64 - 1.0
    }

    pub(crate) fn evaluate(&self, order: &[usize]) -> OrderEvaluation {
        let state = OrderState::evaluate(&self.together, order);
        let pairs = self.matrix.configs.iter().enumerate().filter(|(_, config)| config.is_line_pair);
        let lost_together: Vec<u64> =
            (0..self.matrix.configs.len()).map(|config| state.lost_lines(config)).collect();
        let (all, alone) = (self.model.together.total().max(1), self.model.alone.total());
        let scale = |lost: &u64| (u128::from(*lost) * u128::from(alone) / u128::from(all)) as u64;
        OrderEvaluation {
            order: order.to_vec(),
            together: state.touched_lines(),
            alone: lines_in(&self.alone, order),
            sizes: state.sizes().to_vec(),
            lost_alone: lost_together.iter().map(scale).collect(),
            lost_pairs: pairs.map(|(index, config)| config.weight * state.lost_lines(index)).sum(),
            lost_together,
            missing: self.missing.iter().flat_map(|by_misses| lines_in(by_misses, order)).collect(),
            size: ChangeSize::new(self.constraints, order),
            cost: state.cost(),
        }
    }

    pub(crate) fn sizes(&self, before: &OrderEvaluation, after: &OrderEvaluation) -> Vec<SizeForecast> {
        let builds = self.matrix.builds.iter().zip(&self.matrix.build_names);
        let sizes = builds.zip(before.sizes.iter().zip(&after.sizes));
        let sizes = sizes.map(|((build, name), (before, after))| {
            SizeForecast::new(name.clone(), build.line, *before, *after)
        });
        sizes.collect()
    }

    /// Forecasts by line size and build, over all phases.
    pub(crate) fn forecasts(&self, before: &OrderEvaluation, after: &OrderEvaluation) -> Vec<Forecast> {
        let mut groups: BTreeMap<(usize, u64), Vec<usize>> = BTreeMap::new();
        for (index, config) in self.matrix.configs.iter().enumerate() {
            groups.entry((config.build, config.line())).or_default().push(index);
        }
        let forecasts = groups.into_iter().map(|((build, line), configs)| {
            let change = |before: &[u64], after: &[u64], visits: &Visits| BeforeAfter {
                before: self.mean(&configs, before, visits),
                after: self.mean(&configs, after, visits),
            };
            Forecast {
                build: self.matrix.build_names[build].clone(),
                line,
                build_line: self.matrix.builds[build].line,
                together: change(&before.together, &after.together, &self.model.together),
                alone: change(&before.alone, &after.alone, &self.model.alone),
                bound: self.mean(&configs, &self.lower.touched, &self.model.together),
            }
        });
        forecasts.collect()
    }

    /// Lines per visit, the mean over configurations by weight, to three digits; 0 for configurations without
    /// figures.
    fn mean(&self, configs: &[usize], lines: &[u64], visits: &Visits) -> f64 {
        let weight = |config: &usize| self.matrix.configs[*config].weight;
        let weights: u64 = configs.iter().map(weight).sum();
        let lines = |config: &usize| lines.get(*config).copied().unwrap_or(0);
        let sum: u64 = configs.iter().map(|config| weight(config) * lines(config)).sum();
        rounded(sum as f64 / (weights.max(1) * visits.total().max(1)) as f64, 1_000.0)
    }
}
