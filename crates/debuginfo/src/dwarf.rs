//! DWARF 2 to 5: types by name and in bulk, functions, variables and their locations.
//!
//! * `bytes`: sections, units, abbreviations, DIEs and their values.
//! * `search`: definitions by name, and all of a file.
//! * `types`: DIEs to a type table.
//! * `code`: functions, variables and their locations, by address.

mod bytes;
pub mod code;
mod search;
mod types;

pub use bytes::sections::DebugSections;
pub use bytes::units::{DieRef, Dwarf};
pub use search::find::{find_first_many, find_many, has_types_beyond_btf};
pub use search::index::{DwarfDefinition, index_definitions};
pub use search::lazy::LazyDwarf;
pub use search::typedefs::find_typedefs;
pub use types::reader::TypeReader;
