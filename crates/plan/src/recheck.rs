//! An order that was planned before, held against requests of now.

use crate::options::PlanRequest;
use crate::result::StructPlan;
use fieldline_layout::constraint::{Constraints, UnitConstraintKind, constraints};

impl PlanRequest<'_> {
    /// Why a plan's order breaks the requests; `None` if it obeys them.
    pub fn broken_by(&self, plan: &StructPlan) -> Option<String> {
        let limits = match constraints(self.layout, self.requests) {
            Ok(limits) => limits,
            Err(refusal) => return Some(self.refuse(&refusal).1),
        };
        let order = plan.order();
        let Some(units) = unit_order(&limits, &order) else {
            return Some("members that stay together are parted".to_owned());
        };
        let broken = passed_unit(&limits, &units).or_else(|| self.shifted_unit(&limits, plan));
        if let Some(unit) = broken.and_then(|index| limits.units.get(index)) {
            let member = unit.members.first().and_then(|index| self.layout.members.get(*index));
            let reason = unit.constraint.as_ref().map_or("", |constraint| constraint.reason.as_str());
            return Some(format!("{}: {reason}", member.map_or("", |member| member.label())));
        }
        if limits.keeps_size && plan.chosen.size != self.layout.size {
            return Some("its size changes, which code takes for a number".to_owned());
        }
        let is_legal = limits.check(&units).is_ok();
        (!is_legal).then(|| "members leave the conditions or the region that they are declared in".to_owned())
    }

    /// A unit that must keep its offset and doesn't.
    fn shifted_unit(&self, limits: &Constraints, plan: &StructPlan) -> Option<usize> {
        limits.units.iter().position(|unit| {
            let (Some(offset), Some(first)) = (unit.kept_offset(), unit.members.first()) else {
                return false;
            };
            plan.chosen.members.iter().any(|member| member.index == *first && member.offset != offset)
        })
    }
}

/// The units in the order of their members; `None` if a unit's members don't follow one another.
fn unit_order(limits: &Constraints, order: &[usize]) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for (index, unit) in limits.units.iter().enumerate() {
        let first = unit.members.first()?;
        let at = order.iter().position(|member| member == first)?;
        if order.get(at..at + unit.members.len()) != Some(unit.members.as_slice()) {
            return None;
        }
        found.push((at, index));
    }
    found.sort_unstable();
    Some(found.into_iter().map(|(_, index)| index).collect())
}

/// The first unit that must keep its place and has others in front of it than declared, or that passed another one
/// with which it keeps its order.
fn passed_unit(limits: &Constraints, order: &[usize]) -> Option<usize> {
    let place = |index: usize| order.iter().position(|unit| *unit == index);
    (0..limits.units.len()).find(|index| {
        let kind = limits.units.get(*index).and_then(|unit| Some(unit.constraint.as_ref()?.kind));
        let own = place(*index);
        let passes = |other: usize| (other < *index) != (place(other) < own);
        let mut others = (0..limits.units.len()).filter(|other| other != index);
        match kind {
            Some(UnitConstraintKind::Fixed) => others.any(passes),
            Some(UnitConstraintKind::Order) => others
                .any(|other| limits.units.get(other).is_some_and(|unit| unit.keeps_order()) && passes(other)),
            Some(UnitConstraintKind::Offset(_)) | None => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::PlanRequest;
    use crate::result::{Arrangement, StructPlan};
    use fieldline_layout::abi;
    use fieldline_layout::constraint::{MemberRun, PinnedMember, PlacementRequests};
    use fieldline_layout::testing::numbered;

    fn broken(requests: &PlacementRequests, order: &[usize]) -> Option<String> {
        let layout = numbered("s", &[(8, 8); 4]);
        let chosen = abi::reorder(&layout, order).unwrap();
        let chosen = Arrangement { size: 32, ..Arrangement::new(&chosen, order.iter().copied()) };
        let plan = StructPlan { chosen, ..StructPlan::default() };
        PlanRequest { layout: &layout, requests }.broken_by(&plan)
    }

    fn pins(members: &[usize]) -> Vec<PinnedMember> {
        members
            .iter()
            .map(|member| PinnedMember { member: *member, reason: "why (a.c:1)".to_owned() })
            .collect()
    }

    #[test]
    fn what_an_order_breaks_is_named() {
        let fixed = PlacementRequests { fixed: pins(&[1]), ..PlacementRequests::default() };
        assert_eq!(broken(&fixed, &[0, 1, 3, 2]), None);
        let why = broken(&fixed, &[2, 1, 0, 3]).unwrap();
        assert!(why.ends_with(": why (a.c:1)"), "{why}");
        let kept = PlacementRequests { keep: pins(&[3]), ..PlacementRequests::default() };
        assert_eq!(broken(&kept, &[1, 0, 2, 3]), None);
        assert!(broken(&kept, &[3, 1, 0, 2]).unwrap().ends_with(": why (a.c:1)"));
        let ordered = PlacementRequests { ordered: pins(&[0, 2]), ..PlacementRequests::default() };
        assert_eq!(broken(&ordered, &[1, 0, 3, 2]), None);
        assert!(broken(&ordered, &[2, 1, 0, 3]).unwrap().ends_with(": why (a.c:1)"));
        let run = MemberRun { first: 0, last: 1, reason: "walked".to_owned() };
        let runs = PlacementRequests { runs: vec![run], ..PlacementRequests::default() };
        assert_eq!(broken(&runs, &[3, 0, 1, 2]), None);
        assert!(broken(&runs, &[0, 3, 1, 2]).is_some());
        let all = PlacementRequests { fixed: pins(&[0, 1, 2, 3]), ..PlacementRequests::default() };
        assert!(broken(&all, &[0, 1, 2, 3]).unwrap().contains("none of its members may move"));
    }
}
