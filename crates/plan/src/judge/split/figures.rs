//! Lines of visits in one order, over all samples and in each fold of the time blocks.

use super::report::{SplitFigure, SplitLines};
use crate::judge::planner::Planner;
use crate::result::{Interval, rounded};
use fieldline_access::AccessProfile;

/// Decimals of lines per visit.
const STEP: f64 = 1_000.0;

/// The lines of an order.
pub(super) struct FoldedLines {
    /// By line size of the recorded layout: lines touched by a visit.
    touched: Vec<(u64, f64)>,
    lost: f64,
    /// The same by fold; none for a fold without visits.
    folds: Vec<Option<(Vec<f64>, f64)>>,
    cost: f64,
}

impl FoldedLines {
    pub(super) fn new(planner: &Planner<'_>, profile: &AccessProfile, order: &[usize]) -> Self {
        let (touched, lost) = planner.lines_per_visit(order);
        let folds = planner
            .fold_lines(profile, order)
            .into_iter()
            .map(|fold| fold.map(|(touched, lost)| (touched.into_iter().map(|line| line.1).collect(), lost)));
        Self { folds: folds.collect(), cost: touched.iter().map(|line| line.1 + lost).sum(), touched, lost }
    }

    /// Lines fetched by a visit, summed over line sizes.
    pub(super) fn cost(&self) -> f64 {
        self.cost
    }

    pub(super) fn lines(&self, declared: &Self) -> Vec<SplitLines> {
        let rows = self.touched.iter().zip(&declared.touched).enumerate();
        let rows = rows.map(|(row, ((line, after), (_, before)))| {
            let fold = |folds: &Self, fold: usize| folds.folds.get(fold)?.as_ref()?.0.get(row).copied();
            SplitLines { line: *line, figure: self.figure((*before, *after), declared, fold) }
        });
        rows.collect()
    }

    pub(super) fn lost(&self, declared: &Self) -> SplitFigure {
        let fold = |folds: &Self, fold: usize| Some(folds.folds.get(fold)?.as_ref()?.1);
        self.figure((declared.lost, self.lost), declared, fold)
    }

    /// A figure with the interval of its relative change over folds.
    fn figure(
        &self,
        (before, after): (f64, f64),
        declared: &Self,
        fold: impl Fn(&Self, usize) -> Option<f64>,
    ) -> SplitFigure {
        let change = |number: usize| {
            let (before, after) = (fold(declared, number)?, fold(self, number)?);
            (before > 0.0).then(|| after / before - 1.0)
        };
        let changes: Vec<f64> = (0..self.folds.len()).filter_map(change).collect();
        let interval = (before > 0.0).then(|| after / before - 1.0);
        let interval = interval.zip(Interval::half_width(&changes));
        let interval = interval.map(|(change, half)| Interval::of_visits(change, half));
        SplitFigure { before: rounded(before, STEP), after: rounded(after, STEP), interval }
    }
}
