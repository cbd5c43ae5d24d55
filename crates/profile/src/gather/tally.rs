//! The tally of a recording's records, and the gaps between samples of one CPU.

use crate::aggregate::SampleGaps;
use fieldline_perfdata::perf_data::{Record, RecordCounts, RecordingFacts};
use fieldline_perfdata::sample::Sample;

pub(crate) struct TallyAndTimes {
    tally: RecordCounts,
    /// CPU and time of samples.
    times: Vec<(u32, u64)>,
    /// Number of these before the end of each round.
    round_ends: Vec<usize>,
}

impl TallyAndTimes {
    pub(crate) fn empty(facts: &RecordingFacts) -> Self {
        Self { tally: RecordCounts::new(facts), times: Vec::new(), round_ends: Vec::new() }
    }

    pub(crate) fn add_sample(&mut self, sample: &Sample<'_>) {
        self.tally.add_sample(sample);
    }

    /// Adds CPU and time of a sample whose function is known.
    pub(crate) fn add_time(&mut self, cpu: Option<u32>, time: Option<u64>) {
        self.times.extend(cpu.zip(time));
    }

    /// Adds a record that is no sample.
    pub(crate) fn add_record(&mut self, record: &Record<'_>) {
        self.tally.add(record);
        if *record == Record::FinishedRound {
            self.round_ends.push(self.times.len());
        }
    }
}

pub(crate) struct TallySum {
    tally: RecordCounts,
    gaps: SampleGaps,
}

impl TallySum {
    pub(crate) fn new(facts: &RecordingFacts) -> Self {
        Self { tally: RecordCounts::new(facts), gaps: SampleGaps::default() }
    }

    pub(crate) fn add(&mut self, part: TallyAndTimes) {
        self.tally.merge(&part.tally);
        let mut times = part.times.into_iter().enumerate().peekable();
        for round in part.round_ends {
            while let Some((_, (cpu, time))) = times.next_if(|(number, _)| *number < round) {
                self.gaps.push(cpu, time);
            }
            self.gaps.end_round();
        }
        times.for_each(|(_, (cpu, time))| self.gaps.push(cpu, time));
    }

    pub(crate) fn finish(self) -> (RecordCounts, u64) {
        (self.tally, self.gaps.median())
    }
}
