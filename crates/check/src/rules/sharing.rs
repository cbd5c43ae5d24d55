//! Members whose cacheline other CPUs take by writing other members: false sharing.
//!
//! Only the recorded layout's losses are measured, so those of a layout are computed: on a line that is touched at rate `r` and
//! written by other CPUs at rate `v`, of which `w` writes the member itself, all at random, `r (r / (r + w) - r / (r + v))`
//! accesses find it taken for other members only. [`Turns::seen`] says by how much chance exaggerates, measured on the
//! recorded layout. A member has the share of its line's losses that it has of the accesses to the line's members.

use super::rule::Rule;
use super::subject::{Finding, Recorded, Settings, Subject, shortened};
use crate::field::{Field, fields};
use crate::matching::pairs;
use fieldline_access::access::{Access, TypeProfile};
use fieldline_access::sides::{Sides, Turns};
use fieldline_layout::Layout;
use std::collections::BTreeMap;

/// Losses below this many samples may be chance: a count of n scatters by its root (Poisson), so from four on it stands
/// two deviations above none.
const LEAST: f64 = 4.0;

/// Whether samples tell which caches served them; without that, nobody knows who lost a line.
pub fn tells_losses(of: &TypeProfile) -> bool {
    of.accesses.iter().any(|access| !access.levels.is_empty() || !access.store_levels.is_empty())
}

pub(super) fn judge(subject: &Subject<'_>, settings: &Settings) -> Vec<Finding> {
    let Some(recorded) = subject.recorded.filter(|recorded| tells_losses(recorded.profile)) else {
        return Vec::new();
    };
    let span = if settings.adjacent_lines { subject.line * 2 } else { subject.line };
    let turns = Turns::new(recorded.profile, subject.line);
    let now = Lines::new(recorded, &turns, &subject.fields, span);
    let before = subject.before.map(|before| Before::new(recorded, &turns, before, subject, span));
    let least = LEAST.max(settings.allowed(Rule::FalseSharingPair) as f64);
    let mut found = Vec::new();
    for (index, field) in subject.fields.iter().enumerate() {
        let falsely = now.falsely(index, &turns);
        if falsely < least {
            continue;
        }
        let mut writers = now.writers(index);
        let was = before.as_ref().map(|before| before.falsely(index, &turns));
        if let Some((before, was)) = before.as_ref().zip(was) {
            // What was so before is no regression.
            writers.retain(|writer| before.parts(index, *writer));
            if writers.is_empty() || falsely - was < least {
                continue;
            }
        }
        found.push(finding(subject, (field, span), &writers, (falsely, was, now.accesses(index))));
    }
    found
}

fn finding(
    subject: &Subject<'_>,
    (field, span): (&Field<'_>, u64),
    writers: &[usize],
    (falsely, was, accesses): (f64, Option<f64>, f64),
) -> Finding {
    let names: Vec<&str> =
        writers.iter().filter_map(|writer| Some(subject.fields.get(*writer)?.path.as_str())).collect();
    let verb = if was.is_some() { "came to share" } else { "shares" };
    let before = was.map_or_else(String::new, |was| format!(", {was:.0} before"));
    let message = format!(
        "{} {verb} {span} B with {}, which other CPUs write: about {falsely:.0} of its {accesses:.0} samples find the line \
         taken for other members alone{before}",
        field.path,
        shortened(&names)
    );
    subject.about(Rule::FalseSharingPair, &field.path, message)
}

/// What lies on a line, by member.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    touched: Sides,
    written: Sides,
    accesses: f64,
}

/// The accesses to a struct on the lines of one of its layouts.
struct Lines {
    /// By line and member.
    parts: BTreeMap<(u64, usize), Part>,
    touched: BTreeMap<u64, Sides>,
    written: BTreeMap<u64, Sides>,
}

impl Lines {
    fn new(recorded: Recorded<'_>, turns: &Turns, now: &[Field<'_>], span: u64) -> Self {
        let (profile, places) = (recorded.profile, Places::new(recorded, now));
        let part = |access: &Access| {
            places.of(access).map(|(field, offset)| (offset / span.max(1), field)).unwrap_or(NOWHERE)
        };
        let mut parts: BTreeMap<(u64, usize), Part> = BTreeMap::new();
        for (place, touched) in turns.touched(profile, part) {
            parts.entry(place).or_default().touched = touched;
        }
        for (place, written) in turns.written(profile, part) {
            parts.entry(place).or_default().written = written;
        }
        for access in &profile.accesses {
            parts.entry(part(access)).or_default().accesses += access.samples() as f64;
        }
        parts.remove(&NOWHERE);
        let touched = turns.touched(profile, |access| part(access).0);
        let written = turns.written(profile, |access| part(access).0);
        Self { parts, touched, written }
    }

    /// The lines a member was accessed on.
    fn of(&self, field: usize) -> impl Iterator<Item = (u64, &Part)> {
        self.parts.iter().filter(move |((_, of), _)| *of == field).map(|((line, _), part)| (*line, part))
    }

    fn accesses(&self, field: usize) -> f64 {
        self.of(field).map(|(_, part)| part.accesses).sum()
    }

    /// Samples of a member that should find their line taken by writes to other members only.
    fn falsely(&self, field: usize, turns: &Turns) -> f64 {
        let of_line = |(line, part): (u64, &Part)| {
            let touching = self.touched.get(&line).copied().unwrap_or_default();
            let taking = self.written.get(&line).copied().unwrap_or_default();
            let (home, away) = self.share(line, part);
            let at_home = in_vain(touching.home, part.written.away, taking.away);
            let rate = touching.away / turns.others;
            let (own, all) = (turns.foreign(part.written), turns.foreign(taking));
            turns.seen * (home * at_home + away * turns.others * in_vain(rate, own, all))
        };
        self.of(field).map(of_line).sum()
    }

    /// A member's share of the runs on its line, at home and away.
    fn share(&self, line: u64, part: &Part) -> (f64, f64) {
        let mut all = Sides::default();
        self.parts.range((line, 0)..=(line, usize::MAX)).for_each(|(_, part)| all.add(part.touched));
        let share = |own: f64, all: f64| if all > 0.0 { own / all } else { 0.0 };
        (share(part.touched.home, all.home), share(part.touched.away, all.away))
    }

    /// Other members that are written on a member's lines: those first that most take the line from the member.
    fn writers(&self, field: usize) -> Vec<usize> {
        let mut weights: BTreeMap<usize, f64> = BTreeMap::new();
        for (line, part) in self.of(field) {
            for ((_, other), theirs) in self.parts.range((line, 0)..=(line, usize::MAX)) {
                let home = if part.touched.home > 0.0 { theirs.written.away } else { 0.0 };
                let away = if part.touched.away > 0.0 { theirs.written.home } else { 0.0 };
                if *other != field && home + away > 0.0 {
                    *weights.entry(*other).or_default() += home + away;
                }
            }
        }
        let mut writers: Vec<(f64, usize)> =
            weights.into_iter().map(|(field, weight)| (weight, field)).collect();
        writers.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        writers.into_iter().map(|(_, field)| field).collect()
    }
}

/// Accesses at rate `r` to a line that is written at rate `all`, and the word itself at rate `own`: how many find it
/// taken though their word was not written.
fn in_vain(r: f64, own: f64, all: f64) -> f64 {
    if r > 0.0 { r * (r / (r + own) - r / (r + all.max(own))) } else { 0.0 }
}

/// Where members went that the layout no longer has.
const NOWHERE: (u64, usize) = (u64::MAX, usize::MAX);

/// Where the places of the recorded layout lie in another one.
struct Places<'p> {
    recorded: Vec<Field<'p>>,
    /// By index of the recorded field: the field and its offset.
    now: Vec<Option<(usize, u64)>>,
}

impl<'p> Places<'p> {
    fn new(recorded: Recorded<'p>, now: &[Field<'_>]) -> Self {
        let old = fields(recorded.layout);
        let mut of_old = vec![None; old.len()];
        for (index, was) in pairs(&old, now).into_iter().enumerate() {
            if let Some(place) = was.and_then(|was| of_old.get_mut(was)) {
                *place = Some((index, now[index].member.offset()));
            }
        }
        Self { recorded: old, now: of_old }
    }

    /// The field an access falls in, and the offset it has now.
    fn of(&self, access: &Access) -> Option<(usize, u64)> {
        let is_touched = |field: &Field<'_>| field.is_leaf() && access.touches(field.member);
        let was = self.recorded.iter().position(is_touched)?;
        let (field, offset) = (*self.now.get(was)?)?;
        Some((field, offset + access.offset.saturating_sub(self.recorded[was].member.offset())))
    }
}

/// The layout before, with its fields as the later one counts them.
struct Before {
    lines: Lines,
    /// By index of the later field: the field then and the line of its begin.
    was: Vec<Option<(usize, u64)>>,
}

impl Before {
    fn new(recorded: Recorded<'_>, turns: &Turns, before: &Layout, subject: &Subject<'_>, span: u64) -> Self {
        let old = fields(before);
        let lines = Lines::new(recorded, turns, &old, span);
        let of_new = pairs(&old, &subject.fields).into_iter();
        let was = of_new.map(|was| was.map(|was| (was, old[was].line(span)))).collect();
        Self { lines, was }
    }

    /// Whether two members lay on different lines.
    fn parts(&self, one: usize, other: usize) -> bool {
        let line = |field: usize| self.was.get(field).copied().flatten().map(|(_, line)| line);
        line(one).zip(line(other)).is_some_and(|(one, other)| one != other)
    }

    fn falsely(&self, field: usize, turns: &Turns) -> f64 {
        let was = self.was.get(field).copied().flatten();
        was.map_or(0.0, |(field, _)| self.lines.falsely(field, turns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::longs;
    use fieldline_access::access::{Away, Homes, Levels, Tally};

    /// `reader` is read at home, `counter` written elsewhere; they shared a line when that was recorded, and `lost` samples
    /// of the reader found it taken.
    fn profile(lost: u64) -> TypeProfile {
        let tally = |samples| Tally { samples, period: samples };
        let levels = Levels::from([("L1".to_owned(), 100 - lost), ("HITM".to_owned(), lost)]);
        let reader = Access { ip: 1, size: 8, loads: tally(100), levels, ..Access::default() };
        let away = Away { stores: 50, ..Away::default() };
        let (ip, function, offset, size) = (2, 1, 8, 8);
        let counter = Access { ip, function, offset, size, stores: tally(50), away, ..Access::default() };
        let homes = Homes { samples: 150, others: 150 };
        TypeProfile { accesses: vec![reader, counter], homes, size: 64, ..TypeProfile::default() }
    }

    fn found(of: &TypeProfile, before: Option<&Layout>, now: &Layout, adjacent: bool) -> Vec<String> {
        let recorded = longs(&["reader", "counter", "other", "more", "x", "y", "z", "end"]);
        let mut subject = Subject::new(now, before, 16);
        subject.recorded = Some(Recorded { profile: of, layout: &recorded });
        let settings = Settings { adjacent_lines: adjacent, ..Settings::default() };
        let all = super::super::judge(&subject, &settings).into_iter();
        all.filter(|finding| finding.rule == Rule::FalseSharingPair).map(|finding| finding.message).collect()
    }

    #[test]
    fn a_member_that_loses_its_line_to_a_neighbour_is_found() {
        let apart = longs(&["reader", "other", "counter", "more", "x", "y", "z", "end"]);
        let together = longs(&["reader", "counter", "other", "more", "x", "y", "z", "end"]);
        let of = profile(30);
        let text = found(&of, None, &together, false);
        assert_eq!(
            text,
            [
                "reader shares 16 B with counter, which other CPUs write: about 30 of its 100 samples find the line taken for \
              other members alone"
            ]
        );
        let new = &found(&of, Some(&apart), &together, false)[0];
        assert!(
            new.starts_with("reader came to share 16 B with counter,") && new.ends_with(", 0 before"),
            "{new}"
        );
        assert!(found(&of, Some(&together), &together, false).is_empty(), "it was so before");
        assert!(found(&of, Some(&together), &apart, false).is_empty());
        assert!(found(&of, None, &apart, false).is_empty());
    }

    #[test]
    fn lines_that_are_fetched_together_are_judged_together_if_asked() {
        let far = longs(&["reader", "x", "y", "z", "counter", "more", "other", "end"]);
        let near = longs(&["reader", "other", "counter", "more", "x", "y", "z", "end"]);
        let of = profile(30);
        assert!(found(&of, Some(&far), &near, true)[0].contains("came to share 32 B with counter"));
        assert!(found(&of, Some(&far), &near, false).is_empty());
    }

    #[test]
    fn what_samples_don_t_show_is_not_claimed() {
        let together = longs(&["reader", "counter", "other", "more", "x", "y", "z", "end"]);
        assert!(found(&profile(3), None, &together, false).is_empty(), "may be chance");
        let mut blind = profile(30);
        blind.accesses.iter_mut().for_each(|access| access.levels.clear());
        assert!(found(&blind, None, &together, false).is_empty() && !tells_losses(&blind));
        let mut own = profile(30);
        own.accesses[1].offset = 0;
        assert!(found(&own, None, &together, false).is_empty(), "the member itself is written");
    }
}
