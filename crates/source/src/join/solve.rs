//! The cheapest path through a [`BranchProgram`] that takes every member once, in order.

use super::expected::ExpectedMember;
use super::facts::ConditionFacts;
use super::program::{BranchProgram, Step};
use crate::body::{Declarator, DeclaredMembers, MemberShape, Statement, StructBody};
use crate::refusal::{Result, SourceRefusal};
use crate::scan::TokenKind;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A member stands on another line than debug info says.
const OTHER_LINE: u32 = 8;
/// A macro we don't know takes nothing.
const TAKES_NOTHING: u32 = 2;
/// A macro we don't know takes a member whose name has nothing to do with it, or one more.
const TAKES_STRANGER: u32 = 1;
/// A member has another name than an unconditional declaration gives it: a macro renames it.
const RENAMED: u32 = 16;
/// A type's definition is taken for an unnamed member (a language extension).
const TAKES_OPTIONAL: u32 = 1;

/// Statements with the members they declare.
pub(super) type MemberAssignment = Vec<(usize, Range<usize>)>;

/// A step and how many members are taken when it is reached.
type State = (usize, usize);

/// A path that has reached a step with some members taken.
#[derive(Clone, Copy, Debug)]
struct SolverPath {
    cost: u32,
    /// Hash of the statements that took members: branches without members don't change it.
    hash: u64,
    back: State,
    /// Where another path of equal cost came from.
    rival: Option<State>,
}

/// Finds the cheapest path.
pub(super) struct AssignmentSolver<'p, 't> {
    body: &'p StructBody<'p, 't>,
    expected: &'p [ExpectedMember],
    program: &'p BranchProgram,
    statements: Vec<StatementOptions<'p>>,
    /// Members that no statement declares by name: only unknown macros can have declared them.
    is_stray: Vec<bool>,
    /// Names of all members.
    present: BTreeSet<&'p str>,
    /// For each step the paths that reach it, by members taken.
    paths: Vec<BTreeMap<usize, SolverPath>>,
}

/// Options of a statement: the members that it can take.
struct StatementOptions<'p> {
    statement: &'p Statement,
    /// Words a member of an unknown macro is related to; in a tangled text all of its words.
    words: BTreeSet<&'p [u8]>,
    /// Lines it spans, 1-based.
    lines: std::ops::RangeInclusive<u32>,
    /// Whether it certainly declares its members in this configuration.
    is_certain: bool,
    /// Its index, or that of the outermost block with several arms around it: any of the arms will do.
    identity: u64,
}

impl<'p, 't> AssignmentSolver<'p, 't> {
    pub(super) fn new(
        body: &'p StructBody<'p, 't>,
        expected: &'p [ExpectedMember],
        program: &'p BranchProgram,
        facts: &ConditionFacts,
    ) -> Self {
        let declarators = body.statements().iter().flat_map(Statement::declarators);
        let declared: BTreeSet<&str> = declarators.filter_map(|member| member.name.as_deref()).collect();
        let is_stray = |at: &ExpectedMember| at.name.as_deref().is_none_or(|name| !declared.contains(name));
        let takers = body.statements().iter().enumerate();
        let mut paths = vec![BTreeMap::new(); program.steps.len() + 1];
        let start = SolverPath { cost: 0, hash: 0, back: (0, 0), rival: None };
        paths.first_mut().and_then(|first| first.insert(0, start));
        Self {
            body,
            expected,
            program,
            statements: takers.map(|(at, statement)| statement_options(body, at, statement, facts)).collect(),
            is_stray: expected.iter().map(is_stray).collect(),
            present: expected.iter().filter_map(|member| member.name.as_deref()).collect(),
            paths,
        }
    }

    pub(super) fn solve(mut self) -> Result<MemberAssignment> {
        for at in 0..self.program.steps.len() {
            for (taken, path) in self.paths[at].clone() {
                self.advance(at, taken, &path);
            }
        }
        self.solution()
    }

    fn advance(&mut self, at: usize, taken: usize, path: &SolverPath) {
        let back = (at, taken);
        match &self.program.steps[at] {
            Step::Choose(targets) => {
                for target in targets {
                    self.add_path(*target, taken, SolverPath { back, rival: None, ..*path });
                }
            }
            Step::Take(statement) => {
                for (count, cost) in self.options(*statement, taken) {
                    let history = self.path_hash(path.hash, *statement, taken, count);
                    let path = SolverPath { cost: path.cost + cost, hash: history, back, rival: None };
                    self.add_path(at + 1, taken + count, path);
                }
            }
        }
    }

    fn add_path(&mut self, at: usize, taken: usize, new: SolverPath) {
        match self.paths[at].entry(taken) {
            Entry::Vacant(place) => {
                place.insert(new);
            }
            Entry::Occupied(mut old) if new.cost < old.get().cost => *old.get_mut() = new,
            Entry::Occupied(mut old) if new.cost == old.get().cost && new.hash != old.get().hash => {
                old.get_mut().rival = Some(new.back);
            }
            Entry::Occupied(_) => {}
        }
    }

    fn path_hash(&self, before: u64, statement: usize, taken: usize, count: usize) -> u64 {
        let identity = self.statements[statement].identity;
        (0..count).fold(before, |hash, member| mix(mix(hash, identity), (taken + member) as u64))
    }

    /// How many members a statement can take from here, and at what cost.
    fn options(&self, statement: usize, taken: usize) -> Vec<(usize, u32)> {
        let taker = &self.statements[statement];
        match &taker.statement.declared {
            DeclaredMembers::Nothing => vec![(0, 0)],
            DeclaredMembers::Members(_) => self.known_options(taker, taken),
            DeclaredMembers::Unknown => self.unknown_options(taker, taken),
        }
    }

    fn known_options(&self, taker: &StatementOptions, taken: usize) -> Vec<(usize, u32)> {
        let mut options = vec![(0usize, 0u32)];
        let named = |member: &&Declarator| member.shape != MemberShape::UnnamedBits;
        for member in taker.statement.declarators().iter().filter(named) {
            let mut next = Vec::new();
            for (count, cost) in options {
                if let Some(extra) = self.name_cost(taker, member, taken + count) {
                    next.push((count + 1, cost + extra + self.line_cost(taker, taken + count)));
                }
                if member.is_optional {
                    next.push((count, cost));
                }
            }
            options = next;
        }
        options
    }

    /// The cost of taking a member for a declarator, if that can be.
    fn name_cost(&self, taker: &StatementOptions, declared: &Declarator, at: usize) -> Option<u32> {
        let expected = self.expected.get(at)?;
        if expected.name == declared.name {
            return Some(u32::from(declared.is_optional) * TAKES_OPTIONAL);
        }
        let is_absent = declared.name.as_deref().is_some_and(|name| !self.present.contains(name));
        let can_be = taker.is_certain && !declared.is_optional && expected.name.is_some();
        let is_renamed = can_be && self.is_stray[at] && is_absent;
        is_renamed.then_some(RENAMED)
    }

    fn unknown_options(&self, taker: &StatementOptions, taken: usize) -> Vec<(usize, u32)> {
        let mut options = vec![(0, TAKES_NOTHING)];
        let mut cost = 0;
        let mut count = 0;
        while let Some(member) = self.expected.get(taken + count) {
            let is_open = self.is_stray[taken + count] || taker.statement.is_tangled;
            let is_related = taker.is_related(member);
            if !is_open || (taker.statement.is_tangled && member.name.is_some() && !is_related) {
                break;
            }
            cost += if is_related { 0 } else { TAKES_STRANGER };
            cost += self.line_cost(taker, taken + count) + u32::from(count > 0) * TAKES_STRANGER;
            count += 1;
            options.push((count, cost));
        }
        options
    }

    fn line_cost(&self, taker: &StatementOptions, member: usize) -> u32 {
        let line = self.expected.get(member).and_then(|member| member.line);
        line.filter(|line| !taker.lines.contains(line)).map_or(0, |_| OTHER_LINE)
    }

    fn solution(&self) -> Result<MemberAssignment> {
        let end = (self.program.steps.len(), self.expected.len());
        let reached = self.paths.last().is_some_and(|paths| paths.contains_key(&end.1));
        if !reached {
            return Err(self.mismatch_refusal());
        }
        let (assignment, rival) = self.trace_back(end, None);
        match rival {
            None => Ok(assignment),
            Some(rival) => Err(self.ambiguity_refusal(&assignment, &self.trace_back(end, Some(rival)).0)),
        }
    }

    /// The assignment of the path to a state, and the last state with a rival, which `detour` follows.
    fn trace_back(&self, end: State, detour: Option<State>) -> (MemberAssignment, Option<State>) {
        let mut assignment = Vec::new();
        let mut rival = None;
        let mut at = end;
        while at != (0, 0) {
            let Some(path) = self.paths.get(at.0).and_then(|ways| ways.get(&at.1)) else { break };
            if path.rival.is_some() {
                rival = rival.or(Some(at));
            }
            let back = path.rival.filter(|_| detour == Some(at)).unwrap_or(path.back);
            if let Some(Step::Take(statement)) = self.program.steps.get(back.0)
                && at.1 > back.1
            {
                assignment.push((*statement, back.1..at.1));
            }
            at = back;
        }
        assignment.reverse();
        (assignment, rival)
    }

    fn ambiguity_refusal(&self, left: &MemberAssignment, right: &MemberAssignment) -> SourceRefusal {
        let owner = |assignment: &MemberAssignment, member: usize| {
            let found = assignment.iter().find(|(_, members)| members.contains(&member));
            found.map_or(0, |(statement, _)| self.statements[*statement].statement.line)
        };
        let member = (0..self.expected.len()).find(|at| owner(left, *at) != owner(right, *at)).unwrap_or(0);
        SourceRefusal::AmbiguousBranches(self.label(member), owner(left, member), owner(right, member))
    }

    fn label(&self, member: usize) -> String {
        self.expected.get(member).map_or_else(|| "no more members".to_owned(), ExpectedMember::label)
    }

    /// Why no path reaches the end: where the one that got furthest stopped.
    fn mismatch_refusal(&self) -> SourceRefusal {
        let states = self.paths.iter().enumerate();
        let states = states.flat_map(|(at, paths)| paths.keys().map(move |taken| (*taken, at)));
        let (taken, at) = states.max().unwrap_or((0, 0));
        let wanted = self.expected.get(taken);
        if let Some(wanted) = wanted.filter(|wanted| wanted.name.is_some() && self.is_stray[taken]) {
            let definition = &self.body.definition;
            let last = self.body.source.line_of(definition.close);
            return SourceRefusal::NotDeclared(wanted.label(), definition.line, last);
        }
        match self.program.steps.get(at) {
            Some(Step::Take(statement)) => {
                let statement = self.statements[*statement].statement;
                let found = statement.label(self.body.source);
                SourceRefusal::Differs(statement.line, found, self.label(taken))
            }
            _ => SourceRefusal::NoBranches(self.label(taken)),
        }
    }
}

fn statement_options<'p>(
    body: &'p StructBody,
    index: usize,
    statement: &'p Statement,
    facts: &ConditionFacts,
) -> StatementOptions<'p> {
    let outermost = body.path(statement.piece).into_iter().find(|(block, _)| body.arms(*block).len() > 1);
    let identity = match outermost {
        Some((block, _)) => 1 << 32 | block as u64,
        // Which of several unknown macros declares a member is open, but none of them moves.
        None if statement.declared == DeclaredMembers::Unknown => u64::MAX,
        None => index as u64,
    };
    let last = body.source.lines().number(statement.range.end.saturating_sub(1));
    StatementOptions {
        statement,
        words: words(body, statement),
        lines: statement.line..=last,
        is_certain: facts.prove_all(&body.conditions(statement)),
        identity,
    }
}

/// The words of a statement that isn't understood.
pub(super) fn words<'p>(body: &'p StructBody, statement: &Statement) -> BTreeSet<&'p [u8]> {
    if statement.declared != DeclaredMembers::Unknown {
        return BTreeSet::new();
    }
    let arguments = statement.tokens.clone().skip(usize::from(!statement.is_tangled));
    let is_word = |at: &usize| matches!(body.source.kind(*at), Some(TokenKind::Word | TokenKind::Number));
    arguments.filter(is_word).map(|at| body.source.text(at)).collect()
}

impl StatementOptions<'_> {
    /// Whether a member's name is one of the words, or made of one.
    fn is_related(&self, member: &ExpectedMember) -> bool {
        let Some(name) = member.name.as_deref() else { return !self.statement.is_tangled };
        let name = name.as_bytes();
        let is_part = |word: &&[u8]| !word.is_empty() && memchr::memmem::find(name, word).is_some();
        match self.statement.is_tangled {
            true => self.words.contains(name),
            false => self.words.iter().any(is_part),
        }
    }
}

/// FNV-1a over words.
fn mix(hash: u64, value: u64) -> u64 {
    (hash ^ value).wrapping_add(1).wrapping_mul(0x0000_0100_0000_01b3)
}
