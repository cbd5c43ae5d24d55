//! Trees of variants as one table: a row a path, a column a variant.

use super::{CallNode, CallTree};
use crate::tables::grid::Grid;
use serde::Serialize;
use std::fmt::Write;

/// Branches below this share in every variant are left out of trees that perf has not cut itself, in percent.
const LEAST_SHARE: f64 = 0.5;

/// A function at one place of the tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallRow {
    /// Calls from the root.
    pub depth: usize,
    /// The function.
    pub function: String,
    /// Percent of all samples by variant; none where it is absent, which is not zero.
    pub shares: Vec<Option<f64>>,
}

/// The calls below a function by variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallTable {
    /// The function.
    pub function: String,
    /// The variants' names.
    pub variants: Vec<String>,
    /// Percent of all samples in the function itself.
    pub own_shares: Vec<Option<f64>>,
    /// The least share that perf left, where it cut small branches.
    pub cut_below: Vec<Option<f64>>,
    /// The rows, callees below their callers.
    pub rows: Vec<CallRow>,
}

impl CallTable {
    /// Puts trees of one function side by side; a variant without it has none.
    #[must_use]
    pub fn new(function: &str, variants: &[String], trees: &[Option<CallTree>]) -> Self {
        let mut table = Self {
            function: function.to_owned(),
            variants: variants.to_vec(),
            own_shares: trees.iter().map(|tree| tree.as_ref()?.own_share).collect(),
            cut_below: trees
                .iter()
                .map(|tree| tree.as_ref().filter(|tree| tree.is_cut).map(CallTree::least_share))
                .collect(),
            rows: Vec::new(),
        };
        let roots: Vec<Option<&CallNode>> =
            trees.iter().map(|tree| tree.as_ref().map(|tree| &tree.root)).collect();
        let is_cut = trees.iter().flatten().any(|tree| tree.is_cut);
        table.add(&roots, 0, if is_cut { 0.0 } else { LEAST_SHARE });
        table
    }

    fn add(&mut self, nodes: &[Option<&CallNode>], depth: usize, least: f64) {
        let Some(function) = nodes.iter().flatten().next().map(|node| node.function.clone()) else { return };
        let shares: Vec<Option<f64>> = nodes.iter().map(|node| node.map(|node| node.share)).collect();
        let largest = shares.iter().flatten().copied().fold(0.0, f64::max);
        if depth > 0 && largest < least {
            return;
        }
        self.rows.push(CallRow { depth, function, shares });
        let mut names: Vec<&str> = Vec::new();
        for callee in nodes.iter().flatten().flat_map(|node| &node.callees) {
            if !names.contains(&callee.function.as_str()) {
                names.push(&callee.function);
            }
        }
        for name in names {
            let callee = |node: &Option<&'_ CallNode>| -> Option<CallNode> {
                let mut same = (*node)?.callees.iter().filter(|callee| callee.function == name);
                same.next().cloned()
            };
            let callees: Vec<Option<CallNode>> = nodes.iter().map(callee).collect();
            let callees: Vec<Option<&CallNode>> = callees.iter().map(Option::as_ref).collect();
            self.add(&callees, depth + 1, least);
        }
    }

    /// The table as text.
    #[must_use]
    pub fn draw(&self) -> String {
        let mut grid = Grid::default();
        grid.push(self.head());
        for row in &self.rows {
            let name = format!("{:indent$}{}", "", row.function, indent = 2 * row.depth);
            grid.push([name].into_iter().chain(cells(row)).chain([String::new()]).collect());
        }
        let mut out = String::new();
        grid.plain(&mut out);
        self.write_notes(&mut out);
        out
    }

    /// The table in Markdown.
    #[must_use]
    pub fn draw_markdown(&self) -> String {
        let mut out =
            format!("| {} |\n|{}\n", self.head().join(" | "), " --- |".repeat(self.variants.len() + 1));
        for row in &self.rows {
            let name = format!("{}`{}`", "&nbsp;&nbsp;".repeat(row.depth), row.function.replace('`', "'"));
            let _ =
                writeln!(out, "| {} |", [name].into_iter().chain(cells(row)).collect::<Vec<_>>().join(" | "));
        }
        out.push('\n');
        self.write_notes(&mut out);
        out
    }

    fn head(&self) -> Vec<String> {
        [format!("share of all samples in or below {}", self.function)]
            .into_iter()
            .chain(self.variants.iter().cloned())
            .collect()
    }

    fn write_notes(&self, out: &mut String) {
        let own: Vec<String> = self
            .own_shares
            .iter()
            .map(|share| share.map_or("-".to_owned(), |share| format!("{share:.2}%")))
            .collect();
        let _ = writeln!(out, "in {} itself: {}", self.function, own.join(", "));
        let cut: Vec<String> = self
            .variants
            .iter()
            .zip(&self.cut_below)
            .filter_map(|(variant, least)| Some(format!("{variant} {:.2}%", (*least)?)))
            .collect();
        if cut.is_empty() {
            let _ =
                writeln!(out, "absent: no sample; rows below {LEAST_SHARE}% in all variants are left out");
        } else {
            let _ = writeln!(
                out,
                "absent: perf report cut the branch, or it had no sample; that is not zero. Least share left: {}",
                cut.join(", ")
            );
        }
    }
}

/// Shares, and their differences from the first in percentage points.
fn cells(row: &CallRow) -> Vec<String> {
    let base = row.shares.first().copied().flatten();
    let cell = |(index, share): (usize, &Option<f64>)| match (share, base) {
        (None, _) => "absent".to_owned(),
        (Some(share), Some(base)) if index > 0 => format!("{share:.2}% ({:+.2})", share - base),
        (Some(share), _) => format!("{share:.2}%"),
    };
    row.shares.iter().enumerate().map(cell).collect()
}
