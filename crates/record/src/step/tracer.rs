//! Steps a program, in bursts, and records the accesses of each instruction.
//!
//! Between bursts threads run freely. A burst interrupts those that run (`PTRACE_INTERRUPT`), never those
//! that sleep in the kernel, whose calls would return early; steps each by some instructions; and lets them
//! go. So the share of samples of code is its share of the time, as with a timer. See `ptrace(2)` for stops.

mod stops;

use super::allocations::Allocations;
use super::history::BranchHistories;
use super::launch;
use super::operands::{DecodedCode, MAX_INSTRUCTION_BYTES, StepInstruction};
use super::threads::{PendingAccesses, ThreadState, Threads, registers};
use crate::intervals::RandomIntervals;
use crate::process::journal::{Journal, JournalSample, TracedThread};
use crate::process::signals::SignalWaiter;
use crate::process::tasks;
use crate::{Error, RecordTarget, RecordingEnd, StepOptions, StepRecording};
use fieldline_perfdata::perf_data::{Attr, EventIndex};
use fieldline_perfdata::sample::SampleFields;
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// Seed of the gaps between samples, and of those between bursts.
const SEEDS: (u64, u64) = (0x5eed, 0xb0257);
/// `PERF_TYPE_RAW`: perf takes any number there, and needs no PMU to print the event.
const RAW: u32 = 4;
/// exclude_kernel and precise_ip = 3 (`struct perf_event_attr` of `include/uapi/linux/perf_event.h`).
const FLAGS: u64 = 1 << 5;
const PRECISE: u64 = 3 << 15;
/// `PERF_SAMPLE_BRANCH_ANY` and `PERF_SAMPLE_BRANCH_USER` of the same file.
const ANY_USER_BRANCH: u64 = 1 << 3 | 1;
/// A data source that knows the operation only (`PERF_MEM_NA` of the same file): level, snoop, lock, TLB and
/// the level's number are not available.
const OPERATION_ONLY: u64 = 1 << 5 | 1 << 19 | 1 << 24 | 1 << 26 | 0xf << 33;
/// `PERF_MEM_OP_LOAD` and `PERF_MEM_OP_STORE`.
const LOAD: u64 = 2;
const STORE: u64 = 4;
/// Without any stop for so long, threads that are stepped sleep in the kernel: the burst is over.
const STOP_TIMEOUT: Duration = Duration::from_millis(5);
/// How long threads are waited for in the end.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

/// Records a program by steps. Works in a thread of its own, whose end lets go of all that is still traced.
///
/// # Errors
/// If the program can't be run or traced, or nothing was sampled.
pub fn record(target: &RecordTarget, options: &StepOptions) -> Result<StepRecording, Error> {
    let mut signals = SignalWaiter::block().map_err(call_error("signalfd"))?;
    let recording = std::thread::scope(|scope| {
        let tracing = scope.spawn(|| Tracer::start(target, options, &mut signals)?.run(&mut signals));
        tracing.join().unwrap_or(Err(Error::Call { call: "trace", source: std::io::ErrorKind::Other.into() }))
    })?;
    if recording.samples == 0 {
        return Err(Error::NoSamples(no_samples_reason(&recording, options)));
    }
    Ok(recording)
}

fn no_samples_reason(recording: &StepRecording, options: &StepOptions) -> String {
    let end = &recording.end;
    let milliseconds = recording.lasted.as_millis();
    if recording.bursts > 0 {
        return format!("{} instructions were stepped in {milliseconds} ms, then {end}", recording.steps);
    }
    match (end, options.gap.is_zero()) {
        (RecordingEnd::Program(_), false) => format!(
            "{end} after {milliseconds} ms, before the first burst; step all of it with --gap 0, or give it more to do"
        ),
        _ => format!("no thread ran in {milliseconds} ms, then {end}; is the program waiting for something?"),
    }
}

fn call_error(call: &'static str) -> impl Fn(Errno) -> Error {
    move |source| Error::Call { call, source: source.into() }
}

struct TracedProcess {
    memory: Option<File>,
    code: DecodedCode,
}

struct Tracer {
    options: StepOptions,
    journal: Journal,
    /// Events of loads and of stores; both the same of branches.
    events: [EventIndex; 2],
    histories: BranchHistories,
    /// Where all is stepped.
    allocations: Option<Allocations>,
    threads: Threads,
    processes: FxHashMap<u32, TracedProcess>,
    /// The process asked for, and whether it was started here.
    main_pid: u32,
    is_started_here: bool,
    sample_intervals: RandomIntervals,
    until_sample: u64,
    burst_intervals: RandomIntervals,
    begin: Instant,
    next_burst: Instant,
    /// When the burst began, if one is.
    burst_begin: Option<Instant>,
    end: Option<RecordingEnd>,
    bursts: u64,
    steps: u64,
    accesses: u64,
    burst_duration: Duration,
}

impl Tracer {
    fn start(target: &RecordTarget, options: &StepOptions, waiter: &mut SignalWaiter) -> Result<Self, Error> {
        let (main, is_ours) = match target {
            RecordTarget::Program { holder, program, args } => {
                (launch::start_traced(holder, program, args)?.as_raw() as u32, true)
            }
            RecordTarget::Process(pid) => (*pid, false),
        };
        let now = Instant::now();
        let every = options.every.max(1);
        let mut journal = Journal::new();
        let attr = Attr { kind: RAW, period_or_frequency: every, flags: FLAGS, ..Attr::default() };
        let events = match options.branches {
            None => [("step-loads", LOAD), ("step-stores", STORE)].map(|(name, config)| {
                let attr = Attr { config, flags: FLAGS | PRECISE, ..attr.clone() };
                journal.add_event(name, &attr, SampleFields::ADDR | SampleFields::DATA_SRC)
            }),
            Some(_) => {
                let attr = Attr { branch_sample_type: ANY_USER_BRANCH, ..attr };
                [journal.add_event("step-branches", &attr, SampleFields::BRANCH_STACK); 2]
            }
        };
        let pause = u64::try_from(options.gap.as_micros()).unwrap_or(u64::MAX);
        let mut tracer = Self {
            options: *options,
            journal,
            events,
            histories: BranchHistories::new(options.branches.unwrap_or(0)),
            allocations: (options.gap.is_zero() && options.branches.is_none()).then(Allocations::default),
            threads: Threads::default(),
            processes: FxHashMap::default(),
            main_pid: main,
            is_started_here: is_ours,
            sample_intervals: RandomIntervals::new(every, SEEDS.0),
            until_sample: 1,
            burst_intervals: RandomIntervals::new(pause, SEEDS.1),
            begin: now,
            next_burst: now,
            burst_begin: None,
            end: None,
            bursts: 0,
            steps: 0,
            accesses: 0,
            burst_duration: Duration::ZERO,
        };
        tracer.until_sample = tracer.sample_intervals.draw();
        tracer.schedule_burst();
        if tracer.steps_everything() {
            (tracer.bursts, tracer.burst_begin) = (1, Some(tracer.begin));
        }
        match is_ours {
            true => tracer.trace_started(),
            false => tracer.seize_all(waiter)?,
        }
        Ok(tracer)
    }

    fn steps_everything(&self) -> bool {
        self.options.gap.is_zero()
    }

    fn schedule_burst(&mut self) {
        self.next_burst = Instant::now() + Duration::from_micros(self.burst_intervals.draw());
    }

    /// The state of a thread outside bursts.
    fn default_state(&self) -> ThreadState {
        if self.steps_everything() { ThreadState::Stepping { left: u64::MAX } } else { ThreadState::Running }
    }

    /// The program is stopped in front of its first instruction.
    fn trace_started(&mut self) {
        let who = self.threads.add(self.main_pid, self.main_pid, self.default_state());
        self.journal.write_exec(who);
        self.journal.update_mappings(who);
        self.resume(self.main_pid, None);
    }

    /// Seizes the threads of a process that runs, also those that begin meanwhile.
    fn seize_all(&mut self, signals: &mut SignalWaiter) -> Result<(), Error> {
        if tasks::process_id(self.main_pid) != Some(self.main_pid) {
            return Err(Error::NoProcess(self.main_pid));
        }
        loop {
            let mut is_new = false;
            for tid in tasks::threads(self.main_pid) {
                if self.threads.get(tid).is_none() {
                    is_new |= self.seize(tid)?;
                }
            }
            if !is_new || signals.is_interrupted() {
                return Ok(());
            }
        }
    }

    fn seize(&mut self, tid: u32) -> Result<bool, Error> {
        match ptrace::seize(pid(tid), launch::ptrace_options()) {
            // It ended meanwhile, or was seized when it was born.
            Err(Errno::ESRCH) => return Ok(false),
            Err(Errno::EPERM) if self.threads.get(tid).is_some() => return Ok(false),
            Err(error) => return Err(Error::Refused { pid: self.main_pid, source: error.into() }),
            Ok(()) => {}
        }
        let who = self.threads.add(tid, self.main_pid, ThreadState::Running);
        self.journal.write_comm(who);
        self.journal.update_mappings(who);
        if self.steps_everything() && ptrace::interrupt(pid(tid)).is_ok() {
            self.threads.set(tid, ThreadState::Interrupted);
        }
        Ok(true)
    }

    fn run(mut self, signals: &mut SignalWaiter) -> Result<StepRecording, Error> {
        while self.end.is_none() {
            self.update_burst();
            self.wait(signals)?;
            self.check_limits(signals);
        }
        self.release_threads(signals)?;
        let noted = self.allocations.take().map(Allocations::into_noted).unwrap_or_default();
        self.journal.write_allocations(&noted);
        let is_gone = self.threads.of_process(self.main_pid).next().is_none();
        Ok(StepRecording {
            samples: self.journal.samples(),
            allocations: noted.len() as u64,
            recording: self.journal.finish(),
            end: self.end.unwrap_or(RecordingEnd::Time),
            left_running: Some(self.main_pid).filter(|_| self.is_started_here && !is_gone),
            lasted: self.begin.elapsed(),
            burst_duration: self.burst_duration,
            bursts: self.bursts,
            steps: self.steps,
            accesses: self.accesses,
            threads: self.threads.all_steps(),
        })
    }

    fn check_limits(&mut self, signals: &SignalWaiter) {
        let limits = self.options.limits;
        let ends = [
            (signals.is_interrupted(), RecordingEnd::Interrupted),
            (self.journal.samples() >= limits.samples, RecordingEnd::Samples),
            (self.begin.elapsed() >= limits.time, RecordingEnd::Time),
        ];
        let end = ends.into_iter().find(|(is_over, _)| *is_over).map(|(_, end)| end);
        self.end = self.end.take().or(end);
    }

    /// Begins a burst when it is time, and ends one that is done.
    fn update_burst(&mut self) {
        if self.burst_begin.is_some() {
            if !self.threads.is_any_stepped() {
                self.end_burst();
            }
        } else if Instant::now() >= self.next_burst {
            self.begin_burst();
        }
    }

    fn begin_burst(&mut self) {
        let running: Vec<TracedThread> =
            self.threads.running().filter(|who| tasks::is_running(who.pid, who.tid)).collect();
        let mut processes: Vec<TracedThread> = running.clone();
        processes.dedup_by_key(|who| who.pid);
        for who in processes {
            // Code that is in no file may change in place.
            if self.journal.update_mappings(who) || self.journal.has_anonymous_code(who.pid) {
                self.clear_code(who.pid);
            }
        }
        let mut is_any = false;
        for who in running {
            self.threads.read_name(who);
            if ptrace::interrupt(pid(who.tid)).is_ok() {
                self.threads.set(who.tid, ThreadState::Interrupted);
                is_any = true;
            }
        }
        match is_any {
            true => {
                self.bursts += 1;
                self.burst_begin = Some(Instant::now());
            }
            false => self.schedule_burst(),
        }
    }

    fn end_burst(&mut self) {
        if let Some(began) = self.burst_begin.take() {
            self.burst_duration += began.elapsed();
        }
        self.schedule_burst();
    }

    fn clear_code(&mut self, process: u32) {
        if let Some(process) = self.processes.get_mut(&process) {
            process.code.clear();
        }
    }

    /// Waits for a stop and answers it.
    fn wait(&mut self, signals: &mut SignalWaiter) -> Result<(), Error> {
        let is_busy = self.burst_begin.is_some();
        let timeout = if is_busy { STOP_TIMEOUT } else { self.burst_timeout() };
        let next = match self.threads.has_immediate_stop() {
            true => signals.wait(),
            false => signals.wait_timeout(timeout),
        };
        match next {
            Ok(WaitStatus::StillAlive) if is_busy && !self.steps_everything() => self.end_burst(),
            Ok(status) => self.handle_status(status),
            Err(Errno::ECHILD) => self.end = Some(RecordingEnd::Program("ended".to_owned())),
            // The library knows no real-time signals.
            Err(Errno::EINVAL) => self.give_up_on_signal(),
            Err(error) => return Err(call_error("waitpid")(error)),
        }
        Ok(())
    }

    fn burst_timeout(&self) -> Duration {
        let left = self.options.limits.time.saturating_sub(self.begin.elapsed());
        self.next_burst.saturating_duration_since(Instant::now()).min(left).min(Duration::from_millis(50))
    }

    /// Resumes a stopped thread in its state. If it ended meanwhile, a report of that follows.
    fn resume(&mut self, tid: u32, signal: Option<Signal>) {
        let state = self.threads.get(tid).map_or(ThreadState::Running, |thread| thread.state);
        match state {
            ThreadState::Stepping { .. } if self.end.is_none() => {
                if signal.is_none() {
                    self.record_next_instruction(tid);
                }
                ptrace::step(pid(tid), signal).ok();
            }
            _ => {
                self.threads.set(tid, ThreadState::Running);
                ptrace::cont(pid(tid), signal).ok();
            }
        }
    }

    /// Decodes the next instruction of a thread and keeps its accesses.
    fn record_next_instruction(&mut self, tid: u32) {
        let Some(who) = self.threads.get(tid).map(|thread| thread.who) else { return };
        let Ok(user) = ptrace::getregs(pid(tid)) else { return };
        let step = self.next_instruction(who, user.rip);
        if self.options.branches.is_some() {
            self.record_branch(who, user.rip, step);
            return;
        }
        if let Some(allocations) = &mut self.allocations {
            let memory = self.processes.get(&who.pid).and_then(|process| process.memory.as_ref());
            allocations.step(who, &user, memory, &mut self.journal);
        }
        let StepInstruction { operands: touches, is_call, .. } = step;
        let mut pending = PendingAccesses { ip: user.rip, returns_at_once: !is_call, ..Default::default() };
        if touches.iter().any(Option::is_some) {
            let registers = registers(&user);
            for (to, memory) in pending.operands.iter_mut().zip(touches.iter().flatten()) {
                *to = registers.address(memory).map(|address| (address, memory.access));
            }
        }
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.pending = pending;
        }
    }

    fn next_instruction(&mut self, who: TracedThread, ip: u64) -> StepInstruction {
        let process = self.processes.entry(who.pid).or_insert_with(|| TracedProcess {
            memory: File::open(format!("/proc/{}/mem", who.pid)).ok(),
            code: DecodedCode::default(),
        });
        if let Some(known) = process.code.get(ip) {
            return known;
        }
        if !self.journal.has_code_at(who.pid, ip) && self.journal.update_mappings(who) {
            process.code.clear();
            self.allocations.iter_mut().for_each(|allocations| allocations.forget_code(who.pid));
        }
        let mut bytes = [0; MAX_INSTRUCTION_BYTES];
        let read = process.memory.as_ref().and_then(|memory| memory.read_at(&mut bytes, ip).ok());
        process.code.decode(ip, bytes.get(..read.unwrap_or(0)).unwrap_or_default())
    }

    /// Samples the accesses of an instruction that ran.
    fn sample_accesses(&mut self, who: TracedThread, pending: PendingAccesses) {
        for (address, access) in pending.operands.into_iter().flatten() {
            let [loads, stores] = self.events;
            for (is_access, event, operation) in
                [(access.is_read(), loads, LOAD), (access.is_write(), stores, STORE)]
            {
                if is_access && self.draw_sample() {
                    let sample = JournalSample {
                        who,
                        time: None,
                        ip: pending.ip,
                        is_exact: true,
                        in_kernel: false,
                        address,
                        period: self.options.every.max(1),
                        data_source: OPERATION_ONLY | operation,
                    };
                    self.journal.write_sample(event, &sample);
                }
            }
        }
    }

    /// A thread goes on with an instruction. If a branch led there, it may become a sample.
    fn record_branch(&mut self, who: TracedThread, ip: u64, step: StepInstruction) {
        let is_branch = self.histories.push(who.tid, ip, step).is_some();
        if is_branch && self.draw_sample() {
            let branches = self.histories.branches(who.tid);
            let [event, _] = self.events;
            self.journal.write_branch_sample(event, who, ip, self.options.every.max(1), branches);
        }
        if let Some(thread) = self.threads.get_mut(who.tid) {
            thread.pending = PendingAccesses { ip, returns_at_once: !step.is_call, ..Default::default() };
        }
    }

    /// Whether the next access becomes a sample.
    fn draw_sample(&mut self) -> bool {
        self.accesses += 1;
        self.until_sample = self.until_sample.saturating_sub(1);
        let is_drawn = self.until_sample == 0;
        if is_drawn {
            self.until_sample = self.sample_intervals.draw();
        }
        is_drawn
    }

    /// A signal came that can't be passed on: its thread must be detached without it.
    fn give_up_on_signal(&mut self) {
        let stopped = self.threads.all().find_map(|who| {
            let number = ptrace::getsiginfo(pid(who.tid)).ok()?.si_signo;
            Signal::try_from(number).is_err().then_some((who.tid, number))
        });
        if let Some((tid, number)) = stopped {
            ptrace::detach(pid(tid), None).ok();
            self.threads.remove(tid);
            self.end = Some(RecordingEnd::Signal(number));
        }
    }

    /// Lets all threads run freely. The end of this thread then lets go of them without a stop: a stop would
    /// cut calls short that they sleep in.
    fn release_threads(&mut self, signals: &mut SignalWaiter) -> Result<(), Error> {
        let began = Instant::now();
        if let Some(burst) = self.burst_begin.take() {
            self.burst_duration += burst.elapsed();
        }
        let mut is_interrupted = false;
        while self.threads.is_any_stepped() && began.elapsed() < RELEASE_TIMEOUT {
            match signals.wait_timeout(STOP_TIMEOUT) {
                Ok(WaitStatus::StillAlive) if !is_interrupted => {
                    is_interrupted = true;
                    self.threads.stepped().for_each(|tid| {
                        ptrace::interrupt(pid(tid)).ok();
                    });
                }
                Ok(status) => self.handle_status(status),
                Err(Errno::ECHILD) => break,
                Err(Errno::EINVAL) => self.give_up_on_signal(),
                Err(error) => return Err(call_error("waitpid")(error)),
            }
        }
        Ok(())
    }
}

fn pid(tid: u32) -> Pid {
    Pid::from_raw(tid as i32)
}

fn raw_id(pid: Pid) -> u32 {
    pid.as_raw() as u32
}
