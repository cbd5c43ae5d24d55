//! The cost of an order.
//!
//! * `sharing`: how CPUs take lines from each other, and `false_sharing`: which offsets lose them falsely.
//! * `model`: the visits of one struct, learnt from a profile.
//! * `counter`: weights of visits, summed fast.
//! * `build` and `configuration`: how compilers place units, and by which lines an order is counted.
//! * `other_build`: the struct as other compilers laid it out.
//! * `line_requests`: requests about cachelines.
//! * `problem` and `adjacency`: the cost function; `state` and `line_costs`: an order changed move by move.
//! * `cost_terms`: the terms of a cost.

pub(crate) mod adjacency;
pub mod build;
pub mod configuration;
pub mod cost_terms;
mod counter;
pub mod false_sharing;
mod line_costs;
mod line_requests;
pub mod model;
pub mod other_build;
pub mod problem;
pub mod sharing;
pub mod state;

pub use build::BuildPlacement;
pub use configuration::LineConfig;
pub use line_costs::CostCache;
pub use model::VisitModel;
pub use other_build::AlternateBuild;
pub use problem::Problem;
pub use sharing::LineSharing;
pub use state::OrderState;
