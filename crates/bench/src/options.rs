//! Options of a benchmark.

use std::path::PathBuf;
use std::time::Duration;

/// The shape of a tree in which all groups above the leaves have as many groups in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape {
    /// Levels below the top group; 0 is the top group alone.
    pub depth: u32,
    /// Groups in each group above the leaves.
    pub width: u32,
}

impl TreeShape {
    /// Leaves of the tree.
    #[must_use]
    pub fn leaves(self) -> u64 {
        u64::from(self.width).saturating_pow(self.depth)
    }
}

/// A benchmark to run.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// The tree.
    pub shape: TreeShape,
    /// Share of all CPUs for all leaves, in percent; none is no limit.
    pub quota: Option<u32>,
    /// Length of the periods that quotas are for, in microseconds.
    pub period: u64,
    /// Time after the start of the load before anything is measured.
    pub settle: Duration,
    /// Time that is measured.
    pub time: Duration,
    /// The load's name, then `KEY=VALUE` words; or `run` and a command.
    pub load: Vec<String>,
    /// The program that runs it.
    pub program: PathBuf,
    /// The group to make the tree in; the root of the hierarchy if not given.
    pub parent: Option<PathBuf>,
    /// Whether /proc/lock_stat is cleared before, and read after each run.
    pub reads_lock_stat: bool,
}
