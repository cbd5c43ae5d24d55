//! The vocabulary of struct layouts and of accesses to them, and the C placement rules.
//!
//! Pure values: no I/O, no DWARF, no perf. Offsets inside a struct are counted in bits where a member may be a
//! bit-field and in bytes elsewhere; names say which.
//!
//! * `types`: the types debug info declares, as a table of nodes.
//! * `layout`: one struct as members and gaps that tile it.
//! * `declaration`: types as C spells them.
//! * `abi`: where the C ABI places members in a given order.
//! * `constraint`: what may not move.
//! * `access`: what a recording says about the members of a struct, and `blocks`: in which stretches of its time.
//! * `sides`: how often CPUs touch and write places of a struct, at an object's home and away from it.
//! * `spec`: a member as a user declares it.
//! * `embed`: structs that hold others by value.
//! * `slab`: what the kernel's allocator takes for an object.

pub mod abi;
pub mod access;
pub mod blocks;
pub mod constraint;
pub mod declaration;
pub mod embed;
pub mod layout;
mod merge;
mod same_program;
pub mod sides;
pub mod slab;
pub mod spec;
pub mod types;

pub use access::AccessProfile;
pub use layout::{Item, Layout, Member};
pub use same_program::OtherProgram;
pub use slab::slab_class;
pub use types::{Type, TypeId, TypeTable};
