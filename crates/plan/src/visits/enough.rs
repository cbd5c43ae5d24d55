//! Whether a profile can carry advice about a struct: enough samples, and not only slow loads.

use crate::visits::source::accesses_of;
use crate::visits::sources;
use fieldline_access::AccessProfile;
use fieldline_access::access::{Access, are_only_slow};
use fieldline_layout::Layout;
use std::collections::BTreeMap;

/// Places that together make up less than this share of samples don't count towards how many samples are needed.
const TAIL: f64 = 0.1;
/// Samples needed for each function and place: with one, orders are better than declared on average only (measured).
const SAMPLES_PER_PLACE: u64 = 2;

/// How many samples there are of a struct, and of what kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Enough {
    /// Samples of the struct.
    pub have: u64,
    /// Samples an advice needs at least, as far as those at hand tell: with more, rarer places may show.
    pub need: u64,
    /// Samples of loads.
    pub loads: u64,
    /// Loads that say which level served them.
    pub served: u64,
    /// Those of them that the nearest cache served.
    pub near: u64,
}

/// Counts the samples that a profile has of a struct.
pub fn enough(profile: &AccessProfile, layout: &Layout) -> Enough {
    Enough::of(&accesses_of(profile, layout, &sources(profile, layout)))
}

impl Enough {
    /// Of accesses to one struct.
    pub fn of(accesses: &[Access]) -> Self {
        let levels = accesses.iter().flat_map(|access| &access.levels);
        Self {
            have: accesses.iter().map(Access::samples).sum(),
            need: needed(accesses),
            loads: accesses.iter().map(|access| access.loads.samples).sum(),
            served: levels.filter(|(level, _)| *level != "HITM").map(|(_, loads)| loads).sum(),
            near: accesses.iter().filter_map(|access| access.levels.get("L1")).sum(),
        }
    }

    /// Whether there are as many samples as advice needs.
    pub fn is_sufficient(self) -> bool {
        self.have >= self.need && self.have > 0
    }

    /// What to say where there are not.
    pub fn shortage(self) -> String {
        let Self { have, need, .. } = self;
        format!("too few samples: have {have}, need about {}", need.max(1))
    }

    /// Why the loads can't tell what is read together, if so.
    pub fn bias(self) -> Option<String> {
        let Self { loads, served, near, .. } = self;
        let seen = match loads {
            0 => "no loads".to_owned(),
            _ if are_only_slow(near, served) => format!("{near} of {served} loads hit the nearest cache"),
            _ => return None,
        };
        Some(format!(
            "the recording can't say which members are read together: {seen}; record all loads, such as with \
             `perf mem record --ldlat 3`"
        ))
    }
}

/// Samples that a number of functions and places needs, without the long tail of rare ones.
fn needed(accesses: &[Access]) -> u64 {
    let mut places: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    for access in accesses {
        *places.entry((access.function, access.offset)).or_default() += access.samples();
    }
    let total: u64 = places.values().sum();
    let mut counts: Vec<u64> = places.into_values().collect();
    counts.sort_unstable();
    let mut tail = 0;
    let rare = counts.iter().take_while(|count| {
        tail += **count;
        (tail as f64) < TAIL * total as f64
    });
    (counts.len() - rare.count()) as u64 * SAMPLES_PER_PLACE
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_access::access::Tally;

    fn access(function: u32, offset: u64, samples: u64) -> Access {
        let loads = Tally { samples, period: samples };
        Access { function, offset, size: 8, loads, ..Access::default() }
    }

    #[test]
    fn each_place_of_a_function_needs_two_samples_but_the_rare_ones() {
        let places = [access(0, 0, 40), access(0, 8, 40), access(1, 8, 19), access(2, 16, 1)];
        let enough = Enough::of(&places);
        // The last place has 1 % of the samples, under a tenth.
        assert_eq!((enough.have, enough.need), (100, 6));
        assert!(enough.is_sufficient());
        let few = Enough::of(&[access(0, 0, 1), access(0, 8, 1), access(1, 0, 1)]);
        assert!(!few.is_sufficient());
        assert_eq!(few.shortage(), "too few samples: have 3, need about 6");
        let none = Enough::of(&[]);
        assert!(!none.is_sufficient());
        assert_eq!(none.shortage(), "too few samples: have 0, need about 1");
    }

    #[test]
    fn loads_that_all_missed_say_nothing_about_what_is_read_together() {
        let mut slow = access(0, 0, 100);
        slow.levels = [("L1".to_owned(), 9), ("L3".to_owned(), 91), ("HITM".to_owned(), 50)].into();
        let bias = Enough::of(&[slow.clone()]).bias();
        assert!(bias.is_some_and(|bias| bias.contains("9 of 100 loads hit the nearest cache")));
        slow.levels = [("L1".to_owned(), 10), ("L3".to_owned(), 90)].into();
        assert_eq!(Enough::of(&[slow]).bias(), None);
        assert_eq!(Enough::of(&[access(0, 0, 5)]).bias(), None);
        assert!(Enough::of(&[]).bias().is_some_and(|bias| bias.contains("no loads")));
    }
}
