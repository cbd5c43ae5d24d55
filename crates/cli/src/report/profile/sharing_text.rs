//! False and true sharing: members that lose their cacheline to other CPUs, and the members these write.

use crate::report::profile::heat_text::{HeatOptions, join_first};
use fieldline_access::access::TypeProfile;
use fieldline_layout::layout::Layout;
use fieldline_plan::cost::false_sharing::{ContendedOffset, find_contended};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Most written members named for a member.
pub(super) const MAX_NAMED_WRITERS: usize = 4;

/// Appends false and true sharing, if there is any.
pub(crate) fn draw(
    out: &mut String,
    type_profile: &TypeProfile,
    layout: Option<&Layout>,
    options: &HeatOptions<'_>,
) {
    let Some(line) = options.lines.first() else { return };
    let found = find_contended(type_profile, *line);
    draw_false_sharing(out, &found, *line, layout, options);
    draw_true_sharing(out, &found, layout, options);
}

fn draw_false_sharing(
    out: &mut String,
    found: &[ContendedOffset],
    line: u64,
    layout: Option<&Layout>,
    options: &HeatOptions<'_>,
) {
    let mut shown = found.iter().filter(|place| place.is_false()).peekable();
    if shown.peek().is_none() {
        return;
    }
    let head = format!("  falsely shared: the line of {line} B is lost to CPUs that write other members");
    let _ = writeln!(out, "{}", options.paint.dim(&head));
    for place in shown {
        let (row, writers) = (row(place, place.false_losses, layout), format_writers(place, layout));
        let _ = writeln!(out, "{row} ({} at home)  written: {writers}", place.lost_at_home);
    }
    out.push('\n');
}

fn draw_true_sharing(
    out: &mut String,
    found: &[ContendedOffset],
    layout: Option<&Layout>,
    options: &HeatOptions<'_>,
) {
    let mut shown: Vec<&ContendedOffset> = found.iter().filter(|place| place.is_true()).collect();
    if shown.is_empty() {
        return;
    }
    shown.sort_by(|left, right| losses(right).total_cmp(&losses(left)).then(left.offset.cmp(&right.offset)));
    let head = "  truly shared: the line is lost to CPUs that write the member itself";
    let _ = writeln!(out, "{}", options.paint.dim(head));
    for place in shown.into_iter().take(options.top) {
        let _ = writeln!(out, "{}", row(place, losses(place), layout));
    }
    out.push('\n');
}

fn row(place: &ContendedOffset, samples: f64, layout: Option<&Layout>) -> String {
    let (offset, label) = (place.offset, label(layout, place.offset));
    format!("  {offset:>6}  {label:<32} {samples:>5.0} of {} samples that found it lost", place.lost)
}

fn losses(place: &ContendedOffset) -> f64 {
    place.lost as f64 - place.false_losses
}

/// The member at an offset, or the offset.
pub(crate) fn label(layout: Option<&Layout>, offset: u64) -> String {
    layout.and_then(|layout| layout.path_at(offset)).unwrap_or_else(|| format!("+{offset}"))
}

/// The written members of the line, each with the CPUs of its stores.
fn format_writers(place: &ContendedOffset, layout: Option<&Layout>) -> String {
    let named = place.writers.iter().map(|writer| {
        let label = label(layout, writer.offset);
        let (home, away) = (writer.at_home, writer.away);
        format!("{label} ({home} at home, {away} elsewhere, CPUs {})", format_cpus(&writer.cpus))
    });
    if place.writers.is_empty() {
        "unknown (no sampled store)".to_owned()
    } else {
        join_first(named, &place.writers, MAX_NAMED_WRITERS)
    }
}

/// CPU numbers as a list of ranges.
fn format_cpus(cpus: &BTreeSet<u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for cpu in cpus {
        match runs.last_mut() {
            Some(run) if run.1 + 1 == *cpu => run.1 = *cpu,
            _ => runs.push((*cpu, *cpu)),
        }
    }
    let text = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::color::Palette;
    use fieldline_access::access::{Access, AwaySamples, CpuAccess, HomeCounts, SampleCount};
    use std::collections::BTreeMap;

    fn access(offset: u64, loads: u64, away_stores: u64, hitm: u64) -> Access {
        let levels = if hitm > 0 { BTreeMap::from([("HITM".to_owned(), hitm)]) } else { BTreeMap::new() };
        Access {
            ip: offset,
            offset,
            size: 8,
            loads: SampleCount { samples: loads, period: loads },
            stores: SampleCount { samples: away_stores, period: away_stores },
            away: AwaySamples { stores: away_stores, ..AwaySamples::default() },
            levels,
            ..Access::default()
        }
    }

    #[test]
    fn a_read_member_next_to_a_foreign_writer_is_listed_with_it() {
        let cpu = |cpu| CpuAccess { offset: 8, cpu, loads: 0, stores: 10 };
        let type_profile = TypeProfile {
            size: 64,
            accesses: vec![access(0, 100, 0, 30), access(8, 0, 40, 0)],
            cpus: vec![cpu(1), cpu(2), cpu(3), cpu(6)],
            homes: HomeCounts { samples: 140, others: 140 },
            ..TypeProfile::default()
        };
        let mut out = String::new();
        draw(
            &mut out,
            &type_profile,
            None,
            &HeatOptions { lines: &[64], top: 5, paint: Palette::new(false) },
        );
        assert!(out.contains("falsely shared"), "{out}");
        assert!(out.contains("30 of 30 samples"), "{out}");
        assert!(out.contains("+8 (0 at home, 40 elsewhere, CPUs 1-3,6)"), "{out}");
        assert!(!out.contains("truly shared"), "{out}");
    }
}
