//! Members that lie at one place of two records, where code takes an object of one record for one of the other: an
//! address that is written to one of them is read from the other.
//!
//! That is so only for members that no unit gives a value by their name: what they hold comes with the bytes.

use super::facts::{End, State, UnitFlows};
use super::judge::Address;
use super::merged::{Merged, TypeNumber};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Most records inside one another.
const DEEPEST: usize = 4;

/// Pairs of records whose bytes are taken for one another's.
#[derive(Debug, Default)]
pub(crate) struct Pairs(BTreeSet<(TypeNumber, TypeNumber)>);

impl Pairs {
    /// Pairs that units name themselves, and records that go to and come from files.
    pub(crate) fn new(units: &[&UnitFlows], merged: &Merged) -> Self {
        let mut pairs = Self::default();
        let mut filed = BTreeSet::new();
        for (unit, flows) in units.iter().enumerate() {
            let number = |shape: usize| merged.number(unit, shape);
            pairs.0.extend(flows.overlaid.iter().map(|(from, to)| (number(*from), number(*to))));
            filed.extend(flows.filed.iter().map(|shape| number(*shape)));
        }
        for from in &filed {
            pairs.0.extend(filed.iter().filter(|to| *to != from).map(|to| (*from, *to)));
        }
        pairs
    }

    /// Adds pairs found elsewhere.
    pub(crate) fn add_all(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// An object's address comes to an end where it is taken for another record's.
    pub(crate) fn add(
        &mut self,
        merged: &Merged,
        address: Address,
        state: State,
        (unit, end): (usize, &End),
        is_explained: bool,
    ) {
        let (Address::Object(from), End::Record(shape)) = (address, end) else { return };
        let to = merged.number(unit, *shape);
        let has_subjects = |ty| merged.subjects(ty).next().is_some();
        if state == State::PLAIN && from != to && !is_explained && !has_subjects(from) && !has_subjects(to) {
            self.0.insert((from, to));
        }
    }

    /// The places that each place's addresses are read from, too.
    pub(crate) fn counterparts<'f>(&self, units: &[&'f UnitFlows], merged: &Merged) -> Counterparts<'f> {
        let written: FxHashSet<&str> =
            units.iter().flat_map(|flows| &flows.written).map(String::as_str).collect();
        let read = units.iter().flat_map(|flows| &flows.read).map(String::as_str);
        let open: FxHashSet<&'f str> = read.filter(|place| !written.contains(place)).collect();
        let mut counterparts = Counterparts::default();
        for (from, to) in &self.0 {
            let (own, others) = (pointers(merged, *from), pointers(merged, *to));
            for other in &others {
                let Some(place) = open.get(other.place.as_str()) else { continue };
                let same = own.iter().filter(|own| own.offset == other.offset && own.ty != other.ty);
                for own in same.filter(|own| own.is_array == other.is_array && own.place != other.place) {
                    counterparts.places.entry(own.place.clone()).or_default().push(place);
                    let record = own.ty.strip_suffix('*').map(|name| merged.named(name.trim_end()));
                    let record = record.filter(|record| merged.subjects(*record).next().is_some());
                    counterparts.records.extend(record.map(|record| (record, *place)));
                }
            }
        }
        counterparts
    }
}

/// Places that addresses come to in the bytes of other records.
#[derive(Debug, Default)]
pub(crate) struct Counterparts<'f> {
    /// By the place that they are written to.
    pub(crate) places: FxHashMap<String, Vec<&'f str>>,
    /// Subjects whose addresses are written as what they are.
    pub(crate) records: BTreeSet<(TypeNumber, &'f str)>,
}

/// A member that may keep an address.
struct Pointer {
    offset: u64,
    place: String,
    ty: String,
    is_array: bool,
}

fn pointers(merged: &Merged, ty: TypeNumber) -> Vec<Pointer> {
    let mut found = Vec::new();
    add_pointers(merged, (ty, 0), DEEPEST, &mut found);
    found
}

fn add_pointers(merged: &Merged, (ty, front): (TypeNumber, u64), depth: usize, found: &mut Vec<Pointer>) {
    let (Some(shape), Some(depth)) = (merged.shape(ty), depth.checked_sub(1)) else { return };
    for member in &shape.members {
        let offset = front.saturating_add(member.offset);
        match (&member.value, member.record) {
            (Some(ty), _) if ty.ends_with('*') || ty.ends_with("long") => found.push(Pointer {
                offset,
                place: shape.place_of(&member.name),
                ty: ty.clone(),
                is_array: member.is_array,
            }),
            (None, Some(record)) => add_pointers(merged, (record, offset), depth, found),
            _ => {}
        }
    }
}
