//! What the verbs work with: other programs, Debian's packages, real kernels, their builds, and what a run costs.

pub(crate) mod builds;
pub(crate) mod cost;
pub(crate) mod debian;
pub(crate) mod inputs;
pub(crate) mod shell;
