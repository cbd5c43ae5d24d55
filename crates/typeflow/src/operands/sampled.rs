//! Which instructions were sampled: single ones, and all in runs between branches.

/// Instructions that were sampled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sampled {
    /// Those that samples name, and the first of each run; sorted.
    addresses: Vec<u64>,
    /// First and last instruction of runs, those that overlap as one; sorted.
    runs: Vec<(u64, u64)>,
}

impl Sampled {
    /// Instructions by address, and runs by first and last instruction, all as linked and in any order.
    pub fn new(addresses: impl IntoIterator<Item = u64>, runs: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut addresses: Vec<u64> = addresses.into_iter().collect();
        let (mut all, mut runs): (Vec<(u64, u64)>, Vec<_>) = (runs.into_iter().collect(), Vec::new());
        addresses.extend(all.iter().map(|run| run.0));
        addresses.sort_unstable();
        addresses.dedup();
        all.retain(|(first, last)| first <= last);
        all.sort_unstable();
        for (first, last) in all {
            match runs.last_mut() {
                Some((_, end)) if first <= *end => *end = last.max(*end),
                _ => runs.push((first, last)),
            }
        }
        Self { addresses, runs }
    }

    /// Instructions by address that are enough to find all functions that were sampled, in order.
    pub fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// Whether an instruction was sampled.
    pub fn contains(&self, address: u64) -> bool {
        let before = self.runs.partition_point(|run| run.0 <= address);
        let run = before.checked_sub(1).and_then(|index| self.runs.get(index));
        run.is_some_and(|run| address <= run.1) || self.addresses.binary_search(&address).is_ok()
    }
}

impl From<&[u64]> for Sampled {
    fn from(addresses: &[u64]) -> Self {
        Self::new(addresses.iter().copied(), [])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_what_is_between_their_ends() {
        let runs = [(40, 60), (100, 90), (10, 20), (15, 18), (20, 30), (300, 300)];
        let sampled = Sampled::new([7, 5, 7], runs);
        assert_eq!(sampled.addresses(), [5, 7, 10, 15, 20, 40, 100, 300]);
        assert_eq!(sampled.runs, [(10, 30), (40, 60), (300, 300)]);
        let held: Vec<u64> = (0..310).filter(|address| sampled.contains(*address)).collect();
        let expected = [5, 7].into_iter().chain(10..=30).chain(40..=60).chain([100, 300]);
        assert_eq!(held, expected.collect::<Vec<_>>());
    }
}
