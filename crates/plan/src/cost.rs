//! What an order costs.
//!
//! * `sharing`: how CPUs take lines from each other, and `false_sharing`: who loses them without cause.
//! * `model`: all that a profile tells about one struct.
//! * `counter`: weights of visits, summed fast.
//! * `build` and `view`: how compilers place units, and by which lines an order is counted.
//! * `elsewhere`: the struct as other compilers laid it out.
//! * `wish`: what is asked of cachelines.
//! * `problem` and `neighbours`: what an order costs; `state` and `lines`: an order changed move by move.
//! * `terms`: what a cost is made of.

pub mod build;
mod counter;
pub mod elsewhere;
pub mod false_sharing;
mod lines;
pub mod model;
pub(crate) mod neighbours;
pub mod problem;
pub mod sharing;
pub mod state;
pub mod terms;
pub mod view;
mod wish;

pub use build::BuildSlots;
pub use elsewhere::Elsewhere;
pub use lines::Memo;
pub use model::Model;
pub use problem::Problem;
pub use sharing::Sharing;
pub use state::OrderState;
pub use view::View;
