//! Numbers that parameters and members are given, over all units: whether they are offsets that the compiler takes.

use super::facts::{Given, OffsetTable, ShapeMember, State, UnitFlows};
use super::merged::{Merged, TypeNumber};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Most numbers that an address is moved by at one place: more are a walk.
const MOST_NUMBERS: usize = 12;

/// The values that each place is given.
#[derive(Debug, Default)]
pub(crate) struct Numbers<'f> {
    given: FxHashMap<&'f str, Vec<&'f Given>>,
}

impl<'f> Numbers<'f> {
    pub(crate) fn new(units: &[&'f UnitFlows]) -> Self {
        let mut numbers = Self::default();
        for (place, given) in units.iter().flat_map(|flows| &flows.numbers) {
            let all = numbers.given.entry(place).or_default();
            if !all.contains(&given) {
                all.push(given);
            }
        }
        numbers
    }

    /// An address behind a sum with values that a place is given. Offsets that the compiler takes lead to members wherever
    /// these stand, and a zero beside them stands for none.
    pub(crate) fn moved(state: State, all: &[&Given], scale: i64) -> Vec<State> {
        // It is given no number but addresses.
        if all.is_empty() {
            return vec![state.anywhere()];
        }
        let is_offset = |given: &&Given| matches!(given, Given::Offset { .. } | Given::OffsetSum);
        let has_offsets = all.iter().any(is_offset);
        let mut states: Vec<State> = Vec::new();
        for given in all {
            let next = match given {
                Given::Offset { .. } | Given::OffsetSum | Given::From(_) => continue,
                Given::Number(0) | Given::Size(0) if has_offsets => continue,
                Given::Number(number) | Given::Size(number) => state.by(number.saturating_mul(scale)),
                Given::Unknown(least) if scale > 0 => {
                    let least = least.saturating_mul(scale);
                    State { least: state.least.and_then(|own| own.checked_add(least)), ..state.forward() }
                }
                Given::Unknown(_) => state.anywhere(),
            };
            if !states.contains(&next) {
                states.push(next);
            }
        }
        match states.len() > MOST_NUMBERS {
            true => vec![state.forward()],
            false => states,
        }
    }

    /// An object's address behind a sum with offsets of its members that a place is given: each of the members.
    pub(crate) fn members(merged: &Merged, ty: TypeNumber, all: &[&Given]) -> Vec<State> {
        let Some(shape) = merged.shape(ty).filter(|shape| !shape.place.is_empty()) else { return Vec::new() };
        let offsets = all.iter().filter_map(|given| match given {
            Given::Offset { record, bytes } if *record == shape.place => Some(*bytes),
            _ => None,
        });
        let offsets: BTreeSet<u64> = offsets.collect();
        let members = || offsets.iter().filter_map(|offset| merged.member(ty, *offset));
        let is_several = |member: &&ShapeMember| member.is_array || member.record.is_some();
        let table = OffsetTable {
            largest: members().map(|member| member.size).max().unwrap_or(0),
            largest_of_several: members().filter(is_several).map(|member| member.size).max().unwrap_or(0),
        };
        let state = |offset: &u64| State { member: Some(*offset), table: Some(table), ..State::PLAIN };
        offsets.iter().map(state).collect()
    }

    /// Bytes of the steps that a place is given the number of, or the number of their bits, times a number.
    pub(crate) fn strides(
        &self,
        (place, scale, is_shift): (&str, u64, bool),
    ) -> impl Iterator<Item = u64> + use<'f> {
        let number = move |given: &'f Given| match given {
            Given::Number(bits) if is_shift => {
                1_u64.checked_shl(u32::try_from(*bits).ok()?)?.checked_mul(scale)
            }
            Given::Number(number) => u64::try_from(*number).ok()?.checked_mul(scale),
            _ => None,
        };
        self.all(place).into_iter().filter_map(number)
    }

    /// The values that a place is given here, and by those that hand on what they are given; each once.
    pub(crate) fn all(&self, place: &str) -> Vec<&'f Given> {
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        let (mut open, mut all) = (vec![place], Vec::new());
        while let Some(place) = open.pop() {
            for given in self.given.get(place).into_iter().flatten() {
                match given {
                    Given::From(next) if seen.insert(next) => open.push(next),
                    Given::From(_) => {}
                    given if all.contains(given) => {}
                    given => all.push(*given),
                }
            }
        }
        all
    }
}
