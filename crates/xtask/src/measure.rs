//! How fast we are: against peers, and by the size of recordings.

pub(crate) mod bench;
mod enlarged;
pub(crate) mod throughput;
