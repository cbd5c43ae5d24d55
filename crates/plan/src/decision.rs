//! The decision about a struct, and the plan that follows from it.

use crate::result::{Arrangement, MovedMember, StructPlan, Verdict};
use crate::search::moved_units;
use fieldline_layout::constraint::Constraints;
use fieldline_layout::{Layout, abi};

/// A decision about the order of a struct's members.
pub(crate) enum Decision {
    /// They get another one; with what that costs, if anything.
    Adopt(AdoptedOrder, Option<String>),
    /// It stays, because no other is worth a change.
    Keep(String),
    /// It stays, because no other can be given.
    Refuse(String),
    /// It stays until there are more samples.
    Defer(String),
}

/// A layout with members in another order, and those that move.
pub(crate) struct AdoptedOrder {
    chosen: Arrangement,
    moved: Vec<MovedMember>,
}

impl Decision {
    /// Adopts an order of units, with what it costs, if anything. `explain` completes each member that moves,
    /// by the new layout and the declared indices of its members.
    pub(crate) fn adopt(
        layout: &Layout,
        constraints: &Constraints,
        order: &[usize],
        price: Option<String>,
        explain: impl Fn(MovedMember, &Layout, &[usize]) -> MovedMember,
    ) -> Self {
        let members = constraints.member_order(order);
        let Some(chosen) = abi::reorder(layout, &members) else {
            return Self::Keep("the order found can't be laid out".to_owned());
        };
        let units = moved_units(order).into_iter().map(|unit| &constraints.units[unit]);
        let moved = units.flat_map(|unit| &unit.members).filter_map(|index| {
            let member = layout.members.get(*index)?;
            let place = members.iter().position(|other| other == index)?;
            let (from, to) = (member.offset(), chosen.members.get(place)?.offset());
            let name = member.name.clone();
            let moved = MovedMember { index: *index, name, from, to, ..MovedMember::default() };
            Some(explain(moved, &chosen, &members))
        });
        let moved = moved.collect();
        Self::Adopt(AdoptedOrder { chosen: Arrangement::new(&chosen, members), moved }, price)
    }

    /// The plan of the struct with this layout.
    pub(crate) fn plan(self, layout: &Layout) -> StructPlan {
        let declared = Arrangement::new(layout, 0..layout.members.len());
        let (verdict, adopted) = match self {
            Self::Adopt(adopted, reason) => (Verdict::Moved { reason }, Some(adopted)),
            Self::Keep(reason) => (Verdict::NoGain { reason }, None),
            Self::Refuse(reason) => (Verdict::Refused { reason }, None),
            Self::Defer(reason) => (Verdict::TooFewSamples { reason }, None),
        };
        let unchanged = || AdoptedOrder { chosen: declared.clone(), moved: Vec::new() };
        let AdoptedOrder { chosen, moved } = adopted.unwrap_or_else(unchanged);
        StructPlan {
            name: layout.name.clone(),
            fingerprint: layout.fingerprint(),
            file: layout.file.clone(),
            line: layout.line,
            verdict,
            declared,
            chosen,
            moved,
            ..StructPlan::default()
        }
    }
}
