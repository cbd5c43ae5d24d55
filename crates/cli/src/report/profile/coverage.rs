//! Coverage of recordings, and their blind spots.

use crate::report::color::Palette;
use crate::report::profile::heat_text::percent;
use fieldline_access::access::{AccessProfile, EventCoverage, SampleCount};
use fieldline_profile::sums::DsoCoverage;
use std::fmt::Write;

/// Appends recordings, coverage by samples and by period, reasons, blind spots.
pub(crate) fn draw(out: &mut String, profile: &AccessProfile, paint: Palette) {
    draw_recordings(out, profile);
    profile.coverage.iter().for_each(|event| draw_event(out, event, "", paint));
    draw_blind_spots(out, profile, paint);
}

/// The same by event and DSO.
pub(crate) fn draw_by_dso(out: &mut String, profile: &AccessProfile, rows: &[DsoCoverage], paint: Palette) {
    draw_recordings(out, profile);
    rows.iter().for_each(|row| draw_event(out, &row.event, &format!(" in {}", row.dso), paint));
    draw_blind_spots(out, profile, paint);
}

fn draw_recordings(out: &mut String, profile: &AccessProfile) {
    for recording in &profile.recordings {
        let lost = if recording.lost > 0 { format!(", {} lost", recording.lost) } else { String::new() };
        let release = recording.release.as_deref().map(|release| format!(", {release}")).unwrap_or_default();
        let _ = writeln!(out, "{}: {}{lost}{release}", recording.file, recording.describe_samples());
    }
}

fn draw_blind_spots(out: &mut String, profile: &AccessProfile, paint: Palette) {
    for spot in &profile.blind_spots {
        let _ = writeln!(out, "{} {spot}", paint.warning("blind spot:"));
    }
    out.push('\n');
}

fn draw_event(out: &mut String, event: &EventCoverage, place: &str, paint: Palette) {
    let total = event.total;
    let shares = |tally: SampleCount| {
        (tally.samples, percent(tally.samples, total.samples), percent(tally.period, total.period))
    };
    let (name, (count, share, by_period)) = (paint.bold(&event.event), shares(event.attributed));
    let all = total.samples;
    let _ =
        writeln!(out, "{name}{place}: {count} of {all} samples attributed ({share}; {by_period} by period)");
    for (reason, tally) in rank_reasons(event) {
        let (count, share, by_period) = shares(tally);
        let _ = writeln!(out, "  {count:>8} {share:>6} {by_period:>6} by period  {reason}");
    }
}

/// Reasons for unattributed samples with their counts, most first.
pub(crate) fn rank_reasons(event: &EventCoverage) -> Vec<(&str, SampleCount)> {
    let mut ranked: Vec<_> = event.unattributed.iter().map(|(reason, count)| (&**reason, *count)).collect();
    ranked.sort_by_key(|(reason, count)| (std::cmp::Reverse(count.samples), *reason));
    ranked
}
