//! All samples of a recording by what they touched and how they count, but for their times: as many as are different.

use super::key::{Batch, Facts, Key, One, Table};
use super::pieces::pieces;
use super::seen::{Seen, SeenSum};
use super::source::Source;
use crate::aggregate::Clock;
use crate::objects::Votes;
use fieldline_perfdata::perf_data::{Error, Record, RecordTally};
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::sweep::{Sweep, sweep};
use fieldline_typeflow::operands::Answers;
use fieldline_typeflow::program::Program;

/// Sums over samples that are different in time and period only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    pub(crate) votes: Votes,
    pub(crate) period: u64,
    pub(crate) latency: u64,
    /// Where in the file the first of them is.
    pub(crate) at: u64,
    /// Whether debug info has a function around the instruction.
    has_function: bool,
}

impl Sums {
    fn nothing(at: u64, has_function: bool) -> Self {
        let votes = Votes { samples: 0, first: u64::MAX, last: 0 };
        Self { votes, period: 0, latency: 0, at, has_function }
    }

    fn add(&mut self, other: &Self) {
        self.votes.add(other.votes);
        self.period = self.period.saturating_add(other.period);
        self.latency = self.latency.saturating_add(other.latency);
        self.at = self.at.min(other.at);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) table: Table<Sums>,
    /// Where the runs of branch stacks begin and end, by event; see [`Source::piece`].
    pub(crate) runs: Table<()>,
    pub(crate) clock: Clock,
    /// The tally and the median gap of samples whose function is known, if the functions were guessed right.
    looked: Option<(RecordTally, u64)>,
}

impl Gathered {
    pub(crate) fn new(source: &Source<'_>, program: &Program<'_>) -> Result<Self, Error> {
        let mut sum = SeenSum::new(source.file.facts());
        let slots = sweep(source.file, &Gather { source, program }, |seen| sum.add(seen))?;
        let mut all = Self::default();
        for slot in slots {
            all.clock.merge(&slot.clock);
            all.merge(slot.table);
            for (facts, ()) in slot.runs.iter() {
                note_run(&mut all.runs, &facts);
            }
        }
        all.table.shrink();
        all.runs.shrink();
        all.looked = Some(sum.finish());
        Ok(all)
    }

    fn merge(&mut self, table: Table<Sums>) {
        if self.table.len() == 0 {
            self.table = table;
            return;
        }
        for (facts, sums) in table.iter() {
            let key = self.table.key(&facts);
            let number = self.table.add(key, || Sums::nothing(sums.at, sums.has_function));
            self.table.value_mut(number).into_iter().for_each(|known| known.add(sums));
        }
    }

    /// The numbers of all keys, in the order in which the first sample of each stands in the file.
    pub(crate) fn in_order(&self) -> Vec<u32> {
        let numbered = (0_u32..).zip(self.table.iter());
        let mut all: Vec<(u64, u32)> = numbered.map(|(number, (_, sums))| (sums.at, number)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, number)| number).collect()
    }

    /// The tally and the median gap, if the samples taken for it are those whose function is known.
    pub(crate) fn looked(&self, answers: &Answers) -> Option<&(RecordTally, u64)> {
        let is_right = |(facts, sums): (Facts, &Sums)| {
            let is_known = facts.aside.space.is_ok() && answers.at(facts.ip).function.is_some();
            is_known == sums.has_function
        };
        self.looked.as_ref().filter(|_| self.table.iter().all(is_right))
    }
}

fn note_run(runs: &mut Table<()>, facts: &Facts) {
    let key = runs.key(facts);
    runs.add(key, || ());
}

struct Gather<'s, 'f, 'a> {
    source: &'s Source<'f>,
    program: &'s Program<'a>,
}

struct Slot {
    clock: Clock,
    table: Table<Sums>,
    runs: Table<()>,
    batch: Batch,
    seen: Seen,
}

impl Sweep for Gather<'_, '_, '_> {
    type Slot = Slot;
    type Out = Seen;

    fn slot(&self, _number: usize) -> Slot {
        let seen = Seen::nothing(self.source.file.facts());
        let (clock, table, runs, batch) = Default::default();
        Slot { clock, table, runs, batch, seen }
    }

    fn sample(&self, slot: &mut Slot, sample: &Sample<'_>, at: u64) {
        sample.time.into_iter().for_each(|time| slot.clock.note(time));
        slot.seen.count(sample);
        if self.source.counts_runs(sample.event) {
            self.take_stack(slot, sample, at);
            return;
        }
        let key = slot.table.key(&self.source.facts(sample));
        if slot.batch.push(key, One::of(sample, at)) {
            self.take_batch(slot);
        }
    }

    fn other(&self, slot: &mut Slot, record: &Record<'_>) {
        self.take_batch(slot);
        slot.seen.other(record);
    }

    fn end(&self, slot: &mut Slot) -> Seen {
        self.take_batch(slot);
        std::mem::replace(&mut slot.seen, Seen::nothing(self.source.file.facts()))
    }
}

impl Gather<'_, '_, '_> {
    fn take_batch(&self, slot: &mut Slot) {
        let Slot { table, batch, seen, .. } = slot;
        for (key, number, one) in batch.take(table) {
            let number = number.unwrap_or_else(|| self.add(table, key, one.at));
            let Some(sums) = table.value_mut(number) else { continue };
            let time = one.time.unwrap_or(0);
            sums.votes.add(Votes { samples: 1, first: time, last: time });
            sums.period = sums.period.saturating_add(one.period);
            sums.latency = sums.latency.saturating_add(one.latency);
            if sums.has_function {
                seen.moment(one.cpu, one.time);
            }
        }
    }

    /// Takes the runs of a branch stack.
    fn take_stack(&self, slot: &mut Slot, sample: &Sample<'_>, at: u64) {
        for (piece, period) in pieces(sample) {
            match self.source.piece(sample, piece) {
                Ok(run) => note_run(&mut slot.runs, &run),
                Err(lost) => {
                    let key = slot.table.key(&lost);
                    if slot.batch.push(key, One { period, latency: 0, ..One::of(sample, at) }) {
                        self.take_batch(slot);
                    }
                }
            }
        }
    }

    #[cold]
    fn add(&self, table: &mut Table<Sums>, key: Key, at: u64) -> u32 {
        let has_function = table.facts_of(&key).is_some_and(|facts| {
            // What traps mean is known when the code is.
            self.source.traps.of_event(facts.aside.event).is_none()
                && facts.aside.space.is_ok()
                && self.program.has_function(facts.ip)
        });
        table.add(key, || Sums::nothing(at, has_function))
    }
}
