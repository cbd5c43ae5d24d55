//! ELF, DWARF and BTF to struct layouts, variables and machine code.
//!
//! * `elf`: files, sections, symbols.
//! * `dwarf`: types, functions, variables and locations out of DWARF.
//! * `btf`: types out of BTF.

pub mod btf;
pub mod dwarf;
pub mod elf;
mod error;
pub mod module;
pub mod new_member;
pub mod separate;
pub mod types;

pub use elf::{Elf, FileBytes, Segment};
pub use error::{Error, Result};
pub use object::Architecture as Machine;
