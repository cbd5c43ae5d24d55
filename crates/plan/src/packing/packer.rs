//! Plans of the fewest moves that save a cacheline or a slab class.

use super::fewest::{self, Front, Packed};
use super::judge::Judge;
use super::smallest;
use crate::options::{Choice, PlanOptions, Request};
use crate::result::{
    Arrangement, Basis, Candidate, FORMAT, Mark, MovedMember, Outcome, Plan, SearchReport, SizeForecast,
    StructPlan, VERSION, held, refused, unchanged,
};
use crate::search::moved;
use fieldline_layout::constraint::{Constraints, constraints};
use fieldline_layout::{Layout, abi};

pub(super) fn of_structs(structs: Vec<StructPlan>, options: &PlanOptions) -> Plan {
    Plan {
        format: FORMAT.to_owned(),
        version: VERSION,
        basis: Basis::Layout,
        lines: options.lines.clone(),
        build_line: options.build_line,
        structs,
    }
}

/// Plans structs by their layout alone, each for itself.
pub fn pack(requests: &[Request<'_>], options: &PlanOptions) -> Plan {
    of_structs(requests.iter().map(|request| pack_struct(*request, options)).collect(), options)
}

/// Plans one struct by its layout alone.
pub fn pack_struct(request: Request<'_>, options: &PlanOptions) -> StructPlan {
    let layout = request.layout;
    let constraints = match constraints(layout, request.wishes) {
        Ok(constraints) => constraints,
        Err(refusal) => return refused(layout, request.wishes, &refusal),
    };
    let packer = Packer {
        layout,
        constraints: &constraints,
        judge: Judge::new(layout, &constraints, options),
        options,
    };
    let mut result = packer.run();
    result.held = held(&constraints);
    result
}

pub(super) struct Packer<'a> {
    pub(super) layout: &'a Layout,
    pub(super) constraints: &'a Constraints,
    pub(super) judge: Judge<'a>,
    pub(super) options: &'a PlanOptions,
}

impl Packer<'_> {
    fn run(&self) -> StructPlan {
        let bound = smallest::bound(&self.judge);
        let saves = |size: u64| self.judge.worth(size).saves(&self.judge.declared_worth());
        if !saves(bound) {
            return self.no_gain(&format!("no order takes less than {bound} bytes, which"));
        }
        let small = smallest::smallest(&self.judge);
        let most = self.options.max_moves.unwrap_or(usize::MAX);
        let front = fewest::front(&self.judge, &small, most);
        let chosen = match self.options.choice {
            Choice::Best => front.packed.len().checked_sub(1),
            Choice::Smallest => (!front.packed.is_empty()).then_some(0),
            Choice::Number(number) => number.checked_sub(1).filter(|index| *index < front.packed.len()),
        };
        match (chosen, self.options.choice) {
            (Some(chosen), _) => self.describe(&front, chosen, bound),
            (None, Choice::Number(number)) if !front.packed.is_empty() => {
                let reason = format!("there is no candidate {number}; there are {}", front.packed.len());
                unchanged(self.layout, Outcome::NoGain, &reason)
            }
            _ => {
                let most = self.options.max_moves.map(|most| format!(" that moves at most {most} members"));
                let most = most.unwrap_or_default();
                self.no_gain(&format!("the best order found{most} stays at {} bytes and", self.layout.size))
            }
        }
    }

    fn no_gain(&self, what: &str) -> StructPlan {
        let line = self.options.build_line;
        let reason = format!("{what} saves neither a cacheline of {line} bytes nor a slab class");
        unchanged(self.layout, Outcome::NoGain, &reason)
    }

    fn describe(&self, front: &Front, chosen: usize, bound: u64) -> StructPlan {
        let order = &front.packed[chosen].order;
        let members = self.constraints.members_in(order);
        let mut result = unchanged(self.layout, Outcome::NoGain, "the order found can't be laid out");
        let Some(placed) = abi::reorder(self.layout, &members) else { return result };
        result.candidates = self.candidates(front, chosen);
        result.sizes = self.sizes(order);
        let is_last = chosen + 1 == front.packed.len();
        let is_least = self.judge.worth(placed.size) == self.judge.worth(bound);
        result.search = Some(SearchReport {
            optimal: is_last && is_least && front.proven,
            chains: 1,
            ..SearchReport::default()
        });
        let units = moved(order).into_iter().map(|unit| &self.constraints.units[unit]);
        let indices = units.flat_map(|unit| &unit.members);
        result.moved = indices.filter_map(|index| self.moved_member(*index, &placed, &members)).collect();
        result.chosen = Arrangement::new(&placed, members.iter().copied());
        result.outcome = Outcome::Moved;
        result.reason = None;
        result
    }

    fn candidates(&self, front: &Front, chosen: usize) -> Vec<Candidate> {
        let last = front.packed.len() - 1;
        let candidate = |(index, packed): (usize, &Packed)| {
            let marks = [(0, Mark::Smallest), (last, Mark::Best), (chosen, Mark::Chosen)];
            Candidate {
                moved: packed.moved,
                marks: marks.iter().filter(|mark| mark.0 == index).map(|mark| mark.1).collect(),
                sizes: self.sizes(&packed.order),
                order: self.constraints.members_in(&packed.order),
                ..Candidate::default()
            }
        };
        front.packed.iter().enumerate().map(candidate).collect()
    }

    pub(super) fn sizes(&self, order: &[usize]) -> Vec<SizeForecast> {
        let sizes = self.judge.declared().iter().zip(self.judge.sizes(order));
        let builds = self.judge.builds.iter().zip(sizes);
        builds.map(|(build, (before, after))| SizeForecast::new(None, build.line, *before, after)).collect()
    }

    pub(super) fn moved_member(&self, index: usize, placed: &Layout, order: &[usize]) -> Option<MovedMember> {
        let place = order.iter().position(|other| *other == index)?;
        let member = self.layout.members.get(index)?;
        Some(MovedMember {
            index,
            name: member.name.clone(),
            from: member.offset(),
            to: placed.members.get(place)?.offset(),
            reason: self.reason(index, place.checked_sub(1).and_then(|before| order.get(before)).copied()),
            ..MovedMember::default()
        })
    }

    fn reason(&self, index: usize, before: Option<usize>) -> String {
        let Some(before) = before else { return "it comes first".to_owned() };
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
