//! Coverage of recordings by event and DSO, as JSON.

use fieldline_access::access::{AccessProfile, EventCoverage, Recording};
use fieldline_profile::sums::DsoCoverage;
use serde::Serialize;

/// The document of `profile --coverage --format json`.
#[derive(Debug, Serialize)]
pub(crate) struct CoverageDocument<'d> {
    format: &'static str,
    version: u32,
    recordings: &'d [Recording],
    coverage: Vec<DsoRow<'d>>,
    blind_spots: &'d [String],
}

#[derive(Debug, Serialize)]
struct DsoRow<'d> {
    dso: &'d str,
    #[serde(flatten)]
    event: &'d EventCoverage,
}

impl<'d> CoverageDocument<'d> {
    pub(crate) fn new(profile: &'d AccessProfile, rows: &'d [DsoCoverage]) -> Self {
        let coverage = rows.iter().map(|row| DsoRow { dso: &row.dso, event: &row.event }).collect();
        let (recordings, blind_spots) = (&profile.recordings, &profile.blind_spots);
        Self { format: "fieldline-coverage", version: 1, recordings, coverage, blind_spots }
    }
}
