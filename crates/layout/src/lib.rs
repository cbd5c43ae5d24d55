//! Struct layouts, and the C placement rules.
//!
//! Pure values: no I/O, no DWARF, no perf. Offsets inside a struct are counted in bits where a member may be
//! a bit-field and in bytes elsewhere; names say which.
//!
//! * `types`: the types debug info declares, as a table of nodes.
//! * `layout`: one struct as members and gaps that tile it.
//! * `declaration`: types as C spells them.
//! * `abi`: where the C ABI places members in a given order.
//! * `constraint`: units of members and their constraints.
//! * `spec`: a member as a user declares it.
//! * `embed`: structs that hold others by value.
//! * `testing`: structs made by hand, for tests.
//! * `slab`: bytes that the kernel's allocator takes for an object.
//! * `line_number`: line numbers in files that write 0 for none.
//!
//! ```
//! use fieldline_layout::abi::{AbiMember, place_members};
//!
//! let (a, b, c) = (AbiMember::bytes(1, 1), AbiMember::bytes(8, 8), AbiMember::bytes(4, 4));
//! let declared = place_members(&[a, b, c], 1);
//! assert_eq!((declared.bit_offsets, declared.size), (vec![0, 64, 128], 24));
//! assert_eq!(place_members(&[b, c, a], 1).size, 16);
//! ```

pub mod abi;
pub mod constraint;
pub mod declaration;
pub mod embed;
pub mod layout;
pub mod line_number;
pub mod slab;
pub mod spec;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod types;

pub use layout::{Layout, LayoutItem, Member};
pub use slab::slab_class;
pub use types::{Type, TypeId, TypeTable};
