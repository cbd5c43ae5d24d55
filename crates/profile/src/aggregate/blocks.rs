//! Time blocks: stretches of a recording with equally many samples.
//!
//! Blocks have equal numbers of samples rather than equal times, because idle stretches would be empty
//! blocks. Their number keeps bootstrap resamples close to the whole while each block is long compared to one
//! operation; it is a multiple of five, so that the folds of cross-validation are equally large.

pub(crate) const BLOCKS: usize = 20;
/// Times kept: enough to cut blocks of equal size within a tenth of a percent.
const MAX_TIMES: usize = 1 << 16;

/// Times of samples, thinned as they become more: a bounded number whatever the size of the recording. Which
/// are kept depends on the times alone, not on their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct SampleTimes {
    times: Vec<u64>,
    /// Times are kept whose hash has none of these bits.
    mask: u64,
}

impl SampleTimes {
    /// Takes a sample's time in nanoseconds.
    pub(crate) fn add(&mut self, time: u64) {
        if hash_time(time) & self.mask != 0 {
            return;
        }
        self.times.push(time);
        self.thin();
    }

    /// Takes the times of another part of the recording.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.mask |= other.mask;
        let mask = self.mask;
        self.times.extend(&other.times);
        self.times.retain(|time| hash_time(*time) & mask == 0);
        self.thin();
    }

    fn thin(&mut self) {
        while self.times.len() > MAX_TIMES && self.mask != u64::MAX {
            self.mask = self.mask << 1 | 1;
            let mask = self.mask;
            self.times.retain(|time| hash_time(*time) & mask == 0);
        }
    }

    /// The blocks of the recording. None if its samples have no times or fewer than there are blocks.
    pub(crate) fn blocks(&self) -> TimeBlocks {
        let mut times = self.times.clone();
        times.sort_unstable();
        let starts = (1..BLOCKS).filter_map(|block| times.get(block * times.len() / BLOCKS));
        let mut starts: Vec<u64> = starts.copied().collect();
        starts.dedup();
        TimeBlocks { starts: (times.len() >= BLOCKS).then_some(starts) }
    }
}

/// A number whose bits all depend on all of the time's (the finisher of splitmix64).
fn hash_time(time: u64) -> u64 {
    let time = (time ^ (time >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let time = (time ^ (time >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    time ^ (time >> 31)
}

/// The blocks of a recording by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeBlocks {
    /// When each block but the first begins, in nanoseconds.
    starts: Option<Vec<u64>>,
}

impl TimeBlocks {
    pub(crate) fn len(&self) -> usize {
        self.starts.as_ref().map_or(0, |starts| starts.len() + 1)
    }

    /// The block of a time. A sample without one counts to the first block.
    pub(crate) fn block_at(&self, time: Option<u64>) -> Option<u32> {
        let starts = self.starts.as_ref()?;
        Some(starts.partition_point(|start| time.is_some_and(|time| *start <= time)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(times: impl Iterator<Item = u64> + Clone) -> Vec<usize> {
        let mut clock = SampleTimes::default();
        times.clone().for_each(|time| clock.add(time));
        let blocks = clock.blocks();
        let mut sizes = vec![0; blocks.len()];
        for time in times {
            sizes[blocks.block_at(Some(time)).unwrap() as usize] += 1;
        }
        sizes
    }

    #[test]
    fn blocks_hold_equally_many_samples_however_unequal_their_times() {
        assert_eq!(sizes((0..2_000).map(|at| at * at)), [100; BLOCKS]);
        let many = sizes((0..400_000).map(|at| 1_000 * at + at % 7));
        assert!(many.iter().all(|size| (19_000..21_000).contains(size)), "{many:?}");
    }

    #[test]
    fn memory_is_bounded_and_order_does_not_matter() {
        let (mut up, mut down) = (SampleTimes::default(), SampleTimes::default());
        (0..300_000).for_each(|time| up.add(time));
        (0..300_000).rev().for_each(|time| down.add(time));
        assert!(up.times.len() <= MAX_TIMES);
        assert_eq!(up.blocks(), down.blocks());
    }

    #[test]
    fn few_samples_have_no_blocks_and_equal_times_one() {
        let mut clock = SampleTimes::default();
        assert_eq!(clock.blocks().len(), 0);
        (0..BLOCKS - 1).for_each(|time| clock.add(time as u64));
        assert_eq!(clock.blocks().block_at(Some(3)), None);
        let mut still = SampleTimes::default();
        (0..100).for_each(|_| still.add(5));
        assert_eq!(still.blocks().len(), 2);
        assert_eq!((still.blocks().block_at(Some(5)), still.blocks().block_at(None)), (Some(1), Some(0)));
    }
}
