//! The pseudo-random number generator: xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64 from the
//! input.

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// A stream for a seed.
    pub fn new(seed: u64) -> Self {
        let steps = [1_u64, 2, 3, 4].map(|step| step.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Self { state: steps.map(|step| mix(seed.wrapping_add(step))) }
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number below `bound`; 0 if that is 0.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A number in `0.0..1.0`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Brings items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Quantiles in use.
const QUANTILES: usize = 1024;

/// The exponential distribution with mean 1, as its expected order statistics: sums of `1 / (n - i)`. Library logarithms
/// differ between machines.
#[derive(Clone, Debug)]
pub(crate) struct ExponentialQuantiles(Vec<f64>);

impl Default for ExponentialQuantiles {
    fn default() -> Self {
        let mut sum = 0.0;
        let quantiles = (0..QUANTILES).map(|index| {
            sum += 1.0 / (QUANTILES - index) as f64;
            sum
        });
        Self(quantiles.collect())
    }
}

impl ExponentialQuantiles {
    /// A number of the distribution.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> f64 {
        self.0[random.below(QUANTILES)]
    }
}

/// A number that differs in about half its bits if `z` differs in one (splitmix64's finisher).
pub fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_streams_and_others_differ() {
        let take = |seed| {
            let mut random = Random::new(seed);
            [(); 4].map(|()| random.bits())
        };
        assert_eq!(take(7), take(7));
        assert_ne!(take(7), take(8));
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_of_it() {
        let mut random = Random::new(1);
        let mut drawn = [false; 5];
        for _ in 0..200 {
            drawn[random.below(5)] = true;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        assert_eq!(drawn, [true; 5]);
        assert_eq!(random.below(0), 0);
    }
}
