//! Layouts as tables: one row a member, with cacheline boundaries for each line size, holes and straddling
//! members.

use crate::report::color::Palette;
use fieldline_layout::layout::{Layout, LayoutItem, Member, MemberRole};
use std::fmt::Write;

#[derive(Clone, Debug)]
pub(crate) struct TableOptions<'o> {
    pub(crate) lines: &'o [u64],
    /// Show the members of structs held by value.
    pub(crate) expand: bool,
    pub(crate) paint: Palette,
}

/// Appends a layout's table. `origin` says which definition of several it is, or is empty; a remark follows the table.
pub(crate) fn draw(
    out: &mut String,
    layout: &Layout,
    (origin, remark): (&str, Option<&str>),
    options: &TableOptions<'_>,
) {
    let width = label_width(layout, options).clamp(16, 48);
    heading(out, layout, origin, options);
    let mut table = LayoutTable { out, layout, options, width, drawn: 0, started: false };
    for item in &layout.items {
        table.item(item);
    }
    table.boundaries(layout.size);
    out.extend(remark.iter().map(|remark| format!("  {remark}\n")));
    out.push('\n');
}

fn heading(out: &mut String, layout: &Layout, origin: &str, options: &TableOptions<'_>) {
    let title = options.paint.bold(&format!("{} {}", layout.kind, layout.name));
    let line = layout.line.unwrap_or(0);
    let place = layout.file.as_deref().map(|file| format!(", {file}:{line}")).unwrap_or_default();
    let _ =
        writeln!(out, "{title}: {} bytes, align {}{}", layout.size, layout.align, options.paint.dim(&place));
    if !origin.is_empty() {
        let _ = writeln!(out, "  {}", options.paint.warning(origin));
    }
    let _ = writeln!(out, "  {}\n", summary_figures(layout, options.lines).join(", "));
    let _ = writeln!(out, "  {}", options.paint.dim("offset    size  member"));
}

fn summary_figures(layout: &Layout, lines: &[u64]) -> Vec<String> {
    let cachelines = |line: &u64| format!("{} of {line} B", layout.cachelines(*line));
    let mut facts = vec![
        format!("cachelines: {}", lines.iter().map(cachelines).collect::<Vec<_>>().join(", ")),
        format!("{} members", layout.members.len()),
    ];
    let count = |matches: fn(&LayoutItem) -> bool| {
        let sizes = layout.items.iter().filter(|item| matches(item)).map(|item| item.bits().1);
        sizes.fold((0, 0), |(count, bits), size| (count + 1, bits + size))
    };
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let (holes, bits) = count(|item| matches!(item, LayoutItem::Hole { .. }));
    facts.extend((bits > 0).then(|| format!("{holes} hole{} ({} B)", plural(holes), bits / 8)));
    let (holes, bits) = count(|item| matches!(item, LayoutItem::BitHole { .. }));
    facts.extend((bits > 0).then(|| format!("{holes} bit hole{} ({bits} bits)", plural(holes))));
    let (_, bits) = count(|item| matches!(item, LayoutItem::Padding { .. }));
    facts.extend((bits > 0).then(|| format!("padding ({} B)", bits / 8)));
    facts
}

fn label_width(layout: &Layout, options: &TableOptions<'_>) -> usize {
    fn longest(members: &[Member], depth: usize, expand: bool) -> usize {
        let own = members.iter().map(|member| member.label().len() + 2 * depth).max().unwrap_or(0);
        let inner = members.iter().filter(|member| expand || member.name.is_none());
        inner.map(|member| longest(&member.members, depth + 1, expand)).max().unwrap_or(0).max(own)
    }
    longest(&layout.members, 0, options.expand)
}

struct LayoutTable<'t, 'o> {
    out: &'t mut String,
    layout: &'t Layout,
    options: &'t TableOptions<'o>,
    width: usize,
    /// First byte whose boundary has not been drawn.
    drawn: u64,
    started: bool,
}

impl LayoutTable<'_, '_> {
    fn item(&mut self, item: &LayoutItem) {
        let (bit_offset, bit_size) = item.bits();
        if !self.layout.is_union() || bit_offset == 0 {
            self.boundaries(bit_offset / 8);
        }
        match *item {
            LayoutItem::Members { first, count, .. } => {
                let members = self.layout.members.iter().skip(first).take(count);
                members.for_each(|member| self.member(member, 0));
            }
            LayoutItem::Hole { .. } => self.gap(bit_offset, bit_size, "hole"),
            LayoutItem::BitHole { .. } => self.gap(bit_offset, bit_size, "bit hole"),
            LayoutItem::Padding { .. } => self.gap(bit_offset, bit_size, "padding"),
            LayoutItem::BitPadding { .. } => self.gap(bit_offset, bit_size, "bit padding"),
        }
    }

    /// Draws the boundaries up to a byte: the start of each line of any size asked for.
    fn boundaries(&mut self, until: u64) {
        let Some(smallest) = self.options.lines.iter().copied().min() else { return };
        if !self.started {
            self.started = true;
            self.rule(0, until);
            self.drawn = smallest;
        }
        // Huge arrays would fill screens with boundaries: the first and the last suffice.
        let count = (until.min(self.layout.size.saturating_sub(1)) / smallest + 1)
            .saturating_sub(self.drawn / smallest);
        let mut index = 0;
        while self.drawn <= until && self.drawn < self.layout.size {
            if count <= 8 || index < 2 || index + 2 >= count {
                self.rule(self.drawn, until);
            } else if index == 2 {
                let text = format!("  ── ⋮ {} more lines", count - 4);
                let _ = writeln!(self.out, "{}", self.options.paint.boundary(&text));
            }
            index += 1;
            self.drawn += smallest;
        }
    }

    fn rule(&mut self, at: u64, until: u64) {
        let of_size = self.options.lines.iter().filter(|line| at.is_multiple_of(**line));
        let names: Vec<String> = of_size.map(|line| format!("{line} B #{}", at / line)).collect();
        let distance = if until > at { format!(" ({} B before)", until - at) } else { String::new() };
        let text = format!("  ──────────────── {}{distance}", names.join(" · "));
        let _ = writeln!(self.out, "{}", self.options.paint.boundary(&text));
    }

    fn member(&mut self, member: &Member, depth: usize) {
        let label = format!("{:indent$}{}", "", member.label(), indent = 2 * depth);
        let place = format_location(member.bit_offset, member.bit_size, member.is_bit_field());
        let warning = self.straddle_warning(member);
        let line = format!("  {place}  {label:<width$}  {}", member.type_name, width = self.width);
        let _ = writeln!(self.out, "{}{}", line.trim_end(), self.options.paint.warning(&warning));
        if self.options.expand || member.name.is_none() {
            member.members.iter().for_each(|inner| self.member(inner, depth + 1));
        }
    }

    /// A warning for a member that straddles a line it would fit.
    fn straddle_warning(&self, member: &Member) -> String {
        if member.bit_size == 0 {
            return match member.role {
                MemberRole::GroupBegin | MemberRole::GroupEnd | MemberRole::Pad => "  marker".to_owned(),
                _ => String::new(),
            };
        }
        let straddled = self.options.lines.iter().filter(|line| member.straddles_line(**line));
        let lines: Vec<String> = straddled.map(|line| format!("{line} B")).collect();
        if lines.is_empty() { String::new() } else { format!("  straddles {}", lines.join(" and ")) }
    }

    fn gap(&mut self, bit_offset: u64, bit_size: u64, what: &str) {
        let bits = !bit_size.is_multiple_of(8) || !bit_offset.is_multiple_of(8);
        let text = format!("  {}  ({what})", format_location(bit_offset, bit_size, bits));
        let _ = writeln!(self.out, "{}", self.options.paint.unused(&text));
    }
}

/// Offset and size columns: bytes, or `byte:bit` and `:bits`.
fn format_location(bit_offset: u64, bit_size: u64, bits: bool) -> String {
    if bits {
        format!("{:>6}:{:<2}{:>5}", bit_offset / 8, bit_offset % 8, format!(":{bit_size}"))
    } else {
        format!("{:>6}   {:>5}", bit_offset / 8, bit_size / 8)
    }
}
