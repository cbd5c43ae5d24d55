//! Whether a new member can lie on the cachelines of those it is wanted with (`--with`).

use super::growth::{LayoutGrowth, MemberAddition, is_on_line_of, shifted_index};
use super::position::DeclarationRules;
use crate::options::PlanOptions;
use fieldline_layout::Layout;
use std::collections::BTreeMap;

/// Whether a new member at an index is on lines of a declared one.
pub(super) fn is_near(after: &Layout, place: usize, with: usize, line: u64) -> bool {
    let pair = after.members.get(place).zip(after.members.get(shifted_index(with, place)));
    pair.is_some_and(|(new, other)| is_on_line_of(new, other, line))
}

/// Whether a place is on the lines of all members that the new one is wanted with, as the struct was compiled.
pub(super) fn satisfies_with(addition: &MemberAddition<'_>, growth: &LayoutGrowth, place: usize) -> bool {
    let Some((line, _, after)) = growth.builds.first() else { return false };
    addition.with.iter().all(|with| is_near(after, place, *with, *line))
}

/// Why no legal place is on the lines of all of them.
pub(super) fn explain_impossible(
    addition: &MemberAddition<'_>,
    rules: &DeclarationRules<'_>,
    options: &PlanOptions,
) -> String {
    let line = options.build_line;
    let label = |index: &usize| addition.layout.members.get(*index).map(|member| member.label());
    for with in addition.with {
        let alone = MemberAddition { with: std::slice::from_ref(with), ..*addition };
        if places_near(&alone, options).all(|(place, after)| rules.bar(&after, place, line).is_some()) {
            let name = label(with).unwrap_or_default();
            let why = describe_bars(&alone, rules, options);
            return format!("no place on the {line}-byte cacheline of {name} keeps the constraints: {why}");
        }
    }
    let names: Vec<&str> = addition.with.iter().filter_map(label).collect();
    format!(
        "no place is on the {line}-byte cachelines of {} at once; ask for one of them",
        names.join(" and ")
    )
}

/// Places on the lines asked for, legal or not, with the layout that each makes.
fn places_near<'a>(
    addition: &'a MemberAddition<'a>,
    options: &'a PlanOptions,
) -> impl Iterator<Item = (usize, Layout)> + 'a {
    (0..=addition.layout.members.len()).filter_map(|place| {
        let growth = LayoutGrowth::new(addition, place, options)?;
        satisfies_with(addition, &growth, place).then_some((place, growth.own))
    })
}

/// The most frequent reason why the places on a line are not legal.
fn describe_bars(
    addition: &MemberAddition<'_>,
    rules: &DeclarationRules<'_>,
    options: &PlanOptions,
) -> String {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (place, after) in places_near(addition, options) {
        let reason = rules.bar(&after, place, options.build_line);
        reason.into_iter().for_each(|reason| *reasons.entry(reason).or_default() += 1);
    }
    // Of equally frequent ones the lexicographically first.
    match reasons.iter().rev().max_by_key(|(_, count)| **count) {
        Some((reason, _)) => reason.clone(),
        None => "the new member does not fit there".to_owned(),
    }
}
