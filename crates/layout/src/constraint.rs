//! What may not move, and what moves together.
//!
//! [`constraints`] reads a layout, what the source text says ([`Note`]) and what a user wishes ([`Wishes`]), and cuts
//! the members into [`Unit`]s: the smallest parts an order is made of. Every limit but pairs of members is a
//! property of a unit, so that an order is checked in one walk:
//!
//! * **Regions.** A unit never leaves its region, and regions follow one another. Group markers, flexible arrays,
//!   pinned members and members that begin a cacheline they don't fill are regions of their own; so whatever the
//!   declaration keeps before or behind them stays there.
//! * **Held order.** Units whose text can't be moved keep their order among each other; others may pass them.
//! * **Bit-field runs** stay whole and never become neighbours: two of them would share a memory location
//!   (C11 section 3.14), so writers under different locks would undo each other.
//!
//! * `wishes`: what the source says and a user asks for.
//! * `units`: units and what holds them.
//! * `lines`: what is wished of cachelines, in terms of units.
//! * `limits`: a layout and wishes to constraints; orders checked against them.
//! * `refusal`: why the members of a type can't be reordered at all.

mod limits;
mod lines;
mod refusal;
mod units;
mod wishes;

pub use limits::{Constraints, Violation, constraints, limits};
pub use lines::{LinePin, UnitBits};
pub use refusal::ReorderRefusal;
pub use units::{Hold, HoldKind, Unit};
pub use wishes::{LineKind, LineWish, Note, Pin, Wishes};

#[cfg(test)]
mod tests;
