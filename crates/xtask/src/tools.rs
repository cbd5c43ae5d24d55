//! Tools of the verbs: other programs, Debian's packages, real kernels, their builds, and the cost of a run.

pub(crate) mod builds;
pub(crate) mod chosen;
pub(crate) mod cost;
pub(crate) mod debian;
pub(crate) mod inputs;
pub(crate) mod shell;
