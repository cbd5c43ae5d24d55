//! Conditions that the members prove to hold or to fail.

use super::expected::ExpectedMember;
use crate::body::{Declarator, MemberShape, Statement, StructBody};
use crate::refusal::{Result, SourceRefusal};
use crate::scan::ConditionLiteral;
use std::collections::{BTreeMap, BTreeSet};

/// Known conditions: the value, and the 1-based line that proves it.
#[derive(Clone, Debug, Default)]
pub(super) struct ConditionFacts {
    known: BTreeMap<String, (bool, u32)>,
}

impl ConditionFacts {
    /// Reads facts off names: a present one with a single place proves the conditions around it.
    pub(super) fn derive(body: &StructBody, expected: &[ExpectedMember]) -> Result<Self> {
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
    fn learn_from_absent(&mut self, body: &StructBody, present: &BTreeSet<&str>) -> Result<()> {
        let is_absent = |statement: &&Statement| names(statement).any(|name| !present.contains(name));
        let absent = body.statements().iter().filter(is_absent);
        let mut failing: Vec<_> = absent.map(|absent| (body.conditions(absent), absent.line)).collect();
        failing.dedup_by(|left, right| left.0 == right.0);
        loop {
            let known = self.known.len();
            for (path, line) in &failing {
                let open: Vec<_> = path.iter().filter(|literal| !self.proves(literal)).collect();
                if let [literal] = open.as_slice() {
                    self.learn(&literal.negated(), *line)?;
                }
            }
            if self.known.len() == known {
                return Ok(());
            }
        }
    }

    fn learn(&mut self, literal: &ConditionLiteral, line: u32) -> Result<()> {
        let condition = literal.atom.clone();
        match *self.known.entry(condition.clone()).or_insert((literal.holds, line)) {
            (holds, _) if holds == literal.holds => Ok(()),
            (true, holds) => Err(SourceRefusal::Contradiction { condition, holds, fails: line }),
            (false, fails) => Err(SourceRefusal::Contradiction { condition, holds: line, fails }),
        }
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
