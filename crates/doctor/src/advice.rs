//! What to type on a machine, and what it can't show.
//!
//! * `answer`: commands and what they are for.
//! * `pebs`, `ibs`, `spe`, `power`: one each for what samples memory accesses.
//! * `without`: for machines that can't.
//! * `choice`: which of them a machine gets.

mod answer;
mod choice;
mod ibs;
mod pebs;
mod power;
mod spe;
mod without;

pub use answer::{Advice, AdviceStep};
