//! [`TypeHeat`] as text.

use crate::report::color::Palette;
use crate::report::parts::ReportPart;
use crate::report::profile::heat::{LineHeat, MemberHeat, TypeHeat};
use std::fmt::Write;

#[derive(Clone, Debug)]
pub(crate) struct HeatOptions<'o> {
    pub(crate) lines: &'o [u64],
    /// Rows of functions and pairs.
    pub(crate) top: usize,
    pub(crate) paint: Palette,
}

/// Appends parts of a struct's report.
pub(crate) fn draw(out: &mut String, heat: &TypeHeat, parts: &[ReportPart], options: &HeatOptions<'_>) {
    let samples = heat.samples();
    let title = options.paint.bold(&format!("struct {}", heat.name));
    let _ = writeln!(out, "{title}: {} bytes, {samples} samples\n", heat.size);
    if samples == 0 {
        return;
    }
    let drawn: [(ReportPart, fn(&mut String, &TypeHeat, &HeatOptions<'_>)); 4] = [
        (ReportPart::Members, draw_members),
        (ReportPart::Functions, draw_functions),
        (ReportPart::Pairs, draw_pairs),
        (ReportPart::Lines, draw_lines),
    ];
    let chosen = drawn.into_iter().filter(|(part, _)| parts.contains(part));
    chosen.for_each(|(_, draw)| draw(out, heat, options));
}

fn draw_members(out: &mut String, heat: &TypeHeat, options: &HeatOptions<'_>) {
    let total = heat.samples();
    let width = heat.members.iter().map(|member| member.label.len()).max().unwrap_or(0).clamp(8, 40);
    let head = format!(
        "  {:>6} {:>5}  {:<width$} {:>6} {:>7} {:>7} {:>5}  {:<28} {:>4} {:>4}  functions",
        "offset", "size", "member", "share", "loads", "stores", "cyc", "loads served by", "cpus", "wr"
    );
    let _ = writeln!(out, "{}", options.paint.dim(&head));
    let mut ranked: Vec<&MemberHeat> = heat.members.iter().collect();
    ranked.sort_by_key(|member| (std::cmp::Reverse(member.samples()), member.offset));
    for member in ranked {
        let MemberHeat { offset, size, label, loads, stores, functions, .. } = member;
        let (share, cycles, levels) =
            (percent(member.samples(), total), member.mean_latency(), format_levels(member));
        let (cpus, writers) = (member.cpus.len(), member.writers.len());
        let functions = join_first(functions.iter().map(|(name, _)| name.clone()), functions, 3);
        let _ = write!(
            out,
            "  {offset:>6} {size:>5}  {label:<width$} {share:>6} {loads:>7} {stores:>7} {cycles:>5}"
        );
        let _ = writeln!(out, "  {levels:<28} {cpus:>4} {writers:>4}  {functions}");
    }
    out.push('\n');
}

/// `12.3%` of a total.
pub(crate) fn percent(part: u64, total: u64) -> String {
    format_share(part, total, 1)
}

fn format_share(part: u64, total: u64, digits: usize) -> String {
    if total == 0 { "-".to_owned() } else { format!("{:.digits$}%", 100.0 * part as f64 / total as f64) }
}

/// Shares of the levels that served the loads, most first, and HITM.
fn format_levels(member: &MemberHeat) -> String {
    let total: u64 = member.levels.iter().filter(|(level, _)| *level != "HITM").map(|(_, count)| count).sum();
    let mut ranked: Vec<(&String, &u64)> = member.levels.iter().collect();
    ranked.sort_by(|left, right| right.1.cmp(left.1).then_with(|| left.0.cmp(right.0)));
    let frequent = ranked.into_iter().filter(|(_, count)| *count * 200 >= total).take(4);
    let shares = frequent.map(|(level, count)| format!("{level} {}", format_share(*count, total, 0)));
    shares.collect::<Vec<_>>().join(" ")
}

/// The first names of a list, and how many more there are.
pub(crate) fn join_first<T>(names: impl Iterator<Item = String>, all: &[T], count: usize) -> String {
    let named = names.take(count).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(count) {
        0 => named,
        more => format!("{named} (+{more})"),
    }
}

fn draw_functions(out: &mut String, heat: &TypeHeat, options: &HeatOptions<'_>) {
    let _ = writeln!(out, "{}", options.paint.dim("  functions that touch it"));
    for (name, count) in heat.functions.iter().take(options.top) {
        let _ = writeln!(out, "  {:>7} {count:>7}  {name}", percent(*count, heat.samples()));
    }
    out.push('\n');
}

fn draw_pairs(out: &mut String, heat: &TypeHeat, options: &HeatOptions<'_>) {
    if heat.pairs.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", options.paint.dim("  members touched by the same functions"));
    for pair in heat.pairs.iter().take(options.top) {
        let (Some(left), Some(right)) = (heat.members.get(pair.left), heat.members.get(pair.right)) else {
            continue;
        };
        let is_split = |line: &&u64| left.offset / **line != right.offset / **line;
        let split: Vec<_> = options.lines.iter().filter(is_split).map(|line| format!("{line} B")).collect();
        let split = match split.is_empty() {
            true => String::new(),
            false => format!("  on two lines of {}", split.join(" and ")),
        };
        let split = options.paint.warning(&split);
        let both = format!("{} + {}", left.label, right.label);
        let _ = writeln!(out, "  {:>7}  {both:<48} mostly {}{split}", pair.together, pair.function);
    }
    out.push('\n');
}

fn draw_lines(out: &mut String, heat: &TypeHeat, options: &HeatOptions<'_>) {
    for line in options.lines {
        let head = format!("  by cacheline of {line} B, an object that starts on one");
        let _ = writeln!(out, "{}", options.paint.dim(&head));
        for (index, heat_of_line) in heat.lines(*line) {
            let share = percent(heat_of_line.loads + heat_of_line.stores, heat.samples());
            let rule = options.paint.boundary(&format!("#{index:<3}"));
            let LineHeat { loads, stores, writers, members } = heat_of_line;
            let (cpus, members) = (writers.len(), members.join(" "));
            let _ = write!(out, "  {rule} {share:>6}  {loads:>7} loads {stores:>7} stores, ");
            let _ = writeln!(out, "written by {cpus:>2} cpus: {members}");
        }
        out.push('\n');
    }
}
