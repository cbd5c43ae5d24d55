//! How far what we say is true, where the truth is known; run by hand.

pub(crate) mod calibrate;
pub(crate) mod decode;
pub(crate) mod emulated;
mod statistics;
pub(crate) mod truth;
pub(crate) mod typed;
