//! Member orders that touch fewer cachelines per visit, found under constraints.
//!
//! A visit is what one CPU touches of one object in one go. The road from samples to an order:
//!
//! * `source` and `names`: where a profile tells about a struct, whatever order it lists things in.
//! * `cells`: the parts of a struct that are touched at all.
//! * `touch`: how often a function touches each cell when it runs.
//! * `corpus` and `mixture`: which functions run in one go.
//! * `draw` and `visits`: sets of cells that one CPU touches of one object in one go.
//! * `evidence`: what that was learnt from, and `enough`: whether it is enough.
//! * `sharing`: how CPUs take lines from each other, and `false_sharing`: who loses them without cause.
//! * `model`: all of that for one struct.
//! * `counter`: weights of visits, summed fast.
//! * `problem` and `neighbours`: what an order costs; `state`, `lines` and `memo`: an order changed move by move.
//! * `wish`: what is asked of cachelines, within that cost.
//! * `elsewhere`: the struct as other compilers laid it out.
//! * `seed`, `moves`, `repertoire`, `trades`, `search`, `exact` and `tidy`: cheap orders.
//! * `confidence`: what of the advice is chance.
//! * `terms`: what a cost is made of; `lower_bound` and `branch`: what no order can avoid.
//! * `candidates`: smaller changes than the best.
//! * `groups`: which members share a line, and whether to align them.
//! * `explain`: why a member moves.
//! * `planner`: a plan for structs, and `result`: the plan as a value.
//! * `packing`: a plan without a profile, by size alone.
//! * `place`: where a new member costs least.
//! * `simulate`: what layouts cost on recorded accesses, by a model of caches.
//! * `random`: the one source of chance.

pub mod branch;
pub mod candidates;
pub mod cells;
pub mod confidence;
pub mod corpus;
mod counter;
pub mod draw;
pub mod elsewhere;
pub mod enough;
pub mod evidence;
pub mod exact;
pub mod explain;
pub mod false_sharing;
pub mod groups;
mod lines;
pub mod lower_bound;
mod memo;
pub mod mixture;
pub mod model;
pub mod moves;
pub mod names;
mod neighbours;
pub mod packing;
pub mod place;
pub mod planner;
pub mod problem;
pub mod random;
mod repertoire;
pub mod result;
pub mod search;
pub mod seed;
pub mod sharing;
pub mod simulate;
pub mod source;
pub mod state;
pub mod terms;
pub mod tidy;
pub mod touch;
pub mod trades;
mod unfit;
pub mod visits;
mod wish;

pub use enough::{Enough, enough};
pub use planner::{Choice, Options, Request, plan};
pub use result::{Outcome, Plan, PlanError, StructPlan};
