//! Random orders that keep every constraint: what the road from plan to patch to object is tried with.
//!
//! Half of the structs may become larger, by a cacheline at most, unless code asserts something about their size: padding
//! then lies where no plan would leave any.

use super::judge::Judge;
use super::packer::{Packer, of_structs};
use crate::options::{PlanOptions, Request};
use crate::random::Random;
use crate::result::{Arrangement, Outcome, Plan, StructPlan, held, refused, unchanged};
use crate::search::moved;
use fieldline_layout::abi;
use fieldline_layout::constraint::constraints;

/// Changes tried for each unit of a struct.
const STEPS: usize = 16;

/// Gives each struct a random order. Equal seeds give equal orders; a struct's order doesn't depend on the others.
pub fn shuffle(requests: &[Request<'_>], options: &PlanOptions, seed: u64) -> Plan {
    of_structs(requests.iter().map(|request| shuffle_struct(*request, options, seed)).collect(), options)
}

fn shuffle_struct(request: Request<'_>, options: &PlanOptions, seed: u64) -> StructPlan {
    let layout = request.layout;
    let constraints = match constraints(layout, request.wishes) {
        Ok(constraints) => constraints,
        Err(refusal) => return refused(layout, request.wishes, &refusal),
    };
    let judge = Judge::new(layout, &constraints, options);
    let mut random = Random::new(seed ^ layout.fingerprint());
    let may_grow = random.below(2) == 0 && !request.wishes.is_sized;
    let order = walk(&judge, u64::from(may_grow), &mut random);
    let mut result = unchanged(layout, Outcome::NoGain, "no other order keeps every constraint");
    result.held = held(&constraints);
    let members = constraints.members_in(&order);
    let Some(placed) = abi::reorder(layout, &members).filter(|_| !moved(&order).is_empty()) else {
        return result;
    };
    let packer = Packer { layout, constraints: &constraints, judge, options };
    let units = moved(&order).into_iter().map(|unit| &constraints.units[unit]);
    let indices = units.flat_map(|unit| &unit.members);
    result.moved = indices
        .filter_map(|index| packer.moved_member(*index, &placed, &members))
        .map(|mut member| {
            member.reason = "it goes where chance put it".to_owned();
            member
        })
        .collect();
    result.sizes = packer.sizes(&order);
    result.chosen = Arrangement::new(&placed, members.iter().copied());
    result.outcome = Outcome::Moved;
    result.reason = None;
    result
}

/// Exchanges and inserts units at random, keeping what is accepted with so many lines more.
fn walk(judge: &Judge<'_>, lines: u64, random: &mut Random) -> Vec<usize> {
    let mut order = judge.constraints.initial_order();
    if !judge.accepts(&order) {
        order = (0..order.len()).collect();
    }
    for _ in 0..STEPS * order.len() {
        let (from, to) = (random.below(order.len()), random.below(order.len()));
        let mut other = order.clone();
        if random.below(2) == 0 {
            other.swap(from, to);
        } else {
            let unit = other.remove(from);
            other.insert(to, unit);
        }
        if judge.accepts_with(&other, lines) {
            order = other;
        }
    }
    order
}
