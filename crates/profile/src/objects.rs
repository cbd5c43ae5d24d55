//! Objects: instances of structs at sampled addresses.
//!
//! * `evidence`: objects that sampled addresses show.
//! * `instances`: instances of structs in memory.
//! * `decide`: attribution of a sample by code and address together.

pub(crate) mod decide;
pub(crate) mod evidence;
pub(crate) mod instances;
pub(crate) use decide::decide;
pub(crate) use evidence::{Evidence, ObservedAddress, ObservedSpan};
pub(crate) use instances::KnownObjects;
