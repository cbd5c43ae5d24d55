//! Objects: instances of structs at sampled addresses.
//!
//! * `evidence`: objects that sampled addresses show.
//! * `instances`: instances of structs in memory.
//! * `load_bias`: address spaces and load biases.
//! * `decide`: attribution of a sample by code and address together.

pub(crate) mod decide;
pub(crate) mod evidence;
pub(crate) mod instances;
pub(crate) mod load_bias;
pub(crate) use decide::decide;
pub(crate) use evidence::{Evidence, ObservedAddress, ObservedSpan};
pub(crate) use instances::KnownObjects;
pub(crate) use load_bias::{LoadBias, tag_address_space};
