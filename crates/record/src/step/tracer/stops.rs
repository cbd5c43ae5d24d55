//! Reports of traced threads: that they ended, stopped by a signal or after a step, began others or a
//! program.

use super::{Tracer, pid, raw_id};
use crate::RecordingEnd;
use crate::process::tasks;
use crate::step::threads::{PendingAccesses, ThreadState};
use nix::sys::ptrace::{self, Event};
use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;

impl Tracer {
    /// Handles a thread's report.
    pub(super) fn handle_status(&mut self, status: WaitStatus) {
        match status {
            WaitStatus::Exited(tid, code) => {
                self.handle_exit(raw_id(tid), || format!("ended with exit code {code}"))
            }
            WaitStatus::Signaled(tid, signal, _) => {
                self.handle_exit(raw_id(tid), || format!("was killed by {signal}"))
            }
            WaitStatus::Stopped(tid, signal) => self.handle_stop(raw_id(tid), signal),
            WaitStatus::PtraceEvent(tid, _, event) => self.handle_event(raw_id(tid), event),
            _ => {}
        }
    }

    fn handle_exit(&mut self, tid: u32, how: impl FnOnce() -> String) {
        self.histories.clear(tid);
        self.allocations.iter_mut().for_each(|allocations| allocations.forget_calls(tid));
        if let Some(who) = self.threads.remove(tid) {
            self.journal.write_exit(who);
            if self.threads.of_process(who.pid).next().is_none() {
                self.processes.remove(&who.pid);
            }
        }
        if tid == self.main_pid {
            self.end = Some(RecordingEnd::Program(how()));
        }
    }

    /// A thread stopped because of a signal, or after a step.
    fn handle_stop(&mut self, tid: u32, signal: Signal) {
        let Some(thread) = self.threads.get_mut(tid) else {
            ptrace::cont(pid(tid), signal).ok();
            return;
        };
        match (thread.state, signal) {
            (ThreadState::Stepping { left }, Signal::SIGTRAP) => {
                thread.state =
                    if left <= 1 { ThreadState::Running } else { ThreadState::Stepping { left: left - 1 } };
                let (who, pending) = (thread.who, std::mem::take(&mut thread.pending));
                thread.steps += 1;
                self.steps += 1;
                self.sample_accesses(who, pending);
                self.resume(tid, None);
            }
            _ => {
                // The instruction that was about to run may run again, after the signal's function.
                thread.pending = PendingAccesses::default();
                self.begin_stepping(tid);
                self.resume(tid, Some(signal));
            }
        }
    }

    /// A thread that was called has stopped.
    fn begin_stepping(&mut self, tid: u32) {
        self.histories.clear(tid);
        let left = if self.steps_everything() { u64::MAX } else { self.options.burst };
        if let Some(thread) = self.threads.get_mut(tid)
            && thread.state == ThreadState::Interrupted
        {
            thread.state = ThreadState::Stepping { left };
        }
    }

    fn handle_event(&mut self, tid: u32, event: i32) {
        const BIRTHS: [i32; 3] = [
            Event::PTRACE_EVENT_CLONE as i32,
            Event::PTRACE_EVENT_FORK as i32,
            Event::PTRACE_EVENT_VFORK as i32,
        ];
        if BIRTHS.contains(&event) {
            if let Ok(born) = ptrace::getevent(pid(tid)) {
                self.add_thread(born as u32, tid);
            }
        } else if event == Event::PTRACE_EVENT_EXEC as i32 {
            self.handle_exec(tid);
        } else if self.threads.get(tid).is_none() {
            // Born, and faster than the news of it.
            self.threads.stopped_before_birth.insert(tid);
            return;
        }
        if let Some(thread) = self.threads.get_mut(tid) {
            thread.pending = PendingAccesses::default();
        }
        self.begin_stepping(tid);
        self.resume(tid, None);
    }

    /// A thread is there that another began.
    fn add_thread(&mut self, tid: u32, parent: u32) {
        let Some(parent) = self.threads.get(parent).map(|thread| thread.who) else { return };
        if self.threads.get(tid).is_some() {
            return;
        }
        let process = tasks::process_id(tid).unwrap_or(tid);
        let who = self.threads.add(tid, process, self.default_state());
        self.journal.write_fork(who, parent);
        if let Some(allocations) = self.allocations.as_mut().filter(|_| who.pid != parent.pid) {
            allocations.copy_process(parent.pid, who.pid, self.journal.next_time());
        }
        if self.threads.stopped_before_birth.remove(&tid) {
            self.resume(tid, None);
        }
    }

    /// All other threads of the process are gone, and the one left has the process's number.
    fn handle_exec(&mut self, process: u32) {
        let state = self.threads.get(process).map_or(ThreadState::Running, |thread| thread.state);
        let gone: Vec<u32> = self.threads.of_process(process).map(|who| who.tid).collect();
        gone.into_iter().for_each(|tid| {
            self.threads.remove(tid);
            self.allocations.iter_mut().for_each(|allocations| allocations.forget_calls(tid));
        });
        self.processes.remove(&process);
        if let Some(allocations) = &mut self.allocations {
            allocations.end_process(process, self.journal.next_time());
        }
        let who = self.threads.add(process, process, state);
        self.journal.write_exec(who);
        self.journal.update_mappings(who);
    }
}
