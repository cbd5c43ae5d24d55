//! The text on one struct that doesn't change: the verdict, its figures, and what else the plan says.

use super::orders::DECLARED;
use crate::report::plan::{builds_text, format_marks, line_size, member_name, member_names};
use crate::series::letter::describe_change;
use fieldline_plan::result::{Basis, Candidate, Embedding, Forecast, Interval, SizeForecast};
use fieldline_plan::{Outcome, StructPlan};

/// The text on one struct.
#[derive(Default)]
pub(super) struct Section {
    /// Its place among the structs.
    pub(super) index: usize,
    pub(super) name: String,
    pub(super) kind: String,
    /// File and line of the declaration.
    pub(super) place: Option<String>,
    pub(super) verdict: String,
    /// The figures of the proposed order that matter most.
    pub(super) figures: Vec<Figure>,
    /// The samples that their changes are measured on, in a sentence.
    pub(super) figures_note: &'static str,
    pub(super) table: Option<OrderTable>,
    /// Sentences on how sure the figures are.
    pub(super) evidence: Vec<String>,
    /// Sentences below a heading.
    pub(super) remarks: Vec<(&'static str, Vec<String>)>,
    /// Further text to copy, each with its name.
    pub(super) copies: Vec<(&'static str, String)>,
}

/// A figure as declared and as proposed.
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) change: String,
}

/// The figures of orders, a row each.
pub(super) struct OrderTable {
    pub(super) caption: &'static str,
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<OrderRow>,
}

/// The figures of an order.
pub(super) struct OrderRow {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) marks: String,
    pub(super) cells: Vec<String>,
}

/// The outcome of a plan in a sentence.
pub(super) fn verdict(plan: &StructPlan, basis: Basis) -> String {
    let moved = plan.moved.len();
    let all = plan.declared.members.len();
    let by = match basis {
        Basis::Profile => format!("by {} samples", plan.samples),
        Basis::Layout => "by size alone: hot members are not known".to_owned(),
    };
    let what = match plan.outcome() {
        Outcome::Moved => format!("{moved} of {all} members move, {by}"),
        Outcome::NoGain => format!("No gain, nothing moves ({by})"),
        Outcome::Refused => "Refused, nothing moves".to_owned(),
        Outcome::TooFewSamples => {
            format!("Too few samples, nothing moves: {} of {}", plan.samples, plan.needed)
        }
    };
    plan.reason().map_or_else(|| format!("{what}."), |reason| format!("{what}: {reason}."))
}

/// Lines per visit and bytes of the recorded build, as declared and as proposed; nothing if nothing moves.
pub(super) fn figures(plan: &StructPlan, build_line: u64) -> Vec<Figure> {
    if !plan.changes() {
        return Vec::new();
    }
    let recorded = plan.forecasts.iter().filter(|row| row.build.is_none());
    let lines = recorded.map(|row| Figure {
        name: format!("lines per visit, {}", line_size(row.line, row.build_line)),
        before: format!("{:.2}", row.together.before),
        after: format!("{:.2}", row.together.after),
        change: describe_change(plan, row),
    });
    let is_recorded = |size: &&SizeForecast| size.build.is_none() && size.build_line == build_line;
    let size = plan.sizes.iter().find(is_recorded).map(|size| Figure {
        name: "bytes".to_owned(),
        before: size.before.to_string(),
        after: size.after.to_string(),
        change: if size.slab_before == size.slab_after {
            format!("kmalloc takes {} for both", size.slab_after)
        } else {
            format!("kmalloc {} → {}", size.slab_before, size.slab_after)
        },
    });
    lines.chain(size).collect()
}

/// The samples that changes of [`figures`] are measured on, in a sentence.
pub(super) fn figures_note(plan: &StructPlan) -> &'static str {
    let is_validated =
        plan.confidence.as_ref().is_some_and(|confidence| !confidence.cross_validation.is_empty());
    match is_validated {
        true => "Changes are those in the time blocks that were not planned on, with their 95 % intervals.",
        false => {
            "Changes are those in the samples that the order was made of; --confidence 20 judges it by others."
        }
    }
}

/// The figures of the declared order and of the candidates.
pub(super) fn order_table(plan: &StructPlan) -> Option<OrderTable> {
    let first = plan.candidates.first()?;
    let label = |build: &Option<String>| builds_text::build_label(plan, build.as_deref());
    let mut heads =
        ["moved", "#if blocks split", "neighbours parted", "gain kept"].map(str::to_owned).to_vec();
    heads.extend(
        first
            .forecasts
            .iter()
            .map(|row| format!("lines {}{}", label(&row.build), line_size(row.line, row.build_line))),
    );
    heads.extend(first.sizes.iter().map(|size| format!("bytes {}{} B", label(&size.build), size.build_line)));
    heads.push("lines lost".to_owned());
    let mut rows = vec![declared_row(first)];
    rows.extend((1..).zip(&plan.candidates).map(|(number, candidate)| candidate_row(number, candidate)));
    Some(OrderTable { caption: CAPTION, heads, rows })
}

const CAPTION: &str = "Orders. Lines: cachelines that a visit touches, by line size (/ size compiled for), with the change \
    in the samples planned on. Gain kept: of the best order's. Bytes: with the kmalloc class where it is larger. Lines \
    lost: to other CPUs, per visit.";

fn declared_row(first: &Candidate) -> OrderRow {
    let mut cells = vec!["–".to_owned(); 4];
    cells.extend(first.forecasts.iter().map(|row| format!("{:.3}", row.together.before)));
    cells.extend(first.sizes.iter().map(|size| bytes(size.before, size.slab_before)));
    cells.push(format!("{:.3}", first.coherence.before));
    OrderRow { id: DECLARED.to_owned(), label: "as declared".to_owned(), marks: String::new(), cells }
}

fn candidate_row(number: usize, candidate: &Candidate) -> OrderRow {
    let kept = candidate.kept.iter().map(|kept| kept.lines).reduce(f64::min);
    let mut cells =
        [candidate.moved, candidate.split_blocks, candidate.parted].map(|count| count.to_string()).to_vec();
    cells.push(kept.map_or_else(|| "–".to_owned(), |kept| format!("{:.0} %", 100.0 * kept)));
    cells.extend(candidate.forecasts.iter().map(lines_after));
    cells.extend(candidate.sizes.iter().map(size_after));
    cells.push(format!("{:.3}", candidate.coherence.after));
    OrderRow {
        id: number.to_string(),
        label: format!("candidate {number}"),
        marks: format_marks(candidate),
        cells,
    }
}

fn lines_after(row: &Forecast) -> String {
    let (before, after) = (row.together.before, row.together.after);
    if before <= 0.0 {
        return format!("{after:.3}");
    }
    format!("{after:.3} ({:+.1} %)", 100.0 * (after / before - 1.0))
}

fn size_after(size: &SizeForecast) -> String {
    bytes(size.after, size.slab_after)
}

fn bytes(size: u64, slab: u64) -> String {
    if slab > size { format!("{size} ({slab})") } else { size.to_string() }
}

/// Sentences on how sure the figures are.
pub(super) fn evidence(plan: &StructPlan) -> Vec<String> {
    let mut says: Vec<String> =
        plan.evidence.iter().map(|evidence| format!("{}.", evidence.describe())).collect();
    let Some(confidence) = &plan.confidence else {
        says.extend(plan.changes().then(|| {
            "Figures are of the samples that the order was made of: no cross-validation was asked for."
                .to_owned()
        }));
        return says;
    };
    says.extend(confidence.missing.iter().map(|missing| format!("No cross-validation: {missing}.")));
    says.extend(confidence.cross_validation.iter().map(|row| {
        let (before, after) = (row.together.before, row.together.after);
        let size = line_size(row.line, row.build_line);
        format!(
            "{size} in time blocks not planned on: {before:.3} → {after:.3} lines per visit, {}.",
            interval(row.interval)
        )
    }));
    says.extend(confidence.kept_gain.map(|kept| {
        format!("Of the best order's gain in lines, the proposed one keeps {:.0} % there.", 100.0 * kept)
    }));
    says.extend(confidence.interval.map(|change| {
        format!(
            "Over all line sizes, by {} bootstrap replicates: {}.",
            confidence.resamples,
            interval(change)
        )
    }));
    says
}

fn interval(change: Interval) -> String {
    let [change, low, high] = [change.change, change.low, change.high].map(|share| 100.0 * share);
    format!("{change:+.1} % (95 % interval {low:+.1} to {high:+.1})")
}

/// Places that a reader has to look at, and limits of the order.
pub(super) fn remarks(plan: &StructPlan) -> Vec<(&'static str, Vec<String>)> {
    let comments = plan.comments.iter().map(|comment| {
        let members = member_names(plan, &comment.members);
        let about = if members.is_empty() { members } else { format!(" (about {members})") };
        format!("{}:{}: {}{about}", comment.file, comment.line, comment.text)
    });
    let held =
        plan.constraints.iter().map(|held| format!("{}: {}", member_name(plan, held.index), held.reason));
    let pins = plan.pins.iter().map(|pin| {
        let kept = |is_kept: bool| if is_kept { "kept" } else { "not kept" };
        format!("{}: {} as declared, {} as proposed", pin.pin, kept(pin.declared), kept(pin.chosen))
    });
    let embedded = plan.embedded_in.iter().map(|outer| {
        let Embedding { name, member, before, after, .. } = outer;
        format!("struct {name} ({member}): {before} → {after} bytes{}", outer.describe_all())
    });
    let proof = plan.proof_sentence().filter(|_| plan.changes());
    let proof = proof.map(|proof| format!("As far as fieldline can tell, {proof}."));
    let insisted = plan.insistence.iter().flat_map(|insistence| {
        insistence.uses.iter().map(|used| format!("{used} (allowed: {})", insistence.reason))
    });
    let all: [(&'static str, Vec<String>); 8] = [
        ("Comments to look at: members around them move", comments.collect()),
        ("Depends on the order, and is allowed to change", insisted.collect()),
        ("Configurations that pay", plan.grows.clone()),
        ("Structs that hold it by value", embedded.collect()),
        ("Uses of the struct", proof.into_iter().collect()),
        ("Members that may not move freely", held.collect()),
        ("Pins", pins.collect()),
        ("Notes from the source", plan.notes.clone()),
    ];
    all.into_iter().filter(|(_, says)| !says.is_empty()).collect()
}
