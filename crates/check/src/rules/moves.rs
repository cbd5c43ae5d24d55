//! A place for a member that a finding would not be there with.
//!
//! Places are those that the constraints of the layout allow. Each is laid out by the C rules, so that only one
//! that mends the finding is offered, and none that costs elsewhere.

use super::subject::CheckedStruct;
use crate::change::{ChangeKind, TypeChange};
use crate::field::Field;
use fieldline_layout::constraint::{Constraints, PinnedMember, PlacementRequests, constraints};
use fieldline_layout::layout::MemberRole;
use fieldline_layout::{Layout, Member, abi};
use std::collections::BTreeSet;

/// Members of a change that are tried at other places; of the first ones most is to be gained.
pub(super) const MAX_TRIED: usize = 4;

/// A struct with one of its members at another place.
pub(super) struct MovedLayout {
    pub(super) layout: Layout,
    /// Declared indices in the new order.
    order: Vec<usize>,
    /// The declared index of the member moved.
    moved: usize,
}

impl MovedLayout {
    /// A member by its declared index.
    pub(super) fn member(&self, declared: usize) -> Option<&Member> {
        let place = self.order.iter().position(|index| *index == declared)?;
        self.layout.members.get(place)
    }

    /// The line that a field begins on.
    pub(super) fn line_of(&self, field: &Field<'_>, now: &Layout, line: u64) -> Option<u64> {
        let inside = field.member.bit_offset.checked_sub(now.members.get(field.top)?.bit_offset)?;
        let start = self.member(field.top)?.bit_offset.saturating_add(inside);
        Some(start / 8 / line.max(1))
    }

    /// The declared index of the member in front of the one moved.
    fn predecessor(&self) -> Option<usize> {
        let place = self.order.iter().position(|index| *index == self.moved)?;
        self.order.get(place.checked_sub(1)?).copied()
    }

    /// How many other members get another offset.
    fn shifted(&self, now: &Layout) -> usize {
        let others = self.order.iter().zip(&self.layout.members).filter(|(index, _)| **index != self.moved);
        let is_shifted = |(index, member): (&usize, &Member)| {
            now.members.get(*index).is_some_and(|was| was.bit_offset != member.bit_offset)
        };
        others.filter(|pair| is_shifted((pair.0, pair.1))).count()
    }

    /// Whether no member straddles a line that doesn't now.
    fn makes_none_straddle(&self, now: &Layout, line: u64) -> bool {
        let did = |index: &usize| now.members.get(*index).is_some_and(|member| member.straddles_line(line));
        let mut members = self.order.iter().zip(&self.layout.members);
        members.all(|(index, member)| !member.straddles_line(line) || did(index))
    }
}

/// Members of one struct at other places.
pub(super) struct Mover<'m, 's> {
    subject: &'m CheckedStruct<'s>,
    limits: Constraints,
}

impl<'m, 's> Mover<'m, 's> {
    /// `None` if nobody may choose the order of the members, or offsets don't follow from the declaration.
    pub(super) fn new(subject: &'m CheckedStruct<'s>) -> Option<Self> {
        let layout = subject.now;
        if !abi::reproduces(&abi::infer_abi(layout), layout) {
            return None;
        }
        let limits = constraints(layout, &pins(subject)).ok()?;
        Some(Self { subject, limits })
    }

    /// The place for one of some members that mends what `mends` checks and moves the fewest others, as an
    /// instruction. A place where the member was before comes first.
    pub(super) fn find(&self, candidates: &[usize], mends: impl Fn(&MovedLayout) -> bool) -> Option<String> {
        let now = self.subject.now;
        let placed = candidates.iter().enumerate().flat_map(|(rank, member)| {
            let fitting =
                self.places(*member).into_iter().filter(|moved| self.is_harmless(moved) && mends(moved));
            fitting.map(move |moved| ((!self.was_there(&moved), moved.shifted(now), rank), moved))
        });
        let (_, best) = placed.min_by_key(|(cost, _)| *cost)?;
        Some(self.describe(&best))
    }

    /// The layout with a member behind another one, both by name, if that is legal.
    pub(super) fn move_behind(&self, name: &str, behind: &str) -> Option<MovedLayout> {
        let index =
            |wanted: &str| self.subject.now.members.iter().position(|member| member.label() == wanted);
        let (member, behind) = (index(name)?, index(behind)?);
        self.places(member).into_iter().find(|moved| moved.predecessor() == Some(behind))
    }

    /// Bytes of a cacheline.
    pub(super) fn line(&self) -> u64 {
        self.subject.line
    }

    /// The declared index of a member of the struct itself.
    pub(super) fn index_of(&self, name: &str) -> Option<usize> {
        top_level(self.subject, self.subject.find_field(name)?)
    }

    /// The name of the member in front of the one moved.
    pub(super) fn predecessor_name(&self, moved: &MovedLayout) -> Option<&'m str> {
        self.subject.now.members.get(moved.predecessor()?)?.name.as_deref()
    }

    /// All layouts with a member at another place.
    fn places(&self, member: usize) -> Vec<MovedLayout> {
        let Some(unit) = self.limits.units.iter().position(|unit| unit.members == [member]) else {
            return Vec::new();
        };
        let others: Vec<usize> = (0..self.limits.units.len()).filter(|index| *index != unit).collect();
        // Code may rely on the first member.
        let elsewhere = (1..=others.len()).filter(|place| *place != unit);
        let placed = elsewhere.filter_map(|place| {
            let order = [&others[..place], &[unit], &others[place..]].concat();
            let is_legal = match self.is_added(member) {
                true => self.can_stand_behind(&others[..place]),
                false => self.limits.check(&order).is_ok(),
            };
            if !is_legal {
                return None;
            }
            let order = self.limits.member_order(&order);
            let layout = abi::reorder(self.subject.now, &order)?;
            Some(MovedLayout { layout, order, moved: member })
        });
        placed.collect()
    }

    /// Whether a member is new: no declaration keeps it where it is.
    fn is_added(&self, member: usize) -> bool {
        let name = self.subject.now.members.get(member).and_then(|member| member.name.as_deref());
        let changes = self.subject.change.iter().flat_map(|change| &change.members);
        let mut added = changes.filter(|change| change.what == [ChangeKind::Added]);
        added.any(|change| Some(change.member.as_str()) == name)
    }

    /// Whether a new member may stand behind some units: in no cacheline group, and neither behind what ends the
    /// struct nor between a marker and what it marks.
    fn can_stand_behind(&self, units: &[usize]) -> bool {
        let members = self.limits.member_order(units);
        let members: Vec<&Member> =
            members.iter().filter_map(|index| self.subject.now.members.get(*index)).collect();
        let count = |role| members.iter().filter(|member| member.role == role).count();
        let last = members.last();
        count(MemberRole::GroupBegin) == count(MemberRole::GroupEnd)
            && last.is_some_and(|last| last.bit_size > 0 || last.role == MemberRole::GroupEnd)
            && !members.iter().any(|member| member.ends_open())
            && last.is_none_or(|last| self.subject.ends.last.is_none() || last.name != self.subject.ends.last)
    }

    /// Whether the struct gets no larger, no other member straddles a line, and hot members lie on no more lines.
    fn is_harmless(&self, moved: &MovedLayout) -> bool {
        let (now, line) = (self.subject.now, self.subject.line);
        moved.layout.size <= now.size
            && moved.makes_none_straddle(now, line)
            && self.hot_lines(Some(moved)) <= self.hot_lines(None)
    }

    /// How many lines the hot members begin on.
    pub(super) fn hot_lines(&self, moved: Option<&MovedLayout>) -> usize {
        let subject = self.subject;
        let is_hot = |index: usize| subject.heat.as_ref().is_some_and(|heat| heat.is_hot(index));
        let hot = (0..).zip(&subject.fields).filter(|(index, field)| field.is_leaf() && is_hot(*index));
        let lines = hot.filter_map(|(_, field)| match moved {
            Some(moved) => moved.line_of(field, subject.now, subject.line),
            None => Some(field.line(subject.line)),
        });
        lines.collect::<BTreeSet<u64>>().len()
    }

    /// Whether the member was behind the same one in the earlier layout.
    fn was_there(&self, moved: &MovedLayout) -> bool {
        let label =
            |layout: &Layout, index: usize| layout.members.get(index).map(|member| member.label().to_owned());
        let now = self.subject.now;
        let (Some(before), Some(name)) = (self.subject.before, label(now, moved.moved)) else { return false };
        let was = before.members.iter().position(|member| member.label() == name);
        let was_behind = was.and_then(|index| label(before, index.checked_sub(1)?));
        was_behind.is_some() && was_behind == moved.predecessor().and_then(|index| label(now, index))
    }

    fn describe(&self, moved: &MovedLayout) -> String {
        let label = |index: usize| self.subject.now.members.get(index).map_or("", |member| member.label());
        let place = moved.predecessor().map_or_else(String::new, |index| format!("behind {}", label(index)));
        let note = match (self.was_there(moved), moved.shifted(self.subject.now)) {
            (true, _) => ", where it was",
            (false, 0) => ", into the hole there",
            _ => "",
        };
        format!("move {} {place}{note}", label(moved.moved))
    }
}

/// Ends that are pinned and kept now.
fn pins(subject: &CheckedStruct<'_>) -> PlacementRequests {
    let index = |name: &Option<String>| {
        subject.now.members.iter().position(|member| member.name.is_some() && member.name == *name)
    };
    let pin = |index: usize| vec![PinnedMember { member: index, reason: "pinned".to_owned() }];
    let last = index(&subject.ends.last).filter(|index| index + 1 == subject.now.members.len());
    let first = index(&subject.ends.first).filter(|index| *index == 0);
    PlacementRequests {
        first: first.map(pin).unwrap_or_default(),
        last: last.map(pin).unwrap_or_default(),
        ..PlacementRequests::default()
    }
}

/// The declared index of a field that is a member of the struct itself.
pub(super) fn top_level(subject: &CheckedStruct<'_>, field: &Field<'_>) -> Option<usize> {
    let member = subject.now.members.get(field.top)?;
    (std::ptr::eq(member, field.member) && field.is_data()).then_some(field.top)
}

/// Members that are new, larger or elsewhere, the new ones first: they are what a finding comes from.
pub(super) fn changed_members(subject: &CheckedStruct<'_>) -> Vec<usize> {
    let Some(change) = &subject.change else { return Vec::new() };
    let kinds = [ChangeKind::Added, ChangeKind::Resized, ChangeKind::Moved];
    let mut found = Vec::new();
    for kind in kinds {
        let changed = change.members.iter().filter(|member| member.what.contains(&kind));
        let fields = changed.filter_map(|member| subject.find_field(&member.member));
        for index in fields.filter_map(|field| top_level(subject, field)) {
            if !found.contains(&index) {
                found.push(index);
            }
        }
    }
    found.truncate(MAX_TRIED);
    found
}

/// New and larger members, in order: the struct grew by them.
pub(super) fn grown_members<'c>(subject: &CheckedStruct<'_>, change: &'c TypeChange) -> Vec<&'c str> {
    let is_grown = |member: &&crate::change::MemberChange| {
        let after = member.after.as_ref().map_or(0, |position| position.bit_size);
        after > member.before.as_ref().map_or(0, |position| position.bit_size)
    };
    let is_own =
        |name: &str| subject.find_field(name).is_some_and(|field| top_level(subject, field).is_some());
    let grown = change.members.iter().filter(is_grown).map(|member| member.member.as_str());
    grown.filter(|name| is_own(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Rule, Settings, check_struct};
    use crate::testing::{layout, member};
    use fieldline_layout::testing::placed;

    /// The moves that mend the findings of a rule.
    fn fixes(before: &Layout, now: &Layout, rule: Rule) -> Vec<Option<String>> {
        let found = check_struct(&CheckedStruct::new(now, Some(before), 64), &Settings::default());
        found.into_iter().filter(|finding| finding.rule == rule).map(|finding| finding.fix).collect()
    }

    #[test]
    fn a_new_member_goes_to_a_hole_it_fits() {
        let before = placed("sample", &[("a", 8, 8), ("b", 4, 4), ("c", 8, 8), ("d", 8, 8)]);
        let now = placed("sample", &[("a", 8, 8), ("b", 4, 4), ("c", 8, 8), ("d", 8, 8), ("new", 4, 4)]);
        let fix = Some("move new behind b, into the hole there".to_owned());
        assert_eq!(fixes(&before, &now, Rule::SizeGrew), [fix]);
        let large = placed("sample", &[("a", 8, 8), ("b", 4, 4), ("c", 8, 8), ("d", 8, 8), ("new", 8, 8)]);
        assert_eq!(fixes(&before, &large, Rule::SizeGrew), [None], "no hole is large enough");
    }

    #[test]
    fn a_member_that_moved_goes_back_to_where_it_was() {
        let before = placed("sample", &[("a", 8, 8), ("b", 4, 4), ("c", 4, 4), ("d", 8, 8)]);
        let now = placed("sample", &[("a", 8, 8), ("c", 4, 4), ("d", 8, 8), ("b", 4, 4)]);
        assert_eq!(fixes(&before, &now, Rule::SizeGrew), [Some("move b behind a, where it was".to_owned())]);
    }

    #[test]
    fn a_move_that_costs_elsewhere_is_not_offered() {
        let before = placed("sample", &[("a", 56, 8), ("wide", 8, 4), ("end", 60, 4)]);
        let now = placed("sample", &[("a", 56, 8), ("new", 4, 4), ("wide", 8, 4), ("end", 60, 4)]);
        let fix = Some("move wide behind a, where it was".to_owned());
        assert_eq!(fixes(&before, &now, Rule::StraddlesLine), [fix], "end stays on one line");
        // `wide` fits a line behind `end` only, which would then straddle one in its place.
        let before = placed("sample", &[("a", 56, 8), ("wide", 8, 4), ("end", 56, 4)]);
        let now = placed("sample", &[("a", 56, 8), ("wide", 12, 4), ("end", 56, 4)]);
        assert_eq!(fixes(&before, &now, Rule::StraddlesLine), [None]);
    }

    #[test]
    fn a_new_member_goes_in_front_of_a_group_and_not_into_it() {
        let mut begin = member(Some("__cacheline_group_begin__hot"), 8, 0);
        begin.role = MemberRole::GroupBegin;
        let mut end = member(Some("__cacheline_group_end__hot"), 24, 0);
        end.role = MemberRole::GroupEnd;
        let (mut small, a, b) =
            (member(Some("small"), 8, 4), member(Some("a"), 0, 8), member(Some("b"), 16, 8));
        small.align = 4;
        let mut new = member(Some("new"), 24, 4);
        new.align = 4;
        let members = vec![a, begin, small, b, end];
        let before = layout(24, members.clone());
        let now = layout(32, [members, vec![new]].concat());
        assert_eq!(fixes(&before, &now, Rule::SizeGrew), [Some("move new behind a".to_owned())]);
    }
}
