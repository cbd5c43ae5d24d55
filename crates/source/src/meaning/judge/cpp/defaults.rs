//! Work that the compiler does member by member without being told to: values by default, comparisons, deletions.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::syntax::words::is_among;
use crate::meaning::types::{Record, Type, innermost};

/// Names that all operators share.
const OPERATOR: &[u8] = b"operator";

/// Functions of the library that change what they are handed by reference.
const CHANGES: &str = " move exchange swap forward ";

impl<'t> Evaluator<'_, '_, 't> {
    /// Whether a function is known to change something.
    fn has_effect(&self, name: &'t [u8]) -> bool {
        let home = self.world().functions.get(name).and_then(|function| function.home);
        !self.kept(Slot::Effect(home, name)).is_empty() || !self.kept(Slot::Effect(None, name)).is_empty()
    }

    /// Whether an operator of the program changes something.
    pub(in crate::meaning) fn operators_change(&self) -> bool {
        let home = Some(self.cursor.file);
        [None, home].into_iter().any(|home| !self.kept(Slot::Effect(home, OPERATOR)).is_empty())
    }

    /// Members whose defaults are computed in their order, where one of them changes something: all that read anything.
    pub(in crate::meaning) fn defaults_that_change(&self, known: &Record<'t>) -> Vec<&'t [u8]> {
        let mut all = known.defaults.iter();
        if !all.any(|default| default.changes || default.calls.iter().any(|name| self.has_effect(name))) {
            return Vec::new();
        }
        let computed = known.defaults.iter().filter(|default| default.changes || default.reads);
        computed.map(|default| default.member).collect()
    }

    /// Whether others see in which order the compiler compares the members of a class: it stops at the first that differs.
    pub(in crate::meaning) fn comparison_shows(&self, class: &[u8]) -> bool {
        let world = self.world();
        let is_class = |ty: &Type<'t>| matches!(innermost(world, ty), Type::Record(_));
        let says_class = |words: &[&'t [u8]]| {
            words.iter().any(|word| world.records.get(word).is_some_and(|known| !known.is_union))
        };
        let members = world.records.get(class).map(|known| known.members.as_slice()).unwrap_or_default();
        let is_compared = members.iter().any(|member| is_class(&member.ty) || says_class(&member.words));
        is_compared && self.operators_change()
    }

    /// A parameter that one member's value is moved from, or that its value changes, and that another member's reads.
    pub(in crate::meaning) fn parameters_changed(
        &mut self,
        class: &'t [u8],
        values: &[(&'t [u8], std::ops::Range<usize>)],
    ) {
        let names = self.scopes.first().into_iter().flatten();
        let mut parameters: Vec<&'t [u8]> =
            names.filter(|(_, local)| local.parameter.is_some()).map(|(name, _)| *name).collect();
        parameters.sort_unstable();
        for parameter in parameters {
            let said = |range: &std::ops::Range<usize>| {
                range.clone().filter(|at| self.is_own_name(*at, parameter)).collect::<Vec<usize>>()
            };
            let users: Vec<(&'t [u8], Vec<usize>)> = values
                .iter()
                .map(|(name, range)| (*name, said(range)))
                .filter(|(_, said)| !said.is_empty())
                .collect();
            let is_changed = users.iter().any(|(_, said)| said.iter().any(|at| self.changes_name(*at)));
            if is_changed && users.len() > 1 {
                let members: Vec<&[u8]> = users.iter().map(|(name, _)| *name).collect();
                let what =
                    "the constructor changes a parameter for one member that another one's value is made of";
                self.tell_pins(class, &members, what.to_owned());
            }
        }
    }

    fn is_own_name(&self, at: usize, name: &[u8]) -> bool {
        self.cursor.text(at) == name && !matches!(self.cursor.text(at.wrapping_sub(1)), b"." | b"->" | b"::")
    }

    /// Whether a name at a place is moved from, counted, set or asked to give up what it has.
    fn changes_name(&self, at: usize) -> bool {
        let (before, behind) = (self.cursor.text(at.wrapping_sub(1)), self.cursor.text(at + 1));
        let is_counted = |sign: &[u8]| matches!(sign, b"++" | b"--");
        let is_given_up = behind == b"." && self.cursor.text(at + 2) == b"release";
        let mut open = at.wrapping_sub(1);
        // `std::exchange(p, …)`, `std::forward<T>(p)`.
        if self.cursor.text(open) != b"(" {
            return is_counted(before) || is_counted(behind) || behind == b"=" || is_given_up;
        }
        open = open.wrapping_sub(1);
        if self.cursor.text(open) == b">" {
            open = (0..open).rev().find(|at| self.cursor.text(*at) == b"<").unwrap_or(0).wrapping_sub(1);
        }
        let is_moved = is_among(CHANGES, self.cursor.text(open)) && matches!(behind, b")" | b",");
        is_moved || is_counted(behind) || is_given_up
    }
}
