//! Access profiles of many hosts as Parquet tables, and their sums.
//!
//! A profile is sums, so it is rows: keys and counts. Rows of all hosts whose keys agree are added, here or by
//! any engine that has `GROUP BY`. Nothing here prints.
//!
//! * `schema`, `measure`: the tables.
//! * `profile_rows`: a profile as rows. `file`: rows in Parquet.
//! * `values`, `row_sums`: rows with equal keys added up, in memory.
//! * `discover`, `dataset`: many files. `filter`: which rows count, and how often.
//! * `sql`: the same merge for other engines.
//! * `divergence`: hosts and days that differ.
//! * `members`: members by path. `to_profile`: rows as a profile, of several builds for one.

pub mod dataset;
pub mod discover;
pub mod divergence;
pub mod error;
pub mod file;
pub mod filter;
pub mod measure;
pub mod members;
pub mod profile_rows;
pub mod row_sums;
pub mod schema;
pub mod sql;
pub mod to_profile;
pub mod values;

pub use error::Error;
