//! The finished-round queue: samples of each CPU in order of time.
//!
//! `perf record` writes the buffers of all CPUs in turn, and a mark behind each such round. A record behind a
//! mark is younger than all records before the previous mark (`PERF_RECORD_FINISHED_ROUND` in
//! `tools/perf/Documentation/perf.data-file-format.txt`).

use rustc_hash::FxHashMap;

pub(crate) trait TimeOrdered {
    /// The time, and a tie breaker.
    fn time_key(&self) -> (u64, u32);
}

impl TimeOrdered for u64 {
    fn time_key(&self) -> (u64, u32) {
        (*self, 0)
    }
}

/// Samples that older ones may still precede. Without marks, all of them.
#[derive(Debug)]
pub(crate) struct FinishedRoundQueue<T> {
    waiting: ByCpu<Vec<T>>,
    newest: u64,
    /// The newest time when the last round was over.
    previous_newest: Option<u64>,
}

impl<T> Default for FinishedRoundQueue<T> {
    fn default() -> Self {
        Self { waiting: ByCpu::default(), newest: 0, previous_newest: None }
    }
}

impl<T: TimeOrdered> FinishedRoundQueue<T> {
    /// Adds a sample of a CPU. Equal keys keep their order.
    #[inline]
    pub(crate) fn push(&mut self, cpu: u32, sample: T) {
        self.newest = self.newest.max(sample.time_key().0);
        self.waiting.get_or_default(cpu).push(sample);
    }

    /// A round is finished: `next` gets the samples that no older one can precede, of each CPU in order of
    /// time.
    pub(crate) fn end_round(&mut self, next: &mut impl FnMut(u32, T)) {
        if let Some(before) = self.previous_newest.replace(self.newest) {
            self.pass_until(before, next);
        }
    }

    /// Passes on all remaining samples.
    pub(crate) fn finish(mut self, next: &mut impl FnMut(u32, T)) {
        self.pass_until(u64::MAX, next);
    }

    fn pass_until(&mut self, until: u64, next: &mut impl FnMut(u32, T)) {
        for (cpu, waiting) in self.waiting.iter_mut() {
            if !waiting.is_sorted_by_key(T::time_key) {
                waiting.sort_by_key(T::time_key);
            }
            let past = waiting.partition_point(|sample| sample.time_key().0 <= until);
            waiting.drain(..past).for_each(|sample| next(cpu, sample));
        }
    }
}

/// CPU numbers that index a dense table.
const DENSE_CPUS: u32 = 1 << 10;

/// Values by CPU. The CPU numbers of a recording may be any.
#[derive(Clone, Debug)]
pub(crate) struct ByCpu<T> {
    dense: Vec<Option<T>>,
    others: FxHashMap<u32, T>,
}

impl<T> Default for ByCpu<T> {
    fn default() -> Self {
        Self { dense: Vec::new(), others: FxHashMap::default() }
    }
}

impl<T: Default> ByCpu<T> {
    #[inline]
    pub(crate) fn get_or_default(&mut self, cpu: u32) -> &mut T {
        if cpu >= DENSE_CPUS {
            return self.others.entry(cpu).or_default();
        }
        let index = cpu as usize;
        if self.dense.len() <= index {
            self.dense.resize_with(index + 1, || None);
        }
        match self.dense.get_mut(index) {
            Some(value) => value.get_or_insert_default(),
            None => self.others.entry(cpu).or_default(),
        }
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        let dense = (0..).zip(&mut self.dense).filter_map(|(cpu, value)| Some((cpu, value.as_mut()?)));
        dense.chain(self.others.iter_mut().map(|(cpu, value)| (*cpu, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_may_be_a_cpu() {
        let mut counts: ByCpu<u32> = ByCpu::default();
        for cpu in [0, 7, u32::MAX, 7, DENSE_CPUS, DENSE_CPUS - 1] {
            *counts.get_or_default(cpu) += 1;
        }
        let mut found: Vec<(u32, u32)> = counts.iter_mut().map(|(cpu, count)| (cpu, *count)).collect();
        found.sort_unstable();
        assert_eq!(found, [(0, 1), (7, 2), (DENSE_CPUS - 1, 1), (DENSE_CPUS, 1), (u32::MAX, 1)]);
    }
}
