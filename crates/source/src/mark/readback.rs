//! The marked text read again: the same members, and markers that every configuration has both of or none.

use super::marking::{Covered, MARKER, Marking, marker};
use crate::body::{Body, MemberShape, Statement};
use crate::edits::Edits;
use crate::join::{ExpectedMember, Join};
use crate::refusal::Refusal;
use crate::scan::{Literal, SourceText};

/// Checks the edits; gives what stands between the markers of each marking.
pub(super) fn check(
    join: &Join,
    edits: &Edits,
    markings: &[Marking],
    done: &[Result<(), String>],
) -> Result<Vec<Vec<Covered>>, Refusal> {
    let text = edits.apply(join.body().source.bytes());
    let source = SourceText::new(&text);
    let definition =
        join.body().found_again(&source).ok_or_else(|| failed("the struct is gone".to_owned()))?;
    let body = Body::parse(&source, &definition)?;
    let is_marked = |marking: usize| done.get(marking).is_some_and(Result::is_ok);
    check_members(join, &body, markings)?;
    let covered = markings.iter().enumerate().map(|(index, marking)| match is_marked(index) {
        true => between(&body, marking),
        false => Ok(Vec::new()),
    });
    covered.collect()
}

fn failed(what: String) -> Refusal {
    Refusal::ReadBack { what }
}

/// The members are those of before with the markers among them: their conditions hold, as those of the members beside
/// them do.
fn check_members(join: &Join, body: &Body, markings: &[Marking]) -> Result<(), Refusal> {
    let mut expected: Vec<ExpectedMember> = Vec::new();
    let mut olds = 0;
    for statement in body.statements() {
        let line = Some(statement.line);
        if is_new(statement, markings) {
            let names = statement.declarators().iter().filter_map(|member| member.name.as_deref());
            expected.extend(names.map(|name| ExpectedMember::named(name).with_line(line)));
            continue;
        }
        let members = join.expected().get(join.members_of(olds)).unwrap_or_default();
        expected.extend(members.iter().map(|member| member.clone().with_line(line)));
        olds += 1;
    }
    if olds != join.body().statements().len() {
        return Err(failed("a declaration is lost or new".to_owned()));
    }
    Join::new(body, &expected).map(|_| ())
}

/// Whether a statement is a marker of one of these groups.
fn is_new(statement: &Statement, markings: &[Marking]) -> bool {
    let group = marker(statement).and_then(|name| name.split_once("__")).map(|(_, group)| group);
    group.is_some_and(|group| markings.iter().any(|marking| marking.name == group))
}

/// The plain members between two markers, which must stand under the same conditions.
fn between(body: &Body, marking: &Marking) -> Result<Vec<Covered>, Refusal> {
    let place = |edge: &str| {
        let name = format!("{edge}__{}", marking.name);
        let mut all = body.statements().iter();
        all.position(|statement| marker(statement) == Some(&name))
    };
    let sorted = |at: usize| {
        let mut conditions =
            body.statements().get(at).map_or_else(Vec::new, |statement| body.conditions(statement));
        conditions.sort();
        conditions.dedup();
        conditions
    };
    let missing = || failed(format!("a marker of group {} is missing", marking.name));
    let (begin, end) = place("begin").zip(place("end")).ok_or_else(missing)?;
    if sorted(begin) != sorted(end) || begin > end {
        return Err(failed(format!("the markers of group {} aren't a pair", marking.name)));
    }
    let around = body.statements().get(begin).map_or_else(Vec::new, |statement| body.conditions(statement));
    let mut covered = Vec::new();
    for statement in body.statements().get(begin + 1..end).unwrap_or_default() {
        let conditions = joined(&around, body.conditions(statement));
        let plain = statement.declarators().iter().filter(|member| {
            let name = member.name.as_deref();
            let is_marker = name.is_some_and(|name| name.starts_with(MARKER));
            member.shape == MemberShape::Field && !member.is_optional && !is_marker
        });
        let names = plain.filter_map(|member| member.name.clone());
        covered.extend(names.map(|name| Covered { name, conditions: conditions.clone() }));
    }
    Ok(covered)
}

/// The markers' conditions, then those that a member adds.
fn joined(around: &[Literal], own: Vec<Literal>) -> Vec<Literal> {
    let more = own.into_iter().filter(|literal| !around.contains(literal));
    around.iter().cloned().chain(more).collect()
}
