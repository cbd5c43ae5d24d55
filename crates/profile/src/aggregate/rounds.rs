//! Samples of each CPU in order of time, as far as the recorder says that nothing older comes.
//!
//! `perf record` goes round the CPUs' buffers and writes what is in them; a mark says that a round is over. What comes
//! after a mark is younger than what came before the mark before that (`PERF_RECORD_FINISHED_ROUND` in
//! `tools/perf/Documentation/perf.data-file-format.txt`).

use rustc_hash::FxHashMap;

/// What has a time in nanoseconds.
pub trait Timed: Ord {
    /// The time.
    fn time(&self) -> u64;
}

impl Timed for u64 {
    fn time(&self) -> u64 {
        *self
    }
}

/// Samples that may not be the next of their CPU. Without marks, all of them.
#[derive(Debug)]
pub struct Rounds<T> {
    waiting: FxHashMap<u32, Vec<T>>,
    newest: u64,
    /// The newest time when the last round was over.
    before: Option<u64>,
}

impl<T> Default for Rounds<T> {
    fn default() -> Self {
        Self { waiting: FxHashMap::default(), newest: 0, before: None }
    }
}

impl<T: Timed> Rounds<T> {
    /// Takes a sample of a CPU.
    pub fn push(&mut self, cpu: u32, sample: T) {
        self.newest = self.newest.max(sample.time());
        self.waiting.entry(cpu).or_default().push(sample);
    }

    /// A round is over: `next` is given the samples that have none before them, of each CPU in order of time.
    pub fn end_round(&mut self, next: &mut impl FnMut(u32, T)) {
        if let Some(before) = self.before.replace(self.newest) {
            self.give(before, next);
        }
    }

    /// Gives all that is left.
    pub fn finish(mut self, next: &mut impl FnMut(u32, T)) {
        self.give(u64::MAX, next);
    }

    fn give(&mut self, until: u64, next: &mut impl FnMut(u32, T)) {
        for (cpu, waiting) in &mut self.waiting {
            if !waiting.is_sorted() {
                waiting.sort_unstable();
            }
            let past = waiting.partition_point(|sample| sample.time() <= until);
            waiting.drain(..past).for_each(|sample| next(*cpu, sample));
        }
    }
}
