//! Plans without a profile: members move into holes, and only where that saves a cacheline or a slab class.
//!
//! Hot members aren't known, so an order is worth a change for its size alone.
//!
//! * `smallest`: the least size that the constraints allow, and a size that no order goes below.
//! * `fewest`: the fewest moved members for that size, exactly while they are few.
//! * `insertion`: a few units put back where the struct ends earliest.
//! * `judge`: the conditions an order has to meet: every build's size, pairs and offsets asked for, and the
//!   size in the configurations that leave out the members of an `#if`.
//! * `packer`: the plan.
//! * `shrink`: members that could be narrower.
//! * `shuffle`: any order that keeps all of that, but that half of the structs may grow.
//!
//! An earlier end of the first units never makes the struct larger, because every placement rule is
//! monotonous in the end it starts from. That makes the exact algorithms exact.

mod fewest;
mod insertion;
mod judge;
mod packer;
mod shrink;
mod shuffle;
mod smallest;

pub use packer::{pack, pack_struct};
pub use shrink::{NarrowType, Narrowing, find_narrowings, shrink_remark};
pub use shuffle::shuffle;

#[cfg(test)]
pub(crate) mod tests;
