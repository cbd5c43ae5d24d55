//! Mappings of each process, over time.
//!
//! A process has its parent's mappings until it maps something else there or executes another program.
//! Records of several CPUs may be out of order in a recording, so all are kept with their times and sorted
//! before lookups.

use super::load_bias::LoadBias;
use fieldline_debuginfo::LinkedAddress;
use fieldline_perfdata::address::LoadedAddress;
use fieldline_perfdata::perf_data::TaskRecord;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileMapping {
    pub begin: LoadedAddress,
    /// First address behind.
    pub end: LoadedAddress,
    /// Load bias, if the mapping is of the file.
    pub load_bias: Option<LoadBias>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpaceChange {
    /// Something was mapped.
    Mapped(FileMapping),
    /// It began as a copy of another process.
    Forked { parent: u32 },
    /// It executed a program: all mappings are gone.
    Executed,
}

/// An instruction of the program in an address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkedInstruction {
    /// Its address.
    pub ip: LinkedAddress,
    /// Which address space: 0 of a kernel; processes with the program in order of their pids, from 0 on.
    pub space: u32,
}

const MAX_ANCESTORS: u32 = 64;

/// The mappings of one file in all processes of a recording.
#[derive(Clone, Debug, Default)]
pub(super) struct AddressSpaces {
    /// By process: when, and what happened.
    changes: FxHashMap<u32, Vec<(u64, SpaceChange)>>,
    /// Address spaces by process.
    space_numbers: BTreeMap<u32, u32>,
    /// The first load bias of the file in each of them.
    pub(super) load_biases: Vec<LoadBias>,
}

impl AddressSpaces {
    /// Adds a mapping, of the file or of another.
    pub(super) fn map(&mut self, pid: u32, time: u64, map: FileMapping) {
        self.add_change(pid, time, SpaceChange::Mapped(map));
    }

    /// Adds a process that was forked; threads share its mappings.
    pub(super) fn fork(&mut self, task: TaskRecord) {
        if task.pid != task.parent_pid {
            self.add_change(task.pid, task.time, SpaceChange::Forked { parent: task.parent_pid });
        }
    }

    /// Adds an exec of a process.
    pub(super) fn exec(&mut self, pid: u32, time: u64) {
        self.add_change(pid, time, SpaceChange::Executed);
    }

    fn add_change(&mut self, pid: u32, time: u64, change: SpaceChange) {
        self.changes.entry(pid).or_default().push((time, change));
    }

    /// Sorts the changes. Lookups before find nothing.
    pub(super) fn sort_changes(&mut self) {
        for changes in self.changes.values_mut() {
            changes.sort_by_key(|(time, _)| *time);
        }
        // A child of a process that has the file counts.
        let first = |pid: &u32| Some((*pid, self.first_load_bias(*pid, MAX_ANCESTORS)?));
        let with_file: BTreeMap<u32, LoadBias> = self.changes.keys().filter_map(first).collect();
        self.space_numbers = with_file.keys().copied().zip(0..).collect();
        self.load_biases = with_file.into_values().collect();
        let needed = self.pids_needed();
        self.changes.retain(|pid, _| needed.contains(pid));
    }

    /// The first load bias of the file in a process, if it was ever mapped.
    fn first_load_bias(&self, pid: u32, depth: u32) -> Option<LoadBias> {
        let depth = depth.checked_sub(1)?;
        self.changes.get(&pid)?.iter().find_map(|(_, change)| match change {
            SpaceChange::Mapped(map) => map.load_bias,
            SpaceChange::Forked { parent } => self.first_load_bias(*parent, depth),
            SpaceChange::Executed => None,
        })
    }

    /// Processes whose changes matter: those with the file, and their ancestors.
    fn pids_needed(&self) -> FxHashSet<u32> {
        let mut needed = FxHashSet::default();
        let mut pending: Vec<u32> = self.space_numbers.keys().copied().collect();
        while let Some(pid) = pending.pop() {
            if needed.insert(pid) {
                pending.extend(self.changes.get(&pid).into_iter().flatten().filter_map(|(_, change)| {
                    match change {
                        SpaceChange::Forked { parent } => Some(*parent),
                        _ => None,
                    }
                }));
            }
        }
        needed
    }

    /// Where an address of a process, or of any, leads at a time; `None` if not into the file.
    pub(super) fn find(&self, pid: Option<u32>, time: u64, ip: LoadedAddress) -> Option<LinkedInstruction> {
        let Some(pid) = pid else {
            return self.space_numbers.keys().find_map(|pid| self.find(Some(*pid), time, ip));
        };
        let space = *self.space_numbers.get(&pid)?;
        Some(LinkedInstruction { ip: self.load_bias_at(pid, time, ip)?.linked(ip), space })
    }

    fn load_bias_at(&self, pid: u32, time: u64, address: LoadedAddress) -> Option<LoadBias> {
        let (mut pid, mut time) = (pid, time);
        for _ in 0..MAX_ANCESTORS {
            let changes = self.changes.get(&pid)?;
            let past = changes.partition_point(|(at, _)| *at <= time);
            let before = changes.get(..past)?.iter().rev();
            let mut relevant = before.filter(|(_, change)| match change {
                SpaceChange::Mapped(map) => map.begin <= address && address < map.end,
                _ => true,
            });
            match relevant.next()? {
                (_, SpaceChange::Mapped(map)) => return map.load_bias,
                (_, SpaceChange::Executed) => return None,
                (born, SpaceChange::Forked { parent }) => (pid, time) = (*parent, *born),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A load bias of an image that is linked at 0.
    fn bias(loaded: u64) -> LoadBias {
        LoadBias::between(LinkedAddress(0), LoadedAddress(loaded))
    }

    fn ours(begin: u64, load_bias: u64) -> FileMapping {
        let (begin, load_bias) = (LoadedAddress(begin), Some(bias(load_bias)));
        FileMapping { begin, end: begin.saturating_add(0x1000), load_bias }
    }

    fn fork(pid: u32, parent_pid: u32, time: u64) -> TaskRecord {
        TaskRecord { pid, parent_pid, tid: pid, parent_tid: parent_pid, time }
    }

    fn find_load_bias(spaces: &AddressSpaces, pid: u32, time: u64, address: u64) -> Option<u64> {
        spaces.find(Some(pid), time, LoadedAddress(address)).map(|found| address.wrapping_sub(found.ip.0))
    }

    #[test]
    fn a_child_has_what_its_parent_had_until_it_executes() {
        let mut spaces = AddressSpaces::default();
        spaces.map(7, 10, ours(0x4000, 0x4000));
        spaces.exec(8, 40);
        spaces.fork(fork(8, 7, 20));
        spaces.map(7, 30, ours(0x8000, 0x8000));
        spaces.map(8, 41, ours(0x4000, 0x3000));
        spaces.sort_changes();
        assert_eq!(find_load_bias(&spaces, 8, 25, 0x4abc), Some(0x4000));
        assert_eq!(
            find_load_bias(&spaces, 8, 35, 0x8abc),
            None,
            "mapped by the parent after the child was born"
        );
        assert_eq!(find_load_bias(&spaces, 7, 35, 0x8abc), Some(0x8000));
        assert_eq!(find_load_bias(&spaces, 8, 40, 0x4abc), None, "emptied, and not mapped yet");
        assert_eq!(find_load_bias(&spaces, 8, 50, 0x4abc), Some(0x3000));
        assert_eq!(find_load_bias(&spaces, 7, 5, 0x4abc), None, "not mapped yet");
        assert_eq!(spaces.load_biases, [bias(0x4000), bias(0x4000)]);
    }

    #[test]
    fn what_is_mapped_later_covers_what_was_there() {
        let mut spaces = AddressSpaces::default();
        spaces.map(
            7,
            20,
            FileMapping { begin: LoadedAddress(0x4800), end: LoadedAddress(0x6000), load_bias: None },
        );
        spaces.map(7, 10, ours(0x4000, 0x4000));
        spaces.sort_changes();
        assert_eq!(find_load_bias(&spaces, 7, 15, 0x4900), Some(0x4000));
        assert_eq!(find_load_bias(&spaces, 7, 25, 0x4900), None);
        assert_eq!(find_load_bias(&spaces, 7, 25, 0x4700), Some(0x4000));
        assert_eq!(find_load_bias(&spaces, 9, 25, 0x4700), None);
    }

    #[test]
    fn processes_that_are_their_own_ancestors_end() {
        let mut spaces = AddressSpaces::default();
        spaces.fork(fork(7, 8, 10));
        spaces.fork(fork(8, 7, 10));
        spaces.sort_changes();
        assert_eq!(find_load_bias(&spaces, 7, 25, 0x4700), None);
    }
}
