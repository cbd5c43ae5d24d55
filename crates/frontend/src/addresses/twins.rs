//! Records that share their bytes with others: an address that is kept in a member of one is in the member of the other
//! that has the same place.

use super::facts::{End, Origin, ShapeMember, State, UnitFlows};
use super::merged::{Merged, TypeNumber};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// The same memory under another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twin<'m> {
    /// A place that addresses go on from.
    Place(&'m str),
    /// A pointer to a record.
    Record(TypeNumber),
}

/// Places by those that share their memory.
#[derive(Debug, Default)]
pub(crate) struct Twins<'m> {
    places: FxHashMap<&'m str, Vec<Twin<'m>>>,
    /// Records whose addresses are at a place under another name.
    pub(crate) entering: Vec<(TypeNumber, &'m str)>,
}

impl<'m> Twins<'m> {
    pub(crate) fn of(&self, place: &str) -> &[Twin<'m>] {
        self.places.get(place).map_or(&[], Vec::as_slice)
    }

    /// Of records that are taken for one another, and of those that unions hold.
    pub(crate) fn new(merged: &'m Merged, pairs: BTreeSet<(TypeNumber, TypeNumber)>) -> Self {
        let mut twins = Self::default();
        for (first, second) in pairs.into_iter().chain(alternatives(merged)) {
            twins.join(merged, first, second);
            twins.join(merged, second, first);
        }
        twins
    }

    /// What one record's members are given, another's have.
    fn join(&mut self, merged: &'m Merged, from: TypeNumber, to: TypeNumber) {
        let (Some(own), Some(other)) = (merged.shape(from), merged.shape(to)) else { return };
        for member in &own.members {
            let Some(twin) = other.members.iter().find(|twin| is_twin(member, twin)) else { continue };
            let (Some(place), Some(other)) = (member.place.as_deref(), twin.place.as_deref()) else {
                continue;
            };
            match (record_of(merged, member), record_of(merged, twin)) {
                (None, Some(record)) => self.add(place, Twin::Record(record)),
                (None, None) => self.add(place, Twin::Place(other)),
                (Some(record), None) => self.entering.push((record, other)),
                (Some(_), Some(_)) => {}
            }
        }
    }

    fn add(&mut self, place: &'m str, twin: Twin<'m>) {
        let all = self.places.entry(place).or_default();
        if !all.contains(&twin) {
            all.push(twin);
        }
    }
}

fn is_twin(member: &ShapeMember, twin: &ShapeMember) -> bool {
    member.offset == twin.offset && member.place != twin.place
}

/// The record that a member points to.
fn record_of(merged: &Merged, member: &ShapeMember) -> Option<TypeNumber> {
    let name = member.ty.strip_suffix('*')?.trim_end();
    let name = name.strip_prefix("const ").unwrap_or(name);
    merged.known(name).filter(|record| !merged.is_bytes(*record))
}

/// Records that share a union.
fn alternatives(merged: &Merged) -> Vec<(TypeNumber, TypeNumber)> {
    let unions = merged.shapes().filter(|shape| shape.is_union);
    let mut pairs = Vec::new();
    for union in unions {
        let records: Vec<TypeNumber> = union
            .members
            .iter()
            .filter(|member| !member.is_array)
            .filter_map(|member| member.record)
            .collect();
        for (at, first) in records.iter().enumerate() {
            pairs.extend(records.iter().skip(at + 1).map(|second| (*first, *second)));
        }
    }
    pairs
}

/// Records that casts turn into others.
pub(crate) fn cast(units: &[&UnitFlows], merged: &Merged) -> BTreeSet<(TypeNumber, TypeNumber)> {
    let mut pairs = BTreeSet::new();
    for (unit, flows) in units.iter().enumerate() {
        for departure in &flows.departures {
            let Origin::Object(shape) = departure.origin else { continue };
            let own = merged.number(unit, shape);
            for (state, end, _) in &departure.outcome.ends {
                if let (End::Record(other), State::PLAIN) = (end, *state) {
                    pairs.insert((own, merged.number(unit, *other)));
                }
            }
        }
    }
    pairs.retain(|(own, other)| own != other);
    pairs
}

/// The record that is all that comes to a place where another one is taken from it.
pub(crate) fn only(entering: &FxHashSet<TypeNumber>, taken: TypeNumber) -> Option<(TypeNumber, TypeNumber)> {
    let mut all = entering.iter();
    let own = *all.next()?;
    (all.next().is_none() && own != taken).then_some((own, taken))
}
