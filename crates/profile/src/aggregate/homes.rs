//! Which CPU an object is at home on: the one that took most of its samples.

use fieldline_access::access::{Away, Homes};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Where the object begins.
    pub base: u64,
    pub cpu: u32,
    pub is_store: bool,
    /// Whether the line was lost to another CPU before.
    pub is_lost: bool,
}

impl Touched {
    /// So many such samples as ones taken away from home.
    pub(crate) fn as_away(&self, samples: u64) -> Away {
        Away {
            loads: samples * u64::from(!self.is_store),
            stores: samples * u64::from(self.is_store),
            lost: samples * u64::from(self.is_lost),
        }
    }
}

/// The home of each object by where it begins, and sums over all, of samples with how many are alike. Of CPUs with equally
/// many samples, the first is home.
pub(crate) fn homes<'t>(
    samples: impl IntoIterator<Item = (&'t Touched, u64)>,
) -> (FxHashMap<u64, u32>, Homes) {
    let mut counts: FxHashMap<u64, BTreeMap<u32, u64>> = FxHashMap::default();
    for (touched, samples) in samples {
        *counts.entry(touched.base).or_default().entry(touched.cpu).or_default() += samples;
    }
    let (mut homes, mut sums) = (FxHashMap::default(), Homes::default());
    for (base, cpus) in counts {
        let samples: u64 = cpus.values().sum();
        sums.samples += samples;
        sums.others += samples * (cpus.len() as u64 - 1);
        let busiest = cpus.into_iter().max_by_key(|(cpu, count)| (*count, std::cmp::Reverse(*cpu)));
        homes.extend(busiest.map(|(cpu, _)| (base, cpu)));
    }
    (homes, sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(base: u64, cpu: u32) -> Touched {
        Touched { base, cpu, is_store: false, is_lost: false }
    }

    #[test]
    fn an_object_is_at_home_where_most_of_its_samples_are() {
        let samples = [touched(64, 3), touched(64, 1), touched(64, 3), touched(128, 2), touched(128, 1)];
        let (homes, sums) = homes(samples.iter().map(|touched| (touched, 1)));
        assert_eq!((homes[&64], homes[&128]), (3, 1));
        assert_eq!(sums, Homes { samples: 5, others: 5 });
    }
}
