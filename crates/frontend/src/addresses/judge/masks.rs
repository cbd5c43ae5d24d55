//! Bits of a member's address that are zero where the member stands now.

use super::departure::{Address, Judge};
use super::recorder::Recorder;
use crate::addresses::facts::State;
use crate::demand::Demand;

impl Judge<'_> {
    /// Code counts on an address being a multiple of so many bytes.
    pub(crate) fn masked(&self, bytes: u64, state: State, recorder: &mut Recorder<'_>) {
        let (Address::Member { holder, offset, .. }, Some(moved)) = (self.address, state.moved) else {
            return;
        };
        let is_multiple =
            |offset: u64| offset.checked_add_signed(moved).is_some_and(|own| own.is_multiple_of(bytes));
        for (subject, front, inner) in self.merged.subjects(holder) {
            let Some(offset) = offset.checked_sub(front) else { continue };
            let members = self.merged.shape(inner).into_iter().flat_map(|shape| &shape.members);
            let mut around =
                members.filter(|own| own.offset <= offset && offset < own.offset + own.size.max(1));
            // Its type sees to it wherever it stands.
            let open = around.next().filter(|own| !own.alignment.max(1).is_multiple_of(bytes));
            if let Some(member) = open.filter(|_| is_multiple(offset)) {
                let why = format!("has bits of its address used that are zero at multiples of {bytes} bytes");
                recorder.record(subject, Demand::Offset { member: member.name.clone() }, why);
            }
        }
    }

    /// Code takes bits of the address for a number: it tells members by it if the bits reach no further than the object.
    pub(crate) fn numbered(&self, bits: u64, recorder: &mut Recorder<'_>) {
        let Address::Member { holder, offset, .. } = self.address else { return };
        for (subject, front, inner) in self.merged.subjects(holder) {
            let Some(shape) = self.merged.shape(inner) else { continue };
            let is_within = bits < shape.size.checked_next_power_of_two().unwrap_or(0);
            let Some(offset) = offset.checked_sub(front).filter(|_| is_within) else { continue };
            let mut members = shape.members.iter();
            let member = members.find(|own| own.offset <= offset && offset < own.offset + own.size.max(1));
            if let Some(member) = member {
                let why = "has bits of its address taken for a number".to_owned();
                recorder.record(subject, Demand::Offset { member: member.name.clone() }, why);
            }
        }
    }
}
