//! Random orders that keep every constraint: test input for plan, patch and build.
//!
//! Half of the structs may become larger, by a cacheline at most, unless code asserts something about their
//! size: padding then lies where no plan would leave any.

use super::judge::SizeJudge;
use crate::decision::Decision;
use crate::options::{PlanOptions, PlanRequest};
use crate::random::Random;
use crate::result::{Basis, MovedMember, Plan, StructPlan};
use crate::search::moved_units;
use fieldline_layout::Layout;

/// Changes tried for each unit of a struct.
const CHANGES_PER_UNIT: usize = 16;

/// Gives each struct a random order. Equal seeds give equal orders; a struct's order doesn't depend on the
/// others.
pub fn shuffle(requests: &[PlanRequest<'_>], options: &PlanOptions, seed: u64) -> Plan {
    let structs = requests.iter().map(|request| shuffle_struct(*request, options, seed));
    options.plan(Basis::Layout, structs.collect())
}

fn shuffle_struct(request: PlanRequest<'_>, options: &PlanOptions, seed: u64) -> StructPlan {
    let layout = request.layout;
    request.plan(|constraints| {
        let judge = SizeJudge::new(layout, constraints, options);
        let mut random = Random::new(seed ^ layout.fingerprint());
        let may_grow = random.below(2) == 0 && !request.requests.size_is_asserted;
        let order = random_walk(&judge, u64::from(may_grow), &mut random);
        if moved_units(&order).is_empty() {
            return Decision::Keep("no other order was found that keeps every constraint".to_owned())
                .plan(layout);
        }
        let reason = "its place is drawn at random";
        let explain =
            |moved: MovedMember, _: &Layout, _: &[usize]| MovedMember { reason: reason.to_owned(), ..moved };
        let plan = Decision::adopt(layout, constraints, &order, None, explain).plan(layout);
        StructPlan { sizes: judge.forecasts(&order), ..plan }
    })
}

/// Exchanges and inserts units at random, keeping what is accepted with so many lines more. A walk that comes back to the
/// declared order ends with the last other one.
fn random_walk(judge: &SizeJudge<'_>, lines: u64, random: &mut Random) -> Vec<usize> {
    let mut order = judge.constraints.initial_order();
    if !judge.accepts(&order, 0) {
        order = (0..order.len()).collect();
    }
    let mut last_other = None;
    for _ in 0..CHANGES_PER_UNIT * order.len() {
        let (from, to) = (random.below(order.len()), random.below(order.len()));
        let mut other = order.clone();
        if random.below(2) == 0 {
            other.swap(from, to);
        } else {
            let unit = other.remove(from);
            other.insert(to, unit);
        }
        if judge.accepts(&other, lines) {
            order = other;
            if !order.is_sorted() {
                last_other = Some(order.clone());
            }
        }
    }
    last_other.filter(|_| order.is_sorted()).unwrap_or(order)
}
