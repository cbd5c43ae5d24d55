//! Recordings in a row each: samples attributed, and the most frequent reason for the others.

use super::bars::share;
use super::text::{Rows, count};
use crate::report::profile::coverage::rank_reasons;
use fieldline_access::access::{AccessProfile, EventCoverage};

/// Most events shown.
const MAX_EVENTS: usize = 3;
/// Most limits of the recordings shown.
const MAX_BLIND_SPOTS: usize = 2;

/// Appends the events of the recordings and their limits.
pub(crate) fn draw(rows: &mut Rows, profile: &AccessProfile) {
    let mut events: Vec<&EventCoverage> = profile.coverage.iter().collect();
    events.sort_by_key(|event| std::cmp::Reverse(event.total.samples));
    for event in events.iter().take(MAX_EVENTS) {
        let (all, found) = (event.total.samples, event.attributed.samples);
        let rest = rank_reasons(event)
            .first()
            .map(|(reason, tally)| format!("; {reason} {}", share(tally.samples, all)));
        let (part, all, name) = (share(found, all), count(all), &event.event);
        rows.push(&format!("{name}: {part} of {all} samples attributed{}", rest.unwrap_or_default()));
    }
    if events.len() > MAX_EVENTS {
        rows.push(&format!("and {} more events", events.len() - MAX_EVENTS));
    }
    for spot in profile.blind_spots.iter().take(MAX_BLIND_SPOTS) {
        rows.paragraph("blind spot: ", spot, 2);
    }
    let left = profile.blind_spots.len().saturating_sub(MAX_BLIND_SPOTS);
    if left > 0 {
        rows.push(&format!("and {left} more blind spots (-v)"));
    }
    rows.blank();
}
