//! Which values registers and stack slots hold, by data flow over a function.
//!
//! * `value`: the lattice.
//! * `state`: values of all registers and slots.
//! * `graph`: the order instructions run in.
//! * `code`: a function's instructions, variables and calls.
//! * `facts`: what DWARF says of variables.
//! * `world`: what functions of a unit share: types, variables, callees.
//! * `address`: where an address leads.
//! * `transfer`: what an instruction does to a state.
//! * `learn`: what is learned of a value late, told where it was made.
//! * `solve`: states at all instructions of a function.

pub(crate) mod address;
pub(crate) mod code;
pub(crate) mod facts;
pub(crate) mod graph;
pub(crate) mod learn;
pub(crate) mod solve;
pub mod state;
pub mod transfer;
pub mod value;
pub mod world;

pub(crate) use code::Code;
pub(crate) use facts::{Fact, FactSubject};
pub(crate) use solve::{Arguments, Solution};
pub(crate) use state::{Location, State};
pub(crate) use transfer::region_at;
pub(crate) use value::{Spot, Value};
pub(crate) use world::World;
