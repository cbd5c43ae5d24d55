//! Steps a program, in bursts, and notes what each instruction is about to touch.
//!
//! Between bursts threads run freely. A burst interrupts those that run (`PTRACE_INTERRUPT`), never those that sleep in the
//! kernel, whose calls would return early; steps each by some instructions; and lets them go. So the share of samples of a
//! piece of code is its share of the time, as with a timer. See `ptrace(2)` for what stops and when.

mod stops;

use super::history::Histories;
use super::launch;
use super::threads::{Pending, State, Threads, registers};
use super::touches::{Code, LONGEST, Step};
use crate::gaps::Gaps;
use crate::process::journal::{Caught, Journal, Who};
use crate::process::signals::Signals;
use crate::process::tasks;
use crate::{End, Error, RecordTarget, StepOptions, Taken};
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
/// A data source that knows the operation only (`PERF_MEM_NA` of the same file): level, snoop, lock, TLB and the level's
/// number are not available.
const SOURCE: u64 = 1 << 5 | 1 << 19 | 1 << 24 | 1 << 26 | 0xf << 33;
/// `PERF_MEM_OP_LOAD` and `PERF_MEM_OP_STORE`.
const LOAD: u64 = 2;
const STORE: u64 = 4;
/// Without any stop for so long, threads that are stepped sleep in the kernel: the burst is over.
const QUIET: Duration = Duration::from_millis(5);
/// How long threads are waited for in the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Records a program by steps. Works in a thread of its own, whose end lets go of all that is still traced.
///
/// # Errors
/// If the program can't be run or traced, or nothing was sampled.
pub fn record(target: &RecordTarget, options: &StepOptions) -> Result<Taken, Error> {
    let mut signals = Signals::catch().map_err(call("signalfd"))?;
    let taken = std::thread::scope(|scope| {
        let tracing = scope.spawn(|| Tracer::start(target, options, &mut signals)?.run(&mut signals));
        tracing.join().unwrap_or(Err(Error::Call { call: "trace", source: std::io::ErrorKind::Other.into() }))
    })?;
    if taken.samples == 0 {
        return Err(Error::NoSamples(why_none(&taken, options)));
    }
    Ok(taken)
}

fn why_none(taken: &Taken, options: &StepOptions) -> String {
    let end = &taken.end;
    let milliseconds = taken.lasted.as_millis();
    if taken.bursts > 0 {
        return format!("{} instructions were stepped in {milliseconds} ms, then {end}", taken.steps);
    }
    match (end, options.gap.is_zero()) {
        (End::Program(_), false) => format!(
            "{end} after {milliseconds} ms, before the first burst; step all of it with --gap 0, or give it more to do"
        ),
        _ => format!("no thread ran in {milliseconds} ms, then {end}; is the program waiting for something?"),
    }
}

fn call(call: &'static str) -> impl Fn(Errno) -> Error {
    move |source| Error::Call { call, source: source.into() }
}

struct Process {
    memory: Option<File>,
    code: Code,
}

struct Tracer {
    options: StepOptions,
    journal: Journal,
    /// Events of loads and of stores; both the same of branches.
    events: [EventIndex; 2],
    histories: Histories,
    threads: Threads,
    processes: FxHashMap<u32, Process>,
    /// The process asked for, and whether it was started here.
    main: u32,
    is_ours: bool,
    skips: Gaps,
    skip: u64,
    pauses: Gaps,
    begin: Instant,
    next_burst: Instant,
    /// When the burst began, if one is.
    burst: Option<Instant>,
    end: Option<End>,
    bursts: u64,
    steps: u64,
    accesses: u64,
    in_bursts: Duration,
}

impl Tracer {
    fn start(target: &RecordTarget, options: &StepOptions, signals: &mut Signals) -> Result<Self, Error> {
        let (main, is_ours) = match target {
            RecordTarget::Program { holder, program, args } => {
                (launch::start(holder, program, args)?.as_raw() as u32, true)
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
                journal.event(name, &attr, SampleFields::ADDR | SampleFields::DATA_SRC)
            }),
            Some(_) => {
                let attr = Attr { branch_sample_type: ANY_USER_BRANCH, ..attr };
                [journal.event("step-branches", &attr, SampleFields::BRANCH_STACK); 2]
            }
        };
        let pause = u64::try_from(options.gap.as_micros()).unwrap_or(u64::MAX);
        let mut tracer = Self {
            options: *options,
            journal,
            events,
            histories: Histories::new(options.branches.unwrap_or(0)),
            threads: Threads::default(),
            processes: FxHashMap::default(),
            main,
            is_ours,
            skips: Gaps::new(every, SEEDS.0),
            skip: 1,
            pauses: Gaps::new(pause, SEEDS.1),
            begin: now,
            next_burst: now,
            burst: None,
            end: None,
            bursts: 0,
            steps: 0,
            accesses: 0,
            in_bursts: Duration::ZERO,
        };
        tracer.skip = tracer.skips.draw();
        tracer.plan_burst();
        if tracer.steps_all() {
            (tracer.bursts, tracer.burst) = (1, Some(tracer.begin));
        }
        match is_ours {
            true => tracer.adopt_started(),
            false => tracer.seize_all(signals)?,
        }
        Ok(tracer)
    }

    fn steps_all(&self) -> bool {
        self.options.gap.is_zero()
    }

    fn plan_burst(&mut self) {
        self.next_burst = Instant::now() + Duration::from_micros(self.pauses.draw());
    }

    /// What a thread does when nothing is asked of it.
    fn idle_state(&self) -> State {
        if self.steps_all() { State::Stepping { left: u64::MAX } } else { State::Free }
    }

    /// The program stands in front of its first instruction.
    fn adopt_started(&mut self) {
        let who = self.threads.add(self.main, self.main, self.idle_state());
        self.journal.executed(who);
        self.journal.look(who);
        self.go_on(self.main, None);
    }

    /// Seizes the threads of a process that runs, also those that begin meanwhile.
    fn seize_all(&mut self, signals: &mut Signals) -> Result<(), Error> {
        if tasks::process_of(self.main) != Some(self.main) {
            return Err(Error::NoProcess(self.main));
        }
        loop {
            let mut is_new = false;
            for tid in tasks::threads(self.main) {
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
        match ptrace::seize(pid(tid), launch::events()) {
            // It ended meanwhile, or was seized when it was born.
            Err(Errno::ESRCH) => return Ok(false),
            Err(Errno::EPERM) if self.threads.get(tid).is_some() => return Ok(false),
            Err(error) => return Err(Error::Refused { pid: self.main, source: error.into() }),
            Ok(()) => {}
        }
        let who = self.threads.add(tid, self.main, State::Free);
        self.journal.named(who);
        self.journal.look(who);
        if self.steps_all() && ptrace::interrupt(pid(tid)).is_ok() {
            self.threads.set(tid, State::Called);
        }
        Ok(true)
    }

    fn run(mut self, signals: &mut Signals) -> Result<Taken, Error> {
        while self.end.is_none() {
            self.burst();
            self.wait(signals)?;
            self.check_limits(signals);
        }
        self.let_go(signals)?;
        let is_gone = self.threads.of_process(self.main).next().is_none();
        Ok(Taken {
            samples: self.journal.samples(),
            recording: self.journal.finish(),
            end: self.end.unwrap_or(End::Time),
            left_running: Some(self.main).filter(|_| self.is_ours && !is_gone),
            lasted: self.begin.elapsed(),
            in_bursts: self.in_bursts,
            bursts: self.bursts,
            steps: self.steps,
            accesses: self.accesses,
            threads: self.threads.seen,
        })
    }

    fn check_limits(&mut self, signals: &Signals) {
        let limits = self.options.limits;
        let ends = [
            (signals.is_interrupted(), End::Interrupted),
            (self.journal.samples() >= limits.samples, End::Samples),
            (self.begin.elapsed() >= limits.time, End::Time),
        ];
        let end = ends.into_iter().find(|(is_over, _)| *is_over).map(|(_, end)| end);
        self.end = self.end.take().or(end);
    }

    /// Begins a burst when it is time, and ends one that is done.
    fn burst(&mut self) {
        if self.burst.is_some() {
            if !self.threads.is_any_stepped() {
                self.end_burst();
            }
        } else if Instant::now() >= self.next_burst {
            self.begin_burst();
        }
    }

    fn begin_burst(&mut self) {
        let running: Vec<Who> =
            self.threads.free().filter(|who| tasks::is_running(who.pid, who.tid)).collect();
        let mut processes: Vec<Who> = running.clone();
        processes.dedup_by_key(|who| who.pid);
        for who in processes {
            // Code that is in no file may change where it stands.
            if self.journal.look(who) || self.journal.has_code_in_no_file(who.pid) {
                self.forget_code(who.pid);
            }
        }
        let mut is_any = false;
        for who in running {
            if ptrace::interrupt(pid(who.tid)).is_ok() {
                self.threads.set(who.tid, State::Called);
                is_any = true;
            }
        }
        match is_any {
            true => {
                self.bursts += 1;
                self.burst = Some(Instant::now());
            }
            false => self.plan_burst(),
        }
    }

    fn end_burst(&mut self) {
        if let Some(began) = self.burst.take() {
            self.in_bursts += began.elapsed();
        }
        self.plan_burst();
    }

    fn forget_code(&mut self, process: u32) {
        if let Some(process) = self.processes.get_mut(&process) {
            process.code.clear();
        }
    }

    /// Waits for a stop and answers it.
    fn wait(&mut self, signals: &mut Signals) -> Result<(), Error> {
        let is_busy = self.burst.is_some();
        let longest = if is_busy { QUIET } else { self.until_burst() };
        let next = match self.threads.is_any_prompt() {
            true => signals.next_at_once(),
            false => signals.next(longest),
        };
        match next {
            Ok(WaitStatus::StillAlive) if is_busy && !self.steps_all() => self.end_burst(),
            Ok(status) => self.answer(status),
            Err(Errno::ECHILD) => self.end = Some(End::Program("ended".to_owned())),
            // The library knows no real-time signals.
            Err(Errno::EINVAL) => self.give_up_on_signal(),
            Err(error) => return Err(call("waitpid")(error)),
        }
        Ok(())
    }

    fn until_burst(&self) -> Duration {
        let left = self.options.limits.time.saturating_sub(self.begin.elapsed());
        self.next_burst.saturating_duration_since(Instant::now()).min(left).min(Duration::from_millis(50))
    }

    /// Lets a stopped thread do what it is to do next. That it ended meanwhile will be told.
    fn go_on(&mut self, tid: u32, signal: Option<Signal>) {
        let state = self.threads.get(tid).map_or(State::Free, |thread| thread.state);
        match state {
            State::Stepping { .. } if self.end.is_none() => {
                if signal.is_none() {
                    self.prepare(tid);
                }
                ptrace::step(pid(tid), signal).ok();
            }
            _ => {
                self.threads.set(tid, State::Free);
                ptrace::cont(pid(tid), signal).ok();
            }
        }
    }

    /// Finds out what a thread is about to touch.
    fn prepare(&mut self, tid: u32) {
        let Some(who) = self.threads.get(tid).map(|thread| thread.who) else { return };
        let Ok(user) = ptrace::getregs(pid(tid)) else { return };
        let step = self.step(who, user.rip);
        if self.options.branches.is_some() {
            self.note_branch(who, user.rip, step);
            return;
        }
        let Step { touches, is_call, .. } = step;
        let mut pending = Pending { ip: user.rip, is_prompt: !is_call, ..Pending::default() };
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

    fn step(&mut self, who: Who, ip: u64) -> Step {
        let process = self.processes.entry(who.pid).or_insert_with(|| Process {
            memory: File::open(format!("/proc/{}/mem", who.pid)).ok(),
            code: Code::default(),
        });
        if let Some(known) = process.code.known(ip) {
            return known;
        }
        if !self.journal.knows(who.pid, ip) && self.journal.look(who) {
            process.code.clear();
        }
        let mut bytes = [0; LONGEST];
        let read = process.memory.as_ref().and_then(|memory| memory.read_at(&mut bytes, ip).ok());
        process.code.learn(ip, bytes.get(..read.unwrap_or(0)).unwrap_or_default())
    }

    /// The instruction ran: what it touched are accesses.
    fn commit(&mut self, who: Who, pending: Pending) {
        for (address, access) in pending.operands.into_iter().flatten() {
            let [loads, stores] = self.events;
            for (is, event, operation) in
                [(access.is_read(), loads, LOAD), (access.is_write(), stores, STORE)]
            {
                if is && self.is_drawn() {
                    let caught = Caught {
                        who,
                        time: None,
                        ip: pending.ip,
                        is_exact: true,
                        in_kernel: false,
                        address,
                        period: self.options.every.max(1),
                        data_source: SOURCE | operation,
                    };
                    self.journal.sample(event, &caught);
                }
            }
        }
    }

    /// A thread goes on with an instruction. If a branch led there, it may become a sample.
    fn note_branch(&mut self, who: Who, ip: u64, step: Step) {
        let is_branch = self.histories.note(who.tid, ip, step).is_some();
        if is_branch && self.is_drawn() {
            let branches = self.histories.branches(who.tid);
            let [event, _] = self.events;
            self.journal.branches(event, who, ip, self.options.every.max(1), branches);
        }
        if let Some(thread) = self.threads.get_mut(who.tid) {
            thread.pending = Pending { ip, is_prompt: !step.is_call, ..Pending::default() };
        }
    }

    /// Whether the next access becomes a sample.
    fn is_drawn(&mut self) -> bool {
        self.accesses += 1;
        self.skip = self.skip.saturating_sub(1);
        let is_drawn = self.skip == 0;
        if is_drawn {
            self.skip = self.skips.draw();
        }
        is_drawn
    }

    /// A signal came that can't be passed on: whoever got it must be let go without.
    fn give_up_on_signal(&mut self) {
        let stopped = self.threads.all().find_map(|who| {
            let number = ptrace::getsiginfo(pid(who.tid)).ok()?.si_signo;
            Signal::try_from(number).is_err().then_some((who.tid, number))
        });
        if let Some((tid, number)) = stopped {
            ptrace::detach(pid(tid), None).ok();
            self.threads.remove(tid);
            self.end = Some(End::Signal(number));
        }
    }

    /// Lets all threads run freely. The end of this thread then lets go of them without a stop: a stop would cut calls short
    /// that they sleep in.
    fn let_go(&mut self, signals: &mut Signals) -> Result<(), Error> {
        let began = Instant::now();
        if let Some(burst) = self.burst.take() {
            self.in_bursts += burst.elapsed();
        }
        let mut is_called = false;
        while self.threads.is_any_stepped() && began.elapsed() < PATIENCE {
            match signals.next(QUIET) {
                Ok(WaitStatus::StillAlive) if !is_called => {
                    is_called = true;
                    self.threads.stepped().for_each(|tid| {
                        ptrace::interrupt(pid(tid)).ok();
                    });
                }
                Ok(status) => self.answer(status),
                Err(Errno::ECHILD) => break,
                Err(Errno::EINVAL) => self.give_up_on_signal(),
                Err(error) => return Err(call("waitpid")(error)),
            }
        }
        Ok(())
    }
}

fn pid(tid: u32) -> Pid {
    Pid::from_raw(tid as i32)
}

fn raw(pid: Pid) -> u32 {
    pid.as_raw() as u32
}
