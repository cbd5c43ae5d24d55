//! Cheap orders, and what no order can avoid.
//!
//! * `order`: an order and its cost.
//! * `seed`: an order to begin with.
//! * `moves`, `repertoire` and `trades`: how an order is changed.
//! * `chain`: replica exchange; `starts`: from where, and for how long.
//! * `exact`: all orders, where they are few.
//! * `tidy`: an order made like the declared one.
//! * `chunks`, `branch` and `lower_bound`: what no order can avoid.

pub mod branch;
mod chain;
pub mod chunks;
pub mod exact;
pub mod lower_bound;
pub mod moves;
pub mod order;
mod repertoire;
pub mod seed;
pub mod starts;
pub mod tidy;
pub mod trades;

pub use lower_bound::{LowerBound, gap, lower_bound};
pub use moves::Mover;
pub use order::CostedOrder;
pub use starts::{Effort, Search};
pub use tidy::{moved, tidy};
pub use trades::Trades;
