//! The quota of each leaf (Documentation/scheduler/sched-bwc.rst).

use crate::error::{Error, Result};

/// The kernel's least quota and its longest period, in microseconds (kernel/sched/core.c, `min_cfs_quota_period` and
/// `max_cfs_quota_period`).
const LEAST_QUOTA: u64 = 1000;
const LONGEST_PERIOD: u64 = 1_000_000;

/// The time that a leaf may run in each period, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafBandwidth {
    /// Time on CPUs.
    pub quota: u64,
    /// Length of a period.
    pub period: u64,
}

impl LeafBandwidth {
    /// An equal share of a percentage of all CPUs. The period is longer than wanted where a leaf's quota would be less
    /// than the kernel allows.
    ///
    /// # Errors
    ///
    /// The longest period is too short for so many leaves.
    pub fn share(cpus: u64, leaves: u64, percent: u32, period: u64) -> Result<Self> {
        // Of a period of one microsecond, in microseconds times 100 × leaves.
        let share = u128::from(cpus) * u128::from(percent);
        let parts = 100 * u128::from(leaves.max(1));
        let quota = u64::try_from(share * u128::from(period) / parts).unwrap_or(u64::MAX);
        if quota >= LEAST_QUOTA {
            return Ok(Self { quota, period });
        }
        let longer = (u128::from(LEAST_QUOTA) * parts).checked_div(share).unwrap_or(u128::MAX);
        match u64::try_from(longer) {
            Ok(period) if period <= LONGEST_PERIOD => Ok(Self { quota: LEAST_QUOTA, period }),
            _ => Err(Error::TooManyLeaves {
                leaves,
                percent,
                cpus,
                most: cpus * u64::from(percent) * LONGEST_PERIOD / 100 / LEAST_QUOTA,
            }),
        }
    }

    /// CPUs that a leaf may use on average.
    #[must_use]
    pub fn cpus(self) -> f64 {
        self.quota as f64 / self.period.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_add_up_to_the_share_of_all_cpus() {
        for (cpus, leaves, percent, period) in
            [(384, 1000, 80, 10_000), (8, 1024, 80, 10_000), (2, 1, 50, 20_000)]
        {
            let leaf = LeafBandwidth::share(cpus, leaves, percent, period).unwrap();
            let total = 100.0 * leaf.cpus() * leaves as f64 / cpus as f64;
            assert!((total - f64::from(percent)).abs() < 0.1, "{leaf:?}: {total}");
            assert!(leaf.quota >= LEAST_QUOTA && leaf.period >= period);
        }
    }

    #[test]
    fn the_period_is_raised_only_where_it_must_be() {
        assert_eq!(
            LeafBandwidth::share(384, 1000, 80, 10_000).unwrap(),
            LeafBandwidth { quota: 3072, period: 10_000 }
        );
        assert_eq!(
            LeafBandwidth::share(2, 1000, 80, 10_000).unwrap(),
            LeafBandwidth { quota: 1000, period: 625_000 }
        );
    }

    #[test]
    fn too_many_leaves_are_refused_with_how_many_there_can_be() {
        let error = LeafBandwidth::share(1, 1000, 80, 10_000).unwrap_err().to_string();
        assert!(error.contains("800 leaves can be"), "{error}");
        assert!(LeafBandwidth::share(1, 800, 80, 10_000).is_ok());
        assert!(LeafBandwidth::share(8, 10, 0, 10_000).is_err());
    }
}
