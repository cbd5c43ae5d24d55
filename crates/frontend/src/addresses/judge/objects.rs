//! Bytes of whole objects.

use super::super::merged::TypeNumber;
use super::departure::Judge;
use super::reached::Reached;
use super::recorder::Recorder;
use crate::demand::Demand;

impl<'m> Judge<'m> {
    /// The address of a first member is freed for that of the whole object.
    pub(crate) fn freed(&self, ty: TypeNumber, moved: Option<i64>, recorder: &mut Recorder<'_>) {
        if moved != Some(0) {
            return;
        }
        for holder in self.merged.holders() {
            if holder != ty && self.begins_with(holder, ty) {
                self.first_member(
                    holder,
                    ty,
                    "its memory is given back by the address of its first member",
                    recorder,
                );
            }
        }
    }

    pub(crate) fn bytes(
        &self,
        ty: TypeNumber,
        (moved, count): (Option<i64>, Option<u64>),
        by: &str,
        recorder: &mut Recorder<'_>,
    ) {
        let why = format!("its bytes are read or written as {by}");
        let Some(from) = moved else { return self.whole(ty, &why, recorder) };
        let size = self.merged.shape(ty).map_or(0, |shape| shape.size);
        let end = count.map_or(size, |count| from.saturating_add_unsigned(count).max(0).unsigned_abs());
        if from < 0 || from.unsigned_abs() >= size {
            return;
        }
        let from = from.unsigned_abs();
        for (subject, front, inner) in self.merged.subjects(ty) {
            let Some(shape) = self.merged.shape(inner) else { continue };
            let reached = Reached::new(shape, front, from, end);
            let why = format!("{why}{}", reached.bytes(count));
            match reached.count() {
                0 => {}
                count if count == shape.members.len() => recorder.record(subject, Demand::Whole, why),
                count if reached.is_prefix() => recorder.record(subject, Demand::First { count }, why),
                _ => {
                    for member in reached.names() {
                        recorder.record(subject, Demand::Offset { member }, why.clone());
                    }
                }
            }
        }
    }

    pub(crate) fn sets(
        &self,
        ty: TypeNumber,
        (moved, count): (Option<i64>, Option<u64>),
        by: &str,
        recorder: &mut Recorder<'_>,
    ) {
        let why = format!("{by} is handed a part of its bytes");
        let Some((from, count)) = moved.zip(count) else {
            return match moved {
                Some(0) => self.cut(ty, &why, recorder),
                _ => self.whole(ty, &why, recorder),
            };
        };
        let end = from.saturating_add_unsigned(count);
        let Ok(from) = u64::try_from(from) else { return };
        for (subject, front, inner) in self.merged.subjects(ty) {
            let Some(shape) = self.merged.shape(inner) else { continue };
            let reached = Reached::new(shape, front, from, end.unsigned_abs());
            if let Some(demand) = reached.range(shape, false) {
                recorder.record(subject, demand, why.clone());
            }
        }
    }

    /// The first bytes of an object, nobody says how many: they end between two of its own members, or inside the
    /// last one. A length that ends inside another member is made of that one's offsets, and is judged where it is
    /// made.
    fn cut(&self, ty: TypeNumber, why: &str, recorder: &mut Recorder<'_>) {
        let last = self.merged.shape(ty).and_then(|shape| shape.members.last()).map_or(0, |last| last.offset);
        for (subject, front, inner) in self.merged.subjects(ty) {
            let size = self.merged.shape(inner).map_or(0, |shape| shape.size);
            if inner == ty || front.saturating_add(size) > last {
                recorder.record(subject, Demand::Whole, why.to_owned());
            }
        }
    }

    /// A number of bytes that doesn't follow the members.
    pub(crate) fn sets_fixed(
        &self,
        ty: TypeNumber,
        (moved, count): (Option<i64>, u64),
        by: &str,
        recorder: &mut Recorder<'_>,
    ) {
        let size = self.merged.shape(ty).map_or(0, |shape| shape.size);
        if moved != Some(0) || count < size {
            return self.bytes(ty, (moved, Some(count)), by, recorder);
        }
        for (subject, ..) in self.merged.subjects(ty) {
            let why = format!("{by} is handed its number of bytes as a number");
            recorder.record(subject, Demand::Size, why);
        }
    }

    /// Objects are counted in steps of their size as a number.
    pub(crate) fn counted(&self, ty: TypeNumber, bytes: u64, recorder: &mut Recorder<'_>) {
        let is_own = self.merged.shape(ty).is_some_and(|shape| shape.size == bytes);
        for (subject, ..) in self.merged.subjects(ty).filter(|_| is_own) {
            let why = format!("is counted in steps of {bytes} bytes, a number");
            recorder.record(subject, Demand::Size, why);
        }
    }
}
