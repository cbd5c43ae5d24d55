//! Straddled lines, pins, markers, embedded structs that grew.

use super::moves::{MovedLayout, Mover, changed_members, top_level};
use super::rule::Rule;
use super::subject::{CheckedStruct, Finding, join_names};
use crate::change::{ChangeKind, MemberChange};
use crate::field::{Field, cacheline_group, fields};
use fieldline_layout::declaration::flat_arrays;
use fieldline_layout::layout::MemberRole;

pub(super) fn check(subject: &CheckedStruct<'_>) -> Vec<Finding> {
    [check_ends, check_markers, check_straddling, check_containers].map(|check| check(subject)).concat()
}

fn check_straddling(subject: &CheckedStruct<'_>) -> Vec<Finding> {
    let members = subject.change.iter().flat_map(|change| &change.members);
    let found = members.filter(|member| !member.straddles.is_empty()).map(|member| {
        let offset = member.after.as_ref().map_or(0, |position| position.bit_offset / 8);
        let name = &member.member;
        let message = format!("{name} straddles two cachelines at offset {offset}");
        subject.member_finding(Rule::StraddlesLine, name, message).with_fix(unite(subject, name))
    });
    found.collect()
}

/// A move after which a member lies on one line: its own, or that of one that pushes it.
fn unite(subject: &CheckedStruct<'_>, name: &str) -> Option<String> {
    let index = top_level(subject, subject.find_field(name)?)?;
    let tried: Vec<usize> = std::iter::once(index).chain(changed_members(subject)).collect();
    Mover::new(subject)?
        .find(&tried, |moved| moved.member(index).is_some_and(|member| !member.straddles_line(subject.line)))
}

fn check_ends(subject: &CheckedStruct<'_>) -> Vec<Finding> {
    let data = || subject.fields.iter().filter(|field| field.is_data() && !field.path.contains('.'));
    let first = data().min_by_key(|field| (field.member.bit_offset, field.top));
    let last = data().max_by_key(|field| (field.member.bit_end(), field.top));
    let flexible = subject.fields.iter().find(|field| field.member.role == MemberRole::FlexibleArray);
    let pins = [
        (Rule::FirstMoved, &subject.ends.first, first, "first"),
        (Rule::LastMoved, &subject.ends.last, flexible.or(last), "last"),
    ];
    let found = pins.into_iter().filter_map(|(rule, pinned, is, word)| {
        let pinned = pinned.as_ref()?;
        if is_at_end(subject, pinned, is, rule == Rule::FirstMoved) {
            return None;
        }
        let there = is.map_or("nothing", |field| field.path.as_str());
        let found = subject.member_finding(rule, pinned, format!("{pinned} should be {word}, {there} is"));
        // A member that is gone has no line; the one in its place has.
        let found = if subject.find_field(pinned).is_none() { found.declared_at(subject, is) } else { found };
        let place = if rule == Rule::FirstMoved { "in front of" } else { "behind" };
        let fix = subject.find_field(pinned).zip(is).map(|_| format!("move {pinned} {place} {there}"));
        Some(found.with_fix(fix))
    });
    found.collect()
}

/// Whether a pinned member is at the end, perhaps together with others of a union.
fn is_at_end(subject: &CheckedStruct<'_>, pinned: &str, there: Option<&Field<'_>>, at_start: bool) -> bool {
    let place = |field: &Field<'_>| match at_start {
        true => field.member.bit_offset,
        false => field.member.bit_end(),
    };
    let field = subject.fields.iter().find(|field| field.path == pinned);
    field.zip(there).is_some_and(|(field, there)| place(field) == place(there))
}

fn check_markers(subject: &CheckedStruct<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut report = |field: &Field<'_>, message: String, fix: String| {
        let finding = subject.member_finding(Rule::GroupMarkers, &field.path, message);
        found.push(finding.declared_at(subject, Some(field)).with_fix(Some(fix)));
    };
    for (at, field) in subject.fields.iter().enumerate() {
        match cacheline_group(field.member) {
            Some((MemberRole::GroupBegin, name)) => open.push((name, at)),
            Some((MemberRole::GroupEnd, name)) => {
                let Some(place) = open.iter().rposition(|(group, _)| *group == name) else {
                    let fix = format!("write __cacheline_group_begin({name}) in front of its first member");
                    report(field, format!("group {name} ends here and begins nowhere before"), fix);
                    continue;
                };
                let (_, begin) = open.remove(place);
                let between = subject.fields.get(begin + 1..at).unwrap_or_default();
                if !between.iter().any(Field::is_data) {
                    let fix = "move its members between the markers, or remove the markers".to_owned();
                    report(field, format!("group {name} is empty"), fix);
                }
            }
            _ => {}
        }
    }
    for (name, at) in open {
        let fix = format!("write __cacheline_group_end({name}) behind its last member");
        report(&subject.fields[at], format!("group {name} begins here and ends nowhere"), fix);
    }
    found
}

/// Structs held by value that grew and shifted members to other lines; only hot members, if a profile is
/// given.
fn check_containers(subject: &CheckedStruct<'_>) -> Vec<Finding> {
    let Some(change) = &subject.change else { return Vec::new() };
    let is_pushed = |member: &&MemberChange, from: u64| {
        member.after.as_ref().is_some_and(|position| position.bit_offset > from)
            && member.what.contains(&ChangeKind::Shifted)
            && !member.changes_line.is_empty()
            && subject.may_be_hot(&member.member)
    };
    let found = change.members.iter().filter_map(|member| {
        let (before, after) = member.before.as_ref().zip(member.after.as_ref())?;
        let is_grown = after.bit_size > before.bit_size
            && flat_arrays(&before.type_name) == flat_arrays(&after.type_name)
            && !member.what.contains(&ChangeKind::Retyped);
        let pushed = change.members.iter().filter(|other| is_grown && is_pushed(other, after.bit_offset));
        let names: Vec<&str> = pushed.map(|other| other.member.as_str()).collect();
        let (name, ty) = (&member.member, &after.type_name);
        let (by, pushed) = (after.bit_size.saturating_sub(before.bit_size) / 8, join_names(&names));
        let message = format!("{name} ({ty}) grew by {by} bytes and pushed {pushed} to other cachelines");
        (!names.is_empty()).then(|| {
            let found = subject.member_finding(Rule::ContainerShifted, name, message);
            found.with_fix(keep_lines(subject, name, &names))
        })
    });
    found.collect()
}

/// A move of a grown member after which those it pushed are on their lines again.
fn keep_lines(subject: &CheckedStruct<'_>, grown: &str, pushed: &[&str]) -> Option<String> {
    let index = top_level(subject, subject.find_field(grown)?)?;
    let old = fields(subject.before?);
    let is_back = |moved: &MovedLayout, name: &str| {
        let was = old.iter().find(|field| field.path == name).map(|field| field.line(subject.line));
        let field = subject.find_field(name);
        was.is_some() && was == field.and_then(|field| moved.line_of(field, subject.now, subject.line))
    };
    Mover::new(subject)?.find(&[index], |moved| pushed.iter().all(|name| is_back(moved, name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{PinnedEnds, check_struct};
    use crate::testing::{layout, longs, member, typed};

    fn found(subject: &CheckedStruct<'_>, rule: Rule) -> Vec<String> {
        let all = check_struct(subject, &crate::Settings::default());
        all.into_iter().filter(|finding| finding.rule == rule).map(|finding| finding.message).collect()
    }

    #[test]
    fn a_member_that_comes_to_straddle_is_found_once() {
        let old = layout(72, vec![member(Some("a"), 0, 56), member(Some("b"), 56, 8)]);
        let new = layout(72, vec![member(Some("a"), 0, 60), member(Some("b"), 60, 8)]);
        let texts = found(&CheckedStruct::new(&new, Some(&old), 64), Rule::StraddlesLine);
        assert_eq!(texts, ["b straddles two cachelines at offset 60"]);
        assert!(found(&CheckedStruct::new(&new, Some(&new), 64), Rule::StraddlesLine).is_empty());
    }

    #[test]
    fn pinned_ends_are_kept() {
        let now = longs(&["a", "b", "c"]);
        let mut subject = CheckedStruct::new(&now, None, 64);
        subject.ends = PinnedEnds { first: Some("a".to_owned()), last: Some("c".to_owned()) };
        assert!(check_struct(&subject, &crate::Settings::default()).is_empty());
        subject.ends = PinnedEnds { first: Some("b".to_owned()), last: Some("gone".to_owned()) };
        assert_eq!(found(&subject, Rule::FirstMoved), ["b should be first, a is"]);
        assert_eq!(found(&subject, Rule::LastMoved), ["gone should be last, c is"]);
    }

    fn marker(role: MemberRole, name: &str, offset: u64) -> fieldline_layout::Member {
        let word = if role == MemberRole::GroupBegin { "begin" } else { "end" };
        let mut marker = typed(Some(&format!("__cacheline_group_{word}__{name}")), "__u8[0]", offset, 0);
        marker.role = role;
        marker
    }

    #[test]
    fn markers_have_partners_and_something_between_them() {
        let with_members = |members| layout(16, members);
        let fine = with_members(vec![
            marker(MemberRole::GroupBegin, "hot", 0),
            member(Some("a"), 0, 8),
            marker(MemberRole::GroupEnd, "hot", 8),
        ]);
        assert!(found(&CheckedStruct::new(&fine, None, 64), Rule::GroupMarkers).is_empty());
        let bad = with_members(vec![
            marker(MemberRole::GroupBegin, "open", 0),
            marker(MemberRole::GroupBegin, "empty", 0),
            marker(MemberRole::GroupEnd, "empty", 0),
            member(Some("a"), 0, 8),
            marker(MemberRole::GroupEnd, "stray", 8),
        ]);
        assert_eq!(
            found(&CheckedStruct::new(&bad, None, 64), Rule::GroupMarkers),
            [
                "group empty is empty",
                "group stray ends here and begins nowhere before",
                "group open begins here and ends nowhere"
            ]
        );
    }

    #[test]
    fn a_grown_struct_inside_is_named_with_what_it_pushed() {
        let container = |held: u64, size| {
            let held_at = typed(Some("inner"), "struct inner", 0, held);
            layout(size, vec![held_at, member(Some("b"), held, 8), member(Some("c"), held + 8, 8)])
        };
        let (old, new) = (container(48, 64), container(56, 72));
        let texts = found(&CheckedStruct::new(&new, Some(&old), 64), Rule::ContainerShifted);
        assert_eq!(texts, ["inner (struct inner) grew by 8 bytes and pushed c to other cachelines"]);
        let (old, new) = (container(40, 56), container(48, 64));
        assert!(found(&CheckedStruct::new(&new, Some(&old), 64), Rule::ContainerShifted).is_empty());
    }
}
