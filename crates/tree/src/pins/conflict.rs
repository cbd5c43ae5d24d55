//! Pins that contradict each other or the struct: found before anything is searched.

use super::wish::{Directive, Resolved};
use anyhow::{Result, bail};
use fieldline_layout::constraint::{LineKind, Wishes, constraints};
use fieldline_layout::layout::Role;
use fieldline_layout::{Layout, Member};

/// Checks the pins of one struct. `known` is what the source says; `line` is the cacheline size in bytes.
pub(super) fn check(
    path: &str,
    wishes: &[Resolved],
    layout: &Layout,
    known: &Wishes,
    line: u64,
) -> Result<()> {
    let pins = Pins { path, wishes, layout, line };
    pins.check_places()?;
    pins.check_room()?;
    pins.check_groups()?;
    pins.check_apart()?;
    pins.check_units(known)?;
    pins.check_regions(known)
}

struct Pins<'p> {
    path: &'p str,
    wishes: &'p [Resolved],
    layout: &'p Layout,
    line: u64,
}

impl Pins<'_> {
    fn of(&self, directive: Directive) -> impl Iterator<Item = &Resolved> {
        self.wishes.iter().filter(move |wish| wish.directive == directive)
    }

    fn label(&self, member: usize) -> &str {
        self.layout.members.get(member).map_or("", Member::label)
    }

    fn bytes(&self, wish: &Resolved) -> u64 {
        wish.members.iter().filter_map(|member| self.layout.members.get(*member)).map(Member::size).sum()
    }

    fn place(&self, wish: &Resolved) -> String {
        format!("{}:{}: struct {}", self.path, wish.line, self.layout.name)
    }

    /// A member has one place.
    fn check_places(&self) -> Result<()> {
        let mut placed: Vec<(usize, &Resolved)> = Vec::new();
        for wish in self.wishes.iter().filter(|wish| wish.directive.line_kind().is_none()) {
            for member in &wish.members {
                if let Some((_, other)) = placed.iter().find(|(known, _)| known == member) {
                    let (label, key) = (self.label(*member), wish.directive.key());
                    let (other_key, other_line) = (other.directive.key(), other.line);
                    let place = self.place(wish);
                    bail!("{place}: '{label}' is pinned {key}, and {other_key} in line {other_line}");
                }
                placed.push((*member, wish));
            }
            let flexible = wish.members.iter().find(|member| self.is_flexible(**member));
            if let Some(member) = flexible.filter(|_| wish.directive == Directive::First) {
                bail!("{}: '{}' is a flexible array, which is last", self.place(wish), self.label(*member));
            }
        }
        Ok(())
    }

    /// What shares a cacheline fits in one.
    fn check_room(&self) -> Result<()> {
        for wish in self.of(Directive::SameLine) {
            let bytes = self.bytes(wish);
            if bytes > self.line {
                let (place, labels) = (self.place(wish), self.labels(&wish.members));
                bail!("{place}: {labels} take {bytes} bytes, more than a cacheline of {}", self.line);
            }
        }
        Ok(())
    }

    fn labels(&self, members: &[usize]) -> String {
        members.iter().map(|member| format!("'{}'", self.label(*member))).collect::<Vec<_>>().join(", ")
    }

    /// The members of a wish that are in something, if several are.
    fn together(&self, wish: &Resolved, is_in: impl Fn(&usize) -> bool) -> Option<String> {
        let members: Vec<usize> = wish.members.iter().copied().filter(is_in).collect();
        (members.len() > 1).then(|| self.labels(&members))
    }

    /// A member is in one group.
    fn check_groups(&self) -> Result<()> {
        let groups: Vec<&Resolved> = self.of(Directive::Group).collect();
        for (index, group) in groups.iter().enumerate() {
            for other in groups.iter().take(index) {
                if let Some(member) = group.members.iter().find(|member| other.members.contains(member)) {
                    let label = self.label(*member);
                    bail!("{}: '{label}' is in the group of line {} too", self.place(group), other.line);
                }
            }
        }
        Ok(())
    }

    /// What lies apart is not on one line by another pin, be it by way of third members.
    fn check_apart(&self) -> Result<()> {
        let mut lines: Vec<(Vec<usize>, usize)> = Vec::new();
        for wish in self.wishes.iter().filter(|wish| self.shares_line(wish)) {
            let mut joined = (wish.members.clone(), wish.line);
            lines.retain(|other| {
                let meets = other.0.iter().any(|member| joined.0.contains(member));
                if meets {
                    joined.0.extend(&other.0);
                }
                !meets
            });
            lines.push(joined);
        }
        for wish in self.of(Directive::Apart) {
            for (line, number) in &lines {
                if let Some(labels) = self.together(wish, |member| line.contains(member)) {
                    let place = self.place(wish);
                    bail!("{place}: {labels} lie apart, but line {number} wants them on one cacheline");
                }
            }
        }
        Ok(())
    }

    /// Whether a pin asks for one cacheline: a group does, if it fits in one.
    fn shares_line(&self, wish: &Resolved) -> bool {
        match wish.directive.line_kind() {
            Some(LineKind::Same) => true,
            Some(LineKind::Group) => self.bytes(wish) <= self.line,
            _ => false,
        }
    }

    /// What is declared as one can't lie apart.
    fn check_units(&self, known: &Wishes) -> Result<()> {
        let Ok(found) = constraints(self.layout, known) else { return Ok(()) };
        for wish in self.of(Directive::Apart) {
            for unit in &found.units {
                if let Some(labels) = self.together(wish, |member| unit.members.contains(member)) {
                    bail!("{}: {labels} move as one, so they can't lie apart", self.place(wish));
                }
            }
        }
        Ok(())
    }

    /// What is first or last can get there: the text keeps no other member before or behind it.
    fn check_regions(&self, known: &Wishes) -> Result<()> {
        let region = |member: usize| known.notes.get(member).and_then(|note| note.region);
        let pinned = |directive| -> Vec<usize> {
            self.of(directive).flat_map(|wish| wish.members.iter().copied()).collect()
        };
        for (directive, side) in [(Directive::First, "before"), (Directive::Last, "behind")] {
            let own = pinned(directive);
            for wish in self.of(directive) {
                let beyond = |member: usize, other: usize| match directive {
                    Directive::First => region(other) < region(member),
                    _ => region(other) > region(member) && !self.is_flexible(other),
                };
                let others = (0..known.notes.len()).filter(|other| !own.contains(other));
                let pairs = others.flat_map(|other| wish.members.iter().map(move |member| (*member, other)));
                if let Some((member, other)) = pairs.into_iter().find(|pair| beyond(pair.0, pair.1)) {
                    let (label, other, key) = (self.label(member), self.label(other), directive.key());
                    let place = self.place(wish);
                    bail!("{place}: '{label}' can't be {key}: the source keeps '{other}' {side} it");
                }
            }
        }
        Ok(())
    }

    fn is_flexible(&self, member: usize) -> bool {
        self.layout.members.get(member).is_some_and(|of| of.role == Role::FlexibleArray)
    }
}
