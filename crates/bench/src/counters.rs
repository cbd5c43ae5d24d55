//! Counters of the kernel's events on all CPUs, as `perf stat -a -e EVENT:k` counts them.

use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Event, Hardware};
use perf_event::{Builder, Counter};
use std::io;

/// Counters of one event, one for each CPU.
#[derive(Debug)]
struct KernelEvent {
    name: &'static str,
    counters: Vec<Counter>,
}

/// Counters of all events that this machine has.
#[derive(Debug)]
pub(crate) struct KernelCounters {
    events: Vec<KernelEvent>,
}

/// Loads that miss the last-level cache, as perf's `LLC-load-misses`.
const LLC_LOAD_MISSES: Cache =
    Cache { which: CacheId::LL, operation: CacheOp::READ, result: CacheResult::MISS };

impl KernelCounters {
    /// Opens the counters; also the events that are not there, each with the reason.
    pub(crate) fn open(cpus: &[usize]) -> (Self, Vec<(&'static str, io::Error)>) {
        let opened = [
            ("LLC-load-misses:k", open_all(&LLC_LOAD_MISSES, cpus)),
            ("cycles:k", open_all(&Hardware::CPU_CYCLES, cpus)),
            ("instructions:k", open_all(&Hardware::INSTRUCTIONS, cpus)),
        ];
        let (mut events, mut missing) = (Vec::new(), Vec::new());
        for (name, counters) in opened {
            match counters {
                Ok(counters) => events.push(KernelEvent { name, counters }),
                Err(error) => missing.push((name, error)),
            }
        }
        (Self { events }, missing)
    }

    pub(crate) fn start(&mut self) -> io::Result<()> {
        self.events.iter_mut().flat_map(|event| &mut event.counters).try_for_each(Counter::enable)
    }

    /// Stops all; the counts by event, scaled where an event shared its counter with others.
    pub(crate) fn stop(&mut self) -> io::Result<Vec<(&'static str, f64)>> {
        self.events.iter_mut().flat_map(|event| &mut event.counters).try_for_each(Counter::disable)?;
        self.events.iter_mut().map(KernelEvent::total).collect()
    }
}

impl KernelEvent {
    fn total(&mut self) -> io::Result<(&'static str, f64)> {
        let mut total = 0.0;
        for counter in &mut self.counters {
            let read = counter.read_count_and_time()?;
            total += scaled(read.count, read.time_enabled, read.time_running);
        }
        Ok((self.name, total))
    }
}

/// An event's count for all the time, if it was counted for a part of it (perf-stat(1)).
fn scaled(count: u64, enabled: u64, running: u64) -> f64 {
    if running == 0 { 0.0 } else { count as f64 * enabled as f64 / running as f64 }
}

fn open_all(event: &(impl Event + Clone), cpus: &[usize]) -> io::Result<Vec<Counter>> {
    let open = |cpu: &usize| {
        let mut builder = Builder::new(event.clone());
        builder.exclude_user(true).exclude_hv(true).any_pid().one_cpu(*cpu).build()
    };
    cpus.iter().map(open).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_part_of_the_time_stand_for_all_of_it() {
        assert_eq!((scaled(100, 400, 200), scaled(100, 400, 400), scaled(0, 400, 0)), (200.0, 100.0, 0.0));
    }
}
