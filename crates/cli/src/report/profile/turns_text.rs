//! False sharing of recordings that don't say where accesses were served: members that CPUs touched in turns.

use crate::report::profile::heat_text::{HeatOptions, join_first};
use crate::report::profile::sharing_text::{MAX_NAMED_WRITERS, label};
use fieldline_access::access::TypeProfile;
use fieldline_access::line_turns::{LineTurns, MIN_TURNS, TurnPair};
use fieldline_layout::layout::Layout;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A member whose line other CPUs took by writing other members of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TouchedInTurns<'t> {
    /// Byte offset.
    pub(crate) offset: u64,
    /// Turns behind the writes that precede most, as each turn may follow several.
    pub(crate) turns: u64,
    /// The written members, most turns first.
    pub(crate) written: Vec<&'t TurnPair>,
}

/// The turns on lines of a size, if CPUs touch different members of a line significantly often.
pub(crate) fn false_turns(profile: &TypeProfile, line: u64) -> Option<&LineTurns> {
    profile.turns_on(line).filter(|turns| turns.false_turns >= MIN_TURNS)
}

/// Members that lose their line in false turns, significantly often, most turns first.
pub(crate) fn touched_in_turns(turns: &LineTurns) -> Vec<TouchedInTurns<'_>> {
    let mut by_offset: BTreeMap<u64, Vec<&TurnPair>> = BTreeMap::new();
    for pair in turns.pairs.iter().filter(|pair| pair.turns >= MIN_TURNS) {
        by_offset.entry(pair.offset).or_default().push(pair);
    }
    let touched = by_offset.into_iter().map(|(offset, mut written)| {
        written.sort_by_key(|pair| (std::cmp::Reverse(pair.turns), pair.written));
        let turns = written.first().map_or(0, |pair| pair.turns);
        TouchedInTurns { offset, turns, written }
    });
    let mut touched: Vec<TouchedInTurns<'_>> = touched.collect();
    touched.sort_by_key(|member| (std::cmp::Reverse(member.turns), member.offset));
    touched
}

/// Appends the members that CPUs (or threads, as `who` says) touch in turns, if there are any.
pub(crate) fn draw(
    out: &mut String,
    profile: &TypeProfile,
    layout: Option<&Layout>,
    who: &str,
    options: &HeatOptions<'_>,
) {
    let Some(line) = options.lines.first() else { return };
    draw_false(out, profile, (layout, *line, who), options);
    draw_true(out, profile, (*line, who), options);
}

fn draw_false(
    out: &mut String,
    profile: &TypeProfile,
    (layout, line, who): (Option<&Layout>, u64, &str),
    options: &HeatOptions<'_>,
) {
    let Some(turns) = false_turns(profile, line) else { return };
    let head = format!(
        "  falsely shared: {} {who} use different members of one line of {line} B of one object in turns, {} times;\n  this \
         recording can't say what it costs",
        turns.cpus, turns.false_turns
    );
    let _ = writeln!(out, "{}", options.paint.dim(&head));
    for member in touched_in_turns(turns).into_iter().take(options.top) {
        let name = label(layout, member.offset);
        let named = member.written.iter().map(|pair| label(layout, pair.written));
        let written = join_first(named, &member.written, MAX_NAMED_WRITERS);
        let TouchedInTurns { offset, turns, .. } = member;
        let number = offset / line;
        let _ = writeln!(
            out,
            "  {offset:>6}  {name:<32} line #{number}: {turns:>5} turns after writes of {written}"
        );
    }
    out.push('\n');
}

fn draw_true(out: &mut String, profile: &TypeProfile, (line, who): (u64, &str), options: &HeatOptions<'_>) {
    let Some(turns) = profile.turns_on(line).filter(|turns| turns.true_turns >= MIN_TURNS) else { return };
    let (cpus, count) = (turns.cpus, turns.true_turns);
    let text = format!("  truly shared: {cpus} {who} use what others of them wrote, {count} times");
    let _ = writeln!(out, "{}\n", options.paint.dim(&text));
}
