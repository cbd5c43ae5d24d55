//! What to record on a machine, and whether a recording can answer.
//!
//! * `sampler`: what a machine samples memory accesses by.
//! * `advice`: the commands that suit it, and what they can't show.
//! * `setup`: what of a machine's settings stands in the way.
//! * `survey`: one pass over a recording's records.
//! * `exam`: what a recording can't answer, with the fact that shows it and the command that would.
//! * `kernel_place`, `unread`: where the kernel lay; machines whose code isn't read.
//! * `machine`: what a machine is, by its files or by a recording of it.
//! * `blind_spots`: what a recording can not show.
//! * `finding`: one such thing.

pub mod advice;
pub mod blind_spots;
mod exam;
mod finding;
mod kernel_place;
pub mod machine;
mod sampler;
mod setup;
mod survey;
mod unread;

pub use advice::{Advice, AdviceStep};
pub use exam::{Exam, examine};
pub use finding::{DoctorFinding, Severity};
pub use sampler::{Ibs, PebsCore, Sampler};
pub use setup::setup;
pub use survey::{ExaminedProgram, RecordingSurvey, survey};
