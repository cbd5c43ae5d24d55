//! Cross-validation and bootstrap results of a plan, as text.

use super::{line_size, member_name, member_names};
use fieldline_plan::StructPlan;
use fieldline_plan::judge::confidence::STABLE;
use fieldline_plan::result::{Confidence, CrossValidation, Interval};
use std::fmt::Write;

/// Appends the cross-validated figures, and how stable groupings are over the bootstrap replicates.
pub(crate) fn draw(out: &mut String, plan: &StructPlan, confidence: &Confidence) {
    if let Some(missing) = &confidence.missing {
        let _ = writeln!(out, "  no cross-validation: {missing}");
        return;
    }
    let (blocks, fold_blocks) = (confidence.blocks, confidence.blocks / confidence.folds.max(1));
    let head = "cross-validation: lines per visit in the time blocks not planned on";
    let _ = writeln!(out, "  {}-fold {head} ({fold_blocks} of {blocks} blocks each)", confidence.folds);
    confidence.cross_validation.iter().for_each(|row| draw_row(out, row));
    if let Some(kept) = confidence.kept_gain {
        let _ = writeln!(out, "  of the best order's gain in lines, it keeps {:.0} % there", 100.0 * kept);
    }
    if let Some(interval) = confidence.interval {
        let (count, change) = (confidence.resamples, format_interval(interval).replace('(', "(95 % CI "));
        let how = "replicates, warm-started";
        let _ = writeln!(out, "  block bootstrap, {count} {how}: {change} over all line sizes");
    }
    for grouping in &confidence.groupings {
        let [share, least] = [grouping.stability, grouping.weakest].map(|share| 100.0 * share);
        let members = member_names(plan, &grouping.members);
        let _ = writeln!(
            out,
            "  on one line in {share:.0} % of replicates (weakest pair {least:.0} %): {members}"
        );
    }
    if !confidence.kept.is_empty() {
        let kept: Vec<String> =
            confidence.kept.iter().map(|index| describe_stability(plan, confidence, *index)).collect();
        let (share, kept) = (100.0 * STABLE, kept.join(", "));
        let _ = writeln!(out, "  not moved, stable in fewer than {share:.0} % of replicates: {kept}");
    }
}

fn draw_row(out: &mut String, row: &CrossValidation) {
    let size = line_size(row.line, row.build_line);
    let (before, after, change) = (row.together.before, row.together.after, format_interval(row.interval));
    let [in_sample, bias] = [row.in_sample, row.in_sample_bias].map(|share| 100.0 * share);
    let _ = write!(out, "  {size:>9}: {before:.3} -> {after:.3}, {change}");
    let _ = writeln!(out, " [in sample {in_sample:+.1} %, in-sample bias {bias:.1} %]");
}

fn format_interval(interval: Interval) -> String {
    let [change, low, high] = [interval.change, interval.low, interval.high].map(|share| 100.0 * share);
    format!("{change:+.1} % ({low:+.1}..{high:+.1})")
}

fn describe_stability(plan: &StructPlan, confidence: &Confidence, index: usize) -> String {
    match confidence.members.iter().find(|member| member.index == index) {
        Some(member) => format!("{} ({:.0} %)", member_name(plan, index), 100.0 * member.share),
        None => member_name(plan, index).to_owned(),
    }
}
