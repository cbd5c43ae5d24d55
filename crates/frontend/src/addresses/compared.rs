//! Addresses that are compared: of members with one another, and with those of their objects.

use super::facts::{CodePlace, Comparison, End, ShapeMember, State, UnitFlows};
use super::judge::Address;
use super::merged::{Merged, TypeNumber};
use super::names;
use crate::demand::{CodeUse, Demand};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Most members whose addresses are told apart at one place: what takes more takes any.
const MOST_MEMBERS: usize = 64;

/// The addresses that come to one comparison, by the type they are of: `None` is the object's own.
type Arrived = FxHashMap<TypeNumber, BTreeSet<Option<u64>>>;

/// Addresses that come to comparisons.
#[derive(Debug, Default)]
pub(crate) struct Comparisons<'f> {
    by_place: FxHashMap<(&'f CodePlace, Comparison), Arrived>,
}

impl<'f> Comparisons<'f> {
    /// An address that is compared at a place.
    pub(crate) fn add(
        &mut self,
        merged: &Merged,
        address: Address,
        state: State,
        end: &End,
        at: &'f CodePlace,
    ) {
        let End::Compared { by } = end else { return };
        let is_whole = state.level == 0 && state.moved == Some(0) && !state.is_number;
        let (ty, member) = match address {
            Address::Object(ty) => (ty, state.member),
            Address::Member { holder, offset, .. } => (holder, Some(offset)),
        };
        let is_array = |offset| merged.member(ty, offset).is_some_and(|member| member.is_array);
        if !is_whole || member.is_some_and(is_array) || merged.subjects(ty).next().is_none() {
            return;
        }
        let arrived = self.by_place.entry((at, *by)).or_default().entry(ty).or_default();
        if arrived.len() < MOST_MEMBERS {
            arrived.insert(member);
        }
    }

    /// Adds addresses that were followed elsewhere.
    pub(crate) fn add_all(&mut self, other: Self) {
        for (place, arrived) in other.by_place {
            let own = self.by_place.entry(place).or_default();
            for (ty, members) in arrived {
                let own = own.entry(ty).or_default();
                let room = MOST_MEMBERS.saturating_sub(own.len());
                own.extend(members.into_iter().take(room));
            }
        }
    }

    /// Demands of the comparisons on the order.
    pub(crate) fn judge(&self, merged: &Merged, found: &mut Vec<CodeUse>) {
        for ((at, by), arrived) in &self.by_place {
            for (ty, members) in arrived {
                // A distance from something else is none inside an object.
                let other = match by {
                    Comparison::To => self.by_place.get(&(*at, Comparison::From)).and_then(|own| own.get(ty)),
                    Comparison::From => None,
                    Comparison::Order | Comparison::Same | Comparison::Behind => Some(members),
                };
                let both: BTreeSet<Option<u64>> =
                    other.into_iter().flat_map(|other| members.union(other)).copied().collect();
                if both.len() > 1 {
                    demand(merged, (at, *by), (*ty, &both), found);
                }
            }
        }
    }
}

/// Demands of addresses of a type that come to one comparison.
fn demand(
    merged: &Merged,
    (at, by): (&CodePlace, Comparison),
    (ty, members): (TypeNumber, &BTreeSet<Option<u64>>),
    found: &mut Vec<CodeUse>,
) {
    for (subject, front, inner) in merged.subjects(ty) {
        let members: Vec<Option<u64>> =
            members.iter().map(|member| member.and_then(|offset| offset.checked_sub(front))).collect();
        let compared = Compared { merged, inner, front, members: &members };
        let demands = match by {
            Comparison::Order => compared.order(),
            Comparison::To | Comparison::From | Comparison::Behind => compared.distances(),
            Comparison::Same => compared.begin(),
        };
        found.extend(demands.into_iter().map(|(demand, why)| at.used(subject, demand, why.to_owned())));
    }
}

/// Addresses of one record that come to one comparison.
struct Compared<'c> {
    merged: &'c Merged,
    inner: TypeNumber,
    /// Bytes in front of the record in what the addresses are of.
    front: u64,
    /// Its members' places; `None` is its own, or in front of it.
    members: &'c [Option<u64>],
}

impl Compared<'_> {
    fn offsets(&self) -> impl Iterator<Item = u64> + '_ {
        self.members.iter().flatten().copied()
    }

    fn name(&self, offset: u64) -> Option<String> {
        self.merged.member(self.inner, offset).map(|own| own.name.clone())
    }

    /// Which is the lower one.
    fn order(&self) -> Vec<(Demand, &'static str)> {
        let names: Vec<String> = self.offsets().filter_map(|offset| self.name(offset)).collect();
        let pairs = names.iter().zip(names.iter().skip(1)).filter(|(first, then)| first != then);
        let demand = |(first, then): (&String, &String)| {
            let demand = Demand::Order { first: first.clone(), then: then.clone() };
            (demand, "addresses of its members are compared")
        };
        pairs.map(demand).collect()
    }

    /// How many bytes lie between them: those have to stay, and what is in them.
    fn distances(&self) -> Vec<(Demand, &'static str)> {
        let (Some(first), Some(last)) = (self.offsets().min(), self.offsets().max()) else {
            return Vec::new();
        };
        let members = self.merged.shape(self.inner).into_iter().flat_map(|shape| &shape.members);
        let between = members.filter(|member| (first..=last).contains(&member.offset));
        let demand = |member: &ShapeMember| {
            (Demand::Offset { member: member.name.clone() }, "distances between addresses in it are counted")
        };
        between.map(demand).collect()
    }

    /// Whether a member's address is the object's.
    fn begin(&self) -> Vec<(Demand, &'static str)> {
        let first = self.merged.shape(self.inner).and_then(|shape| shape.members.first());
        let Some(first) = first.filter(|_| self.members.contains(&None) && self.front == 0) else {
            return Vec::new();
        };
        let demand = |offset: u64| {
            let then = self.name(offset)?;
            let demand = match offset {
                0 => Demand::First { count: 1 },
                _ if then == first.name => return None,
                _ => Demand::Order { first: first.name.clone(), then },
            };
            Some((demand, "its address is compared with that of a member"))
        };
        self.offsets().filter_map(demand).collect()
    }
}

/// Members that are records, and whose addresses may come where two of such records are asked which is the lower one: by
/// type, whatever memory they are kept in on the way.
pub(crate) fn ordered(units: &[&UnitFlows], merged: &Merged, found: &mut Vec<CodeUse>) {
    let mut asked: BTreeMap<(TypeNumber, bool), &CodePlace> = BTreeMap::new();
    for (unit, flows) in units.iter().enumerate() {
        for ((shape, is_distance), at) in &flows.ordered {
            asked.entry((merged.number(unit, *shape), *is_distance)).or_insert(at);
        }
    }
    let all =
        units.iter().enumerate().flat_map(|(unit, flows)| flows.taken.iter().map(move |own| (unit, own)));
    let mut taken: BTreeMap<(TypeNumber, TypeNumber), BTreeSet<u64>> = BTreeMap::new();
    for (unit, own) in all {
        let (holder, ty) = (merged.number(unit, own.holder), merged.number(unit, own.ty));
        taken.entry((holder, ty)).or_default().insert(own.offset);
    }
    for ((holder, ty), offsets) in taken.iter().filter(|(_, offsets)| offsets.len() > 1) {
        let own = merged.subjects(*holder).find(|(_, front, inner)| *front == 0 && inner == holder);
        let Some((subject, ..)) = own else { continue };
        let members: Vec<Option<u64>> = offsets.iter().copied().map(Some).collect();
        let compared = Compared { merged, inner: *holder, front: 0, members: &members };
        for is_distance in [false, true] {
            let Some(at) = asked.get(&(*ty, is_distance)) else { continue };
            let demands = if is_distance { compared.distances() } else { compared.order() };
            found.extend(demands.into_iter().map(|(demand, why)| at.used(subject, demand, why.to_owned())));
        }
    }
}

/// Functions that are handed addresses of several members of one record: they may ask which is the lower one.
pub(crate) fn comparing(units: &[&UnitFlows], merged: &Merged) -> BTreeSet<String> {
    let mut known: FxHashMap<(&str, TypeNumber), (&str, u64)> = FxHashMap::default();
    let mut found = BTreeSet::new();
    for (unit, own) in
        units.iter().enumerate().flat_map(|(unit, flows)| flows.lent.iter().map(move |own| (unit, own)))
    {
        let ty = merged.number(unit, own.holder);
        let Some(function) = names::function_of(&own.place) else { continue };
        let (place, offset) = *known.entry((function, ty)).or_insert((&own.place, own.offset));
        if place != own.place && offset != own.offset {
            found.insert(function.to_owned());
        }
    }
    found
}
