//! Which order is advice, and why.
//!
//! * `matrix`: under which line sizes, builds and phases orders are judged.
//! * `planner`: the problems of one struct; `forecast`: what an order costs in them, for people.
//! * `candidates`: smaller changes than the best.
//! * `confidence` and `resample`: what of the advice is chance.
//! * `pins`: what became of them.
//! * `groups`: which members share a line, and whether to align them.
//! * `explain`: why a member moves.

pub mod candidates;
pub mod confidence;
pub mod explain;
pub(crate) mod forecast;
mod groups;
mod matrix;
pub(crate) mod pins;
pub(crate) mod planner;
mod resample;
