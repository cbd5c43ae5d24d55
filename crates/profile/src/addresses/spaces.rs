//! What each process had mapped, over time.
//!
//! A process has what its parent had until it maps something else there or executes another program. Records of several
//! CPUs may stand out of order in a recording, so everything is kept with its time and put in order before it is asked.

use fieldline_perfdata::perf_data::Task;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Map {
    pub begin: u64,
    /// First address behind.
    pub end: u64,
    /// Recorded address less address as linked, if it shows the file that is looked for.
    pub slide: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// Something was mapped.
    Mapped(Map),
    /// It began as a copy of another process.
    Born { parent: u32 },
    /// It executed a program: nothing is mapped any more.
    Emptied,
}

/// Where an address leads in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The address as linked.
    pub ip: u64,
    /// Which address space: 0 of a kernel; processes with the program in order of their pids, from 0 on.
    pub space: u32,
}

const MAX_ANCESTORS: u32 = 64;

/// The mappings of one file in all processes of a recording.
#[derive(Clone, Debug, Default)]
pub(super) struct Spaces {
    /// By process: when, and what happened.
    changes: FxHashMap<u32, Vec<(u64, Change)>>,
    /// Address spaces by process.
    numbers: BTreeMap<u32, u32>,
    /// The slide the file had first in each of them.
    pub(super) slides: Vec<u64>,
}

impl Spaces {
    /// Takes note of a mapping, of the file or of another.
    pub(super) fn map(&mut self, pid: u32, time: u64, map: Map) {
        self.change(pid, time, Change::Mapped(map));
    }

    /// Takes note of a process that began; threads share what there is.
    pub(super) fn fork(&mut self, task: Task) {
        if task.pid != task.parent_pid {
            self.change(task.pid, task.time, Change::Born { parent: task.parent_pid });
        }
    }

    /// Takes note of a process that executed another program.
    pub(super) fn exec(&mut self, pid: u32, time: u64) {
        self.change(pid, time, Change::Emptied);
    }

    fn change(&mut self, pid: u32, time: u64, change: Change) {
        self.changes.entry(pid).or_default().push((time, change));
    }

    /// Puts what was noted in order. Before, nothing is found.
    pub(super) fn settle(&mut self) {
        for changes in self.changes.values_mut() {
            changes.sort_by_key(|(time, _)| *time);
        }
        // A child of a process that has the file counts.
        let first = |pid: &u32| Some((*pid, self.first_slide(*pid, MAX_ANCESTORS)?));
        let with_file: BTreeMap<u32, u64> = self.changes.keys().filter_map(first).collect();
        self.numbers = with_file.keys().copied().zip(0..).collect();
        self.slides = with_file.into_values().collect();
        let needed = self.needed();
        self.changes.retain(|pid, _| needed.contains(pid));
    }

    /// The first slide of the file in a process, if it has that at some time.
    fn first_slide(&self, pid: u32, depth: u32) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        self.changes.get(&pid)?.iter().find_map(|(_, change)| match change {
            Change::Mapped(map) => map.slide,
            Change::Born { parent } => self.first_slide(*parent, depth),
            Change::Emptied => None,
        })
    }

    /// Processes whose changes matter: those with the file, and their ancestors.
    fn needed(&self) -> FxHashSet<u32> {
        let mut needed = FxHashSet::default();
        let mut open: Vec<u32> = self.numbers.keys().copied().collect();
        while let Some(pid) = open.pop() {
            if needed.insert(pid) {
                open.extend(self.changes.get(&pid).into_iter().flatten().filter_map(
                    |(_, change)| match change {
                        Change::Born { parent } => Some(*parent),
                        _ => None,
                    },
                ));
            }
        }
        needed
    }

    /// Where an address of a process, or of any, leads at a time; `None` if not into the file.
    pub(super) fn find(&self, pid: Option<u32>, time: u64, address: u64) -> Option<Linked> {
        let Some(pid) = pid else {
            return self.numbers.keys().find_map(|pid| self.find(Some(*pid), time, address));
        };
        let space = *self.numbers.get(&pid)?;
        let slide = self.slide_at(pid, time, address)?;
        Some(Linked { ip: address.wrapping_sub(slide), space })
    }

    fn slide_at(&self, pid: u32, time: u64, address: u64) -> Option<u64> {
        let (mut pid, mut time) = (pid, time);
        for _ in 0..MAX_ANCESTORS {
            let changes = self.changes.get(&pid)?;
            let past = changes.partition_point(|(at, _)| *at <= time);
            let before = changes.get(..past)?.iter().rev();
            let mut telling = before.filter(|(_, change)| match change {
                Change::Mapped(map) => map.begin <= address && address < map.end,
                _ => true,
            });
            match telling.next()? {
                (_, Change::Mapped(map)) => return map.slide,
                (_, Change::Emptied) => return None,
                (born, Change::Born { parent }) => (pid, time) = (*parent, *born),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(begin: u64, slide: u64) -> Map {
        Map { begin, end: begin + 0x1000, slide: Some(slide) }
    }

    fn fork(pid: u32, parent_pid: u32, time: u64) -> Task {
        Task { pid, parent_pid, tid: pid, parent_tid: parent_pid, time }
    }

    fn slide(spaces: &Spaces, pid: u32, time: u64, address: u64) -> Option<u64> {
        spaces.find(Some(pid), time, address).map(|found| address.wrapping_sub(found.ip))
    }

    #[test]
    fn a_child_has_what_its_parent_had_until_it_executes() {
        let mut spaces = Spaces::default();
        spaces.map(7, 10, ours(0x4000, 0x4000));
        spaces.exec(8, 40);
        spaces.fork(fork(8, 7, 20));
        spaces.map(7, 30, ours(0x8000, 0x8000));
        spaces.map(8, 41, ours(0x4000, 0x3000));
        spaces.settle();
        assert_eq!(slide(&spaces, 8, 25, 0x4abc), Some(0x4000));
        assert_eq!(slide(&spaces, 8, 35, 0x8abc), None, "mapped by the parent after the child was born");
        assert_eq!(slide(&spaces, 7, 35, 0x8abc), Some(0x8000));
        assert_eq!(slide(&spaces, 8, 40, 0x4abc), None, "emptied, and not mapped yet");
        assert_eq!(slide(&spaces, 8, 50, 0x4abc), Some(0x3000));
        assert_eq!(slide(&spaces, 7, 5, 0x4abc), None, "not mapped yet");
        assert_eq!(spaces.slides, [0x4000, 0x4000]);
    }

    #[test]
    fn what_is_mapped_later_covers_what_was_there() {
        let mut spaces = Spaces::default();
        spaces.map(7, 20, Map { begin: 0x4800, end: 0x6000, slide: None });
        spaces.map(7, 10, ours(0x4000, 0x4000));
        spaces.settle();
        assert_eq!(slide(&spaces, 7, 15, 0x4900), Some(0x4000));
        assert_eq!(slide(&spaces, 7, 25, 0x4900), None);
        assert_eq!(slide(&spaces, 7, 25, 0x4700), Some(0x4000));
        assert_eq!(slide(&spaces, 9, 25, 0x4700), None);
    }

    #[test]
    fn processes_that_are_their_own_ancestors_end() {
        let mut spaces = Spaces::default();
        spaces.fork(fork(7, 8, 10));
        spaces.fork(fork(8, 7, 10));
        spaces.settle();
        assert_eq!(slide(&spaces, 7, 25, 0x4700), None);
    }
}
