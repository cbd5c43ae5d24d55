//! Memory that a program allocates and frees while each of its instructions is stepped.
//!
//! Memory that a function gives out is known where it returns: its size by the arguments, its address by the result. A
//! function that calls another allocator returns the memory of that one, which is one allocation.

use super::allocators::{Allocator, AllocatorFiles};
use super::threads::argument;
use crate::process::journal::{Journal, TracedThread};
use fieldline_perfdata::perf_data::NotedAllocation;
use nix::libc::user_regs_struct;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Allocations that are noted; 40 bytes of the file each.
const MAX_NOTED: usize = 1 << 20;
/// Calls of allocators within each other.
const MAX_DEPTH: usize = 64;

/// A call of an allocator that hasn't returned.
#[derive(Clone, Copy, Debug)]
struct PendingCall {
    allocator: Allocator,
    arguments: [u64; 3],
    /// The stack pointer at its entry, where the address to return to lies.
    stack: u64,
    return_to: u64,
    entered: u64,
}

/// Follows allocators of all processes.
#[derive(Debug, Default)]
pub(super) struct Allocations {
    files: AllocatorFiles,
    /// By process: allocators by address.
    code: FxHashMap<u32, FxHashMap<u64, Allocator>>,
    /// By thread, the innermost last.
    calls: FxHashMap<u32, Vec<PendingCall>>,
    live: LiveMemory,
}

impl Allocations {
    /// Code of a process was mapped or unmapped.
    pub(super) fn forget_code(&mut self, pid: u32) {
        self.code.remove(&pid);
    }

    /// A process executed a program: its memory is gone.
    pub(super) fn end_process(&mut self, pid: u32, time: u64) {
        self.code.remove(&pid);
        self.live.end_all(pid, time);
    }

    /// A process began as a copy of another.
    pub(super) fn copy_process(&mut self, parent: u32, child: u32, time: u64) {
        self.live.copy(parent, child, time);
    }

    /// A thread ended, or executed a program.
    pub(super) fn forget_calls(&mut self, tid: u32) {
        self.calls.remove(&tid);
    }

    /// A thread is about to run an instruction.
    pub(super) fn step(
        &mut self,
        who: TracedThread,
        registers: &user_regs_struct,
        memory: Option<&File>,
        journal: &mut Journal,
    ) {
        while let Some(call) = self.innermost_ended(who.tid, registers.rsp) {
            if call.return_to == registers.rip && call.stack.wrapping_add(8) == registers.rsp {
                self.live.finish(who.pid, call, registers.rax, memory, journal.next_time());
            }
        }
        let Self { files, code, calls, live } = self;
        let code =
            code.entry(who.pid).or_insert_with(|| files.of_process(who.pid, journal.mappings(who.pid)));
        let Some(allocator) = code.get(&registers.rip).copied() else { return };
        let arguments = [0, 1, 2].map(|index| argument(registers, index));
        let entered = journal.next_time();
        match allocator {
            Allocator::Takes => live.end(who.pid, arguments[0], entered),
            _ => {
                let calls = calls.entry(who.tid).or_default();
                let return_to = read_word(memory, registers.rsp).filter(|_| calls.len() < MAX_DEPTH);
                let stack = registers.rsp;
                calls.extend(return_to.map(|return_to| PendingCall {
                    allocator,
                    arguments,
                    stack,
                    return_to,
                    entered,
                }));
            }
        }
    }

    /// Takes the innermost call of a thread whose stack is gone.
    fn innermost_ended(&mut self, tid: u32, stack: u64) -> Option<PendingCall> {
        let calls = self.calls.get_mut(&tid)?;
        calls.pop_if(|call| call.stack < stack)
    }

    /// All that was noted, in order of their beginnings.
    pub(super) fn into_noted(self) -> Vec<NotedAllocation> {
        self.live.noted
    }
}

fn read_word(memory: Option<&File>, address: u64) -> Option<u64> {
    let mut word = [0; 8];
    memory?.read_exact_at(&mut word, address).ok()?;
    Some(u64::from_le_bytes(word))
}

/// Memory that is allocated.
#[derive(Debug, Default)]
struct LiveMemory {
    noted: Vec<NotedAllocation>,
    /// Numbers of those that weren't freed, by process and address.
    live: BTreeMap<(u32, u64), usize>,
}

impl LiveMemory {
    /// An allocator returns.
    fn finish(&mut self, pid: u32, call: PendingCall, result: u64, memory: Option<&File>, time: u64) {
        let size = |index: usize| call.arguments.get(index).copied().unwrap_or(0);
        let product = |[a, b]: [usize; 2]| size(a).saturating_mul(size(b));
        let is_resized = |size: u64| result != 0 || size == 0;
        match call.allocator {
            Allocator::Gives { size: index } => self.begin(pid, result, size(index), call.entered, time),
            Allocator::GivesProduct { sizes } => self.begin(pid, result, product(sizes), call.entered, time),
            Allocator::Resizes { size: index } if is_resized(size(index)) => {
                self.resize(pid, call, result, size(index), time);
            }
            Allocator::ResizesProduct { sizes } if is_resized(product(sizes)) => {
                self.resize(pid, call, result, product(sizes), time);
            }
            Allocator::Stores { size: index } if result as u32 == 0 => {
                let stored = read_word(memory, call.arguments[0]).unwrap_or(0);
                self.begin(pid, stored, size(index), call.entered, time);
            }
            _ => {}
        }
    }

    fn resize(&mut self, pid: u32, call: PendingCall, result: u64, size: u64, time: u64) {
        if !self.is_newer(pid, call.arguments[0], call.entered) {
            self.end(pid, call.arguments[0], time);
        }
        self.begin(pid, result, size, call.entered, time);
    }

    /// Whether memory was allocated after a time.
    fn is_newer(&self, pid: u32, address: u64, entered: u64) -> bool {
        let known = self.live.get(&(pid, address)).and_then(|number| self.noted.get(*number));
        known.is_some_and(|known| known.begin > entered)
    }

    fn begin(&mut self, pid: u32, address: u64, size: u64, entered: u64, time: u64) {
        if address == 0 || self.is_newer(pid, address, entered) {
            return;
        }
        self.end_overlapping(pid, address, size, time);
        if self.noted.len() < MAX_NOTED {
            self.live.insert((pid, address), self.noted.len());
            self.noted.push(NotedAllocation { pid, address, size, begin: time, end: None });
        }
    }

    /// Ends what lies where memory is allocated: it was freed by a way that isn't watched.
    fn end_overlapping(&mut self, pid: u32, address: u64, size: u64, time: u64) {
        let last = address.saturating_add(size.max(1));
        let before = self.live.range((pid, 0)..(pid, address)).next_back();
        let before = before.filter(|(_, number)| {
            self.noted.get(**number).is_some_and(|known| known.address.saturating_add(known.size) > address)
        });
        let within = self.live.range((pid, address)..(pid, last));
        let ended: Vec<u64> = before.into_iter().chain(within).map(|((_, address), _)| *address).collect();
        ended.into_iter().for_each(|address| self.end(pid, address, time));
    }

    fn end(&mut self, pid: u32, address: u64, time: u64) {
        let number = self.live.remove(&(pid, address));
        if let Some(known) = number.and_then(|number| self.noted.get_mut(number)) {
            known.end = Some(time);
        }
    }

    fn end_all(&mut self, pid: u32, time: u64) {
        let all: Vec<u64> = self.of_process(pid).map(|noted| noted.address).collect();
        all.into_iter().for_each(|address| self.end(pid, address, time));
    }

    fn copy(&mut self, parent: u32, child: u32, time: u64) {
        let all: Vec<NotedAllocation> = self.of_process(parent).copied().collect();
        all.into_iter().for_each(|noted| self.begin(child, noted.address, noted.size, time, time));
    }

    fn of_process(&self, pid: u32) -> impl Iterator<Item = &NotedAllocation> {
        let numbers = self.live.range((pid, 0)..=(pid, u64::MAX)).map(|(_, number)| *number);
        numbers.filter_map(|number| self.noted.get(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(allocator: Allocator, arguments: [u64; 3], entered: u64) -> PendingCall {
        PendingCall { allocator, arguments, stack: 0, return_to: 0, entered }
    }

    fn lives(memory: &LiveMemory) -> Vec<(u64, u64, u64, Option<u64>)> {
        memory.noted.iter().map(|noted| (noted.address, noted.size, noted.begin, noted.end)).collect()
    }

    const MALLOC: Allocator = Allocator::Gives { size: 0 };
    const REALLOC: Allocator = Allocator::Resizes { size: 1 };

    #[test]
    fn memory_lives_until_it_is_freed_or_given_out_again() {
        let mut memory = LiveMemory::default();
        memory.finish(7, call(MALLOC, [24, 0, 0], 9), 0x1000, None, 10);
        memory.finish(7, call(Allocator::GivesProduct { sizes: [0, 1] }, [3, 8, 0], 11), 0x1040, None, 12);
        memory.end(7, 0x1000, 20);
        memory.end(7, 0x1000, 21);
        memory.end(8, 0x1040, 22);
        memory.finish(7, call(MALLOC, [256, 0, 0], 29), 0x1000, None, 30);
        memory.finish(7, call(MALLOC, [256, 0, 0], 31), 0, None, 32);
        let expected = [(0x1000, 24, 10, Some(20)), (0x1040, 24, 12, Some(30)), (0x1000, 256, 30, None)];
        assert_eq!(lives(&memory), expected);
    }

    #[test]
    fn a_function_that_calls_an_allocator_gives_the_same_memory() {
        let mut memory = LiveMemory::default();
        memory.finish(7, call(MALLOC, [24, 0, 0], 6), 0x1000, None, 7);
        // `operator new` entered first and returns last.
        memory.finish(7, call(MALLOC, [24, 0, 0], 5), 0x1000, None, 8);
        // `realloc` that calls `malloc` and `free`.
        memory.finish(7, call(MALLOC, [48, 0, 0], 11), 0x2000, None, 12);
        memory.end(7, 0x1000, 13);
        memory.finish(7, call(REALLOC, [0x1000, 48, 0], 10), 0x2000, None, 14);
        assert_eq!(lives(&memory), [(0x1000, 24, 7, Some(13)), (0x2000, 48, 12, None)]);
    }

    #[test]
    fn what_is_resized_is_another_allocation() {
        let mut memory = LiveMemory::default();
        memory.finish(7, call(MALLOC, [24, 0, 0], 6), 0x1000, None, 7);
        memory.finish(7, call(REALLOC, [0x1000, 32, 0], 9), 0x1000, None, 10);
        memory.finish(7, call(REALLOC, [0x1000, 64, 0], 11), 0, None, 12);
        memory.finish(7, call(REALLOC, [0x1000, 0, 0], 13), 0, None, 14);
        assert_eq!(lives(&memory), [(0x1000, 24, 7, Some(10)), (0x1000, 32, 10, Some(14))]);
    }

    #[test]
    fn a_copied_process_has_the_same_memory_and_its_own_ends() {
        let mut memory = LiveMemory::default();
        memory.finish(7, call(MALLOC, [24, 0, 0], 6), 0x1000, None, 7);
        memory.copy(7, 8, 20);
        memory.end_all(7, 30);
        let ends: Vec<_> = memory.noted.iter().map(|noted| (noted.pid, noted.begin, noted.end)).collect();
        assert_eq!(ends, [(7, 7, Some(30)), (8, 20, None)]);
    }
}
