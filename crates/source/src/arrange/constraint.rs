//! Constraints of the text on an order of members.

use super::chunk::{LineChunks, UnitReason};
use crate::body::{FixedPlace, PlaceComment};
use crate::join::Join;
use crate::refusal::{Result, SourceRefusal};
use crate::scan::ConditionLiteral;
use std::collections::BTreeMap;
use std::ops::Range;

/// Constraints of the source text on an order. An order that keeps them can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextConstraints {
    /// One for each member, in declared order.
    pub members: Vec<MemberTextPosition>,
    /// Units of members, in declared order.
    pub units: Vec<MemberUnit>,
    /// Nests of conditions around units, outermost first; the first is empty. Equal ones can share an `#if`.
    pub guards: Vec<Vec<ConditionLiteral>>,
    /// Comments that speak of places without a demand, in order of the text.
    pub comments: Vec<CommentOnPlaces>,
    /// Lines that nothing passes, by zone: units that are alone in theirs, and lines that declare no member.
    barriers: BTreeMap<u32, FixedPlace>,
}

/// Where a member stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberTextPosition {
    /// Its name for a message, quoted.
    pub label: String,
    /// Index into [`TextConstraints::units`].
    pub unit: usize,
    /// Index into [`TextConstraints::guards`]; a member in a block with `#else` has that block's.
    pub guard: usize,
    /// Zones follow one another: no member comes before one of a smaller zone.
    pub zone: u32,
    /// Why it can't move and nothing passes it, if so: its unit is alone in its zone.
    pub fixed: Option<FixedPlace>,
    /// Number of its paragraph: declarations below one another, without a blank line or a comment of its own lines
    /// between them.
    pub paragraph: u32,
    /// Whether a comment of its own lines heads the paragraph.
    pub is_under_comment: bool,
    /// 1-based line of its declaration.
    pub line: u32,
}

/// A comment that speaks of places without a demand, such as `/* protects the fields below */`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentOnPlaces {
    /// 1-based line it begins on.
    pub line: u32,
    /// Its text on one line, cut if long.
    pub text: String,
    /// The members it is about, by declared index; empty if it stands alone, before the one at its start.
    pub members: Range<usize>,
    /// Whether it is about all that stands before or behind, not only about neighbours.
    pub is_wide: bool,
}

/// Members whose text moves as a whole, see [`UnitReason`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberUnit {
    /// Declared indices.
    pub members: Range<usize>,
    /// 1-based line of its first declaration.
    pub line: u32,
    /// Why its members are one unit.
    pub unit_reason: UnitReason,
}

/// The comments of a body in terms of the members it has in this configuration.
fn comments_on_places(join: &Join) -> Vec<CommentOnPlaces> {
    let statements = join.body.statements.len();
    let comment = |found: &PlaceComment| {
        let own = found.statements.clone().map(|at| join.members_of(at)).filter(|run| !run.is_empty());
        let behind = (found.statements.start..statements).map(|at| join.members_of(at));
        let next = || behind.clone().find(|run| !run.is_empty()).map_or(join.expected.len(), |run| run.start);
        let members = own.reduce(|first, last| first.start..last.end).unwrap_or_else(|| next()..next());
        CommentOnPlaces { line: found.line, text: found.text.clone(), members, is_wide: found.is_wide }
    };
    join.body.place_comments.iter().map(comment).collect()
}

impl TextConstraints {
    pub(super) fn from_chunks(join: &Join, chunks: &LineChunks) -> Self {
        let mut found = Self {
            members: Vec::with_capacity(join.expected.len()),
            units: Vec::new(),
            guards: vec![Vec::new()],
            comments: comments_on_places(join),
            barriers: BTreeMap::new(),
        };
        found.add_inherited(join);
        let mut numbers = BTreeMap::from([(Vec::new(), 0)]);
        let line = |member: usize| join.statement_of(member).map_or(0, |statement| statement.line);
        let (mut paragraph, mut is_under_comment) = (0, false);
        for (_, chunk) in chunks.units() {
            if chunk.blank_before > 0 || chunk.lead_lines > 0 {
                (paragraph, is_under_comment) = (paragraph + 1, chunk.lead_lines > 0);
            }
            let literals = chunk.path.iter().flat_map(|block| join.body.arm_literals(*block, 0));
            let conditions: Vec<ConditionLiteral> = literals.collect();
            let guard = *numbers.entry(conditions.clone()).or_insert(found.guards.len());
            if guard == found.guards.len() {
                found.guards.push(conditions);
            }
            for member in chunk.members.clone() {
                found.members.push(MemberTextPosition {
                    label: join.expected.get(member).map_or_else(String::new, |found| found.label()),
                    unit: found.units.len(),
                    guard,
                    zone: chunk.zone,
                    fixed: chunk.fixed.clone(),
                    paragraph,
                    is_under_comment,
                    line: line(member),
                });
            }
            let (members, unit_reason) = (chunk.members.clone(), chunk.unit_reason);
            found.units.push(MemberUnit { line: line(members.start), members, unit_reason });
        }
        let fixed = chunks.list.iter().filter_map(|chunk| Some((chunk.zone, chunk.fixed.clone()?)));
        found.barriers.extend(fixed);
        found
    }

    /// Adds what no declaration among the members stands for: it comes first, as it is.
    fn add_inherited(&mut self, join: &Join) {
        let line = join.body.definition().line;
        let reason = "the C++ compiler places base classes and the pointer to virtual functions".to_owned();
        let fixed = FixedPlace { line, reason };
        for (zone, (member, expected)) in (0..).zip(join.expected.iter().enumerate().take(join.inherited)) {
            self.members.push(MemberTextPosition {
                label: expected.label(),
                unit: self.units.len(),
                guard: 0,
                zone,
                fixed: Some(fixed.clone()),
                paragraph: 0,
                is_under_comment: false,
                line,
            });
            let unit_reason = UnitReason::Declaration;
            self.units.push(MemberUnit { members: member..member + 1, line, unit_reason });
            self.barriers.insert(zone, fixed.clone());
        }
    }

    /// Checks an order as [`Join::reorder`] takes it.
    /// Fails with the first limit it breaks.
    pub fn check(&self, order: &[usize]) -> Result<()> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..self.members.len()) {
            return Err(SourceRefusal::NotAPermutation(order.len(), self.members.len()));
        }
        self.check_units(order)?;
        self.check_zones(order)
    }

    /// Members of a unit follow one another as declared.
    fn check_units(&self, order: &[usize]) -> Result<()> {
        for (at, member) in order.iter().enumerate() {
            let unit = self.members.get(*member).and_then(|member| self.units.get(member.unit));
            let Some(unit) = unit else { continue };
            if member + 1 != unit.members.end && order.get(at + 1) != Some(&(member + 1)) {
                let members = self.members.get(unit.members.clone()).unwrap_or_default();
                let labels: Vec<&str> = members.iter().map(|member| member.label.as_str()).collect();
                let reason = unit.unit_reason.reason();
                return Err(SourceRefusal::SplitsUnit(labels.join(", "), unit.line, reason));
            }
        }
        Ok(())
    }

    /// Zones ascend.
    fn check_zones(&self, order: &[usize]) -> Result<()> {
        let members = order.iter().filter_map(|member| self.members.get(*member));
        let mut pairs = members.clone().zip(members.skip(1));
        match pairs.find(|(before, member)| before.zone > member.zone) {
            Some((before, member)) => Err(self.crossing_refusal(before, member)),
            None => Ok(()),
        }
    }

    /// `early` comes before `late` in the order, but is of a later zone.
    fn crossing_refusal(&self, early: &MemberTextPosition, late: &MemberTextPosition) -> SourceRefusal {
        let mover = if early.fixed.is_some() { late } else { early };
        let mut between = self.barriers.range(late.zone..=early.zone);
        let barrier = between.find(|(zone, _)| **zone != mover.zone || mover.fixed.is_some());
        let (barrier, reason) = barrier.map_or((0, ""), |(_, fixed)| (fixed.line, &fixed.reason));
        let (member, line, reason) = (mover.label.clone(), mover.line, reason.to_owned());
        SourceRefusal::CrossesBarrier { member, line, barrier, reason }
    }
}
