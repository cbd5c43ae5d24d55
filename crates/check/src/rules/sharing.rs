//! False sharing: members whose cacheline is lost to CPUs that write other members.
//!
//! Losses are measured in the recorded layout only; those of another one are computed. On a line that is
//! touched at rate `r` and written by other CPUs at rate `v`, of which `w` writes the member itself, all at
//! random, `r (r / (r + w) - r / (r + v))` accesses find it lost to writes of other members only. A factor
//! measured on the recorded layout corrects the assumption of randomness. A member has the share of its
//! line's losses that it has of the accesses to the line's members.

use super::moves::{Mover, top_level};
use super::rule::Rule;
use super::subject::{CheckedStruct, Finding, RecordedStruct, Settings, join_names};
use crate::field::{Field, fields};
use crate::matching::match_fields;
use fieldline_access::access::{Access, TypeProfile};
use fieldline_access::line_loss::{HomeAwaySamples, LineLossModel};
use fieldline_layout::Layout;
use std::collections::BTreeMap;

/// Fewer losses than this many samples may be chance: the standard deviation of a count n is its root
/// (Poisson), so four are two deviations above none.
const MIN_LOSSES: f64 = 4.0;

/// Whether losses of lines are known: by data sources, or as turns of CPUs.
pub fn has_loss_data(profile: &TypeProfile) -> bool {
    profile.shows_lost_lines() || !profile.turns.is_empty()
}

pub(super) fn check(subject: &CheckedStruct<'_>, settings: &Settings) -> Vec<Finding> {
    let Some(recorded) = subject.recorded.filter(|recorded| has_loss_data(recorded.profile)) else {
        return Vec::new();
    };
    let span = if settings.adjacent_lines { subject.line * 2 } else { subject.line };
    let turns = LineLossModel::new(recorded.profile, subject.line);
    let now = LineAccesses::new(recorded, &turns, &subject.fields, span);
    let before = subject.before.map(|before| EarlierLayout::new(recorded, &turns, before, subject, span));
    let least = MIN_LOSSES.max(settings.allowed(Rule::FalseSharingPair) as f64);
    let mut found = Vec::new();
    for (index, field) in subject.fields.iter().enumerate() {
        let falsely = now.count_false_losses(index, &turns);
        if falsely < least {
            continue;
        }
        let mut writers = now.writers(index);
        let was = before.as_ref().map(|before| before.count_false_losses(index, &turns));
        if let Some((before, was)) = before.as_ref().zip(was) {
            // False sharing with the same members before is no regression.
            writers.retain(|writer| before.were_apart(index, *writer));
            if writers.is_empty() || falsely - was < least {
                continue;
            }
        }
        found.push(finding(subject, (field, span), &writers, (falsely, was, now.accesses(index))));
    }
    found
}

fn finding(
    subject: &CheckedStruct<'_>,
    (field, span): (&Field<'_>, u64),
    writers: &[usize],
    (falsely, was, accesses): (f64, Option<f64>, f64),
) -> Finding {
    let names = writers.iter().filter_map(|writer| Some(&*subject.fields.get(*writer)?.path));
    let names: Vec<&str> = names.collect();
    let verb = if was.is_some() { "came to share" } else { "shares" };
    let before = was.map_or_else(String::new, |was| format!(", {was:.0} before"));
    let (path, names) = (&field.path, join_names(&names));
    let lines = if span > subject.line { "a pair of cachelines" } else { "a cacheline" };
    let message = format!(
        "{path} {verb} {lines} with {names}, which other CPUs write: about {falsely:.0} of its {accesses:.0} samples \
         find the line lost to writes of other members alone{before}",
    );
    let fix = separate(subject, (field, span), writers);
    subject.member_finding(Rule::FalseSharingPair, path, message).with_fix(fix)
}

/// A move after which a member shares its line with none of some others, itself or one of them.
fn separate(
    subject: &CheckedStruct<'_>,
    (field, span): (&Field<'_>, u64),
    writers: &[usize],
) -> Option<String> {
    let writers: Vec<&Field<'_>> = writers.iter().filter_map(|writer| subject.fields.get(*writer)).collect();
    let only_writer = writers.first().filter(|_| writers.len() == 1).copied();
    let movable = std::iter::once(field).chain(only_writer).filter_map(|field| top_level(subject, field));
    let tried: Vec<usize> = movable.collect();
    Mover::new(subject)?.find(&tried, |moved| {
        let line = |field: &Field<'_>| moved.line_of(field, subject.now, span);
        writers.iter().all(|writer| line(writer) != line(field))
    })
}

/// The accesses to a member on one line.
#[derive(Clone, Copy, Debug, Default)]
struct LineShare {
    touched: HomeAwaySamples,
    written: HomeAwaySamples,
    accesses: f64,
}

/// The accesses to a struct on the lines of one of its layouts.
struct LineAccesses {
    /// By line and member.
    parts: BTreeMap<(u64, usize), LineShare>,
    touched: BTreeMap<u64, HomeAwaySamples>,
    written: BTreeMap<u64, HomeAwaySamples>,
}

impl LineAccesses {
    fn new(recorded: RecordedStruct<'_>, turns: &LineLossModel, now: &[Field<'_>], span: u64) -> Self {
        let (profile, places) = (recorded.profile, FieldMap::new(recorded, now));
        let line = |(field, offset)| (offset / span.max(1), field);
        let part = |access: &Access| places.locate(access).map_or(REMOVED, line);
        let mut parts: BTreeMap<(u64, usize), LineShare> = BTreeMap::new();
        for (place, touched) in turns.touch_rates(profile, part) {
            parts.entry(place).or_default().touched = touched;
        }
        for (place, written) in turns.word_store_rates(profile, part) {
            parts.entry(place).or_default().written = written;
        }
        for access in &profile.accesses {
            parts.entry(part(access)).or_default().accesses += access.samples() as f64;
        }
        parts.remove(&REMOVED);
        let touched = turns.touch_rates(profile, |access| part(access).0);
        let written = turns.word_store_rates(profile, |access| part(access).0);
        Self { parts, touched, written }
    }

    /// The lines a member was accessed on.
    fn parts_of_field(&self, field: usize) -> impl Iterator<Item = (u64, &LineShare)> {
        let parts = self.parts.iter().filter(move |((_, member), _)| *member == field);
        parts.map(|((line, _), part)| (*line, part))
    }

    fn accesses(&self, field: usize) -> f64 {
        self.parts_of_field(field).map(|(_, part)| part.accesses).sum()
    }

    /// Samples of a member that are expected to find their line lost to writes of other members only.
    fn count_false_losses(&self, field: usize, turns: &LineLossModel) -> f64 {
        let of_line = |(line, part): (u64, &LineShare)| {
            let touching = self.touched.get(&line).copied().unwrap_or_default();
            let taking = self.written.get(&line).copied().unwrap_or_default();
            let (home, away) = self.share(line, part);
            let at_home = false_losses(touching.home, part.written.away, taking.away);
            let rate = touching.away / turns.other_cpus;
            let (own, all) = (turns.foreign_writes(part.written), turns.foreign_writes(taking));
            turns.observed_share * (home * at_home + away * turns.other_cpus * false_losses(rate, own, all))
        };
        self.parts_of_field(field).map(of_line).sum()
    }

    /// A member's share of the accesses to its line, at home and away.
    fn share(&self, line: u64, part: &LineShare) -> (f64, f64) {
        let mut all = HomeAwaySamples::default();
        self.parts.range((line, 0)..=(line, usize::MAX)).for_each(|(_, part)| all.add(part.touched));
        let share = |own: f64, all: f64| if all > 0.0 { own / all } else { 0.0 };
        (share(part.touched.home, all.home), share(part.touched.away, all.away))
    }

    /// Other members that are written on a member's lines: those to which the line is lost most come first.
    fn writers(&self, field: usize) -> Vec<usize> {
        let mut weights: BTreeMap<usize, f64> = BTreeMap::new();
        for (line, part) in self.parts_of_field(field) {
            for ((_, other), theirs) in self.parts.range((line, 0)..=(line, usize::MAX)) {
                let home = if part.touched.home > 0.0 { theirs.written.away } else { 0.0 };
                let away = if part.touched.away > 0.0 { theirs.written.home } else { 0.0 };
                if *other != field && home + away > 0.0 {
                    *weights.entry(*other).or_default() += home + away;
                }
            }
        }
        let mut writers: Vec<(usize, f64)> = weights.into_iter().collect();
        // Stable: fields of equal weight stay in their order.
        writers.sort_by(|(_, left), (_, right)| right.total_cmp(left));
        writers.into_iter().map(|(field, _)| field).collect()
    }
}

/// Accesses at rate `r` to a line that is written at rate `all`, and the member itself at rate `own`: how
/// many find it lost though their member was not written.
fn false_losses(r: f64, own: f64, all: f64) -> f64 {
    if r > 0.0 { r * (r / (r + own) - r / (r + all.max(own))) } else { 0.0 }
}

/// Line and field of members that the layout no longer has.
const REMOVED: (u64, usize) = (u64::MAX, usize::MAX);

/// Offsets of the recorded layout's members in another layout.
struct FieldMap<'p> {
    recorded: Vec<Field<'p>>,
    /// By index of the recorded field: the field and its offset.
    now: Vec<Option<(usize, u64)>>,
}

impl<'p> FieldMap<'p> {
    fn new(recorded: RecordedStruct<'p>, now: &[Field<'_>]) -> Self {
        let old = fields(recorded.layout);
        let mut of_old = vec![None; old.len()];
        for (index, was) in match_fields(&old, now).into_iter().enumerate() {
            if let Some(place) = was.and_then(|was| of_old.get_mut(was)) {
                *place = Some((index, now[index].member.offset()));
            }
        }
        Self { recorded: old, now: of_old }
    }

    /// The field an access falls in, and the offset it has now.
    fn locate(&self, access: &Access) -> Option<(usize, u64)> {
        let is_touched = |field: &Field<'_>| field.is_leaf() && access.touches(field.member);
        let was = self.recorded.iter().position(is_touched)?;
        let (field, offset) = (*self.now.get(was)?)?;
        Some((field, offset + access.offset.saturating_sub(self.recorded[was].member.offset())))
    }
}

/// The earlier layout, with fields by index of the later one.
struct EarlierLayout {
    lines: LineAccesses,
    /// By index of the later field: the earlier field and the line it begins on.
    was: Vec<Option<(usize, u64)>>,
}

impl EarlierLayout {
    fn new(
        recorded: RecordedStruct<'_>,
        turns: &LineLossModel,
        before: &Layout,
        subject: &CheckedStruct<'_>,
        span: u64,
    ) -> Self {
        let old = fields(before);
        let lines = LineAccesses::new(recorded, turns, &old, span);
        let of_new = match_fields(&old, &subject.fields).into_iter();
        let was = of_new.map(|was| was.map(|was| (was, old[was].line(span)))).collect();
        Self { lines, was }
    }

    /// Whether two members lay on different lines.
    fn were_apart(&self, first: usize, second: usize) -> bool {
        let line = |field: usize| Some((*self.was.get(field)?)?.1);
        line(first).zip(line(second)).is_some_and(|(first, second)| first != second)
    }

    fn count_false_losses(&self, field: usize, turns: &LineLossModel) -> f64 {
        let was = self.was.get(field).copied().flatten();
        was.map_or(0.0, |(field, _)| self.lines.count_false_losses(field, turns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::longs;
    use fieldline_access::access::{AwaySamples, HomeCounts, LevelCounts, SampleCount};

    /// `reader` is read at home, `counter` written elsewhere; they shared a line when recorded, and `lost`
    /// samples of the reader found it lost.
    fn profile(lost: u64) -> TypeProfile {
        let tally = |samples| SampleCount { samples, period: samples };
        let levels = LevelCounts::from([("L1".to_owned(), 100 - lost), ("HITM".to_owned(), lost)]);
        let reader = Access { ip: 1, size: 8, loads: tally(100), levels, ..Access::default() };
        let away = AwaySamples { stores: 50, ..AwaySamples::default() };
        let (ip, function, offset, size) = (2, 1, 8, 8);
        let counter = Access { ip, function, offset, size, stores: tally(50), away, ..Access::default() };
        let homes = HomeCounts { samples: 150, others: 150 };
        TypeProfile { accesses: vec![reader, counter], homes, size: 64, ..TypeProfile::default() }
    }

    fn found(profile: &TypeProfile, before: Option<&Layout>, now: &Layout, adjacent: bool) -> Vec<String> {
        let recorded = longs(&["reader", "counter", "other", "more", "x", "y", "z", "end"]);
        let mut subject = CheckedStruct::new(now, before, 16);
        subject.recorded = Some(RecordedStruct { profile, layout: &recorded });
        let settings = Settings { adjacent_lines: adjacent, ..Settings::default() };
        let all = super::super::check_struct(&subject, &settings).into_iter();
        all.filter(|finding| finding.rule == Rule::FalseSharingPair).map(|finding| finding.message).collect()
    }

    #[test]
    fn a_member_that_loses_its_line_to_a_neighbour_is_found() {
        let apart = longs(&["reader", "other", "counter", "more", "x", "y", "z", "end"]);
        let together = longs(&["reader", "counter", "other", "more", "x", "y", "z", "end"]);
        let type_profile = profile(30);
        let text = found(&type_profile, None, &together, false);
        assert_eq!(
            text,
            [
                "reader shares a cacheline with counter, which other CPUs write: about 30 of its 100 samples find the line lost to \
              writes of other members alone"
            ]
        );
        let new = &found(&type_profile, Some(&apart), &together, false)[0];
        assert!(
            new.starts_with("reader came to share a cacheline with counter,") && new.ends_with(", 0 before"),
            "{new}"
        );
        assert!(found(&type_profile, Some(&together), &together, false).is_empty(), "it was so before");
        assert!(found(&type_profile, Some(&together), &apart, false).is_empty());
        assert!(found(&type_profile, None, &apart, false).is_empty());
    }

    #[test]
    fn lines_that_are_fetched_together_are_judged_together_if_asked() {
        let far = longs(&["reader", "x", "y", "z", "counter", "more", "other", "end"]);
        let near = longs(&["reader", "other", "counter", "more", "x", "y", "z", "end"]);
        let type_profile = profile(30);
        assert!(
            found(&type_profile, Some(&far), &near, true)[0]
                .contains("came to share a pair of cachelines with counter")
        );
        assert!(found(&type_profile, Some(&far), &near, false).is_empty());
    }

    #[test]
    fn what_samples_don_t_show_is_not_claimed() {
        let together = longs(&["reader", "counter", "other", "more", "x", "y", "z", "end"]);
        assert!(found(&profile(3), None, &together, false).is_empty(), "may be chance");
        let mut blind = profile(30);
        blind.accesses.iter_mut().for_each(|access| access.levels.clear());
        assert!(found(&blind, None, &together, false).is_empty() && !has_loss_data(&blind));
        let mut own = profile(30);
        own.accesses[1].offset = 0;
        assert!(found(&own, None, &together, false).is_empty(), "the member itself is written");
    }
}
