//! The threads that are traced.

use super::address::Registers;
use crate::options::ThreadSteps;
use crate::process::journal::TracedThread;
use crate::process::tasks;
use fieldline_machinecode::machine::AccessKind;
use nix::libc::user_regs_struct;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadState {
    /// It runs.
    Running,
    /// It was interrupted and will stop.
    Interrupted,
    /// It is stepped, by so many more instructions.
    Stepping { left: u64 },
}

/// The accesses that an instruction is about to make.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PendingAccesses {
    pub(super) ip: u64,
    /// It can't sleep in the kernel, so the step is over at once.
    pub(super) returns_at_once: bool,
    pub(super) operands: [Option<(u64, AccessKind)>; 2],
}

/// A thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct TracedThreadState {
    pub(super) who: TracedThread,
    pub(super) state: ThreadState,
    pub(super) pending: PendingAccesses,
    /// Instructions stepped.
    pub(super) steps: u64,
}

/// All threads, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Threads {
    all: FxHashMap<u32, TracedThreadState>,
    /// Numbers in use: each thread has the smallest that was free when it began.
    numbers: BTreeSet<u32>,
    /// Threads that stopped before the news of their birth.
    pub(super) stopped_before_birth: FxHashSet<u32>,
    /// Steps and names of threads that ended.
    ended: Vec<ThreadSteps>,
    /// Names, as last seen.
    names: FxHashMap<u32, String>,
}

impl Threads {
    pub(super) fn add(&mut self, tid: u32, pid: u32, state: ThreadState) -> TracedThread {
        let number = self.numbers.iter().zip(0..).find(|(used, number)| **used != *number);
        let number = number.map_or(self.numbers.len() as u32, |(_, number)| number);
        self.numbers.insert(number);
        let who = TracedThread { pid, tid, number };
        self.all.insert(tid, TracedThreadState { who, state, pending: PendingAccesses::default(), steps: 0 });
        self.read_name(who);
        who
    }

    pub(super) fn remove(&mut self, tid: u32) -> Option<TracedThread> {
        self.stopped_before_birth.remove(&tid);
        let thread = self.all.remove(&tid)?;
        self.numbers.remove(&thread.who.number);
        let name = self.names.remove(&tid).unwrap_or_default();
        self.ended.push(ThreadSteps { tid, name, steps: thread.steps });
        Some(thread.who)
    }

    /// Reads the name of a thread, which it may change.
    pub(super) fn read_name(&mut self, who: TracedThread) {
        let name = tasks::thread_name(who.pid, who.tid);
        if !name.is_empty() {
            self.names.insert(who.tid, name);
        }
    }

    /// The steps of all threads there ever were, by thread.
    pub(super) fn all_steps(&self) -> Vec<ThreadSteps> {
        let name = |tid: u32| self.names.get(&tid).cloned().unwrap_or_default();
        let running = self.all.iter().map(|(tid, thread)| ThreadSteps {
            tid: *tid,
            name: name(*tid),
            steps: thread.steps,
        });
        let mut all: Vec<ThreadSteps> = running.chain(self.ended.iter().cloned()).collect();
        all.sort_by_key(|thread| thread.tid);
        all
    }

    pub(super) fn get(&self, tid: u32) -> Option<&TracedThreadState> {
        self.all.get(&tid)
    }

    pub(super) fn get_mut(&mut self, tid: u32) -> Option<&mut TracedThreadState> {
        self.all.get_mut(&tid)
    }

    pub(super) fn set(&mut self, tid: u32, state: ThreadState) {
        if let Some(thread) = self.all.get_mut(&tid) {
            thread.state = state;
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = TracedThread> {
        let mut all: Vec<TracedThread> = self.all.values().map(|thread| thread.who).collect();
        all.sort_by_key(|who| (who.pid, who.tid));
        all.into_iter()
    }

    /// Those that run freely, in order of their numbers.
    pub(super) fn running(&self) -> impl Iterator<Item = TracedThread> {
        self.all().filter(|who| self.get(who.tid).is_some_and(|thread| thread.state == ThreadState::Running))
    }

    pub(super) fn of_process(&self, pid: u32) -> impl Iterator<Item = TracedThread> {
        self.all().filter(move |who| who.pid == pid)
    }

    /// Those that are stepped or about to be.
    pub(super) fn stepped(&self) -> impl Iterator<Item = u32> {
        self.all.values().filter(|thread| thread.state != ThreadState::Running).map(|thread| thread.who.tid)
    }

    /// Whether any is stepped or about to be.
    pub(super) fn is_any_stepped(&self) -> bool {
        self.stepped().next().is_some()
    }

    /// Whether any is stepped and will stop at once.
    pub(super) fn has_immediate_stop(&self) -> bool {
        let is_stepping = |thread: &TracedThreadState| matches!(thread.state, ThreadState::Stepping { .. });
        self.all.values().any(|thread| is_stepping(thread) && thread.pending.returns_at_once)
    }
}

/// Registers in the order of instruction encodings.
pub(super) fn registers(user: &user_regs_struct) -> Registers {
    Registers {
        general: [
            user.rax, user.rcx, user.rdx, user.rbx, user.rsp, user.rbp, user.rsi, user.rdi, user.r8, user.r9,
            user.r10, user.r11, user.r12, user.r13, user.r14, user.r15,
        ],
        fs_base: user.fs_base,
        gs_base: user.gs_base,
    }
}

/// An argument of the function that is about to run, by its index (System V ABI for x86-64, section 3.2.3).
pub(super) fn argument(registers: &user_regs_struct, index: usize) -> u64 {
    [registers.rdi, registers.rsi, registers.rdx].get(index).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_the_smallest_free_number() {
        let mut threads = Threads::default();
        let numbers: Vec<u32> =
            (10..13).map(|tid| threads.add(tid, 10, ThreadState::Running).number).collect();
        assert_eq!(numbers, [0, 1, 2]);
        threads.remove(11);
        assert_eq!(threads.add(20, 10, ThreadState::Running).number, 1);
        assert_eq!(threads.add(21, 10, ThreadState::Running).number, 3);
        assert_eq!(threads.all_steps().len(), 5);
    }

    #[test]
    fn threads_are_listed_by_state() {
        let mut threads = Threads::default();
        threads.add(12, 10, ThreadState::Running);
        threads.add(11, 10, ThreadState::Running);
        assert!(!threads.is_any_stepped());
        threads.set(12, ThreadState::Interrupted);
        assert!(threads.is_any_stepped());
        assert_eq!(threads.running().map(|who| who.tid).collect::<Vec<_>>(), [11]);
        threads.set(12, ThreadState::Stepping { left: 3 });
        assert_eq!(threads.stepped().collect::<Vec<_>>(), [12]);
        threads.stopped_before_birth.insert(12);
        assert_eq!(threads.remove(12).map(|who| who.tid), Some(12));
        assert!(threads.stopped_before_birth.is_empty() && threads.remove(12).is_none());
        assert_eq!(threads.all().map(|who| who.tid).collect::<Vec<_>>(), [11]);
    }
}
