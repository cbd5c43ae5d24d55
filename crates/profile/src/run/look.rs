//! A first look at a recording: its tally, and how far apart samples of one CPU are.

use super::attribution::Part;
use super::joint::function;
use crate::aggregate::gaps::Gaps;
use crate::perf_data::{Error, Facts, Record, Tally};
use crate::sample_file::SampleFile;
use crate::sweep::{Sweep, sweep};

/// Counts a recording's records, and finds the median gap of samples whose function is known, in nanoseconds.
pub(super) fn look(parts: &[Part<'_, '_>], file: &SampleFile) -> Result<(Tally, u64), Error> {
    let facts = file.facts();
    let (mut tally, mut gaps) = (Tally::new(facts), Gaps::default());
    sweep(file, &Look { parts, facts }, |seen: Seen| {
        tally.merge(&seen.tally);
        let mut times = seen.times.into_iter();
        let mut given = 0;
        for round in seen.rounds {
            times.by_ref().take(round - given).for_each(|(cpu, time)| gaps.push(cpu, time));
            given = round;
            gaps.end_round();
        }
        times.for_each(|(cpu, time)| gaps.push(cpu, time));
    })?;
    Ok((tally, gaps.median()))
}

struct Look<'p, 'f> {
    parts: &'p [Part<'p, 'f>],
    facts: &'p Facts,
}

/// What a block of records shows.
struct Seen {
    tally: Tally,
    /// CPU and time of samples.
    times: Vec<(u32, u64)>,
    /// How many of these came before the end of each round.
    rounds: Vec<usize>,
}

impl Look<'_, '_> {
    fn nothing(&self) -> Seen {
        Seen { tally: Tally::new(self.facts), times: Vec::new(), rounds: Vec::new() }
    }
}

impl Sweep for Look<'_, '_> {
    type Slot = Seen;
    type Out = Seen;

    fn slot(&self, _number: usize) -> Seen {
        self.nothing()
    }

    fn record(&self, slot: &mut Seen, record: &Record<'_>, _at: u64) {
        slot.tally.add(record);
        match record {
            Record::Sample(sample) => {
                if let (Some(cpu), Some(time)) = (sample.cpu, sample.time)
                    && function(self.parts, sample).is_some()
                {
                    slot.times.push((cpu, time));
                }
            }
            Record::FinishedRound => slot.rounds.push(slot.times.len()),
            _ => {}
        }
    }

    fn end(&self, slot: &mut Seen) -> Seen {
        std::mem::replace(slot, self.nothing())
    }
}
