//! Member orders that touch fewer cachelines per visit, found under constraints.
//!
//! ```
//! use fieldline_plan::packing::pack;
//! use fieldline_plan::{PlanOptions, PlanRequest};
//!
//! // Sizes and alignments: the first and the last member of four bytes fit into one word.
//! let members = [(4, 4), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (4, 4)];
//! let layout = fieldline_layout::testing::numbered("queue", &members);
//! let request = PlanRequest { layout: &layout, requests: &Default::default() };
//! let plan = pack(&[request], &PlanOptions::default()).structs.remove(0);
//! assert_eq!((layout.size, plan.chosen.size, plan.moved.len()), (72, 64, 1));
//! ```
//!
//! A visit is the accesses one CPU makes to one object in one episode. From samples to an order:
//!
//! * `visits`: from samples to sets of field ranges that visits touch.
//! * `cost`: the cost of an order in them.
//! * `search`: cheap orders, and a lower bound.
//! * `judge`: which of them is advice, and why.
//! * `decision`: whether members move, stay or can't be reordered.
//! * `options` and `planner`: the options, and a plan for structs.
//! * `progress`: how far a plan is.
//! * `recheck`: an order that was planned before, held against requests of now.
//! * `result`: the plan as a value.
//! * `packing`: a plan without a profile, by size alone.
//! * `placement`: where a new member costs least.
//! * `simulate`: the cost of layouts on recorded accesses, by a model of caches.
//! * `random`: the pseudo-random number generator.

pub mod cost;
mod decision;
pub mod judge;
pub mod options;
pub mod packing;
pub mod placement;
pub mod planner;
pub mod progress;
pub mod random;
mod recheck;
pub mod result;
pub mod search;
pub mod simulate;
pub mod visits;

pub use options::{CandidateChoice, Cohort, PlanOptions, PlanRequest};
pub use planner::{plan, plan_observed};
pub use result::{Outcome, Plan, PlanError, StructPlan};
pub use visits::sufficiency::{SampleSufficiency, count_samples};
