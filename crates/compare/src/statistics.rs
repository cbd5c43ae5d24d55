//! Statistics of runs: means, medians, ratios, tests, all as the textbooks have them.
//!
//! * `distribution`: quantiles and tails of Student's t and of the binomial distribution.
//! * `summary`: one series of runs: mean, median, scatter, with intervals.
//! * `contrast`: two series: the ratio of their means (Fieller 1954), Welch's test and the paired one.
//! * `holm`: p-values of many tests together.

pub mod contrast;
pub mod distribution;
pub mod holm;
pub mod summary;
