//! Which types hold others by value.

use super::index::Btf;
use super::kind::{BtfKind, BtfTypeId};
use super::record::Record;

/// How deep types may hold each other; deeper is a cycle.
const MAX_DEPTH: u32 = 64;

/// What is known of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Unasked,
    No,
    Yes,
}

impl Btf<'_> {
    /// The structs and unions, those of the base included, that are among some types or hold one of them by value: as
    /// a member, in an array, in what they hold. In the order of their ids. Looks at each type once and copies none.
    pub fn holders(&self, of: &[BtfTypeId]) -> Vec<BtfTypeId> {
        let last = self.last_id().0;
        let mut known = vec![Holds::Unasked; last as usize + 1];
        for id in of {
            if let Some(known) = known.get_mut(id.0 as usize) {
                *known = Holds::Yes;
            }
        }
        let aggregates =
            (1..=last).map(BtfTypeId).filter(|id| self.kind(*id).is_some_and(BtfKind::is_aggregate));
        aggregates.filter(|id| self.is_holder(id.0, &mut known, MAX_DEPTH)).collect()
    }

    fn is_holder(&self, id: u32, known: &mut [Holds], depth: u32) -> bool {
        match known.get_mut(id as usize) {
            None => return false,
            // Until it is told, it holds nothing: corrupt input may let a type hold itself.
            Some(known @ Holds::Unasked) => *known = Holds::No,
            Some(known) => return *known == Holds::Yes,
        }
        let (Some(record), Some(depth)) = (self.record(BtfTypeId(id)), depth.checked_sub(1)) else {
            return false;
        };
        let holds = held(&record).any(|part| self.is_holder(part, known, depth));
        if let (true, Some(known)) = (holds, known.get_mut(id as usize)) {
            *known = Holds::Yes;
        }
        holds
    }
}

/// The types that one is made of.
fn held(record: &Record<'_>) -> impl Iterator<Item = u32> {
    let kind = record.kind();
    let one = match kind {
        BtfKind::Array => Some(record.array().0),
        BtfKind::Typedef => Some(record.target()),
        _ => kind.is_modifier().then(|| record.target()),
    };
    let members = kind.is_aggregate().then(|| record.members().map(|member| member.ty));
    one.into_iter().chain(members.into_iter().flatten())
}
