//! The marked text read again: the same members, and markers that every configuration has both of or none.

use super::marking::{CoveredMember, GroupToMark, MARKER, group_name, marker_name};
use crate::body::{MemberShape, StructBody};
use crate::edits::Edits;
use crate::join::{ExpectedMember, Join};
use crate::refusal::{Result, SourceRefusal};
use crate::scan::ConditionLiteral;
use std::collections::BTreeSet;

/// Checks the edits; gives what stands between the markers of each marking.
pub(super) fn check(
    join: &Join,
    edits: &Edits,
    markings: &[GroupToMark],
    done: &[Result<(), String>],
) -> Result<Vec<Vec<CoveredMember>>> {
    join.reread(edits, |body| {
        check_members(join, body, markings)?;
        let covered = markings.iter().zip(done).map(|(marking, done)| match done {
            Ok(()) => covered_members(body, marking),
            Err(_) => Ok(Vec::new()),
        });
        covered.collect()
    })
}

/// The members are the old ones and the markers, whose conditions hold as those of members beside them.
fn check_members(join: &Join, body: &StructBody, markings: &[GroupToMark]) -> Result<()> {
    let mut expected: Vec<ExpectedMember> = Vec::new();
    let mut old_index = 0;
    for statement in body.statements() {
        let line = Some(statement.line);
        if markings.iter().any(|marking| group_name(statement) == Some(&marking.name)) {
            let names = statement.declarators().iter().filter_map(|member| member.name.as_deref());
            expected.extend(names.map(|name| ExpectedMember::named(name).with_line(line)));
        } else {
            let members = join.expected.get(join.members_of(old_index)).unwrap_or_default();
            expected.extend(members.iter().map(|member| member.clone().with_line(line)));
            old_index += 1;
        }
    }
    if old_index != join.body.statements().len() {
        return Err(SourceRefusal::ReadBack("a declaration is lost or new".to_owned()));
    }
    Join::new(body, &expected).map(|_| ())
}

/// The plain members between two markers, which must stand under the same conditions.
fn covered_members(body: &StructBody, marking: &GroupToMark) -> Result<Vec<CoveredMember>> {
    let all = body.statements();
    let find_marker = |edge: &str| {
        let name = format!("{edge}__{}", marking.name);
        all.iter().position(|statement| marker_name(statement) == Some(&name))
    };
    let conditions = |at: usize| BTreeSet::from_iter(body.conditions(&all[at]));
    let missing = || SourceRefusal::ReadBack(format!("a marker of group {} is missing", marking.name));
    let (begin, end) = find_marker("begin").zip(find_marker("end")).ok_or_else(missing)?;
    if conditions(begin) != conditions(end) || begin > end {
        return Err(SourceRefusal::ReadBack(format!("the markers of group {} aren't a pair", marking.name)));
    }
    let around = body.conditions(&all[begin]);
    let mut covered = Vec::new();
    for statement in all.get(begin + 1..end).unwrap_or_default() {
        let conditions = merge_conditions(&around, body.conditions(statement));
        let plain = statement.declarators().iter().filter(|member| {
            let is_marker = member.name.as_deref().is_some_and(|name| name.starts_with(MARKER));
            member.shape == MemberShape::Field && !member.is_optional && !is_marker
        });
        let names = plain.filter_map(|member| member.name.clone());
        covered.extend(names.map(|name| CoveredMember { name, conditions: conditions.clone() }));
    }
    Ok(covered)
}

/// The markers' conditions, then those that a member adds.
fn merge_conditions(around: &[ConditionLiteral], own: Vec<ConditionLiteral>) -> Vec<ConditionLiteral> {
    around.iter().cloned().chain(own.into_iter().filter(|literal| !around.contains(literal))).collect()
}
