//! Pins that contradict each other or the struct: found before anything is searched.

use super::request::{PinDirective, ResolvedPin};
use anyhow::{Result, bail};
use fieldline_layout::constraint::{CachelineRequestKind, PlacementRequests, constraints};
use fieldline_layout::layout::MemberRole;
use fieldline_layout::{Layout, Member};

/// The pins of one struct.
pub(super) struct PinChecker<'p> {
    pub(super) path: &'p str,
    pub(super) resolved: &'p [ResolvedPin],
    pub(super) layout: &'p Layout,
    /// Cacheline size in bytes.
    pub(super) line: u64,
}

impl PinChecker<'_> {
    /// Checks the pins. `known` is what the source says.
    pub(super) fn check(&self, known: &PlacementRequests) -> Result<()> {
        self.check_places()?;
        self.check_room()?;
        self.check_groups()?;
        self.check_apart()?;
        self.check_units(known)?;
        self.check_regions(known)
    }
    fn with_directive(&self, directive: PinDirective) -> impl Iterator<Item = &ResolvedPin> {
        self.resolved.iter().filter(move |pin| pin.directive == directive)
    }

    fn label(&self, member: usize) -> &str {
        self.layout.members.get(member).map_or("", Member::label)
    }

    fn bytes(&self, pin: &ResolvedPin) -> u64 {
        pin.members.iter().filter_map(|member| self.layout.members.get(*member)).map(Member::size).sum()
    }

    fn format_position(&self, pin: &ResolvedPin) -> String {
        format!("{}:{}: struct {}", self.path, pin.line, self.layout.name)
    }

    /// A member has one place.
    fn check_places(&self) -> Result<()> {
        let mut placed: Vec<(usize, &ResolvedPin)> = Vec::new();
        for pin in self.resolved.iter().filter(|pin| pin.directive.line_kind().is_none()) {
            for member in &pin.members {
                if let Some((_, other)) = placed.iter().find(|(known, _)| known == member) {
                    let (label, key) = (self.label(*member), pin.directive.key());
                    let (other_key, other_line) = (other.directive.key(), other.line);
                    let place = self.format_position(pin);
                    bail!("{place}: '{label}' is pinned {key}, and {other_key} in line {other_line}");
                }
                placed.push((*member, pin));
            }
            let flexible = pin.members.iter().find(|member| self.is_flexible(**member));
            if let Some(member) = flexible.filter(|_| pin.directive == PinDirective::First) {
                let (place, label) = (self.format_position(pin), self.label(*member));
                bail!("{place}: '{label}' is a flexible array, which is last");
            }
        }
        Ok(())
    }

    /// Members that share a cacheline fit in one.
    fn check_room(&self) -> Result<()> {
        for pin in self.with_directive(PinDirective::SameLine) {
            let bytes = self.bytes(pin);
            if bytes > self.line {
                let (place, labels) = (self.format_position(pin), self.labels(&pin.members));
                bail!("{place}: {labels} take {bytes} bytes, more than a cacheline of {}", self.line);
            }
        }
        Ok(())
    }

    fn labels(&self, members: &[usize]) -> String {
        members.iter().map(|member| format!("'{}'", self.label(*member))).collect::<Vec<_>>().join(", ")
    }

    /// The members of a pin that satisfy a condition, if several do.
    fn labels_of_several(&self, pin: &ResolvedPin, is_in: impl Fn(&usize) -> bool) -> Option<String> {
        let members: Vec<usize> = pin.members.iter().copied().filter(is_in).collect();
        (members.len() > 1).then(|| self.labels(&members))
    }

    /// A member is in one group.
    fn check_groups(&self) -> Result<()> {
        let groups: Vec<&ResolvedPin> = self.with_directive(PinDirective::Group).collect();
        for (index, group) in groups.iter().enumerate() {
            for other in groups.iter().take(index) {
                if let Some(member) = group.members.iter().find(|member| other.members.contains(member)) {
                    let (place, label) = (self.format_position(group), self.label(*member));
                    bail!("{place}: '{label}' is in the group of line {} too", other.line);
                }
            }
        }
        Ok(())
    }

    /// Separate members don't share a line by another pin, not even through third members.
    fn check_apart(&self) -> Result<()> {
        let mut lines: Vec<(Vec<usize>, usize)> = Vec::new();
        for pin in self.resolved.iter().filter(|pin| self.shares_line(pin)) {
            let mut joined = (pin.members.clone(), pin.line);
            lines.retain(|other| {
                let meets = other.0.iter().any(|member| joined.0.contains(member));
                if meets {
                    joined.0.extend(&other.0);
                }
                !meets
            });
            lines.push(joined);
        }
        for pin in self.with_directive(PinDirective::Apart) {
            for (line, number) in &lines {
                if let Some(labels) = self.labels_of_several(pin, |member| line.contains(member)) {
                    let place = self.format_position(pin);
                    bail!("{place}: {labels} lie apart, but line {number} wants them on one cacheline");
                }
            }
        }
        Ok(())
    }

    /// Whether a pin asks for one cacheline: a group does, if it fits in one.
    fn shares_line(&self, pin: &ResolvedPin) -> bool {
        match pin.directive.line_kind() {
            Some(CachelineRequestKind::Same) => true,
            Some(CachelineRequestKind::Group) => self.bytes(pin) <= self.line,
            _ => false,
        }
    }

    /// Members of one unit can't be separate.
    fn check_units(&self, known: &PlacementRequests) -> Result<()> {
        let Ok(found) = constraints(self.layout, known) else { return Ok(()) };
        for pin in self.with_directive(PinDirective::Apart) {
            for unit in &found.units {
                if let Some(labels) = self.labels_of_several(pin, |member| unit.members.contains(member)) {
                    bail!("{}: {labels} move as one, so they can't lie apart", self.format_position(pin));
                }
            }
        }
        Ok(())
    }

    /// Members that are first or last can get there: the text keeps no other member before or behind them.
    fn check_regions(&self, known: &PlacementRequests) -> Result<()> {
        let region = |member: usize| known.notes.get(member).and_then(|note| note.region);
        let pinned = |directive| -> Vec<usize> {
            self.with_directive(directive).flat_map(|pin| pin.members.iter().copied()).collect()
        };
        for (directive, side) in [(PinDirective::First, "before"), (PinDirective::Last, "behind")] {
            let own = pinned(directive);
            for pin in self.with_directive(directive) {
                let beyond = |member: usize, other: usize| match directive {
                    PinDirective::First => region(other) < region(member),
                    _ => region(other) > region(member) && !self.is_flexible(other),
                };
                let others = (0..known.notes.len()).filter(|other| !own.contains(other));
                let pairs = others.flat_map(|other| pin.members.iter().map(move |member| (*member, other)));
                if let Some((member, other)) = pairs.into_iter().find(|pair| beyond(pair.0, pair.1)) {
                    let (label, other, key) = (self.label(member), self.label(other), directive.key());
                    let place = self.format_position(pin);
                    bail!("{place}: '{label}' can't be {key}: the source keeps '{other}' {side} it");
                }
            }
        }
        Ok(())
    }

    fn is_flexible(&self, member: usize) -> bool {
        self.layout.members.get(member).is_some_and(|found| found.role == MemberRole::FlexibleArray)
    }
}
