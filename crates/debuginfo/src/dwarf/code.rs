//! Functions and variables.
//!
//! * `addresses`: which unit holds the code at an address.
//! * `origins`: what a DIE says, or the one it stems from.
//! * `survey`: functions, variables and types at the top of a unit.
//! * `scopes`: a function's scopes, variables and calls.
//! * `locations`: where code and variables are.

mod addresses;
mod locations;
mod origins;
mod scopes;
mod survey;

pub use addresses::UnitMap;
pub use locations::{PlaceRange, VariablePlace};
pub use scopes::{CallSite, Scope, ScopeKind, ScopeReader, Scopes, Variable};
pub use survey::{Function, NameKind, Survey, name_hash};
