//! Addresses that are taken for those of other records.

use super::super::facts::{CodePlace, NUMBERED, Shape, ShapeMember};
use super::super::merged::TypeNumber;
use super::departure::{Address, Judge, Through};
use super::reached::{common_prefix, end_of_like, member_at};
use super::recorder::Recorder;
use crate::demand::{CodeUse, Demand};

/// Most records that begin with one another.
const DEEPEST: usize = 16;

impl<'m> Judge<'m> {
    /// An object of one record is taken for one of another.
    pub(crate) fn taken_for(
        &self,
        ty: TypeNumber,
        (to, moved): (TypeNumber, Option<i64>),
        is_explained: bool,
        recorder: &mut Recorder<'_>,
    ) {
        let (Some(own), Some(other)) = (self.merged.shape(ty), self.merged.shape(to)) else { return };
        if own.name.starts_with(NUMBERED) {
            let why = "is laid over an array whose elements are listed, or read or written by their numbers";
            return if is_explained {
            } else {
                self.whole(to, why, recorder)
            };
        }
        if ty == to || other.size == 0 || own.bases.contains(&other.name) || other.bases.contains(&own.name) {
            return;
        }
        let Some(moved) = moved else {
            let why = format!("is taken for {} at a place that is counted", other.name);
            return if is_explained {
            } else {
                self.whole(ty, &why, recorder)
            };
        };
        if moved < 0 || moved.unsigned_abs() >= own.size {
            return;
        }
        if moved > 0 {
            return self.bytes(ty, (Some(moved), Some(other.size)), &other.name, recorder);
        }
        // What a union's members begin with in common is asked at its definition.
        let is_alternative = |union: &Shape, ty| {
            union.is_union && union.members.iter().any(|member| member.record == Some(ty))
        };
        if is_alternative(own, to) || is_alternative(other, ty) {
            return;
        }
        for (holder, inner) in [(ty, to), (to, ty)] {
            if self.begins_with(holder, inner) {
                let name = self.merged.shape(inner).map(|shape| shape.name.as_str()).unwrap_or_default();
                let why = format!("is cast to and from its first member's type {name}");
                return self.first_member(holder, inner, &why, recorder);
            }
        }
        let common = common_prefix(own, other, is_explained);
        // Where both kinds of objects come, what both begin with can tell them apart.
        if is_explained && common == 0 {
            return;
        }
        // Code of this build goes by what both begin with, a system's by all members.
        let common = if other.is_of_system && !is_explained { 0 } else { common };
        let size = end_of_like(own, (0, known_bytes(other)));
        let covered = own.members.iter().filter(|member| member.offset < size).count();
        let (count, why) = match common {
            0 => (covered.max(1), format!("is taken for {}", other.name)),
            count => (count, format!("is taken for {}, which begins alike", other.name)),
        };
        for (subject, _, _) in
            self.merged.subjects(ty).filter(|(_, front, inner)| *front == 0 && *inner == ty)
        {
            recorder.record(subject, Demand::First { count }, why.clone());
        }
        let count = if common == 0 { 1 } else { common };
        let why = format!("an object of {} is taken for it", own.name);
        // The other type's objects make room for it.
        let has_room = common == 0 && own.size >= other.size;
        for (subject, _, _) in
            self.merged.subjects(to).filter(|(_, front, inner)| *front == 0 && *inner == to)
        {
            if has_room {
                recorder.record(subject, Demand::Room, why.clone());
            }
            recorder.record(subject, Demand::First { count }, why.clone());
        }
    }

    /// Every record on the way down keeps its first member.
    pub(crate) fn first_member(
        &self,
        holder: TypeNumber,
        inner: TypeNumber,
        why: &str,
        recorder: &mut Recorder<'_>,
    ) {
        let mut at = holder;
        for _ in 0..DEEPEST {
            let Some(shape) = self.merged.shape(at).filter(|_| at != inner) else { return };
            for (subject, _, _) in shape.subjects.iter().filter(|(_, front, own)| *front == 0 && *own == at) {
                recorder.record(*subject, Demand::First { count: 1 }, why.to_owned());
            }
            let Some(next) = shape.members.first().and_then(|first| first.record) else { return };
            at = next;
        }
    }

    /// Memory is taken for a record and for what it may begin with.
    pub(crate) fn begins(
        &self,
        (holder, inner): (TypeNumber, TypeNumber),
        end: &CodePlace,
        found: &mut Vec<CodeUse>,
    ) {
        if self.begins_with(holder, inner) {
            let why = "memory is taken for it and for its first member";
            self.first_member(holder, inner, why, &mut Recorder { at: self.at, end, found });
        }
    }

    pub(crate) fn begins_with(&self, holder: TypeNumber, inner: TypeNumber) -> bool {
        let mut at = holder;
        for _ in 0..DEEPEST {
            let first = self.merged.shape(at).and_then(|shape| shape.members.first()?.record);
            match first {
                Some(first) if first == inner => return true,
                Some(first) => at = first,
                None => return false,
            }
        }
        false
    }

    /// A member's address is taken for that of a record.
    pub(crate) fn member_taken_for(
        &self,
        (to, moved): (TypeNumber, Option<i64>),
        Through { is_explained, is_function }: Through,
        recorder: &mut Recorder<'_>,
    ) {
        let Address::Member { holder, offset, size, .. } = self.address else { return };
        let (Some(shape), Some(other)) = (self.merged.shape(holder), self.merged.shape(to)) else { return };
        if other.size == 0 || is_explained && to != holder {
            return;
        }
        let member = member_at(shape, offset);
        if to == holder {
            let own = shape.subjects.iter().find(|(_, front, inner)| *front == 0 && *inner == holder);
            let (Some((subject, ..)), Some(member)) = (own, member) else { return };
            let why = format!("is reached from the address of {member} by a number of bytes");
            match moved {
                Some(0) if offset == 0 => {
                    let why = format!("is reached by a cast from its first member {member}");
                    recorder.record(*subject, Demand::First { count: 1 }, why);
                }
                Some(0) => {}
                _ => recorder.record(*subject, Demand::Offset { member }, why),
            }
            return;
        }
        let Some(moved) = moved else { return };
        let own =
            shape.members.iter().find(|own| own.offset <= offset && offset < own.offset + own.size.max(1));
        let record = own.and_then(|own| own.record).and_then(|record| self.merged.shape(record));
        let begins_same = |record: &Shape| {
            record.name == other.name
                || (other.size <= record.size || !is_function) && common_prefix(record, other, false) > 0
        };
        if moved == 0 && record.is_some_and(begins_same) {
            return;
        }
        let start = i128::from(offset) + i128::from(moved);
        if start >= i128::from(offset)
            && start + i128::from(other.size) <= i128::from(offset) + i128::from(size)
        {
            return;
        }
        let from = u64::try_from(start).unwrap_or(0);
        let count = end_of_like(shape, (from, from.saturating_add(other.size))).saturating_sub(from);
        self.beyond_member((Some(moved), Some(count)), (&other.name, true), Through::NONE, recorder);
    }
}

/// Bytes of a record that it says the values of. Of a union with a link to another one of its kind, those of its members
/// but arrays of bytes, which are room for anything: `union slot { union slot *next; char room[sizeof(T)]; }`.
fn known_bytes(shape: &Shape) -> u64 {
    let is_room = |member: &&ShapeMember| {
        member.is_array && (member.ty.ends_with("char") || member.ty.ends_with("byte"))
    };
    let link = format!("{} *", shape.name);
    let has_link = shape.members.iter().any(|member| member.value.as_ref() == Some(&link));
    let known = shape.members.iter().filter(|member| !is_room(member)).map(|member| member.size).max();
    if shape.is_union && has_link { known.unwrap_or(shape.size) } else { shape.size }
}
