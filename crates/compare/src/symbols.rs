//! Samples by symbol, of several variants: the union of what is first in any.

use crate::call_tree::Entry;
use crate::readers::{lines, number};
use crate::statistics::summary::{ConfidenceInterval, RunSummary};
use crate::tables::figures::{count_scale, significant};
use crate::tables::grid::Grid;
use serde::Serialize;
use std::collections::BTreeMap;

/// One recording: events by symbol.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymbolCounts {
    /// Events, or percent where only these are known.
    weights: BTreeMap<String, f64>,
    /// All events, also those of symbols that were left out.
    total: f64,
    /// Events in all, if weights are percent.
    event_count: Option<f64>,
    has_counts: bool,
}

impl SymbolCounts {
    /// Nothing counted yet, of a recording whose samples stand for numbers of events.
    #[must_use]
    pub fn of_samples() -> Self {
        Self { has_counts: true, ..Self::default() }
    }

    /// Adds a sample.
    pub fn add(&mut self, symbol: &str, events: f64) {
        self.total += events;
        match self.weights.get_mut(symbol) {
            Some(weight) => *weight += events,
            None => {
                self.weights.insert(symbol.to_owned(), events);
            }
        }
    }

    /// Counts of the text of `perf report`, by event.
    #[must_use]
    pub fn from_report(text: &str) -> Vec<(String, Self)> {
        let mut found: Vec<(String, Self)> = Vec::new();
        for line in lines(text) {
            if let Some((_, event)) =
                line.text.split_once(" of event '").filter(|_| line.text.starts_with('#'))
            {
                found.push((event.trim_end().trim_end_matches('\'').to_owned(), Self::default()));
            } else if let Some(count) = line.after("# Event count (approx.):") {
                found
                    .iter_mut()
                    .last()
                    .into_iter()
                    .for_each(|(_, counts)| counts.event_count = number(count));
            } else if let Some(entry) = Entry::parse(&line) {
                if found.is_empty() {
                    found.push((String::new(), Self::default()));
                }
                found
                    .iter_mut()
                    .last()
                    .into_iter()
                    .for_each(|(_, counts)| counts.add(&entry.symbol, entry.own_share));
            }
        }
        found.retain(|(_, counts)| !counts.weights.is_empty());
        // Shares are of all samples, whether or not perf printed all symbols.
        found.iter_mut().for_each(|(_, counts)| counts.total = 100.0);
        found
    }

    fn share(&self, symbol: &str) -> Option<f64> {
        let weight = self.weights.get(symbol).copied();
        let weight = if self.has_counts { Some(weight.unwrap_or(0.0)) } else { weight };
        Some(100.0 * weight? / self.total).filter(|share| share.is_finite())
    }

    fn count(&self, symbol: &str) -> Option<f64> {
        let events = if self.has_counts { Some(self.total) } else { self.event_count };
        Some(self.share(symbol)? / 100.0 * events?)
    }
}

/// A symbol's part in one variant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SymbolShare {
    /// Percent of all events, the mean of the runs.
    pub percent: f64,
    /// Its 95 % interval, of two runs or more.
    pub interval: Option<ConfidenceInterval>,
    /// Events, the mean of the runs; none where only percent are known.
    pub events: Option<f64>,
    /// Their 95 % interval.
    pub events_interval: Option<ConfidenceInterval>,
}

/// A symbol in all variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SymbolRow {
    /// The symbol.
    pub symbol: String,
    /// Its part by variant; none where perf report does not list it, which is not zero.
    pub shares: Vec<Option<SymbolShare>>,
}

/// Samples by symbol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SymbolTable {
    /// The variants' names.
    pub variants: Vec<String>,
    /// Recordings of each.
    pub runs: Vec<usize>,
    /// The union of the first symbols of each variant, by share in the first.
    pub rows: Vec<SymbolRow>,
}

impl SymbolTable {
    /// Puts variants side by side, each of one recording or more.
    #[must_use]
    pub fn new(variants: &[(String, Vec<SymbolCounts>)], top: usize) -> Self {
        let mut union: Vec<&str> = Vec::new();
        for (_, runs) in variants {
            for symbol in first_symbols(runs, top) {
                if !union.contains(&symbol) {
                    union.push(symbol);
                }
            }
        }
        let row = |symbol: &&str| SymbolRow {
            symbol: (*symbol).to_owned(),
            shares: variants.iter().map(|(_, runs)| share(runs, symbol)).collect(),
        };
        let mut rows: Vec<SymbolRow> = union.iter().map(row).collect();
        let base = |row: &SymbolRow| row.shares.first().copied().flatten().map_or(0.0, |share| share.percent);
        rows.sort_by(|left, right| base(right).total_cmp(&base(left)));
        Self {
            variants: variants.iter().map(|(name, _)| name.clone()).collect(),
            runs: variants.iter().map(|(_, runs)| runs.len()).collect(),
            rows,
        }
    }

    /// Shares, and events where they are known.
    #[must_use]
    pub fn draw(&self) -> String {
        let mut out = String::new();
        self.grid("Symbol", share_text).boxed(&mut out);
        let counts =
            self.rows.iter().flat_map(|row| row.shares.iter().flatten()).filter_map(|share| share.events);
        if counts.clone().next().is_some() {
            let (divisor, letter) = count_scale(counts);
            out.push('\n');
            self.grid("Events", |share| events_text(share, divisor, letter)).boxed(&mut out);
        }
        out
    }

    /// The same in Markdown.
    #[must_use]
    pub fn draw_markdown(&self) -> String {
        let mut out = format!(
            "| Symbol | {} |\n|{}\n",
            self.variants.join(" | "),
            " --- |".repeat(self.variants.len() + 1)
        );
        for row in &self.rows {
            let cells: Vec<String> =
                row.shares.iter().map(|share| share.as_ref().map_or("-".to_owned(), share_text)).collect();
            out.push_str(&format!("| `{}` | {} |\n", row.symbol.replace('`', "'"), cells.join(" | ")));
        }
        out
    }

    fn grid(&self, title: &str, text: impl Fn(&SymbolShare) -> String) -> Grid {
        let mut grid = Grid::default();
        grid.push([title.to_owned()].into_iter().chain(self.variants.iter().cloned()).collect());
        grid.rule();
        for row in &self.rows {
            let cells = row.shares.iter().map(|share| share.as_ref().map_or("-".to_owned(), &text));
            grid.push([row.symbol.clone()].into_iter().chain(cells).collect());
        }
        grid
    }
}

fn share_text(share: &SymbolShare) -> String {
    let interval = share.interval.map(|ends| format!(" [{:.2}, {:.2}]", ends.low, ends.high));
    format!("{:.2}%{}", share.percent, interval.unwrap_or_default())
}

fn events_text(share: &SymbolShare, divisor: f64, letter: &str) -> String {
    let Some(events) = share.events else { return "-".to_owned() };
    let shown = |events: f64| significant(events / divisor);
    let interval = share.events_interval.map(|ends| format!(" [{}, {}]", shown(ends.low), shown(ends.high)));
    format!("{}{letter}{}", shown(events), interval.unwrap_or_default())
}

/// The symbols with most events, in all runs together.
fn first_symbols(runs: &[SymbolCounts], top: usize) -> Vec<&str> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for counts in runs {
        for symbol in counts.weights.keys() {
            *sums.entry(symbol).or_default() += counts.share(symbol).unwrap_or(0.0);
        }
    }
    let mut ranked: Vec<(&str, f64)> = sums.into_iter().collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1));
    ranked.into_iter().take(top).map(|(symbol, _)| symbol).collect()
}

fn share(runs: &[SymbolCounts], symbol: &str) -> Option<SymbolShare> {
    let shares: Vec<f64> = runs.iter().filter_map(|counts| counts.share(symbol)).collect();
    let events: Vec<f64> = runs.iter().filter_map(|counts| counts.count(symbol)).collect();
    let (percent, events) = (RunSummary::from_runs(&shares)?, RunSummary::from_runs(&events));
    // Runs that do not list the symbol would bias the interval.
    let is_whole = shares.len() == runs.len();
    Some(SymbolShare {
        percent: percent.mean,
        interval: percent.mean_interval.filter(|_| is_whole),
        events: events.map(|events| events.mean),
        events_interval: events.and_then(|events| events.mean_interval).filter(|_| is_whole),
    })
}
