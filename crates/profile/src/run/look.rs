//! A first look at a recording: its tally, and how far apart samples of one CPU are.

use super::attribution::Part;
use super::joint::function;
use crate::aggregate::gaps::Gaps;
use fieldline_perfdata::perf_data::{Error, Record, RecordTally, RecordingFacts};
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::sweep::{Sweep, sweep};

/// Counts a recording's records, and finds the median gap of samples whose function is known, in nanoseconds.
pub(super) fn look(parts: &[Part<'_, '_>], file: &SampleFile) -> Result<(RecordTally, u64), Error> {
    if let [only] = parts
        && let Some((tally, gap)) = only.looked()
    {
        return Ok((tally.clone(), *gap));
    }
    let facts = file.facts();
    let mut sum = Sum::new(facts);
    sweep(file, &Look { parts, facts }, |seen| sum.add(seen))?;
    Ok(sum.finish())
}

struct Look<'p, 'f> {
    parts: &'p [Part<'p, 'f>],
    facts: &'p RecordingFacts,
}

/// What a block of records shows.
pub(super) struct Seen {
    tally: RecordTally,
    /// CPU and time of samples.
    times: Vec<(u32, u64)>,
    /// How many of these came before the end of each round.
    rounds: Vec<usize>,
}

impl Seen {
    pub(super) fn nothing(facts: &RecordingFacts) -> Self {
        Self { tally: RecordTally::new(facts), times: Vec::new(), rounds: Vec::new() }
    }

    /// Counts a sample.
    pub(super) fn count(&mut self, sample: &Sample<'_>) {
        self.tally.add_sample(sample);
    }

    /// Takes CPU and time of a sample whose function is known.
    pub(super) fn moment(&mut self, cpu: Option<u32>, time: Option<u64>) {
        self.times.extend(cpu.zip(time));
    }

    /// Takes a record that is no sample.
    pub(super) fn other(&mut self, record: &Record<'_>) {
        self.tally.add(record);
        if *record == Record::FinishedRound {
            self.rounds.push(self.times.len());
        }
    }
}

/// What blocks show together.
pub(super) struct Sum {
    tally: RecordTally,
    gaps: Gaps,
}

impl Sum {
    pub(super) fn new(facts: &RecordingFacts) -> Self {
        Self { tally: RecordTally::new(facts), gaps: Gaps::default() }
    }

    /// Takes what the next block shows.
    pub(super) fn add(&mut self, seen: Seen) {
        self.tally.merge(&seen.tally);
        let mut times = seen.times.into_iter();
        let mut given = 0;
        for round in seen.rounds {
            times.by_ref().take(round - given).for_each(|(cpu, time)| self.gaps.push(cpu, time));
            given = round;
            self.gaps.end_round();
        }
        times.for_each(|(cpu, time)| self.gaps.push(cpu, time));
    }

    /// The tally, and the median gap.
    pub(super) fn finish(self) -> (RecordTally, u64) {
        (self.tally, self.gaps.median())
    }
}

impl Sweep for Look<'_, '_> {
    type Slot = Seen;
    type Out = Seen;

    fn slot(&self, _number: usize) -> Seen {
        Seen::nothing(self.facts)
    }

    fn sample(&self, slot: &mut Seen, sample: &Sample<'_>, _at: u64) {
        slot.count(sample);
        let counts_runs = self.parts.first().is_some_and(|part| part.counts_runs(sample.event));
        if !counts_runs && function(self.parts, sample).is_some() {
            slot.moment(sample.cpu, sample.time);
        }
    }

    fn other(&self, slot: &mut Seen, record: &Record<'_>) {
        slot.other(record);
    }

    fn end(&self, slot: &mut Seen) -> Seen {
        std::mem::replace(slot, Seen::nothing(self.facts))
    }
}
