//! A first look at a recording: its tally, and how far apart samples of one CPU are.

use crate::attribute::Part;
use crate::gather::{Seen, SeenSum};
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
    let mut sum = SeenSum::new(facts);
    sweep(file, &Look { parts, facts }, |seen| sum.add(seen))?;
    Ok(sum.finish())
}

struct Look<'p, 'f> {
    parts: &'p [Part<'p, 'f>],
    facts: &'p RecordingFacts,
}

impl Sweep for Look<'_, '_> {
    type Slot = Seen;
    type Out = Seen;

    fn slot(&self, _number: usize) -> Seen {
        Seen::nothing(self.facts)
    }

    fn sample(&self, slot: &mut Seen, sample: &Sample<'_>, _at: u64) {
        slot.count(sample);
        let counts_runs =
            self.parts.first().is_some_and(|part| part.recorded.source.counts_runs(sample.event));
        if !counts_runs && self.parts.iter().find_map(|part| part.function(sample)).flatten().is_some() {
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
