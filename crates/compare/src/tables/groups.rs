//! Rows of a comparison that belong into one table.

use crate::comparison::{Comparison, ComparisonRow};

/// Rows with one machine, test and measure; they differ by case.
#[derive(Debug)]
pub(super) struct RowGroup<'c> {
    pub(super) rows: Vec<&'c ComparisonRow>,
}

impl<'c> RowGroup<'c> {
    /// The row that all have their test from; groups are never empty.
    pub(super) fn first(&self) -> Option<&'c ComparisonRow> {
        self.rows.first().copied()
    }
}

/// Groups in the order of their first rows; cases that begin with numbers are in their order.
pub(super) fn group_rows<'c>(
    comparison: &'c Comparison,
    is_meant: impl Fn(&ComparisonRow) -> bool,
) -> Vec<RowGroup<'c>> {
    let mut groups: Vec<RowGroup<'c>> = Vec::new();
    for row in comparison.rows.iter().filter(|row| is_meant(row)) {
        let is_same = |group: &&mut RowGroup<'c>| group.first().is_some_and(|first| belongs_to(row, first));
        match groups.iter_mut().find(is_same) {
            Some(group) => group.rows.push(row),
            None => groups.push(RowGroup { rows: vec![row] }),
        }
    }
    for group in &mut groups {
        if group.rows.iter().all(|row| leading_number(&row.metric.case).is_some()) {
            group.rows.sort_by_key(|row| leading_number(&row.metric.case));
        }
    }
    groups
}

fn belongs_to(row: &ComparisonRow, first: &ComparisonRow) -> bool {
    let (row, first) = (&row.metric, &first.metric);
    row.machine == first.machine && row.test == first.test && row.measure == first.measure
}

fn leading_number(case: &str) -> Option<u64> {
    let digits = case.bytes().take_while(u8::is_ascii_digit).count();
    case.get(..digits)?.parse().ok()
}
