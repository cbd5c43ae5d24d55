//! The threads that are traced.

use super::address::Registers;
use crate::process::journal::Who;
use fieldline_machinecode::machine::AccessKind;
use nix::libc::user_regs_struct;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It runs.
    Free,
    /// It was interrupted and will stop.
    Called,
    /// It is stepped, by so many more instructions.
    Stepping { left: u64 },
}

/// What an instruction touches once it runs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pending {
    pub(super) ip: u64,
    /// It can't sleep in the kernel, so the step is over at once.
    pub(super) is_prompt: bool,
    pub(super) operands: [Option<(u64, AccessKind)>; 2],
}

/// A thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    pub(super) who: Who,
    pub(super) state: State,
    pub(super) pending: Pending,
}

/// All threads, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Threads {
    all: FxHashMap<u32, Thread>,
    /// Numbers in use: each thread has the smallest that was free when it began.
    numbers: BTreeSet<u32>,
    /// Threads that stopped before the news of their birth.
    pub(super) early: FxHashSet<u32>,
    /// How many there ever were.
    pub(super) seen: u64,
}

impl Threads {
    pub(super) fn add(&mut self, tid: u32, pid: u32, state: State) -> Who {
        let number = self.numbers.iter().zip(0..).find(|(used, number)| **used != *number);
        let number = number.map_or(self.numbers.len() as u32, |(_, number)| number);
        self.numbers.insert(number);
        let who = Who { pid, tid, number };
        self.all.insert(tid, Thread { who, state, pending: Pending::default() });
        self.seen += 1;
        who
    }

    pub(super) fn remove(&mut self, tid: u32) -> Option<Who> {
        self.early.remove(&tid);
        let thread = self.all.remove(&tid)?;
        self.numbers.remove(&thread.who.number);
        Some(thread.who)
    }

    pub(super) fn get(&self, tid: u32) -> Option<&Thread> {
        self.all.get(&tid)
    }

    pub(super) fn get_mut(&mut self, tid: u32) -> Option<&mut Thread> {
        self.all.get_mut(&tid)
    }

    pub(super) fn set(&mut self, tid: u32, state: State) {
        if let Some(thread) = self.all.get_mut(&tid) {
            thread.state = state;
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Who> {
        let mut all: Vec<Who> = self.all.values().map(|thread| thread.who).collect();
        all.sort_by_key(|who| (who.pid, who.tid));
        all.into_iter()
    }

    /// Those that run freely, in order of their numbers.
    pub(super) fn free(&self) -> impl Iterator<Item = Who> {
        self.all().filter(|who| self.get(who.tid).is_some_and(|thread| thread.state == State::Free))
    }

    pub(super) fn of_process(&self, pid: u32) -> impl Iterator<Item = Who> {
        self.all().filter(move |who| who.pid == pid)
    }

    /// Those that are stepped or about to be.
    pub(super) fn stepped(&self) -> impl Iterator<Item = u32> {
        self.all.values().filter(|thread| thread.state != State::Free).map(|thread| thread.who.tid)
    }

    /// Whether any is stepped or about to be.
    pub(super) fn is_any_stepped(&self) -> bool {
        self.stepped().next().is_some()
    }

    /// Whether any is stepped and will stop at once.
    pub(super) fn is_any_prompt(&self) -> bool {
        let is_stepped = |thread: &Thread| matches!(thread.state, State::Stepping { .. });
        self.all.values().any(|thread| is_stepped(thread) && thread.pending.is_prompt)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_the_smallest_free_number() {
        let mut threads = Threads::default();
        let numbers: Vec<u32> = (10..13).map(|tid| threads.add(tid, 10, State::Free).number).collect();
        assert_eq!(numbers, [0, 1, 2]);
        threads.remove(11);
        assert_eq!(threads.add(20, 10, State::Free).number, 1);
        assert_eq!(threads.add(21, 10, State::Free).number, 3);
        assert_eq!(threads.seen, 5);
    }

    #[test]
    fn threads_are_told_apart_by_what_they_do() {
        let mut threads = Threads::default();
        threads.add(12, 10, State::Free);
        threads.add(11, 10, State::Free);
        assert!(!threads.is_any_stepped());
        threads.set(12, State::Called);
        assert!(threads.is_any_stepped());
        assert_eq!(threads.free().map(|who| who.tid).collect::<Vec<_>>(), [11]);
        threads.set(12, State::Stepping { left: 3 });
        assert_eq!(threads.stepped().collect::<Vec<_>>(), [12]);
        threads.early.insert(12);
        assert_eq!(threads.remove(12).map(|who| who.tid), Some(12));
        assert!(threads.early.is_empty() && threads.remove(12).is_none());
        assert_eq!(threads.all().map(|who| who.tid).collect::<Vec<_>>(), [11]);
    }
}
