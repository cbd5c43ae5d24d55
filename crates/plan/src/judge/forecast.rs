//! What an order costs under each view, and that as figures for people.

use crate::cost::OrderState;
use crate::judge::planner::Planner;
use crate::result::{BeforeAfter, Forecast, SizeForecast, rounded};
use crate::visits::Visits;
use std::collections::BTreeMap;

/// An order that touches not even this share fewer lines is within what chance gives.
const LEAST_GAIN: f64 = 0.02;

/// An order, and the lines that visits touch in it by view, of both kinds of visits.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    pub(crate) order: Vec<usize>,
    pub(crate) together: Vec<u64>,
    pub(crate) alone: Vec<u64>,
    pub(crate) sizes: Vec<u64>,
    /// Lines that CPUs lose to each other in the first view.
    pub(crate) lost: u64,
    /// Weighted pairs of adjacent lines that they lose to each other.
    pub(crate) pairs_lost: u64,
    pub(crate) cost: u64,
}

impl Counts {
    /// Whether no view touches more lines and no build takes more room.
    pub(crate) fn is_no_worse_than(&self, other: &Self) -> bool {
        let pairs =
            [(&self.together, &other.together), (&self.alone, &other.alone), (&self.sizes, &other.sizes)];
        pairs.iter().all(|(one, other)| one.iter().zip(other.iter()).all(|(one, other)| one <= other))
    }
}

impl Planner<'_> {
    /// Whether visits touch and lose fewer lines by more than chance gives, or the struct takes fewer.
    pub(crate) fn is_gain(&self, before: &Counts, after: &Counts) -> bool {
        self.touches_fewer(before, after) || self.saves_a_line(before, after)
    }

    /// Whether visits touch fewer lines, and lose fewer to other CPUs, by more than chance gives.
    pub(crate) fn touches_fewer(&self, before: &Counts, after: &Counts) -> bool {
        -self.change(before, after) >= LEAST_GAIN
    }

    /// Whether the struct takes fewer lines on the recorded machine.
    pub(crate) fn saves_a_line(&self, before: &Counts, after: &Counts) -> bool {
        let lines = |size: Option<&u64>| size.map_or(0, |size| size.div_ceil(self.options.build_line.max(1)));
        lines(after.sizes.first()) < lines(before.sizes.first())
    }

    /// Lines touched and lost over all views, after less before, as a share of before.
    pub(crate) fn change(&self, before: &Counts, after: &Counts) -> f64 {
        let weighted = |counts: &Counts| -> u64 {
            let views = &self.matrix.views;
            let touched = views.iter().zip(&counts.together).map(|(view, lines)| view.weight * lines);
            let lost = views.first().map_or(0, |view| view.weight * counts.lost);
            touched.sum::<u64>() + counts.pairs_lost + lost
        };
        weighted(after) as f64 / weighted(before).max(1) as f64 - 1.0
    }

    pub(crate) fn counts(&self, order: &[usize]) -> Counts {
        let state = OrderState::of(&self.together, order);
        let pairs = self.matrix.views.iter().enumerate().filter(|(_, view)| view.pairs);
        Counts {
            order: order.to_vec(),
            together: state.touched(),
            alone: OrderState::of(&self.alone, order).touched(),
            sizes: state.sizes().to_vec(),
            lost: state.lost(0),
            pairs_lost: pairs.map(|(index, view)| view.weight * state.lost(index)).sum(),
            cost: state.cost(),
        }
    }

    pub(crate) fn sizes(&self, before: &Counts, after: &Counts) -> Vec<SizeForecast> {
        let sizes = before.sizes.iter().zip(&after.sizes);
        let builds = self.matrix.builds.iter().zip(&self.matrix.names);
        let sizes = builds.zip(sizes).map(|((build, name), (before, after))| {
            SizeForecast::new(name.clone(), build.line, *before, *after)
        });
        sizes.collect()
    }

    /// Forecasts by line size and build, over all phases.
    pub(crate) fn forecasts(&self, before: &Counts, after: &Counts) -> Vec<Forecast> {
        let mut groups: BTreeMap<(usize, u64), Vec<usize>> = BTreeMap::new();
        for (index, view) in self.matrix.views.iter().enumerate() {
            groups.entry((view.build, view.line())).or_default().push(index);
        }
        let forecasts = groups.into_iter().map(|((build, line), views)| {
            let change = |before: &[u64], after: &[u64], visits: &Visits| BeforeAfter {
                before: self.mean(&views, before, visits),
                after: self.mean(&views, after, visits),
            };
            Forecast {
                build: self.matrix.names[build].clone(),
                line,
                build_line: self.matrix.builds[build].line,
                together: change(&before.together, &after.together, &self.model.together),
                alone: change(&before.alone, &after.alone, &self.model.alone),
                bound: self.mean(&views, &self.lower.touched, &self.model.together),
            }
        });
        forecasts.collect()
    }

    /// Lines per visit, the mean over views by weight, to three digits; 0 for views nothing is known of.
    fn mean(&self, views: &[usize], lines: &[u64], visits: &Visits) -> f64 {
        let weight = |view: &usize| self.matrix.views[*view].weight;
        let weights: u64 = views.iter().map(weight).sum();
        let sum: u64 = views.iter().map(|view| weight(view) * lines.get(*view).copied().unwrap_or(0)).sum();
        rounded(sum as f64 / (weights.max(1) * visits.total().max(1)) as f64, 1_000.0)
    }
}
