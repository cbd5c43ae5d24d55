//! Addresses of the recorded machine to addresses as linked.
//!
//! * `identity`: whether a recording is of a given file.
//! * `allocations`: memory that was seen allocated has addresses of its own.
//! * `address_spaces`: mappings of each process, over time.
//! * `load_bias`: load biases; addresses of data by address space.
//! * `symbol_bias`: load biases by the symbols in a text of `perf script`.
//! * `link`: recorded addresses to linked addresses.
//! * `dso`: the DSO of an address.

mod address_spaces;
mod allocations;
pub(crate) mod dso;
mod identity;
mod link;
mod load_bias;
mod symbol_bias;

pub use address_spaces::LinkedInstruction;
pub(crate) use allocations::Allocations;
pub use identity::{BuildIdMismatch, check_build_id, is_kernel};
pub use link::Linker;
pub(crate) use load_bias::TaggedAddress;
pub use load_bias::{LoadBias, LoadBiases};
pub use symbol_bias::{AddressMismatch, check_addresses};
