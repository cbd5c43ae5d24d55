//! DWARF 2 to 5: types by name and in bulk, functions, variables and their locations.
//!
//! * `sections`: the sections of a file and of its supplementary file.
//! * `units`: where units begin; DIEs by offset.
//! * `opened`: no more units than needed.
//! * `reader`: DIEs to a type table, on demand.
//! * `abbrev`, `scan`: attributes at known places, for walking hundreds of megabytes.
//! * `signature`: which definitions of one name are the same.
//! * `spelling`, `needles`: where names may be meant.
//! * `find`: the definitions of names, and `typedefs`: of typedefs.
//! * `index`: all definitions of a file.
//! * `code_ranges`: where the code of a DIE is.
//! * `addresses`: which unit holds the code at an address.
//! * `paths`: namespaces and classes around types.
//! * `survey`: functions, variables and types at the top of a unit.
//! * `scopes`: a function's scopes, variables and calls.
//! * `locations`: where a variable is.

mod abbrev;
pub mod addresses;
mod code_ranges;
pub mod find;
pub mod index;
pub mod locations;
mod needles;
pub mod opened;
mod paths;
pub mod reader;
mod scan;
pub mod scopes;
pub mod sections;
mod signature;
mod spelling;
pub mod survey;
pub mod typedefs;
pub mod units;

pub use find::{find, find_first, find_first_many, find_many, has_types_beyond_btf};
pub use index::{Definition, index};
pub use opened::Opened;
pub use reader::TypeReader;
pub use sections::DebugSections;
pub use typedefs::{find_typedef, find_typedefs};
pub use units::{DieRef, Dwarf};

/// gimli's reader over mapped or decompressed bytes, fixed here for the whole crate.
pub(crate) type R<'d> = gimli::EndianSlice<'d, gimli::RunTimeEndian>;
