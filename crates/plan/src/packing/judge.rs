//! The conditions an order has to meet to be offered.

use crate::cost::BuildPlacement;
use crate::options::PlanOptions;
use crate::result::{SizeForecast, slab_class};
use fieldline_layout::Layout;
use fieldline_layout::constraint::{CachelineRequestKind, Constraints};
use std::collections::BTreeSet;

/// The cost of a size: cachelines first, then the slab class. Less is better, and monotonous in the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SizeCost {
    lines: u64,
    slab: u64,
}

impl SizeCost {
    /// Whether a cacheline or a slab class is saved against another size, and neither lost.
    fn saves(self, declared: Self) -> bool {
        self.lines <= declared.lines && self.slab <= declared.slab && self != declared
    }
}

/// The configurations and builds of a struct, and its declared sizes in them.
pub(super) struct SizeJudge<'a> {
    pub(super) constraints: &'a Constraints,
    /// The own build first, then those of other line sizes.
    pub(super) builds: Vec<BuildPlacement>,
    /// By configuration, which units it has; the first has all, the others lack those of one `#if` or of all.
    configs: Vec<Vec<bool>>,
    /// By configuration and build.
    declared: Vec<Vec<u64>>,
}

impl<'a> SizeJudge<'a> {
    pub(super) fn new(layout: &Layout, constraints: &'a Constraints, options: &PlanOptions) -> Self {
        let builds = BuildPlacement::for_lines(layout, constraints, options.build_line, &options.lines);
        let (configs, declared) = (list_configs(constraints), Vec::new());
        let mut judge = Self { constraints, builds, configs, declared };
        let declared: Vec<usize> = (0..constraints.units.len()).collect();
        judge.declared = (0..judge.configs.len()).map(|config| judge.sizes(config, &declared)).collect();
        judge
    }

    /// Sizes by build, as declared and in an order.
    pub(super) fn forecasts(&self, order: &[usize]) -> Vec<SizeForecast> {
        let sizes = self.builds.iter().zip(self.declared()).zip(self.sizes(0, order));
        sizes.map(|((build, before), after)| SizeForecast::new(None, build.line, *before, after)).collect()
    }

    pub(super) fn declared(&self) -> &[u64] {
        self.declared.first().map_or(&[], Vec::as_slice)
    }

    pub(super) fn size_cost(&self, size: u64) -> SizeCost {
        let line = self.builds.first().map_or(1, |build| build.line.max(1));
        SizeCost { lines: size.div_ceil(line), slab: slab_class(size) }
    }

    pub(super) fn order_cost(&self, order: &[usize]) -> SizeCost {
        self.size_cost(self.sizes(0, order)[0])
    }

    /// Whether a size costs less than the declared one.
    pub(super) fn is_gain(&self, cost: SizeCost) -> bool {
        cost.saves(self.size_cost(self.declared().first().copied().unwrap_or(0)))
    }

    /// Whether an order keeps every constraint and takes at most so many cachelines more than the declared
    /// one, in each build and configuration.
    pub(super) fn accepts(&self, order: &[usize], lines: u64) -> bool {
        let has_room = || {
            self.declared.iter().enumerate().all(|(config, declared)| {
                let sizes = self.sizes(config, order);
                let mut sizes = sizes.iter().zip(declared).zip(&self.builds);
                sizes.all(|((size, declared), build)| match self.constraints.keeps_size {
                    true => size == declared,
                    false => *size <= declared + lines * build.line,
                })
            })
        };
        self.constraints.check(order).is_ok()
            && has_room()
            && self.builds.iter().all(|build| self.keeps(build, order))
    }

    /// Sizes by build in a configuration.
    fn sizes(&self, config: usize, order: &[usize]) -> Vec<u64> {
        let has = |unit: &&usize| self.configs[config].get(**unit).copied().unwrap_or(false);
        let sizes = self.builds.iter().map(|build| {
            let end = order.iter().filter(has).fold(0, |end, unit| build.place(*unit, end).1);
            build.size(end)
        });
        sizes.collect()
    }

    /// Whether a build has kept units at their offsets and pairs on the lines asked for.
    fn keeps(&self, build: &BuildPlacement, order: &[usize]) -> bool {
        let mut spans = vec![(0, 0); self.constraints.units.len()];
        for (unit, span) in order.iter().zip(build.spans(order)) {
            spans[*unit] = span;
        }
        let own = self.builds.first().is_some_and(|own| own.line == build.line);
        let mut units = self.constraints.units.iter().zip(&spans);
        let kept = !own || units.all(|(unit, span)| unit.kept_offset().is_none_or(|kept| span.0 / 8 == kept));
        let position = |unit: usize| order.iter().position(|other| *other == unit);
        kept && self.constraints.line_constraints.iter().all(|pin| {
            let mut positions: Vec<usize> = pin.units().into_iter().filter_map(position).collect();
            positions.sort_unstable();
            let is_split = positions.windows(2).any(|pair| pair[1] != pair[0] + 1);
            pin.is_satisfied(build.line, |unit| spans[unit].0)
                && (pin.kind != CachelineRequestKind::Group || !is_split)
        })
    }
}

/// All units; those without the units of one `#if`, for each; those of no `#if`.
fn list_configs(constraints: &Constraints) -> Vec<Vec<bool>> {
    let guards = || constraints.units.iter().map(|unit| unit.guard.unwrap_or(0));
    let conditions: BTreeSet<u32> = guards().filter(|guard| *guard > 0).collect();
    let having = |has: &dyn Fn(u32) -> bool| -> Vec<bool> { guards().map(has).collect() };
    let mut configs = vec![having(&|_| true)];
    configs.extend(conditions.iter().map(|left_out| having(&|guard| guard != *left_out)));
    if conditions.len() > 1 {
        configs.push(having(&|guard| guard == 0));
    }
    configs
}
