//! Where objects are, from when to when.
//!
//! * `allocations`: memory that allocators gave out and took back.
//! * `typed`: what lies there, by what the callers of allocators do with it.
//! * `statics`: static variables, also those of which each CPU has its own.
//! * `parts`: structs within structs.

pub(crate) mod allocations;
pub(crate) mod parts;
pub(crate) mod statics;
pub(crate) mod typed;

/// An object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GuestObject {
    /// Where it begins.
    pub address: u64,
    /// The tag of its struct.
    pub type_name: String,
    /// Bytes.
    pub size: u64,
    /// The function that allocated it, or its variable, and members it lies in.
    pub name: String,
    /// Nanoseconds of its allocation, if that was in the window.
    pub begin: Option<u64>,
    /// Nanoseconds at which it was freed, if that was in the window.
    pub end: Option<u64>,
    /// The CPU whose data it is, if it belongs to one.
    pub cpu: Option<usize>,
}
