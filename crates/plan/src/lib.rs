//! Member orders that touch fewer cachelines per visit, found under constraints.
//!
//! A visit is what one CPU touches of one object in one go. The road from samples to an order:
//!
//! * `visits`: from samples to sets of cells that are touched in one go.
//! * `cost`: what an order costs in them.
//! * `search`: cheap orders, and what no order can avoid.
//! * `judge`: which of them is advice, and why.
//! * `options` and `planner`: what is asked for, and a plan for structs.
//! * `result`: the plan as a value.
//! * `packing`: a plan without a profile, by size alone.
//! * `place`: where a new member costs least.
//! * `simulate`: what layouts cost on recorded accesses, by a model of caches.
//! * `random`: the one source of chance.

pub mod cost;
pub mod judge;
pub mod options;
pub mod packing;
pub mod place;
pub mod planner;
pub mod random;
pub mod result;
pub mod search;
pub mod simulate;
pub mod visits;

pub use options::{Choice, PlanOptions, Request};
pub use planner::plan;
pub use result::{Outcome, Plan, PlanError, StructPlan};
pub use visits::enough::{Enough, enough};
