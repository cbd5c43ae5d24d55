//! Changes between all layouts of two files.
//!
//! Types match by name. Where a name has several definitions, equal ones match; the others are paired by how
//! many members they share, the most first.

use crate::change::TypeChange;
use crate::field::fields;
use fieldline_layout::Layout;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Changes between two files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SetDiff {
    /// Types that changed, by name.
    pub changed: Vec<TypeChange>,
    /// Names of types that are new.
    pub added: Vec<String>,
    /// Names of types that are gone.
    pub removed: Vec<String>,
    /// How many are equal.
    pub unchanged: usize,
}

impl SetDiff {
    /// Whether both files have the same types with the same layouts.
    pub fn has_no_difference(&self) -> bool {
        self.changed.is_empty() && self.added.is_empty() && self.removed.is_empty()
    }

    /// Compares. `lines` are sizes of cachelines in bytes.
    pub fn between(old: &[Layout], new: &[Layout], lines: &[u64]) -> Self {
        let mut diff = Self::default();
        for pair in pair_by_name(old, new) {
            match pair {
                (Some(before), Some(after)) => match TypeChange::between(before, after, lines) {
                    Some(change) => diff.changed.push(change),
                    None => diff.unchanged += 1,
                },
                (Some(gone), None) => diff.removed.push(gone.name.clone()),
                (None, Some(new)) => diff.added.push(new.name.clone()),
                (None, None) => {}
            }
        }
        diff
    }
}

/// A definition before and after.
type LayoutPair<'l> = (Option<&'l Layout>, Option<&'l Layout>);

/// The definitions of two files, paired by name; of equal names, those without a partner last.
pub fn pair_by_name<'l>(
    old: impl IntoIterator<Item = &'l Layout>,
    new: impl IntoIterator<Item = &'l Layout>,
) -> impl Iterator<Item = LayoutPair<'l>> {
    let mut names: BTreeMap<&str, (Vec<&Layout>, Vec<&Layout>)> = BTreeMap::new();
    for layout in old {
        names.entry(&layout.name).or_default().0.push(layout);
    }
    for layout in new {
        names.entry(&layout.name).or_default().1.push(layout);
    }
    names.into_values().flat_map(|(old, new)| pair_definitions(old, new))
}

fn pair_definitions<'l>(mut old: Vec<&'l Layout>, mut new: Vec<&'l Layout>) -> Vec<LayoutPair<'l>> {
    if let ([old], [new]) = (&old[..], &new[..]) {
        return vec![(Some(old), Some(new))];
    }
    let mut matched = Vec::new();
    new.retain(|after| {
        let equal = old.iter().position(|before| TypeChange::between(before, after, &[]).is_none());
        let Some(place) = equal else { return true };
        matched.push((Some(old.remove(place)), Some(*after)));
        false
    });
    while let Some((of_old, of_new)) = find_most_shared(&old, &new) {
        matched.push((Some(old.remove(of_old)), Some(new.remove(of_new))));
    }
    matched.extend(old.into_iter().map(|old| (Some(old), None)));
    matched.extend(new.into_iter().map(|new| (None, Some(new))));
    matched
}

/// Indexes of the two definitions that share most member names; the first of equals.
fn find_most_shared(old: &[&Layout], new: &[&Layout]) -> Option<(usize, usize)> {
    let names = |ty: &&Layout| fields(ty).into_iter().map(|field| field.path).collect::<BTreeSet<_>>();
    let (old, new): (Vec<_>, Vec<_>) = (old.iter().map(names).collect(), new.iter().map(names).collect());
    let mut best = None;
    for (of_old, theirs) in old.iter().enumerate() {
        for (of_new, ours) in new.iter().enumerate() {
            let shared = theirs.intersection(ours).count();
            if best.is_none_or(|(most, _)| shared > most) {
                best = Some((shared, (of_old, of_new)));
            }
        }
    }
    best.map(|(_, places)| places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::longs;

    #[test]
    fn equal_variants_are_matched_before_others() {
        let old = [longs(&["a", "b"]), longs(&["x", "y"])];
        let new = [longs(&["x", "y"]), longs(&["a", "b", "c"])];
        let diff = SetDiff::between(&old, &new, &[64]);
        assert_eq!((diff.unchanged, diff.changed.len()), (1, 1));
        assert_eq!(diff.changed[0].members[0].member, "c");
    }

    #[test]
    fn variants_that_share_most_members_are_each_others() {
        let old = [longs(&["p", "q"]), longs(&["a", "b"])];
        let new = [longs(&["a", "b", "c"])];
        let diff = SetDiff::between(&old, &new, &[64]);
        assert_eq!(diff.changed[0].members.len(), 1);
        assert_eq!(diff.removed, ["sample"]);
    }

    #[test]
    fn types_come_and_go() {
        let mut other = longs(&["a"]);
        other.name = "other".to_owned();
        let diff = SetDiff::between(&[longs(&["a"])], std::slice::from_ref(&other), &[64]);
        assert_eq!((diff.added, diff.removed), (vec!["other".to_owned()], vec!["sample".to_owned()]));
    }
}
