//! Functions and variables.
//!
//! * `addresses`: which unit holds the code at an address.
//! * `origins`: attributes of a DIE, or of the one it stems from.
//! * `unit_index`: functions, variables and types at the top of a unit.
//! * `scopes`: a function's scopes, variables and calls.
//! * `locations`: where code and variables are.

mod addresses;
mod locations;
mod origins;
mod scopes;
mod unit_index;

pub use addresses::UnitMap;
pub use locations::{LocationRange, VariableLocation};
pub use scopes::{CallSite, FunctionScopes, Scope, ScopeKind, ScopeReader, Variable};
pub use unit_index::{Function, NameKind, UnitIndex, name_hash};
