//! Statistics of the kernel: `cpu.stat` of groups, /proc/schedstat, the CPUs that are online.

use std::fs;
use std::path::{Path, PathBuf};

/// Sums since the groups were made (Documentation/admin-guide/cgroup-v2.rst, `cpu.stat`), in microseconds and counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupSums {
    pub(crate) usage: u64,
    pub(crate) user: u64,
    pub(crate) system: u64,
    /// Of the leaves: periods with something to run, those of them in which a leaf was throttled, and for how long.
    pub(crate) periods: u64,
    pub(crate) throttled: u64,
    pub(crate) throttled_time: u64,
}

impl GroupSums {
    /// Sums of a tree. Groups above the leaves have no quota, so that only leaves are throttled.
    pub(crate) fn read(top: &Path, leaves: &[PathBuf]) -> Self {
        let mut sums = Self::default();
        let text = stat_text(top);
        (sums.usage, sums.user, sums.system) =
            (field(&text, "usage_usec"), field(&text, "user_usec"), field(&text, "system_usec"));
        for leaf in leaves {
            let text = stat_text(leaf);
            sums.periods += field(&text, "nr_periods");
            sums.throttled += field(&text, "nr_throttled");
            sums.throttled_time += field(&text, "throttled_usec");
        }
        sums
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            usage: self.usage.saturating_sub(before.usage),
            user: self.user.saturating_sub(before.user),
            system: self.system.saturating_sub(before.system),
            periods: self.periods.saturating_sub(before.periods),
            throttled: self.throttled.saturating_sub(before.throttled),
            throttled_time: self.throttled_time.saturating_sub(before.throttled_time),
        }
    }
}

fn stat_text(group: &Path) -> String {
    fs::read_to_string(group.join("cpu.stat")).unwrap_or_default()
}

fn field(text: &str, name: &str) -> u64 {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
}

/// Sums over all CPUs of /proc/schedstat (Documentation/scheduler/sched-stats.rst, versions 14 to 17: the lines of CPUs
/// are the same in all).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SchedulerSums {
    /// Calls of schedule(), those that left a CPU idle, and wakeups; 0 where kernel.sched_schedstats is 0.
    pub(crate) schedules: u64,
    pub(crate) idles: u64,
    pub(crate) wakeups: u64,
    pub(crate) local_wakeups: u64,
    /// Time that tasks waited to run, in nanoseconds, and how often one was run.
    pub(crate) run_delay: u64,
    pub(crate) timeslices: u64,
}

impl SchedulerSums {
    /// The sums, if the kernel has them.
    pub(crate) fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/schedstat").ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let version: u32 = text.lines().next()?.strip_prefix("version ")?.trim().parse().ok()?;
        (14..=17).contains(&version).then_some(())?;
        let mut sums = Self::default();
        for line in text.lines().filter(|line| line.starts_with("cpu")) {
            let numbers: Vec<u64> =
                line.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
            let [_, _, schedules, idles, wakeups, local_wakeups, _, run_delay, timeslices] = numbers[..]
            else {
                return None;
            };
            sums.schedules += schedules;
            sums.idles += idles;
            sums.wakeups += wakeups;
            sums.local_wakeups += local_wakeups;
            sums.run_delay += run_delay;
            sums.timeslices += timeslices;
        }
        Some(sums)
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            schedules: self.schedules.saturating_sub(before.schedules),
            idles: self.idles.saturating_sub(before.idles),
            wakeups: self.wakeups.saturating_sub(before.wakeups),
            local_wakeups: self.local_wakeups.saturating_sub(before.local_wakeups),
            run_delay: self.run_delay.saturating_sub(before.run_delay),
            timeslices: self.timeslices.saturating_sub(before.timeslices),
        }
    }
}

/// CPUs that are online.
pub(crate) fn online_cpus() -> Vec<usize> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let cpus = cpu_list(text.trim());
    if cpus.is_empty() { vec![0] } else { cpus }
}

/// A list such as `0-3,8` (cpuset(7)). No machine has more than 65536 CPUs.
fn cpu_list(text: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse::<usize>().ok()?.min(1 << 16))
    };
    text.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_is_summed_over_cpus_and_domains_are_left_out() {
        let text = "version 16\ntimestamp 4295\ncpu0 0 0 10 4 6 5 700 80 9\ndomain0 3 0 0 0 0\ncpu1 0 0 1 1 1 1 1 1 1\n";
        let sums = SchedulerSums::parse(text).unwrap();
        assert_eq!((sums.schedules, sums.idles, sums.wakeups, sums.local_wakeups), (11, 5, 7, 6));
        assert_eq!((sums.run_delay, sums.timeslices), (81, 10));
        assert_eq!(SchedulerSums::parse("version 99\ncpu0 0 0 1 1 1 1 1 1 1\n"), None);
        assert_eq!(SchedulerSums::parse("version 16\ncpu0 0 0 1\n"), None);
    }

    #[test]
    fn quotas_are_of_leaves_and_usage_is_of_the_top() {
        let folder = tempfile::tempdir().unwrap();
        let leaves: Vec<PathBuf> = ["a", "b"].iter().map(|name| folder.path().join(name)).collect();
        let stat = "usage_usec 90\nuser_usec 60\nsystem_usec 30\n";
        fs::write(folder.path().join("cpu.stat"), stat).unwrap();
        for leaf in &leaves {
            fs::create_dir(leaf).unwrap();
            fs::write(
                leaf.join("cpu.stat"),
                format!("{stat}nr_periods 5\nnr_throttled 4\nthrottled_usec 300\n"),
            )
            .unwrap();
        }
        let sums = GroupSums::read(folder.path(), &leaves);
        assert_eq!((sums.usage, sums.user, sums.system), (90, 60, 30));
        assert_eq!((sums.periods, sums.throttled, sums.throttled_time), (10, 8, 600));
        assert_eq!(sums.since(sums), GroupSums::default());
    }

    #[test]
    fn cpus_are_listed_as_the_kernel_does() {
        assert_eq!(cpu_list("0-2,5"), [0, 1, 2, 5]);
        assert!(cpu_list("").is_empty() && cpu_list("x").is_empty());
        assert_eq!(cpu_list("0-99999999999").len(), (1 << 16) + 1);
    }
}
