//! An end of an address, as demands on the subjects it is of.

use super::facts::{CodePlace, Departure, End, Origin, Shape, State};
use super::merged::{Merged, TypeNumber};
use crate::demand::{CodeUse, Demand, Edge};

/// Most records that begin with one another.
const DEEPEST: usize = 16;

/// What an address is of, all units' numbers of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Of {
    Object(TypeNumber),
    Member { holder: TypeNumber, offset: u64, size: u64, is_array: bool },
}

/// How an address came to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Through {
    /// Whether the end is there for other objects too, which come the same way.
    pub(super) is_explained: bool,
    /// Whether another function, or memory, is on the way.
    pub(super) is_function: bool,
}

impl Through {
    /// In one function.
    pub(super) const NONE: Self = Self { is_explained: false, is_function: false };
}

/// How far code may walk from a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walk {
    /// To the members of its type around it.
    Both,
    /// To the members of its type behind it.
    Like,
    /// To the last member.
    ToEnd,
}

/// The judge of one departure.
#[derive(Clone, Copy)]
pub(super) struct Judge<'m> {
    merged: &'m Merged,
    of: Of,
    at: &'m CodePlace,
}

impl<'m> Judge<'m> {
    pub(super) fn new(merged: &'m Merged, unit: usize, departure: &'m Departure) -> Self {
        let of = match departure.origin {
            Origin::Object(shape) => Of::Object(merged.number(unit, shape)),
            Origin::Member { holder, offset, size, is_array } => {
                Of::Member { holder: merged.number(unit, holder), offset, size, is_array }
            }
            Origin::Other(ref name) => Of::Object(merged.named(name)),
        };
        Self { merged, of, at: &departure.at }
    }

    /// Of an object that nobody is seen to hand to a place, but that is taken from it.
    pub(super) fn taken(merged: &'m Merged, ty: TypeNumber, at: &'m CodePlace) -> Self {
        Self { merged, of: Of::Object(ty), at }
    }

    pub(super) fn of(&self) -> Of {
        self.of
    }

    /// Demands of an end.
    pub(super) fn judge(
        &self,
        state: State,
        (unit, end): (usize, &End),
        at: &CodePlace,
        through: Through,
        found: &mut Vec<CodeUse>,
    ) {
        if let (Of::Object(holder), Some(offset)) = (self.of, state.member) {
            let Some(member) = self.merged.member(holder, offset) else { return };
            let is_array = member.is_array || member.record.is_some();
            let size = (member.offset + member.size).saturating_sub(offset);
            let of = Of::Member { holder, offset, size, is_array };
            let state = State { member: None, ..state };
            return Self { of, ..*self }.judge(state, (unit, end), at, through, found);
        }
        let is_explained = through.is_explained;
        if state.level > 0 {
            return;
        }
        let mut told = Told { at: self.at, end: at, found };
        match (self.of, end) {
            (Of::Object(ty), End::Record(shape)) => {
                self.taken_for(ty, (self.merged.number(unit, *shape), state.moved), is_explained, &mut told);
            }
            (Of::Member { .. }, End::Record(shape)) => {
                self.member_taken_for(
                    (self.merged.number(unit, *shape), state.moved),
                    is_explained,
                    &mut told,
                );
            }
            (Of::Object(ty), End::Frees) => self.freed(ty, state.moved, &mut told),
            (Of::Member { .. }, End::Frees) => {}
            (
                _,
                End::Bytes { .. }
                | End::Sets { .. }
                | End::Elements { .. }
                | End::Text { .. }
                | End::Sorts { .. },
            ) if is_explained && !is_head(state, end) => {}
            (Of::Object(ty), End::Sorts { count, by }) => {
                let size = self.merged.shape(ty).map_or(0, |shape| shape.size);
                if count.checked_rem(size) != Some(0) {
                    self.bytes(ty, (state.moved, Some(*count)), by, &mut told);
                }
            }
            (Of::Member { .. }, End::Sorts { count, by }) => {
                self.from_member((state.moved, Some(*count)), (by, true), through, &mut told);
            }
            (Of::Object(ty), End::Text { by }) => self.bytes(ty, (state.moved, Some(1)), by, &mut told),
            (Of::Member { is_array: true, .. }, End::Text { .. }) => self.beyond_array(&mut told),
            // The same place may have texts and numbers.
            (Of::Member { .. }, End::Text { .. }) if through.is_function && !self.is_of_characters() => {}
            (Of::Member { .. }, End::Text { by }) => self.walked(by, Walk::ToEnd, &mut told),
            (Of::Object(ty), End::Elements { by }) => self.bytes(ty, (None, None), by, &mut told),
            (Of::Member { is_array: true, .. }, End::Elements { .. }) => self.beyond_array(&mut told),
            (Of::Member { .. }, End::Elements { by }) => self.walked(by, Walk::Like, &mut told),
            (Of::Object(ty), End::Bytes { count, by }) => {
                self.bytes(ty, (state.moved, *count), by, &mut told)
            }
            (Of::Object(ty), End::Sets { count, by }) => self.sets(ty, (state.moved, *count), by, &mut told),
            (Of::Object(ty), End::Unknown) => {
                self.whole(ty, "its address is used in a way that is not understood", &mut told)
            }
            (Of::Member { .. }, End::Bytes { count, by }) => {
                self.from_member((state.moved, *count), (by, true), through, &mut told)
            }
            (Of::Member { .. }, End::Sets { count, by }) => {
                self.from_member((state.moved, *count), (by, false), through, &mut told);
            }
            (Of::Member { .. }, End::Unknown) => {}
        }
    }

    fn is_of_characters(&self) -> bool {
        let Of::Member { holder, offset, .. } = self.of else { return false };
        self.merged.member(holder, offset).is_some_and(|member| member.ty.ends_with("char"))
    }

    /// An array's address is handed to a function that no unit has the body of: it may go on behind the array.
    pub(super) fn handed(&self, at: &CodePlace, found: &mut Vec<CodeUse>) {
        if let Of::Member { is_array: true, .. } = self.of {
            self.beyond_array(&mut Told { at: self.at, end: at, found });
        }
    }

    fn whole(&self, ty: TypeNumber, why: &str, told: &mut Told<'_>) {
        for (subject, ..) in self.merged.subjects(ty) {
            told.tell(subject, Demand::Whole, why.to_owned());
        }
    }

    /// The address of a first member is freed for that of the whole object.
    fn freed(&self, ty: TypeNumber, moved: Option<i64>, told: &mut Told<'_>) {
        if moved != Some(0) {
            return;
        }
        for holder in self.merged.holders() {
            if holder != ty && self.begins_with(holder, ty) {
                self.first_member(
                    holder,
                    ty,
                    "its memory is given back by the address of its first member",
                    told,
                );
            }
        }
    }

    fn bytes(
        &self,
        ty: TypeNumber,
        (moved, count): (Option<i64>, Option<u64>),
        by: &str,
        told: &mut Told<'_>,
    ) {
        let why = format!("its bytes are read or written as {by}");
        let Some(from) = moved else { return self.whole(ty, &why, told) };
        let size = self.merged.shape(ty).map_or(0, |shape| shape.size);
        let end = count.map_or(size, |count| from.saturating_add_unsigned(count).max(0).unsigned_abs());
        if from < 0 || from.unsigned_abs() >= size {
            return;
        }
        let from = from.unsigned_abs();
        for (subject, front, inner) in self.merged.subjects(ty) {
            let Some(shape) = self.merged.shape(inner) else { continue };
            let reached = Reached::new(shape, front, from, end);
            let why = format!("{why}{}", reached.of(count));
            match reached.count() {
                0 => {}
                count if count == shape.members.len() => told.tell(subject, Demand::Whole, why),
                count if reached.is_prefix() => told.tell(subject, Demand::First { count }, why),
                _ => {
                    for member in reached.names() {
                        told.tell(subject, Demand::Offset { member }, why.clone());
                    }
                }
            }
        }
    }

    fn sets(
        &self,
        ty: TypeNumber,
        (moved, count): (Option<i64>, Option<u64>),
        by: &str,
        told: &mut Told<'_>,
    ) {
        let why = format!("{by} is handed a part of its bytes");
        let Some((from, count)) = moved.zip(count) else { return self.whole(ty, &why, told) };
        let end = from.saturating_add_unsigned(count);
        let Ok(from) = u64::try_from(from) else { return };
        for (subject, front, inner) in self.merged.subjects(ty) {
            let Some(shape) = self.merged.shape(inner) else { continue };
            let reached = Reached::new(shape, front, from, end.unsigned_abs());
            if let Some(demand) = reached.range(shape, false) {
                told.tell(subject, demand, why.clone());
            }
        }
    }

    /// An object of one record is taken for one of another.
    fn taken_for(
        &self,
        ty: TypeNumber,
        (to, moved): (TypeNumber, Option<i64>),
        is_explained: bool,
        told: &mut Told<'_>,
    ) {
        let (Some(own), Some(other)) = (self.merged.shape(ty), self.merged.shape(to)) else { return };
        if ty == to || other.size == 0 || own.bases.contains(&other.name) || other.bases.contains(&own.name) {
            return;
        }
        let Some(moved) = moved else {
            let why = format!("is taken for {} at a place that is counted", other.name);
            return if is_explained {
            } else {
                self.whole(ty, &why, told)
            };
        };
        if moved < 0 || moved.unsigned_abs() >= own.size {
            return;
        }
        if moved > 0 {
            return self.bytes(ty, (Some(moved), Some(other.size)), &other.name, told);
        }
        // What a union's members begin with in common is asked at its definition.
        let is_alternative =
            |union: &Shape, ty| union.is_union && union.members.iter().any(|one| one.record == Some(ty));
        if is_alternative(own, to) || is_alternative(other, ty) {
            return;
        }
        for (holder, inner) in [(ty, to), (to, ty)] {
            if self.begins_with(holder, inner) {
                let name = self.merged.shape(inner).map(|shape| shape.name.as_str()).unwrap_or_default();
                let why = format!("is cast to and from its first member's type {name}");
                return self.first_member(holder, inner, &why, told);
            }
        }
        let alike = alike(own, other, is_explained);
        // Where both kinds of objects come, what both begin with can tell them apart.
        if is_explained && alike == 0 {
            return;
        }
        let covered = own.members.iter().filter(|member| member.offset < other.size).count();
        let (count, why) = match alike {
            0 => (covered.max(1), format!("is taken for {}", other.name)),
            count => (count, format!("is taken for {}, which begins alike", other.name)),
        };
        for (subject, _, _) in
            self.merged.subjects(ty).filter(|(_, front, inner)| *front == 0 && *inner == ty)
        {
            told.tell(subject, Demand::First { count }, why.clone());
        }
        let count = if alike == 0 { 1 } else { alike };
        let why = format!("an object of {} is taken for it", own.name);
        // The other type's objects make room for it.
        let has_room = alike == 0 && own.size >= other.size;
        for (subject, _, _) in
            self.merged.subjects(to).filter(|(_, front, inner)| *front == 0 && *inner == to)
        {
            if has_room {
                told.tell(subject, Demand::Size, why.clone());
            }
            told.tell(subject, Demand::First { count }, why.clone());
        }
    }

    /// Every record on the way down keeps its first member.
    fn first_member(&self, holder: TypeNumber, inner: TypeNumber, why: &str, told: &mut Told<'_>) {
        let mut at = holder;
        for _ in 0..DEEPEST {
            let Some(shape) = self.merged.shape(at).filter(|_| at != inner) else { return };
            for (subject, _, _) in shape.subjects.iter().filter(|(_, front, own)| *front == 0 && *own == at) {
                told.tell(*subject, Demand::First { count: 1 }, why.to_owned());
            }
            let Some(next) = shape.members.first().and_then(|first| first.record) else { return };
            at = next;
        }
    }

    fn begins_with(&self, holder: TypeNumber, inner: TypeNumber) -> bool {
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
    fn member_taken_for(
        &self,
        (to, moved): (TypeNumber, Option<i64>),
        is_explained: bool,
        told: &mut Told<'_>,
    ) {
        let Of::Member { holder, offset, size, .. } = self.of else { return };
        let (Some(shape), Some(other)) = (self.merged.shape(holder), self.merged.shape(to)) else { return };
        if other.size == 0 || is_explained {
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
                    told.tell(*subject, Demand::First { count: 1 }, why);
                }
                Some(0) => {}
                _ => told.tell(*subject, Demand::Offset { member }, why),
            }
            return;
        }
        let Some(moved) = moved else { return };
        let own =
            shape.members.iter().find(|own| own.offset <= offset && offset < own.offset + own.size.max(1));
        let record = own.and_then(|own| own.record).and_then(|record| self.merged.shape(record));
        if moved == 0
            && record.is_some_and(|record| record.name == other.name || alike(record, other, false) > 0)
        {
            return;
        }
        let start = i128::from(offset) + i128::from(moved);
        if start >= i128::from(offset)
            && start + i128::from(other.size) <= i128::from(offset) + i128::from(size)
        {
            return;
        }
        self.from_member((Some(moved), Some(other.size)), (&other.name, true), Through::NONE, told);
    }

    /// Bytes from a member on.
    fn from_member(
        &self,
        (moved, count): (Option<i64>, Option<u64>),
        (by, has_order): (&str, bool),
        through: Through,
        told: &mut Told<'_>,
    ) {
        let Of::Member { holder, offset, size, is_array } = self.of else { return };
        let Some(shape) = self.merged.shape(holder) else { return };
        let Some(moved) = moved else {
            return if is_array {
                self.beyond_array(told)
            } else {
                self.walked(by, if through.is_function { Walk::ToEnd } else { Walk::Both }, told)
            };
        };
        let count = match count {
            Some(count) => count,
            None if is_array => return self.beyond_array(told),
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
                told.tell(subject, demand, why);
            }
        }
    }

    /// A member that is no array is walked from: its neighbours of the same type are the array.
    fn walked(&self, by: &str, walk: Walk, told: &mut Told<'_>) {
        let Of::Member { holder, offset, .. } = self.of else { return };
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
            told.tell(subject, demand, why);
        }
    }

    /// Whether an array of a type follows a record in what holds it.
    fn goes_on_outside(&self, (holder, front, size): (TypeNumber, u64, u64), ty: &str) -> bool {
        let holder = self.merged.shape(holder).filter(|holder| holder.size > size);
        holder.is_some_and(|holder| {
            let next = holder.members.iter().find(|member| member.offset >= front.saturating_add(size));
            next.is_some_and(|next| next.is_array && next.ty == ty)
        })
    }

    /// Arrays of one type behind one another are taken for one where nothing keeps an index inside.
    fn beyond_array(&self, told: &mut Told<'_>) {
        let Of::Member { holder, offset, .. } = self.of else { return };
        for (subject, front, inner) in self.merged.subjects(holder) {
            let Some(shape) = self.merged.shape(inner) else { continue };
            let Some(at) = offset.checked_sub(front).and_then(|offset| number_at(shape, offset)) else {
                continue;
            };
            let Some(member) = shape.members.get(at).filter(|member| member.is_array) else { continue };
            let is_like = |number: &usize| {
                shape.members.get(*number).is_some_and(|other| other.ty == member.ty && other.is_array)
            };
            let last = (at..shape.members.len()).take_while(is_like).last().unwrap_or(at);
            if last + 1 == shape.members.len()
                && self.goes_on_outside((holder, front, shape.size), &member.ty)
            {
                let why = format!("{} goes on behind it in what holds it", member.name);
                told.tell(subject, Demand::Offset { member: member.name.clone() }, why.clone());
                told.tell(subject, Demand::Size, why.clone());
                told.tell(subject, Demand::Last { member: member.name.clone() }, why);
            }
            if last > at {
                let why = format!("nothing keeps the index of {} inside it", member.name);
                told.tell(subject, Demand::Run { members: names(shape, at..=last) }, why);
            }
        }
    }
}

/// Whether an end reads no more than what objects begin with. That costs little to keep, so that others' objects on the
/// way don't excuse it.
fn is_head(state: State, end: &End) -> bool {
    state.moved == Some(0) && matches!(end, End::Bytes { count: Some(..=8), .. } | End::Text { .. })
}

/// Where demands are told.
struct Told<'t> {
    at: &'t CodePlace,
    end: &'t CodePlace,
    found: &'t mut Vec<CodeUse>,
}

impl Told<'_> {
    fn tell(&mut self, subject: usize, demand: Demand, why: String) {
        let is_elsewhere = self.end.file != self.at.file || self.end.line != self.at.line;
        let name =
            self.end.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let why = if is_elsewhere { format!("{why}, at {name}:{}", self.end.line) } else { why };
        self.found.push(self.at.used(subject, demand, why));
    }
}

/// Members that bytes reach into.
struct Reached<'s> {
    members: Vec<(usize, &'s str)>,
    /// Whether the bytes end inside the last one.
    ends_inside: bool,
}

impl<'s> Reached<'s> {
    /// Of a record so many bytes behind the first byte that is counted from.
    fn new(shape: &'s Shape, front: u64, from: u64, to: u64) -> Self {
        let is_reached = |(_, member): &(usize, &super::facts::ShapeMember)| {
            let start = front.saturating_add(member.offset);
            start < to && start.saturating_add(member.size.max(1)) > from
        };
        let members: Vec<_> = shape.members.iter().enumerate().filter(is_reached).collect();
        let last =
            members.last().map(|(_, member)| front.saturating_add(member.offset).saturating_add(member.size));
        let members = members.into_iter().map(|(number, member)| (number, member.name.as_str())).collect();
        Self { members, ends_inside: last.is_some_and(|last| last > to) }
    }

    fn count(&self) -> usize {
        self.members.len()
    }

    fn is_prefix(&self) -> bool {
        self.members.first().is_some_and(|(number, _)| *number == 0)
    }

    fn names(&self) -> Vec<String> {
        self.members.iter().map(|(_, name)| (*name).to_owned()).collect()
    }

    fn of(&self, count: Option<u64>) -> String {
        count.map(|count| format!(" ({count} bytes)")).unwrap_or_default()
    }

    /// The members stay together, the first one in front if it is where they are counted from; `None` if they are all,
    /// or none.
    fn range(&self, shape: &Shape, from_member: bool) -> Option<Demand> {
        let ((first, name), (last, end)) = (self.members.first()?, self.members.last()?);
        if self.members.len() == shape.members.len() && !self.ends_inside && !from_member {
            return None;
        }
        let from = if *first == 0 && !from_member { Edge::Begin } else { Edge::Before((*name).to_owned()) };
        let next = shape.members.get(last + 1).map_or(Edge::End, |next| Edge::Before(next.name.clone()));
        let to = if self.ends_inside { Edge::Before((*end).to_owned()) } else { next };
        Some(Demand::Range { from, to })
    }
}

/// How many members two records have alike from their first bytes on.
fn alike(own: &Shape, other: &Shape, by_name: bool) -> usize {
    let is_alike = |(member, other): &(&super::facts::ShapeMember, &super::facts::ShapeMember)| {
        let has_type = member.ty == other.ty && member.size == other.size;
        let has_name = member.name == other.name && member.size == other.size;
        member.offset == other.offset && if by_name { has_type && has_name } else { has_type || has_name }
    };
    own.members.iter().zip(&other.members).take_while(is_alike).count()
}

fn number_at(shape: &Shape, offset: u64) -> Option<usize> {
    shape
        .members
        .iter()
        .position(|member| member.offset <= offset && offset < member.offset + member.size.max(1))
}

fn member_at(shape: &Shape, offset: u64) -> Option<String> {
    number_at(shape, offset).and_then(|number| shape.members.get(number)).map(|member| member.name.clone())
}

fn names(shape: &Shape, numbers: std::ops::RangeInclusive<usize>) -> Vec<String> {
    let members = shape.members.iter().skip(*numbers.start()).take(numbers.end() + 1 - numbers.start());
    members.map(|member| member.name.clone()).collect()
}
