//! One struct on several machines.

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
            let place = format!("{target} ({} B lines, offset {})", subject.line, field.member.offset());
            if field.straddles(subject.line) { entry.0.push(place) } else { entry.1.push(place) }
        }
    }
    let disagree = straddling.into_iter().filter(|(_, (yes, no))| !yes.is_empty() && !no.is_empty());
    let found = disagree.filter_map(|(path, (yes, no))| {
        let has = |subject: &CheckedStruct<'_>| subject.fields.iter().any(|field| field.path == path);
        let (_, subject) = subjects.iter().find(|(_, subject)| has(subject))?;
        let message = format!("{path} straddles lines on {}, not on {}", yes.join(", "), no.join(", "));
        Some(subject.member_finding(Rule::TargetsDisagree, path, message))
    });
    found.collect()
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
            "b straddles lines on x86 (64 B lines, offset 60), not on ppc (128 B lines, offset 60)"
        );
        assert!(find_disagreements(&[("x86", &small), ("arm", &small)]).is_empty());
    }
}
