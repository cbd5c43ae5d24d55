//! Which values registers and stack slots hold, by data flow over a function.
//!
//! * `value`: the lattice.
//! * `state`: values of all registers and slots.
//! * `graph`: the control-flow graph.
//! * `code`: a function's instructions, variables and calls.
//! * `facts`: facts about variables out of DWARF.
//! * `unit_context`: types, variables and callees, shared by functions of a unit.
//! * `address`: abstract addresses.
//! * `transfer`: the effect of an instruction on a state.
//! * `refinement`: types that a later use of a value shows.
//! * `fixpoint`: states at all instructions of a function.

pub(crate) mod address;
pub(crate) mod code;
pub(crate) mod facts;
pub(crate) mod fixpoint;
pub(crate) mod graph;
pub(crate) mod refinement;
pub mod state;
pub mod transfer;
pub mod unit_context;
pub mod value;

pub(crate) use code::FunctionCode;
pub(crate) use facts::{FactSubject, VariableFact};
pub(crate) use fixpoint::{ArgumentLocations, FlowSolution};
pub(crate) use state::{State, ValueLocation};
pub(crate) use transfer::region_at;
pub(crate) use unit_context::UnitContext;
pub(crate) use value::{AbstractAddress, Value};
