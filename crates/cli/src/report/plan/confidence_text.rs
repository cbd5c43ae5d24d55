//! How sure a plan is, for eyes.

use super::{line_size, member_name, member_names};
use fieldline_plan::StructPlan;
use fieldline_plan::judge::confidence::STABLE;
use fieldline_plan::result::{Confidence, Interval, OutOfFold};
use std::fmt::Write;

/// Appends the figures that hold on samples left out, and what comes again in resamples.
pub(crate) fn draw(out: &mut String, of: &StructPlan, confidence: &Confidence) {
    if let Some(missing) = &confidence.missing {
        let _ = writeln!(out, "  how sure this is can't be told: {missing}");
        return;
    }
    let (blocks, of_fold) = (confidence.blocks, confidence.blocks / confidence.folds.max(1));
    let head = "out of fold: planned without a fifth of the time, lines per visit counted in that fifth";
    let _ = writeln!(out, "  {head} ({of_fold} of {blocks} blocks each)");
    confidence.out_of_fold.iter().for_each(|row| draw_row(out, row));
    if let Some(interval) = confidence.interval {
        let how = "resamples of the time, settled from the whole recording's visits and orders on";
        let (count, change) = (confidence.resamples, percent(interval));
        let _ = writeln!(out, "  {count} {how}: {change} over all line sizes");
    }
    for grouping in &confidence.groupings {
        let [share, least] = [grouping.stability, grouping.weakest].map(|share| 100.0 * share);
        let members = member_names(of, &grouping.members);
        let _ = writeln!(out, "  together in {share:.0} % (least {least:.0} %): {members}");
    }
    if !confidence.kept.is_empty() {
        let kept: Vec<String> = confidence.kept.iter().map(|index| kept(of, confidence, *index)).collect();
        let (share, kept) = (100.0 * STABLE, kept.join(", "));
        let _ = writeln!(out, "  left where they are, alike in fewer than {share:.0} % of resamples: {kept}");
    }
}

fn draw_row(out: &mut String, row: &OutOfFold) {
    let size = line_size(row.line, row.build_line);
    let (before, after, change) = (row.together.before, row.together.after, percent(row.interval));
    let [in_sample, optimism] = [row.in_sample, row.optimism].map(|share| 100.0 * share);
    let _ = write!(out, "  {size:>9}: {before:.3} -> {after:.3}, {change}");
    let _ = writeln!(out, " [in sample {in_sample:+.1} %, optimism {optimism:.1} %]");
}

fn percent(interval: Interval) -> String {
    let [change, low, high] = [interval.change, interval.low, interval.high].map(|share| 100.0 * share);
    format!("{change:+.1} % ({low:+.1}..{high:+.1})")
}

fn kept(of: &StructPlan, confidence: &Confidence, index: usize) -> String {
    match confidence.members.iter().find(|member| member.index == index) {
        Some(member) => format!("{} ({:.0} %)", member_name(of, index), 100.0 * member.share),
        None => member_name(of, index).to_owned(),
    }
}
