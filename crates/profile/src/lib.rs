//! A recording and a program to an access profile.
//!
//! ```
//! let report = [
//!     "# Samples: 7 of event 'cpu/mem-loads/P'",
//!     "# Overhead  Samples  Data Type  Data Type Offset",
//!     "    99.00%        7  struct job  struct job +0x10 (cost)",
//! ];
//! let counts = fieldline_profile::perf_types::parse(report.join("\n").as_bytes())?;
//! let row = &counts.rows[0];
//! assert_eq!((row.type_name.as_str(), row.offset, row.tally.samples), ("struct job", Some(16), 7));
//! # Ok::<(), fieldline_profile::perf_types::Error>(())
//! ```
//!
//! * `addresses`: addresses of the recorded machine to addresses as linked.
//! * `objects`: instances of structs at sampled addresses.
//! * `aggregate`: sums, windows and blocks of time.
//! * `gather`: samples by key, equal ones counted together.
//! * `attribute`: attribution of each sample.
//! * `sums`: profiles and coverage.
//! * `perf_types`: perf's own counts by type.

pub mod addresses;
mod aggregate;
pub mod attribute;
mod gather;
mod objects;
pub mod perf_types;
pub mod sums;
