//! Cheap orders, and a lower bound.
//!
//! * `order`: an order and its cost.
//! * `greedy_fill`: an order to begin with.
//! * `moves`, `move_selector` and `line_exchange`: how an order is changed.
//! * `chain`: replica exchange; `starts`: its initial orders and effort.
//! * `exact`: all orders, where they are few.
//! * `reduce_moves`: an order with fewer moved units.
//! * `change_size`: the size of a change for a reviewer; `small_changes` and `block_moves`: orders that change little.
//! * `chunks`, `branch` and `lower_bound`: the least cost of any order.

mod block_moves;
pub mod branch;
mod chain;
pub mod change_size;
pub mod chunks;
pub mod exact;
pub mod greedy_fill;
pub mod line_exchange;
pub mod lower_bound;
mod move_selector;
pub mod moves;
pub mod order;
pub mod reduce_moves;
pub mod small_changes;
pub mod starts;

pub use change_size::ChangeSize;
pub use line_exchange::LineExchanges;
pub use lower_bound::{LowerBound, gap, lower_bound};
pub use moves::MoveGenerator;
pub use order::CostedOrder;
pub use reduce_moves::{moved_units, reduce_moves};
pub use small_changes::{LineTargets, SmallChange, small_change_effort, small_changes};
pub use starts::{SearchEffort, SearchResults};
