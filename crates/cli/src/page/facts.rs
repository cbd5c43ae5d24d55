//! Facts about recordings: the machine, the program, the events, and blind spots.

use crate::report::profile::coverage::rank_reasons;
use crate::report::profile::heat_text::percent;
use fieldline_access::access::{AccessProfile, EventCoverage, Recording};
use std::collections::BTreeSet;

/// Facts about the recordings of a profile.
pub(super) struct RecordedFacts {
    /// A name and its value.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) events: Vec<EventFacts>,
    pub(super) blind_spots: Vec<String>,
}

/// Facts about an event.
pub(super) struct EventFacts {
    pub(super) name: String,
    pub(super) samples: u64,
    /// Mean period, in events a sample.
    pub(super) period: String,
    pub(super) attributed: u64,
    pub(super) share: String,
    /// Why the others aren't attributed: reason, samples, share.
    pub(super) reasons: Vec<(String, u64, String)>,
}

impl RecordedFacts {
    pub(super) fn new(profile: &AccessProfile) -> Self {
        let of_each = |name, text: fn(&Recording) -> Option<String>| {
            let values: BTreeSet<String> = profile.recordings.iter().filter_map(text).collect();
            let values: Vec<String> = values.into_iter().collect();
            (!values.is_empty()).then(|| (name, values.join(", ")))
        };
        let facts = [
            of_each("kernel", |recording| recording.release.clone()),
            of_each("build ID", |recording| recording.build_id.clone()),
            of_each("further build IDs", |recording| {
                Some(recording.other_build_ids.join(", ")).filter(|ids| !ids.is_empty())
            }),
            of_each("recording", |recording| {
                let lost =
                    if recording.lost > 0 { format!(", {} lost", recording.lost) } else { String::new() };
                Some(format!("{}: {}{lost}", recording.file, recording.describe_samples()))
            }),
            of_each("host", |recording| recording.host.clone()),
            of_each("recorded by", |recording| recording.command.clone()),
        ];
        Self {
            facts: facts.into_iter().flatten().collect(),
            events: profile.coverage.iter().map(EventFacts::new).collect(),
            blind_spots: profile.blind_spots.clone(),
        }
    }
}

impl EventFacts {
    fn new(event: &EventCoverage) -> Self {
        let (all, attributed) = (event.total, event.attributed);
        let period = all.period.checked_div(all.samples).filter(|period| *period > 0);
        let reasons = rank_reasons(event).into_iter();
        let share = |samples| percent(samples, all.samples);
        Self {
            name: event.event.clone(),
            samples: all.samples,
            period: period.map_or_else(|| "not recorded".to_owned(), |period| period.to_string()),
            attributed: attributed.samples,
            share: share(attributed.samples),
            reasons: reasons
                .map(|(reason, count)| (reason.replace('_', " "), count.samples, share(count.samples)))
                .collect(),
        }
    }
}
