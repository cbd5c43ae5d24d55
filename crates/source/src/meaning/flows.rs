//! Values that go from function to function.

pub(super) mod related;

use super::value::{Sum, join, join_what_fits};
use related::{Related, Relations};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Most rounds in which values are followed from function to function, and again while uses are told. They grow until
/// nothing is new, which takes as many rounds as the longest way is long.
const MOST_ROUNDS: usize = 40;

/// Most values in all places. Once values of many structs meet in the same places, each round brings more of them to
/// more places and takes longer. What most values are of is then followed no longer.
const MOST_VALUES: usize = 400_000;

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

/// Most values of one place that are of objects which have nothing to do with what is asked for. More of them say no
/// more: whatever becomes of them there becomes of the first ones too.
const MOST_OTHERS: usize = 8;

/// Values by slot.
pub(super) type Flows<'t> = FxHashMap<Slot<'t>, Vec<Sum<'t>>>;

/// The values that are known while a file is read, with the places that were asked for.
#[derive(Debug)]
pub(super) struct Known<'k, 't> {
    flows: &'k Flows<'t>,
    pub(super) related: &'k Related<'t>,
    asked: RefCell<FxHashSet<Slot<'t>>>,
}

impl<'k, 't> Known<'k, 't> {
    pub(super) fn new(flows: &'k Flows<'t>, related: &'k Related<'t>) -> Self {
        Self { flows, related, asked: RefCell::default() }
    }

    pub(super) fn get(&self, slot: Slot<'t>) -> Option<&'k Vec<Sum<'t>>> {
        self.asked.borrow_mut().insert(slot);
        self.flows.get(&slot)
    }
}

/// Uses that a file has, and the values that it hands on.
pub(super) type FileResult<'t, F> = (Vec<F>, Flows<'t>);

/// Files that are read again and again, for what records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a, 't> {
    /// Numbers of the files.
    pub(super) files: &'a [usize],
    pub(super) asked: Asked<'a, 't>,
}

/// The records that values are followed for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked<'a, 't> {
    /// These. Once none of them can be followed to its end, nothing is followed any more, and so it is once there are
    /// too many values.
    Until(&'a [&'t [u8]], &'a Relations<'t>),
    /// These and others, to the end.
    All(&'a Related<'t>),
}

/// Follows values until nothing new is found, at first without telling uses: until then a value without an origin may
/// just not have got its own yet. Gives the uses by file, and the records whose ways weren't followed to their ends.
pub(super) fn follow<'t, F: Send>(
    mut known: Flows<'t>,
    wanted: Wanted<'_, 't>,
    read: impl Fn(usize, &Known<'_, 't>, bool) -> FileResult<'t, F> + Sync,
) -> (Vec<(usize, F)>, Vec<&'t [u8]>) {
    follow_rounds(&mut known, wanted, |file, known| read(file, known, false));
    let found = follow_rounds(&mut known, wanted, |file, known| read(file, known, true));
    let dropped = known.keys().filter_map(|slot| match slot {
        Slot::Dropped(record) => Some(*record),
        _ => None,
    });
    let mut dropped: Vec<&'t [u8]> = dropped.collect();
    dropped.sort_unstable();
    (found, dropped)
}

/// Follows values round by round; gives the uses by file as of its last reading. Beyond the first round those files are
/// read that asked for a place with new values: to the others nothing has changed.
pub(super) fn follow_rounds<'t, F: Send>(
    known: &mut Flows<'t>,
    wanted: Wanted<'_, 't>,
    read: impl Fn(usize, &Known<'_, 't>) -> FileResult<'t, F> + Sync,
) -> Vec<(usize, F)> {
    let Wanted { files, asked: wanted } = wanted;
    let mut found: FxHashMap<usize, Vec<F>> = FxHashMap::default();
    let mut asked: FxHashMap<usize, FxHashSet<Slot<'t>>> = FxHashMap::default();
    let mut stale = files.to_vec();
    for round in 1..=MOST_ROUNDS {
        let now_related;
        let related = match wanted {
            Asked::Until(records, relations) => {
                let mut open = records.to_vec();
                open.retain(|record| is_followed(known, record));
                if open.is_empty() {
                    break;
                }
                now_related = relations.related_to(&open);
                &now_related
            }
            Asked::All(related) => related,
        };
        let before: FxHashMap<Slot<'t>, usize> =
            known.iter().map(|(slot, sums)| (*slot, sums.len())).collect();
        let results = fieldline_parallel::map(&stale, |file| {
            let seen = Known::new(known, related);
            let (uses, flows) = read(*file, &seen);
            (uses, flows, seen.asked.into_inner())
        });
        for (file, (uses, flows, slots)) in stale.iter().zip(results) {
            found.insert(*file, uses);
            asked.insert(*file, slots);
            merge(known, flows, related);
        }
        let is_new = |slot: &Slot<'t>, sums: &[Sum<'t>]| sums.len() > before.get(slot).copied().unwrap_or(0);
        let new: FxHashSet<Slot<'t>> =
            known.iter().filter(|(slot, sums)| is_new(slot, sums)).map(|(slot, _)| *slot).collect();
        if new.is_empty() {
            break;
        }
        let is_stale = |file: &usize| asked.get(file).is_none_or(|asked| !asked.is_disjoint(&new));
        stale = files.iter().copied().filter(is_stale).collect();
        if round == MOST_ROUNDS {
            drop_new(known, &before, &new);
        }
        if let Asked::Until(records, relations) = wanted {
            drop_largest(known, records, relations, MOST_VALUES);
        }
    }
    let by_file = files.iter().flat_map(|file| {
        let uses = found.remove(file).unwrap_or_default();
        uses.into_iter().map(|found| (*file, found))
    });
    by_file.collect()
}

/// Drops the records of values that have just come to some places.
fn drop_new<'t>(known: &mut Flows<'t>, before: &FxHashMap<Slot<'t>, usize>, new: &FxHashSet<Slot<'t>>) {
    let values = new.iter().filter_map(|slot| {
        let from = before.get(slot).copied().unwrap_or_default();
        known.get(slot)?.get(from..)
    });
    let mut records: Vec<&'t [u8]> = values.flatten().flat_map(Sum::records).collect();
    records.sort_unstable();
    records.dedup();
    records.into_iter().for_each(|record| drop_record(known, record));
}

/// Drops the records that most values are of, until no more than some are left or none of the records is followed.
fn drop_largest<'t>(known: &mut Flows<'t>, records: &[&'t [u8]], relations: &Relations<'t>, most: usize) {
    while known.values().map(Vec::len).sum::<usize>() > most {
        let mut counts: FxHashMap<&'t [u8], usize> =
            records.iter().filter(|record| is_followed(known, record)).map(|record| (*record, 0)).collect();
        for record in known.values().flatten().flat_map(Sum::records) {
            counts.entry(record).and_modify(|count| *count += 1);
        }
        let Some((largest, _)) = counts.iter().max_by_key(|(record, count)| (**count, **record)) else {
            return;
        };
        let largest = *largest;
        drop_record(known, largest);
        let open: Vec<&'t [u8]> = counts.into_keys().filter(|record| *record != largest).collect();
        let related = relations.related_to(&open);
        for (_, values) in known.iter_mut().filter(|(slot, _)| !matches!(slot, Slot::Dropped(_))) {
            let mut others = 0;
            values.retain(|sum| {
                others += usize::from(related.is_of_others(sum));
                others <= MOST_OTHERS || !related.is_of_others(sum)
            });
        }
    }
}

/// Whether a record's ways can still be followed to their ends.
fn is_followed(known: &Flows<'_>, record: &[u8]) -> bool {
    !known.contains_key(&Slot::Dropped(record))
}

/// Notes that a record's ways aren't followed to their ends.
pub(super) fn drop_record<'t>(known: &mut Flows<'t>, record: &'t [u8]) {
    join(known.entry(Slot::Dropped(record)).or_default(), &[Sum::object(record)]);
}

/// Adds values to a place. Records of those that have no room there are kept as such.
pub(super) fn add<'t>(into: &mut Flows<'t>, slot: Slot<'t>, sums: &[Sum<'t>], related: &Related<'t>) {
    let values = into.entry(slot).or_default();
    let mut others = None;
    let mut dropped = Vec::new();
    for sum in sums {
        if values.contains(sum) {
            continue;
        }
        if related.is_of_others(sum) {
            let count = || values.iter().filter(|known| related.is_of_others(known)).count();
            let others = others.get_or_insert_with(count);
            if *others == MOST_OTHERS {
                continue;
            }
            *others += 1;
        }
        dropped.extend(join_what_fits(values, std::slice::from_ref(sum)));
    }
    dropped.into_iter().flat_map(Sum::records).for_each(|record| drop_record(into, record));
}

/// Adds what was found elsewhere.
pub(super) fn merge<'t>(into: &mut Flows<'t>, more: Flows<'t>, related: &Related<'t>) {
    let mut more: Vec<_> = more.into_iter().collect();
    more.sort();
    for (slot, mut sums) in more {
        sums.sort();
        add(into, slot, &sums, related);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::value::Term;
    use std::sync::Mutex;

    const RECORD: &[u8] = b"s";

    fn object(record: &'static [u8]) -> Flows<'static> {
        [(Slot::Global(b"first"), vec![Sum::object(record)])].into_iter().collect()
    }

    #[test]
    fn files_are_read_again_once_what_they_asked_for_is_new() {
        let reads = Mutex::new(Vec::new());
        let relations = Relations::default();
        let wanted = Wanted { files: &[0, 1, 2], asked: Asked::Until(&[RECORD], &relations) };
        // The last file gives a value to the first one, which hands it on to the second one.
        let (found, dropped) = follow(Flows::default(), wanted, |file, known, tells| {
            reads.lock().map(|mut reads| reads.push((file, tells))).unwrap_or_default();
            let slot = [Slot::Global(b"first"), Slot::Global(b"second"), Slot::Outside][file];
            let sums = known.get(slot).cloned().unwrap_or_default();
            let flows = match file {
                0 if !sums.is_empty() => [(Slot::Global(b"second"), sums.clone())].into_iter().collect(),
                2 => object(RECORD),
                _ => Flows::default(),
            };
            (sums, flows)
        });
        let mut reads = reads.into_inner().unwrap_or_default();
        reads.sort_unstable();
        let again =
            [(0, false), (0, false), (0, true), (1, false), (1, false), (1, true), (2, false), (2, true)];
        assert_eq!(reads, again);
        assert_eq!(found, [(0, Sum::object(RECORD)), (1, Sum::object(RECORD))]);
        assert!(dropped.is_empty());
    }

    #[test]
    fn a_few_values_of_others_stand_for_all() {
        let related = Relations::default().related_to(&[RECORD]);
        let names: Vec<String> = (0..300).map(|number| format!("other{number}")).collect();
        let mut flows = Flows::default();
        for name in &names {
            add(&mut flows, Slot::Outside, &[Sum::object(name.as_bytes())], &related);
        }
        add(&mut flows, Slot::Outside, &[Sum::object(RECORD)], &related);
        let values = &flows[&Slot::Outside];
        assert_eq!(values.len(), MOST_OTHERS + 1);
        assert_eq!(values.last(), Some(&Sum::object(RECORD)));
        assert!(is_followed(&flows, RECORD) && is_followed(&flows, b"other299"));
    }

    #[test]
    fn what_most_values_are_of_is_dropped_first() {
        let relations = Relations::default();
        let names: Vec<String> = (0..100).map(|number| format!("f{number}")).collect();
        let value = |record: &'static [u8], name| Sum::object(record).and(true, Term::Offset(b"x", name));
        let mut flows = Flows::default();
        for name in &names {
            let many = names[..20].iter().map(|other| value(b"many", other.as_bytes()));
            flows.insert(
                Slot::Global(name.as_bytes()),
                many.chain([value(RECORD, name.as_bytes())]).collect(),
            );
        }
        drop_largest(&mut flows, &[RECORD, b"many"], &relations, 1000);
        assert!(is_followed(&flows, RECORD) && !is_followed(&flows, b"many"));
        assert_eq!(flows.values().map(Vec::len).sum::<usize>(), 100 * (MOST_OTHERS + 1) + 1);
        // With less room, nothing is followed any more.
        drop_largest(&mut flows, &[RECORD, b"many"], &relations, 10);
        assert!(!is_followed(&flows, RECORD));
    }

    #[test]
    fn nothing_is_followed_once_all_that_is_asked_for_is_lost() {
        let relations = Relations::default();
        let wanted = Wanted { files: &[0], asked: Asked::Until(&[RECORD], &relations) };
        let rounds = Mutex::new(0);
        let (found, dropped) = follow(Flows::default(), wanted, |_, known, _| {
            rounds.lock().map(|mut rounds| *rounds += 1).unwrap_or_default();
            let mut flows = object(RECORD);
            known.get(Slot::Global(b"first"));
            drop_record(&mut flows, RECORD);
            (vec![()], flows)
        });
        assert_eq!((found.len(), dropped), (0, vec![RECORD]));
        assert_eq!(rounds.into_inner().unwrap_or_default(), 1);
    }
}
