//! Memory that allocators gave out and took back.

use fieldline_debuginfo::LinkedAddress;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Callers of an allocation that are kept: wrappers of allocators, then who called them.
const MAX_CALLERS: usize = 4;

/// Memory that was allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    pub(crate) address: u64,
    /// Bytes; 0 if not known.
    pub(crate) size: u64,
    /// Addresses to which the allocators returned, the innermost first.
    pub(crate) callers: Vec<LinkedAddress>,
    /// Nanoseconds.
    pub(crate) begin: u64,
    /// Nanoseconds; `None` if it wasn't freed.
    pub(crate) end: Option<u64>,
    /// Whether each CPU has its own: the address is that of a CPU less the distance of its data.
    pub(crate) is_per_cpu: bool,
    /// When it was allocated, as a number of events.
    order: u64,
}

/// An allocator that was entered and hasn't returned.
#[derive(Clone, Copy, Debug)]
struct Entry {
    size: u64,
    /// The address to which it will return.
    caller: LinkedAddress,
    order: u64,
}

/// Follows allocations.
#[derive(Debug, Default)]
pub(crate) struct Allocations {
    /// By the stack pointer.
    entries: FxHashMap<u64, Entry>,
    /// By whether each CPU has its own, and address.
    live: BTreeMap<(bool, u64), Allocation>,
    /// Those that were freed since the window began.
    freed: Vec<Allocation>,
    order: u64,
    is_recording: bool,
}

impl Allocations {
    /// From now on what is freed is kept.
    pub(crate) fn begin_window(&mut self) {
        self.is_recording = true;
    }

    /// An allocator was entered.
    pub(crate) fn enter(&mut self, stack: u64, size: u64, caller: LinkedAddress) {
        self.order += 1;
        self.entries.insert(stack, Entry { size, caller, order: self.order });
    }

    /// An allocator returns an object.
    ///
    /// Where no allocator was entered that will return there, another function does: `kmemdup` ends with a jump to
    /// `memcpy`, whose return is watched, and which the whole kernel calls.
    pub(crate) fn give(
        &mut self,
        stack: u64,
        address: u64,
        caller: LinkedAddress,
        time: u64,
        is_per_cpu: bool,
    ) {
        self.order += 1;
        let Some(entry) = self.entries.get(&stack).copied().filter(|entry| entry.caller == caller) else {
            return;
        };
        self.entries.remove(&stack);
        if is_nothing(address) {
            return;
        }
        // An allocator that called another returns what that one did.
        let key = (is_per_cpu, address);
        if let Some(known) = self.live.get_mut(&key).filter(|known| known.order > entry.order) {
            if known.callers.len() < MAX_CALLERS {
                known.callers.push(caller);
            }
            return;
        }
        self.end_overlapping(is_per_cpu, address, entry.size, time);
        let (size, callers, order) = (entry.size, vec![caller], self.order);
        self.live
            .insert(key, Allocation { address, size, callers, begin: time, end: None, is_per_cpu, order });
    }

    /// Ends objects that lie where something is allocated: they were freed by a way that isn't watched.
    fn end_overlapping(&mut self, is_per_cpu: bool, address: u64, size: u64, time: u64) {
        let last = address.saturating_add(size.max(1));
        let before = self.live.range(..(is_per_cpu, address)).next_back();
        let before = before.filter(|((kind, _), known)| {
            *kind == is_per_cpu && known.address.saturating_add(known.size) > address
        });
        let mut ended: Vec<(bool, u64)> = before.map(|(key, _)| *key).into_iter().collect();
        ended.extend(self.live.range((is_per_cpu, address)..(is_per_cpu, last)).map(|(key, _)| *key));
        for key in ended {
            self.end(key, time);
        }
    }

    /// An object is freed.
    pub(crate) fn free(&mut self, address: u64, time: u64, is_per_cpu: bool) {
        self.end((is_per_cpu, address), time);
    }

    fn end(&mut self, key: (bool, u64), time: u64) {
        if let Some(mut allocation) = self.live.remove(&key).filter(|_| self.is_recording) {
            allocation.end = Some(time);
            self.freed.push(allocation);
        }
    }

    /// All that lived in the window, by address and time.
    pub(crate) fn finish(self) -> Vec<Allocation> {
        let mut all = self.freed;
        all.extend(self.live.into_values());
        all.sort_by_key(|allocation| (allocation.is_per_cpu, allocation.address, allocation.order));
        all
    }
}

/// Whether an allocator returned no memory: null, or `ZERO_SIZE_PTR` (include/linux/slab.h).
fn is_nothing(address: u64) -> bool {
    address <= 16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: u64) -> LinkedAddress {
        LinkedAddress(address)
    }

    fn recorded() -> Allocations {
        let mut allocations = Allocations::default();
        allocations.begin_window();
        allocations
    }

    #[test]
    fn an_object_lives_from_its_allocation_until_it_is_freed() {
        let mut allocations = recorded();
        allocations.enter(0x500, 64, at(1));
        allocations.give(0x500, 0x1000, at(1), 10, false);
        allocations.free(0x1000, 20, false);
        allocations.enter(0x500, 32, at(2));
        allocations.give(0x500, 0x1000, at(2), 30, false);
        let lives: Vec<_> =
            allocations.finish().iter().map(|found| (found.size, found.begin, found.end)).collect();
        assert_eq!(lives, [(64, 10, Some(20)), (32, 30, None)]);
    }

    #[test]
    fn wrappers_add_their_callers() {
        let mut allocations = recorded();
        allocations.enter(0x600, 100, at(2));
        allocations.enter(0x500, 128, at(1));
        allocations.give(0x500, 0x1000, at(1), 10, false);
        allocations.give(0x600, 0x1000, at(2), 10, false);
        let all = allocations.finish();
        assert_eq!((all.len(), &all[0].callers[..]), (1, &[at(1), at(2)][..]));
    }

    #[test]
    fn what_is_allocated_again_was_freed_unseen() {
        let mut allocations = recorded();
        for (time, address) in [(10, 0x1000), (20, 0x1040), (30, 0x1000)] {
            allocations.enter(0x500, 0x80, at(1));
            allocations.give(0x500, address, at(1), time, false);
        }
        let ends: Vec<_> = allocations.finish().iter().map(|found| (found.begin, found.end)).collect();
        assert_eq!(ends, [(10, Some(20)), (30, None), (20, Some(30))]);
    }

    #[test]
    fn a_function_that_an_allocator_ends_with_allocates_nothing_for_others() {
        let mut allocations = recorded();
        allocations.enter(0x500, 64, at(1));
        allocations.give(0x500, 0x1000, at(1), 10, false);
        // `memcpy(object, …)`, called by another function.
        allocations.give(0x500, 0x1000, at(2), 20, false);
        // An allocator that jumped elsewhere left its entry.
        allocations.enter(0x500, 64, at(1));
        allocations.give(0x500, 0x1000, at(3), 30, false);
        let all = allocations.finish();
        assert_eq!((all.len(), all[0].size, all[0].end), (1, 64, None));
    }

    #[test]
    fn failures_are_no_objects_and_what_ended_before_the_window_is_not_kept() {
        let mut allocations = Allocations::default();
        for address in [0, 16, 0x1000] {
            allocations.enter(0x500, 64, at(1));
            allocations.give(0x500, address, at(1), 1, false);
        }
        allocations.free(0x1000, 2, false);
        assert_eq!(allocations.finish(), []);
    }
}
