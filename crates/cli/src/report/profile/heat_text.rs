//! [`TypeHeat`] for eyes.

use crate::report::color::Paint;
use crate::report::profile::heat::{LineHeat, MemberHeat, TypeHeat};
use std::fmt::Write;

#[derive(Clone, Debug)]
pub(crate) struct Options<'o> {
    pub(crate) lines: &'o [u64],
    /// Rows of functions and pairs.
    pub(crate) top: usize,
    pub(crate) paint: Paint,
}

/// Appends a struct's report.
pub(crate) fn draw(out: &mut String, heat: &TypeHeat, options: &Options<'_>) {
    let samples = heat.samples();
    let title = options.paint.bold(&format!("struct {}", heat.name));
    let _ = writeln!(out, "{title}: {} bytes, {samples} samples\n", heat.size);
    if samples == 0 {
        return;
    }
    members(out, heat, options);
    functions(out, heat, options);
    pairs(out, heat, options);
    lines(out, heat, options);
}

fn members(out: &mut String, heat: &TypeHeat, options: &Options<'_>) {
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
            (percent(member.samples(), total), member.mean_latency(), levels(member));
        let (cpus, writers) = (member.cpus.len(), member.writers.len());
        let functions = some(functions.iter().map(|(name, _)| name.clone()), functions, 3);
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
    share(part, total, 1)
}

fn share(part: u64, total: u64, digits: usize) -> String {
    if total == 0 { "-".to_owned() } else { format!("{:.digits$}%", 100.0 * part as f64 / total as f64) }
}

/// Shares of the levels that served the loads, most first, and HITM.
fn levels(member: &MemberHeat) -> String {
    let total: u64 = member.levels.iter().filter(|(level, _)| *level != "HITM").map(|(_, count)| count).sum();
    let mut ranked: Vec<(&String, &u64)> = member.levels.iter().collect();
    ranked.sort_by(|left, right| right.1.cmp(left.1).then_with(|| left.0.cmp(right.0)));
    let worth_saying = ranked.into_iter().filter(|(_, count)| *count * 200 >= total).take(4);
    let shares = worth_saying.map(|(level, count)| format!("{level} {}", share(*count, total, 0)));
    shares.collect::<Vec<_>>().join(" ")
}

/// The first names of a list, and how many more there are.
pub(crate) fn some<T>(names: impl Iterator<Item = String>, of: &[T], count: usize) -> String {
    let named = names.take(count).collect::<Vec<_>>().join(", ");
    match of.len().saturating_sub(count) {
        0 => named,
        more => format!("{named} (+{more})"),
    }
}

fn functions(out: &mut String, heat: &TypeHeat, options: &Options<'_>) {
    let _ = writeln!(out, "{}", options.paint.dim("  functions that touch it"));
    for (name, count) in heat.functions.iter().take(options.top) {
        let _ = writeln!(out, "  {:>7} {count:>7}  {name}", percent(*count, heat.samples()));
    }
    out.push('\n');
}

fn pairs(out: &mut String, heat: &TypeHeat, options: &Options<'_>) {
    if heat.pairs.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", options.paint.dim("  members touched by the same functions"));
    for pair in heat.pairs.iter().take(options.top) {
        let (Some(left), Some(right)) = (heat.members.get(pair.left), heat.members.get(pair.right)) else {
            continue;
        };
        let apart = |line: &&u64| left.offset / **line != right.offset / **line;
        let split: Vec<String> = options.lines.iter().filter(apart).map(|line| format!("{line} B")).collect();
        let split = match split.is_empty() {
            true => String::new(),
            false => format!("  on two lines of {}", split.join(" and ")),
        };
        let split = options.paint.warn(&split);
        let both = format!("{} + {}", left.label, right.label);
        let _ = writeln!(out, "  {:>7}  {both:<48} mostly {}{split}", pair.together, pair.function);
    }
    out.push('\n');
}

fn lines(out: &mut String, heat: &TypeHeat, options: &Options<'_>) {
    for line in options.lines {
        let head = format!("  by cacheline of {line} B, an object that starts on one");
        let _ = writeln!(out, "{}", options.paint.dim(&head));
        for (index, on) in heat.lines(*line) {
            let share = percent(on.loads + on.stores, heat.samples());
            let rule = options.paint.rule(&format!("#{index:<3}"));
            let (LineHeat { loads, stores, .. }, cpus, members) =
                (&on, on.writers.len(), on.members.join(" "));
            let _ = write!(out, "  {rule} {share:>6}  {loads:>7} loads {stores:>7} stores, ");
            let _ = writeln!(out, "written by {cpus:>2} cpus: {members}");
        }
        out.push('\n');
    }
}
