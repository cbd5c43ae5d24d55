//! DIEs to types.
//!
//! * `reader`: DIEs to a type table, on demand, and `members`: those of structs.
//! * `paths`: namespaces and classes around types.

mod members;
mod paths;
pub(crate) mod reader;
