//! Memory that is walked in steps of a number of bytes, and that becomes objects there.

use super::super::facts::{CodePlace, End};
use super::super::merged::TypeNumber;
use super::found::Demands;
use super::places::Known;
use super::taken::Taken;
use super::walk::Walk;
use crate::Demand;

impl<'f> Walk<'f> {
    /// Objects that are taken from memory at multiples of a number: their size is that number.
    pub(super) fn strided(&self, taken: &Taken<'f>, found: &mut Demands) {
        for (_, known) in self.table.passages().filter(|(_, known)| known.level == 0) {
            let sizes = self.strides(known);
            if sizes.is_empty() {
                continue;
            }
            for (state, end, at) in known.ends {
                if let (End::Record(shape), None) = (end, state.moved) {
                    self.counted((self.merged.number(known.unit, *shape), at), &sizes, found);
                }
            }
            for handed in known.handed.iter().filter(|handed| handed.state.moved.is_none()) {
                let place = self.table.actual(handed.place);
                for (ty, at) in place.and_then(|place| taken.all(place)).into_iter().flatten() {
                    self.counted((*ty, at), &sizes, found);
                }
            }
        }
    }

    /// Bytes of the steps that a passage counts in.
    fn strides(&self, known: &Known<'f>) -> Vec<u64> {
        let own = known.ends.iter().filter_map(|(_, end, _)| match end {
            End::Strides { bytes } => Some(*bytes),
            _ => None,
        });
        let given = known.handed.iter().filter_map(|handed| self.table.get(handed.place)?.steps);
        own.chain(given.flat_map(|steps| self.numbers.strides(steps))).collect()
    }

    fn counted(&self, (ty, at): (TypeNumber, &CodePlace), sizes: &[u64], found: &mut Demands) {
        let size = self.merged.shape(ty).map_or(0, |shape| shape.size);
        if !sizes.contains(&size) {
            return;
        }
        for (subject, ..) in self.merged.subjects(ty) {
            let why = format!("is taken from memory in steps of {size} bytes, a number");
            found.uses.push(at.used(subject, Demand::Size, why));
        }
    }
}
