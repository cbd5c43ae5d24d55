//! Which positions are legal for a new member, and notes on them.

use super::growth::{MemberAddition, shifted_index};
use fieldline_layout::Layout;
use fieldline_layout::constraint::{Constraints, Unit, UnitConstraint, UnitConstraintKind};
use fieldline_layout::layout::{Member, MemberRole};
use std::collections::BTreeMap;

/// Begin and end of the names of cacheline groups (include/linux/cache.h).
const GROUP_BEGIN: &str = "__cacheline_group_begin__";
const GROUP_END: &str = "__cacheline_group_end__";

/// Beginning of a note that does not speak against a position.
pub(super) const SHARES: &str = "shares a memory location with";

/// Constraints of the declarations around each position.
pub(super) struct DeclarationRules<'a> {
    addition: &'a MemberAddition<'a>,
    limits: &'a Constraints,
    units: Vec<usize>,
}

impl<'a> DeclarationRules<'a> {
    pub(super) fn new(addition: &'a MemberAddition<'a>, limits: &'a Constraints) -> Self {
        let mut units = vec![0; addition.layout.members.len()];
        for (number, unit) in limits.units.iter().enumerate() {
            for member in &unit.members {
                units[*member] = number;
            }
        }
        Self { addition, limits, units }
    }

    fn member(&self, index: usize) -> Option<&Member> {
        self.addition.layout.members.get(index)
    }

    fn unit(&self, index: usize) -> Option<&Unit> {
        self.limits.units.get(*self.units.get(index)?)
    }

    fn label(&self, index: usize) -> &str {
        self.member(index).map_or("", |member| member.label())
    }

    fn hold(&self, index: usize) -> Option<&UnitConstraint> {
        self.unit(index)?.constraint.as_ref()
    }

    /// Notes on the position behind the first `place` members.
    ///
    /// # Errors
    /// Why nothing can stand there.
    pub(super) fn check(&self, place: usize) -> Result<Vec<String>, String> {
        let before = place.checked_sub(1);
        let mut notes = Vec::new();
        match before {
            None => self.check_start(&mut notes)?,
            Some(before) => self.check_predecessor(before, &mut notes)?,
        }
        if place == self.units.len() {
            self.check_end()?;
        }
        if let Some((before, unit)) = before.and_then(|before| Some((before, self.unit(before)?))) {
            let same = self.units.get(before) == self.units.get(place);
            if same && unit.is_bit_run {
                return Err("it would split a run of bit-fields".to_owned());
            } else if same {
                return Err("it would split declarations that stay together".to_owned());
            }
            // Two neighbours that stay where they are may belong together.
            if unit.keeps_order() && self.unit(place).is_some_and(Unit::keeps_order) {
                return Err(format!("{} and {} stay where they are", self.label(before), self.label(place)));
            }
        }
        self.check_bit_fields(place, &mut notes)?;
        notes.extend(self.group_note(place));
        notes.extend(self.marker_note(place));
        notes.extend(self.condition_note(place));
        Ok(notes)
    }

    fn check_start(&self, notes: &mut Vec<String>) -> Result<(), String> {
        let Some(first) = self.member(0) else { return Ok(()) };
        let is_pinned = self.addition.requests.first.iter().any(|pin| pin.member == 0);
        if let Some(hold) = self.hold(0).filter(|hold| stays_at_end(hold) || is_pinned) {
            return Err(format!("{} stays first: {}", first.label(), hold.reason));
        }
        notes.push(format!("code may rely on {} being first", first.label()));
        Ok(())
    }

    fn check_end(&self) -> Result<(), String> {
        let Some(last) = self.units.len().checked_sub(1) else { return Ok(()) };
        match self.hold(last).filter(|hold| stays_at_end(hold)) {
            Some(hold) => Err(format!("{} stays last: {}", self.label(last), hold.reason)),
            None => Ok(()),
        }
    }

    fn check_predecessor(&self, before: usize, notes: &mut Vec<String>) -> Result<(), String> {
        let Some(member) = self.member(before) else { return Ok(()) };
        let label = member.label();
        if member.role == MemberRole::FlexibleArray || !member.members.is_empty() && member.ends_open() {
            return Err(format!("nothing can stand behind the flexible array {label}"));
        }
        let is_group = member.role == MemberRole::GroupBegin
            || member.role == MemberRole::GroupEnd
            || label.starts_with(GROUP_BEGIN)
            || label.starts_with(GROUP_END);
        let is_mark = member.bit_size == 0 && !is_group;
        if is_mark {
            return Err(format!("{label} marks the place of what stands behind it"));
        }
        if self.addition.requests.first.iter().any(|pin| pin.member == before + 1) {
            return Err(format!("the member behind {label} is pinned to the front"));
        }
        if self.addition.requests.last.iter().any(|pin| pin.member == before) {
            return Err(format!("{label} is pinned to the end"));
        }
        if let Some(hold) = self.hold(before).filter(|hold| hold.kind == UnitConstraintKind::Order) {
            notes.push(format!("next to {label}, which stays where it is: {}", hold.reason));
        }
        Ok(())
    }

    fn check_bit_fields(&self, place: usize, notes: &mut Vec<String>) -> Result<(), String> {
        if !self.addition.member.is_bit_field() {
            return Ok(());
        }
        let is_run = |index: usize| self.unit(index).is_some_and(|unit| unit.is_bit_run);
        if is_run(place) {
            return Err("it would shift the bit-fields behind it".to_owned());
        }
        if place.checked_sub(1).is_some_and(is_run) {
            notes.push(format!("{SHARES} the bit-fields before it: all that write them need one lock"));
        }
        Ok(())
    }

    /// The innermost cacheline group around a position, unless a member it is touched with is in it.
    fn group_note(&self, place: usize) -> Option<String> {
        let around = |place: usize| {
            let mut open: Vec<&str> = Vec::new();
            for member in self.addition.layout.members.iter().take(place) {
                if let Some(name) = member.label().strip_prefix(GROUP_BEGIN) {
                    open.push(name);
                } else if let Some(name) = member.label().strip_prefix(GROUP_END) {
                    open.retain(|other| *other != name);
                }
            }
            open.last().map(|name| (*name).to_owned())
        };
        let group = around(place)?;
        let is_meant = self.addition.with.iter().any(|with| around(*with).as_ref() == Some(&group));
        (!is_meant).then(|| format!("inside the cacheline group {group}"))
    }

    /// Zero-size members before and behind a position, between which code may copy or clear all at once.
    fn marker_note(&self, place: usize) -> Option<String> {
        let is_mark = |member: &&Member| {
            member.bit_size == 0
                && member.role != MemberRole::FlexibleArray
                && !member.label().contains("__cacheline_group_")
        };
        let members = &self.addition.layout.members;
        let before = members.iter().take(place).rev().find(is_mark)?;
        let behind = members.iter().skip(place).find(is_mark)?;
        let (before, behind) = (before.label(), behind.label());
        Some(format!("between the markers {before} and {behind}: code may copy or clear all of that"))
    }

    /// Conditions that hold on both sides.
    fn condition_note(&self, place: usize) -> Option<String> {
        let guards = |index: usize| self.addition.guards.get(index).map_or(&[][..], Vec::as_slice);
        let before = guards(place.checked_sub(1)?);
        if place >= self.units.len() {
            return None;
        }
        let common = before.iter().zip(guards(place)).take_while(|(this, other)| this == other);
        let common: Vec<&str> = common.map(|(this, _)| this.as_str()).collect();
        (!common.is_empty()).then(|| format!("inside #if {}", common.join(" and ")))
    }

    /// A hole that only this configuration has.
    pub(super) fn hole_note(addition: &MemberAddition<'_>, place: usize) -> Option<String> {
        let near = [place.checked_sub(1), Some(place)];
        let conditions = near.into_iter().flatten().filter_map(|index| addition.guards.get(index)).flatten();
        let mut conditions: Vec<&str> = conditions.map(String::as_str).collect();
        conditions.sort_unstable();
        conditions.dedup();
        (!conditions.is_empty()).then(|| format!("the hole is there with {}", conditions.join(", ")))
    }

    /// Why a place is not legal, if it is not: by declarations around it, or by a pin that the layout breaks.
    pub(super) fn bar(&self, after: &Layout, place: usize, line: u64) -> Option<String> {
        self.check(place).err().or_else(|| self.violated_pin(after, place, line))
    }

    /// A pin that the layout with the new member breaks.
    pub(super) fn violated_pin(&self, after: &Layout, place: usize, line: u64) -> Option<String> {
        let member = |index: usize| after.members.get(shifted_index(index, place));
        let kept = |unit: &Unit| Some((*unit.members.first()?, unit.kept_offset()?));
        for (index, offset) in self.limits.units.iter().filter_map(kept) {
            if member(index).is_some_and(|member| member.offset() != offset) {
                return Some(format!("{} stays at offset {offset}", self.label(index)));
            }
        }
        let begin = |unit: usize| {
            let members = self.limits.units.get(unit).map(|unit| unit.members.iter());
            let placed = members.into_iter().flatten().filter_map(|index| member(*index));
            placed.map(|member| member.bit_offset).min().unwrap_or(0)
        };
        let violated = self.limits.line_constraints.iter().find(|pin| !pin.is_satisfied(line, begin));
        violated.map(|pin| pin.reason.clone())
    }

    /// The most frequent reason why no position is legal.
    pub(super) fn most_frequent_reason(&self) -> String {
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for reason in (0..=self.units.len()).filter_map(|place| self.check(place).err()) {
            *reasons.entry(reason).or_default() += 1;
        }
        // Of equally frequent ones the lexicographically first.
        match reasons.iter().rev().max_by_key(|(_, count)| **count) {
            Some((reason, _)) => format!("no place is legal: {reason}"),
            None => "every place breaks a pin".to_owned(),
        }
    }
}

/// Whether a member's declaration can't move, which next to an end of the struct bars an insertion.
fn stays_at_end(hold: &UnitConstraint) -> bool {
    hold.kind != UnitConstraintKind::Fixed
}
