//! DIEs to types.
//!
//! * `reader`: DIEs to a type table, on demand, and `members`: those of structs.
//! * `paths`: namespaces and classes around types.
//! * `typedef_names`: names of structs without a tag.

mod members;
mod paths;
pub(crate) mod reader;
mod typedef_names;
