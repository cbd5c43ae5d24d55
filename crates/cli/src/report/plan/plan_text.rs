//! Plans as text.

use crate::report::color::Palette;
use crate::report::parts::PlanPart;
use crate::report::plan::{builds_text, confidence_text, format_marks, is_bit_run, line_size, plan_terms};
use fieldline_plan::result::{
    Basis, Candidate, CommentToCheck, Forecast, Insistence, Mark, MovedMember, SearchReport, SizeForecast,
};
use fieldline_plan::{Outcome, Plan, StructPlan};
use std::fmt::Write;

/// Appends parts of the proposal for each struct.
pub(crate) fn draw(out: &mut String, plan: &Plan, parts: &[PlanPart], paint: Palette) {
    for struct_plan in &plan.structs {
        match plan.basis {
            Basis::Profile => draw_struct(out, struct_plan, parts, paint),
            Basis::Layout => draw_packed(out, struct_plan, parts, paint),
        }
    }
}

fn draw_struct(out: &mut String, plan: &StructPlan, parts: &[PlanPart], paint: Palette) {
    let verdict = match plan.outcome() {
        Outcome::Moved => format!("{} members move", plan.moved.len()),
        Outcome::NoGain => "no gain, nothing moves".to_owned(),
        Outcome::Refused => "refused, nothing moves".to_owned(),
        Outcome::TooFewSamples => "too few samples, nothing moves".to_owned(),
    };
    let title = paint.bold(&format!("struct {}", plan.name));
    let _ = writeln!(out, "{title}: {verdict} ({} samples)", plan.samples);
    out.extend(plan.reason().iter().map(|reason| format!("  {reason}\n")));
    let has = |part| parts.contains(&part);
    if has(PlanPart::Reasons) {
        draw_pins(out, plan);
        out.extend(plan.grows.iter().map(|case| format!("  {case}: plan with --also and a build of it\n")));
        draw_constraints(out, plan);
    }
    if has(PlanPart::Evidence) {
        draw_proof(out, plan);
    }
    if has(PlanPart::Reasons) {
        draw_comments(out, plan);
    }
    if has(PlanPart::Evidence) {
        draw_evidence(out, plan);
    }
    if has(PlanPart::Candidates) && !plan.candidates.is_empty() {
        draw_candidates(out, plan);
    }
    if has(PlanPart::Cost) && !plan.terms.is_empty() {
        plan_terms::draw(out, &plan.terms);
    }
    if has(PlanPart::Candidates) {
        builds_text::draw_builds(out, plan);
        plan.search.iter().for_each(|search| draw_search(out, plan, search));
    }
    if has(PlanPart::Reasons) {
        let runs = plan.moved.chunk_by(|first, second| is_bit_run(plan, first, second));
        runs.for_each(|run| draw_moved(out, run));
    }
    if has(PlanPart::Groups) {
        builds_text::draw_groups(out, plan);
        builds_text::draw_embeddings(out, plan);
    }
    out.push('\n');
}

fn draw_pins(out: &mut String, plan: &StructPlan) {
    for pin in &plan.pins {
        let kept = match (pin.declared, pin.chosen) {
            (true, true) => "kept",
            (false, true) => "kept, unlike as declared",
            (_, false) => "not kept",
        };
        let _ = writeln!(out, "  pin {}: {kept}", pin.pin);
    }
}

/// The samples and visits that the order rests on, and how sure it is.
fn draw_evidence(out: &mut String, plan: &StructPlan) {
    out.extend(plan.evidence.iter().map(|evidence| format!("  {}\n", evidence.describe())));
    if let Some(confidence) = &plan.confidence {
        confidence_text::draw(out, plan, confidence);
    } else if plan.changes() {
        out.push_str("  in-sample figures; --confidence 20 adds cross-validation and bootstrap\n");
    }
}

/// How many members may not move freely, and where to find why.
fn draw_constraints(out: &mut String, plan: &StructPlan) {
    if !(plan.constraints.is_empty() && plan.notes.is_empty()) {
        let (held, notes) = (plan.constraints.len(), plan.notes.len());
        let text = "see \"held\" and \"notes\" in the plan file";
        let _ = writeln!(out, "  constrained members: {held}, notes: {notes}; {text}");
    }
}

/// The proof that nothing depends on the order, and what does though the user insists.
fn draw_proof(out: &mut String, plan: &StructPlan) {
    if !plan.changes() {
        return;
    }
    out.extend(plan.proof_sentence().map(|proof| format!("  {proof}\n")));
    if let Some(Insistence { reason, uses }) = &plan.insistence {
        let _ = writeln!(out, "  its order is depended on, and changes all the same ({reason}):");
        out.extend(uses.iter().map(|used| format!("    {used}\n")));
    }
}

/// Comments that speak of places where members move.
fn draw_comments(out: &mut String, plan: &StructPlan) {
    if !plan.comments.is_empty() {
        out.push_str("  comments to look at, since members around them move:\n");
    }
    let line =
        |comment: &CommentToCheck| format!("    {}:{}: {}\n", comment.file, comment.line, comment.text);
    out.extend(plan.comments.iter().map(line));
}

/// A line for a member, or for bit-fields that move together, named by the one accessed most.
fn draw_moved(out: &mut String, run: &[MovedMember]) {
    let Some(first) = run.first() else { return };
    let hottest = run.iter().fold(first, |hottest, member| {
        if member.loads + member.stores > hottest.loads + hottest.stores { member } else { hottest }
    });
    let name = hottest.name.as_deref().unwrap_or("(anonymous)");
    let more = run.len() - 1;
    let others = if more > 0 { format!(" and {more} more bit-fields") } else { String::new() };
    let _ = writeln!(out, "  {name}{others}: {} -> {}, {}", first.from, first.to, hottest.reason);
}

/// A row for the declared order and for each candidate: lines per visit and size, each by line size and by
/// the line size compiled for.
fn draw_candidates(out: &mut String, plan: &StructPlan) {
    let Some(first) = plan.candidates.first() else { return };
    let mark = |build: &Option<String>| builds_text::build_label(plan, build.as_deref());
    let forecast = |forecast: &Forecast| match forecast.line == forecast.build_line {
        true => format!("{}{} B", mark(&forecast.build), forecast.line),
        false => line_size(forecast.line, forecast.build_line),
    };
    let mut heads = ["candidate", "moved", "blocks", "parted", "kept"].map(str::to_owned).to_vec();
    heads.extend(first.forecasts.iter().map(forecast));
    heads.extend(first.sizes.iter().map(|size| format!("size {}{}", mark(&size.build), size.build_line)));
    heads.push("shared".to_owned());
    out.push_str(
        "  members moved, preprocessor blocks split, families parted, share of the best one's gain in lines that is\n",
    );
    out.push_str(
        "  kept, the least of all line sizes; lines per visit by line size (/ size compiled for), bytes\n",
    );
    out.push_str("  (and kmalloc class) by line size, lines lost to other CPUs per visit\n");
    row(out, &heads, "");
    let before: CandidateFigures = (
        |forecast| forecast.together.before,
        |size| (size.before, size.slab_before),
        |candidate| candidate.coherence.before,
    );
    let declared = Candidate { kept: Vec::new(), moved: 0, split_blocks: 0, parted: 0, ..first.clone() };
    row(out, &candidate_cells("declared", &declared, before), "");
    for (number, candidate) in (1..).zip(&plan.candidates) {
        let after: CandidateFigures = (
            |forecast| forecast.together.after,
            |size| (size.after, size.slab_after),
            |candidate| candidate.coherence.after,
        );
        let cells = candidate_cells(&number.to_string(), candidate, after);
        row(out, &cells, &format_marks(candidate));
    }
}

/// The figures shown of a forecast, of a size and of coherence.
type CandidateFigures = (fn(&Forecast) -> f64, fn(&SizeForecast) -> (u64, u64), fn(&Candidate) -> f64);

fn candidate_cells(
    name: &str,
    candidate: &Candidate,
    (lines, size, shared): CandidateFigures,
) -> Vec<String> {
    let kept = candidate.kept.iter().map(|kept| kept.lines).reduce(f64::min);
    let kept = kept.map_or_else(|| "-".to_owned(), |kept| format!("{:.0}%", 100.0 * kept));
    let counts = [candidate.moved, candidate.split_blocks, candidate.parted].map(|count| count.to_string());
    let mut cells = [&[name.to_owned()], counts.as_slice(), &[kept]].concat();
    cells.extend(candidate.forecasts.iter().map(|forecast| format!("{:.3}", lines(forecast))));
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

fn draw_search(out: &mut String, plan: &StructPlan, search: &SearchReport) {
    let word = if search.optimal { "optimal for these access patterns, best" } else { "best" };
    let recorded = plan.forecasts.iter().filter(|forecast| forecast.build.is_none());
    let mut lines: Vec<(u64, f64)> = recorded.map(|forecast| (forecast.line, forecast.bound)).collect();
    lines.sort_by_key(|(line, _)| *line);
    lines.dedup_by_key(|(line, _)| *line);
    let bounds: Vec<String> = lines.iter().map(|(line, bound)| format!("{bound:.3} at {line} B")).collect();
    let _ = writeln!(
        out,
        "  {word} of {} searches, spread {:.1}%; lower bounds: {} lines per visit, cost {} below {}",
        search.chains,
        100.0 * search.spread,
        bounds.join(", "),
        if search.gap > 0.0 { format!("{:.2}%", 100.0 * search.gap) } else { "0%".to_owned() },
        if plan.outcome() == Outcome::Moved { "this order" } else { "the declared order" },
    );
}

/// Appends the proposal for a struct by its layout alone.
fn draw_packed(out: &mut String, plan: &StructPlan, parts: &[PlanPart], paint: Palette) {
    let verdict = match plan.outcome() {
        Outcome::Moved if plan.moved.len() == 1 => "one member moves".to_owned(),
        Outcome::Moved => format!("{} members move", plan.moved.len()),
        Outcome::NoGain => "no gain, nothing moves".to_owned(),
        Outcome::Refused | Outcome::TooFewSamples => "refused, nothing moves".to_owned(),
    };
    let title = paint.bold(&format!("struct {}", plan.name));
    let _ = writeln!(out, "{title}: {verdict} (by size alone: no profile, so hot members are not known)");
    out.extend(plan.reason().iter().map(|reason| format!("  {reason}\n")));
    let has = |part| parts.contains(&part);
    if has(PlanPart::Reasons) {
        draw_constraints(out, plan);
    }
    if has(PlanPart::Evidence) {
        draw_proof(out, plan);
    }
    if has(PlanPart::Reasons) {
        draw_comments(out, plan);
    }
    if has(PlanPart::Candidates) {
        draw_sizes(out, &plan.candidates);
        if plan.search.is_some_and(|search| search.optimal) {
            out.push_str("  no legal order saves more, and none that saves as much moves fewer members\n");
        }
    }
    if has(PlanPart::Reasons) {
        plan.moved.chunks(1).for_each(|member| draw_moved(out, member));
    }
    out.push('\n');
}

/// A row for the declared order and for each candidate.
fn draw_sizes(out: &mut String, candidates: &[Candidate]) {
    let Some(first) = candidates.first() else { return };
    out.push_str("  bytes, cachelines and kmalloc class by line size\n");
    let heads = first.sizes.iter().map(|size| format!("{} B", size.build_line));
    size_row(out, "candidate", "moved", heads, "");
    let declared = first.sizes.iter().map(|size| size_cell(size, size.before, size.slab_before));
    size_row(out, "declared", "0", declared, "");
    for (number, candidate) in (1..).zip(candidates) {
        let sizes = candidate.sizes.iter().map(|size| size_cell(size, size.after, size.slab_after));
        let mark = if candidate.marks.contains(&Mark::Chosen) { "  chosen" } else { "" };
        size_row(out, &number.to_string(), &candidate.moved.to_string(), sizes, mark);
    }
}

fn size_cell(forecast: &SizeForecast, size: u64, slab: u64) -> String {
    format!("{size} / {} ({slab})", size.div_ceil(forecast.build_line.max(1)))
}

fn size_row(out: &mut String, name: &str, moved: &str, cells: impl Iterator<Item = String>, marks: &str) {
    let mut line = format!("  {name:>9} {moved:>9}");
    for cell in cells {
        let _ = write!(line, " {cell:>18}");
    }
    let _ = writeln!(out, "{line}{marks}");
}
