//! Uses of structs in C and C++ code, by unit: the only user of a C front end.
//!
//! libclang (17 or newer) is loaded at run time; nothing is needed to build. Each unit is parsed with the flags its
//! build had, and every node of its syntax tree that depends on where the members of a struct stand becomes a
//! [`CodeUse`]: a demand on the members concerned with file, line, macro and reason. What follows members wherever
//! they move is not told.
//!
//! * `frontend`: libclang, asked for one unit after the other.
//! * `unit`: commands of builds, cleaned for clang; `database` reads them from build folders.
//! * `demand`: what is found.
//! * `clang`: safe wrappers over libclang; `tree` is a unit's nodes as a list.
//! * `records`, `flow`, `sum`: which types are subjects, where variables get their values from, addresses and
//!   lengths as sums of offsets.
//! * `rules`: what code can depend on.
//! * `addresses`: where addresses of objects go, and what that asks of their order.
//! * `report`: findings with places and macros.

mod addresses;
mod clang;
mod database;
mod demand;
mod error;
mod flow;
mod frontend;
mod records;
mod report;
mod rules;
mod sum;
mod tree;
mod unit;

pub use addresses::{Demands, MappedUses, UnitFlows, demands, mapped};
pub use database::{listed, saved_unit, units};
pub use demand::{CodeUse, Demand, Edge, MacroPlace, Subject};
pub use error::Error;
pub use frontend::{Diagnostic, Frontend, NamedMembers, SkippedLines, UnitUses};
pub use records::absolute;
pub use unit::SourceUnit;

#[cfg(test)]
mod tests;
