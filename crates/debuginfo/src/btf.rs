//! BTF, the BPF Type Format: from `/sys/kernel/btf/*` or an ELF `.BTF` section to types.
//!
//! The format stands in the kernel's Documentation/bpf/btf.rst and include/uapi/linux/btf.h. [`parse`] checks the
//! header and notes where each type begins; names are compared in place, and only what is asked for becomes part
//! of a [`TypeTable`](fieldline_layout::TypeTable).
//!
//! * `header`: the header and the sections it names; what can be wrong.
//! * `kind`: ids and kinds of types and how long their records are.
//! * `record`: one type's record and what follows it.
//! * `index`: all types by id; names and strings.
//! * `lookup`: types by name, and those that hold others by value.
//! * `read`: types into a table.

mod header;
mod index;
mod kind;
mod lookup;
mod read;
mod record;

pub use header::BtfError;
pub use index::{Btf, parse};
pub use kind::{BtfKind, BtfTypeId};
pub use lookup::BtfDefinition;
pub use read::BtfReader;
