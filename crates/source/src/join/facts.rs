//! Conditions that the members prove to hold or to fail.

use super::expected::ExpectedMember;
use crate::body::{Body, Declarator, MemberShape, Statement};
use crate::refusal::Refusal;
use crate::scan::Literal;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of conditions: the value, and the 1-based line that proves it.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    known: BTreeMap<String, (bool, u32)>,
}

impl Facts {
    /// Reads facts off names: a present one with a single place proves the conditions around it.
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

    /// A path with an absent member fails: if all conditions but one hold, that fails. Until nothing new comes.
    fn learn_from_absent(&mut self, body: &Body, present: &BTreeSet<&str>) -> Result<(), Refusal> {
        let absent = body.statements().iter().filter(|of| names(of).any(|name| !present.contains(name)));
        let mut failing: Vec<(Vec<Literal>, u32)> = absent.map(|of| (body.conditions(of), of.line)).collect();
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
        let (holds, other) = *self.known.entry(literal.atom.clone()).or_insert((literal.holds, line));
        if holds == literal.holds {
            return Ok(());
        }
        let (holds, fails) = if literal.holds { (line, other) } else { (other, line) };
        Err(Refusal::Contradiction { condition: literal.atom.clone(), holds, fails })
    }

    /// Whether a literal is known to hold.
    pub(super) fn proves(&self, literal: &Literal) -> bool {
        self.known.get(&literal.atom).is_some_and(|(holds, _)| *holds == literal.holds)
    }

    /// Whether all of these literals are known to hold.
    pub(super) fn demand(&self, literals: &[Literal]) -> bool {
        literals.iter().all(|literal| self.proves(literal))
    }
}

/// Names a statement declares in every language mode.
fn names(statement: &Statement) -> impl Iterator<Item = &str> {
    let is_sure = |member: &&Declarator| !member.is_optional && member.shape != MemberShape::UnnamedBits;
    statement.declarators().iter().filter(is_sure).filter_map(|member| member.name.as_deref())
}
