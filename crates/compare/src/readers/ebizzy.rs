//! ebizzy.

use super::{Line, ReadError, number};
use crate::measurement::{KnownMetric, Measurement};

const RATE: KnownMetric = KnownMetric::new("ebizzy", "record/s", "record/s").higher();

/// `948 records/s`. The times below it are those it was told to run.
pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let rate = |line: &Line<'_>| match line.words().as_slice() {
        [rate, "records/s"] => number(rate).map(|rate| RATE.value("", rate)),
        _ => None,
    };
    Ok(lines.iter().filter_map(rate).collect())
}
