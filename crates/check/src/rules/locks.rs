//! Contended locks: CPUs that wait for a lock write its line, which is lost to whoever uses other members on it.
//!
//! Who waits writes the lock's word again and again; a profile need not show it, as its samples stand for an average.

use super::rule::Rule;
use super::subject::{CheckedStruct, ContendedLock, Finding, Settings, join_names};
use crate::field::{Field, fields};
use crate::matching::match_fields;

pub(super) fn check(subject: &CheckedStruct<'_>, settings: &Settings) -> Vec<Finding> {
    let span = if settings.adjacent_lines { subject.line * 2 } else { subject.line };
    subject.locks.iter().filter_map(|lock| finding(subject, lock, span)).collect()
}

fn finding(subject: &CheckedStruct<'_>, lock: &ContendedLock, span: u64) -> Option<Finding> {
    let heat = subject.heat.as_ref()?;
    let own = subject.fields.iter().position(|field| holds(field, lock.offset))?;
    let top = subject.fields.get(own)?.top;
    let lost = |(index, field): &(usize, &Field<'_>)| {
        field.is_leaf()
            && field.top != top
            && field.line(span) == lock.offset / span.max(1)
            && heat.is_hot(*index)
    };
    let lost = subject.fields.iter().enumerate().filter(lost);
    let lost: Vec<&str> = lost
        .filter(|(index, _)| !were_together(subject, own, *index, span))
        .map(|(_, field)| field.path.as_str())
        .collect();
    if lost.is_empty() {
        return None;
    }
    let verb = if subject.before.is_some() { "came to share" } else { "shares" };
    let ContendedLock { class, member, percent, .. } = lock;
    let message = format!(
        "{member}, a lock for which {percent:.1} % of the acquisitions wait ({class}), {verb} a cacheline with hot members: \
         waiting CPUs take the line from {}",
        join_names(&lost)
    );
    Some(subject.member_finding(Rule::FalseSharingPair, &subject.fields.get(own)?.path, message))
}

fn holds(field: &Field<'_>, offset: u64) -> bool {
    let begin = field.member.offset();
    field.is_data() && begin <= offset && offset < begin + field.member.size().max(1)
}

/// Whether two members lay on one line in the earlier layout: then it is no regression.
fn were_together(subject: &CheckedStruct<'_>, first: usize, second: usize, span: u64) -> bool {
    let Some(before) = subject.before else { return false };
    let old = fields(before);
    let matched = match_fields(&old, &subject.fields);
    let line = |field: usize| Some(old.get(matched.get(field).copied().flatten()?)?.line(span));
    line(first).zip(line(second)).is_some_and(|(first, second)| first == second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{HotMembers, check_struct};
    use crate::testing::longs;
    use fieldline_access::access::{Access, SampleCount, TypeProfile};
    use fieldline_layout::Layout;

    /// Findings of a struct whose `hot` member is read and whose `lock` is contended.
    fn found(before: Option<&Layout>, now: &Layout, is_contended: bool) -> Vec<String> {
        let mut subject = CheckedStruct::new(now, before, 16);
        let offset = |name: &str| subject.find_field(name).unwrap().member.offset();
        let loads = SampleCount { samples: 100, period: 100 };
        let hot = Access { ip: 1, offset: offset("hot"), size: 8, loads, ..Access::default() };
        let profile = TypeProfile { accesses: vec![hot], size: now.size, ..TypeProfile::default() };
        let lock = ContendedLock {
            class: "&q->lock".to_owned(),
            member: "lock".to_owned(),
            offset: offset("lock"),
            percent: 12.34,
        };
        subject.heat = Some(HotMembers::new(&profile, now, &subject.fields));
        subject.locks.extend(is_contended.then_some(lock));
        let all = check_struct(&subject, &Settings::default()).into_iter();
        all.filter(|finding| finding.rule == Rule::FalseSharingPair).map(|finding| finding.message).collect()
    }

    #[test]
    fn hot_members_on_the_line_of_a_contended_lock_are_found() {
        let together = longs(&["lock", "hot", "a", "b"]);
        let apart = longs(&["lock", "a", "hot", "b"]);
        let text = found(None, &together, true);
        assert!(
            text.len() == 1 && text[0].contains("lock, a lock for which 12.3 % of the acquisitions wait"),
            "{text:?}"
        );
        assert!(text[0].ends_with("take the line from hot"), "{text:?}");
        assert!(found(None, &apart, true).is_empty() && found(None, &together, false).is_empty());
        assert!(found(Some(&together), &together, true).is_empty(), "it was so before");
        assert!(found(Some(&apart), &together, true)[0].contains("came to share"));
    }
}
