//! Samples of each CPU in order of time, as far as the recorder says that nothing older comes.
//!
//! `perf record` goes round the CPUs' buffers and writes what is in them; a mark says that a round is over. What comes
//! after a mark is younger than what came before the mark before that (`PERF_RECORD_FINISHED_ROUND` in
//! `tools/perf/Documentation/perf.data-file-format.txt`).

use rustc_hash::FxHashMap;

pub(crate) trait Timed {
    /// The time, and what tells which of several at one time is first.
    fn order(&self) -> (u64, u32);
}

impl Timed for u64 {
    fn order(&self) -> (u64, u32) {
        (*self, 0)
    }
}

/// Samples that may not be the next of their CPU. Without marks, all of them.
#[derive(Debug)]
pub(crate) struct Rounds<T> {
    waiting: ByCpu<Vec<T>>,
    newest: u64,
    /// The newest time when the last round was over.
    before: Option<u64>,
}

impl<T> Default for Rounds<T> {
    fn default() -> Self {
        Self { waiting: ByCpu::default(), newest: 0, before: None }
    }
}

impl<T: Timed> Rounds<T> {
    /// Takes a sample of a CPU. Of those in one place the first taken is first.
    #[inline]
    pub(crate) fn push(&mut self, cpu: u32, sample: T) {
        self.newest = self.newest.max(sample.order().0);
        self.waiting.of(cpu).push(sample);
    }

    /// A round is over: `next` is given the samples that have none before them, of each CPU in order of time.
    pub(crate) fn end_round(&mut self, next: &mut impl FnMut(u32, T)) {
        if let Some(before) = self.before.replace(self.newest) {
            self.give(before, next);
        }
    }

    /// Gives all that is left.
    pub(crate) fn finish(mut self, next: &mut impl FnMut(u32, T)) {
        self.give(u64::MAX, next);
    }

    fn give(&mut self, until: u64, next: &mut impl FnMut(u32, T)) {
        for (cpu, waiting) in self.waiting.iter_mut() {
            if !waiting.is_sorted_by_key(T::order) {
                waiting.sort_by_key(T::order);
            }
            let past = waiting.partition_point(|sample| sample.order().0 <= until);
            waiting.drain(..past).for_each(|sample| next(cpu, sample));
        }
    }
}

/// CPUs that are found without a search.
const FEW: u32 = 1 << 10;

/// Values by CPU. What a recording names a CPU may be any number.
#[derive(Clone, Debug)]
pub(crate) struct ByCpu<T> {
    few: Vec<Option<T>>,
    others: FxHashMap<u32, T>,
}

impl<T> Default for ByCpu<T> {
    fn default() -> Self {
        Self { few: Vec::new(), others: FxHashMap::default() }
    }
}

impl<T: Default> ByCpu<T> {
    #[inline]
    pub(crate) fn of(&mut self, cpu: u32) -> &mut T {
        if cpu >= FEW {
            return self.others.entry(cpu).or_default();
        }
        let place = cpu as usize;
        if self.few.len() <= place {
            self.few.resize_with(place + 1, || None);
        }
        match self.few.get_mut(place) {
            Some(value) => value.get_or_insert_default(),
            None => self.others.entry(cpu).or_default(),
        }
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        let few = (0..).zip(&mut self.few).filter_map(|(cpu, value)| Some((cpu, value.as_mut()?)));
        few.chain(self.others.iter_mut().map(|(cpu, value)| (*cpu, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_may_be_a_cpu() {
        let mut counts: ByCpu<u32> = ByCpu::default();
        for cpu in [0, 7, u32::MAX, 7, FEW, FEW - 1] {
            *counts.of(cpu) += 1;
        }
        let mut found: Vec<(u32, u32)> = counts.iter_mut().map(|(cpu, count)| (cpu, *count)).collect();
        found.sort_unstable();
        assert_eq!(found, [(0, 1), (7, 2), (FEW - 1, 1), (FEW, 1), (u32::MAX, 1)]);
    }
}
