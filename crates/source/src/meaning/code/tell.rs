//! Demands of a use, told of a record.

use crate::meaning::code::evaluator::{Evaluator, Found};
use crate::uses::UseDemand;
use std::ops::Range;

impl<'t> Evaluator<'_, '_, 't> {
    /// Tells a demand of a record, if that is a subject.
    pub(in crate::meaning) fn tell(
        &mut self,
        record: &[u8],
        demand: UseDemand,
        members: Vec<usize>,
        what: String,
    ) {
        let Some((subject, _)) = self.subject(record).filter(|_| !self.is_quiet) else { return };
        let piece = self.cursor.pieces.get(self.cursor.at.saturating_sub(1));
        let (line, source) = piece.map_or((0, 0), |piece| (piece.line, piece.source));
        self.found.push(Found { subject, line, source, demand, members, what });
    }

    pub(in crate::meaning) fn tell_whole(&mut self, record: &[u8], what: String) {
        self.tell(record, UseDemand::Whole, Vec::new(), what);
    }

    /// The size stays what it is: where it could shrink, nothing moves.
    pub(in crate::meaning) fn tell_size(&mut self, record: &[u8], what: String) {
        let Some((_, subject)) = self.subject(record) else { return };
        let world = self.world();
        let members = world.records.get(record).map(|known| known.members.as_slice()).unwrap_or_default();
        let alignment = members.iter().map(|member| world.alignment(&member.ty)).max().unwrap_or(1);
        let least: u64 = subject.members.iter().map(|member| member.size).sum();
        match least.next_multiple_of(alignment) < subject.size {
            true => self.tell_whole(record, what),
            false => self.tell(record, UseDemand::Size, Vec::new(), what),
        }
    }

    /// Members neither move nor are passed.
    pub(in crate::meaning) fn tell_pins(&mut self, record: &[u8], names: &[&[u8]], what: String) {
        let Some((_, subject)) = self.subject(record) else { return };
        let mut members: Vec<usize> = names.iter().filter_map(|name| subject.number(name)).collect();
        members.sort_unstable();
        members.dedup();
        // Of a member that isn't known to the compiler nothing is left to hold but all.
        match members.is_empty() {
            true => self.tell_whole(record, what),
            false => self.tell(record, UseDemand::Boundary, members, what),
        }
    }

    /// A member and all behind it stay.
    pub(in crate::meaning) fn tell_from(&mut self, record: &[u8], name: &[u8], what: String) {
        let Some((_, subject)) = self.subject(record) else { return };
        match subject.number(name) {
            Some(first) => {
                let members = (first..subject.members.len()).collect();
                self.tell(record, UseDemand::Boundary, members, what);
            }
            None => self.tell_whole(record, what),
        }
    }

    /// The bytes from one offset to another belong together.
    pub(in crate::meaning) fn tell_bytes(
        &mut self,
        record: &[u8],
        bytes: Range<i64>,
        is_ordered: bool,
        what: String,
    ) {
        let Some((_, subject)) = self.subject(record) else { return };
        let (Ok(start), Ok(end)) = (u64::try_from(bytes.start), u64::try_from(bytes.end)) else {
            return self.tell_whole(record, what);
        };
        let members = subject.members.iter().enumerate();
        let edge = |at: u64| {
            let cut = members.clone().filter(move |(_, member)| {
                member.offset < at && at < member.offset.saturating_add(member.size)
            });
            let next = members
                .clone()
                .filter(move |(_, member)| member.offset >= at && at > 0)
                .map(|(number, _)| number)
                .next();
            cut.map(|(number, _)| number).chain(next).collect::<Vec<usize>>()
        };
        let is_cut = |at: u64| {
            members
                .clone()
                .any(|(_, member)| member.offset < at && at < member.offset.saturating_add(member.size))
        };
        let mut pins = edge(start);
        if end < subject.size {
            pins.extend(edge(end));
        }
        // Where a range ends inside a member, the members in front are read at their offsets.
        if start == 0 && is_cut(end) {
            let count = members.clone().filter(|(_, member)| member.offset < end).count();
            return self.tell(record, UseDemand::Positions(count), Vec::new(), what);
        }
        // What is copied or read as bytes has an order inside too.
        if is_ordered {
            let inside = members.clone().filter(|(_, member)| {
                member.offset < end && member.offset.saturating_add(member.size) > start
            });
            pins.extend(inside.map(|(number, _)| number));
        }
        pins.sort_unstable();
        pins.dedup();
        if pins.is_empty() {
            if start > 0 || end < subject.size {
                pins.extend(subject.members.len().checked_sub(1));
            } else {
                return;
            }
        }
        self.tell(record, UseDemand::Boundary, pins, what);
    }
}
