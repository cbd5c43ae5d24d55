//! One struct on several machines.

use super::moves::{MovedLayout, Mover};
use super::rule::Rule;
use super::subject::{CheckedStruct, Finding};
use std::collections::BTreeMap;

/// Members that straddle lines on some machines and not on others. Each struct comes with the name of its
/// machine.
pub fn find_disagreements(subjects: &[(&str, &CheckedStruct<'_>)]) -> Vec<Finding> {
    let mut straddling: BTreeMap<&str, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for (target, subject) in subjects {
        for field in subject.fields.iter().filter(|field| field.is_data()) {
            // A member larger than a line straddles lines everywhere.
            if !subject.may_be_hot(&field.path) || field.member.size() > subject.line {
                continue;
            }
            let entry = straddling.entry(&field.path).or_default();
            let place = format!("{target} ({}-byte lines, offset {})", subject.line, field.member.offset());
            if field.straddles(subject.line) { entry.0.push(place) } else { entry.1.push(place) }
        }
    }
    let disagree = straddling.into_iter().filter(|(_, (yes, no))| !yes.is_empty() && !no.is_empty());
    let found = disagree.filter_map(|(path, (yes, no))| {
        let has = |subject: &CheckedStruct<'_>| subject.fields.iter().any(|field| field.path == path);
        let (_, subject) = subjects.iter().find(|(_, subject)| has(subject))?;
        let message = format!("{path} straddles cachelines on {}, not on {}", yes.join(", "), no.join(", "));
        let fix = unite_everywhere(subjects, path);
        Some(subject.member_finding(Rule::TargetsDisagree, path, message).with_fix(fix))
    });
    found.collect()
}

/// A move after which a member lies on one line on every machine that has it.
fn unite_everywhere(subjects: &[(&str, &CheckedStruct<'_>)], path: &str) -> Option<String> {
    let having = subjects.iter().filter(|(_, subject)| subject.find_field(path).is_some());
    let movers: Vec<Mover<'_, '_>> = having.map(|(_, subject)| Mover::new(subject)).collect::<Option<_>>()?;
    let (first, others) = movers.split_first()?;
    let index = first.index_of(path)?;
    let is_united = |moved: &MovedLayout, mover: &Mover<'_, '_>| {
        let member = mover.index_of(path).and_then(|index| moved.member(index));
        member.is_some_and(|member| !member.straddles_line(mover.line()))
    };
    first.find(&[index], |moved| {
        is_united(moved, first)
            && others.iter().all(|mover| {
                let behind = first.predecessor_name(moved);
                behind
                    .and_then(|behind| mover.move_behind(path, behind))
                    .is_some_and(|moved| is_united(&moved, mover))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{layout, member};

    #[test]
    fn a_member_that_straddles_on_one_machine_only_is_found() {
        let sample = layout(80, vec![member(Some("a"), 0, 60), member(Some("b"), 60, 8)]);
        let (small, large) = (CheckedStruct::new(&sample, None, 64), CheckedStruct::new(&sample, None, 128));
        let found = find_disagreements(&[("x86", &small), ("ppc", &large)]);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "b straddles cachelines on x86 (64-byte lines, offset 60), not on ppc (128-byte lines, offset 60)"
        );
        assert!(find_disagreements(&[("x86", &small), ("arm", &small)]).is_empty());
    }
}
