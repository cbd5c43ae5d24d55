//! Runs of benchmarks to statistics and tables.
//!
//! Pure values: no I/O, no printing.
//!
//! * `readers`: outputs of benchmarks, recognised by content; `measurement`: the values in them.
//! * `csv`: values written, for the readers.
//! * `label`: names that files give to what is in them; `runs`: values put together by metric.
//! * `environment`: facts about the machine that ran.
//! * `statistics`: means, medians, ratios and tests; `comparison`: variants compared, with verdicts.
//! * `tables`: comparisons as text.
//! * `call_tree`: calls below a function, side by side.
//! * `lock_stat`: /proc/lock_stat, side by side.
//! * `symbols`: samples by symbol, side by side.

pub mod call_tree;
pub mod comparison;
pub mod csv;
pub mod environment;
pub mod label;
pub mod lock_stat;
pub mod measurement;
pub mod readers;
pub mod runs;
pub mod statistics;
pub mod symbols;
pub mod tables;
