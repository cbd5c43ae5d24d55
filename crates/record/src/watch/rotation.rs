//! Which bytes breakpoints watch, and when.
//!
//! x86 has four breakpoints, each on 1, 2, 4 or 8 bytes that are aligned as long as they are (Intel SDM volume 3B, section
//! "Debug Registers"). What needs more takes turns: all groups of four are watched equally long, in rounds, in another order
//! each round, so that nothing periodic in the program meets the same group each time.

use crate::gaps::Gaps;
use crate::{Error, RecordLimits};
use std::time::Duration;

/// Breakpoints a CPU has.
const REGISTERS: usize = 4;
/// How long a group is watched in a round, if there is time.
const SLICE: Duration = Duration::from_millis(100);
/// Opening breakpoints takes a while, too; a group that is watched shorter than this would be watched hardly at all.
const SHORTEST: Duration = Duration::from_millis(20);
const SEED: u64 = 0x707a7e;

/// What one breakpoint watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watch {
    /// First byte.
    pub address: u64,
    /// Bytes: 1, 2, 4 or 8, and the address is a multiple of it.
    pub length: u64,
}

/// What covers some bytes, in order of address, with as few watches as there can be.
pub fn watches(address: u64, size: u64) -> Vec<Watch> {
    let end = address.saturating_add(size);
    let (mut at, mut all) = (address, Vec::new());
    while at < end {
        let fits = |length: &u64| at.is_multiple_of(*length) && *length <= end - at;
        let length = [8, 4, 2].into_iter().find(fits).unwrap_or(1);
        all.push(Watch { address: at, length });
        at += length;
    }
    all
}

/// When what is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// What is watched together.
    pub groups: Vec<Vec<Watch>>,
    /// How long each group is watched in a round.
    pub slice: Duration,
    /// Rounds over all groups.
    pub rounds: u64,
}

impl Rotation {
    /// A rotation over all watches that takes as long as it may.
    ///
    /// # Errors
    /// If there are none, or too many for the time.
    pub fn new(watches: &[Watch], limits: RecordLimits) -> Result<Self, Error> {
        let mut all = watches.to_vec();
        all.sort_unstable();
        all.dedup();
        let groups: Vec<Vec<Watch>> = all.chunks(REGISTERS).map(<[Watch]>::to_vec).collect();
        let Some(count) = u32::try_from(groups.len()).ok().filter(|count| *count > 0) else {
            return Err(Error::NothingToWatch("no members are left".to_owned()));
        };
        let share = limits.time / count;
        if share < SHORTEST {
            return Err(Error::TooManyWatches {
                watches: all.len(),
                groups: groups.len(),
                seconds: limits.time.as_secs_f64(),
                milliseconds: share.as_millis(),
                least: SHORTEST.as_millis(),
                enough: (SHORTEST * count).as_secs() + 1,
            });
        }
        let rounds = (share.as_millis() / SLICE.as_millis()).clamp(1, u32::MAX.into()) as u32;
        Ok(Self { groups, slice: share / rounds, rounds: rounds.into() })
    }

    /// The watches.
    pub fn watches(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// What one access seen stands for: each watch is set in one part of so many of the time.
    pub fn weight(&self) -> u64 {
        self.groups.len() as u64
    }

    /// The groups in the order they are watched.
    pub fn turns(&self) -> impl Iterator<Item = usize> {
        let mut gaps = Gaps::new(1, SEED);
        let count = self.groups.len();
        (0..self.rounds).flat_map(move |_| {
            let mut order: Vec<usize> = (0..count).collect();
            // Fisher and Yates.
            for last in (1..count).rev() {
                order.swap(last, gaps.below(last + 1));
            }
            order
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(seconds: f64) -> RecordLimits {
        RecordLimits { time: Duration::from_secs_f64(seconds), samples: 1 }
    }

    fn pieces(address: u64, size: u64) -> Vec<(u64, u64)> {
        watches(address, size).into_iter().map(|watch| (watch.address, watch.length)).collect()
    }

    #[test]
    fn bytes_are_covered_by_aligned_watches() {
        assert_eq!(pieces(0x1000, 8), [(0x1000, 8)]);
        assert_eq!(pieces(0x1004, 8), [(0x1004, 4), (0x1008, 4)]);
        assert_eq!(pieces(0x1001, 7), [(0x1001, 1), (0x1002, 2), (0x1004, 4)]);
        assert_eq!(pieces(0x1000, 20), [(0x1000, 8), (0x1008, 8), (0x1010, 4)]);
        assert_eq!(pieces(0x1000, 0), []);
        assert_eq!(pieces(u64::MAX, 8), [], "nothing wraps");
    }

    #[test]
    fn every_group_is_watched_once_a_round() {
        let rotation = Rotation::new(&watches(0x1000, 8 * 22), limits(12.0)).unwrap();
        assert_eq!((rotation.watches(), rotation.weight(), rotation.rounds), (22, 6, 20));
        assert_eq!(rotation.slice, Duration::from_millis(100));
        let turns: Vec<usize> = rotation.turns().collect();
        assert_eq!(turns.len(), 120);
        for round in turns.chunks(6) {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
        }
        assert_ne!(turns[..6], turns[6..12], "in another order");
        assert_eq!(turns, rotation.turns().collect::<Vec<_>>(), "the same each time");
    }

    #[test]
    fn four_watches_need_no_rotation() {
        let rotation = Rotation::new(&watches(0x1000, 32), limits(2.0)).unwrap();
        assert_eq!((rotation.groups.len(), rotation.weight()), (1, 1));
        assert_eq!(rotation.turns().count(), 20);
    }

    #[test]
    fn what_is_watched_twice_is_watched_once() {
        let twice = [watches(0x1000, 16), watches(0x1008, 16)].concat();
        assert_eq!(Rotation::new(&twice, limits(1.0)).unwrap().watches(), 3);
    }

    #[test]
    fn too_much_for_the_time_is_refused_with_what_would_do() {
        let error = Rotation::new(&watches(0x1000, 8 * 400), limits(1.0)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("400 watches need 100 rotations") && text.contains("--for 3"), "{text}");
        assert!(Rotation::new(&watches(0x1000, 8 * 400), limits(3.0)).is_ok());
        assert!(Rotation::new(&[], limits(1.0)).is_err());
    }
}
