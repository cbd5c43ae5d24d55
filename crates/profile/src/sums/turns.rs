//! Turns of CPUs on lines, of recordings that don't show where accesses were served.
//!
//! A recording with cache levels shows each lost line. Others show addresses, CPUs and times: who touched a line
//! after another CPU wrote it.

use super::sample_classes::{SampleClass, SampleClasses};
use crate::addresses::TaggedAddress;
use crate::aggregate::StructIndex;
use crate::attribute::ProgramSamples;
use crate::gather::times_by_group;
use fieldline_access::line_turns::{LineTurns, TurnPair};
use fieldline_perfdata::data_source::{DataSource, Level, Snoop};
use fieldline_perfdata::perf_data::Error;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Line sizes in bytes, as reports and plans take them by default; multiples of each other.
const LINES: [u64; 2] = [64, 128];
/// The largest of them.
const LARGEST_LINE: u64 = 128;

/// The structs an access is one to, with the offset in each.
pub(super) type Locations = Rc<[(StructIndex, u64)]>;

/// An access to a line.
#[derive(Clone, Debug)]
struct LineAccess {
    time: u64,
    cpu: u32,
    address: TaggedAddress,
    size: u64,
    is_store: bool,
    locations: Locations,
}

impl LineAccess {
    fn overlaps(&self, other: &Self) -> bool {
        let end = |access: &Self| access.address.0.saturating_add(access.size.max(1));
        self.address.0 < end(other) && other.address.0 < end(self)
    }

    /// The structs whose objects hold both accesses, with the base and both offsets.
    fn common_objects<'l>(
        &'l self,
        other: &'l Self,
    ) -> impl Iterator<Item = (StructIndex, TaggedAddress, (u64, u64))> + 'l {
        self.locations.iter().filter_map(|(target, offset)| {
            let (_, written) = other.locations.iter().find(|(theirs, _)| theirs == target)?;
            let base = self.address.checked_sub(*offset)?;
            (other.address.checked_sub(*written) == Some(base)).then_some((
                *target,
                base,
                (*offset, *written),
            ))
        })
    }
}

/// Whether samples of a class say where they were served, so that lost lines show.
pub(super) fn shows_lost_lines(class: &SampleClass) -> bool {
    let is_known =
        |source: &DataSource| source.level() != Level::NotAvailable || source.snoop() != Snoop::NotAvailable;
    class.source.as_ref().is_some_and(is_known)
}

/// Turns by struct, of the samples of one program. `locations` gives those of a class by its number.
///
/// # Errors
/// If a record can't be read.
pub(super) fn find_turns(
    part: &ProgramSamples<'_, '_>,
    classes: &SampleClasses,
    index: usize,
    locations: impl FnMut(u32) -> Locations,
) -> Result<BTreeMap<StructIndex, Vec<LineTurns>>, Error> {
    let mut sums = TurnSums::default();
    for mut accesses in shared_accesses(part, classes, index, locations)?.into_values() {
        let key =
            |access: &LineAccess| (access.time, access.cpu, access.address, access.is_store, access.size);
        accesses.sort_by_key(key);
        LINES.iter().for_each(|line| sums.add_lines(*line, &accesses));
    }
    Ok(sums.finish())
}

/// All accesses to lines that several CPUs touched and one wrote, by line of the largest size, unordered.
fn shared_accesses(
    part: &ProgramSamples<'_, '_>,
    classes: &SampleClasses,
    index: usize,
    mut locations: impl FnMut(u32) -> Locations,
) -> Result<BTreeMap<u64, Vec<LineAccess>>, Error> {
    let mut by_line: BTreeMap<u64, Vec<LineAccess>> = BTreeMap::new();
    let Some(table) = classes.tables.get(index) else { return Ok(by_line) };
    let rows: Vec<Option<Row>> =
        (0..table.len() as u32).map(|number| Row::new(part, classes, index, number)).collect();
    let shared = find_shared_lines(&rows);
    let is_shared = |row: &&Row| shared.contains(&row.largest_line());
    let groups = (0..).zip(&rows).map(|(number, row)| row.as_ref().filter(is_shared).map(|_| number));
    let groups: Vec<Option<u32>> = groups.collect();
    for (number, times) in times_by_group(&part.recorded.source, table, &groups)? {
        let (Some(Some(row)), Some(by_time)) = (rows.get(number as usize), table.value(number)) else {
            continue;
        };
        for time in times {
            let Some(class) = classes.class_at(part, *by_time, Some(time)) else { continue };
            let Some(SampleClass { attributed, .. }) = classes.classes.get(class as usize) else { continue };
            let (cpu, address, locations) = (row.cpu, row.address, locations(class));
            let (is_store, size) = (attributed.is_store, attributed.size);
            let access = LineAccess { time, cpu, address, size, is_store, locations };
            by_line.entry(row.largest_line()).or_default().push(access);
        }
    }
    Ok(by_line)
}

/// A row of the table, without times.
struct Row {
    cpu: u32,
    address: TaggedAddress,
    is_store: bool,
}

impl Row {
    fn new(
        part: &ProgramSamples<'_, '_>,
        classes: &SampleClasses,
        index: usize,
        number: u32,
    ) -> Option<Self> {
        let table = classes.tables.get(index)?;
        let facts = table.facts_at(number)?;
        // Which of several structs it is doesn't matter yet: the instruction is one.
        let class = classes.any_class(*table.value(number)?)?;
        let address = classes.address(class, part, &facts)?;
        let class = classes.classes.get(class as usize)?;
        Some(Self { cpu: class.cpu?, address, is_store: class.attributed.is_store })
    }

    fn largest_line(&self) -> u64 {
        self.address.0 / LARGEST_LINE
    }
}

/// Lines that several CPUs touched and one wrote.
fn find_shared_lines(rows: &[Option<Row>]) -> FxHashSet<u64> {
    let mut lines: FxHashMap<u64, (u32, bool, bool)> = FxHashMap::default();
    for row in rows.iter().flatten() {
        let (first, is_shared, is_written) =
            lines.entry(row.largest_line()).or_insert((row.cpu, false, false));
        *is_shared |= *first != row.cpu;
        *is_written |= row.is_store;
    }
    let shared = lines.into_iter().filter(|(_, (_, is_shared, is_written))| *is_shared && *is_written);
    shared.map(|(line, _)| line).collect()
}

/// Accesses of a CPU to a line, and of others.
#[derive(Default)]
struct CpuOnLine<'l> {
    /// Accesses of its turn, each address once.
    touched: Vec<&'l LineAccess>,
    /// Writes of others before the turn, since the one before.
    before: Vec<&'l LineAccess>,
    /// Writes of others since the turn began.
    since: Vec<&'l LineAccess>,
}

/// Sums over lines.
#[derive(Default)]
struct TurnSums {
    turns: BTreeMap<(StructIndex, u64), LineTurns>,
    /// By struct, line size and offsets: turns, and the objects.
    pairs: BTreeMap<(StructIndex, u64), BTreeMap<(u64, u64), (u64, FxHashSet<TaggedAddress>)>>,
    cpus: FxHashMap<(StructIndex, u64, TaggedAddress), BTreeSet<u32>>,
}

impl TurnSums {
    /// Adds the accesses to one line of the largest size, in order of time, on lines of a size.
    fn add_lines(&mut self, line: u64, accesses: &[LineAccess]) {
        let mut by_cpu: BTreeMap<(u64, u32), CpuOnLine<'_>> = BTreeMap::new();
        for access in accesses {
            let number = access.address.0 / line;
            let own = by_cpu.entry((number, access.cpu)).or_default();
            if !own.since.is_empty() {
                let over = std::mem::take(own);
                own.before = self.end_turn(line, access.cpu, over);
            }
            push_once(&mut own.touched, access);
            if access.is_store {
                let others = by_cpu.range_mut((number, 0)..=(number, u32::MAX));
                let others = others.filter(|((_, cpu), _)| *cpu != access.cpu);
                others.for_each(|(_, other)| push_once(&mut other.since, access));
            }
        }
        for ((_, cpu), last) in by_cpu {
            self.end_turn(line, cpu, last);
        }
    }

    /// Counts a turn that is over, and gives what others wrote since it began. A CPU's first turn is none:
    /// nothing shows that it had the line before.
    fn end_turn<'l>(&mut self, line: u64, cpu: u32, turn: CpuOnLine<'l>) -> Vec<&'l LineAccess> {
        let CpuOnLine { touched, before, since } = turn;
        let pairs = || touched.iter().flat_map(|own| before.iter().map(move |theirs| (*own, *theirs)));
        let is_true = pairs().any(|(own, theirs)| own.overlaps(theirs));
        let mut counted: BTreeSet<StructIndex> = BTreeSet::new();
        let mut seen: BTreeSet<(StructIndex, (u64, u64))> = BTreeSet::new();
        for (own, theirs) in pairs().filter(|(own, theirs)| !is_true || own.overlaps(theirs)) {
            for (target, base, offsets) in own.common_objects(theirs) {
                counted.insert(target);
                self.cpus.entry((target, line, base)).or_default().extend([cpu, theirs.cpu]);
                if !is_true && seen.insert((target, offsets)) {
                    let pair = self.pairs.entry((target, line)).or_default().entry(offsets).or_default();
                    pair.0 += 1;
                    pair.1.insert(base);
                }
            }
        }
        for target in counted {
            let turns = self.turns.entry((target, line)).or_default();
            *(if is_true { &mut turns.true_turns } else { &mut turns.false_turns }) += 1;
        }
        since
    }

    fn finish(self) -> BTreeMap<StructIndex, Vec<LineTurns>> {
        let mut all: BTreeMap<StructIndex, Vec<LineTurns>> = BTreeMap::new();
        let mut cpus: FxHashMap<(StructIndex, u64), u64> = FxHashMap::default();
        for ((target, line, _), found) in self.cpus {
            let most = cpus.entry((target, line)).or_default();
            *most = (found.len() as u64).max(*most);
        }
        for ((target, line), turns) in self.turns {
            let pairs = self.pairs.get(&(target, line)).into_iter().flatten();
            let pairs = pairs.map(|(&(offset, written), (turns, objects))| {
                let (turns, objects) = (*turns, objects.len() as u64);
                TurnPair { offset, written, turns, objects }
            });
            let cpus = cpus.get(&(target, line)).copied().unwrap_or(0);
            all.entry(target).or_default().push(LineTurns { line, cpus, pairs: pairs.collect(), ..turns });
        }
        all
    }
}

fn push_once<'l>(list: &mut Vec<&'l LineAccess>, access: &'l LineAccess) {
    let is_same = |known: &&LineAccess| {
        (known.address, known.size, known.cpu) == (access.address, access.size, access.cpu)
            && known.locations == access.locations
    };
    if !list.iter().any(is_same) {
        list.push(access);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accesses of CPU, offset in an object at `base`, and whether it is a store; one a nanosecond.
    fn accesses(steps: &[(u32, u64, bool)], base: u64) -> Vec<LineAccess> {
        let access = |(time, (cpu, offset, is_store)): (u64, &(u32, u64, bool))| LineAccess {
            time,
            cpu: *cpu,
            address: TaggedAddress(base + offset),
            size: 8,
            is_store: *is_store,
            locations: [(StructIndex(0), *offset)].into(),
        };
        (0..).zip(steps).map(access).collect()
    }

    fn turns(accesses: &[LineAccess]) -> Vec<LineTurns> {
        let mut sums = TurnSums::default();
        LINES.iter().for_each(|line| sums.add_lines(*line, accesses));
        sums.finish().remove(&StructIndex(0)).unwrap_or_default()
    }

    #[test]
    fn cpus_that_write_different_members_in_turns_share_falsely() {
        let steps: Vec<_> = (0..10).flat_map(|_| [(0, 0, true), (1, 8, true)]).collect();
        let found = turns(&accesses(&steps, 0x1000));
        assert_eq!(found.len(), 2);
        let LineTurns { line, true_turns, false_turns, cpus, pairs } = found[0].clone();
        assert_eq!((line, true_turns, false_turns, cpus), (64, 0, 18, 2));
        let pair = |offset, written| TurnPair { offset, written, turns: 9, objects: 1 };
        assert_eq!(pairs, [pair(0, 8), pair(8, 0)]);
    }

    #[test]
    fn a_turn_that_touches_what_was_written_is_true_sharing() {
        let steps: Vec<_> = (0..5).flat_map(|_| [(0, 16, false), (0, 8, false), (1, 8, true)]).collect();
        let found = turns(&accesses(&steps, 0x1000));
        assert_eq!((found[0].true_turns, found[0].false_turns), (4, 0));
    }

    #[test]
    fn lines_are_those_of_the_address() {
        let steps: Vec<_> = (0..5).flat_map(|_| [(0, 0, true), (1, 8, true)]).collect();
        let found = turns(&accesses(&steps, 0x1038));
        assert_eq!(
            found.iter().map(|turns| turns.line).collect::<Vec<_>>(),
            [128],
            "a line ends between them"
        );
    }

    #[test]
    fn objects_of_one_cpu_each_share_nothing() {
        let mut all = accesses(&[(0, 0, true); 9], 0x1000);
        all.extend(accesses(&[(1, 0, true); 9], 0x1020));
        all.sort_by_key(|access| access.time);
        assert!(turns(&all).is_empty(), "neighbours on a line are not members of one object");
    }
}
