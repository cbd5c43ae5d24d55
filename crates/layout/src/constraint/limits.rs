//! A layout and wishes to constraints, and orders checked against them.

use super::lines::{self, LinePin};
use super::refusal::{ReorderRefusal, refuse};
use super::units::{Unit, hold_by_layout, hold_by_wish, number_regions, units_of};
use super::wishes::Wishes;
use crate::abi;
use crate::layout::Layout;

/// The units of a struct and what limits their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraints {
    /// In declared order.
    pub units: Vec<Unit>,
    /// What is asked of cachelines, which only offsets tell: [`Constraints::check`] does not look at it.
    pub lines: Vec<LinePin>,
}

/// Where an order breaks a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// It is no permutation of the units.
    NotAPermutation,
    /// The unit left its region.
    Region(usize),
    /// The unit passed another one whose text can't be moved either.
    HeldOrder(usize),
    /// The run of bit-fields follows another one.
    AdjacentBitRuns(usize),
}

/// Cuts a struct into units and finds their limits.
/// Fails if the members can't be reordered at all, or wishes and members don't fit.
pub fn constraints(layout: &Layout, wishes: &Wishes) -> Result<Constraints, ReorderRefusal> {
    let found = limits(layout, wishes)?;
    let shares = |unit: &Unit| found.units.iter().filter(|other| other.region == unit.region).count() > 1;
    let can_move = found.units.iter().any(|unit| unit.hold.is_none() && shares(unit));
    if can_move { Ok(found) } else { Err(ReorderRefusal::Fixed) }
}

/// Like [`constraints`], also where no member may move: a new one may still come between them.
/// Fails if the order of members is nobody's to choose, or wishes and members don't fit.
pub fn limits(layout: &Layout, wishes: &Wishes) -> Result<Constraints, ReorderRefusal> {
    let slots = abi::slots_of(layout);
    refuse(layout, &slots, wishes)?;
    let mut units = units_of(layout, &wishes.notes);
    hold_by_layout(layout, &slots, wishes, &mut units);
    hold_by_wish(layout, wishes, &mut units);
    number_regions(layout, wishes, &mut units);
    Ok(Constraints { lines: lines::pins(layout, wishes, &units), units })
}

impl Constraints {
    /// The declared order, changed as far as wishes for the first and last place and for groups demand.
    pub fn initial_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.units.len()).collect();
        order.sort_by_key(|unit| self.units[*unit].region);
        let gathered = lines::gathered(order.clone(), &self.units, &self.lines);
        if self.check(&gathered).is_ok() { gathered } else { order }
    }

    /// The members' declared indices for an order of units.
    pub fn members_in(&self, order: &[usize]) -> Vec<usize> {
        let units = order.iter().filter_map(|unit| self.units.get(*unit));
        units.flat_map(|unit| unit.members.iter().copied()).collect()
    }

    /// Checks an order of units against everything that doesn't depend on offsets.
    /// Fails with the first violation.
    pub fn check(&self, order: &[usize]) -> Result<(), Violation> {
        if !abi::is_permutation(order, self.units.len()) {
            return Err(Violation::NotAPermutation);
        }
        let mut held: Option<usize> = None;
        for (place, &index) in order.iter().enumerate() {
            let unit = &self.units[index];
            let before = place.checked_sub(1).map(|place| &self.units[order[place]]);
            if before.is_some_and(|before| before.region > unit.region) {
                return Err(Violation::Region(index));
            }
            if before.is_some_and(|before| before.is_bit_run && unit.is_bit_run) {
                return Err(Violation::AdjacentBitRuns(index));
            }
            if unit.keeps_order() {
                if held.is_some_and(|held| held > index) {
                    return Err(Violation::HeldOrder(index));
                }
                held = Some(index);
            }
        }
        Ok(())
    }
}
