//! Random intervals between samples, so that a loop is not always sampled at the same instruction.

/// Gaps around a mean: evenly distributed from 1 to twice the mean less 1. The same seed gives the same gaps.
#[derive(Clone, Debug)]
pub(crate) struct RandomIntervals {
    mean: u64,
    state: u64,
}

impl RandomIntervals {
    /// Gaps of `mean`; 0 counts as 1.
    pub(crate) fn new(mean: u64, seed: u64) -> Self {
        Self { mean: mean.clamp(1, u64::MAX / 2), state: seed }
    }

    pub(crate) fn draw(&mut self) -> u64 {
        if self.mean == 1 { 1 } else { 1 + self.next_random() % (2 * self.mean - 1) }
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn draw_below(&mut self, end: usize) -> usize {
        (self.next_random() % end.max(1) as u64) as usize
    }

    /// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
    fn next_random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_their_mean_and_stay_in_bounds() {
        let mut gaps = RandomIntervals::new(100, 7);
        let drawn: Vec<u64> = (0..10_000).map(|_| gaps.draw()).collect();
        assert!(drawn.iter().all(|gap| (1..200).contains(gap)));
        let mean = drawn.iter().sum::<u64>() / 10_000;
        assert!((97..=103).contains(&mean), "{mean}");
    }

    #[test]
    fn no_gap_means_every_access() {
        for mean in [0, 1] {
            let mut gaps = RandomIntervals::new(mean, 7);
            assert!((0..100).all(|_| gaps.draw() == 1));
        }
    }

    #[test]
    fn a_loop_is_sampled_at_all_its_accesses() {
        // A loop of ten accesses, sampled one in ten.
        let mut gaps = RandomIntervals::new(10, 1);
        let (mut position, mut places) = (0, [0_u32; 10]);
        for _ in 0..10_000 {
            position += gaps.draw();
            places[(position % 10) as usize] += 1;
        }
        assert!(places.iter().all(|hits| (850..1150).contains(hits)), "{places:?}");
    }

    #[test]
    fn seeds_repeat() {
        let draw = |seed| {
            let mut gaps = RandomIntervals::new(50, seed);
            (0..20).map(|_| gaps.draw()).collect::<Vec<_>>()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }
}
