//! Recordings and coverage of a profile.

use super::context::RowWeights;
use super::row::TableRows;
use crate::row_sums::Tables;
use crate::schema::Table;
use fieldline_access::access::{EventCoverage, Recording, SampleCount};
use std::collections::BTreeMap;

/// The recordings in order of rows, and sentences on what they can't show, each once.
pub(super) fn read(tables: &Tables) -> (Vec<Recording>, Vec<String>) {
    let rows = TableRows { tables, table: Table::Recordings };
    let column = |name| rows.column(name);
    let spots = column("blind_spots");
    let mut blind_spots: Vec<String> = Vec::new();
    let recordings = rows.iter().map(|row| {
        for spot in row.text(spots).into_iter().flat_map(str::lines) {
            if !blind_spots.iter().any(|known| known == spot) {
                blind_spots.push(spot.to_owned());
            }
        }
        let text = |name| row.text(column(name)).map(str::to_owned);
        Recording {
            file: text("file").unwrap_or_default(),
            host: text("host"),
            release: text("kernel"),
            command: text("command"),
            build_id: text("build_id"),
            other_build_ids: text("other_build_ids")
                .iter()
                .flat_map(|ids| ids.split(' '))
                .map(str::to_owned)
                .collect(),
            cacheline: row.number(column("cacheline")).and_then(|bytes| u64::try_from(bytes).ok()),
            samples: row.count(0),
            lost: row.count(1),
            callchains: row.count(2),
            branch_stacks: row.count(3),
            straight_line_ranges: row.count(4),
        }
    });
    (recordings.collect(), blind_spots)
}

/// The build with most samples, the first by name among equals.
pub(super) fn main_build(tables: &Tables) -> Option<String> {
    let rows = TableRows { tables, table: Table::Recordings };
    let build = rows.column("build_id");
    let mut samples: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows.iter() {
        if let Some(build) = row.text(build) {
            let sum = samples.entry(build).or_default();
            *sum = sum.saturating_add(row.count(0));
        }
    }
    let most = samples.values().copied().max()?;
    samples.into_iter().find(|(_, samples)| *samples == most).map(|(build, _)| build.to_owned())
}

/// Samples by event and reason.
pub(super) fn coverage(tables: &Tables, weights: &RowWeights<'_>) -> Vec<EventCoverage> {
    let rows = TableRows { tables, table: Table::Coverage };
    let [event, reason, labels] = ["event", "reason", "labels"].map(|name| rows.column(name));
    let mut found: Vec<EventCoverage> = Vec::new();
    for row in rows.iter() {
        let Some(event) = row.text(event) else { continue };
        let times = weights.weight(row.id(labels));
        let count = SampleCount {
            samples: row.count(0).saturating_mul(times),
            period: row.count(1).saturating_mul(times),
        };
        let index = found.iter().position(|known| known.event == event).unwrap_or(found.len());
        if index == found.len() {
            found.push(EventCoverage { event: event.to_owned(), ..EventCoverage::default() });
        }
        let Some(known) = found.get_mut(index) else { continue };
        known.total.add(count);
        match row.text(reason) {
            None => known.attributed.add(count),
            Some(reason) => known.unattributed.entry(reason.to_owned()).or_default().add(count),
        }
    }
    found
}
