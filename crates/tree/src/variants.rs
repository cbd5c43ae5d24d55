//! Configurations without some members: what an order takes there that was made where all of them are.

use crate::header::{self, Declaration};
use anyhow::Result;
use fieldline_layout::constraint::SmallerConfiguration;
use fieldline_layout::{Layout, abi};
use fieldline_plan::{Outcome, Plan};
use std::collections::BTreeSet;
use std::path::Path;

/// Notes for each struct which conditions of its declaration, one at a time, make the planned order take more
/// cachelines than the declared one where they fail.
/// Fails if a declaration that was read before can't be read.
pub fn note_growth(plan: &mut Plan, layouts: &[Layout], tree: &Path) -> Result<()> {
    let line = plan.build_line;
    for (struct_plan, layout) in plan.structs.iter_mut().zip(layouts) {
        if struct_plan.outcome() != Outcome::Moved {
            continue;
        }
        let declaration = Declaration::from(layout);
        let header = header::open(tree, &declaration)?;
        let Ok(guards) = header::read_guards(&header, &declaration) else { continue };
        let configurations = smaller_configurations(&guards);
        struct_plan.grows = describe_growths(layout, &struct_plan.order(), &configurations, line);
    }
    Ok(())
}

/// The configurations that lack the members of one condition each. `guards` has the conditions of each member.
pub(crate) fn smaller_configurations(guards: &[Vec<String>]) -> Vec<SmallerConfiguration> {
    let conditions: BTreeSet<&String> = guards.iter().flatten().collect();
    let mut found: Vec<SmallerConfiguration> = Vec::new();
    for condition in conditions {
        let members = guards.iter().enumerate().filter(|(_, own)| own.contains(condition));
        let absent: Vec<usize> = members.map(|(index, _)| index).collect();
        let is_new = found.iter().all(|known| known.absent != absent);
        if is_new && absent.len() < guards.len() {
            found.push(SmallerConfiguration { name: describe_case(condition), absent });
        }
    }
    found
}

/// A sentence for each configuration in which an order takes more lines of `line` bytes than the declared one.
fn describe_growths(
    layout: &Layout,
    order: &[usize],
    configurations: &[SmallerConfiguration],
    line: u64,
) -> Vec<String> {
    let growth = |configuration: &SmallerConfiguration| {
        let is_there = |index: &usize| !configuration.absent.contains(index);
        let declared: Vec<usize> = (0..layout.members.len()).filter(is_there).collect();
        let planned: Vec<usize> = order.iter().copied().filter(is_there).collect();
        let (before, after) = (size(layout, &declared), size(layout, &planned));
        let grows = after.div_ceil(line.max(1)) > before.div_ceil(line.max(1));
        grows.then(|| format!("{} it takes {after} bytes instead of {before}", configuration.name))
    };
    configurations.iter().filter_map(growth).collect()
}

/// Bytes of the struct with these members only.
fn size(layout: &Layout, members: &[usize]) -> u64 {
    let mut inferred = abi::infer_abi(layout);
    inferred.members = members.iter().filter_map(|index| inferred.members.get(*index).copied()).collect();
    inferred.place().size
}

/// A configuration in which a condition fails, in words.
pub fn describe_case(condition: &str) -> String {
    let (word, atom) = match condition.strip_prefix("not ") {
        Some(atom) => ("with", atom),
        None => ("without", condition),
    };
    let name = atom.strip_prefix("defined(").and_then(|rest| rest.strip_suffix(')'));
    format!("{word} {}", name.unwrap_or(atom))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prediction::tests::layout;

    #[test]
    fn an_order_that_leaves_gaps_elsewhere_is_reported() {
        // Two quads and four words: the words fill one another up; in the new order only all of them do.
        let layout = layout(&[("a", 8), ("b", 8), ("c", 4), ("d", 4), ("e", 4), ("f", 4)]);
        let guards: Vec<Vec<String>> =
            [0, 0, 0, 1, 0, 1].map(|guarded| vec!["defined(CONFIG_X)".to_owned(); guarded]).to_vec();
        let without = smaller_configurations(&guards);
        assert_eq!(
            without,
            [SmallerConfiguration { name: "without CONFIG_X".to_owned(), absent: vec![3, 5] }]
        );
        assert!(describe_growths(&layout, &[0, 1, 2, 3, 4, 5], &without, 8).is_empty());
        let notes = describe_growths(&layout, &[2, 3, 0, 4, 5, 1], &without, 8);
        assert_eq!(notes, ["without CONFIG_X it takes 32 bytes instead of 24"]);
        assert!(describe_growths(&layout, &[2, 3, 0, 4, 5, 1], &without, 64).is_empty());
        assert_eq!(describe_case("not A > 1"), "with A > 1");
    }
}
