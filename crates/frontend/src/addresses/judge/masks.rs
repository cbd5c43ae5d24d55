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
}
