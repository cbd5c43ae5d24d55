//! Which order is advice, and why.
//!
//! * `matrix`: the configurations in which orders are judged.
//! * `planner`: the problems of one struct; `evaluation` and `forecast`: an order's raw and
//!   human-readable figures in them.
//! * `candidates`: smaller changes than the best; `recommend`: which of them.
//! * `confidence` and `resample`: cross-validation and block bootstrap.
//! * `cohorts`: orders in the visits of parts of a fleet.
//! * `pins`: which of them are kept.
//! * `groups`: which members share a line, and whether to align them; `purpose`: what they are for.
//! * `together`: structs side by side in one allocation.
//! * `split`: members that could be a struct of their own.
//! * `explain`: why a member moves.

pub mod candidates;
pub(crate) mod cohorts;
pub mod confidence;
pub(crate) mod evaluation;
pub mod explain;
pub(crate) mod forecast;
mod groups;
mod matrix;
pub(crate) mod pins;
pub(crate) mod planner;
mod purpose;
pub(crate) mod recommend;
pub(crate) mod resample;
pub mod split;
pub mod together;
