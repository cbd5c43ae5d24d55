//! Records whose pointers lead behind them: to a longer kind that begins alike, or to what stands there.
//!
//! A member of such a record is where its holder's next members are reached from, once its address is handed on.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::types::{Type, lossy};
use crate::meaning::value::{Base, Sum, Term};

impl<'t> Evaluator<'_, '_, 't> {
    /// Whether a record may have more bytes than another.
    pub(in crate::meaning) fn is_longer(&self, record: &[u8], wanted: &[u8]) -> bool {
        let world = self.world();
        match (world.extent(record), world.extent(wanted)) {
            (Some(own), Some(other)) => other.size > own.size,
            _ => {
                let is_known = |name: &[u8]| world.records.contains_key(name);
                is_known(record) && is_known(wanted) && !world.begins_with(record, wanted)
            }
        }
    }

    /// A pointer to a record is taken for one to another.
    pub(in crate::meaning) fn longer_kind(&mut self, record: &'t [u8], wanted: &'t [u8]) {
        if self.world().is_complete && self.is_longer(record, wanted) {
            self.keep(Slot::Reached(record), &[Sum::object(wanted)]);
        }
    }

    /// An address behind a record is taken for one to something else.
    pub(in crate::meaning) fn taken_behind(&mut self, sum: &Sum<'t>, to: &Type<'t>) {
        let is_taken = matches!(to, Type::Record(_) | Type::Number(..) | Type::Pointer(_));
        let record = match (sum.base, sum.terms.as_slice()) {
            (Some(Base::Behind(record)), []) => record,
            (Some(Base::Object(record)), terms) if terms.contains(&(true, Term::Size(record))) => record,
            _ => return,
        };
        if !is_taken || *to == Type::Record(record) {
            return;
        }
        if self.subject(record).is_some() && self.world().has_derived(record) {
            let what = "members of what is derived from it are found behind it".to_owned();
            self.tell_whole(record, what);
        }
        if !sum.subtracts() && self.world().is_complete {
            let behind = Sum { base: Some(Base::Behind(record)), terms: Vec::new() };
            self.keep(Slot::Reached(record), &[behind]);
        }
    }

    /// The address of a member is handed on as one of its record: what is reached behind that are the members that
    /// follow.
    pub(in crate::meaning) fn handed_as_part(
        &mut self,
        holder: &'t [u8],
        member: &'t [u8],
        record: &'t [u8],
    ) {
        let reached = self.kept(Slot::Reached(record));
        for sum in reached {
            match sum.base {
                Some(Base::Behind(_)) => {
                    let what = format!("what stands behind {} is found from its address", lossy(member));
                    self.tell_from(holder, member, what);
                }
                Some(Base::Object(longer)) if self.may_go_on_as(holder, member, (record, longer)) => {
                    let what =
                        format!("{} may be taken for a longer struct {}", lossy(member), lossy(longer));
                    self.tell_from(holder, member, what);
                }
                _ => {}
            }
        }
    }

    /// A pointer to a record is taken for one to what it begins with: that is its first member, handed on.
    pub(in crate::meaning) fn begun_as_part(&mut self, record: &'t [u8], wanted: &'t [u8]) {
        let world = self.world();
        let mut holder = record;
        while let Some(first) = world.records.get(holder).and_then(|known| known.members.first()) {
            self.handed_as_part(holder, first.name, wanted);
            match world.resolve(&first.ty) {
                Type::Record(inner) if inner != wanted && inner != holder => holder = inner,
                _ => return,
            }
        }
    }

    /// Whether what follows a member of a record may be what a longer kind goes on with.
    fn may_go_on_as(&self, holder: &'t [u8], member: &[u8], (record, longer): (&'t [u8], &'t [u8])) -> bool {
        let world = self.world();
        // The holder itself is what its first member belongs to.
        if holder == longer {
            return false;
        }
        let (Some(holder), Some(known)) = (world.records.get(holder), world.records.get(longer)) else {
            return true;
        };
        let next = holder.members.iter().skip_while(|own| own.name != member).nth(1);
        let Some(next) = next else { return false };
        let is_base = world.begins_with(longer, record);
        let begun = if is_base { Some(1) } else { world.common_prefix(record, longer) };
        let count = world.records.get(record).map_or(0, |known| known.members.len());
        let rest = match begun {
            Some(begun) if is_base || begun == count => known.members.get(begun),
            // What begins otherwise may go on by anything.
            _ => return true,
        };
        rest.is_none_or(|rest| world.is_same_kind(&rest.ty, &next.ty, 1))
    }
}
