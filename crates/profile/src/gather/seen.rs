//! A first look at a recording's records: their tally, and how far apart samples of one CPU are.

use crate::aggregate::Gaps;
use fieldline_perfdata::perf_data::{Record, RecordTally, RecordingFacts};
use fieldline_perfdata::sample::Sample;

pub(crate) struct Seen {
    tally: RecordTally,
    /// CPU and time of samples.
    times: Vec<(u32, u64)>,
    /// How many of these came before the end of each round.
    rounds: Vec<usize>,
}

impl Seen {
    pub(crate) fn nothing(facts: &RecordingFacts) -> Self {
        Self { tally: RecordTally::new(facts), times: Vec::new(), rounds: Vec::new() }
    }

    pub(crate) fn count(&mut self, sample: &Sample<'_>) {
        self.tally.add_sample(sample);
    }

    /// Takes CPU and time of a sample whose function is known.
    pub(crate) fn moment(&mut self, cpu: Option<u32>, time: Option<u64>) {
        self.times.extend(cpu.zip(time));
    }

    /// Takes a record that is no sample.
    pub(crate) fn other(&mut self, record: &Record<'_>) {
        self.tally.add(record);
        if *record == Record::FinishedRound {
            self.rounds.push(self.times.len());
        }
    }
}

pub(crate) struct SeenSum {
    tally: RecordTally,
    gaps: Gaps,
}

impl SeenSum {
    pub(crate) fn new(facts: &RecordingFacts) -> Self {
        Self { tally: RecordTally::new(facts), gaps: Gaps::default() }
    }

    pub(crate) fn add(&mut self, seen: Seen) {
        self.tally.merge(&seen.tally);
        let mut times = seen.times.into_iter().enumerate().peekable();
        for round in seen.rounds {
            while let Some((_, (cpu, time))) = times.next_if(|(number, _)| *number < round) {
                self.gaps.push(cpu, time);
            }
            self.gaps.end_round();
        }
        times.for_each(|(_, (cpu, time))| self.gaps.push(cpu, time));
    }

    pub(crate) fn finish(self) -> (RecordTally, u64) {
        (self.tally, self.gaps.median())
    }
}
