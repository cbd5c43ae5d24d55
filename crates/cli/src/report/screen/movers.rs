//! The members that move, those with most accesses first.

use super::bars::share;
use super::text::{Rows, columns, cut, fold, plural, shorten};
use crate::report::plan::is_bit_run;
use fieldline_plan::StructPlan;
use fieldline_plan::result::MovedMember;

/// Members of bit-fields that move together are one row.
type Run<'p> = &'p [MovedMember];

/// Rows that a table is worth.
const TABLE_ROWS: usize = 4;

/// Widest name of a member.
const MAX_NAME: usize = 28;

/// Appends a head and a row for each of the first members, in so many rows at most.
pub(crate) fn draw(rows: &mut Rows, plan: &StructPlan, most: usize) {
    let runs = ranked(plan);
    if most < TABLE_ROWS.min(1 + runs.len()) {
        return draw_names(rows, &runs);
    }
    let named = named(&runs);
    let shown =
        if 1 + named + usize::from(named < runs.len()) <= most { named } else { most.saturating_sub(2) };
    let names: Vec<String> = runs.iter().take(shown).map(|run| shorten(&run_name(run), MAX_NAME)).collect();
    let name_width = names.iter().map(|name| columns(name)).max().unwrap_or(0).max(12);
    let is_sampled = runs.iter().any(|run| !is_idle(run));
    let (accesses, why) = if is_sampled { (" accesses", "touched with; by") } else { ("", "why") };
    rows.head(&format!("  {:<name_width$}{accesses}   from     to  {why}", "moves"));
    for (name, run) in names.iter().zip(&runs) {
        let (Some(first), Some(hottest)) = (run.first(), hottest(run)) else { continue };
        let accesses = if is_sampled { format!(" {:>8}", share_of(hottest.share)) } else { String::new() };
        let (from, to) = (first.from, first.to);
        let gap = " ".repeat(name_width.saturating_sub(columns(name)));
        let head = format!("  {name}{gap}{accesses} {from:>6} {to:>6}  ");
        let left = rows.width.saturating_sub(columns(&head));
        rows.push(&format!("{head}{}", describe(hottest, left)));
    }
    let rest = runs.get(shown..).unwrap_or_default();
    if !rest.is_empty() {
        rows.push(&format!("  {}", describe_rest(rest)));
    }
}

/// Appends one row with names.
fn draw_names(rows: &mut Rows, runs: &[Run<'_>]) {
    let name = |run: &Run<'_>| match hottest(run).filter(|member| samples(member) > 0) {
        Some(member) => format!("{} {}", run_name(run), share_of(member.share)),
        None => run_name(run),
    };
    let names: Vec<String> = runs.iter().map(name).collect();
    let label = "  moves: ";
    rows.push(&format!("{label}{}", fold(&names, ", ", rows.width.saturating_sub(label.len()))));
}

/// How many rows all of it takes.
pub(crate) fn rows(plan: &StructPlan) -> usize {
    let runs = ranked(plan);
    let named = named(&runs);
    if runs.is_empty() { 0 } else { 1 + named + usize::from(named < runs.len()) }
}

/// How many of the first runs have a row: those with samples, or all if none has.
fn named(runs: &[Run<'_>]) -> usize {
    match runs.iter().filter(|run| !is_idle(run)).count() {
        0 => runs.len(),
        touched => touched,
    }
}

fn is_idle(run: Run<'_>) -> bool {
    hottest(run).is_none_or(|member| samples(member) == 0)
}

/// Runs by accesses, most first.
fn ranked(plan: &StructPlan) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> =
        plan.moved.chunk_by(|first, second| is_bit_run(plan, first, second)).collect();
    runs.sort_by_key(|run| std::cmp::Reverse(hottest(run).map_or(0, samples)));
    runs
}

fn samples(member: &MovedMember) -> u64 {
    member.loads.saturating_add(member.stores)
}

/// The member of a run with most accesses, the first of several.
fn hottest(run: Run<'_>) -> Option<&MovedMember> {
    run.iter().reduce(|hottest, member| if samples(member) > samples(hottest) { member } else { hottest })
}

fn run_name(run: Run<'_>) -> String {
    let name = hottest(run).and_then(|member| member.name.as_deref()).unwrap_or("(anonymous)");
    match run.len() {
        0 | 1 => name.to_owned(),
        count => format!("{name} +{} bits", count - 1),
    }
}

fn share_of(share: f64) -> String {
    share_text((1_000.0 * share).round() as u64)
}

fn share_text(thousandths: u64) -> String {
    share(thousandths, 1_000)
}

/// The members it is touched with and the functions that do, as far as they fit.
fn describe(member: &MovedMember, most: usize) -> String {
    if samples(member) == 0 {
        return cut(&member.reason, most);
    }
    let by = fold(&member.functions, ", ", if member.with.is_empty() { most } else { most * 3 / 5 });
    if member.with.is_empty() {
        return cut(&format!("nothing on its new line; {by}"), most);
    }
    let left = most.saturating_sub(columns(&by) + 2);
    cut(&format!("{}; {by}", fold(&member.with, ", ", left)), most)
}

fn describe_rest(rest: &[Run<'_>]) -> String {
    let idle = rest.iter().filter(|run| is_idle(run)).count();
    let touched = rest.len() - idle;
    let room = format!("{} without samples", plural(idle, "member"));
    match (touched, idle) {
        (_, 0) => format!("and {touched} more"),
        (0, _) => format!("and {room}"),
        _ => format!("and {touched} more, and {room}"),
    }
}
