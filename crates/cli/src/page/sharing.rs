//! Lines that CPUs take from each other, as sentences.

use super::model::{LostMember, WriterData};
use crate::report::profile::sharing_text::{format_cpus, label};
use crate::report::profile::turns_text::{TouchedInTurns, false_turns, touched_in_turns};
use fieldline_access::access::TypeProfile;
use fieldline_layout::Layout;
use fieldline_plan::cost::false_sharing::{ContendedOffset, LineWriter, find_contended};

/// Members that lose their line to writes of other members, by line size and number.
pub(super) fn lost_members(profile: &TypeProfile, layout: &Layout, lines: &[u64]) -> Vec<LostMember> {
    lines.iter().flat_map(|size| lost_members_of(profile, layout, *size)).collect()
}

fn lost_members_of(profile: &TypeProfile, layout: &Layout, size: u64) -> Vec<LostMember> {
    let mut found: Vec<LostMember> = match profile.shows_lost_lines() {
        true => {
            let contended = find_contended(profile, size).into_iter().filter(ContendedOffset::is_false);
            contended.map(|place| by_lost_lines(&place, layout, size)).collect()
        }
        false => {
            let members = false_turns(profile, size).map(touched_in_turns).unwrap_or_default();
            members.iter().map(|member| by_turns(member, layout, size)).collect()
        }
    };
    // Of one line, those with most come first, as they are found.
    found.sort_by_key(|member| member.line);
    found
}

fn by_lost_lines(place: &ContendedOffset, layout: &Layout, size: u64) -> LostMember {
    let writer = |writer: &LineWriter| WriterData {
        member: layout.member_at(writer.offset),
        name: label(Some(layout), writer.offset),
        says: format!(
            "{} stores at home, {} elsewhere, CPUs {}",
            writer.at_home,
            writer.away,
            format_cpus(&writer.cpus)
        ),
    };
    let says = format!("{:.0} of {} samples that found the line lost", place.false_losses, place.lost);
    LostMember {
        says,
        writers: place.writers.iter().map(writer).collect(),
        ..lost_member(place.offset, layout, size)
    }
}

fn by_turns(member: &TouchedInTurns<'_>, layout: &Layout, size: u64) -> LostMember {
    let written = member.written.iter().map(|pair| WriterData {
        member: layout.member_at(pair.written),
        name: label(Some(layout), pair.written),
        says: format!("{} turns", pair.turns),
    });
    let says = format!("{} turns; what they cost isn't recorded", member.turns);
    LostMember { says, writers: written.collect(), ..lost_member(member.offset, layout, size) }
}

fn lost_member(offset: u64, layout: &Layout, size: u64) -> LostMember {
    LostMember {
        size,
        line: offset / size.max(1),
        member: layout.member_at(offset),
        offset,
        name: label(Some(layout), offset),
        says: String::new(),
        writers: Vec::new(),
    }
}

/// Why no lost line is shown, if there is none.
pub(super) fn describe_absence(profile: &TypeProfile, lost: &[LostMember]) -> Option<&'static str> {
    if !lost.is_empty() {
        return None;
    }
    Some(match (profile.shows_lost_lines(), profile.turns.is_empty()) {
        (true, _) => "No line is lost significantly often to CPUs that write other members of it.",
        (false, false) => "CPUs don't use different members of one line in turns significantly often.",
        (false, true) => {
            "The recording can't show it: it has no levels of caches and no objects that several CPUs used."
        }
    })
}

/// Members whose own writes take the line away, as sentences.
pub(super) fn truly_shared(profile: &TypeProfile, layout: &Layout, size: u64) -> Vec<String> {
    let mut found: Vec<ContendedOffset> = find_contended(profile, size);
    found.retain(ContendedOffset::is_true);
    let losses = |place: &ContendedOffset| place.lost as f64 - place.false_losses;
    found.sort_by(|left, right| losses(right).total_cmp(&losses(left)).then(left.offset.cmp(&right.offset)));
    let text = |place: &ContendedOffset| {
        format!(
            "{} (at {}): {:.0} of {}",
            label(Some(layout), place.offset),
            place.offset,
            losses(place),
            place.lost
        )
    };
    found.iter().map(text).collect()
}
