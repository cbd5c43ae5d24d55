//! All samples of a recording by key, without their times.

use super::range_table::RangeTable;
use super::sample_key::{LookupBatch, SampleFacts, SampleKey, SampleMeasures, SampleTable};
use super::source::LinkedRecording;
use super::stack_ranges::split_stack;
use super::tally::{TallyAndTimes, TallySum};
use crate::aggregate::SampleTimes;
use crate::objects::ObservedSpan;
use fieldline_perfdata::perf_data::{Error, Record, RecordCounts};
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::scan::{RecordScan, scan_records};
use fieldline_typeflow::operands::ProgramOperands;
use fieldline_typeflow::program::Program;

/// Sums over samples that are different in time and period only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleSums {
    pub(crate) span: ObservedSpan,
    pub(crate) period: u64,
    pub(crate) latency: u64,
    /// Position of the first of them in the file.
    pub(crate) first_position: u64,
    /// Whether debug info has a function around the instruction.
    has_function: bool,
}

impl SampleSums {
    fn empty(at: u64, has_function: bool) -> Self {
        let span = ObservedSpan { samples: 0, first: u64::MAX, last: 0 };
        Self { span, period: 0, latency: 0, first_position: at, has_function }
    }

    fn add(&mut self, other: &Self) {
        self.span.add(other.span);
        self.period = self.period.saturating_add(other.period);
        self.latency = self.latency.saturating_add(other.latency);
        self.first_position = self.first_position.min(other.first_position);
    }
}

#[derive(Debug, Default)]
pub(crate) struct GatheredSamples {
    pub(crate) table: SampleTable<SampleSums>,
    /// The ranges in branch stacks.
    pub(crate) ranges: RangeTable,
    pub(crate) clock: SampleTimes,
    /// The tally and the median gap of samples whose function is known, if the functions were assumed right.
    tally_and_gap: Option<(RecordCounts, u64)>,
}

impl GatheredSamples {
    pub(crate) fn new(source: &LinkedRecording<'_>, program: &Program<'_>) -> Result<Self, Error> {
        let mut sum = TallySum::new(source.file.facts());
        let states = scan_records(source.file, &SampleGatherer { source, program }, |tally| sum.add(tally))?;
        let mut gathered = Self::default();
        for state in states {
            gathered.clock.merge(&state.clock);
            gathered.merge(state.table);
            state.ranges.ranges().iter().for_each(|range| gathered.ranges.add(*range));
        }
        gathered.table.shrink();
        gathered.ranges.shrink();
        gathered.tally_and_gap = Some(sum.finish());
        Ok(gathered)
    }

    fn merge(&mut self, table: SampleTable<SampleSums>) {
        if self.table.len() == 0 {
            self.table = table;
            return;
        }
        for (facts, sums) in table.iter() {
            let key = self.table.intern_key(&facts);
            let number = self.table.add(key, || SampleSums::empty(sums.first_position, sums.has_function));
            self.table.value_mut(number).into_iter().for_each(|known| known.add(sums));
        }
    }

    /// The numbers of all keys, in file order of the first sample of each.
    pub(crate) fn in_file_order(&self) -> Vec<u32> {
        let numbered = (0_u32..).zip(self.table.iter());
        let mut all: Vec<(u64, u32)> = numbered.map(|(key, (_, sums))| (sums.first_position, key)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, number)| number).collect()
    }

    /// The tally and the median gap, if they are of the samples whose function is known.
    pub(crate) fn tally_and_gap(&self, answers: &ProgramOperands) -> Option<&(RecordCounts, u64)> {
        let is_as_assumed = |(facts, sums): (SampleFacts, &SampleSums)| {
            let is_known = facts.ip().is_some_and(|ip| answers.operands_at(ip).function.is_some());
            is_known == sums.has_function
        };
        self.tally_and_gap.as_ref().filter(|_| self.table.iter().all(is_as_assumed))
    }
}

struct SampleGatherer<'s, 'f, 'a> {
    source: &'s LinkedRecording<'f>,
    program: &'s Program<'a>,
}

struct GatherState {
    clock: SampleTimes,
    table: SampleTable<SampleSums>,
    ranges: RangeTable,
    batch: LookupBatch,
    tally: TallyAndTimes,
}

impl RecordScan for SampleGatherer<'_, '_, '_> {
    type State = GatherState;
    type Output = TallyAndTimes;

    fn new_state(&self, _number: usize) -> GatherState {
        let tally = TallyAndTimes::empty(self.source.file.facts());
        let (clock, table, ranges, batch) = Default::default();
        GatherState { clock, table, ranges, batch, tally }
    }

    fn add_sample(&self, state: &mut GatherState, sample: &Sample<'_>, at: u64) {
        sample.time.into_iter().for_each(|time| state.clock.add(time));
        state.tally.add_sample(sample);
        if self.source.counts_ranges(sample.event) {
            self.add_stack(state, sample, at);
            return;
        }
        let key = state.table.intern_key(&self.source.sample_facts(sample));
        if state.batch.push(key, SampleMeasures::from_sample(sample, at)) {
            self.add_batch(state);
        }
    }

    fn add_record(&self, state: &mut GatherState, record: &Record<'_>) {
        self.add_batch(state);
        state.tally.add_record(record);
    }

    fn finish_block(&self, state: &mut GatherState) -> TallyAndTimes {
        self.add_batch(state);
        std::mem::replace(&mut state.tally, TallyAndTimes::empty(self.source.file.facts()))
    }
}

impl SampleGatherer<'_, '_, '_> {
    fn add_batch(&self, state: &mut GatherState) {
        let GatherState { table, batch, tally, .. } = state;
        for (key, number, measures) in batch.drain(table) {
            let number = number.unwrap_or_else(|| self.add_key(table, key, measures.at));
            let Some(sums) = table.value_mut(number) else { continue };
            let time = measures.time.unwrap_or(0);
            sums.span.add(ObservedSpan { samples: 1, first: time, last: time });
            sums.period = sums.period.saturating_add(measures.period);
            sums.latency = sums.latency.saturating_add(measures.latency);
            if sums.has_function {
                tally.add_time(measures.cpu, measures.time);
            }
        }
    }

    /// Adds the ranges of a branch stack.
    fn add_stack(&self, state: &mut GatherState, sample: &Sample<'_>, at: u64) {
        for (range, period) in split_stack(sample) {
            match self.source.link(sample, range) {
                Ok(range) => state.ranges.add(range),
                Err(failed) => {
                    let key = state.table.intern_key(&failed);
                    if state.batch.push(
                        key,
                        SampleMeasures { period, latency: 0, ..SampleMeasures::from_sample(sample, at) },
                    ) {
                        self.add_batch(state);
                    }
                }
            }
        }
    }

    #[cold]
    fn add_key(&self, table: &mut SampleTable<SampleSums>, key: SampleKey, at: u64) -> u32 {
        let has_function = table.facts_of(&key).is_some_and(|facts| {
            // Samples of data breakpoints are resolved when the code is known.
            self.source.data_breakpoints.for_event(facts.attributes.event).is_none()
                && facts.ip().is_some_and(|ip| self.program.has_function(ip))
        });
        table.add(key, || SampleSums::empty(at, has_function))
    }
}
