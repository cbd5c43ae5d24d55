//! Whether a profile suffices for advice about a struct: enough samples, and not only slow loads.

use crate::visits::find_occurrences;
use crate::visits::occurrences::collect_accesses;
use fieldline_access::AccessProfile;
use fieldline_access::access::{Access, lacks_fast_loads};
use fieldline_layout::Layout;
use std::collections::BTreeMap;

/// Offsets that together have less than this share of samples don't count towards the samples needed.
const TAIL: f64 = 0.1;
/// Samples needed for each function and offset: with one, orders are better than declared on average only
/// (measured).
const SAMPLES_PER_OFFSET: u64 = 2;

/// How many samples there are of a struct, and of what kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleSufficiency {
    /// Samples of the struct.
    pub have: u64,
    /// Samples that advice needs at least, estimated from those at hand.
    pub need: u64,
    /// Samples of loads.
    pub loads: u64,
    /// Loads that say which level served them.
    pub served: u64,
    /// Those of them that the nearest cache served.
    pub near: u64,
}

/// Counts the samples that a profile has of a struct.
pub fn count_samples(profile: &AccessProfile, layout: &Layout) -> SampleSufficiency {
    SampleSufficiency::from_accesses(&collect_accesses(profile, layout, &find_occurrences(profile, layout)))
}

impl SampleSufficiency {
    /// Of accesses to one struct.
    pub fn from_accesses(accesses: &[Access]) -> Self {
        let levels = accesses.iter().flat_map(|access| &access.levels);
        Self {
            have: accesses.iter().map(Access::samples).sum(),
            need: required_samples(accesses),
            loads: accesses.iter().map(|access| access.loads.samples).sum(),
            served: levels.filter(|(level, _)| *level != "HITM").map(|(_, loads)| loads).sum(),
            near: accesses.iter().filter_map(|access| access.levels.get("L1")).sum(),
        }
    }

    /// Whether there are as many samples as advice needs.
    pub fn is_sufficient(self) -> bool {
        self.have >= self.need && self.have > 0
    }

    /// The message where there are not.
    pub fn describe_shortage(self) -> String {
        let Self { have, need, .. } = self;
        format!("too few samples: have {have}, need about {}", need.max(1))
    }

    /// Why the loads can't show which members are read together, if so.
    pub fn describe_bias(self) -> Option<String> {
        let Self { loads, served, near, .. } = self;
        let seen = match loads {
            0 => "no loads".to_owned(),
            _ if lacks_fast_loads(near, served) => format!("{near} of {served} loads hit the nearest cache"),
            _ => return None,
        };
        Some(format!(
            "the recording can't say which members are read together: {seen}; record all loads, such as with \
             `perf mem record --ldlat 3`"
        ))
    }
}

/// Samples needed for the functions and offsets, without the long tail of rare ones.
fn required_samples(accesses: &[Access]) -> u64 {
    let mut by_offset: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    for access in accesses {
        *by_offset.entry((access.function, access.offset)).or_default() += access.samples();
    }
    let total: u64 = by_offset.values().sum();
    let mut counts: Vec<u64> = by_offset.into_values().collect();
    counts.sort_unstable();
    let mut tail = 0;
    let rare = counts.iter().take_while(|count| {
        tail += **count;
        (tail as f64) < TAIL * total as f64
    });
    (counts.len() - rare.count()) as u64 * SAMPLES_PER_OFFSET
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_access::access::SampleCount;

    fn access(function: u32, offset: u64, samples: u64) -> Access {
        let loads = SampleCount { samples, period: samples };
        Access { function, offset, size: 8, loads, ..Access::default() }
    }

    #[test]
    fn each_offset_of_a_function_needs_two_samples_but_the_rare_ones() {
        let by_offset = [access(0, 0, 40), access(0, 8, 40), access(1, 8, 19), access(2, 16, 1)];
        let sufficiency = SampleSufficiency::from_accesses(&by_offset);
        // The last offset has 1 % of the samples, under a tenth.
        assert_eq!((sufficiency.have, sufficiency.need), (100, 6));
        assert!(sufficiency.is_sufficient());
        let few = SampleSufficiency::from_accesses(&[access(0, 0, 1), access(0, 8, 1), access(1, 0, 1)]);
        assert!(!few.is_sufficient());
        assert_eq!(few.describe_shortage(), "too few samples: have 3, need about 6");
        let none = SampleSufficiency::from_accesses(&[]);
        assert!(!none.is_sufficient());
        assert_eq!(none.describe_shortage(), "too few samples: have 0, need about 1");
    }

    #[test]
    fn loads_that_all_missed_say_nothing_about_what_is_read_together() {
        let mut slow = access(0, 0, 100);
        slow.levels = [("L1".to_owned(), 9), ("L3".to_owned(), 91), ("HITM".to_owned(), 50)].into();
        let bias = SampleSufficiency::from_accesses(&[slow.clone()]).describe_bias();
        assert!(bias.is_some_and(|bias| bias.contains("9 of 100 loads hit the nearest cache")));
        slow.levels = [("L1".to_owned(), 10), ("L3".to_owned(), 90)].into();
        assert_eq!(SampleSufficiency::from_accesses(&[slow]).describe_bias(), None);
        assert_eq!(SampleSufficiency::from_accesses(&[access(0, 0, 5)]).describe_bias(), None);
        assert!(
            SampleSufficiency::from_accesses(&[])
                .describe_bias()
                .is_some_and(|bias| bias.contains("no loads"))
        );
    }
}
