//! Hot members and their lines: those of an object that begins on one.

use super::heat::Heat;
use super::rule::Rule;
use super::subject::{Finding, Settings, Subject, shortened};
use crate::field::fields;
use crate::matching::pairs;
use std::collections::{BTreeMap, BTreeSet};

/// A hot or written member with its lines now and before.
struct Placed<'f> {
    index: usize,
    path: &'f str,
    now: u64,
    before: u64,
}

pub(super) fn judge(subject: &Subject<'_>, settings: &Settings) -> Vec<Finding> {
    let (Some(heat), Some(before), Some(_)) = (&subject.heat, subject.before, &subject.change) else {
        return Vec::new();
    };
    let old = fields(before);
    let of_new = pairs(&old, &subject.fields);
    let placed = (0..).zip(&subject.fields).filter_map(|(index, field)| {
        let was = old.get((*of_new.get(index)?)?)?;
        let (now, before) = (field.line(subject.line), was.line(subject.line));
        field.is_leaf().then_some(Placed { index, path: &field.path, now, before })
    });
    let placed: Vec<Placed<'_>> = placed.collect();
    let mut found = left(subject, heat, &placed);
    found.extend(spread(subject, heat, &placed, settings));
    found.extend(joined(subject, heat, &placed));
    found
}

/// Hot members that shared a line and don't any more. The largest part of those on a line stays, the others left.
fn left(subject: &Subject<'_>, heat: &Heat, placed: &[Placed<'_>]) -> Vec<Finding> {
    let mut by_line: BTreeMap<u64, BTreeMap<u64, Vec<&Placed<'_>>>> = BTreeMap::new();
    for of in placed.iter().filter(|of| heat.is_hot(of.index)) {
        by_line.entry(of.before).or_default().entry(of.now).or_default().push(of);
    }
    let mut found = Vec::new();
    for parts in by_line.values() {
        let most = parts.iter().max_by_key(|(line, part)| (part.len(), std::cmp::Reverse(**line)));
        let Some((stays, mates)) = most else { continue };
        let mates: Vec<&str> = mates.iter().map(|of| of.path).collect();
        for of in parts.iter().filter(|(line, _)| *line != stays).flat_map(|(_, part)| part) {
            let message = format!("{} is hot and left the line of {}", of.path, shortened(&mates));
            found.push(subject.about(Rule::HotMemberMovedLine, of.path, message));
        }
    }
    found
}

fn spread(subject: &Subject<'_>, heat: &Heat, placed: &[Placed<'_>], settings: &Settings) -> Option<Finding> {
    let hot = || placed.iter().filter(|of| heat.is_hot(of.index));
    let now = hot().map(|of| of.now).collect::<BTreeSet<_>>().len();
    let before = hot().map(|of| of.before).collect::<BTreeSet<_>>().len();
    let allowed = settings.allowed(Rule::HotGroupSpread);
    (now as u64 > (before as u64).saturating_add(allowed)).then(|| {
        let names: Vec<&str> = hot().map(|of| of.path).collect();
        let message = format!(
            "{} hot members lie on {now} lines of {} B, did on {before}: {}",
            names.len(),
            subject.line,
            shortened(&names)
        );
        subject.finding(Rule::HotGroupSpread, message)
    })
}

/// Written members that came to a line where hot members are that are mostly read.
fn joined(subject: &Subject<'_>, heat: &Heat, placed: &[Placed<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    for of in placed.iter().filter(|of| heat.is_written(of.index)) {
        let mates = || placed.iter().filter(|mate| mate.now == of.now && mate.before != of.before);
        let is_reader = |mate: &&Placed<'_>| heat.is_hot(mate.index) && !heat.is_written(mate.index);
        let readers: Vec<&str> = mates().filter(is_reader).map(|mate| mate.path).collect();
        let was_written = mates().filter(|mate| heat.is_written(mate.index)).any(|mate| {
            placed.iter().any(|reader| readers.contains(&reader.path) && reader.before == mate.before)
        });
        if !readers.is_empty() && !was_written {
            let message = format!("{} is written and came to the line of {}", of.path, shortened(&readers));
            found.push(subject.about(Rule::WrittenJoinedReadMostly, of.path, message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::longs;
    use fieldline_access::access::{Access, Tally, TypeProfile};
    use fieldline_layout::Layout;

    fn profile(samples: &[(u64, u64, u64)]) -> TypeProfile {
        let tally = |samples| Tally { samples, period: samples };
        let access = |(offset, loads, stores): &(u64, u64, u64)| Access {
            offset: *offset,
            size: 8,
            loads: tally(*loads),
            stores: tally(*stores),
            ..Access::default()
        };
        TypeProfile { accesses: samples.iter().map(access).collect(), ..TypeProfile::default() }
    }

    fn found(before: &Layout, now: &Layout, samples: &[(u64, u64, u64)]) -> Vec<(&'static str, String)> {
        let mut subject = Subject::new(now, Some(before), 16);
        subject.heat = Some(Heat::new(&profile(samples), before, &subject.fields));
        let all = super::super::judge(&subject, &Settings::default());
        all.into_iter()
            .filter(|finding| finding.rule.needs_profile())
            .map(|finding| (finding.rule.id(), finding.message))
            .collect()
    }

    #[test]
    fn a_hot_member_that_left_its_line_is_found() {
        let (before, now) = (longs(&["a", "b", "c", "d"]), longs(&["a", "c", "b", "d"]));
        let texts = found(&before, &now, &[(0, 50, 0), (8, 40, 0), (16, 1, 0)]);
        assert_eq!(
            texts,
            [
                ("hot-member-moved-line", "b is hot and left the line of a".to_owned()),
                ("hot-group-spread", "2 hot members lie on 2 lines of 16 B, did on 1: a, b".to_owned())
            ]
        );
        assert!(found(&before, &longs(&["b", "a", "c", "d"]), &[(0, 50, 0), (8, 40, 0)]).is_empty());
    }

    #[test]
    fn a_written_member_that_came_to_a_read_line_is_found() {
        let (before, now) = (longs(&["a", "b", "c", "d"]), longs(&["a", "c", "b", "d"]));
        let texts = found(&before, &now, &[(0, 50, 0), (16, 1, 3)]);
        assert_eq!(
            texts,
            [("written-joined-read-mostly", "c is written and came to the line of a".to_owned())]
        );
        assert!(found(&before, &now, &[(0, 50, 0), (16, 4, 0)]).is_empty());
    }
}
