//! Types out of whatever file the user named: an ELF file with DWARF or BTF, or BTF by itself.
//!
//! * `open`: the file's debug info, of whichever format it has.
//! * `find`: definitions of names.
//! * `read`: definitions read into a table, and as layouts.
//! * `names`: names as users give them, and names near those.

mod find;
mod names;
mod open;
mod read;

pub use find::TypeDefinition;
pub use names::{TemplateName, edit_distance, not_found_error, strip_keyword};
pub use open::{DebugFormat, Types, formats, is_raw_btf, with_types};
pub use read::DefinitionReader;
