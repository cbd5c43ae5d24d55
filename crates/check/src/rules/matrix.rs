//! One struct on several machines.

use super::rule::Rule;
use super::subject::{Finding, Subject};
use std::collections::BTreeMap;

/// Members that straddle lines on some machines and not on others. Each struct comes with the name of its machine.
pub fn disagreements(of: &[(&str, &Subject<'_>)]) -> Vec<Finding> {
    let mut straddling: BTreeMap<&str, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for (target, subject) in of {
        for field in subject.fields.iter().filter(|field| field.is_data()) {
            // What is larger than a line lies on several anywhere.
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
        let has = |subject: &Subject<'_>| subject.fields.iter().any(|field| field.path == path);
        let (_, subject) = of.iter().find(|(_, subject)| has(subject))?;
        let message = format!("{path} straddles lines on {}, not on {}", yes.join(", "), no.join(", "));
        Some(subject.about(Rule::TargetsDisagree, path, message))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{layout, member};

    #[test]
    fn a_member_that_straddles_on_one_machine_only_is_found() {
        let of = layout(80, vec![member(Some("a"), 0, 60), member(Some("b"), 60, 8)]);
        let (small, large) = (Subject::new(&of, None, 64), Subject::new(&of, None, 128));
        let found = disagreements(&[("x86", &small), ("ppc", &large)]);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "b straddles lines on x86 (64 B lines, offset 60), not on ppc (128 B lines, offset 60)"
        );
        assert!(disagreements(&[("x86", &small), ("arm", &small)]).is_empty());
    }
}
