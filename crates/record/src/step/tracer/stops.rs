//! What traced threads report: that they ended, stopped by a signal or after a step, began others or a program.

use super::{Tracer, pid, raw};
use crate::End;
use crate::process::tasks;
use crate::step::threads::{Pending, State};
use nix::sys::ptrace::{self, Event};
use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;

impl Tracer {
    /// Goes on from what a thread reports.
    pub(super) fn answer(&mut self, status: WaitStatus) {
        match status {
            WaitStatus::Exited(tid, code) => self.gone(raw(tid), || format!("ended with exit code {code}")),
            WaitStatus::Signaled(tid, signal, _) => self.gone(raw(tid), || format!("was killed by {signal}")),
            WaitStatus::Stopped(tid, signal) => self.stopped(raw(tid), signal),
            WaitStatus::PtraceEvent(tid, _, event) => self.happened(raw(tid), event),
            _ => {}
        }
    }

    fn gone(&mut self, tid: u32, how: impl FnOnce() -> String) {
        self.histories.forget(tid);
        if let Some(who) = self.threads.remove(tid) {
            self.journal.ended(who);
            if self.threads.of_process(who.pid).next().is_none() {
                self.processes.remove(&who.pid);
            }
        }
        if tid == self.main {
            self.end = Some(End::Program(how()));
        }
    }

    /// A thread stopped because of a signal, or after a step.
    fn stopped(&mut self, tid: u32, signal: Signal) {
        let Some(thread) = self.threads.get_mut(tid) else {
            ptrace::cont(pid(tid), signal).ok();
            return;
        };
        match (thread.state, signal) {
            (State::Stepping { left }, Signal::SIGTRAP) => {
                thread.state = if left <= 1 { State::Free } else { State::Stepping { left: left - 1 } };
                let (who, pending) = (thread.who, std::mem::take(&mut thread.pending));
                self.steps += 1;
                self.commit(who, pending);
                self.go_on(tid, None);
            }
            _ => {
                // The instruction that was about to run may run again, after the signal's function.
                thread.pending = Pending::default();
                self.called(tid);
                self.go_on(tid, Some(signal));
            }
        }
    }

    /// A thread that was called has stopped.
    fn called(&mut self, tid: u32) {
        self.histories.forget(tid);
        let left = if self.steps_all() { u64::MAX } else { self.options.burst };
        if let Some(thread) = self.threads.get_mut(tid)
            && thread.state == State::Called
        {
            thread.state = State::Stepping { left };
        }
    }

    fn happened(&mut self, tid: u32, event: i32) {
        const BIRTHS: [i32; 3] = [
            Event::PTRACE_EVENT_CLONE as i32,
            Event::PTRACE_EVENT_FORK as i32,
            Event::PTRACE_EVENT_VFORK as i32,
        ];
        if BIRTHS.contains(&event) {
            if let Ok(born) = ptrace::getevent(pid(tid)) {
                self.born(born as u32, tid);
            }
        } else if event == Event::PTRACE_EVENT_EXEC as i32 {
            self.executed(tid);
        } else if self.threads.get(tid).is_none() {
            // Born, and faster than the news of it.
            self.threads.early.insert(tid);
            return;
        }
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.pending = Pending::default();
        }
        self.called(tid);
        self.go_on(tid, None);
    }

    /// A thread is there that another began.
    fn born(&mut self, tid: u32, parent: u32) {
        let Some(parent) = self.threads.get(parent).map(|thread| thread.who) else { return };
        if self.threads.get(tid).is_some() {
            return;
        }
        let process = tasks::process_of(tid).unwrap_or(tid);
        let who = self.threads.add(tid, process, self.idle_state());
        self.journal.began(who, parent);
        if self.threads.early.remove(&tid) {
            self.go_on(tid, None);
        }
    }

    /// All other threads of the process are gone, and the one left has the process's number.
    fn executed(&mut self, process: u32) {
        let state = self.threads.get(process).map_or(State::Free, |thread| thread.state);
        let gone: Vec<u32> = self.threads.of_process(process).map(|who| who.tid).collect();
        gone.into_iter().for_each(|tid| {
            self.threads.remove(tid);
        });
        self.processes.remove(&process);
        let who = self.threads.add(process, process, state);
        self.journal.executed(who);
        self.journal.look(who);
    }
}
