//! Plans for eyes.

use crate::report::color::Paint;
use crate::report::plan::{confidence_text, line_size, matrix_text, plan_terms};
use fieldline_plan::result::{Basis, Candidate, Forecast, Mark, MovedMember, SearchReport, SizeForecast};
use fieldline_plan::{Outcome, Plan, StructPlan};
use std::fmt::Write;

/// Appends what a plan proposes for each struct, and why.
pub(crate) fn draw(out: &mut String, plan: &Plan, paint: Paint) {
    for of in &plan.structs {
        match plan.basis {
            Basis::Profile => draw_struct(out, of, paint),
            Basis::Layout => draw_packed(out, of, paint),
        }
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
    out.extend(of.reason.iter().map(|reason| format!("  {reason}\n")));
    for pin in &of.pins {
        let kept = match (pin.declared, pin.chosen) {
            (true, true) => "kept",
            (false, true) => "kept, unlike as declared",
            (_, false) => "not kept",
        };
        let _ = writeln!(out, "  pin {}: {kept}", pin.pin);
    }
    out.extend(of.grows.iter().map(|case| format!("  {case}: plan with --also and such a build\n")));
    if !(of.held.is_empty() && of.notes.is_empty()) {
        let (held, notes) = (of.held.len(), of.notes.len());
        let text = "see \"held\" and \"notes\" of the plan file";
        let _ = writeln!(out, "  {held} members held, {notes} remarks: {text}");
    }
    out.extend(of.evidence.iter().map(|evidence| format!("  {}\n", evidence.sentence())));
    if let Some(confidence) = &of.confidence {
        confidence_text::draw(out, of, confidence);
    } else if of.changes() {
        out.push_str("  figures are of the samples the order was made from; --confidence 20 judges them\n");
    }
    if !of.candidates.is_empty() {
        draw_candidates(out, of);
    }
    if !of.terms.is_empty() {
        plan_terms::draw(out, &of.terms);
    }
    matrix_text::draw_builds(out, of);
    if let Some(search) = &of.search {
        draw_search(out, of, search);
    }
    for run in of.moved.chunk_by(|one, other| is_bit_run(of, one, other)) {
        draw_moved(out, run);
    }
    matrix_text::draw_groups(out, of);
    matrix_text::draw_embeddings(out, of);
    out.push('\n');
}

/// Whether two moved members are neighbours in one run of bit-fields.
fn is_bit_run(of: &StructPlan, one: &MovedMember, other: &MovedMember) -> bool {
    let is_bit =
        |index: usize| of.declared.members.get(index).is_some_and(|member| member.bit_size.is_some());
    one.index + 1 == other.index && is_bit(one.index) && is_bit(other.index)
}

/// A line for a member, or for bit-fields that move together: the one touched most stands for them.
fn draw_moved(out: &mut String, run: &[MovedMember]) {
    let Some(first) = run.first() else { return };
    let hottest = run.iter().fold(first, |hottest, member| {
        if member.loads + member.stores > hottest.loads + hottest.stores { member } else { hottest }
    });
    let name = hottest.name.as_deref().unwrap_or("(anonymous)");
    let others = match run.len() {
        1 => String::new(),
        more => format!(" and {} more bit-fields", more - 1),
    };
    let _ = writeln!(out, "  {name}{others}: {} -> {}, {}", first.from, first.to, hottest.reason);
}

/// A row for the declared order and for each candidate: lines a visit touches and the size, each for a line size and
/// what the struct is compiled for.
fn draw_candidates(out: &mut String, of: &StructPlan) {
    let Some(first) = of.candidates.first() else { return };
    let mark = |build: &Option<String>| matrix_text::mark(of, build.as_deref());
    let forecast = |of: &Forecast| match of.line == of.build_line {
        true => format!("{}{} B", mark(&of.build), of.line),
        false => line_size(of.line, of.build_line),
    };
    let mut heads = vec!["candidate".to_owned(), "moved".to_owned()];
    heads.extend(first.forecasts.iter().map(forecast));
    heads.extend(first.sizes.iter().map(|size| format!("size {}{}", mark(&size.build), size.build_line)));
    heads.push("shared".to_owned());
    out.push_str(
        "  lines per visit by line size (/ size compiled for), bytes (and kmalloc class) by line size,\n",
    );
    out.push_str("  lines lost to other CPUs per visit\n");
    row(out, &heads, "");
    let before: Side = (|of| of.together.before, |of| (of.before, of.slab_before), |of| of.coherence.before);
    row(out, &cells("declared", 0, first, before), "");
    for (number, candidate) in (1..).zip(&of.candidates) {
        let after: Side = (|of| of.together.after, |of| (of.after, of.slab_after), |of| of.coherence.after);
        row(out, &cells(&number.to_string(), candidate.moved, candidate, after), &marks(candidate));
    }
}

/// What is shown of a forecast, of a size, and of coherence.
type Side = (fn(&Forecast) -> f64, fn(&SizeForecast) -> (u64, u64), fn(&Candidate) -> f64);

fn cells(name: &str, moved: usize, candidate: &Candidate, (lines, size, shared): Side) -> Vec<String> {
    let mut cells = vec![name.to_owned(), moved.to_string()];
    cells.extend(candidate.forecasts.iter().map(|of| format!("{:.3}", lines(of))));
    cells.extend(candidate.sizes.iter().map(size).map(|(size, slab)| format!("{size} ({slab})")));
    cells.push(format!("{:.3}", shared(candidate)));
    cells
}

fn row(out: &mut String, cells: &[String], marks: &str) {
    let mut line = String::from(" ");
    for cell in cells {
        let width = if cell.starts_with("size") || cell.ends_with(')') { 11 } else { 9 };
        let _ = write!(line, " {cell:>width$}");
    }
    let _ = writeln!(out, "{}", format!("{line}  {marks}").trim_end());
}

fn marks(candidate: &Candidate) -> String {
    let marks = candidate.marks.iter().map(|mark| match mark {
        Mark::Smallest => "smallest",
        Mark::Best => "best",
        Mark::Chosen => "chosen",
    });
    marks.collect::<Vec<_>>().join(", ")
}

fn draw_search(out: &mut String, of: &StructPlan, search: &SearchReport) {
    let word = if search.optimal { "optimal for these visits" } else { "best found" };
    let recorded = of.forecasts.iter().filter(|of| of.build.is_none());
    let mut lines: Vec<(u64, f64)> = recorded.map(|of| (of.line, of.bound)).collect();
    lines.sort_by_key(|(line, _)| *line);
    lines.dedup_by_key(|(line, _)| *line);
    let bounds: Vec<String> = lines.iter().map(|(line, bound)| format!("{bound:.3} at {line} B")).collect();
    let _ = writeln!(
        out,
        "  {word} of {} starts, spread {:.1}%; no order touches fewer lines than {}, or costs {} less than {}",
        search.chains,
        100.0 * search.spread,
        bounds.join(", "),
        if search.gap > 0.0 { format!("{:.2}%", 100.0 * search.gap) } else { "any".to_owned() },
        if of.outcome == Outcome::Moved { "this one" } else { "the declared one" },
    );
}

/// Appends what is proposed for a struct by its layout alone.
fn draw_packed(out: &mut String, of: &StructPlan, paint: Paint) {
    let verdict = match of.outcome {
        Outcome::Moved if of.moved.len() == 1 => "one member moves".to_owned(),
        Outcome::Moved => format!("{} members move", of.moved.len()),
        Outcome::NoGain => "no gain, nothing moves".to_owned(),
        Outcome::Refused | Outcome::TooFewSamples => "refused, nothing moves".to_owned(),
    };
    let title = paint.bold(&format!("struct {}", of.name));
    let _ = writeln!(out, "{title}: {verdict} (by size alone: no profile tells what is hot)");
    out.extend(of.reason.iter().map(|reason| format!("  {reason}\n")));
    draw_sizes(out, &of.candidates);
    if of.search.is_some_and(|search| search.optimal) {
        out.push_str("  no legal order saves more, and none that saves as much moves fewer members\n");
    }
    of.moved.chunks(1).for_each(|member| draw_moved(out, member));
    out.push('\n');
}

/// A row for the declared order and for each candidate.
fn draw_sizes(out: &mut String, candidates: &[Candidate]) {
    let Some(first) = candidates.first() else { return };
    out.push_str("  bytes, cachelines and kmalloc class by line size\n");
    let heads = first.sizes.iter().map(|size| format!("{} B", size.build_line));
    size_row(out, "candidate", "moved", heads, "");
    let declared = first.sizes.iter().map(|size| cell(size, size.before, size.slab_before));
    size_row(out, "declared", "0", declared, "");
    for (number, candidate) in (1..).zip(candidates) {
        let sizes = candidate.sizes.iter().map(|size| cell(size, size.after, size.slab_after));
        let mark = if candidate.marks.contains(&Mark::Chosen) { "  chosen" } else { "" };
        size_row(out, &number.to_string(), &candidate.moved.to_string(), sizes, mark);
    }
}

fn cell(of: &SizeForecast, size: u64, slab: u64) -> String {
    format!("{size} / {} ({slab})", size.div_ceil(of.build_line.max(1)))
}

fn size_row(out: &mut String, name: &str, moved: &str, cells: impl Iterator<Item = String>, marks: &str) {
    let mut line = format!("  {name:>9} {moved:>9}");
    for cell in cells {
        let _ = write!(line, " {cell:>18}");
    }
    let _ = writeln!(out, "{line}{marks}");
}
