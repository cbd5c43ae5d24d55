//! Constraints of a layout and of requests, and orders checked against them.

use super::families::number_families;
use super::lines::{self, CachelineConstraint};
use super::refusal::{ReorderRefusal, check_reorderable};
use super::requests::{PlacementRequests, SmallerConfiguration};
use super::units::{Unit, build_units, constrain_by_layout, constrain_by_requests, number_regions};
use crate::abi;
use crate::layout::Layout;

/// The units of a struct and what limits their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraints {
    /// In declared order.
    pub units: Vec<Unit>,
    /// Cacheline constraints, which depend on offsets: [`Constraints::check`] does not check them.
    pub line_constraints: Vec<CachelineConstraint>,
    /// Whether the struct keeps its size, which depends on offsets, too.
    pub keeps_size: bool,
    /// Configurations in which no order may take more bytes, which depends on offsets, too.
    pub configurations: Vec<SmallerConfiguration>,
}

/// Where an order breaks a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderViolation {
    /// It is no permutation of the units.
    NotAPermutation,
    /// The unit left its region.
    Region(usize),
    /// The unit passed another one whose text can't be moved either.
    ImmovableOrder(usize),
    /// The run of bit-fields follows another one.
    AdjacentBitRuns(usize),
}

/// Cuts a struct into units and finds their limits.
/// Fails if the members can't be reordered at all, or requests and members don't fit.
pub fn constraints(layout: &Layout, requests: &PlacementRequests) -> Result<Constraints, ReorderRefusal> {
    let found = constraints_for_new_member(layout, requests)?;
    let shares = |unit: &Unit| found.units.iter().filter(|other| other.region == unit.region).count() > 1;
    let can_move = found.units.iter().any(|unit| unit.constraint.is_none() && shares(unit));
    if can_move { Ok(found) } else { Err(ReorderRefusal::Fixed) }
}

/// Like [`constraints`], also where no member may move: a new one may still be inserted.
/// Fails if nobody can choose the order of members, or requests and members don't fit.
pub fn constraints_for_new_member(
    layout: &Layout,
    requests: &PlacementRequests,
) -> Result<Constraints, ReorderRefusal> {
    let inferred = abi::infer_abi(layout);
    check_reorderable(layout, &inferred, requests)?;
    let mut units = build_units(layout, requests);
    constrain_by_layout(layout, &inferred, requests, &mut units);
    constrain_by_requests(layout, requests, &mut units);
    number_regions(layout, requests, &mut units);
    number_families(layout, &requests.notes, &mut units);
    let line_constraints = lines::line_constraints(layout, requests, &units);
    Ok(Constraints {
        line_constraints,
        units,
        keeps_size: requests.size_is_kept,
        configurations: requests.configurations.clone(),
    })
}

impl Constraints {
    /// The declared order, changed as far as requests for the first and last position and for groups demand.
    pub fn initial_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.units.len()).collect();
        order.sort_by_key(|unit| self.units[*unit].region);
        let gathered = lines::gather(order.clone(), &self.units, &self.line_constraints);
        if self.check(&gathered).is_ok() { gathered } else { order }
    }

    /// The members' declared indices for an order of units.
    pub fn member_order(&self, order: &[usize]) -> Vec<usize> {
        let units = order.iter().filter_map(|unit| self.units.get(*unit));
        units.flat_map(|unit| unit.members.iter().copied()).collect()
    }

    /// Checks an order of units against everything that doesn't depend on offsets.
    /// Fails with the first violation.
    pub fn check(&self, order: &[usize]) -> Result<(), OrderViolation> {
        if !abi::is_permutation(order, self.units.len()) {
            return Err(OrderViolation::NotAPermutation);
        }
        let mut last_constrained: Option<usize> = None;
        for (position, &index) in order.iter().enumerate() {
            let unit = &self.units[index];
            let before = position.checked_sub(1).map(|place| &self.units[order[place]]);
            if before.is_some_and(|before| before.region > unit.region) {
                return Err(OrderViolation::Region(index));
            }
            if before.is_some_and(|before| before.is_bit_run && unit.is_bit_run) {
                return Err(OrderViolation::AdjacentBitRuns(index));
            }
            if unit.keeps_order() {
                if last_constrained.is_some_and(|held| held > index) {
                    return Err(OrderViolation::ImmovableOrder(index));
                }
                last_constrained = Some(index);
            }
        }
        Ok(())
    }
}
