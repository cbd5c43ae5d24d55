//! Values that go from function to function.

use super::value::{Sum, join, join_what_fits};
use rustc_hash::FxHashMap;

/// Most rounds in which values are followed from function to function, and again while uses are told. They grow until
/// nothing is new, which takes as many rounds as the longest way is long.
const MOST_ROUNDS: usize = 40;

/// Something that values are kept in beyond a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot<'t> {
    /// Of a function, which is one file's if it is static.
    Parameter(Option<usize>, &'t [u8], usize),
    Returned(Option<usize>, &'t [u8]),
    Global(&'t [u8]),
    /// A member of a record.
    Member(&'t [u8], &'t [u8]),
    /// A member of any record, by its name.
    AnyMember(&'t [u8]),
    /// A member of a record that isn't known; in a part of a tree, of one file.
    LooseMember(Option<usize>, &'t [u8]),
    /// Values that a function leaves where a parameter points to.
    Written(Option<usize>, &'t [u8], usize),
    /// Addresses of members that a parameter may be a reference to.
    Referred(Option<usize>, &'t [u8], usize),
    /// Values that are handed to functions that nobody defines.
    Outside,
    /// Objects of a record whose addresses become something else than pointers to it.
    Escaped(&'t [u8]),
    /// Whether a function changes anything but its own variables.
    Effect(Option<usize>, &'t [u8]),
    /// Arguments of methods of a name, of function objects and of lambdas.
    Method(&'t [u8], usize),
    /// Whether the body of a constructor of a class is known.
    Constructor(&'t [u8]),
    /// Members by which a variable, member or result may be an entry of a null link: of a function's own, its name.
    Entry(&'t [u8], &'t [u8]),
    /// Sizes that a variable or member counts up or down by: of a function's own, its name.
    Grown(&'t [u8], &'t [u8]),
    /// Members of a record whose addresses a sorted container may keep.
    Sorted(&'t [u8]),
    /// Longer kinds, or anything behind its end, that pointers to a record lead to.
    Reached(&'t [u8]),
    /// Whether a function counts on from the record that a parameter points to.
    Counted(Option<usize>, &'t [u8], usize),
    /// A record that a place had no room for.
    Dropped(&'t [u8]),
}

/// Values by slot.
pub(super) type Flows<'t> = FxHashMap<Slot<'t>, Vec<Sum<'t>>>;

/// Follows values until nothing new is found, at first without telling uses: until then a value without an origin may
/// just not have got its own yet. Gives the uses, and the records whose ways weren't followed to their ends. Once that
/// is so of all that are asked for, `is_open` says no, and nothing is followed any more.
pub(super) fn follow<'t, F>(
    mut known: Flows<'t>,
    is_open: impl Fn(&Flows<'t>) -> bool,
    read: impl Fn(&Flows<'t>, bool) -> (Vec<F>, Flows<'t>),
) -> (Vec<F>, Vec<&'t [u8]>) {
    follow_rounds(&mut known, &is_open, |known| read(known, false));
    let found = follow_rounds(&mut known, &is_open, |known| read(known, true));
    let dropped = known.keys().filter_map(|slot| match slot {
        Slot::Dropped(record) => Some(*record),
        _ => None,
    });
    let mut dropped: Vec<&'t [u8]> = dropped.collect();
    dropped.sort_unstable();
    (found, dropped)
}

/// Follows values round by round, as long as something asked for is open; gives the uses of the last one.
pub(super) fn follow_rounds<'t, F>(
    known: &mut Flows<'t>,
    is_open: impl Fn(&Flows<'t>) -> bool,
    read: impl Fn(&Flows<'t>) -> (Vec<F>, Flows<'t>),
) -> Vec<F> {
    let mut found = Vec::new();
    for round in 1..=MOST_ROUNDS {
        if !is_open(known) {
            break;
        }
        let before: FxHashMap<Slot<'t>, usize> =
            known.iter().map(|(slot, sums)| (*slot, sums.len())).collect();
        let (uses, flows) = read(known);
        found = uses;
        merge(known, flows);
        let new = known.iter().map(|(slot, sums)| (sums, before.get(slot).copied().unwrap_or_default()));
        let new: Vec<&[Sum<'t>]> =
            new.filter_map(|(sums, from)| sums.get(from..)).filter(|new| !new.is_empty()).collect();
        if new.is_empty() {
            break;
        }
        if round == MOST_ROUNDS {
            let mut records: Vec<&'t [u8]> = new.into_iter().flatten().flat_map(Sum::records).collect();
            records.sort_unstable();
            records.dedup();
            records.into_iter().for_each(|record| drop_record(known, record));
        }
    }
    found
}

/// Whether a record's ways can still be followed to their ends.
pub(super) fn is_followed(known: &Flows<'_>, record: &[u8]) -> bool {
    !known.contains_key(&Slot::Dropped(record))
}

fn drop_record<'t>(known: &mut Flows<'t>, record: &'t [u8]) {
    join(known.entry(Slot::Dropped(record)).or_default(), &[Sum::object(record)]);
}

/// Adds sums to a slot. Records that have no room there are kept as such.
pub(super) fn add<'t>(into: &mut Flows<'t>, slot: Slot<'t>, sums: &[Sum<'t>]) {
    let dropped = join_what_fits(into.entry(slot).or_default(), sums);
    dropped.into_iter().flat_map(Sum::records).for_each(|record| drop_record(into, record));
}

/// Adds what was found elsewhere.
pub(super) fn merge<'t>(into: &mut Flows<'t>, more: Flows<'t>) {
    let mut more: Vec<_> = more.into_iter().collect();
    more.sort();
    for (slot, mut sums) in more {
        sums.sort();
        add(into, slot, &sums);
    }
}
