//! Hot members and their cachelines, of an object that begins on one.

use super::heat::HotMembers;
use super::rule::Rule;
use super::subject::{CheckedStruct, Finding, Settings, join_names};
use crate::field::fields;
use crate::matching::match_fields;
use std::collections::{BTreeMap, BTreeSet};

/// A hot or written member with its lines now and before.
struct FieldLines<'f> {
    index: usize,
    path: &'f str,
    now: u64,
    before: u64,
}

pub(super) fn check(subject: &CheckedStruct<'_>, settings: &Settings) -> Vec<Finding> {
    let (Some(heat), Some(before), Some(_)) = (&subject.heat, subject.before, &subject.change) else {
        return Vec::new();
    };
    let old = fields(before);
    let of_new = match_fields(&old, &subject.fields);
    let placed = (0..).zip(&subject.fields).filter_map(|(index, field)| {
        let was = old.get((*of_new.get(index)?)?)?;
        let (now, before) = (field.line(subject.line), was.line(subject.line));
        field.is_leaf().then_some(FieldLines { index, path: &field.path, now, before })
    });
    let placed: Vec<FieldLines<'_>> = placed.collect();
    let mut found = find_departed(subject, heat, &placed);
    found.extend(find_spread(subject, heat, &placed, settings));
    found.extend(find_joined(subject, heat, &placed));
    found
}

/// Hot members that shared a line and don't any more. The largest part of them counts as staying, the others
/// as moved.
fn find_departed(subject: &CheckedStruct<'_>, heat: &HotMembers, placed: &[FieldLines<'_>]) -> Vec<Finding> {
    let mut by_line: BTreeMap<u64, BTreeMap<u64, Vec<&FieldLines<'_>>>> = BTreeMap::new();
    for member in placed.iter().filter(|member| heat.is_hot(member.index)) {
        by_line.entry(member.before).or_default().entry(member.now).or_default().push(member);
    }
    let mut found = Vec::new();
    for parts in by_line.values() {
        let most = parts.iter().max_by_key(|(line, part)| (part.len(), std::cmp::Reverse(**line)));
        let Some((stays, mates)) = most else { continue };
        let mates: Vec<&str> = mates.iter().map(|mate| mate.path).collect();
        for member in parts.iter().filter(|(line, _)| *line != stays).flat_map(|(_, part)| part) {
            let message = format!("{} is hot and left the line of {}", member.path, join_names(&mates));
            found.push(subject.member_finding(Rule::HotMemberMovedLine, member.path, message));
        }
    }
    found
}

fn find_spread(
    subject: &CheckedStruct<'_>,
    heat: &HotMembers,
    placed: &[FieldLines<'_>],
    settings: &Settings,
) -> Option<Finding> {
    let hot = || placed.iter().filter(|member| heat.is_hot(member.index));
    let now = hot().map(|member| member.now).collect::<BTreeSet<_>>().len();
    let before = hot().map(|member| member.before).collect::<BTreeSet<_>>().len();
    let allowed = settings.allowed(Rule::HotGroupSpread);
    (now as u64 > (before as u64).saturating_add(allowed)).then(|| {
        let names: Vec<&str> = hot().map(|member| member.path).collect();
        let (count, line, names) = (names.len(), subject.line, join_names(&names));
        let message = format!("{count} hot members lie on {now} lines of {line} B, did on {before}: {names}");
        subject.struct_finding(Rule::HotGroupSpread, message)
    })
}

/// Written members that moved to a line of hot, read-mostly members.
fn find_joined(subject: &CheckedStruct<'_>, heat: &HotMembers, placed: &[FieldLines<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in placed.iter().filter(|member| heat.is_written(member.index)) {
        let mates = || placed.iter().filter(|mate| mate.now == member.now && mate.before != member.before);
        let is_reader = |mate: &&FieldLines<'_>| heat.is_hot(mate.index) && !heat.is_written(mate.index);
        let readers: Vec<&str> = mates().filter(is_reader).map(|mate| mate.path).collect();
        let was_written = mates().filter(|mate| heat.is_written(mate.index)).any(|mate| {
            placed.iter().any(|reader| readers.contains(&reader.path) && reader.before == mate.before)
        });
        if !readers.is_empty() && !was_written {
            let text = format!("{} is written and came to the line of {}", member.path, join_names(&readers));
            found.push(subject.member_finding(Rule::WrittenJoinedReadMostly, member.path, text));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::longs;
    use fieldline_access::access::{Access, SampleCount, TypeProfile};
    use fieldline_layout::Layout;

    fn profile(samples: &[(u64, u64, u64)]) -> TypeProfile {
        let tally = |samples| SampleCount { samples, period: samples };
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
        let mut subject = CheckedStruct::new(now, Some(before), 16);
        subject.heat = Some(HotMembers::new(&profile(samples), before, &subject.fields));
        let all = super::super::check_struct(&subject, &Settings::default());
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
