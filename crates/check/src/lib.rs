//! Verdicts on layouts: predictions, and yesterday's layout against today's.
//!
//! Shares no code with the planner beyond `fieldline-layout`: what judges a plan must not repeat its mistakes.
//!
//! * `prediction`: is a rebuilt struct laid out as a plan predicts?
//! * `regression`: what moved, grew or came apart since a layout was known.

pub mod prediction;
pub mod regression;

pub use prediction::{Mismatch, PredictionVerdict};
pub use regression::{Finding, RegressionVerdict};
