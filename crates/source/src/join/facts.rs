//! Conditions that the members prove to hold or to fail.

use super::expected::ExpectedMember;
use crate::body::{Declarator, MemberShape, Statement, StructBody};
use crate::refusal::SourceRefusal;
use crate::scan::ConditionLiteral;
use std::collections::{BTreeMap, BTreeSet};

/// Known conditions: the value, and the 1-based line that proves it.
#[derive(Clone, Debug, Default)]
pub(super) struct ConditionFacts {
    known: BTreeMap<String, (bool, u32)>,
}

impl ConditionFacts {
    /// Reads facts off names: a present one with a single place proves the conditions around it.
    pub(super) fn derive(body: &StructBody, expected: &[ExpectedMember]) -> Result<Self, SourceRefusal> {
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

    /// A path with an absent member fails: if all conditions but one hold, that fails. To a fixpoint.
    fn learn_from_absent(
        &mut self,
        body: &StructBody,
        present: &BTreeSet<&str>,
    ) -> Result<(), SourceRefusal> {
        let absent =
            body.statements().iter().filter(|statement| names(statement).any(|name| !present.contains(name)));
        let mut failing: Vec<(Vec<ConditionLiteral>, u32)> =
            absent.map(|statement| (body.conditions(statement), statement.line)).collect();
        failing.dedup_by(|left, right| left.0 == right.0);
        loop {
            let known = self.known.len();
            for (path, line) in &failing {
                let open: Vec<&ConditionLiteral> =
                    path.iter().filter(|literal| !self.proves(literal)).collect();
                if let [literal] = open.as_slice() {
                    self.learn(&literal.negated(), *line)?;
                }
            }
            if self.known.len() == known {
                return Ok(());
            }
        }
    }

    fn learn(&mut self, literal: &ConditionLiteral, line: u32) -> Result<(), SourceRefusal> {
        let (holds, other) = *self.known.entry(literal.atom.clone()).or_insert((literal.holds, line));
        if holds == literal.holds {
            return Ok(());
        }
        let (holds, fails) = if literal.holds { (line, other) } else { (other, line) };
        Err(SourceRefusal::Contradiction { condition: literal.atom.clone(), holds, fails })
    }

    /// Whether a literal is known to hold.
    pub(super) fn proves(&self, literal: &ConditionLiteral) -> bool {
        self.known.get(&literal.atom).is_some_and(|(holds, _)| *holds == literal.holds)
    }

    /// Whether all of these literals are known to hold.
    pub(super) fn prove_all(&self, literals: &[ConditionLiteral]) -> bool {
        literals.iter().all(|literal| self.proves(literal))
    }
}

/// Names a statement declares in every language mode.
fn names(statement: &Statement) -> impl Iterator<Item = &str> {
    let is_sure = |member: &&Declarator| !member.is_optional && member.shape != MemberShape::UnnamedBits;
    statement.declarators().iter().filter(is_sure).filter_map(|member| member.name.as_deref())
}
