//! What functions pass to each other.
//!
//! * `references`: all places that may call a function or take its address, out of the bytes of the program.
//! * `exports`: what an analysed function passes on.
//! * `inputs`: what a function is given by all its callers.

pub(crate) mod exports;
pub(crate) mod inputs;
pub(crate) mod references;

pub(crate) use exports::{Export, FunctionUse, Passed, SharedPlace, exports};
pub(crate) use inputs::arguments;
pub(crate) use references::References;
