//! STREAM: the best rate of each kernel.

use super::{Line, ReadError};
use crate::measurement::{KnownMetric, Measurement, RunAverage};

const RATE: KnownMetric = KnownMetric {
    axis: "Test",
    quantity: "Bandwidth, MB/s",
    average: RunAverage::Harmonic,
    ..KnownMetric::new("stream", "bandwidth", "MB/s").higher()
};

/// The kernels, in the order they are printed in.
const KERNELS: [&str; 4] = ["Copy", "Scale", "Add", "Triad"];

/// `Copy:  22945.6  0.006989  0.006973  0.007011`: the best MB/s, then average, least and longest time in seconds.
pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let row = |line: &Line<'_>| {
        let words = line.words();
        let kernel = words.first()?.strip_suffix(':').filter(|name| KERNELS.contains(name))?;
        let figures: Option<Vec<f64>> = words.iter().skip(1).map(|word| super::number(word)).collect();
        match figures?.as_slice() {
            [rate, _, _, _] => Some(RATE.value(kernel, *rate)),
            _ => None,
        }
    };
    Ok(lines.iter().filter_map(row).collect())
}
