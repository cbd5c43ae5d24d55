//! Recordings: the bytes of perf.data, or the text of `perf script`, to records and samples; and the way back.
//!
//! * `perf_data`: the container and its records.
//! * `sample`: the fields of a sample, and `data_source`: what served it.
//! * `script`: the same out of the text of `perf script`.
//! * `sample_file`: a recording of either kind.
//! * `sweep`: work on all records of a recording, on all processors.
//! * `writer`: a perf.data of samples from elsewhere.

pub mod data_source;
pub mod perf_data;
pub mod sample;
pub mod sample_file;
pub mod script;
pub mod sweep;
#[cfg(test)]
mod testing;
pub mod writer;
