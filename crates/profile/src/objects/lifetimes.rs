//! When objects that share memory were sampled.
//!
//! Memory is reused: at an address there is one object from some time to some time. When it changes is not
//! recorded, but each sample whose code knows the type shows what was there. Of the objects an address may
//! belong to, the one sampled nearest in time is meant.

use crate::objects::evidence::{ObjectId, ObservedSpan};
use rustc_hash::FxHashMap;

/// Times of objects that share memory with others.
#[derive(Debug, Default)]
pub(crate) struct Lifetimes {
    seen: FxHashMap<ObjectId, SeenTimes>,
}

#[derive(Debug)]
enum SeenTimes {
    /// No other object was at its place from the first to the last sample.
    Span(ObservedSpan),
    /// Times of all samples, in order.
    Each(Box<[u64]>),
}

impl SeenTimes {
    /// Distance of a time from the nearest sample.
    fn distance(&self, time: u64) -> u64 {
        match self {
            Self::Span(span) => span.distance(time),
            Self::Each(times) => {
                let next = times.partition_point(|seen| *seen < time);
                let before = next.checked_sub(1).and_then(|last| times.get(last));
                let near = before.into_iter().chain(times.get(next));
                near.map(|seen| seen.abs_diff(time)).min().unwrap_or(u64::MAX)
            }
        }
    }
}

impl Lifetimes {
    /// Adds an object that nothing else interrupted.
    pub(crate) fn add_span(&mut self, object: ObjectId, span: ObservedSpan) {
        self.seen.entry(object).or_insert(SeenTimes::Span(span));
    }

    /// Adds an object by the times of its samples, in any order.
    pub(crate) fn add_times(&mut self, object: ObjectId, mut times: Vec<u64>) {
        times.sort_unstable();
        times.dedup();
        self.seen.insert(object, SeenTimes::Each(times.into()));
    }

    /// Of some objects with values the value of the one sampled nearest to a time, the first if several are.
    pub(crate) fn nearest<T: Copy>(&self, candidates: &[(ObjectId, T)], time: u64) -> Option<T> {
        let distance = |object| self.seen.get(object).map_or(u64::MAX, |seen| seen.distance(time));
        candidates.iter().min_by_key(|(object, _)| distance(object)).map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_sampled_nearest_in_time_is_meant() {
        let mut lifetimes = Lifetimes::default();
        lifetimes.add_times(ObjectId(0), vec![50, 10, 11, 50]);
        lifetimes.add_times(ObjectId(1), vec![20, 30, 90]);
        lifetimes.add_span(ObjectId(2), ObservedSpan { samples: 2, first: 200, last: 300 });
        let all = [(ObjectId(0), 'a'), (ObjectId(1), 'b'), (ObjectId(2), 'c')];
        for (time, expected) in [
            (0, 'a'),
            (11, 'a'),
            (15, 'a'),
            (16, 'b'),
            (39, 'b'),
            (41, 'a'),
            (100, 'b'),
            (250, 'c'),
            (900, 'c'),
        ] {
            assert_eq!(lifetimes.nearest(&all, time), Some(expected), "{time}");
        }
        assert_eq!(lifetimes.nearest::<char>(&[], 7), None);
    }
}
