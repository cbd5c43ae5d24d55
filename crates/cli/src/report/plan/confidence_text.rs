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
    let _ = writeln!(
        out,
        "  out of fold: planned without a fifth of the time, lines per visit counted in that fifth ({} of {} blocks \
         each)",
        confidence.blocks / confidence.folds.max(1),
        confidence.blocks
    );
    confidence.out_of_fold.iter().for_each(|row| draw_row(out, row));
    if let Some(interval) = confidence.interval {
        let _ = writeln!(
            out,
            "  {} resamples of the time, settled from the whole recording's visits and orders on: {} over all line sizes",
            confidence.resamples,
            percent(interval)
        );
    }
    for grouping in &confidence.groupings {
        let _ = writeln!(
            out,
            "  together in {:.0} % (least {:.0} %): {}",
            100.0 * grouping.stability,
            100.0 * grouping.weakest,
            member_names(of, &grouping.members)
        );
    }
    if !confidence.kept.is_empty() {
        let kept: Vec<String> = confidence.kept.iter().map(|index| kept(of, confidence, *index)).collect();
        let _ = writeln!(
            out,
            "  left where they are, alike in fewer than {:.0} % of resamples: {}",
            100.0 * STABLE,
            kept.join(", ")
        );
    }
}

fn draw_row(out: &mut String, row: &OutOfFold) {
    let size = line_size(row.line, row.build_line);
    let _ = writeln!(
        out,
        "  {size:>9}: {:.3} -> {:.3}, {} [in sample {:+.1} %, optimism {:.1} %]",
        row.together.before,
        row.together.after,
        percent(row.interval),
        100.0 * row.in_sample,
        100.0 * row.optimism
    );
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
