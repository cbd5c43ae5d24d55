//! Addresses of memory that was seen allocated: each allocation has addresses of its own.
//!
//! An allocator gives the same memory out again. Where a recording says when, what is there at one time has nothing to
//! do with what is there at another: each allocation is moved to addresses that nothing else has, so that objects at
//! one address are one object. Places in pages stay, and so do those on cachelines.

use super::load_bias::SPACE_SHIFT;
use fieldline_perfdata::address::DataAddress;
use fieldline_perfdata::perf_data::NotedAllocation;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Addresses from here on are no program's on x86-64, the only machine on which allocations are noted (Intel SDM
/// volume 1, section 3.3.7.1: bits 47 and above are equal). Those of other address spaces follow behind.
const FREE_ADDRESSES: u64 = 1 << (SPACE_SHIFT - 1);
const END: u64 = 1 << SPACE_SHIFT;
const PAGE: u64 = 4096;

/// Allocations by process, binary order of their size, and address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allocations {
    by_size: FxHashMap<u32, BTreeMap<u32, BTreeMap<u64, Vec<Moved>>>>,
}

#[derive(Clone, Copy, Debug)]
struct Moved {
    begin: u64,
    end: u64,
    size: u64,
    to: u64,
}

impl Allocations {
    /// Those of a recording, in any order. One that has no room is left where it is.
    pub(crate) fn new(noted: &[NotedAllocation]) -> Self {
        let mut allocations = Self::default();
        let mut next = FREE_ADDRESSES;
        for noted in noted.iter().filter(|noted| noted.size > 0) {
            let to = next + (noted.address.wrapping_sub(next)) % PAGE;
            let Some(end) = to.checked_add(noted.size).filter(|end| *end < END) else { continue };
            next = end;
            let moved =
                Moved { begin: noted.begin, end: noted.end.unwrap_or(u64::MAX), size: noted.size, to };
            let process = allocations.by_size.entry(noted.pid).or_default();
            let starts = process.entry(size_class(noted.size)).or_default();
            starts.entry(noted.address).or_default().push(moved);
        }
        let starts = allocations.by_size.values_mut().flat_map(BTreeMap::values_mut);
        for lives in starts.flat_map(BTreeMap::values_mut) {
            lives.sort_by_key(|moved| moved.begin);
        }
        allocations
    }

    /// The address that stands for memory of a process at a time.
    #[inline]
    pub(crate) fn unique(&self, pid: Option<u32>, address: DataAddress, time: Option<u64>) -> DataAddress {
        if self.by_size.is_empty() {
            return address;
        }
        self.find(pid, address.get(), time).and_then(DataAddress::new).unwrap_or(address)
    }

    fn find(&self, pid: Option<u32>, address: u64, time: Option<u64>) -> Option<u64> {
        let (process, time) = (self.by_size.get(&pid?)?, time?);
        process.iter().find_map(|(class, starts)| {
            let first = address.saturating_sub((1_u64 << class) - 1);
            let mut before = starts.range(first..=address).rev();
            before.find_map(|(start, lives)| {
                let past = lives.partition_point(|moved| moved.begin <= time);
                let last = lives.get(past.checked_sub(1)?)?;
                (time < last.end && address - start < last.size).then(|| last.to + (address - start))
            })
        })
    }
}

/// The smallest power of two that has room, by its exponent.
fn size_class(size: u64) -> u32 {
    u64::BITS - (size - 1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(address: u64, size: u64, begin: u64, end: Option<u64>) -> NotedAllocation {
        NotedAllocation { pid: 7, address, size, begin, end }
    }

    fn unique(allocations: &Allocations, address: u64, time: u64) -> u64 {
        allocations.unique(Some(7), DataAddress::new(address).unwrap(), Some(time)).get()
    }

    #[test]
    fn each_allocation_has_addresses_of_its_own() {
        let allocations = Allocations::new(&[
            noted(0x1040, 100, 10, Some(20)),
            noted(0x1040, 64, 30, None),
            noted(0x1080, 3000, 30, None),
            noted(0x1000, 0, 0, None),
        ]);
        let (first, second) = (unique(&allocations, 0x1048, 15), unique(&allocations, 0x1048, 30));
        let neighbour = unique(&allocations, 0x1080, 30);
        assert!(first >= FREE_ADDRESSES && first != second, "{first:#x} {second:#x}");
        assert_eq!([first, second, neighbour].map(|address| address % PAGE), [0x48, 0x48, 0x80]);
        assert_eq!(unique(&allocations, 0x1040 + 99, 19) - first, 99 - 8);
        assert_eq!(unique(&allocations, 0x1080 + 2999, 99) - neighbour, 2999);
        assert_ne!(unique(&allocations, 0x1080, 15), neighbour, "at the end of the first allocation");
    }

    #[test]
    fn memory_that_nobody_holds_is_left_alone() {
        let allocations = Allocations::new(&[noted(0x1040, 100, 10, Some(20))]);
        for (address, time) in [(0x1040, 9), (0x1040, 20), (0x1040 + 100, 15), (0x103f, 15)] {
            assert_eq!(unique(&allocations, address, time), address, "{address:#x} at {time}");
        }
        let address = DataAddress::new(0x1040).unwrap();
        assert_eq!(allocations.unique(Some(8), address, Some(15)), address);
        assert_eq!(allocations.unique(Some(7), address, None), address);
        assert_eq!(Allocations::default().unique(Some(7), address, Some(15)), address);
    }

    #[test]
    fn sizes_that_no_machine_has_are_left_out() {
        let huge = noted(0x1000, u64::MAX, 0, None);
        let allocations =
            Allocations::new(&[huge, noted(0x1000, END - 1, 0, None), noted(0x1040, 1, 0, None)]);
        assert_eq!(unique(&allocations, 0x1000, 5), 0x1000);
        assert_ne!(unique(&allocations, 0x1040, 5), 0x1040);
    }
}
