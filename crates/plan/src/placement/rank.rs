//! Which of two positions is better, and why.

use super::growth::{LayoutGrowth, MemberAddition};
use super::heat::ProfileHeat;
use super::neighbours::is_near;
use super::position::DeclarationRules;
use super::result::{LineHeat, RankedPlacement, VisitChange};
use crate::options::PlanOptions;
use crate::result::SizeForecast;

/// Members named in a reason.
const NAMED: usize = 3;
/// One sample in so many that found the line lost makes it contended: about the noise of samples of an
/// object's home.
const CONTENDED: u64 = 50;

/// The cost of a position, the worst kind first; the lesser is better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlacementRank {
    /// Whether it takes more than a hole: holes that fit come first.
    needs_room: bool,
    /// More lines in visits, in thousandths: those at the own line size and half of those at the others.
    visits: u64,
    /// Members it is wanted with that are on other lines, counted at every line size.
    away: usize,
    hot_pushed: usize,
    /// Cachelines and slab classes that the struct grows by, over all line sizes.
    growth: u64,
    /// Whether CPUs lose the line to each other, and whether it is hot; for a cold member its share of
    /// samples besides.
    line: u64,
    /// Notes that speak against it.
    doubts: usize,
    /// Members pushed to other lines, and moved at all.
    pushed: usize,
    shifted: usize,
    bytes: u64,
    /// Share of samples on the line, in ten thousandths.
    share: u64,
    place: usize,
}

/// Key of positions that differ only in which members make room: the line, and the end of the last that
/// moves.
pub(super) type RoomKey = (u64, usize);

/// Judges a position: its rank and its description.
pub(super) fn rank_position(
    addition: &MemberAddition<'_>,
    place: usize,
    mut notes: Vec<String>,
    growth: &LayoutGrowth,
    heat: Option<&ProfileHeat>,
    options: &PlanOptions,
) -> (PlacementRank, RoomKey, RankedPlacement) {
    let doubts = notes.iter().filter(|note| !note.starts_with(super::position::SHARES)).count();
    if growth.hole > 0 && growth.shifted.is_empty() {
        notes.extend(DeclarationRules::hole_note(addition, place));
    }
    let line = heat.map(|heat| heat.line_heat(growth, place, options.build_line));
    let visits = heat.map_or_else(Vec::new, |heat| heat.visits(growth, place));
    let builds = growth.builds.iter();
    let sizes = builds.map(|(line, before, after)| SizeForecast::new(None, *line, before.size, after.size));
    let sizes: Vec<SizeForecast> = sizes.collect();
    let touched = |index: &&usize| heat.is_none_or(|heat| heat.is_touched(**index));
    let pushed: Vec<usize> = growth.pushed.iter().filter(touched).copied().collect();
    let rank = PlacementRank {
        needs_room: !growth.fits_hole(addition.layout),
        visits: more_lines(&visits, options.build_line),
        away: count_distant_neighbours(addition, growth, place),
        hot_pushed: if heat.is_some() { pushed.len() } else { 0 },
        growth: sizes.iter().map(|size| more_cachelines(size) + u64::from(grows_class(size))).sum(),
        line: line.map_or(0, |line| heat_rank(&line, addition.is_cold)),
        doubts,
        pushed: pushed.len(),
        shifted: growth.shifted.len(),
        bytes: sizes.iter().map(|size| size.after.saturating_sub(size.before)).sum(),
        share: line.map_or(0, |line| (line.share * 10_000.0) as u64),
        place,
    };
    let label = |index: usize| addition.layout.members.get(index).map(|member| member.label().to_owned());
    let before = place.checked_sub(1).and_then(|before| addition.layout.members.get(before));
    let new = growth.own.members.get(place);
    let mut placement = RankedPlacement {
        after: before.map(|before| before.label().to_owned()),
        index: place,
        line: before.and_then(|before| before.line),
        offset: new.map_or(0, |new| new.offset()),
        bit_offset: new.filter(|new| new.is_bit_field()).map(|new| new.bit_offset),
        hole: growth.hole,
        sizes,
        shifted: growth.shifted.len(),
        pushed: pushed.into_iter().filter_map(label).collect(),
        heat: line,
        visits,
        notes,
        reason: String::new(),
    };
    placement.reason = describe_reason(addition, &placement, &rank, options);
    let end = growth.shifted.last().map_or(place, |last| last + 1);
    (rank, (placement.offset / options.build_line.max(1), end), placement)
}

/// Penalty of a line for a new member: contended lines most, then hot ones.
fn heat_rank(line: &LineHeat, is_cold: bool) -> u64 {
    let flags = 2 * u64::from(is_contended(line)) + u64::from(line.hot);
    // Flags first, then shares in ten thousandths.
    if is_cold { flags * 10_001 + (line.share * 10_000.0) as u64 } else { flags }
}

/// Whether samples find the line lost to other CPUs significantly often.
fn is_contended(line: &LineHeat) -> bool {
    line.lost.saturating_mul(CONTENDED) > line.loads + line.stores
}

/// Additional lines of visits, in thousandths: for members that move, and for the new one.
fn more_lines(visits: &[VisitChange], build_line: u64) -> u64 {
    let more = visits.iter().map(|visit| {
        let moved = (visit.lines.after - visit.own - visit.lines.before).max(0.0);
        let more = ((moved + visit.own) * 1_000.0).round().max(0.0) as u64;
        if visit.line == build_line { 2 * more } else { more }
    });
    more.sum::<u64>() / 2
}

fn grows_class(size: &SizeForecast) -> bool {
    size.slab_after > size.slab_before
}

fn more_cachelines(size: &SizeForecast) -> u64 {
    let line = size.build_line.max(1);
    size.after.div_ceil(line).saturating_sub(size.before.div_ceil(line))
}

/// Wanted neighbours on whose lines the new member is not, over all line sizes.
fn count_distant_neighbours(addition: &MemberAddition<'_>, growth: &LayoutGrowth, place: usize) -> usize {
    let apart = growth.builds.iter().map(|(line, _, after)| {
        let is_apart = |with: &&usize| !is_near(after, place, **with, *line);
        addition.with.iter().filter(is_apart).count()
    });
    apart.sum()
}

fn describe_reason(
    addition: &MemberAddition<'_>,
    placement: &RankedPlacement,
    rank: &PlacementRank,
    options: &PlanOptions,
) -> String {
    let mut parts = vec![describe_room(addition, placement)];
    parts.push(match (placement.shifted, placement.pushed.len()) {
        (0, _) => "no member moves".to_owned(),
        (1, 0) => "one member moves, on its cachelines".to_owned(),
        (shifted, 0) => format!("{shifted} members move, none to other cachelines"),
        (_, many) => {
            let word = if placement.heat.is_some() { "touched " } else { "" };
            let more = if many > NAMED { format!(" and {} more", many - NAMED) } else { String::new() };
            let named = placement.pushed.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            format!("pushes {word}members to other cachelines: {named}{more}")
        }
    });
    parts.extend(placement.heat.as_ref().map(|heat| describe_heat(heat, options.build_line)));
    if !addition.with.is_empty() {
        parts.push(describe_neighbours(addition, rank, options));
    }
    if rank.visits > 0 {
        let more = |visit: &&VisitChange| visit.own > 0.0 || visit.lines.after > visit.lines.before;
        let visits = placement.visits.iter().filter(more).map(|VisitChange { line, lines, .. }| {
            format!("{:.3} -> {:.3} at {line} B", lines.before, lines.after)
        });
        parts.push(format!("lines per visit {}", visits.collect::<Vec<_>>().join(", ")));
    }
    parts.join("; ")
}

fn describe_room(addition: &MemberAddition<'_>, placement: &RankedPlacement) -> String {
    let size = addition.member.bit_size;
    let own = placement.sizes.first();
    let grows = own.map_or(0, |size| size.after.saturating_sub(size.before));
    let last = placement.index == addition.layout.members.len();
    let lines = own.map_or(0, more_cachelines);
    let class = own.filter(|size| grows_class(size)).map(|size| (size.slab_before, size.slab_after));
    let class = class.map(|(before, after)| format!("and the slab class from {before} to {after}"));
    let price = match (lines, class) {
        (0, None) => "no cacheline and no slab class".to_owned(),
        (0, Some(class)) => class,
        (_, None) => "a cacheline".to_owned(),
        (_, Some(class)) => format!("a cacheline {class}"),
    };
    match (grows, last) {
        (0, true) => "fits into the padding at the end".to_owned(),
        (0, false) if placement.shifted == 0 && size < 8 => "fits into free bits".to_owned(),
        (0, false) if placement.shifted == 0 => "fits into a hole".to_owned(),
        (0, false) => "room comes from holes or padding behind it".to_owned(),
        (bytes, _) => format!("the struct grows by {bytes} bytes, {price}"),
    }
}

fn describe_heat(heat: &LineHeat, line: u64) -> String {
    let samples = heat.loads + heat.stores;
    if samples == 0 {
        return format!("nobody touches its {line}-byte line");
    }
    let hot = if heat.hot { "hot" } else { "not hot" };
    let kind = match (heat.stores * 10 < samples, heat.stores * 10 > samples * 9) {
        (true, _) => "mostly read",
        (_, true) => "mostly written",
        _ => "read and written",
    };
    let lost = match is_contended(heat) {
        true => format!(", and {} of {samples} samples found it lost to another CPU", heat.lost),
        false => String::new(),
    };
    format!("its line is {hot} ({:.1} % of samples), {kind}{lost}", heat.share * 100.0)
}

fn describe_neighbours(addition: &MemberAddition<'_>, rank: &PlacementRank, options: &PlanOptions) -> String {
    let members = addition.with.iter().filter_map(|index| addition.layout.members.get(*index));
    let names = members.map(|member| member.label()).collect::<Vec<&str>>().join(", ");
    match rank.away {
        0 => format!("on the line of {names} at every line size"),
        away if away == addition.with.len() * options.lines.len() => format!("on no line of {names}"),
        _ => format!("on the line of {names} only in part or at some line sizes"),
    }
}
