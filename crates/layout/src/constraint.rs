//! Constraints on the order of members, and units that move together.
//!
//! [`constraints`] reads a layout, notes on the source ([`MemberNote`]) and requests ([`PlacementRequests`]),
//! and cuts the members into [`Unit`]s: the smallest parts an order is made of. Every limit but pairs of
//! members is a property of a unit, so that an order is checked in one walk:
//!
//! * **Regions.** A unit never leaves its region, and regions follow one another. Group markers, flexible
//!   arrays, pinned members and members that begin a cacheline they don't fill are regions of their own; so
//!   whatever the declaration keeps before or behind them stays there.
//! * **Fixed order.** Units whose text can't be moved keep their order among each other; others may pass
//!   them.
//! * **Bit-field runs** stay whole and never become neighbours: two of them would share a memory location
//!   (C11 section 3.14), so writers under different locks would undo each other.
//!
//! * `requests`: notes of the source and requests of a user.
//! * `units`: units and their constraints.
//! * `families`: units that readers expect beside each other.
//! * `lines`: cacheline requests in terms of units.
//! * `limits`: constraints of a layout and requests; orders checked against them.
//! * `refusal`: why the members of a type can't be reordered at all.

mod families;
mod limits;
mod lines;
mod refusal;
mod requests;
mod units;

pub use limits::{Constraints, OrderViolation, constraints, constraints_for_new_member};
pub use lines::{CachelineConstraint, UnitBits};
pub use refusal::{ReorderRefusal, shared_layout};
pub use requests::{
    CachelineRequest, CachelineRequestKind, MemberNote, MemberRun, PinnedMember, PlacementRequests,
    SmallerConfiguration,
};
pub use units::{Unit, UnitConstraint, UnitConstraintKind};

#[cfg(test)]
mod tests;
