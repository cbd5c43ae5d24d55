//! Matching of the members of two layouts.
//!
//! Members of equal name match. Of the others, two match as renamed if their type and size are equal and they
//! have the same offset, or the same neighbours. A member that replaced a removed one of the same type looks
//! like a renamed one.

use crate::field::Field;
use std::collections::BTreeMap;

/// For each new field, the index of the old one.
pub fn match_fields(old: &[Field<'_>], new: &[Field<'_>]) -> Vec<Option<usize>> {
    let by_name: BTreeMap<(&str, usize), usize> =
        (0..).zip(old).map(|(index, field)| ((field.path.as_str(), field.nth), index)).collect();
    let mut of_new: Vec<Option<usize>> =
        new.iter().map(|field| by_name.get(&(field.path.as_str(), field.nth)).copied()).collect();
    let mut taken = vec![false; old.len()];
    of_new.iter().flatten().for_each(|index| taken[*index] = true);
    if taken.iter().all(|taken| *taken) || of_new.iter().all(Option::is_some) {
        return of_new;
    }
    let is_there = |old: &Field<'_>, new: &Field<'_>| old.member.bit_offset == new.member.bit_offset;
    match_rest(old, new, &mut of_new, &mut taken, |_, old, new| is_there(old, new));
    match_rest(old, new, &mut of_new, &mut taken, |(before, after), _, _| before && after);
    of_new
}

/// Matches the remaining fields where type and size are equal and `fits` agrees. Its first argument says
/// whether the neighbours before and after match.
fn match_rest(
    old: &[Field<'_>],
    new: &[Field<'_>],
    of_new: &mut [Option<usize>],
    taken: &mut [bool],
    fits: impl Fn((bool, bool), &Field<'_>, &Field<'_>) -> bool,
) {
    for at in (0..new.len()).filter(|at| of_new[*at].is_none()).collect::<Vec<_>>() {
        let candidate = (0..old.len()).find(|index| {
            let (was, is) = (&old[*index], &new[at]);
            let neighbours = || matched_neighbours(of_new, *index, at, old.len());
            !taken[*index] && is_interchangeable(was, is) && fits(neighbours(), was, is)
        });
        if let Some(index) = candidate {
            of_new[at] = Some(index);
            taken[index] = true;
        }
    }
}

fn is_interchangeable(old: &Field<'_>, new: &Field<'_>) -> bool {
    let facts = |field: &Field<'_>| (field.member.bit_size, field.member.role);
    facts(old) == facts(new) && old.has_type_of(new)
}

/// Whether the fields before two match, and those after; two ends match.
fn matched_neighbours(of_new: &[Option<usize>], old: usize, new: usize, old_len: usize) -> (bool, bool) {
    let before = match (old.checked_sub(1), new.checked_sub(1)) {
        (None, None) => true,
        (Some(old), Some(new)) => of_new[new] == Some(old),
        _ => false,
    };
    let behind = match ((old + 1 < old_len).then_some(old + 1), of_new.get(new + 1)) {
        (None, None) => true,
        (Some(old), Some(paired)) => *paired == Some(old),
        _ => false,
    };
    (before, behind)
}

/// For each new field, whether it keeps its order among the matched ones: it is in the longest subsequence of
/// nondecreasing old offsets. The others moved, these were shifted at most.
pub fn keeps_order(old: &[Field<'_>], new: &[Field<'_>], of_new: &[Option<usize>]) -> Vec<bool> {
    let place = |field: &Field<'_>| (field.member.bit_offset, field.member.bit_end());
    let paired = (0..).zip(of_new).filter_map(|(at, paired)| Some((at, (*paired)?)));
    let mut sequence: Vec<((u64, u64), (u64, u64), usize)> =
        paired.map(|(at, index)| (place(&new[at]), place(&old[index]), at)).collect();
    sequence.sort_unstable();
    let olds: Vec<u64> = sequence.iter().map(|(_, old, _)| old.0).collect();
    let mut kept = vec![false; new.len()];
    for position in longest_nondecreasing(&olds) {
        kept[sequence[position].2] = true;
    }
    kept
}

/// Positions of the longest subsequence that doesn't fall.
fn longest_nondecreasing(values: &[u64]) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; values.len()];
    for (position, value) in values.iter().enumerate() {
        let length = ends.partition_point(|end| values[*end] <= *value);
        before[position] = length.checked_sub(1).map(|length| ends[length]);
        if length == ends.len() { ends.push(position) } else { ends[length] = position }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(position) = next {
        run.push(position);
        next = before[position];
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::fields;
    use crate::testing::{layout, longs, typed};

    #[test]
    fn names_come_first() {
        let (old, new) = (longs(&["a", "b", "c"]), longs(&["c", "a", "b"]));
        assert_eq!(match_fields(&fields(&old), &fields(&new)), [Some(2), Some(0), Some(1)]);
    }

    #[test]
    fn a_renamed_member_is_known_by_its_offset_or_its_neighbours() {
        let (old, new) = (longs(&["a", "b", "c"]), longs(&["a", "x", "c"]));
        assert_eq!(match_fields(&fields(&old), &fields(&new)), [Some(0), Some(1), Some(2)]);
        let new = longs(&["first", "a", "x", "c"]);
        assert_eq!(match_fields(&fields(&old), &fields(&new)), [None, Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn another_type_is_another_member() {
        let old = longs(&["a", "b"]);
        let new = layout(16, vec![typed(Some("a"), "long", 0, 8), typed(Some("x"), "void *", 8, 8)]);
        assert_eq!(match_fields(&fields(&old), &fields(&new)), [Some(0), None]);
    }

    #[test]
    fn the_longest_run_keeps_its_order() {
        let (old, new) = (longs(&["a", "b", "c", "d"]), longs(&["d", "a", "b", "c"]));
        let (old, new) = (fields(&old), fields(&new));
        let kept = keeps_order(&old, &new, &match_fields(&old, &new));
        assert_eq!(kept, [false, true, true, true]);
        assert_eq!(longest_nondecreasing(&[3, 1, 2, 2, 0, 5]), [1, 2, 3, 5]);
    }
}
