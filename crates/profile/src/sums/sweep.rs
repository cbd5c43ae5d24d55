//! Sweep over the samples of a recording: sums by sample class, and the time of each window entry.

use super::context::SampleContext;
use super::range_sums::{self, RangeCounts};
use super::sample_classes::{ClassByTime, SampleClass, SampleClasses};
use crate::addresses::TaggedAddress;
use crate::aggregate::{ClassCounts, TimeBlocks, TypeAndFunction};
use crate::attribute::{ProgramSamples, locate_range};
use crate::gather::{LookupBatch, SampleFacts, SampleMeasures, SampleTable, split_stack};
use fieldline_perfdata::perf_data::{EventIndex, Record, RecordingFacts as FileFacts};
use fieldline_perfdata::sample::{Sample, SampleFields};
use fieldline_perfdata::scan::RecordScan;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// CPU and time of a window entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryTime {
    pub(super) cpu: u32,
    pub(super) entry: u32,
    pub(super) time: u64,
}

/// Results of a block of records.
#[derive(Default)]
pub(super) struct BlockOutcome {
    pub(super) entry_times: Vec<EntryTime>,
    /// Context functions of window entries, in order of their numbers.
    pub(super) contexts: Vec<(usize, Box<[u32]>)>,
    /// Number of window entries before the end of each round.
    pub(super) round_ends: Vec<usize>,
    /// Accesses in the ranges of branch stacks.
    pub(super) stacks: Vec<StackEntries>,
    pub(super) callchains: u64,
    pub(super) branch_stacks: u64,
}

/// Window entries of the ranges of one branch stack, unordered.
pub(super) struct StackEntries {
    pub(super) block: Option<u32>,
    /// Numbers of window entries, in order, each once.
    pub(super) entries: Vec<u32>,
    /// Context functions.
    pub(super) context: Box<[u32]>,
}

pub(super) struct ClassSweep<'p, 'f> {
    parts: &'p [ProgramSamples<'p, 'f>],
    classes: &'p SampleClasses,
    blocks: &'p TimeBlocks,
    /// By event: whether samples show more than one instruction.
    has_context: Vec<bool>,
    /// By class: the number of its window entry, or [`NO_ENTRY`] if it belongs to no window.
    entry_numbers: Vec<u32>,
    /// By program: the same of accesses in ranges.
    range_entry_numbers: Vec<Vec<u32>>,
    /// Window entries, in order.
    pub(super) entries: Vec<TypeAndFunction>,
    /// By program: numbers of its functions in the profile.
    functions: Vec<Vec<u32>>,
}

const NO_ENTRY: u32 = u32::MAX;

impl<'p, 'f> ClassSweep<'p, 'f> {
    pub(super) fn new(
        parts: &'p [ProgramSamples<'p, 'f>],
        facts: &FileFacts,
        classes: &'p SampleClasses,
        blocks: &'p TimeBlocks,
        functions: Vec<Vec<u32>>,
        mut entry_of: impl FnMut(&SampleClass) -> Option<TypeAndFunction>,
    ) -> Self {
        let context = SampleFields::CALLCHAIN | SampleFields::BRANCH_STACK;
        let has_context =
            facts.events.iter().map(|event| event.attr.sample_type.intersects(context)).collect();
        let found: Vec<Option<TypeAndFunction>> = classes.classes.iter().map(&mut entry_of).collect();
        let mut part_entries = |(index, part): (usize, &ProgramSamples<'_, '_>)| {
            let range_class = |access| SampleClass::for_range(index, EventIndex(0), None, access);
            let accesses = part.recorded.straight_line.accesses.iter();
            accesses.map(|access| entry_of(&range_class(*access))).collect()
        };
        let range_entries: Vec<Vec<Option<TypeAndFunction>>> =
            parts.iter().enumerate().map(&mut part_entries).collect();
        let mut entries: Vec<TypeAndFunction> =
            found.iter().chain(range_entries.iter().flatten()).flatten().copied().collect();
        entries.sort_unstable();
        entries.dedup();
        let number = |entry: &Option<TypeAndFunction>| {
            let number = entry.and_then(|entry| entries.binary_search(&entry).ok());
            number.map_or(NO_ENTRY, |number| number as u32)
        };
        let entry_numbers = found.iter().map(number).collect();
        let range_entry_numbers = range_entries.iter().map(|own| own.iter().map(number).collect()).collect();
        Self { parts, classes, blocks, has_context, entry_numbers, range_entry_numbers, entries, functions }
    }

    /// Sums over the accesses in ranges, by class: first samples and periods, then samples by time block.
    pub(super) fn range_sums(&self, states: &[SweepState], mut each: impl FnMut(&SampleClass, &ClassCounts)) {
        for (index, part) in self.parts.iter().enumerate() {
            let counts = states.iter().filter_map(|state| state.ranges.get(index));
            range_sums::for_each_access(index, &part.recorded.straight_line, counts, &mut each);
        }
    }

    /// Number of ranges counted that fit the code.
    pub(super) fn ranges_counted(&self, states: &[SweepState]) -> u64 {
        let runs = states.iter().flat_map(|state| state.ranges.iter().zip(self.parts));
        runs.map(|(counts, part)| counts.count_fitting(&part.recorded.straight_line)).sum()
    }

    /// The sums of all states, by number of the class.
    pub(super) fn sums(&self, states: Vec<SweepState>) -> Vec<ClassCounts> {
        let mut sums = match self.parts {
            [only] => self.classes.sums(only),
            _ => vec![ClassCounts::default(); self.classes.classes.len()],
        };
        for state in states {
            for (row, counts) in sums.iter_mut().enumerate() {
                let by_block = state.by_block.iter().skip(row).step_by(self.entry_numbers.len()).enumerate();
                by_block
                    .filter(|(_, samples)| **samples > 0)
                    .for_each(|(block, samples)| counts.add_to_block(block, *samples));
            }
            for ((class, address), late) in state.time_dependent {
                let Some(counts) = sums.get_mut(class as usize) else { continue };
                counts.add(late.samples, late.period, late.latency);
                counts.addresses.extend(address.map(|address| (address, late.samples)));
            }
        }
        sums
    }
}

pub(super) struct SweepState {
    batch: LookupBatch,
    /// Samples by time block, and in each by class.
    by_block: Vec<u64>,
    /// Sums by class and address of samples whose class depends on time.
    time_dependent: FxHashMap<(u32, Option<TaggedAddress>), ClassCounts>,
    /// By program: counts of ranges.
    ranges: Vec<RangeCounts>,
    outcome: BlockOutcome,
}

impl RecordScan for ClassSweep<'_, '_> {
    type State = SweepState;
    type Output = BlockOutcome;

    fn new_state(&self, _number: usize) -> SweepState {
        let by_block = vec![0; self.blocks.len() * self.entry_numbers.len()];
        let ranges = self.parts.iter().map(|_| RangeCounts::default()).collect();
        let (batch, time_dependent, outcome) = Default::default();
        SweepState { batch, by_block, time_dependent, ranges, outcome }
    }

    fn add_sample(&self, state: &mut SweepState, sample: &Sample<'_>, at: u64) {
        let has_context = self.has_context.get(sample.event.index()).is_some_and(|has| *has);
        if has_context && self.parts.first().is_some_and(|part| part.counts_ranges(sample)) {
            self.add_stack(state, sample);
            return;
        }
        match (self.parts, &self.classes.tables[..]) {
            ([only], [table]) if !has_context => {
                let Some(key) = table.find_key(&only.recorded.source.sample_facts(sample)) else { return };
                if state.batch.push(key, SampleMeasures::from_sample(sample, at)) {
                    self.add_batch(state, table, only);
                }
            }
            _ => {
                self.flush(state);
                self.add_single(state, sample, has_context);
            }
        }
    }

    fn add_record(&self, state: &mut SweepState, record: &Record<'_>) {
        if *record == Record::FinishedRound {
            self.flush(state);
            state.outcome.round_ends.push(state.outcome.entry_times.len());
        }
    }

    fn finish_block(&self, state: &mut SweepState) -> BlockOutcome {
        self.flush(state);
        std::mem::take(&mut state.outcome)
    }
}

impl ClassSweep<'_, '_> {
    fn flush(&self, state: &mut SweepState) {
        if let ([only], [table]) = (self.parts, &self.classes.tables[..]) {
            self.add_batch(state, table, only);
        }
    }

    fn add_batch(
        &self,
        state: &mut SweepState,
        table: &SampleTable<ClassByTime>,
        part: &ProgramSamples<'_, '_>,
    ) {
        let mut batch = std::mem::take(&mut state.batch);
        for (key, number, measures) in batch.drain(table) {
            let Some(row) = number.and_then(|number| table.value(number)) else { continue };
            let Some(class) = self.classes.class_at(part, *row, measures.time) else { continue };
            if let ClassByTime::ByTime(_) = row
                && let Some(facts) = table.facts_of(&key)
            {
                self.add_time_dependent(state, class, part, &facts, &measures);
            }
            self.add_sample(state, class, &measures);
        }
        state.batch = batch;
    }

    /// Adds a sample without batching: of several programs, or with a context.
    fn add_single(&self, state: &mut SweepState, sample: &Sample<'_>, has_context: bool) {
        let measures = SampleMeasures::from_sample(sample, 0);
        let Some((part, facts, row, class)) = self.find(sample) else { return };
        if matches!(row, ClassByTime::ByTime(_)) || self.parts.len() > 1 {
            self.add_time_dependent(state, class, part, &facts, &measures);
        }
        let number = state.outcome.entry_times.len();
        let has_entry_time = self.add_sample(state, class, &measures);
        let Some(sample_class) = self.classes.classes.get(class as usize).filter(|_| has_context) else {
            return;
        };
        let found = self.context(state, sample, (sample_class.part, part), sample_class.attributed.function);
        if has_entry_time && !found.is_empty() {
            state.outcome.contexts.push((number, found));
        }
    }

    /// Context functions of a sample, as the profile numbers them.
    fn context(
        &self,
        state: &mut SweepState,
        sample: &Sample<'_>,
        (index, part): (usize, &ProgramSamples<'_, '_>),
        own: Option<u32>,
    ) -> Box<[u32]> {
        let context = SampleContext::from_sample(sample, own, &part.recorded.source.linker, part.answers);
        state.outcome.callchains += u64::from(context.has_callchain);
        state.outcome.branch_stacks += u64::from(context.has_branches);
        let known = self.functions.get(index).map_or(&[][..], Vec::as_slice);
        context.functions.iter().filter_map(|index| known.get(*index as usize).copied()).collect()
    }

    /// Adds the ranges of a branch stack.
    fn add_stack(&self, state: &mut SweepState, sample: &Sample<'_>) {
        let block = self.blocks.block_at(sample.time);
        let mut entries = Vec::new();
        let mut first = None;
        for (range, period) in split_stack(sample) {
            match locate_range(self.parts, sample, range) {
                Some((index, part, Ok(run))) => {
                    let Some(number) = part.recorded.straight_line.ranges.number(&run) else { continue };
                    if let Some(counts) = state.ranges.get_mut(index) {
                        counts.count(number, sample.cpu, block, period);
                    }
                    let Range { start, end } = part.recorded.straight_line.access_range(number);
                    let all = self.range_entry_numbers.get(index).map_or(&[][..], Vec::as_slice);
                    let numbers = all.get(start as usize..end as usize).unwrap_or(&[]);
                    entries.extend(numbers.iter().copied().filter(|entry| *entry != NO_ENTRY));
                    first = first.or(Some((index, part)));
                }
                Some((_, part, Err(failed))) => self.add_failed(state, part, &failed, sample, period),
                None => {}
            }
        }
        entries.sort_unstable();
        entries.dedup();
        let program = first.or(self.parts.first().map(|part| (0, part)));
        let context = program.map(|program| self.context(state, sample, program, None)).unwrap_or_default();
        if !entries.is_empty() {
            state.outcome.stacks.push(StackEntries { block, entries, context });
        }
    }

    /// Counts a part of a branch stack that is no range of any program.
    fn add_failed(
        &self,
        state: &mut SweepState,
        part: &ProgramSamples<'_, '_>,
        lost: &SampleFacts,
        sample: &Sample<'_>,
        period: u64,
    ) {
        let Some(table) = self.classes.tables.first() else { return };
        let class = table
            .find_number(lost)
            .and_then(|number| self.classes.class_at(part, *table.value(number)?, sample.time));
        let Some(class) = class else { return };
        let measures = SampleMeasures { period, latency: 0, ..SampleMeasures::from_sample(sample, 0) };
        if self.parts.len() > 1 {
            self.add_time_dependent(state, class, part, lost, &measures);
        }
        self.count_in_block(state, class, sample.time);
    }

    /// The first program that has a sample's instruction, and the sample's class.
    fn find(&self, sample: &Sample<'_>) -> Option<(&ProgramSamples<'_, '_>, SampleFacts, ClassByTime, u32)> {
        let mut first = None;
        for (part, table) in self.parts.iter().zip(&self.classes.tables) {
            let facts = part.recorded.source.sample_facts(sample);
            let row = *table.value(table.find_number(&facts)?)?;
            let class = self.classes.class_at(part, row, sample.time)?;
            if self.classes.classes.get(class as usize)?.attributed.ip.is_some() {
                return Some((part, facts, row, class));
            }
            first = first.or(Some((part, facts, row, class)));
        }
        first
    }

    #[inline]
    fn count_in_block(&self, state: &mut SweepState, class: u32, time: Option<u64>) {
        if let Some(block) = self.blocks.block_at(time) {
            let index = block as usize * self.entry_numbers.len() + class as usize;
            state.by_block.get_mut(index).into_iter().for_each(|count| *count += 1);
        }
    }

    /// Counts a sample by block, and adds its window entry; `true` if it has one.
    #[inline]
    fn add_sample(&self, state: &mut SweepState, class: u32, measures: &SampleMeasures) -> bool {
        self.count_in_block(state, class, measures.time);
        let entry = self.entry_numbers.get(class as usize).copied().filter(|entry| *entry != NO_ENTRY);
        let (Some(entry), Some(cpu), Some(time)) = (entry, measures.cpu, measures.time) else { return false };
        state.outcome.entry_times.push(EntryTime { cpu, entry, time });
        true
    }

    #[cold]
    fn add_time_dependent(
        &self,
        state: &mut SweepState,
        class: u32,
        part: &ProgramSamples<'_, '_>,
        facts: &SampleFacts,
        measures: &SampleMeasures,
    ) {
        let sum = state.time_dependent.entry((class, self.classes.address(class, part, facts))).or_default();
        sum.add(1, measures.period, measures.latency);
    }
}
