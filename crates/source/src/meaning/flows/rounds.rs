//! Files that are read round by round, until no place has a new value.

use super::places::MOST_OTHERS;
use super::{Asked, FileResult, Flows, Known, Slot, Wanted, drop_record, is_followed, merge};
use crate::meaning::flows::related::{Related, Relations};
use crate::meaning::value::Sum;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// Most rounds in which values are followed from function to function, and again while uses are told. They grow until
/// nothing is new, which takes as many rounds as the longest way is long.
const MOST_ROUNDS: usize = 40;

/// Most values in all places. Once values of many structs meet in the same places, each round brings more of them to
/// more places and takes longer. What most values are of is then followed no longer.
const MOST_VALUES: usize = 70_000;

/// Follows values until nothing new is found, at first without telling uses: until then a value without an origin may
/// just not have got its own yet. Gives the uses by file, and the records whose ways weren't followed to their ends.
pub(in crate::meaning) fn follow<'t, F: Send>(
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
pub(in crate::meaning) fn follow_rounds<'t, F: Send>(
    known: &mut Flows<'t>,
    wanted: Wanted<'_, 't>,
    read: impl Fn(usize, &Known<'_, 't>) -> FileResult<'t, F> + Sync,
) -> Vec<(usize, F)> {
    let mut readings = Readings::new(wanted.files);
    for round in 1..=MOST_ROUNDS {
        let Some(related) = still_related(known, wanted.asked) else { break };
        let before = (round == MOST_ROUNDS).then(|| known.clone());
        let new = readings.read_again(known, &related, &read);
        if new.is_empty() {
            break;
        }
        if let Some(before) = before {
            drop_new(known, &before, &new);
        }
        if let Asked::Until(records, relations) = wanted.asked {
            drop_largest(known, records, relations, MOST_VALUES);
        }
    }
    readings.into_uses()
}

/// The records related to those that are still followed; none if nothing is followed any more.
fn still_related<'a, 't>(known: &Flows<'t>, asked: Asked<'a, 't>) -> Option<Cow<'a, Related<'t>>> {
    match asked {
        Asked::Until(records, relations) => {
            let mut open = records.to_vec();
            open.retain(|record| is_followed(known, record));
            (!open.is_empty()).then(|| Cow::Owned(relations.related_to(&open)))
        }
        Asked::All(related) => Some(Cow::Borrowed(related)),
    }
}

/// Uses of each file as of its last reading, and the places that it asked for.
struct Readings<'f, 't, F> {
    files: &'f [usize],
    found: FxHashMap<usize, Vec<F>>,
    asked: FxHashMap<usize, FxHashSet<Slot<'t>>>,
    /// Files to be read in the next round.
    stale: Vec<usize>,
}

impl<'f, 't, F: Send> Readings<'f, 't, F> {
    fn new(files: &'f [usize]) -> Self {
        Self { files, found: FxHashMap::default(), asked: FxHashMap::default(), stale: files.to_vec() }
    }

    /// Reads the files to which something has changed, and adds their values; gives the places with new ones.
    fn read_again(
        &mut self,
        known: &mut Flows<'t>,
        related: &Related<'t>,
        read: &(impl Fn(usize, &Known<'_, 't>) -> FileResult<'t, F> + Sync),
    ) -> FxHashSet<Slot<'t>> {
        let results = fieldline_parallel::map(&self.stale, |file| {
            let seen = Known::new(known, related);
            let (uses, flows) = read(*file, &seen);
            (uses, flows, seen.into_asked())
        });
        let mut new = FxHashSet::default();
        for (file, (uses, flows, slots)) in self.stale.iter().zip(results) {
            self.found.insert(*file, uses);
            self.asked.insert(*file, slots);
            new.extend(merge(known, flows, related));
        }
        let is_stale = |file: &usize| self.asked.get(file).is_none_or(|asked| !asked.is_disjoint(&new));
        self.stale = self.files.iter().copied().filter(is_stale).collect();
        new
    }

    fn into_uses(mut self) -> Vec<(usize, F)> {
        let by_file = self.files.iter().flat_map(|file| {
            let uses = self.found.remove(file).unwrap_or_default();
            uses.into_iter().map(|found| (*file, found))
        });
        by_file.collect()
    }
}

/// Drops the records of values that have just come to some places.
fn drop_new<'t>(known: &mut Flows<'t>, before: &Flows<'t>, new: &FxHashSet<Slot<'t>>) {
    let is_new = |slot: &Slot<'t>, sum: &Sum<'t>| before.get(slot).is_none_or(|known| !known.contains(sum));
    let values = new.iter().flat_map(|slot| {
        let values = known.get(slot).into_iter().flatten();
        values.filter(|sum| is_new(slot, sum))
    });
    let mut records: Vec<&'t [u8]> = values.flat_map(Sum::records).collect();
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
