//! Plans made without a profile, for eyes.

use crate::report::color::Paint;
use fieldline_plan::result::{Candidate, Mark, SizeForecast};
use fieldline_plan::{Outcome, StructPlan};
use std::fmt::Write;

/// Appends what is proposed for a struct by its layout alone.
pub(crate) fn draw(out: &mut String, of: &StructPlan, paint: Paint) {
    let verdict = match of.outcome {
        Outcome::Moved if of.moved.len() == 1 => "one member moves".to_owned(),
        Outcome::Moved => format!("{} members move", of.moved.len()),
        Outcome::NoGain => "no gain, nothing moves".to_owned(),
        Outcome::Refused | Outcome::TooFewSamples => "refused, nothing moves".to_owned(),
    };
    let title = paint.bold(&format!("struct {}", of.name));
    let _ = writeln!(out, "{title}: {verdict} (by size alone: no profile tells what is hot)");
    if let Some(reason) = &of.reason {
        let _ = writeln!(out, "  {reason}");
    }
    draw_candidates(out, &of.candidates);
    if of.search.is_some_and(|search| search.optimal) {
        out.push_str("  no legal order saves more, and none that saves as much moves fewer members\n");
    }
    for member in &of.moved {
        let name = member.name.as_deref().unwrap_or("(anonymous)");
        let _ = writeln!(out, "  {name}: {} -> {}, {}", member.from, member.to, member.reason);
    }
    out.push('\n');
}

/// A row for the declared order and for each candidate.
fn draw_candidates(out: &mut String, candidates: &[Candidate]) {
    let Some(first) = candidates.first() else { return };
    out.push_str("  bytes, cachelines and kmalloc class by line size\n");
    let mut head = format!("  {:>9} {:>9}", "candidate", "moved");
    for size in &first.sizes {
        let _ = write!(head, " {:>18}", format!("{} B", size.build_line));
    }
    let _ = writeln!(out, "{head}");
    let declared = first.sizes.iter().map(|size| cell(size, size.before, size.slab_before));
    row(out, "declared", 0, declared, "");
    for (number, candidate) in (1..).zip(candidates) {
        let sizes = candidate.sizes.iter().map(|size| cell(size, size.after, size.slab_after));
        let is_chosen = candidate.marks.contains(&Mark::Chosen);
        row(out, &number.to_string(), candidate.moved, sizes, if is_chosen { "  chosen" } else { "" });
    }
}

fn cell(of: &SizeForecast, size: u64, slab: u64) -> String {
    format!("{size} / {} ({slab})", size.div_ceil(of.build_line.max(1)))
}

fn row(out: &mut String, name: &str, moved: usize, cells: impl Iterator<Item = String>, marks: &str) {
    let mut line = format!("  {name:>9} {moved:>9}");
    for cell in cells {
        let _ = write!(line, " {cell:>18}");
    }
    let _ = writeln!(out, "{line}{marks}");
}
