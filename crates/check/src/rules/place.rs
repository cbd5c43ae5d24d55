//! Lines straddled, pins, markers, structs that grew inside others.

use super::rule::Rule;
use super::subject::{Finding, Subject, shortened};
use crate::change::{MemberChange, What};
use crate::field::{Field, group_of};
use fieldline_layout::declaration::flat_arrays;
use fieldline_layout::layout::Role;

pub(super) fn judge(subject: &Subject<'_>) -> Vec<Finding> {
    [ends(subject), markers(subject), straddlers(subject), containers(subject)].concat()
}

fn straddlers(subject: &Subject<'_>) -> Vec<Finding> {
    let members = subject.change.iter().flat_map(|change| &change.members);
    let found = members.filter(|member| !member.straddles.is_empty()).map(|member| {
        let offset = member.after.as_ref().map_or(0, |spot| spot.bit_offset / 8);
        let (name, line) = (&member.member, subject.line);
        let message = format!("{name} at {offset} straddles the boundary of two lines of {line} B");
        subject.about(Rule::StraddlesLine, name, message)
    });
    found.collect()
}

fn ends(subject: &Subject<'_>) -> Vec<Finding> {
    let data = || subject.fields.iter().filter(|field| field.is_data() && !field.path.contains('.'));
    let first = data().min_by_key(|field| (field.member.bit_offset, field.top));
    let last = data().max_by_key(|field| (field.member.bit_end(), field.top));
    let flexible = subject.fields.iter().find(|field| field.member.role == Role::FlexibleArray);
    let pins = [
        (Rule::FirstMoved, &subject.ends.first, first, "first"),
        (Rule::LastMoved, &subject.ends.last, flexible.or(last), "last"),
    ];
    let found = pins.into_iter().filter_map(|(rule, pinned, is, word)| {
        let pinned = pinned.as_ref()?;
        let there = is.map_or("nothing", |field| field.path.as_str());
        (!stands_there(subject, pinned, is, rule == Rule::FirstMoved))
            .then(|| subject.about(rule, pinned, format!("{pinned} should be {word}, {there} is")))
    });
    found.collect()
}

/// Whether a pinned member is at the end, perhaps together with others of a union.
fn stands_there(subject: &Subject<'_>, pinned: &str, there: Option<&Field<'_>>, at_start: bool) -> bool {
    let place = |field: &Field<'_>| match at_start {
        true => field.member.bit_offset,
        false => field.member.bit_end(),
    };
    let of = subject.fields.iter().find(|field| field.path == pinned);
    of.zip(there).is_some_and(|(of, there)| place(of) == place(there))
}

fn markers(subject: &Subject<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut complain = |field: &Field<'_>, message: String| {
        found.push(subject.about(Rule::GroupMarkers, &field.path, message));
    };
    for (at, field) in subject.fields.iter().enumerate() {
        match group_of(field.member) {
            Some((Role::GroupBegin, name)) => open.push((name, at)),
            Some((Role::GroupEnd, name)) => {
                let Some(place) = open.iter().rposition(|(of, _)| *of == name) else {
                    complain(field, format!("group {name} ends here and begins nowhere before"));
                    continue;
                };
                let (_, begin) = open.remove(place);
                let between = subject.fields.get(begin + 1..at).unwrap_or_default();
                if !between.iter().any(Field::is_data) {
                    complain(field, format!("group {name} is empty"));
                }
            }
            _ => {}
        }
    }
    for (name, at) in open {
        complain(&subject.fields[at], format!("group {name} begins here and ends nowhere"));
    }
    found
}

/// Structs held by value that grew and pushed members to other lines; hot ones, where it is known which are.
fn containers(subject: &Subject<'_>) -> Vec<Finding> {
    let Some(change) = &subject.change else { return Vec::new() };
    let is_pushed = |member: &&MemberChange, from: u64| {
        member.after.as_ref().is_some_and(|spot| spot.bit_offset > from)
            && member.what.contains(&What::Shifted)
            && !member.changes_line.is_empty()
            && subject.may_be_hot(&member.member)
    };
    let found = change.members.iter().filter_map(|member| {
        let (before, after) = member.before.as_ref().zip(member.after.as_ref())?;
        let is_grown = after.bit_size > before.bit_size
            && flat_arrays(&before.type_name) == flat_arrays(&after.type_name)
            && !member.what.contains(&What::Retyped);
        let pushed = change.members.iter().filter(|other| is_grown && is_pushed(other, after.bit_offset));
        let names: Vec<&str> = pushed.map(|other| other.member.as_str()).collect();
        let message = format!(
            "{} ({}) grew from {} to {} bytes and pushed {} to other lines of {} B",
            member.member,
            after.type_name,
            before.bit_size / 8,
            after.bit_size / 8,
            shortened(&names),
            subject.line
        );
        (!names.is_empty()).then(|| subject.about(Rule::ContainerShifted, &member.member, message))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Ends, judge};
    use crate::testing::{layout, longs, member, typed};

    fn found(subject: &Subject<'_>, rule: Rule) -> Vec<String> {
        let all = judge(subject, &crate::Settings::default());
        all.into_iter().filter(|finding| finding.rule == rule).map(|finding| finding.message).collect()
    }

    #[test]
    fn a_member_that_comes_to_straddle_is_found_once() {
        let old = layout(72, vec![member(Some("a"), 0, 56), member(Some("b"), 56, 8)]);
        let new = layout(72, vec![member(Some("a"), 0, 60), member(Some("b"), 60, 8)]);
        let texts = found(&Subject::new(&new, Some(&old), 64), Rule::StraddlesLine);
        assert_eq!(texts, ["b at 60 straddles the boundary of two lines of 64 B"]);
        assert!(found(&Subject::new(&new, Some(&new), 64), Rule::StraddlesLine).is_empty());
    }

    #[test]
    fn pinned_ends_are_kept() {
        let now = longs(&["a", "b", "c"]);
        let mut subject = Subject::new(&now, None, 64);
        subject.ends = Ends { first: Some("a".to_owned()), last: Some("c".to_owned()) };
        assert!(judge(&subject, &crate::Settings::default()).is_empty());
        subject.ends = Ends { first: Some("b".to_owned()), last: Some("gone".to_owned()) };
        assert_eq!(found(&subject, Rule::FirstMoved), ["b should be first, a is"]);
        assert_eq!(found(&subject, Rule::LastMoved), ["gone should be last, c is"]);
    }

    fn marker(role: Role, name: &str, offset: u64) -> fieldline_layout::Member {
        let word = if role == Role::GroupBegin { "begin" } else { "end" };
        let mut marker = typed(Some(&format!("__cacheline_group_{word}__{name}")), "__u8[0]", offset, 0);
        marker.role = role;
        marker
    }

    #[test]
    fn markers_have_partners_and_something_between_them() {
        let of = |members| layout(16, members);
        let fine = of(vec![
            marker(Role::GroupBegin, "hot", 0),
            member(Some("a"), 0, 8),
            marker(Role::GroupEnd, "hot", 8),
        ]);
        assert!(found(&Subject::new(&fine, None, 64), Rule::GroupMarkers).is_empty());
        let bad = of(vec![
            marker(Role::GroupBegin, "open", 0),
            marker(Role::GroupBegin, "empty", 0),
            marker(Role::GroupEnd, "empty", 0),
            member(Some("a"), 0, 8),
            marker(Role::GroupEnd, "stray", 8),
        ]);
        assert_eq!(
            found(&Subject::new(&bad, None, 64), Rule::GroupMarkers),
            [
                "group empty is empty",
                "group stray ends here and begins nowhere before",
                "group open begins here and ends nowhere"
            ]
        );
    }

    #[test]
    fn a_grown_struct_inside_is_named_with_what_it_pushed() {
        let of = |held: u64, size| {
            let held_at = typed(Some("inner"), "struct inner", 0, held);
            layout(size, vec![held_at, member(Some("b"), held, 8), member(Some("c"), held + 8, 8)])
        };
        let (old, new) = (of(48, 64), of(56, 72));
        let texts = found(&Subject::new(&new, Some(&old), 64), Rule::ContainerShifted);
        assert_eq!(
            texts,
            ["inner (struct inner) grew from 48 to 56 bytes and pushed c to other lines of 64 B"]
        );
        let (old, new) = (of(40, 56), of(48, 64));
        assert!(found(&Subject::new(&new, Some(&old), 64), Rule::ContainerShifted).is_empty());
    }
}
