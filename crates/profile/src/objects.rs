//! Objects: instances of structs at sampled addresses.
//!
//! * `evidence`: objects that sampled addresses show.
//! * `lifetimes`: when objects that share memory were sampled.
//! * `instances`: instances of structs in memory.
//! * `holders`: objects that only a member of was sampled.
//! * `numbers`: structs that are nothing but a number.
//! * `decide`: attribution of a sample by code and address together.

pub(crate) mod decide;
pub(crate) mod evidence;
mod holders;
pub(crate) mod instances;
pub(crate) mod lifetimes;
mod numbers;
pub(crate) use decide::decide;
pub(crate) use evidence::{Evidence, ObjectId, ObservedAddress, ObservedSpan, observed_object};
pub(crate) use instances::KnownObjects;
pub(crate) use lifetimes::Lifetimes;
