//! The cachelines of a struct as bars: the share of accesses that touch each, and its members.

use super::text::{Rows, columns, cut, fold};
use fieldline_access::access::TypeProfile;
use fieldline_layout::layout::Layout;
use fieldline_plan::result::{Arrangement, PlacedMember};
use std::collections::{BTreeMap, BTreeSet};

/// A cacheline of an object that begins on one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LineBar {
    pub(crate) number: u64,
    /// Samples that touch it.
    pub(crate) samples: u64,
    /// Members with bytes on it, with the samples that touch these, most first.
    members: Vec<(String, u64)>,
}

/// The cachelines of one order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LineBars {
    title: String,
    /// Those with accesses, in order.
    lines: Vec<LineBar>,
    /// All lines.
    count: u64,
    /// Samples of the struct.
    total: u64,
}

/// The sign in front of members that move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MoveSign<'m> {
    pub(crate) sign: &'static str,
    pub(crate) moved: &'m BTreeSet<usize>,
}

impl LineBars {
    /// Accesses of a profile of the `declared` order, where the members have the places of `order`.
    pub(crate) fn new(
        title: String,
        (profile, layout): (&TypeProfile, Option<&Layout>),
        (declared, order): (&Arrangement, &Arrangement),
        line: u64,
        mark: MoveSign<'_>,
    ) -> Self {
        let line = line.max(1);
        let places: BTreeMap<usize, &PlacedMember> =
            order.members.iter().map(|member| (member.index, member)).collect();
        let mut lines: BTreeMap<u64, LineBar> = BTreeMap::new();
        let mut named: BTreeMap<(u64, usize), BTreeMap<String, u64>> = BTreeMap::new();
        for access in &profile.accesses {
            let mut touched = BTreeSet::new();
            for (member, (from, to)) in pieces(declared, access.offset, access.size) {
                let Some(place) = places.get(&member.index) else { continue };
                let (begin, end) = (place.offset.saturating_add(from), place.offset.saturating_add(to - 1));
                let name = name(
                    member,
                    layout.filter(|_| member.size > line || member.name.is_none()),
                    member.offset + from,
                );
                for number in (begin / line..=end / line).take(MAX_LINES) {
                    touched.insert(number);
                    let names = named.entry((number, member.index)).or_default();
                    *names.entry(name.clone()).or_default() += access.samples();
                }
            }
            for number in touched {
                let bar = lines.entry(number).or_insert_with(|| LineBar { number, ..LineBar::default() });
                bar.samples += access.samples();
            }
        }
        for member in &order.members {
            let last = member.offset.saturating_add(member.size.max(1) - 1) / line;
            for (number, bar) in lines.range_mut(member.offset / line..=last) {
                let sign = if mark.moved.contains(&member.index) { mark.sign } else { "" };
                match named.get(&(*number, member.index)) {
                    Some(names) => bar
                        .members
                        .extend(names.iter().map(|(name, samples)| (format!("{sign}{name}"), *samples))),
                    None => bar.members.push((format!("{sign}{}", name(member, None, 0)), 0)),
                }
            }
        }
        let mut lines: Vec<LineBar> = lines.into_values().filter(|bar| bar.samples > 0).collect();
        lines.iter_mut().for_each(|bar| bar.members.sort_by_key(|(_, samples)| std::cmp::Reverse(*samples)));
        Self { title, lines, count: order.size.div_ceil(line), total: profile.samples() }
    }

    /// Samples of the line with most of them.
    fn largest(&self) -> u64 {
        self.lines.iter().map(|bar| bar.samples).max().unwrap_or(0)
    }

    /// Rows that show all of it.
    pub(crate) fn rows(&self) -> usize {
        let hot = self.lines.iter().filter(|bar| bar.samples.saturating_mul(100) >= self.total).count();
        let shown = self.lines.len().min(hot.max(ALWAYS_SHOWN));
        1 + shown + usize::from((shown as u64) < self.count)
    }

    /// Its rows, no more than `most` and no wider than `width`: the lines with most accesses, in order. A bar as long as
    /// can be stands for `scale` samples.
    fn draw(&self, width: usize, most: usize, scale: u64) -> Vec<String> {
        let mut ranked: Vec<&LineBar> = self.lines.iter().collect();
        ranked.sort_by_key(|bar| (std::cmp::Reverse(bar.samples), bar.number));
        let room = if self.rows() <= most { ranked.len() } else { most.saturating_sub(2).min(ranked.len()) };
        let hot = ranked.iter().take_while(|bar| bar.samples.saturating_mul(100) >= self.total).count();
        let shown = room.min(hot.max(ALWAYS_SHOWN));
        let rest = ranked.split_off(shown);
        ranked.sort_by_key(|bar| bar.number);
        let mut rows = vec![cut(&self.title, width)];
        rows.extend(ranked.into_iter().map(|bar| self.draw_bar(bar, width, scale)));
        let left = self.count.saturating_sub(shown as u64);
        if left > 0 {
            let lines = if left == 1 { "line" } else { "lines" };
            let share = match rest.first() {
                Some(bar) if left == 1 => format!("with {}", share(bar.samples, self.total)),
                Some(bar) => format!("none above {}", share(bar.samples, self.total)),
                None => "without accesses".to_owned(),
            };
            rows.push(cut(&format!("  and {left} {lines} more, {share}"), width));
        }
        rows.truncate(most);
        rows
    }

    fn draw_bar(&self, bar: &LineBar, width: usize, scale: u64) -> String {
        let room = match width {
            0..60 => 8,
            60..90 => 12,
            _ => 20,
        };
        let length = (bar.samples.saturating_mul(room).div_ceil(scale.max(1)) as usize).min(room as usize);
        let digits = self.lines.last().map_or(0, |bar| bar.number).to_string().len();
        let number = format!("#{}", bar.number);
        let (bars, width_of_number, room) = ("#".repeat(length), digits + 1, room as usize);
        let head =
            format!("  {number:<width_of_number$} {bars:<room$} {:>6}  ", share(bar.samples, self.total));
        let (touched, idle): (Vec<_>, Vec<_>) = bar.members.iter().partition(|(_, samples)| *samples > 0);
        let names: Vec<&str> = touched.iter().chain(&idle).map(|(name, _)| name.as_str()).collect();
        let left = width.saturating_sub(columns(&head));
        format!("{head}{}", fold(&names, " ", left))
    }
}

/// Appends the bars of the declared and of another order, side by side if there is room, in so many rows at most.
pub(crate) fn draw_pair(rows: &mut Rows, now: &LineBars, then: &LineBars, most: usize) {
    let scale = now.largest().max(then.largest());
    if !is_side_by_side(now, then, rows.width, most) {
        let first = now.rows().min(most.saturating_sub(then.rows()).max(most.div_ceil(2)));
        rows.extend(now.draw(rows.width, first, scale));
        return rows.extend(then.draw(rows.width, most.saturating_sub(first), scale));
    }
    let half = rows.width / 2 - 1;
    let (left, right) = (now.draw(half, most, scale), then.draw(half, most, scale));
    for number in 0..left.len().max(right.len()) {
        let cell = |rows: &[String]| rows.get(number).cloned().unwrap_or_default();
        let (left, right) = (cell(&left), cell(&right));
        let gap = " ".repeat((half + 2).saturating_sub(columns(&left)));
        rows.push(&format!("{left}{gap}{right}"));
    }
}

/// Appends the bars of one order, in so many rows at most.
pub(crate) fn draw_one(rows: &mut Rows, bars: &LineBars, most: usize) {
    rows.extend(bars.draw(rows.width, most, bars.largest()));
}

/// Rows that both orders take as [`draw_pair`] draws them, if there are so many.
pub(crate) fn pair_rows(now: &LineBars, then: &LineBars, width: usize, most: usize) -> usize {
    match is_side_by_side(now, then, width, most) {
        true => now.rows().max(then.rows()),
        false => now.rows() + then.rows(),
    }
}

/// Whether the orders stand side by side: if there is room for long rows, or none for many.
fn is_side_by_side(now: &LineBars, then: &LineBars, width: usize, most: usize) -> bool {
    width >= WIDE || (width >= WIDE / 2 && most < FEW_ROWS.min(now.rows() + then.rows()))
}

/// Lines that have a row though less than a hundredth of the accesses touch them.
const ALWAYS_SHOWN: usize = 6;

/// Most lines that an access is counted on: more than any instruction touches.
const MAX_LINES: usize = 256;

/// From this width on two orders stand side by side.
const WIDE: usize = 150;

/// Up to so many rows are few for two orders.
const FEW_ROWS: usize = 12;

/// The members of an order that an access touches, each with the bytes of it, from and to.
fn pieces(order: &Arrangement, offset: u64, size: u64) -> impl Iterator<Item = (&PlacedMember, (u64, u64))> {
    let end = offset.saturating_add(size.max(1));
    let mut last_bit = None;
    order.members.iter().filter_map(move |member| {
        let member_end = member.offset.saturating_add(member.size.max(1));
        let (from, to) = (offset.max(member.offset), end.min(member_end));
        // Bit-fields share bytes: the first stands for all, which move together.
        let is_shared = member.bit_size.is_some() && last_bit == Some(member.offset);
        if from >= to || is_shared {
            return None;
        }
        last_bit = member.bit_size.map(|_| member.offset);
        Some((member, (from - member.offset, to - member.offset)))
    })
}

/// The name of a member, or of the member in it at an offset of the struct if a layout is given.
fn name(member: &PlacedMember, layout: Option<&Layout>, offset: u64) -> String {
    let own = member.name.as_deref().unwrap_or("(anonymous)");
    let path = layout
        .and_then(|layout| layout.path_at(offset))
        .filter(|path| member.name.is_none() || path.starts_with(own));
    path.map_or_else(|| own.to_owned(), |path| path.split('.').take(2).collect::<Vec<_>>().join("."))
}

/// `12.3%` of a total.
pub(crate) fn share(part: u64, total: u64) -> String {
    if total == 0 { "-".to_owned() } else { format!("{:.1}%", 100.0 * part as f64 / total as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_access::access::{Access, SampleCount};

    fn order(members: &[(usize, &str, u64, u64)], size: u64) -> Arrangement {
        let placed = members.iter().map(|(index, name, offset, size)| PlacedMember {
            index: *index,
            name: Some((*name).to_owned()),
            type_name: "long".to_owned(),
            offset: *offset,
            size: *size,
            bit_offset: None,
            bit_size: None,
            line: None,
            inherited: false,
        });
        Arrangement { size, members: placed.collect() }
    }

    fn profile(accesses: &[(u64, u64, u64)]) -> TypeProfile {
        let access = |(offset, size, samples): &(u64, u64, u64)| Access {
            offset: *offset,
            size: *size,
            loads: SampleCount { samples: *samples, period: 0 },
            ..Access::default()
        };
        TypeProfile { accesses: accesses.iter().map(access).collect(), ..TypeProfile::default() }
    }

    #[test]
    fn accesses_go_with_their_members() {
        let declared = order(&[(0, "a", 0, 8), (1, "cold", 8, 56), (2, "b", 64, 8)], 72);
        let chosen = order(&[(0, "a", 0, 8), (2, "b", 8, 8), (1, "cold", 16, 56)], 72);
        let profile = profile(&[(0, 8, 30), (64, 4, 60), (68, 4, 10)]);
        let moved = BTreeSet::from([2]);
        let draw = |order, sign| {
            let mark = MoveSign { sign, moved: &moved };
            let bars = LineBars::new("lines".to_owned(), (&profile, None), (&declared, order), 64, mark);
            bars.draw(60, 5, 100)
        };
        assert_eq!(
            draw(&declared, "-"),
            ["lines", "  #0 ####          30.0%  a cold", "  #1 #########     70.0%  -b"]
        );
        assert_eq!(
            draw(&chosen, "+"),
            ["lines", "  #0 ############ 100.0%  +b a cold", "  and 1 line more, without accesses"]
        );
    }

    #[test]
    fn an_access_to_several_members_goes_to_the_lines_of_each() {
        let declared = order(&[(0, "a", 0, 4), (1, "b", 4, 4)], 128);
        let chosen = order(&[(0, "a", 0, 4), (1, "b", 64, 4)], 128);
        let mark = MoveSign { sign: "", moved: &BTreeSet::new() };
        let bars =
            LineBars::new(String::new(), (&profile(&[(0, 8, 5)]), None), (&declared, &chosen), 64, mark);
        assert_eq!(bars.lines.iter().map(|bar| bar.samples).collect::<Vec<_>>(), [5, 5]);
    }

    #[test]
    fn the_hottest_lines_stand_in_order() {
        let members: Vec<(usize, &str, u64, u64)> = (0..9).map(|at| (at, "m", 64 * at as u64, 8)).collect();
        let accesses: Vec<(u64, u64, u64)> = (0..9).map(|at| (64 * at, 8, 10 * (at + 1))).collect();
        let (declared, profile) = (order(&members, 576), profile(&accesses));
        let mark = MoveSign { sign: "", moved: &BTreeSet::new() };
        let bars = LineBars::new("lines".to_owned(), (&profile, None), (&declared, &declared), 64, mark);
        let rows = bars.draw(60, 5, 90);
        let starts: Vec<&str> = rows.iter().filter_map(|row| row.split_whitespace().next()).collect();
        assert_eq!(starts, ["lines", "#6", "#7", "#8", "and"]);
        assert_eq!(rows[4], "  and 6 lines more, none above 13.3%");
    }
}
