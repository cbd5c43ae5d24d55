//! Conditions that the members prove to hold or to fail.

use super::expected::ExpectedMember;
use crate::body::{Body, MemberShape, Statement};
use crate::refusal::Refusal;
use crate::scan::Literal;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of conditions: the value, and the 1-based line that proves it.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    known: BTreeMap<String, (bool, u32)>,
}

impl Facts {
    /// Reads facts off names: one declared in a single place and present proves the conditions around it, one that is
    /// absent disproves them.
    pub(super) fn derive(body: &Body, expected: &[ExpectedMember]) -> Result<Self, Refusal> {
        let present: BTreeSet<&str> = expected.iter().filter_map(|member| member.name.as_deref()).collect();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for name in body.statements().iter().flat_map(names) {
            *places.entry(name).or_default() += 1;
        }
        let mut facts = Self::default();
        for statement in body.statements() {
            let is_proof = |name: &str| present.contains(name) && places.get(name) == Some(&1);
            if names(statement).any(is_proof) {
                for literal in body.conditions(statement) {
                    facts.learn(&literal, statement.line)?;
                }
            }
        }
        facts.learn_from_absent(body, &present)?;
        Ok(facts)
    }

    /// A path with an absent member fails; if all its conditions but one are known to hold, that one fails. Repeated
    /// until nothing new comes.
    fn learn_from_absent(&mut self, body: &Body, present: &BTreeSet<&str>) -> Result<(), Refusal> {
        let is_absent = |statement: &&Statement| names(statement).any(|name| !present.contains(name));
        let mut failing: Vec<(Vec<Literal>, u32)> = body
            .statements()
            .iter()
            .filter(is_absent)
            .map(|statement| (body.conditions(statement), statement.line))
            .collect();
        failing.dedup_by(|one, other| one.0 == other.0);
        loop {
            let known = self.known.len();
            for (path, line) in &failing {
                let open: Vec<&Literal> = path.iter().filter(|literal| !self.proves(literal)).collect();
                if let [literal] = open.as_slice() {
                    self.learn(&literal.negated(), *line)?;
                }
            }
            if self.known.len() == known {
                return Ok(());
            }
        }
    }

    fn learn(&mut self, literal: &Literal, line: u32) -> Result<(), Refusal> {
        match self.known.get(&literal.atom) {
            Some((holds, _)) if *holds == literal.holds => Ok(()),
            Some((_, other)) => Err(Refusal::Contradiction {
                condition: literal.atom.clone(),
                holds: if literal.holds { line } else { *other },
                fails: if literal.holds { *other } else { line },
            }),
            None => {
                self.known.insert(literal.atom.clone(), (literal.holds, line));
                Ok(())
            }
        }
    }

    /// Whether a literal is known to hold.
    pub(super) fn proves(&self, literal: &Literal) -> bool {
        self.known.get(&literal.atom).is_some_and(|(holds, _)| *holds == literal.holds)
    }

    /// Whether one of these literals is known to fail.
    pub(super) fn exclude(&self, literals: &[Literal]) -> bool {
        literals.iter().any(|literal| self.proves(&literal.negated()))
    }

    /// Whether all of these literals are known to hold.
    pub(super) fn demand(&self, literals: &[Literal]) -> bool {
        literals.iter().all(|literal| self.proves(literal))
    }
}

/// Names a statement declares in every language mode.
fn names(statement: &Statement) -> impl Iterator<Item = &str> {
    let sure = statement
        .declarators()
        .iter()
        .filter(|member| !member.is_optional && member.shape != MemberShape::UnnamedBits);
    sure.filter_map(|member| member.name.as_deref())
}
