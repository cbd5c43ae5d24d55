//! Lines that CPUs take from each other, as sentences.

use super::model::LostLine;
use crate::report::profile::heat_text::join_first;
use crate::report::profile::sharing_text::{MAX_NAMED_WRITERS, format_writers, label};
use crate::report::profile::turns_text::{false_turns, touched_in_turns};
use fieldline_access::access::TypeProfile;
use fieldline_layout::Layout;
use fieldline_plan::cost::false_sharing::{ContendedOffset, find_contended};
use std::collections::BTreeMap;

/// Lines lost to writes of other members, by line size and number.
pub(super) fn lost_lines(profile: &TypeProfile, layout: &Layout, lines: &[u64]) -> Vec<LostLine> {
    lines.iter().flat_map(|size| lost_lines_of(profile, layout, *size)).collect()
}

fn lost_lines_of(profile: &TypeProfile, layout: &Layout, size: u64) -> Vec<LostLine> {
    let found = match profile.shows_lost_lines() {
        true => by_lost_lines(profile, layout, size),
        false => by_turns(profile, layout, size),
    };
    let mut lines: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (offset, says) in found {
        lines.entry(offset / size.max(1)).or_default().push(says);
    }
    lines.into_iter().map(|(line, says)| LostLine { size, line, says }).collect()
}

/// Offsets and a sentence on each.
fn by_lost_lines(profile: &TypeProfile, layout: &Layout, size: u64) -> Vec<(u64, String)> {
    let found = find_contended(profile, size).into_iter().filter(ContendedOffset::is_false);
    let says = found.map(|place| {
        let (name, writers) = (label(Some(layout), place.offset), format_writers(&place, Some(layout)));
        let text = format!(
            "{name} (at {}): {:.0} of {} samples that found the line lost are due to CPUs that write other members; \
             written: {writers}",
            place.offset, place.false_losses, place.lost
        );
        (place.offset, text)
    });
    says.collect()
}

fn by_turns(profile: &TypeProfile, layout: &Layout, size: u64) -> Vec<(u64, String)> {
    let members = false_turns(profile, size).map(touched_in_turns).unwrap_or_default();
    let says = members.into_iter().map(|member| {
        let named = member.written.iter().map(|pair| label(Some(layout), pair.written));
        let written = join_first(named, &member.written, MAX_NAMED_WRITERS);
        let name = label(Some(layout), member.offset);
        let text = format!(
            "{name} (at {}): used {} times after another CPU wrote {written}; what that costs isn't recorded",
            member.offset, member.turns
        );
        (member.offset, text)
    });
    says.collect()
}

/// Why no lost line is shown, if there is none.
pub(super) fn describe_absence(profile: &TypeProfile, lost: &[LostLine]) -> Option<&'static str> {
    if !lost.is_empty() {
        return None;
    }
    Some(match (profile.shows_lost_lines(), profile.turns.is_empty()) {
        (true, _) => "No line is lost significantly often to CPUs that write other members of it.",
        (false, false) => "CPUs don't use different members of one line in turns significantly often.",
        (false, true) => "The recording can't show it: it has no levels of caches and no objects that several CPUs used.",
    })
}

/// Members whose own writes take the line away, as sentences.
pub(super) fn truly_shared(profile: &TypeProfile, layout: &Layout, size: u64) -> Vec<String> {
    let mut found: Vec<ContendedOffset> = find_contended(profile, size);
    found.retain(ContendedOffset::is_true);
    let losses = |place: &ContendedOffset| place.lost as f64 - place.false_losses;
    found.sort_by(|left, right| losses(right).total_cmp(&losses(left)).then(left.offset.cmp(&right.offset)));
    let text = |place: &ContendedOffset| {
        format!("{} (at {}): {:.0} of {}", label(Some(layout), place.offset), place.offset, losses(place), place.lost)
    };
    found.iter().map(text).collect()
}
