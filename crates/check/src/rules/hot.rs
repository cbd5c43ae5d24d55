//! Hot members and their cachelines, of an object that begins on one.

use super::heat::HotMembers;
use super::moves::{MAX_TRIED, Mover, changed_members, top_level};
use super::rule::Rule;
use super::subject::{CheckedStruct, Finding, Settings, join_names};
use crate::field::{Field, fields};
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
            let message = format!("{} is hot and left the cacheline of {}", member.path, join_names(&mates));
            let fix = join_line(subject, member, &mates);
            found.push(subject.member_finding(Rule::HotMemberMovedLine, member.path, message).with_fix(fix));
        }
    }
    found
}

/// A move after which a member begins on the line of others, back where it was if that does.
fn join_line(subject: &CheckedStruct<'_>, member: &FieldLines<'_>, mates: &[&str]) -> Option<String> {
    let field = subject.fields.get(member.index)?;
    let tried: Vec<usize> = top_level(subject, field).into_iter().chain(changed_members(subject)).collect();
    let mates: Vec<&Field<'_>> = mates.iter().filter_map(|mate| subject.find_field(mate)).collect();
    Mover::new(subject)?.find(&tried, |moved| {
        let line = |field: &Field<'_>| moved.line_of(field, subject.now, subject.line);
        line(field).is_some() && mates.iter().all(|mate| line(mate) == line(field))
    })
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
        let message =
            format!("the hot members lie on {now} cachelines, did on {before}: {}", join_names(&names));
        let found = subject.struct_finding(Rule::HotGroupSpread, message);
        let left = hot().find(|member| member.now != member.before).or(hot().next());
        let found = found.declared_at(subject, left.and_then(|member| subject.fields.get(member.index)));
        found.with_fix(gather(subject, &hot().collect::<Vec<_>>(), before.saturating_add(allowed as usize)))
    })
}

/// A move after which the hot members lie on few enough lines.
fn gather(subject: &CheckedStruct<'_>, hot: &[&FieldLines<'_>], most: usize) -> Option<String> {
    let fields = hot.iter().filter_map(|member| subject.fields.get(member.index));
    let hot = fields.filter_map(|field| top_level(subject, field)).take(MAX_TRIED);
    let tried: Vec<usize> = hot.chain(changed_members(subject)).collect();
    let mover = Mover::new(subject)?;
    mover.find(&tried, |moved| mover.hot_lines(Some(moved)) <= most)
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
            let names = join_names(&readers);
            let text = format!("{} is written and came to the cacheline of {names}", member.path);
            let fix = leave_line(subject, member, &readers);
            found
                .push(subject.member_finding(Rule::WrittenJoinedReadMostly, member.path, text).with_fix(fix));
        }
    }
    found
}

/// A move after which a member begins on another line than others.
fn leave_line(subject: &CheckedStruct<'_>, member: &FieldLines<'_>, readers: &[&str]) -> Option<String> {
    let field = subject.fields.get(member.index)?;
    let tried: Vec<usize> = top_level(subject, field).into_iter().collect();
    let readers: Vec<&Field<'_>> = readers.iter().filter_map(|reader| subject.find_field(reader)).collect();
    Mover::new(subject)?.find(&tried, |moved| {
        let line = |field: &Field<'_>| moved.line_of(field, subject.now, subject.line);
        readers.iter().all(|reader| line(reader) != line(field))
    })
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
                ("hot-member-moved-line", "b is hot and left the cacheline of a".to_owned()),
                ("hot-group-spread", "the hot members lie on 2 cachelines, did on 1: a, b".to_owned())
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
            [("written-joined-read-mostly", "c is written and came to the cacheline of a".to_owned())]
        );
        assert!(found(&before, &now, &[(0, 50, 0), (16, 4, 0)]).is_empty());
    }
}
