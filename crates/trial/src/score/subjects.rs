//! The struct and the function of each access, and the lines that visits touch.

use super::accesses::{Accesses, TimedAccess};
use super::machine::ScoredMachine;
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
    /// Reads the functions of a program.
    pub(super) fn read(program: &Path) -> Result<Self> {
        let file = FileBytes::open(program).map_err(Error::debug_info)?;
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
    /// The burst of that access.
    burst: u32,
    /// Lines touched, by line size.
    touched: Vec<Vec<u64>>,
}

impl Subjects {
    /// Finds the subjects of all accesses. `find_object` gives the number of an access's object, and that of its struct;
    /// `structs` is how many structs there are.
    pub(super) fn find(
        accesses: &Accesses<'_>,
        find_object: impl Fn(usize, &TimedAccess) -> Option<(usize, usize)>,
        functions: &FunctionTable,
        (machine, structs): (&ScoredMachine, usize),
    ) -> Self {
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
        for (number, access) in accesses.iter().enumerate() {
            found.functions.push(names.number(access.code, &mut found.names));
            let Some(clock) = clocks.get_mut(access.cpu) else { continue };
            *clock += 1;
            let object = find_object(number, &access);
            found.structs.push(object.map_or(NONE, |(_, index)| u16::try_from(index).unwrap_or(NONE)));
            if let Some((object, index)) = object {
                let visit = visits.entry((access.cpu, object)).or_insert_with(|| OpenVisit {
                    last: 0,
                    burst: access.burst,
                    touched: vec![Vec::new(); machine.lines.len()],
                });
                found.add(visit, (*clock, index), &access, machine);
            }
        }
        found
    }

    /// Counts an access, and a visit's lines when it touches them first.
    fn add(
        &mut self,
        visit: &mut OpenVisit,
        (clock, index): (u64, usize),
        access: &TimedAccess,
        machine: &ScoredMachine,
    ) {
        let is_new = visit.last == 0 || clock - visit.last > machine.visit_gap || visit.burst != access.burst;
        if is_new {
            self.visits[index] += 1;
            visit.touched.iter_mut().for_each(Vec::clear);
        }
        (visit.last, visit.burst) = (clock, access.burst);
        self.accesses[index] += 1;
        let last = access.address.saturating_add(access.size - 1);
        for ((line, touched), sums) in machine.lines.iter().zip(&mut visit.touched).zip(&mut self.lines) {
            for number in access.address / line..=last / line {
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
