//! The benefit of an order as a table: lines per visit, bytes, lines lost to other CPUs, now and then.

use super::text::{Rows, columns, cut};
use fieldline_access::access::TypeProfile;
use fieldline_plan::StructPlan;
use fieldline_plan::result::{BeforeAfter, Candidate, Interval, Mark, SizeForecast};

/// A row: what is counted, its figures, and how they change.
struct BenefitRow {
    label: String,
    now: String,
    then: String,
    change: String,
}

/// Columns of the figures now and then.
const NOW: usize = 9;
const THEN: usize = 11;

/// Appends the table, of lines per visit by line size first.
pub(crate) fn draw(rows: &mut Rows, plan: &StructPlan, profile: Option<&TypeProfile>) {
    let table = table(plan, profile);
    let label = table.iter().map(|row| columns(&row.label)).max().unwrap_or(0).min(rows.width / 2);
    let name = if plan.changes() { chosen_name(plan) } else { "lower bound" };
    let has_interval = !cross_validation(plan).is_empty();
    let change = match (plan.changes(), has_interval) {
        (true, true) => "change [95 % CI]",
        (true, false) => "change",
        (false, _) => "",
    };
    rows.head(&format!("  {:label$} {:>NOW$} {name:>THEN$}  {change}", "", "now"));
    for BenefitRow { label: text, now, then, change } in &table {
        let text = cut(text, label);
        rows.push(&format!("  {text:<label$} {now:>NOW$} {then:>THEN$}  {change}"));
    }
}

/// The candidate that the plan proposes.
pub(crate) fn chosen(plan: &StructPlan) -> Option<&Candidate> {
    plan.candidates.iter().find(|candidate| candidate.marks.contains(&Mark::Chosen))
}

/// The name of the chosen order among the candidates.
fn chosen_name(plan: &StructPlan) -> &'static str {
    let marks = chosen(plan).map(|candidate| candidate.marks.as_slice()).unwrap_or_default();
    let named = [(Mark::Recommended, "recommended"), (Mark::Best, "best"), (Mark::Smallest, "smallest")];
    named.into_iter().find(|(mark, _)| marks.contains(mark)).map_or("chosen", |(_, name)| name)
}

fn table(plan: &StructPlan, profile: Option<&TypeProfile>) -> Vec<BenefitRow> {
    if !plan.changes() {
        return unchanged(plan);
    }
    let mut table: Vec<BenefitRow> = match cross_validation(plan) {
        [] => in_sample(plan),
        rows => rows
            .iter()
            .map(|row| line_row(row.line, row.build_line, row.together, Some(row.interval)))
            .collect(),
    };
    table.extend(size_rows(&plan.sizes));
    match (chosen(plan), table.is_empty() || plan.forecasts.is_empty()) {
        (_, true) => table.extend(line_count_rows(&plan.sizes)),
        (Some(candidate), false) => table.push(coherence_row(candidate.coherence, profile)),
        (None, false) => {}
    }
    table
}

/// Figures of a struct that stays as it is, with the lines per visit that no order goes below.
fn unchanged(plan: &StructPlan) -> Vec<BenefitRow> {
    let recorded = plan.forecasts.iter().filter(|forecast| forecast.build.is_none());
    let mut rows: Vec<BenefitRow> = recorded
        .map(|forecast| BenefitRow {
            then: format!("{:.3}", forecast.bound),
            change: String::new(),
            ..line_row(forecast.line, forecast.build_line, forecast.together, None)
        })
        .collect();
    rows.extend(size_rows(&plan.sizes).into_iter().map(|row| BenefitRow {
        then: String::new(),
        change: row.change.trim_start_matches("same; ").trim_start_matches("same").to_owned(),
        ..row
    }));
    rows
}

/// Lines per visit in the samples not planned on, if that is known.
pub(crate) fn cross_validation(plan: &StructPlan) -> &[fieldline_plan::result::CrossValidation] {
    plan.confidence.as_ref().map(|confidence| confidence.cross_validation.as_slice()).unwrap_or_default()
}

/// Lines per visit in the samples planned on.
fn in_sample(plan: &StructPlan) -> Vec<BenefitRow> {
    let recorded = plan.forecasts.iter().filter(|forecast| forecast.build.is_none());
    recorded.map(|forecast| line_row(forecast.line, forecast.build_line, forecast.together, None)).collect()
}

fn line_row(line: u64, build_line: u64, lines: BeforeAfter, interval: Option<Interval>) -> BenefitRow {
    let built = if line == build_line { String::new() } else { format!(" ({build_line} B build)") };
    let change = match interval {
        Some(Interval { change: 0.0, low: 0.0, high: 0.0 }) => "same".to_owned(),
        Some(Interval { change, low, high }) => {
            let [low, high] = [low, high].map(|share| format!("{:+.1}", 100.0 * share));
            format!("{} [{low}, {high}]", percent(change))
        }
        None => relative(lines.before, lines.after),
    };
    BenefitRow {
        label: format!("lines/visit {line} B{built}"),
        now: format!("{:.3}", lines.before),
        then: format!("{:.3}", lines.after),
        change,
    }
}

fn percent(share: f64) -> String {
    format!("{:+.1} %", 100.0 * share)
}

fn relative(before: f64, after: f64) -> String {
    match before > 0.0 {
        _ if (after - before).abs() < 0.000_5 => "same".to_owned(),
        true => percent(after / before - 1.0),
        false => String::new(),
    }
}

/// A row for each line size that the struct is compiled for; one if nothing changes for any.
fn size_rows(sizes: &[SizeForecast]) -> Vec<BenefitRow> {
    let recorded: Vec<&SizeForecast> = sizes.iter().filter(|size| size.build.is_none()).collect();
    if let Some(first) = recorded.first()
        && recorded.iter().all(|size| size.before == size.after)
    {
        let others = recorded.iter().filter(|size| size.before != first.before);
        let others = others.map(|size| format!("; {} B build: {}", size.build_line, size.before));
        let change = format!("same{}", others.collect::<String>());
        let (now, then) = (first.before.to_string(), first.after.to_string());
        return vec![BenefitRow { label: "bytes".to_owned(), now, then, change }];
    }
    let row = |size: &&SizeForecast| BenefitRow {
        label: format!("bytes ({} B build)", size.build_line),
        now: size.before.to_string(),
        then: size.after.to_string(),
        change: describe_slab(size),
    };
    recorded.iter().map(row).collect()
}

/// The cachelines that an order by size alone takes.
fn line_count_rows(sizes: &[SizeForecast]) -> impl Iterator<Item = BenefitRow> {
    sizes.iter().filter(|size| size.build.is_none()).map(|size| {
        let lines = |bytes: u64| bytes.div_ceil(size.build_line.max(1));
        let (now, then) = (lines(size.before), lines(size.after));
        BenefitRow {
            label: format!("cachelines of {} B", size.build_line),
            now: now.to_string(),
            then: then.to_string(),
            change: if now == then { "same".to_owned() } else { format!("{:+}", then as f64 - now as f64) },
        }
    })
}

/// The size class of the kernel's allocator, before and after.
fn describe_slab(size: &SizeForecast) -> String {
    match (size.slab_before, size.slab_after) {
        _ if size.before == size.after => "same".to_owned(),
        (before, after) if before == after => format!("kmalloc class stays {before}"),
        (before, after) => format!("kmalloc class {before} -> {after}"),
    }
}

fn coherence_row(lost: BeforeAfter, profile: Option<&TypeProfile>) -> BenefitRow {
    let is_known = profile.is_none_or(|profile| profile.shows_lost_lines() || !profile.turns.is_empty());
    let label = "lines lost to other CPUs/visit".to_owned();
    if !is_known && lost.before == 0.0 && lost.after == 0.0 {
        let none = || "-".to_owned();
        return BenefitRow {
            label,
            now: none(),
            then: none(),
            change: "the recording doesn't show it".to_owned(),
        };
    }
    let (now, then) = (format!("{:.3}", lost.before), format!("{:.3}", lost.after));
    let change = if now == then { "same".to_owned() } else { format!("{:+.3}", lost.after - lost.before) };
    BenefitRow { label, now, then, change }
}
