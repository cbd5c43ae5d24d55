//! Commands to record with on a machine, and the limits of recordings.
//!
//! * `sampler`: hardware that samples memory accesses.
//! * `advice`: commands for it, and the limits of their recordings.
//! * `setup`: settings of a machine that prevent or limit recordings.
//! * `recording_summary`: one pass over a recording's records.
//! * `diagnosis`: limits of a recording, with evidence and better commands.
//! * `kernel_load_bias`, `supported_arch`: recordings without a KASLR offset; architectures that are not
//!   read.
//! * `machine`: a machine, by its files or by a recording of it.
//! * `blind_spots`: limits by counts of records.
//! * `finding`: one limit.
//!
//! ```
//! use fieldline_doctor::Advice;
//! use fieldline_doctor::machine::{Machine, Pmu};
//!
//! let pmu = Pmu { name: "ibs_op".to_owned(), ..Pmu::default() };
//! let machine = Machine { pmus: Some(vec![pmu]), ..Machine::default() };
//! let advice = Advice::for_machine(&machine);
//! assert_eq!(advice.command(), Some("perf record -W -d -a -e ibs_op/cnt_ctl=1/ -- sleep 10"));
//! ```

pub mod advice;
pub mod blind_spots;
mod diagnosis;
mod finding;
mod kernel_load_bias;
pub mod machine;
mod recording_summary;
mod sampler;
mod setup;
mod supported_arch;

pub use advice::{Advice, AdvisedCommand};
pub use diagnosis::{RecordingFindings, diagnose};
pub use finding::{DoctorFinding, Severity};
pub use recording_summary::{ExaminedProgram, RecordingSummary, summarize};
pub use sampler::{Ibs, PebsCore, Sampler};
pub use setup::check_setup;
