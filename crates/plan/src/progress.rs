//! How far a plan is, for whoever shows it: the result doesn't depend on it.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Steps of a plan: searches, folds of the cross-validation and resamples of the bootstrap, of all structs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanProgress {
    /// Those that are done, or that a struct turned out not to need.
    pub done: usize,
    /// All.
    pub count: usize,
}

/// A function that gets the progress.
pub type Observer<'o> = &'o (dyn Fn(PlanProgress) + Sync);

/// Steps of a plan of several structs.
pub(crate) struct Steps<'o> {
    done: AtomicUsize,
    count: usize,
    observer: Observer<'o>,
}

impl<'o> Steps<'o> {
    pub(crate) fn new(count: usize, observer: Observer<'o>) -> Self {
        Self { done: AtomicUsize::new(0), count, observer }
    }

    fn add(&self, steps: usize) {
        let done = self.done.fetch_add(steps, Ordering::Relaxed) + steps;
        (self.observer)(PlanProgress { done: done.min(self.count), count: self.count });
    }
}

/// Steps of one struct; those left at the end were not needed.
pub(crate) struct StructSteps<'o> {
    all: &'o Steps<'o>,
    left: AtomicUsize,
}

impl<'o> StructSteps<'o> {
    pub(crate) fn new(all: &'o Steps<'o>, count: usize) -> Self {
        Self { all, left: AtomicUsize::new(count) }
    }

    /// Ends a step.
    pub(crate) fn finish_step(&self) {
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if taken.is_ok() {
            self.all.add(1);
        }
    }
}

impl Drop for StructSteps<'_> {
    fn drop(&mut self) {
        self.all.add(self.left.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn steps_that_are_not_needed_count_as_done() {
        let seen = Mutex::new(Vec::new());
        let observer = |progress: PlanProgress| seen.lock().unwrap().push((progress.done, progress.count));
        let steps = Steps::new(6, &observer);
        for needed in [1, 5] {
            let own = StructSteps::new(&steps, 3);
            (0..needed).for_each(|_| own.finish_step());
        }
        assert_eq!(*seen.lock().unwrap(), [(1, 6), (3, 6), (4, 6), (5, 6), (6, 6), (6, 6)]);
    }
}
