//! The struct and the function of each access, and the lines that visits touch.

use super::accesses::Accesses;
use super::machine::ScoredMachine;
use super::objects::{ObjectTable, TracedObject};
use crate::error::{Error, Result};
use fieldline_debuginfo::{Elf, FileBytes};
use rustc_hash::FxHashMap;
use std::path::Path;

/// Number of a struct or of a function for accesses without one.
pub(super) const NONE: u16 = u16::MAX;

/// Functions by address.
#[derive(Clone, Debug, Default)]
pub(super) struct FunctionTable {
    /// Where each begins and ends, by the lower half of its address, sorted.
    ranges: Vec<(u32, u32, String)>,
}

impl FunctionTable {
    /// Reads the functions of a kernel.
    pub(super) fn read(vmlinux: &Path) -> Result<Self> {
        let file = FileBytes::open(vmlinux).map_err(Error::debug_info)?;
        let elf = Elf::parse(&file).map_err(Error::debug_info)?;
        let mut ranges: Vec<(u32, u32, String)> = elf
            .symbols()
            .filter(|symbol| symbol.is_function)
            .filter_map(|symbol| {
                let begin = symbol.address as u32;
                let size = u32::try_from(symbol.size?).unwrap_or(u32::MAX);
                (size > 0).then(|| (begin, begin.saturating_add(size), symbol.name.to_owned()))
            })
            .collect();
        // Of several names of one place the first in the alphabet counts.
        ranges.sort();
        ranges.dedup_by_key(|(begin, ..)| *begin);
        Ok(Self { ranges })
    }

    fn find(&self, code: u32) -> Option<&str> {
        let past = self.ranges.partition_point(|(begin, ..)| *begin <= code);
        let (_, end, name) = self.ranges.get(past.checked_sub(1)?)?;
        (code < *end).then_some(name.as_str())
    }
}

/// Facts about all accesses that no cache changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Subjects {
    /// By access: number of its struct, or [`NONE`].
    pub(super) structs: Vec<u16>,
    /// By access: number of its function, or [`NONE`].
    pub(super) functions: Vec<u16>,
    /// Names of functions by number.
    pub(super) names: Vec<String>,
    /// Accesses by struct.
    pub(super) accesses: Vec<u64>,
    /// Visits by struct.
    pub(super) visits: Vec<u64>,
    /// Lines that visits touched: by line size of the machine, then by struct.
    pub(super) lines: Vec<Vec<u64>>,
}

/// A CPU's visit to an object.
#[derive(Clone, Debug)]
struct OpenVisit {
    /// The CPU's count of accesses at the last one of the visit.
    last: u64,
    /// Lines touched, by line size.
    touched: Vec<Vec<u64>>,
}

impl Subjects {
    /// Finds the subjects of all accesses.
    pub(super) fn find(
        accesses: &Accesses<'_>,
        objects: &ObjectTable,
        functions: &FunctionTable,
        machine: &ScoredMachine,
    ) -> Self {
        let structs = machine.structs;
        let mut found = Self {
            structs: Vec::with_capacity(accesses.count),
            functions: Vec::with_capacity(accesses.count),
            accesses: vec![0; structs],
            visits: vec![0; structs],
            lines: vec![vec![0; structs]; machine.lines.len()],
            ..Self::default()
        };
        let mut names =
            FunctionNumbers { functions, by_code: FxHashMap::default(), names: FxHashMap::default() };
        let mut clocks = vec![0_u64; accesses.cpus];
        let mut visits: FxHashMap<(usize, usize), OpenVisit> = FxHashMap::default();
        visits.reserve(objects.len());
        for access in accesses.iter() {
            found.functions.push(names.number(access.code, &mut found.names));
            let Some(clock) = clocks.get_mut(access.cpu) else { continue };
            *clock += 1;
            let object = objects.find(access.address, access.time);
            found.structs.push(object.map_or(NONE, |(_, object)| object.struct_index as u16));
            let Some((number, object)) = object else { continue };
            found.add(
                &mut visits,
                (access.cpu, number),
                (*clock, object),
                (access.address, access.size),
                machine,
            );
        }
        found
    }

    /// Counts an access, and a visit's lines when it touches them first.
    fn add(
        &mut self,
        visits: &mut FxHashMap<(usize, usize), OpenVisit>,
        key: (usize, usize),
        (clock, object): (u64, TracedObject),
        (address, size): (u64, u64),
        machine: &ScoredMachine,
    ) {
        let index = object.struct_index;
        let new = || OpenVisit { last: 0, touched: vec![Vec::new(); machine.lines.len()] };
        let visit = visits.entry(key).or_insert_with(new);
        if visit.last == 0 || clock - visit.last > machine.visit_gap {
            self.visits[index] += 1;
            visit.touched.iter_mut().for_each(Vec::clear);
        }
        visit.last = clock;
        self.accesses[index] += 1;
        for ((line, touched), sums) in machine.lines.iter().zip(&mut visit.touched).zip(&mut self.lines) {
            for number in address / line..=address.saturating_add(size - 1) / line {
                if !touched.contains(&number) {
                    touched.push(number);
                    sums[index] += 1;
                }
            }
        }
    }
}

/// Functions get numbers as they are met.
struct FunctionNumbers<'f> {
    functions: &'f FunctionTable,
    by_code: FxHashMap<u32, u16>,
    names: FxHashMap<&'f str, u16>,
}

impl FunctionNumbers<'_> {
    fn number(&mut self, code: u32, names: &mut Vec<String>) -> u16 {
        if let Some(known) = self.by_code.get(&code) {
            return *known;
        }
        let number = match self.functions.find(code) {
            Some(name) => *self.names.entry(name).or_insert_with(|| {
                names.push(name.to_owned());
                u16::try_from(names.len() - 1).unwrap_or(NONE)
            }),
            None => NONE,
        };
        self.by_code.insert(code, number);
        number
    }
}
