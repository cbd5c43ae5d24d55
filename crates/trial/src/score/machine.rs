//! The modelled machines.

/// The machines that are modelled: each line size with each size of caches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredMachine {
    /// Sizes of cachelines in bytes.
    pub lines: Vec<u64>,
    /// Bytes of the first, second and shared level.
    pub caches: [u64; 3],
    /// A visit of an object ends when its CPU has made so many accesses elsewhere.
    pub visit_gap: u64,
}
