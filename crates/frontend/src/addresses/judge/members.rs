//! Bytes from a member on.

use super::super::merged::TypeNumber;
use super::departure::{Address, Judge, Through, Walk};
use super::reached::{Reached, member_at, names, number_at};
use super::recorder::Recorder;
use crate::demand::{Demand, Edge};

impl<'m> Judge<'m> {
    /// Bytes from a member on.
    pub(crate) fn beyond_member(
        &self,
        (moved, count): (Option<i64>, Option<u64>),
        (by, has_order): (&str, bool),
        through: Through,
        recorder: &mut Recorder<'_>,
    ) {
        let Address::Member { holder, offset, size, is_array } = self.address else { return };
        let Some(shape) = self.merged.shape(holder) else { return };
        let Some(moved) = moved else {
            return if is_array {
                self.beyond_array(recorder)
            } else {
                self.walked(by, if through.is_function { Walk::ToEnd } else { Walk::Both }, recorder)
            };
        };
        let count = match count {
            Some(count) => count,
            None if is_array => return self.beyond_array(recorder),
            None => shape.size.saturating_sub(offset),
        };
        let from = i64::try_from(offset).unwrap_or(i64::MAX).saturating_add(moved);
        let to = from.saturating_add_unsigned(count);
        let is_inside =
            moved >= 0 && moved.saturating_add_unsigned(count) <= i64::try_from(size).unwrap_or(i64::MAX);
        if is_inside {
            return;
        }
        // What is set behind a member stays behind it; what is read is in an order with it.
        let start = if has_order { from.min(i64::try_from(offset).unwrap_or(0)) } else { from };
        let (from, to) = (start.max(0).unsigned_abs(), to.max(0).unsigned_abs());
        let behind = (!has_order && moved > 0).then(|| member_at(shape, offset)).flatten();
        for (subject, front, inner) in self.merged.subjects(holder) {
            let Some(shape) = self.merged.shape(inner) else { continue };
            let reached = Reached::new(shape, front, from, to.max(offset + 1));
            let names = reached.names();
            if names.len() < 2 && behind.is_none() || names.is_empty() {
                continue;
            }
            let why = format!(
                "the bytes from {} on are handed on as {by}",
                names.first().cloned().unwrap_or_default()
            );
            let demand = match has_order {
                true => Some(Demand::Run { members: names }),
                false => match (reached.range(shape, true), behind.clone()) {
                    (Some(Demand::Range { to, .. }), Some(behind)) => {
                        Some(Demand::Range { from: Edge::Behind(behind), to })
                    }
                    (demand, _) => demand,
                },
            };
            if let Some(demand) = demand {
                recorder.record(subject, demand, why);
            }
        }
    }

    /// A member that is no array is walked from: its neighbours of the same type are the array.
    pub(crate) fn walked(&self, by: &str, walk: Walk, recorder: &mut Recorder<'_>) {
        let Address::Member { holder, offset, .. } = self.address else { return };
        for (subject, front, inner) in self.merged.subjects(holder) {
            let Some(shape) = self.merged.shape(inner) else { continue };
            let Some(at) = offset.checked_sub(front).and_then(|offset| number_at(shape, offset)) else {
                continue;
            };
            let ty = |number: usize| shape.members.get(number).map(|member| member.ty.as_str());
            let is_like = |number: &usize| ty(*number) == ty(at);
            let front = (0..at).rev().take_while(is_like).last().unwrap_or(at);
            let first = if walk == Walk::Like { at } else { front };
            let like = (at..shape.members.len()).take_while(is_like).last().unwrap_or(at);
            // A function may be told how many bytes there are.
            let last = if walk == Walk::ToEnd { shape.members.len().saturating_sub(1) } else { like };
            let why = format!(
                "code walks on from {} as {by}",
                shape.members.get(at).map_or("", |member| &member.name)
            );
            let demand = match last > first {
                true => Demand::Run { members: names(shape, first..=last) },
                false if walk == Walk::Like => continue,
                false => Demand::Whole,
            };
            recorder.record(subject, demand, why);
        }
    }

    /// Whether an array of a type follows a record in what holds it.
    pub(crate) fn goes_on_outside(&self, (holder, front, size): (TypeNumber, u64, u64), ty: &str) -> bool {
        let holder = self.merged.shape(holder).filter(|holder| holder.size > size);
        holder.is_some_and(|holder| {
            let next = holder.members.iter().find(|member| member.offset >= front.saturating_add(size));
            next.is_some_and(|next| next.is_array && next.ty == ty)
        })
    }

    /// Arrays of one type behind one another are taken for one where nothing keeps an index inside.
    pub(crate) fn beyond_array(&self, recorder: &mut Recorder<'_>) {
        let Address::Member { holder, offset, .. } = self.address else { return };
        for (subject, front, inner) in self.merged.subjects(holder) {
            let Some(shape) = self.merged.shape(inner) else { continue };
            let Some(at) = offset.checked_sub(front).and_then(|offset| number_at(shape, offset)) else {
                continue;
            };
            let Some(member) = shape.members.get(at).filter(|member| member.is_array) else { continue };
            let is_like = |number: &usize| {
                let is_text = member.ty.ends_with("char");
                shape
                    .members
                    .get(*number)
                    .is_some_and(|other| other.ty == member.ty && (other.is_array || is_text))
            };
            let last = (at..shape.members.len()).take_while(is_like).last().unwrap_or(at);
            if last + 1 == shape.members.len()
                && self.goes_on_outside((holder, front, shape.size), &member.ty)
            {
                let why = format!("{} goes on behind it in what holds it", member.name);
                recorder.record(subject, Demand::Offset { member: member.name.clone() }, why.clone());
                recorder.record(subject, Demand::Size, why.clone());
                recorder.record(subject, Demand::Last { member: member.name.clone() }, why);
            }
            if last > at {
                let why = format!("nothing keeps the index of {} inside it", member.name);
                recorder.record(subject, Demand::Run { members: names(shape, at..=last) }, why);
            }
        }
    }
}
