//! An end of an address, as demands on the subjects it is of.

use super::super::facts::{CodePlace, End, State};
use super::super::merged::TypeNumber;
use super::departure::{Address, Judge, Through, Walk};
use super::recorder::Recorder;
use crate::demand::{CodeUse, Demand};

impl<'m> Judge<'m> {
    /// Demands of an end.
    pub(crate) fn judge(
        &self,
        state: State,
        (unit, end): (usize, &End),
        at: &CodePlace,
        through: Through,
        found: &mut Vec<CodeUse>,
    ) {
        if let (Address::Object(holder), Some(offset)) = (self.address, state.member) {
            let Some(member) = self.merged.member(holder, offset) else { return };
            let is_array = member.is_array || member.record.is_some();
            let size = (member.offset + member.size).saturating_sub(offset);
            if state.table.is_some_and(|table| table.may_mean_another(state, end)) {
                return;
            }
            let address = Address::Member { holder, offset, size, is_array };
            // Bytes that others hand over come the same way, as each row's address is one of bytes.
            let is_explained = through.is_explained && state.table.is_none();
            let through = Through { is_explained, ..through };
            let state = State { member: None, table: None, ..state };
            return Self { address, ..*self }.judge(state, (unit, end), at, through, found);
        }
        let is_explained = through.is_explained;
        if state.level > 0 {
            return;
        }
        if self.is_behind(state) {
            return;
        }
        let mut recorder = Recorder { at: self.at, end: at, found };
        let has_own_objects = is_explained && !is_head(state, end) && !self.is_walk(state);
        match (self.address, end) {
            (_, End::Record(shape)) => {
                let to = (self.merged.number(unit, *shape), state.moved);
                self.record(to, through, &mut recorder);
            }
            (_, End::Frees) => self.last(state, end, &mut recorder),
            // Asked where all addresses that come there are known.
            (_, End::Compared { .. }) => {}
            (_, End::Masked { bytes }) => self.masked(*bytes, state, &mut recorder),
            (_, End::Numbered { bits }) => self.numbered(*bits, &mut recorder),
            _ if has_own_objects => {}
            (_, End::Unknown | End::Strides { .. }) => self.last(state, end, &mut recorder),
            (Address::Object(ty), _) => self.object(ty, state, end, &mut recorder),
            (Address::Member { is_array, .. }, _) => {
                self.member(is_array, state, (end, through), &mut recorder);
            }
        }
    }

    /// Whether an address was moved on from a member that is no array: code that does so means the members around it.
    fn is_walk(&self, state: State) -> bool {
        matches!(self.address, Address::Member { is_array: false, .. }) && state.moved.is_none()
    }

    /// Whether an address leads behind its object.
    fn is_behind(&self, state: State) -> bool {
        let Address::Object(ty) = self.address else { return false };
        let size = self.merged.shape(ty).and_then(|shape| i64::try_from(shape.size).ok());
        size.zip(state.least).is_some_and(|(size, least)| size > 0 && least >= size)
    }

    fn record(&self, to: (TypeNumber, Option<i64>), through: Through, recorder: &mut Recorder<'_>) {
        match self.address {
            Address::Object(ty) => self.taken_for(ty, to, through.is_explained, recorder),
            Address::Member { .. } => self.member_taken_for(to, through, recorder),
        }
    }

    fn last(&self, state: State, end: &End, recorder: &mut Recorder<'_>) {
        let Address::Object(ty) = self.address else { return };
        match end {
            End::Frees => self.freed(ty, state.moved, recorder),
            End::Strides { bytes } => self.counted(ty, *bytes, recorder),
            _ => {
                let why = "its address is used in a way that is not understood";
                self.demand(ty, &Demand::Unclear, why, recorder);
            }
        }
    }

    /// Bytes of an object.
    fn object(&self, ty: TypeNumber, state: State, end: &End, recorder: &mut Recorder<'_>) {
        match end {
            End::Sorts { count, by } => {
                let size = self.merged.shape(ty).map_or(0, |shape| shape.size);
                if count.checked_rem(size) != Some(0) {
                    self.bytes(ty, (state.moved, Some(*count)), by, recorder);
                }
            }
            End::Text { by } => self.bytes(ty, (state.moved, Some(1)), by, recorder),
            End::Elements { by } | End::Several { by } => self.bytes(ty, (None, None), by, recorder),
            End::Bytes { count, by } => self.bytes(ty, (state.moved, *count), by, recorder),
            End::Sets { count: Some(count), by, is_fixed: true } => {
                self.sets_fixed(ty, (state.moved, *count), by, recorder);
            }
            End::Sets { count, by, .. } => self.sets(ty, (state.moved, *count), by, recorder),
            // The others are the same for all addresses, see `judge`.
            _ => {}
        }
    }

    /// Bytes from a member on.
    fn member(
        &self,
        is_array: bool,
        state: State,
        (end, through): (&End, Through),
        recorder: &mut Recorder<'_>,
    ) {
        match end {
            End::Sorts { count, by } => {
                self.beyond_member((state.moved, Some(*count)), (by, true), through, recorder);
            }
            End::Several { by } if !self.is_of_array() => self.walked(by, Walk::Like, recorder),
            End::Several { .. } => self.beyond_array(recorder),
            End::Text { .. } | End::Elements { .. } if is_array => self.beyond_array(recorder),
            // The same place may have texts and numbers.
            End::Text { .. } if through.is_function && !self.is_of_characters() => {}
            End::Text { by } => self.walked(by, Walk::ToEnd, recorder),
            End::Elements { by } => self.walked(by, Walk::Like, recorder),
            End::Bytes { count, by } => {
                self.beyond_member((state.moved, *count), (by, true), through, recorder);
            }
            End::Sets { count, by, is_fixed } => {
                self.beyond_member((state.moved, *count), (by, *is_fixed), through, recorder);
            }
            // The others are the same for all addresses, see `judge`.
            _ => {}
        }
    }

    /// Whether the member is an array.
    fn is_of_array(&self) -> bool {
        let Address::Member { holder, offset, .. } = self.address else { return false };
        self.merged.member(holder, offset).is_some_and(|member| member.is_array)
    }

    pub(crate) fn is_of_characters(&self) -> bool {
        let Address::Member { holder, offset, .. } = self.address else { return false };
        self.merged.member(holder, offset).is_some_and(|member| member.ty.ends_with("char"))
    }

    /// An array's address is handed to a function that no unit has the body of: it may go on behind the array.
    pub(crate) fn handed(&self, at: &CodePlace, found: &mut Vec<CodeUse>) {
        if let Address::Member { is_array: true, .. } = self.address {
            self.beyond_array(&mut Recorder { at: self.at, end: at, found });
        }
    }

    pub(crate) fn whole(&self, ty: TypeNumber, why: &str, recorder: &mut Recorder<'_>) {
        self.demand(ty, &Demand::Whole, why, recorder);
    }

    fn demand(&self, ty: TypeNumber, demand: &Demand, why: &str, recorder: &mut Recorder<'_>) {
        for (subject, ..) in self.merged.subjects(ty) {
            recorder.record(subject, demand.clone(), why.to_owned());
        }
    }
}

/// Whether an end reads no more than what objects begin with. That costs little to keep, so that others' objects on the
/// way don't excuse it.
fn is_head(state: State, end: &End) -> bool {
    state.moved == Some(0) && matches!(end, End::Bytes { count: Some(..=8), .. } | End::Text { .. })
}
