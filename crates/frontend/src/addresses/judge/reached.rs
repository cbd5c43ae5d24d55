//! Members that bytes reach into, and members that records have in common.

use super::super::facts::{Shape, ShapeMember};
use crate::demand::{Demand, Edge};

/// Members that bytes reach into.
pub(crate) struct Reached<'s> {
    members: Vec<(usize, &'s str)>,
    /// Whether the bytes end inside the last one.
    ends_inside: bool,
}

impl<'s> Reached<'s> {
    /// Of a record so many bytes behind the first byte that is counted from.
    pub(crate) fn new(shape: &'s Shape, front: u64, from: u64, to: u64) -> Self {
        let is_reached = |(_, member): &(usize, &ShapeMember)| {
            let start = front.saturating_add(member.offset);
            start < to && start.saturating_add(member.size.max(1)) > from
        };
        let members: Vec<_> = shape.members.iter().enumerate().filter(is_reached).collect();
        let last =
            members.last().map(|(_, member)| front.saturating_add(member.offset).saturating_add(member.size));
        let members = members.into_iter().map(|(number, member)| (number, member.name.as_str())).collect();
        Self { members, ends_inside: last.is_some_and(|last| last > to) }
    }

    pub(crate) fn count(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn is_prefix(&self) -> bool {
        self.members.first().is_some_and(|(number, _)| *number == 0)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.members.iter().map(|(_, name)| (*name).to_owned()).collect()
    }

    pub(crate) fn bytes(&self, count: Option<u64>) -> String {
        count.map(|count| format!(" ({count} bytes)")).unwrap_or_default()
    }

    /// The members stay together, the first one in front if it is where they are counted from; `None` if they are all,
    /// or none.
    pub(crate) fn range(&self, shape: &Shape, beyond_member: bool) -> Option<Demand> {
        let ((first, name), (last, end)) = (self.members.first()?, self.members.last()?);
        if self.members.len() == shape.members.len() && !self.ends_inside && !beyond_member {
            return None;
        }
        let from = if *first == 0 && !beyond_member { Edge::Begin } else { Edge::Before((*name).to_owned()) };
        let next = shape.members.get(last + 1).map_or(Edge::End, |next| Edge::Before(next.name.clone()));
        let to = if self.ends_inside { Edge::Before((*end).to_owned()) } else { next };
        Some(Demand::Range { from, to })
    }
}

/// How many members two records have alike from their first bytes on.
pub(crate) fn common_prefix(own: &Shape, other: &Shape, by_name: bool) -> usize {
    let is_equal = |(member, other): &(&ShapeMember, &ShapeMember)| {
        let has_type = member.ty == other.ty && member.size == other.size;
        let has_name = member.name == other.name && member.size == other.size;
        member.offset == other.offset && if by_name { has_type && has_name } else { has_type || has_name }
    };
    own.members.iter().zip(&other.members).take_while(is_equal).count()
}

/// The end of the bytes of a record that may be several of what so many of them are taken for: as long as the members
/// behind them have the same sizes at the same distances. Nobody says how many a pointer leads to.
pub(crate) fn end_of_like(shape: &Shape, (from, to): (u64, u64)) -> u64 {
    let size = to.saturating_sub(from);
    let within = |from: u64| -> Vec<(u64, u64)> {
        let to = from.saturating_add(size);
        let inside = shape.members.iter().filter(|member| member.offset >= from && member.offset < to);
        inside.map(|member| (member.offset - from, member.size)).collect()
    };
    let first = within(from);
    let mut end = to;
    while !first.is_empty() && size > 0 && end.saturating_add(size) <= shape.size && within(end) == first {
        end = end.saturating_add(size);
    }
    end
}

pub(crate) fn number_at(shape: &Shape, offset: u64) -> Option<usize> {
    shape
        .members
        .iter()
        .position(|member| member.offset <= offset && offset < member.offset + member.size.max(1))
}

pub(crate) fn member_at(shape: &Shape, offset: u64) -> Option<String> {
    number_at(shape, offset).and_then(|number| shape.members.get(number)).map(|member| member.name.clone())
}

pub(crate) fn names(shape: &Shape, numbers: std::ops::RangeInclusive<usize>) -> Vec<String> {
    let members = shape.members.iter().skip(*numbers.start()).take(numbers.end() + 1 - numbers.start());
    members.map(|member| member.name.clone()).collect()
}
