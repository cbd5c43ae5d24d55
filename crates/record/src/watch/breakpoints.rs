//! Opens breakpoints and reads what they catch.
//!
//! Each turn opens four of them for each thread of a process, or for each CPU, with `perf_event_open`. Turns are equally long,
//! and of a round that was not brought to its end nothing is kept, so that the numbers of samples compare, whichever turns they
//! come from. The period of a sample is multiplied with the number of groups: a watch sees so small a part of the time.

use super::rotation::{Rotation, Watch};
use crate::process::journal::{self, Journal, Who};
use crate::process::signals::Signals;
use crate::process::tasks;
use crate::{Caught, End, Error, WatchOptions, Watched};
use fieldline_perfdata::perf_data::{Attr, EventIndex};
use fieldline_perfdata::sample::SampleFields;
use perf_event::events::Breakpoint;
use perf_event::{Builder, Clock, SampleFlag, Sampler, data};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io;
use std::time::{Duration, Instant};

/// Bytes of the buffer of each breakpoint: a turn of samples at the usual rate is read several times.
const BUFFER: usize = 64 << 10;
const READ_EVERY: Duration = Duration::from_millis(10);
/// `PERF_TYPE_BREAKPOINT`.
const BREAKPOINT: u32 = 5;
/// The flag exclude_kernel of `struct perf_event_attr` (`include/uapi/linux/perf_event.h`).
const NO_KERNEL: u64 = 1 << 5;
/// `PERF_RECORD_MISC_CPUMODE_MASK` and `PERF_RECORD_MISC_KERNEL`.
const MODE_MASK: u16 = 7;
const IN_KERNEL: u16 = 1;

/// Records what breakpoints catch.
///
/// # Errors
/// If breakpoints can't be opened, or caught nothing.
pub fn record(watched: &Watched, rotation: &Rotation, options: &WatchOptions) -> Result<Caught, Error> {
    let signals = Signals::catch().map_err(|error| Error::Call { call: "signalfd", source: error.into() })?;
    let caught = Recorder::new(watched, rotation, options, signals).run()?;
    if caught.samples == 0 {
        let (milliseconds, end) = (caught.lasted.as_millis(), &caught.end);
        return Err(Error::NoSamples(format!(
            "nothing touched what was watched for {milliseconds} ms, then {end}; each watch was set for 1/{} of that",
            rotation.weight()
        )));
    }
    Ok(caught)
}

struct Recorder<'r> {
    watched: &'r Watched,
    rotation: &'r Rotation,
    options: &'r WatchOptions,
    signals: Signals,
    journal: Journal,
    events: FxHashMap<Watch, EventIndex>,
    named: FxHashSet<u32>,
    paused: u64,
    /// Samples the kernel lost, and how many of them are in the journal.
    lost: u64,
    lost_written: u64,
    begin: Instant,
}

struct Open {
    watch: Watch,
    sampler: Sampler,
}

/// A sample as the kernel wrote it.
type Seen = (EventIndex, journal::Caught);

impl<'r> Recorder<'r> {
    fn new(
        watched: &'r Watched,
        rotation: &'r Rotation,
        options: &'r WatchOptions,
        signals: Signals,
    ) -> Self {
        let mut journal = Journal::new();
        let watches = rotation.groups.iter().flatten();
        let events = watches.map(|watch| (*watch, event(&mut journal, *watch, watched, options))).collect();
        if let Watched::Kernel { text: Some(text), .. } = watched {
            journal.kernel(*text);
        }
        let (named, begin) = (FxHashSet::default(), Instant::now());
        Self {
            watched,
            rotation,
            options,
            signals,
            journal,
            events,
            named,
            paused: 0,
            lost: 0,
            lost_written: 0,
            begin,
        }
    }

    fn run(mut self) -> Result<Caught, Error> {
        let (mut round, mut turns, mut rounds) = (Vec::new(), 0, 0);
        let mut end = None;
        for group in self.rotation.turns() {
            let Some(group) = self.rotation.groups.get(group) else { continue };
            end = self.turn(group, &mut round)?;
            turns += 1;
            let is_whole = end.is_none() && turns % self.rotation.weight() == 0;
            if is_whole {
                rounds += 1;
                self.write(std::mem::take(&mut round));
                let is_enough = self.journal.samples() >= self.options.limits.samples;
                end = is_enough.then_some(End::Samples);
            }
            if end.is_some() {
                break;
            }
        }
        if rounds == 0 {
            self.write(round);
        }
        Ok(Caught {
            samples: self.journal.samples(),
            recording: self.journal.finish(),
            lost: self.lost,
            paused: self.paused,
            rounds,
            end: end.unwrap_or(End::Time),
            lasted: self.begin.elapsed(),
        })
    }

    /// Watches a group for its time; says why there is no more to watch, if there isn't.
    fn turn(&mut self, group: &[Watch], seen: &mut Vec<Seen>) -> Result<Option<End>, Error> {
        let mut open = self.open(group)?;
        if open.is_empty() {
            return Ok(Some(End::Program("ended".to_owned())));
        }
        let began = Instant::now();
        let end = loop {
            let left = self.rotation.slice.saturating_sub(began.elapsed());
            if left.is_zero() {
                break None;
            }
            self.signals.sleep(left.min(READ_EVERY));
            open.iter_mut().for_each(|open| self.read(open, seen));
            if self.signals.is_interrupted() {
                break Some(End::Interrupted);
            }
        };
        for open in &mut open {
            // What is caught while the others are read would make their times unequal.
            open.sampler.disable().ok();
        }
        open.iter_mut().for_each(|open| self.read(open, seen));
        Ok(end)
    }

    fn open(&mut self, group: &[Watch]) -> Result<Vec<Open>, Error> {
        let mut open = Vec::new();
        match self.watched {
            Watched::Process(pid) => {
                let threads = tasks::threads(*pid);
                threads.iter().for_each(|tid| self.name(Who { pid: *pid, tid: *tid, number: 0 }));
                self.journal.look(Who { pid: *pid, tid: *pid, number: 0 });
                for (tid, watch) in threads.iter().flat_map(|tid| group.iter().map(move |watch| (tid, watch)))
                {
                    match self.builder(*watch).observe_pid(*tid as i32).any_cpu().build() {
                        Err(error) if error.raw_os_error() == Some(nix::libc::ESRCH) => {}
                        counter => open.push(start(*watch, counter)?),
                    }
                }
            }
            Watched::Kernel { cpus, .. } => {
                for (cpu, watch) in cpus.iter().flat_map(|cpu| group.iter().map(move |watch| (cpu, watch))) {
                    let counter = self.builder(*watch).any_pid().one_cpu(*cpu as usize).build();
                    open.push(start(*watch, counter)?);
                }
            }
        }
        Ok(open)
    }

    fn builder(&self, watch: Watch) -> Builder<'static> {
        let breakpoint = match self.options.stores_only {
            true => Breakpoint::write(watch.address, watch.length),
            false => Breakpoint::read_write(watch.address, watch.length),
        };
        let mut builder = Builder::new(breakpoint);
        let fields = [
            SampleFlag::IP,
            SampleFlag::TID,
            SampleFlag::TIME,
            SampleFlag::ADDR,
            SampleFlag::CPU,
            SampleFlag::PERIOD,
        ];
        fields.into_iter().for_each(|field| {
            builder.sample(field);
        });
        builder.clockid(Clock::MONOTONIC).exclude_kernel(matches!(self.watched, Watched::Process(_)));
        builder.sample_period(self.options.every);
        builder
    }

    fn read(&mut self, open: &mut Open, seen: &mut Vec<Seen>) {
        let Some(event) = self.events.get(&open.watch).copied() else { return };
        while let Some(record) = open.sampler.next_record() {
            let in_kernel = record.misc() & MODE_MASK == IN_KERNEL;
            match record.parse_record() {
                Ok(data::Record::Sample(sample)) => {
                    let [pid, tid, cpu] =
                        [sample.pid(), sample.tid(), sample.cpu()].map(Option::unwrap_or_default);
                    let caught = journal::Caught {
                        who: Who { pid, tid, number: cpu },
                        time: sample.time(),
                        ip: sample.ip().unwrap_or(0),
                        is_exact: false,
                        in_kernel,
                        address: open.watch.address,
                        period: self.options.every.saturating_mul(self.rotation.weight()),
                        data_source: 0,
                    };
                    seen.push((event, caught));
                }
                Ok(data::Record::Lost(lost)) => self.lost = self.lost.saturating_add(lost.lost),
                Ok(data::Record::Throttle(_)) => self.paused += 1,
                _ => {}
            }
        }
    }

    /// Writes a round's samples, which several buffers held, in order of time.
    fn write(&mut self, mut seen: Vec<Seen>) {
        seen.sort_by_key(|(event, caught)| (caught.time, caught.who.tid, *event));
        for (event, caught) in seen {
            self.name(caught.who);
            self.journal.sample(event, &caught);
        }
        let new = self.lost.saturating_sub(self.lost_written);
        if new > 0 {
            self.journal.lost(new);
            self.lost_written = self.lost;
        }
    }

    fn name(&mut self, who: Who) {
        if self.named.insert(who.tid) {
            self.journal.named(who);
        }
    }
}

/// The event of a watch, named as perf does.
fn event(journal: &mut Journal, watch: Watch, watched: &Watched, options: &WatchOptions) -> EventIndex {
    let Watch { address, length } = watch;
    let (kind, suffix) = if options.stores_only { (2, "w") } else { (3, "rw") };
    let no_kernel = if matches!(watched, Watched::Process(_)) { NO_KERNEL } else { 0 };
    let attr = Attr {
        kind: BREAKPOINT,
        period_or_frequency: options.every,
        flags: no_kernel,
        breakpoint_kind: kind,
        config1: address,
        config2: length,
        ..Attr::default()
    };
    journal.event(&format!("mem:{address:#x}/{length}:{suffix}"), &attr, SampleFields::ADDR)
}

fn start(watch: Watch, counter: io::Result<perf_event::Counter>) -> Result<Open, Error> {
    let start = |counter: perf_event::Counter| {
        let mut sampler = counter.sampled(BUFFER)?;
        sampler.enable()?;
        Ok(sampler)
    };
    let sampler = counter.and_then(start).map_err(|source| refused(watch, source))?;
    Ok(Open { watch, sampler })
}

/// What the kernel's answers to `perf_event_open(2)` and to the mapping of a buffer mean here.
fn refused(watch: Watch, source: io::Error) -> Error {
    let hint = match source.raw_os_error() {
        Some(nix::libc::ENOSPC | nix::libc::EBUSY) => {
            "no breakpoint register is free: a debugger or another perf has them"
        }
        Some(nix::libc::EACCES | nix::libc::EPERM) => {
            "be root; or for one's own programs set /proc/sys/kernel/perf_event_paranoid to 2 or less, and give memory for \
             buffers by /proc/sys/kernel/perf_event_mlock_kb; a container needs CAP_PERFMON"
        }
        Some(nix::libc::EINVAL) => "the address may not be one of the program, or of the kernel",
        Some(nix::libc::ENOENT | nix::libc::ENODEV | nix::libc::EOPNOTSUPP) => {
            "this kernel has no hardware breakpoints"
        }
        Some(nix::libc::EMFILE) => {
            "too many threads times breakpoints: raise the limit of open files (ulimit -n)"
        }
        _ => "perf_event_open(2) says what that means",
    };
    Error::Breakpoint { address: watch.address, length: watch.length, source, hint }
}
