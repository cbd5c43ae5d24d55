//! Which members lose their cacheline to other CPUs, and whose writes take it.

use crate::report::profile::heat_text::{Options, some};
use fieldline_access::access::TypeProfile;
use fieldline_layout::layout::Layout;
use fieldline_plan::cost::false_sharing::{Contended, contended};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Writers named for a member.
const NAMED: usize = 4;

/// Appends what is falsely and what is truly shared, if anything is.
pub(crate) fn draw(out: &mut String, of: &TypeProfile, layout: Option<&Layout>, options: &Options<'_>) {
    let Some(line) = options.lines.first() else { return };
    let found = contended(of, *line);
    falsely(out, &found, *line, layout, options);
    truly(out, &found, layout, options);
}

fn falsely(out: &mut String, found: &[Contended], line: u64, layout: Option<&Layout>, options: &Options<'_>) {
    let mut shown = found.iter().filter(|place| place.is_false()).peekable();
    if shown.peek().is_none() {
        return;
    }
    let head = format!("  falsely shared: other CPUs take the line of {line} B by writing other members");
    let _ = writeln!(out, "{}", options.paint.dim(&head));
    for place in shown {
        let row = row(place, place.falsely, layout);
        let _ = writeln!(out, "{row} ({} at home)  written: {}", place.lost_at_home, writers(place, layout));
    }
    out.push('\n');
}

fn truly(out: &mut String, found: &[Contended], layout: Option<&Layout>, options: &Options<'_>) {
    let mut shown: Vec<&Contended> = found.iter().filter(|place| place.is_true()).collect();
    if shown.is_empty() {
        return;
    }
    shown.sort_by(|one, other| truth(other).total_cmp(&truth(one)).then(one.offset.cmp(&other.offset)));
    let head = "  truly shared: other CPUs write the member itself";
    let _ = writeln!(out, "{}", options.paint.dim(head));
    for place in shown.into_iter().take(options.top) {
        let _ = writeln!(out, "{}", row(place, truth(place), layout));
    }
    out.push('\n');
}

fn row(place: &Contended, samples: f64, layout: Option<&Layout>) -> String {
    let (offset, label) = (place.offset, label(layout, place.offset));
    format!("  {offset:>6}  {label:<32} {samples:>5.0} of {} samples that lost it", place.lost)
}

fn truth(place: &Contended) -> f64 {
    place.lost as f64 - place.falsely
}

fn label(layout: Option<&Layout>, offset: u64) -> String {
    layout.and_then(|layout| layout.path_at(offset)).unwrap_or_else(|| format!("+{offset}"))
}

/// The written members of the line, each with where its stores came from.
fn writers(place: &Contended, layout: Option<&Layout>) -> String {
    let named = place.writers.iter().map(|writer| {
        let label = label(layout, writer.offset);
        let (home, away) = (writer.at_home, writer.away);
        format!("{label} ({home} at home, {away} elsewhere, CPUs {})", cpus(&writer.cpus))
    });
    if place.writers.is_empty() {
        "no sample shows who".to_owned()
    } else {
        some(named, &place.writers, NAMED)
    }
}

/// CPU numbers with runs as `first-last`.
fn cpus(cpus: &BTreeSet<u32>) -> String {
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
    use crate::report::color::Paint;
    use fieldline_access::access::{Access, Away, CpuAccess, Homes, Tally};
    use std::collections::BTreeMap;

    fn access(offset: u64, loads: u64, away_stores: u64, hitm: u64) -> Access {
        let levels = if hitm > 0 { BTreeMap::from([("HITM".to_owned(), hitm)]) } else { BTreeMap::new() };
        Access {
            ip: offset,
            offset,
            size: 8,
            loads: Tally { samples: loads, period: loads },
            stores: Tally { samples: away_stores, period: away_stores },
            away: Away { stores: away_stores, ..Away::default() },
            levels,
            ..Access::default()
        }
    }

    #[test]
    fn a_read_member_next_to_a_foreign_writer_is_listed_with_it() {
        let cpu = |cpu| CpuAccess { offset: 8, cpu, loads: 0, stores: 10 };
        let of = TypeProfile {
            size: 64,
            accesses: vec![access(0, 100, 0, 30), access(8, 0, 40, 0)],
            cpus: vec![cpu(1), cpu(2), cpu(3), cpu(6)],
            homes: Homes { samples: 140, others: 140 },
            ..TypeProfile::default()
        };
        let mut out = String::new();
        draw(&mut out, &of, None, &Options { lines: &[64], top: 5, paint: Paint::new(false) });
        assert!(out.contains("falsely shared"), "{out}");
        assert!(out.contains("30 of 30 samples"), "{out}");
        assert!(out.contains("+8 (0 at home, 40 elsewhere, CPUs 1-3,6)"), "{out}");
        assert!(!out.contains("truly shared"), "{out}");
    }
}
