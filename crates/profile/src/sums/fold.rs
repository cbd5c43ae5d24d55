//! Samples of a recording that count alike, taken together; and what is needed of each by itself: when it was.

use super::context::SampleContext;
use super::rows::{Alike, Row, Rows};
use super::run_sums::{self, RunCounts};
use crate::aggregate::{Blocks, Counts, Word};
use crate::attribute::{Part, place};
use crate::gather::{Batch, Facts, One, Table, pieces};
use fieldline_perfdata::perf_data::{EventIndex, Record, RecordingFacts as FileFacts};
use fieldline_perfdata::sample::{Sample, SampleFields};
use fieldline_perfdata::sweep::Sweep;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// When a sample was that may belong to a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    pub(super) cpu: u32,
    pub(super) word: u32,
    pub(super) time: u64,
}

/// What a block of records came to.
#[derive(Default)]
pub(super) struct Folded {
    pub(super) moments: Vec<When>,
    /// Functions besides its own that the moment of a number shows, in order of numbers.
    pub(super) contexts: Vec<(usize, Box<[u32]>)>,
    /// How many of the moments came before the end of each round.
    pub(super) rounds: Vec<usize>,
    /// What the runs of a branch stack touched.
    pub(super) stacks: Vec<Stack>,
    pub(super) callchains: u64,
    pub(super) branch_stacks: u64,
}

/// What the runs of one branch stack touched, in no order: they ran in one go.
pub(super) struct Stack {
    pub(super) block: Option<u32>,
    /// Numbers of words, in order, each once.
    pub(super) words: Vec<u32>,
    /// Functions besides.
    pub(super) context: Box<[u32]>,
}

pub(super) struct Fold<'p, 'f> {
    parts: &'p [Part<'p, 'f>],
    rows: &'p Rows,
    blocks: &'p Blocks,
    /// By event: whether samples show more than one instruction.
    has_context: Vec<bool>,
    /// By what samples are like: the number of their word, or [`NO_WORD`] if they belong to no window.
    numbers: Vec<u32>,
    /// By program: the same of accesses in runs.
    run_numbers: Vec<Vec<u32>>,
    /// Words of windows, in order.
    pub(super) words: Vec<Word>,
    /// By program: numbers of its functions in the profile.
    functions: Vec<Vec<u32>>,
}

const NO_WORD: u32 = u32::MAX;

impl<'p, 'f> Fold<'p, 'f> {
    pub(super) fn new(
        parts: &'p [Part<'p, 'f>],
        facts: &FileFacts,
        rows: &'p Rows,
        blocks: &'p Blocks,
        functions: Vec<Vec<u32>>,
        mut word_of: impl FnMut(&Alike) -> Option<Word>,
    ) -> Self {
        let context = SampleFields::CALLCHAIN | SampleFields::BRANCH_STACK;
        let has_context =
            facts.events.iter().map(|event| event.attr.sample_type.intersects(context)).collect();
        let found: Vec<Option<Word>> = rows.alikes.iter().map(&mut word_of).collect();
        let mut of_part = |(index, part): (usize, &Part<'_, '_>)| -> Vec<Option<Word>> {
            let of_run = |access| Alike::of_run(index, EventIndex(0), None, access);
            part.recorded.straight.accesses.iter().map(|access| word_of(&of_run(*access))).collect()
        };
        let of_runs: Vec<Vec<Option<Word>>> = parts.iter().enumerate().map(&mut of_part).collect();
        let mut words: Vec<Word> = found.iter().chain(of_runs.iter().flatten()).flatten().copied().collect();
        words.sort_unstable();
        words.dedup();
        let number = |word: &Option<Word>| {
            let number = word.and_then(|word| words.binary_search(&word).ok());
            number.map_or(NO_WORD, |number| number as u32)
        };
        let numbers = found.iter().map(number).collect();
        let run_numbers = of_runs.iter().map(|found| found.iter().map(number).collect()).collect();
        Self { parts, rows, blocks, has_context, numbers, run_numbers, words, functions }
    }

    /// Sums over the accesses of runs, by what they are like: first samples and periods, then samples by block of time.
    pub(super) fn run_sums(&self, slots: &[Slot], mut each: impl FnMut(&Alike, &Counts)) {
        for (index, part) in self.parts.iter().enumerate() {
            let counts = slots.iter().filter_map(|slot| slot.runs.get(index));
            run_sums::each(index, &part.recorded.straight, counts, &mut each);
        }
    }

    /// How many runs were counted that fit the code.
    pub(super) fn runs_counted(&self, slots: &[Slot]) -> u64 {
        let runs = slots.iter().flat_map(|slot| slot.runs.iter().zip(self.parts));
        runs.map(|(counts, part)| counts.fitting(&part.recorded.straight)).sum()
    }

    /// The sums of all slots, by number of what samples are like.
    pub(super) fn sums(&self, slots: Vec<Slot>) -> Vec<Counts> {
        let mut sums = match self.parts {
            [only] => self.rows.sums(only),
            _ => vec![Counts::default(); self.rows.alikes.len()],
        };
        for slot in slots {
            for (row, counts) in sums.iter_mut().enumerate() {
                let by_block = slot.by_block.iter().skip(row).step_by(self.numbers.len()).enumerate();
                by_block.filter(|(_, samples)| **samples > 0).for_each(|(at, of)| counts.count_in(at, *of));
            }
            for ((alike, address), late) in slot.late {
                let Some(counts) = sums.get_mut(alike as usize) else { continue };
                counts.count(late.samples, late.period, late.latency);
                counts.addresses.extend(address.map(|address| (address, late.samples)));
            }
        }
        sums
    }
}

pub(super) struct Slot {
    batch: Batch,
    /// Samples by block of time, and in each by what they are like.
    by_block: Vec<u64>,
    /// What is not known before of samples that are alike and have an address.
    late: FxHashMap<(u32, Option<u64>), Counts>,
    /// By program: how often each run was met.
    runs: Vec<RunCounts>,
    out: Folded,
}

impl Sweep for Fold<'_, '_> {
    type Slot = Slot;
    type Out = Folded;

    fn slot(&self, _number: usize) -> Slot {
        let by_block = vec![0; self.blocks.len() * self.numbers.len()];
        let runs = self.parts.iter().map(|_| RunCounts::default()).collect();
        Slot { batch: Batch::default(), by_block, late: FxHashMap::default(), runs, out: Folded::default() }
    }

    fn sample(&self, slot: &mut Slot, sample: &Sample<'_>, at: u64) {
        let has_context = self.has_context.get(sample.event.index()).is_some_and(|has| *has);
        if has_context && self.parts.first().is_some_and(|part| part.counts_runs(sample)) {
            self.stack(slot, sample);
            return;
        }
        match (self.parts, &self.rows.tables[..]) {
            ([only], [table]) if !has_context => {
                let Some(key) = table.known_key(&only.recorded.source.facts(sample)) else { return };
                if slot.batch.push(key, One::of(sample, at)) {
                    self.take_batch(slot, table, only);
                }
            }
            _ => {
                self.flush(slot);
                self.single(slot, sample, has_context);
            }
        }
    }

    fn other(&self, slot: &mut Slot, record: &Record<'_>) {
        if *record == Record::FinishedRound {
            self.flush(slot);
            slot.out.rounds.push(slot.out.moments.len());
        }
    }

    fn end(&self, slot: &mut Slot) -> Folded {
        self.flush(slot);
        std::mem::take(&mut slot.out)
    }
}

impl Fold<'_, '_> {
    fn flush(&self, slot: &mut Slot) {
        if let ([only], [table]) = (self.parts, &self.rows.tables[..]) {
            self.take_batch(slot, table, only);
        }
    }

    fn take_batch(&self, slot: &mut Slot, table: &Table<Row>, part: &Part<'_, '_>) {
        let mut batch = std::mem::take(&mut slot.batch);
        for (key, number, one) in batch.take(table) {
            let Some(row) = number.and_then(|number| table.value(number)) else { continue };
            let Some(alike) = self.rows.at(*row, one.time) else { continue };
            if let Row::ByTime(_) = row
                && let Some(facts) = table.facts_of(&key)
            {
                self.count_late(slot, alike, part, &facts, &one);
            }
            self.take(slot, alike, &one);
        }
        slot.batch = batch;
    }

    /// Takes a sample by itself: one of several programs, or with a context.
    fn single(&self, slot: &mut Slot, sample: &Sample<'_>, has_context: bool) {
        let one = One::of(sample, 0);
        let Some((part, facts, row, alike)) = self.find(sample) else { return };
        if matches!(row, Row::ByTime(_)) || self.parts.len() > 1 {
            self.count_late(slot, alike, part, &facts, &one);
        }
        let number = slot.out.moments.len();
        let is_moment = self.take(slot, alike, &one);
        let Some(alike) = self.rows.alikes.get(alike as usize).filter(|_| has_context) else { return };
        let functions = self.context(slot, sample, (alike.part, part), alike.attributed.function);
        if is_moment && !functions.is_empty() {
            slot.out.contexts.push((number, functions));
        }
    }

    /// Functions that a sample shows besides its own, as the profile numbers them.
    fn context(
        &self,
        slot: &mut Slot,
        sample: &Sample<'_>,
        (index, part): (usize, &Part<'_, '_>),
        own: Option<u32>,
    ) -> Box<[u32]> {
        let context = SampleContext::of(sample, own, &part.recorded.source.linker, part.answers);
        slot.out.callchains += u64::from(context.has_callchain);
        slot.out.branch_stacks += u64::from(context.has_branches);
        let known = self.functions.get(index).map_or(&[][..], Vec::as_slice);
        context.functions.iter().filter_map(|index| known.get(*index as usize).copied()).collect()
    }

    /// Takes the runs of a branch stack.
    fn stack(&self, slot: &mut Slot, sample: &Sample<'_>) {
        let block = self.blocks.at(sample.time);
        let mut words = Vec::new();
        let mut first = None;
        for (piece, period) in pieces(sample) {
            match place(self.parts, sample, piece) {
                Some((index, part, Ok(run))) => {
                    let Some(number) = part.recorded.straight.runs.number(&run) else { continue };
                    if let Some(counts) = slot.runs.get_mut(index) {
                        counts.count(number, sample.cpu, block, period);
                    }
                    let Range { start, end } = part.recorded.straight.range(number);
                    let all = self.run_numbers.get(index).map_or(&[][..], Vec::as_slice);
                    let numbers = all.get(start as usize..end as usize).unwrap_or(&[]);
                    words.extend(numbers.iter().copied().filter(|word| *word != NO_WORD));
                    first = first.or(Some((index, part)));
                }
                Some((_, part, Err(lost))) => self.lost(slot, part, &lost, sample, period),
                None => {}
            }
        }
        words.sort_unstable();
        words.dedup();
        let place = first.or(self.parts.first().map(|part| (0, part)));
        let context = place.map(|place| self.context(slot, sample, place, None)).unwrap_or_default();
        if !words.is_empty() {
            slot.out.stacks.push(Stack { block, words, context });
        }
    }

    /// Counts a piece of a branch stack that is no run of any program.
    fn lost(&self, slot: &mut Slot, part: &Part<'_, '_>, lost: &Facts, sample: &Sample<'_>, period: u64) {
        let Some(table) = self.rows.tables.first() else { return };
        let alike = table.number(lost).and_then(|number| self.rows.at(*table.value(number)?, sample.time));
        let Some(alike) = alike else { return };
        let one = One { period, latency: 0, ..One::of(sample, 0) };
        if self.parts.len() > 1 {
            self.count_late(slot, alike, part, lost, &one);
        }
        self.count_in_block(slot, alike, sample.time);
    }

    /// The program that tells what a sample touched, and what it is like: the first that has its instruction.
    fn find(&self, sample: &Sample<'_>) -> Option<(&Part<'_, '_>, Facts, Row, u32)> {
        let mut first = None;
        for (part, table) in self.parts.iter().zip(&self.rows.tables) {
            let facts = part.recorded.source.facts(sample);
            let row = *table.value(table.number(&facts)?)?;
            let alike = self.rows.at(row, sample.time)?;
            if self.rows.alikes.get(alike as usize)?.attributed.ip.is_some() {
                return Some((part, facts, row, alike));
            }
            first = first.or(Some((part, facts, row, alike)));
        }
        first
    }

    #[inline]
    fn count_in_block(&self, slot: &mut Slot, alike: u32, time: Option<u64>) {
        if let Some(block) = self.blocks.at(time) {
            let place = block as usize * self.numbers.len() + alike as usize;
            slot.by_block.get_mut(place).into_iter().for_each(|count| *count += 1);
        }
    }

    /// Counts a sample by block, and notes when it was; `true` if that may matter.
    #[inline]
    fn take(&self, slot: &mut Slot, alike: u32, one: &One) -> bool {
        self.count_in_block(slot, alike, one.time);
        let word = self.numbers.get(alike as usize).copied().filter(|word| *word != NO_WORD);
        let (Some(word), Some(cpu), Some(time)) = (word, one.cpu, one.time) else { return false };
        slot.out.moments.push(When { cpu, word, time });
        true
    }

    #[cold]
    fn count_late(&self, slot: &mut Slot, alike: u32, part: &Part<'_, '_>, facts: &Facts, one: &One) {
        let late = slot.late.entry((alike, self.rows.address(alike, part, facts))).or_default();
        late.count(1, one.period, one.latency);
    }
}
