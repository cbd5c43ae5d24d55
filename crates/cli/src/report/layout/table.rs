//! Layouts for eyes: one row a member, cacheline boundaries for each line size, gaps and straddles visible.

use crate::report::color::Paint;
use fieldline_layout::layout::{Item, Layout, Member, Role};
use std::fmt::Write;

#[derive(Clone, Debug)]
pub(crate) struct Options<'o> {
    pub(crate) lines: &'o [u64],
    /// Show the members of structs held by value.
    pub(crate) expand: bool,
    pub(crate) paint: Paint,
}

/// Appends a layout's table. `origin` says which definition of several it is, or is empty.
pub(crate) fn draw(out: &mut String, layout: &Layout, origin: &str, options: &Options<'_>) {
    let width = label_width(layout, options).clamp(16, 48);
    heading(out, layout, origin, options);
    let mut table = Table { out, layout, options, width, drawn: 0, started: false };
    for item in &layout.items {
        table.item(item);
    }
    table.boundaries(layout.size);
    table.out.push('\n');
}

fn heading(out: &mut String, layout: &Layout, origin: &str, options: &Options<'_>) {
    let title = options.paint.bold(&format!("{} {}", layout.kind, layout.name));
    let place = layout.file.as_deref().map(|file| format!(", {file}:{}", layout.line)).unwrap_or_default();
    let _ =
        writeln!(out, "{title}: {} bytes, align {}{}", layout.size, layout.align, options.paint.dim(&place));
    if !origin.is_empty() {
        let _ = writeln!(out, "  {}", options.paint.warn(origin));
    }
    let _ = writeln!(out, "  {}\n", facts(layout, options.lines).join(", "));
    let _ = writeln!(out, "  {}", options.paint.dim("offset    size  member"));
}

fn facts(layout: &Layout, lines: &[u64]) -> Vec<String> {
    let cachelines = |line: &u64| format!("{} of {line} B", layout.cachelines(*line));
    let mut facts = vec![
        format!("cachelines: {}", lines.iter().map(cachelines).collect::<Vec<_>>().join(", ")),
        format!("{} members", layout.members.len()),
    ];
    let count = |matches: fn(&Item) -> bool| {
        let sizes = layout.items.iter().filter(|item| matches(item)).map(|item| item.bits().1);
        sizes.fold((0, 0), |(count, bits), size| (count + 1, bits + size))
    };
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let (holes, bits) = count(|item| matches!(item, Item::Hole { .. }));
    facts.extend((bits > 0).then(|| format!("{holes} hole{} ({} B)", plural(holes), bits / 8)));
    let (holes, bits) = count(|item| matches!(item, Item::BitHole { .. }));
    facts.extend((bits > 0).then(|| format!("{holes} bit hole{} ({bits} bits)", plural(holes))));
    let (_, bits) = count(|item| matches!(item, Item::Padding { .. }));
    facts.extend((bits > 0).then(|| format!("padding ({} B)", bits / 8)));
    facts
}

fn label_width(layout: &Layout, options: &Options<'_>) -> usize {
    fn longest(members: &[Member], depth: usize, expand: bool) -> usize {
        let own = members.iter().map(|member| member.label().len() + 2 * depth).max().unwrap_or(0);
        let inner = members.iter().filter(|member| expand || member.name.is_none());
        inner.map(|member| longest(&member.members, depth + 1, expand)).max().unwrap_or(0).max(own)
    }
    longest(&layout.members, 0, options.expand)
}

struct Table<'t, 'o> {
    out: &'t mut String,
    layout: &'t Layout,
    options: &'t Options<'o>,
    width: usize,
    /// First byte whose boundary has not been drawn.
    drawn: u64,
    started: bool,
}

impl Table<'_, '_> {
    fn item(&mut self, item: &Item) {
        let (bit_offset, bit_size) = item.bits();
        if !self.layout.is_union() || bit_offset == 0 {
            self.boundaries(bit_offset / 8);
        }
        match *item {
            Item::Members { first, count, .. } => {
                let members = self.layout.members.iter().skip(first).take(count);
                members.for_each(|member| self.member(member, 0));
            }
            Item::Hole { .. } => self.gap(bit_offset, bit_size, "hole"),
            Item::BitHole { .. } => self.gap(bit_offset, bit_size, "bit hole"),
            Item::Padding { .. } => self.gap(bit_offset, bit_size, "padding"),
            Item::BitPadding { .. } => self.gap(bit_offset, bit_size, "bit padding"),
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
        // Huge arrays would fill screens with boundaries of nothing: the first and the last tell.
        let count = (until.min(self.layout.size.saturating_sub(1)) / smallest + 1)
            .saturating_sub(self.drawn / smallest);
        let mut index = 0;
        while self.drawn <= until && self.drawn < self.layout.size {
            if count <= 8 || index < 2 || index + 2 >= count {
                self.rule(self.drawn, until);
            } else if index == 2 {
                let text = format!("  ── ⋮ {} more lines", count - 4);
                let _ = writeln!(self.out, "{}", self.options.paint.rule(&text));
            }
            index += 1;
            self.drawn += smallest;
        }
    }

    fn rule(&mut self, at: u64, until: u64) {
        let of_size = self.options.lines.iter().filter(|line| at.is_multiple_of(**line));
        let names: Vec<String> = of_size.map(|line| format!("{line} B #{}", at / line)).collect();
        let ago = if until > at { format!(" ({} B before)", until - at) } else { String::new() };
        let text = format!("  ──────────────── {}{ago}", names.join(" · "));
        let _ = writeln!(self.out, "{}", self.options.paint.rule(&text));
    }

    fn member(&mut self, member: &Member, depth: usize) {
        let label = format!("{:indent$}{}", "", member.label(), indent = 2 * depth);
        let place = place(member.bit_offset, member.bit_size, member.is_bit_field());
        let remark = self.remark(member);
        let line = format!("  {place}  {label:<width$}  {}", member.type_name, width = self.width);
        let _ = writeln!(self.out, "{}{}", line.trim_end(), self.options.paint.warn(&remark));
        if self.options.expand || member.name.is_none() {
            member.members.iter().for_each(|inner| self.member(inner, depth + 1));
        }
    }

    /// A member that would fit a line and does not lie in one.
    fn remark(&self, member: &Member) -> String {
        if member.bit_size == 0 {
            return match member.role {
                Role::GroupBegin | Role::GroupEnd | Role::Pad => "  marker".to_owned(),
                _ => String::new(),
            };
        }
        let (start, end) = (member.offset(), member.offset() + member.size() - 1);
        let straddles = |line: &&u64| member.size() <= **line && start / **line != end / **line;
        let lines: Vec<String> =
            self.options.lines.iter().filter(straddles).map(|line| format!("{line} B")).collect();
        if lines.is_empty() { String::new() } else { format!("  straddles {}", lines.join(" and ")) }
    }

    fn gap(&mut self, bit_offset: u64, bit_size: u64, what: &str) {
        let bits = !bit_size.is_multiple_of(8) || !bit_offset.is_multiple_of(8);
        let text = format!("  {}  ({what})", place(bit_offset, bit_size, bits));
        let _ = writeln!(self.out, "{}", self.options.paint.gap(&text));
    }
}

/// Offset and size columns: bytes, or `byte:bit` and `:bits`.
fn place(bit_offset: u64, bit_size: u64, bits: bool) -> String {
    if bits {
        format!("{:>6}:{:<2}{:>5}", bit_offset / 8, bit_offset % 8, format!(":{bit_size}"))
    } else {
        format!("{:>6}   {:>5}", bit_offset / 8, bit_size / 8)
    }
}
