//! The values that a place keeps.

use super::{Flows, Slot};
use crate::meaning::flows::related::Related;
use crate::meaning::value::{Base, MOST_SUMS, Sum, join, join_what_fits};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Most values of one place that are of objects which have nothing to do with what is asked for, beside the same terms.
/// More of them say no more: whatever becomes of them there becomes of the first ones too.
pub(super) const MOST_OTHERS: usize = 8;

/// Most functions that are values of a place by themselves. More of them are kept as one value, so that what goes on
/// from there is one value too.
const MOST_FUNCTIONS: usize = 8;

/// Whether a record's ways can still be followed to their ends.
pub(in crate::meaning) fn is_followed(known: &Flows<'_>, record: &[u8]) -> bool {
    !known.contains_key(&Slot::Dropped(record))
}

/// Notes that a record's ways aren't followed to their ends.
pub(in crate::meaning) fn drop_record<'t>(known: &mut Flows<'t>, record: &'t [u8]) {
    join(known.entry(Slot::Dropped(record)).or_default(), &[Sum::object(record)]);
}

/// Adds values to a place; gives the places that have more now. Records of those that have no room there are kept as
/// such.
pub(in crate::meaning) fn add<'t>(
    into: &mut Flows<'t>,
    slot: Slot<'t>,
    sums: &[Sum<'t>],
    related: &Related<'t>,
) -> Vec<Slot<'t>> {
    let mut new = Vec::new();
    let mut functions = Vec::new();
    let values = into.entry(slot).or_default();
    let before = values.len();
    let mut dropped = Vec::new();
    for sum in sums {
        if sum.is_function() {
            functions.push(sum.clone());
            continue;
        }
        if values.contains(sum) {
            continue;
        }
        if related.has_other_base(sum) {
            let is_similar = |known: &&Sum<'t>| {
                related.has_other_base(known) && related.own_terms(known).eq(related.own_terms(sum))
            };
            if values.iter().filter(is_similar).count() >= MOST_OTHERS {
                continue;
            }
        }
        dropped.extend(join_what_fits(values, std::slice::from_ref(sum), MOST_SUMS));
    }
    if values.len() > before {
        new.push(slot);
    }
    dropped.into_iter().flat_map(Sum::records).for_each(|record| drop_record(into, record));
    if !functions.is_empty() {
        new.extend(add_functions(into, slot, functions));
    }
    new
}

/// The same for functions.
fn add_functions<'t>(into: &mut Flows<'t>, slot: Slot<'t>, functions: Vec<Sum<'t>>) -> Vec<Slot<'t>> {
    let values = into.entry(slot).or_default();
    let before = values.len();
    if matches!(slot, Slot::Functions(_) | Slot::Among(..) | Slot::Within(_)) {
        join(values, &functions);
        return if values.len() > before { vec![slot] } else { Vec::new() };
    }
    let number = number_of(slot);
    let all = Sum { base: Some(Base::Functions(number)), terms: Vec::new() };
    let mut moved = functions;
    let mut new = Vec::new();
    if !values.contains(&all) {
        join(values, &moved);
        if values.len() > before {
            new.push(slot);
        }
        if values.iter().filter(|known| known.is_function()).count() <= MOST_FUNCTIONS {
            return new;
        }
        moved = values.extract_if(.., |known| known.is_function()).collect();
        values.push(all.clone());
    }
    moved.retain(|function| *function != all);
    for function in &moved {
        let places = match function.base {
            Some(Base::Function(home, name)) => Slot::Among(home, name),
            Some(Base::Functions(other)) => Slot::Within(other),
            _ => continue,
        };
        let known = into.entry(places).or_default();
        if !known.contains(&all) {
            known.push(all.clone());
            new.push(places);
        }
    }
    if !moved.is_empty() {
        new.extend(add_functions(into, Slot::Functions(number), moved));
    }
    new
}

/// A place as a number. Two places of one number share their functions, which only leads to more.
fn number_of(slot: Slot<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    slot.hash(&mut hasher);
    hasher.finish()
}

/// Adds what was found elsewhere; gives the places that have more now.
pub(in crate::meaning) fn merge<'t>(
    into: &mut Flows<'t>,
    more: Flows<'t>,
    related: &Related<'t>,
) -> Vec<Slot<'t>> {
    let mut more: Vec<_> = more.into_iter().collect();
    more.sort();
    let added = more.into_iter().flat_map(|(slot, mut sums)| {
        sums.sort();
        add(into, slot, &sums, related)
    });
    added.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::flows::related::Relations;

    const RECORD: &[u8] = b"s";

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
    fn many_functions_are_kept_as_one_value() {
        let related = Relations::default().related_to(&[RECORD]);
        let names: Vec<String> = (0..300).map(|number| format!("f{number}")).collect();
        let function =
            |name: &'static str| Sum { base: Some(Base::Function(None, name.as_bytes())), terms: Vec::new() };
        let names: Vec<&'static str> = names.into_iter().map(|name| &*name.leak()).collect();
        let mut flows = Flows::default();
        let slot = Slot::Global(b"calls");
        for name in &names {
            let new = add(&mut flows, slot, &[function(name)], &related);
            assert!(!new.is_empty() && add(&mut flows, slot, &[function(name)], &related).is_empty());
        }
        let [all] = &flows[&slot].clone()[..] else { panic!("{:?}", flows[&slot]) };
        let Some(Base::Functions(number)) = all.base else { panic!("{all:?}") };
        assert_eq!(flows[&Slot::Functions(number)].len(), 300);
        // They go on as one value, and are few beside a few others.
        let next = Slot::Global(b"next");
        add(&mut flows, next, &[all.clone(), function("g")], &related);
        assert_eq!(flows[&next].len(), 2);
    }
}
