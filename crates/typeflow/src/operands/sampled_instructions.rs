//! Sampled instructions: single ones, and all in straight-line ranges between branches.

use fieldline_debuginfo::LinkedAddress;

/// Instructions that were sampled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampledInstructions {
    /// Those that samples name, and the first of each range; sorted.
    addresses: Vec<LinkedAddress>,
    /// First and last instruction of ranges, overlapping ones merged; sorted.
    ranges: Vec<(LinkedAddress, LinkedAddress)>,
}

impl SampledInstructions {
    /// Instructions by address, and ranges by first and last instruction, all in any order.
    pub fn new(
        addresses: impl IntoIterator<Item = LinkedAddress>,
        ranges: impl IntoIterator<Item = (LinkedAddress, LinkedAddress)>,
    ) -> Self {
        let mut addresses: Vec<LinkedAddress> = addresses.into_iter().collect();
        let (mut all, mut merged): (Vec<_>, Vec<_>) = (ranges.into_iter().collect(), Vec::new());
        addresses.extend(all.iter().map(|range| range.0));
        addresses.sort_unstable();
        addresses.dedup();
        all.retain(|(first, last)| first <= last);
        all.sort_unstable();
        for (first, last) in all {
            match merged.last_mut() {
                Some((_, end)) if first <= *end => *end = last.max(*end),
                _ => merged.push((first, last)),
            }
        }
        Self { addresses, ranges: merged }
    }

    /// Instructions by address that are enough to find all functions that were sampled, in order.
    pub fn addresses(&self) -> &[LinkedAddress] {
        &self.addresses
    }

    /// Whether an instruction was sampled.
    pub fn contains(&self, address: LinkedAddress) -> bool {
        let before = self.ranges.partition_point(|range| range.0 <= address);
        let range = before.checked_sub(1).and_then(|index| self.ranges.get(index));
        range.is_some_and(|range| address <= range.1) || self.addresses.binary_search(&address).is_ok()
    }
}

impl From<&[LinkedAddress]> for SampledInstructions {
    fn from(addresses: &[LinkedAddress]) -> Self {
        Self::new(addresses.iter().copied(), [])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_what_is_between_their_ends() {
        let ranges = [(40, 60), (100, 90), (10, 20), (15, 18), (20, 30), (300, 300)];
        let linked = |(first, last)| (LinkedAddress(first), LinkedAddress(last));
        let sampled = SampledInstructions::new([7, 5, 7].map(LinkedAddress), ranges.map(linked));
        assert_eq!(sampled.addresses(), [5, 7, 10, 15, 20, 40, 100, 300].map(LinkedAddress));
        assert_eq!(sampled.ranges, [(10, 30), (40, 60), (300, 300)].map(linked));
        let contained: Vec<u64> =
            (0..310).filter(|address| sampled.contains(LinkedAddress(*address))).collect();
        let expected = [5, 7].into_iter().chain(10..=30).chain(40..=60).chain([100, 300]);
        assert_eq!(contained, expected.collect::<Vec<_>>());
    }
}
