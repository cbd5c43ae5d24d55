//! Forwards through one unit.

mod assembler;
mod atomics;
mod callee;
mod calls;
mod comparisons;
mod conversions;
mod elements;
mod follower;
mod masks;
mod moves;
mod references;
mod several;
mod steps;
mod stores;
mod unseen;

pub(crate) use assembler::{object_operands, wide_operands};
pub(crate) use callee::is_void;
pub(crate) use calls::containers::{gives_otherwise, is_kept_pointer, keeps_pointer, opens_pointer};
pub(crate) use calls::{arguments, function, is_given_by_cpp, is_unconverted, pointed_to};
pub(crate) use follower::Follower;
pub(crate) use moves::parameter_of;
pub(crate) use references::binds;
pub(crate) use stores::{captures, leads_to_addresses, leads_to_pointers, points_to_pointers};
pub(crate) use unseen::alone;
