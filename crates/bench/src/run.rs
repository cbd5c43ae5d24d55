//! A benchmark: the tree is made, the load runs, what the kernel did meanwhile is read, the tree is removed.

use crate::bandwidth::LeafBandwidth;
use crate::counters::KernelCounters;
use crate::error::{Error, Result};
use crate::figures::RunFigures;
use crate::groups::{GroupFolder, GroupTree};
use crate::interrupt::Interrupt;
use crate::latency::LatencyCounts;
use crate::load::{LoadProcess, LoadResult};
use crate::options::BenchOptions;
use crate::statistics::{GroupSums, SchedulerSums, online_cpus};
use fieldline_compare::lock_stat::read_lock_stat;
use fieldline_compare::measurement::BetterDirection::{Higher, Lower, Unknown};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const LOCK_STAT: &str = "/proc/lock_stat";
/// Percentiles of latencies.
const PERCENTILES: [(&str, f64); 4] = [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99.9", 99.9)];
/// A run whose usage is so far below the quota (percent of all CPUs) says so.
const MAX_UNUSED: f64 = 3.0;

/// A benchmark that is ready to run.
#[derive(Debug)]
pub struct Bench {
    options: BenchOptions,
    folder: GroupFolder,
    cpus: Vec<usize>,
    bandwidth: Option<LeafBandwidth>,
    notes: Vec<String>,
}

impl Bench {
    /// Looks at the machine: what the benchmark needs must be there, and what will be missing is noted.
    ///
    /// # Errors
    ///
    /// There are no cgroups to use, too many leaves, or no /proc/lock_stat though it is wanted.
    pub fn prepare(options: BenchOptions, folder: GroupFolder) -> Result<Self> {
        let cpus = online_cpus();
        let leaves = options.shape.leaves();
        let share = |percent| LeafBandwidth::share(cpus.len() as u64, leaves, percent, options.period);
        let bandwidth = options.quota.map(share).transpose()?;
        let mut bench = Self { options, folder, cpus, bandwidth, notes: Vec::new() };
        bench.note_bandwidth();
        bench.note_missing();
        if bench.options.reads_lock_stat {
            let path = Path::new(LOCK_STAT);
            fs::metadata(path).map_err(Error::file(path))?;
        }
        Ok(bench)
    }

    /// Remarks: a period that was raised, figures that this machine can't give.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The quota of each leaf.
    #[must_use]
    pub fn bandwidth(&self) -> Option<LeafBandwidth> {
        self.bandwidth
    }

    /// CPUs that are online.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.cpus.len()
    }

    /// The tree and the load, such as `d3w10 messages`.
    #[must_use]
    pub fn case(&self) -> String {
        let BenchOptions { shape, load, .. } = &self.options;
        format!("d{}w{} {}", shape.depth, shape.width, load.join(" "))
    }

    fn note_bandwidth(&mut self) {
        let Some(LeafBandwidth { quota, period }) =
            self.bandwidth.filter(|leaf| leaf.period > self.options.period)
        else {
            return;
        };
        self.notes.push(format!(
            "the period is {period} us instead of {} us: a leaf's quota is at least {quota} us",
            self.options.period
        ));
    }

    fn note_missing(&mut self) {
        let missing = KernelCounters::open(&self.cpus).1;
        if let Some((_, error)) = missing.first() {
            let events: Vec<&str> = missing.iter().map(|(event, _)| *event).collect();
            let why = "they need a PMU, and root or kernel.perf_event_paranoid below 1";
            self.notes.push(format!("no columns {}: {why} ({error})", events.join(", ")));
        }
        match SchedulerSums::read() {
            None => self.notes.push("no columns of schedstat: the kernel has no /proc/schedstat that is known".to_owned()),
            Some(_) if !counts_schedules() => self.notes.push(
                "no columns of calls and wakeups: kernel.sched_schedstats is 0 (sysctl kernel.sched_schedstats=1 for all \
                 variants or for none: it costs time)"
                    .to_owned(),
            ),
            Some(_) => {}
        }
    }

    /// Runs once. The tree is gone afterwards, also after an error.
    ///
    /// # Errors
    ///
    /// The tree can't be made, the load fails, or a signal came.
    pub fn run(&self, interrupt: &Interrupt) -> Result<RunFigures> {
        let tree = GroupTree::make(&self.folder, self.options.shape, self.bandwidth, interrupt)?;
        let words = self.load_words();
        let mut load = LoadProcess::start(&self.options.program, &words, &tree, interrupt)?;
        interrupt.sleep(self.options.settle)?;
        let measured = self.measure(&tree, &mut load, interrupt)?;
        drop(load);
        tree.remove()?;
        Ok(measured)
    }

    fn measure(&self, tree: &GroupTree, load: &mut LoadProcess, interrupt: &Interrupt) -> Result<RunFigures> {
        let locks = self.options.reads_lock_stat.then(LockStatWindow::open).transpose()?;
        let (mut counters, _) = KernelCounters::open(&self.cpus);
        let counter_error = || Error::file(Path::new("perf_event_open"));
        // The usage is read first, both times: thousands of leaves take a while.
        let begin = Instant::now();
        let before = (GroupSums::read(tree.top(), tree.leaves()), SchedulerSums::read());
        load.begin()?;
        counters.start().map_err(counter_error())?;
        let counted = Instant::now();
        interrupt.sleep(self.options.time)?;
        let counts = counters.stop().map_err(counter_error())?;
        load.stop()?;
        let (counted, time) = (counted.elapsed(), begin.elapsed());
        let sums = GroupSums::read(tree.top(), tree.leaves()).since(before.0);
        let scheduler = SchedulerSums::read().zip(before.1).map(|(after, before)| after.since(before));
        let lock_stat = locks.map(LockStatWindow::close).transpose()?;
        let result = load.result(interrupt)?;
        check_runs(&result)?;
        let mut run = RunFigures { case: self.case(), figures: Vec::new(), lock_stat, notes: Vec::new() };
        counts.iter().for_each(|(name, count)| run.add(name, *count, "", Lower));
        self.add_sums(&mut run, sums, time);
        add_load(&mut run, &result, counted);
        scheduler.iter().for_each(|sums| add_scheduler(&mut run, *sums, time));
        add_locks(&mut run);
        self.judge(&mut run, &result);
        Ok(run)
    }

    fn add_sums(&self, run: &mut RunFigures, sums: GroupSums, time: Duration) {
        let whole = time.as_secs_f64() * 1e6 * self.cpus.len() as f64;
        let percent = |part: u64| 100.0 * part as f64 / whole.max(1.0);
        run.add("usage", percent(sums.usage), "% of all CPUs", Unknown);
        run.add("user time", percent(sums.user), "% of all CPUs", Unknown);
        run.add("system time", percent(sums.system), "% of all CPUs", Unknown);
        if self.bandwidth.is_some() {
            run.add("periods", sums.periods as f64, "", Unknown);
            run.add("throttled periods", sums.throttled as f64, "", Unknown);
            run.add("throttled time", sums.throttled_time as f64 / 1e6, "leaf seconds", Unknown);
        }
    }

    /// Notes where the load was not what it should be.
    fn judge(&self, run: &mut RunFigures, result: &LoadResult) {
        let usage = run.value("usage").unwrap_or(0.0);
        if let Some(quota) = self.options.quota.map(f64::from).filter(|quota| usage < quota - MAX_UNUSED) {
            run.notes.push(format!(
                "usage is {usage:.1} % of all CPUs, the quota {quota:.0} %: the load asks for too little, or other work \
                 takes the CPUs"
            ));
        }
        if result.failed > 0 {
            run.notes.push(format!("{} runs of the command failed", result.failed));
        }
        if result.latencies.iter().all(|kind| kind.total() == 0) {
            run.notes.push("nothing was finished in the time measured: give it more (--for)".to_owned());
        }
    }

    /// The words of the load. Messages come as fast as to use about twice the quota of a leaf, unless they are given.
    fn load_words(&self) -> Vec<String> {
        let mut words = self.options.load.clone();
        if words.first().is_none_or(|name| name != "messages") {
            return words;
        }
        let all = self.cpus.len() as f64;
        let demand =
            2.0 * self.bandwidth.map_or(all / self.options.shape.leaves().max(1) as f64, LeafBandwidth::cpus);
        for (key, value) in messages_for(demand) {
            if !words.iter().any(|word| word.starts_with(&format!("{key}="))) {
                words.push(format!("{key}={value}"));
            }
        }
        words
    }
}

/// Share of its time that a worker is busy at most.
const MOST_BUSY: f64 = 0.9;

/// Workers of a leaf, rounds of work for a message, and the pause between messages in microseconds, so that they ask for
/// so many CPUs at least. A round takes a nanosecond or more.
fn messages_for(demand: f64) -> [(&'static str, u64); 3] {
    let workers = (demand / MOST_BUSY).ceil().clamp(2.0, 64.0);
    let busy = (demand / workers).clamp(0.005, MOST_BUSY);
    let rounds = 2000.0 * (100.0 * busy).clamp(1.0, 20.0);
    let pause = (rounds / 1000.0 * (1.0 - busy) / busy).min(300.0);
    [("workers", workers as u64), ("work", rounds as u64), ("pause", pause as u64)]
}

/// An error if a command was run, and failed each time.
fn check_runs(result: &LoadResult) -> Result<()> {
    let runs: u64 = result.latencies.iter().map(LatencyCounts::total).sum();
    if result.failed == 0 || result.failed < runs {
        return Ok(());
    }
    let output = format!("{} failed", result.failed);
    Err(Error::Load { when: "without a run of the command that succeeded", output })
}

fn add_load(run: &mut RunFigures, result: &LoadResult, time: Duration) {
    for kind in &result.latencies {
        add_latency(run, kind, time);
    }
}

fn add_latency(run: &mut RunFigures, kind: &LatencyCounts, time: Duration) {
    let name = &kind.name;
    run.add(&format!("{name}s"), kind.total() as f64 / time.as_secs_f64(), "/s", Higher);
    for (percentile, percent) in PERCENTILES {
        if let Some(latency) = kind.percentile(percent) {
            run.add(&format!("{name} {percentile}"), latency, "us", Lower);
        }
    }
}

/// Whether the kernel counts calls of schedule() (Documentation/admin-guide/sysctl/kernel.rst, `sched_schedstats`).
fn counts_schedules() -> bool {
    fs::read_to_string("/proc/sys/kernel/sched_schedstats").is_ok_and(|text| text.trim() == "1")
}

fn add_scheduler(run: &mut RunFigures, sums: SchedulerSums, time: Duration) {
    let rate = |count: u64| count as f64 / time.as_secs_f64();
    if counts_schedules() {
        run.add("schedule calls", rate(sums.schedules), "/s", Unknown);
        run.add("schedule calls to idle", rate(sums.idles), "/s", Unknown);
        run.add("task wakeups", rate(sums.wakeups), "/s", Unknown);
        run.add("task wakeups on the same CPU", rate(sums.local_wakeups), "/s", Unknown);
    }
    run.add("timeslices", rate(sums.timeslices), "/s", Unknown);
    if sums.timeslices > 0 {
        run.add(
            "run delay of a timeslice",
            sums.run_delay as f64 / sums.timeslices as f64 / 1000.0,
            "us",
            Lower,
        );
    }
}

/// Sums of the locks of the run.
fn add_locks(run: &mut RunFigures) {
    let Some(classes) = run.lock_stat.as_deref().and_then(|text| read_lock_stat(text).ok()) else { return };
    let sum = |figure: fn(&fieldline_compare::lock_stat::LockFigures) -> f64| {
        classes.iter().map(|class| figure(&class.figures)).sum::<f64>()
    };
    run.add("lock contentions", sum(|figures| figures.contentions), "", Lower);
    run.add("lock wait", sum(|figures| figures.wait_total), "us", Lower);
}

/// /proc/lock_stat, cleared at the begin of what is measured; whether it counts is put back at the end
/// (Documentation/locking/lockstat.rst).
struct LockStatWindow {
    counted: String,
}

const LOCK_STAT_SWITCH: &str = "/proc/sys/kernel/lock_stat";

impl LockStatWindow {
    fn open() -> Result<Self> {
        let switch = Path::new(LOCK_STAT_SWITCH);
        let counted = fs::read_to_string(switch).map_err(Error::file(switch))?;
        let window = Self { counted };
        fs::write(switch, "1").map_err(Error::file(switch))?;
        fs::write(LOCK_STAT, "0").map_err(Error::file(Path::new(LOCK_STAT)))?;
        Ok(window)
    }

    fn close(self) -> Result<String> {
        fs::read_to_string(LOCK_STAT).map_err(Error::file(Path::new(LOCK_STAT)))
    }
}

impl Drop for LockStatWindow {
    fn drop(&mut self) {
        // It was readable and writable before.
        let _ = fs::write(LOCK_STAT_SWITCH, self.counted.trim());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_ask_for_what_they_should() {
        for demand in [0.004, 0.02, 0.3, 1.5, 40.0] {
            let [(_, workers), (_, work), (_, pause)] = messages_for(demand);
            // A nanosecond a round: no processor is faster.
            let busy = work as f64 / 1000.0 / (work as f64 / 1000.0 + pause as f64);
            assert!(workers as f64 * busy >= 0.95 * demand, "{demand}: {workers} {work} {pause}");
        }
    }

    #[test]
    fn a_command_that_always_fails_is_no_load() {
        let ranges = vec![(1000, 2000, 5)];
        let latencies = vec![LatencyCounts { name: "run".to_owned(), ranges }];
        let result = |failed| LoadResult { latencies: latencies.clone(), failed };
        assert!(check_runs(&result(4)).is_ok() && check_runs(&result(0)).is_ok());
        assert!(check_runs(&result(5)).is_err());
    }

    #[test]
    fn latencies_become_rates_and_percentiles() {
        let mut run =
            RunFigures { case: String::new(), figures: Vec::new(), lock_stat: None, notes: Vec::new() };
        let ranges = vec![(1000, 2000, 50), (4000, 5000, 50)];
        add_latency(&mut run, &LatencyCounts { name: "wakeup".to_owned(), ranges }, Duration::from_secs(10));
        assert_eq!((run.value("wakeups"), run.value("wakeup p50")), (Some(10.0), Some(2.0)));
        assert!(run.value("wakeup p99").is_some_and(|latency| (4.0..=5.0).contains(&latency)));
    }
}
