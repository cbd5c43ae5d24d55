//! Plans for eyes.

use super::color::Paint;
use fieldline_plan::{Outcome, Plan, StructPlan};
use std::fmt::Write;

/// Appends what a plan proposes for each struct, and why.
pub(crate) fn draw(out: &mut String, plan: &Plan, paint: Paint) {
    for of in &plan.structs {
        draw_struct(out, of, paint);
    }
}

fn draw_struct(out: &mut String, of: &StructPlan, paint: Paint) {
    let verdict = match of.outcome {
        Outcome::Moved => format!("{} members move", of.moved.len()),
        Outcome::NoGain => "no gain, nothing moves".to_owned(),
        Outcome::Refused => "refused, nothing moves".to_owned(),
        Outcome::TooFewSamples => "too few samples, nothing moves".to_owned(),
    };
    let title = paint.bold(&format!("struct {}", of.name));
    let _ = writeln!(out, "{title}: {verdict} ({} samples)", of.samples);
    if let Some(reason) = &of.reason {
        let _ = writeln!(out, "  {reason}");
    }
    if let Some(evidence) = &of.evidence {
        let _ = writeln!(out, "  {}", evidence.sentence());
    }
    for forecast in of.forecasts.iter().filter(|_| of.outcome == Outcome::Moved) {
        let _ = writeln!(
            out,
            "  lines per visit, {:>3} B lines, compiled for {:>3} B: {:.3} -> {:.3} (one function at a time: {:.3} -> {:.3})",
            forecast.line,
            forecast.build_line,
            forecast.together.before,
            forecast.together.after,
            forecast.alone.before,
            forecast.alone.after,
        );
    }
    for size in of.sizes.iter().filter(|_| of.outcome == Outcome::Moved) {
        let _ = writeln!(
            out,
            "  size, compiled for {:>3} B lines: {} -> {}",
            size.build_line, size.before, size.after
        );
    }
    if let Some(search) = &of.search {
        let word = if search.optimal { "optimal for these visits" } else { "best found" };
        let _ = writeln!(out, "  {word}; {} starts, spread {:.1}%", search.chains, 100.0 * search.spread);
    }
    for member in &of.moved {
        let name = member.name.as_deref().unwrap_or("(anonymous)");
        let _ = writeln!(out, "  {name}: {} -> {}, {}", member.from, member.to, member.reason);
    }
    out.push('\n');
}
