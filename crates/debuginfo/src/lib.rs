//! ELF, DWARF and BTF to struct layouts, variables and machine code.
//!
//! * `elf`: files, sections, symbols; `separate_debug`: debug info in a file of its own.
//! * `linked_address`: addresses as linked.
//! * `module`: kernel modules linked as the kernel would load them.
//! * `dwarf`: types, functions, variables and locations out of DWARF.
//! * `btf`: types out of BTF.
//! * `types`: types out of whatever file the user named.
//!
//! ```
//! use fieldline_debuginfo::types::with_types;
//! use std::path::Path;
//!
//! let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo/shaper");
//! with_types(&program, None, None, |types| {
//!     let layouts = types.layouts("tx_flow")?;
//!     assert_eq!((layouts.len(), layouts[0].size, layouts[0].members.len()), (1, 320, 46));
//!     Ok(())
//! })?;
//! # Ok::<(), anyhow::Error>(())
//! ```

pub mod btf;
pub mod dwarf;
pub mod elf;
mod error;
mod extent;
mod linked_address;
pub mod module;
pub mod new_member;
pub mod separate_debug;
pub mod types;

pub use elf::{Elf, FileBytes, Segment, hex};
pub use error::{Error, Result};
pub use linked_address::LinkedAddress;
pub use object::Architecture as Machine;
