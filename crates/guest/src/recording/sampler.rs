//! Accesses through modelled caches, and samples of them as a processor's sampling takes them: loads and stores
//! counted apart on each CPU, with periods that vary a little, so that no loop runs in step with them.

use crate::options::CacheSizes;
use crate::stream::Access;
use fieldline_cachemodel::{Hierarchy, MAX_CPUS, ServedLevel};

/// Bytes of a line.
pub(crate) const LINE: u64 = 64;
/// An odd multiplier that hashes lines to sets: 2^64 divided by the golden ratio (Knuth, The Art of Computer
/// Programming, volume 3, section 6.4).
const HASH_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
/// Part of the period by which it varies to each side.
const JITTER_PART: u64 = 8;

/// A sampled access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) cpu: u32,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    /// Nanoseconds.
    pub(crate) time: u64,
    pub(crate) code: u64,
    pub(crate) address: u64,
    pub(crate) is_store: bool,
    /// Accesses since the last sample of its kind on its CPU.
    pub(crate) period: u64,
    pub(crate) level: ServedLevel,
}

/// Marsaglia's xorshift64 (Xorshift RNGs, 2003; shifts 13, 7, 17).
#[derive(Clone, Copy, Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(HASH_MULTIPLIER) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }
}

/// Counts accesses of a kind on a CPU down to the next sample.
#[derive(Clone, Copy, Debug)]
struct Countdown {
    remaining: u64,
    period: u64,
    random: Random,
}

impl Countdown {
    fn restart(&mut self, period: u64) {
        let jitter = period / JITTER_PART;
        self.period = (period - jitter + self.random.below(2 * jitter + 1)).max(1);
        self.remaining = self.period;
    }
}

/// Takes samples.
pub(crate) struct Sampler {
    caches: Hierarchy,
    period: u64,
    /// Loads and stores by CPU.
    countdowns: Vec<[Countdown; 2]>,
    pub(crate) samples: Vec<Sample>,
    /// Loads and stores.
    pub(crate) accesses: [u64; 2],
}

impl Sampler {
    pub(crate) fn new(cpus: usize, sizes: CacheSizes, period: u64, seed: u64) -> Self {
        let caches = Hierarchy::new(cpus, sizes.0, LINE, HASH_MULTIPLIER);
        let countdown = |number: u64| {
            let random = Random::new(seed.wrapping_mul(2 * MAX_CPUS as u64) + number + 1);
            let mut countdown = Countdown { remaining: 0, period: 0, random };
            countdown.restart(period);
            // The first samples of CPUs and kinds are not taken together.
            countdown.remaining = 1 + countdown.random.below(countdown.period);
            countdown.period = countdown.remaining;
            countdown
        };
        let countdowns = (0..cpus as u64).map(|cpu| [countdown(2 * cpu), countdown(2 * cpu + 1)]).collect();
        Self { caches, period, countdowns, samples: Vec::new(), accesses: [0; 2] }
    }

    /// An access of a CPU; `sample` fills in what a sample has besides. A further part of an instruction that counted
    /// already goes through the caches only.
    pub(crate) fn access(
        &mut self,
        cpu: usize,
        access: &Access,
        is_further_part: bool,
        sample: impl FnOnce() -> Sample,
    ) {
        let level = self.level(cpu, access);
        if is_further_part {
            return;
        }
        let kind = usize::from(access.is_store);
        if let Some(count) = self.accesses.get_mut(kind) {
            *count += 1;
        }
        let period = self.period;
        let Some(countdown) = self.countdowns.get_mut(cpu).and_then(|kinds| kinds.get_mut(kind)) else {
            return;
        };
        countdown.remaining -= 1;
        if countdown.remaining == 0 {
            self.samples.push(Sample { period: countdown.period, level, ..sample() });
            countdown.restart(period);
        }
    }

    /// The level that an access waits for: the farthest of its lines.
    fn level(&mut self, cpu: usize, access: &Access) -> ServedLevel {
        let last = access.address.saturating_add((1 << access.size_log2) - 1) / LINE;
        let lines = access.address / LINE..=last;
        let levels = lines.map(|line| self.caches.access(cpu, line, access.is_store));
        levels.max().unwrap_or(ServedLevel::First)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(address: u64) -> Access {
        Access { address, code: 0, cpu: 0, size_log2: 3, is_store: false }
    }

    fn blank() -> Sample {
        let (cpu, pid, tid, time, code, address) = (0, 0, 0, 0, 0, 0);
        Sample { cpu, pid, tid, time, code, address, is_store: false, period: 0, level: ServedLevel::First }
    }

    #[test]
    fn periods_add_up_to_the_accesses() {
        let mut sampler = Sampler::new(2, CacheSizes::default(), 200, 1);
        for number in 0..100_000 {
            sampler.access(1, &load(number * 8), false, blank);
        }
        let sum: u64 = sampler.samples.iter().map(|sample| sample.period).sum();
        assert!((99_700..=100_000).contains(&sum), "{sum}");
        assert!((450..=550).contains(&sampler.samples.len()));
        assert_eq!(sampler.accesses, [100_000, 0]);
    }

    #[test]
    fn further_parts_of_an_instruction_are_not_sampled() {
        let mut sampler = Sampler::new(1, CacheSizes::default(), 1, 1);
        for number in 0..64 {
            sampler.access(0, &load(number * 8), number > 0, blank);
        }
        assert_eq!((sampler.samples.len(), sampler.accesses), (1, [1, 0]));
        sampler.access(0, &load(63 * 8), false, blank);
        assert_eq!(sampler.samples[1].level, ServedLevel::First, "the caches have seen them");
    }

    #[test]
    fn an_access_across_lines_waits_for_the_farther() {
        let mut sampler = Sampler::new(1, CacheSizes::default(), 1, 1);
        for address in [0x1000, 0x103c] {
            sampler.access(0, &load(address), false, blank);
        }
        let levels: Vec<_> = sampler.samples.iter().map(|sample| sample.level).collect();
        assert_eq!(levels, [ServedLevel::Memory, ServedLevel::Memory]);
    }
}
