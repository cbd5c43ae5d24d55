//! The vocabulary of struct layouts, and the C placement rules.
//!
//! Pure values: no I/O, no DWARF, no perf. Offsets inside a struct are counted in bits where a member may be a
//! bit-field and in bytes elsewhere; names say which.
//!
//! * `types`: the types debug info declares, as a table of nodes.
//! * `layout`: one struct as members and gaps that tile it.
//! * `declaration`: types as C spells them.
//! * `abi`: where the C ABI places members in a given order.
//! * `constraint`: what may not move.
//! * `spec`: a member as a user declares it.
//! * `embed`: structs that hold others by value.
//! * `testing`: structs made by hand, for tests.
//! * `slab`: what the kernel's allocator takes for an object.

pub mod abi;
pub mod constraint;
pub mod declaration;
pub mod embed;
pub mod layout;
pub mod slab;
pub mod spec;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod types;

pub use layout::{Item, Layout, Member};
pub use slab::slab_class;
pub use types::{Type, TypeId, TypeTable};
