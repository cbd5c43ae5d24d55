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
    let off_stack =
        event.samples_off_stack().map(|rest| format!("; {} of those off the stack", percent(count, rest)));
    let _ = writeln!(
        out,
        "{name}{place}: {count} of {all} samples attributed ({share}; {by_period} by period{})",
        off_stack.unwrap_or_default()
    );
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

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_access::access::ON_STACK;

    #[test]
    fn shares_off_the_stack_are_printed() {
        let tally = |samples| SampleCount { samples, period: samples };
        let mut event = EventCoverage {
            event: "loads".to_owned(),
            total: tally(10),
            attributed: tally(6),
            ..EventCoverage::default()
        };
        let first_line = |event: &EventCoverage| {
            let mut out = String::new();
            draw_event(&mut out, event, "", Palette::new(false));
            out.lines().next().unwrap_or_default().to_owned()
        };
        assert_eq!(first_line(&event), "loads: 6 of 10 samples attributed (60.0%; 60.0% by period)");
        event.unattributed.insert(ON_STACK.to_owned(), tally(2));
        let expected =
            "loads: 6 of 10 samples attributed (60.0%; 60.0% by period; 75.0% of those off the stack)";
        assert_eq!(first_line(&event), expected);
    }
}
