//! The branches that threads took last, as processors keep them (`struct perf_branch_stack` of
//! `include/linux/perf_event.h`).

use super::operands::StepInstruction;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Branches of all threads.
#[derive(Debug, Default)]
pub(super) struct BranchHistories {
    depth: usize,
    by_thread: FxHashMap<u32, BranchHistory>,
}

#[derive(Debug, Default)]
struct BranchHistory {
    /// The instruction that ran last, and whether it may lead elsewhere.
    last: Option<(u64, StepInstruction)>,
    /// From and to, the youngest first.
    branches: VecDeque<[u64; 3]>,
}

impl BranchHistories {
    pub(super) fn new(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    /// Drops the branches of a thread that was not just stepped.
    pub(super) fn clear(&mut self, tid: u32) {
        self.by_thread.remove(&tid);
    }

    pub(super) fn branches(&mut self, tid: u32) -> &[[u64; 3]] {
        self.by_thread.get_mut(&tid).map_or(&[], |history| history.branches.make_contiguous())
    }

    /// Adds the next instruction of a thread. Returns the branches it took last, if a branch led there.
    pub(super) fn push(&mut self, tid: u32, ip: u64, step: StepInstruction) -> Option<&[[u64; 3]]> {
        let history = self.by_thread.entry(tid).or_default();
        let before = history.last.replace((ip, step));
        let (from, _) = before.filter(|(from, step)| {
            let is_next = from.wrapping_add(u64::from(step.length)) == ip;
            // Instructions that repeat themselves are stepped time by time.
            !is_next && (step.is_branch || ip != *from)
        })?;
        history.branches.push_front([from, ip, 0]);
        history.branches.truncate(self.depth);
        Some(history.branches.make_contiguous())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_that_were_taken_are_kept_youngest_first() {
        let step = |is_branch| StepInstruction { length: 2, is_branch, ..StepInstruction::default() };
        let mut histories = BranchHistories::new(2);
        assert_eq!(histories.push(7, 0x10, step(false)), None);
        assert_eq!(histories.push(7, 0x10, step(false)), None, "it repeats itself");
        assert_eq!(histories.push(7, 0x12, step(true)), None);
        assert_eq!(histories.push(7, 0x14, step(true)), None, "not taken");
        assert_eq!(histories.push(7, 0x30, step(true)), Some(&[[0x14, 0x30, 0]][..]));
        assert_eq!(histories.push(8, 0x50, step(true)), None, "another thread");
        assert_eq!(histories.push(7, 0x30, step(true)), Some(&[[0x30, 0x30, 0], [0x14, 0x30, 0]][..]));
        assert_eq!(histories.push(7, 0x40, step(true)), Some(&[[0x30, 0x40, 0], [0x30, 0x30, 0]][..]));
        histories.clear(7);
        assert_eq!(histories.push(7, 0x60, step(true)), None);
    }
}
