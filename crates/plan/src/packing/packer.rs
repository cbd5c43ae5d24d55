//! Plans of the fewest moves that save a cacheline or a slab class.

use super::fewest::{self, PackedOrder, PackingFront};
use super::judge::SizeJudge;
use super::smallest;
use crate::decision::Decision;
use crate::options::{PlanOptions, PlanRequest};
use crate::result::{Basis, Candidate, Mark, MovedMember, Plan, SearchReport, StructPlan};
use fieldline_layout::Layout;
use fieldline_layout::constraint::Constraints;

/// Plans structs by their layout alone, each for itself.
pub fn pack(requests: &[PlanRequest<'_>], options: &PlanOptions) -> Plan {
    options.plan(Basis::Layout, requests.iter().map(|request| pack_struct(*request, options)).collect())
}

/// Plans one struct by its layout alone.
pub fn pack_struct(request: PlanRequest<'_>, options: &PlanOptions) -> StructPlan {
    let layout = request.layout;
    request.plan(|constraints| {
        let judge = SizeJudge::new(layout, constraints, options);
        Packer { layout, constraints, judge, options }.run()
    })
}

struct Packer<'a> {
    layout: &'a Layout,
    constraints: &'a Constraints,
    judge: SizeJudge<'a>,
    options: &'a PlanOptions,
}

impl Packer<'_> {
    fn run(&self) -> StructPlan {
        let bound = smallest::bound(&self.judge);
        if !self.judge.is_gain(self.judge.size_cost(bound)) {
            return self.no_gain(&format!("no order takes less than {bound} bytes, which"));
        }
        let small = smallest::smallest(&self.judge);
        let most = self.options.max_moves.unwrap_or(usize::MAX);
        let front = fewest::pareto_front(&self.judge, &small, most);
        let (count, choice) = (front.orders.len(), self.options.choice);
        match (choice.index(count, (count > 0).then_some(0), None), choice.describe_missing(count)) {
            (Some(chosen), _) => self.describe(&front, chosen, bound),
            (None, Some(missing)) => Decision::Keep(missing).plan(self.layout),
            (None, None) => {
                let most = self.options.max_moves.map(|most| format!(" that moves at most {most} members"));
                let most = most.unwrap_or_default();
                self.no_gain(&format!("the best order found{most} stays at {} bytes and", self.layout.size))
            }
        }
    }

    fn no_gain(&self, what: &str) -> StructPlan {
        let line = self.options.build_line;
        let reason = format!("{what} saves neither a cacheline of {line} bytes nor a slab class");
        Decision::Keep(reason).plan(self.layout)
    }

    fn describe(&self, front: &PackingFront, chosen: usize, bound: u64) -> StructPlan {
        let order = &front.orders[chosen].order;
        let explain = |moved: MovedMember, _: &Layout, order: &[usize]| MovedMember {
            reason: self.reason(moved.index, order),
            ..moved
        };
        let plan = Decision::adopt(self.layout, self.constraints, order, None, explain).plan(self.layout);
        let is_last = chosen + 1 == front.orders.len();
        let is_least = self.judge.size_cost(plan.chosen.size) == self.judge.size_cost(bound);
        let optimal = is_last && is_least && front.proven;
        StructPlan {
            candidates: self.candidates(front, chosen),
            sizes: self.judge.forecasts(order),
            search: Some(SearchReport { optimal, chains: 1, ..SearchReport::default() }),
            ..plan
        }
    }

    fn candidates(&self, front: &PackingFront, chosen: usize) -> Vec<Candidate> {
        let last = front.orders.len() - 1;
        let candidate = |(index, packed): (usize, &PackedOrder)| {
            let marks = [(0, Mark::Smallest), (last, Mark::Best), (chosen, Mark::Chosen)];
            Candidate {
                moved: packed.moved,
                marks: marks.iter().filter(|mark| mark.0 == index).map(|mark| mark.1).collect(),
                sizes: self.judge.forecasts(&packed.order),
                order: self.constraints.member_order(&packed.order),
                ..Candidate::default()
            }
        };
        front.orders.iter().enumerate().map(candidate).collect()
    }

    fn reason(&self, index: usize, order: &[usize]) -> String {
        let place = order.iter().position(|other| *other == index).unwrap_or(0);
        let Some(before) = place.checked_sub(1).map(|before| order[before]) else {
            return "it comes first".to_owned();
        };
        let label = self.layout.members[before].label();
        match (gap_behind(self.layout, before), gap_behind(self.layout, index)) {
            (hole, _) if hole > 0 => format!("it goes into the hole of {hole} bytes behind {label}"),
            (_, hole) if hole > 0 => {
                format!("it goes behind {label}, and the hole of {hole} bytes behind it is closed")
            }
            _ => format!("it goes behind {label}"),
        }
    }
}

/// Whole bytes without a member between a member and the next, or the struct's end.
fn gap_behind(layout: &Layout, index: usize) -> u64 {
    let Some(member) = layout.members.get(index) else { return 0 };
    let next = layout.members.get(index + 1).map_or(layout.size.saturating_mul(8), |next| next.bit_offset);
    next.saturating_sub(member.bit_end()) / 8
}
