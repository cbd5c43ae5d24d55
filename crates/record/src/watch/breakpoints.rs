//! Opens breakpoints and reads their samples.
//!
//! Each time slice opens four of them for each thread of a process, or for each CPU, with `perf_event_open`.
//! Slices are equally long, and samples of an unfinished rotation are dropped, so that numbers of samples
//! compare across slices. The period of a sample is multiplied with the number of groups, since a watch is
//! set for that part of the time.

use super::rotation::{WatchRange, WatchRotation};
use crate::process::journal::{self, Journal, TracedThread};
use crate::process::signals::SignalWaiter;
use crate::process::tasks;
use crate::{Error, RecordingEnd, WatchOptions, WatchRecording, WatchTarget};
use fieldline_perfdata::perf_data::{Attr, EventIndex};
use fieldline_perfdata::sample::SampleFields;
use perf_event::events::Breakpoint;
use perf_event::{Builder, Clock, SampleFlag, Sampler, data};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io;
use std::time::{Duration, Instant};

/// Bytes of the buffer of each breakpoint: the samples of a time slice at the usual rate are read in several
/// reads.
const BUFFER_BYTES: usize = 64 << 10;
const READ_INTERVAL: Duration = Duration::from_millis(10);
/// `PERF_TYPE_BREAKPOINT`.
const BREAKPOINT: u32 = 5;
/// The flag exclude_kernel of `struct perf_event_attr` (`include/uapi/linux/perf_event.h`).
const NO_KERNEL: u64 = 1 << 5;
/// `PERF_RECORD_MISC_CPUMODE_MASK` and `PERF_RECORD_MISC_KERNEL`.
const MODE_MASK: u16 = 7;
const IN_KERNEL: u16 = 1;

/// Records the samples of breakpoints.
///
/// # Errors
/// If breakpoints can't be opened, or have no samples.
pub fn record(
    target: &WatchTarget,
    rotation: &WatchRotation,
    options: &WatchOptions,
) -> Result<WatchRecording, Error> {
    let signals =
        SignalWaiter::block().map_err(|why| Error::Call { call: "signalfd", source: why.into() })?;
    let recording = BreakpointRecorder::new(target, rotation, options, signals).run()?;
    if recording.samples == 0 {
        let (milliseconds, end) = (recording.lasted.as_millis(), &recording.end);
        return Err(Error::NoSamples(format!(
            "nothing touched what was watched for {milliseconds} ms, then {end}; each watch was set for 1/{} of that",
            rotation.weight()
        )));
    }
    Ok(recording)
}

struct BreakpointRecorder<'r> {
    target: &'r WatchTarget,
    rotation: &'r WatchRotation,
    options: &'r WatchOptions,
    signals: SignalWaiter,
    journal: Journal,
    events: FxHashMap<WatchRange, EventIndex>,
    named_threads: FxHashSet<u32>,
    paused: u64,
    /// Samples the kernel lost, and how many of them are in the journal.
    lost: u64,
    lost_written: u64,
    begin: Instant,
}

struct OpenBreakpoint {
    watch: WatchRange,
    sampler: Sampler,
}

/// A sample as the kernel wrote it.
type BreakpointSample = (EventIndex, journal::JournalSample);

impl<'r> BreakpointRecorder<'r> {
    fn new(
        watched: &'r WatchTarget,
        rotation: &'r WatchRotation,
        options: &'r WatchOptions,
        signals: SignalWaiter,
    ) -> Self {
        let mut journal = Journal::new();
        let watches = rotation.groups.iter().flatten();
        let events = watches.map(|watch| (*watch, event(&mut journal, *watch, watched, options))).collect();
        if let WatchTarget::Kernel { text: Some(text), .. } = watched {
            journal.write_kernel_map(*text);
        }
        let (named, begin) = (FxHashSet::default(), Instant::now());
        Self {
            target: watched,
            rotation,
            options,
            signals,
            journal,
            events,
            named_threads: named,
            paused: 0,
            lost: 0,
            lost_written: 0,
            begin,
        }
    }

    fn run(mut self) -> Result<WatchRecording, Error> {
        let (mut round, mut watched_groups, mut rounds) = (Vec::new(), 0, 0);
        let mut end = None;
        for group in self.rotation.group_order() {
            let Some(group) = self.rotation.groups.get(group) else { continue };
            end = self.watch_group(group, &mut round)?;
            watched_groups += 1;
            let is_whole = end.is_none() && watched_groups % self.rotation.weight() == 0;
            if is_whole {
                rounds += 1;
                self.write_samples(std::mem::take(&mut round));
                let is_enough = self.journal.samples() >= self.options.limits.samples;
                end = is_enough.then_some(RecordingEnd::Samples);
            }
            if end.is_some() {
                break;
            }
        }
        if rounds == 0 {
            self.write_samples(round);
        }
        Ok(WatchRecording {
            samples: self.journal.samples(),
            recording: self.journal.finish(),
            lost: self.lost,
            paused: self.paused,
            rounds,
            end: end.unwrap_or(RecordingEnd::Time),
            lasted: self.begin.elapsed(),
        })
    }

    /// Watches a group for its time; says why there is no more to watch, if there isn't.
    fn watch_group(
        &mut self,
        group: &[WatchRange],
        samples: &mut Vec<BreakpointSample>,
    ) -> Result<Option<RecordingEnd>, Error> {
        let mut open = self.open_breakpoints(group)?;
        if open.is_empty() {
            return Ok(Some(RecordingEnd::Program("ended".to_owned())));
        }
        let began = Instant::now();
        let end = loop {
            let left = self.rotation.slice.saturating_sub(began.elapsed());
            if left.is_zero() {
                break None;
            }
            self.signals.sleep(left.min(READ_INTERVAL));
            open.iter_mut().for_each(|open| self.read(open, samples));
            if self.signals.is_interrupted() {
                break Some(RecordingEnd::Interrupted);
            }
        };
        for open in &mut open {
            // Samples taken while the others are read would make their times unequal.
            open.sampler.disable().ok();
        }
        open.iter_mut().for_each(|open| self.read(open, samples));
        Ok(end)
    }

    fn open_breakpoints(&mut self, group: &[WatchRange]) -> Result<Vec<OpenBreakpoint>, Error> {
        let mut open = Vec::new();
        match self.target {
            WatchTarget::Process(pid) => {
                let threads = tasks::threads(*pid);
                threads
                    .iter()
                    .for_each(|tid| self.write_comm_once(TracedThread { pid: *pid, tid: *tid, number: 0 }));
                self.journal.update_mappings(TracedThread { pid: *pid, tid: *pid, number: 0 });
                for (tid, watch) in threads.iter().flat_map(|tid| group.iter().map(move |watch| (tid, watch)))
                {
                    match self.builder(*watch).observe_pid(*tid as i32).any_cpu().build() {
                        Err(error) if error.raw_os_error() == Some(nix::libc::ESRCH) => {}
                        counter => open.push(start(*watch, counter)?),
                    }
                }
            }
            WatchTarget::Kernel { cpus, .. } => {
                for (cpu, watch) in cpus.iter().flat_map(|cpu| group.iter().map(move |watch| (cpu, watch))) {
                    let counter = self.builder(*watch).any_pid().one_cpu(*cpu as usize).build();
                    open.push(start(*watch, counter)?);
                }
            }
        }
        Ok(open)
    }

    fn builder(&self, watch: WatchRange) -> Builder<'static> {
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
        builder.clockid(Clock::MONOTONIC).exclude_kernel(matches!(self.target, WatchTarget::Process(_)));
        builder.sample_period(self.options.every);
        builder
    }

    fn read(&mut self, open: &mut OpenBreakpoint, samples: &mut Vec<BreakpointSample>) {
        let Some(event) = self.events.get(&open.watch).copied() else { return };
        while let Some(record) = open.sampler.next_record() {
            let in_kernel = record.misc() & MODE_MASK == IN_KERNEL;
            match record.parse_record() {
                Ok(data::Record::Sample(sample)) => {
                    let [pid, tid, cpu] =
                        [sample.pid(), sample.tid(), sample.cpu()].map(Option::unwrap_or_default);
                    let caught = journal::JournalSample {
                        who: TracedThread { pid, tid, number: cpu },
                        time: sample.time(),
                        ip: sample.ip().unwrap_or(0),
                        is_exact: false,
                        in_kernel,
                        address: open.watch.address,
                        period: self.options.every.saturating_mul(self.rotation.weight()),
                        data_source: 0,
                    };
                    samples.push((event, caught));
                }
                Ok(data::Record::Lost(lost)) => self.lost = self.lost.saturating_add(lost.lost),
                Ok(data::Record::Throttle(_)) => self.paused += 1,
                _ => {}
            }
        }
    }

    /// Writes the samples of a rotation, which several buffers held, in order of time.
    fn write_samples(&mut self, mut samples: Vec<BreakpointSample>) {
        samples.sort_by_key(|(event, caught)| (caught.time, caught.who.tid, *event));
        for (event, caught) in samples {
            self.write_comm_once(caught.who);
            self.journal.write_sample(event, &caught);
        }
        let new = self.lost.saturating_sub(self.lost_written);
        if new > 0 {
            self.journal.write_lost(new);
            self.lost_written = self.lost;
        }
    }

    fn write_comm_once(&mut self, who: TracedThread) {
        if self.named_threads.insert(who.tid) {
            self.journal.write_comm(who);
        }
    }
}

/// The event of a watch, named as perf does.
fn event(out: &mut Journal, watch: WatchRange, watched: &WatchTarget, options: &WatchOptions) -> EventIndex {
    let WatchRange { address, length } = watch;
    let (kind, suffix) = if options.stores_only { (2, "w") } else { (3, "rw") };
    let no_kernel = if matches!(watched, WatchTarget::Process(_)) { NO_KERNEL } else { 0 };
    let attr = Attr {
        kind: BREAKPOINT,
        period_or_frequency: options.every,
        flags: no_kernel,
        breakpoint_kind: kind,
        config1: address,
        config2: length,
        ..Attr::default()
    };
    out.add_event(&format!("mem:{address:#x}/{length}:{suffix}"), &attr, SampleFields::ADDR)
}

fn start(watch: WatchRange, counter: io::Result<perf_event::Counter>) -> Result<OpenBreakpoint, Error> {
    let start = |counter: perf_event::Counter| {
        let mut sampler = counter.sampled(BUFFER_BYTES)?;
        sampler.enable()?;
        Ok(sampler)
    };
    let sampler = counter.and_then(start).map_err(|source| open_error(watch, source))?;
    Ok(OpenBreakpoint { watch, sampler })
}

/// The meaning of errors of `perf_event_open(2)` and of mapping a buffer.
fn open_error(watch: WatchRange, source: io::Error) -> Error {
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
