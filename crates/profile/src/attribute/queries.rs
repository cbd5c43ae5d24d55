//! Queries for the object at an address: equal samples share one query.

use crate::addresses::TaggedAddress;
use crate::objects::{Evidence, ObservedSpan};
use fieldline_debuginfo::LinkedAddress;
use fieldline_typeflow::operands::{ProgramOperands, Target, TypeIndex};
use rustc_hash::FxHashMap;

/// All of a sample that its attribution depends on, but its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct AttributionQuery {
    /// The instruction.
    pub(super) ip: LinkedAddress,
    /// The data's address, if there is one.
    pub(super) address: Option<TaggedAddress>,
    /// The CPU or thread whose own data it may be.
    pub(super) owner: Option<u32>,
    /// Whether it is a store, if known.
    pub(super) is_store: Option<bool>,
}

/// Queries, with their samples.
#[derive(Debug, Default)]
pub(super) struct AttributionQueries {
    /// With the file position of the first sample.
    samples: FxHashMap<AttributionQuery, (ObservedSpan, u64)>,
}

impl AttributionQueries {
    /// Adds samples of a query, the first of them at a file position.
    pub(super) fn add(&mut self, query: AttributionQuery, votes: ObservedSpan, at: u64) {
        let known = self.samples.entry(query);
        let known = known.and_modify(|(known, first)| {
            known.add(votes);
            *first = at.min(*first);
        });
        known.or_insert((votes, at));
    }

    pub(super) fn evidence(&self, answers: &ProgramOperands) -> Evidence {
        let mut evidence = Evidence::default();
        for (query, (votes, _)) in &self.samples {
            let operand = answers.operands_at(query.ip).operand(query.is_store);
            if let (Some(address), Some(operand)) = (query.address, operand) {
                evidence.add_all(address, query.owner, *votes, operand, answers);
            }
        }
        evidence
    }

    /// All queries, in file order of the first sample of each.
    pub(super) fn in_file_order(&self) -> Vec<AttributionQuery> {
        let mut all: Vec<(u64, AttributionQuery)> =
            self.samples.iter().map(|(query, (_, at))| (*at, *query)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, query)| query).collect()
    }
}

/// Targets that addresses decided.
#[derive(Debug, Default)]
pub(super) struct DecidedTargets {
    targets: FxHashMap<AttributionQuery, TargetOverTime>,
}

/// The target of a query, by time.
#[derive(Clone, Debug)]
enum TargetOverTime {
    /// At any time: from 0 on.
    Always((u64, Target<TypeIndex>)),
    /// By time: memory was reused for another object.
    ByTime(Vec<(u64, Target<TypeIndex>)>),
}

impl DecidedTargets {
    /// Adds the targets at some times, in order of time.
    pub(super) fn insert(&mut self, query: AttributionQuery, mut answers: Vec<(u64, Target<TypeIndex>)>) {
        answers.dedup_by_key(|(_, target)| *target);
        let choice = if let [only] = answers[..] {
            TargetOverTime::Always(only)
        } else {
            TargetOverTime::ByTime(answers)
        };
        self.targets.insert(query, choice);
    }

    /// Targets of a query by the time from which each holds; none if no address was used.
    pub(super) fn targets_over_time(&self, query: &AttributionQuery) -> &[(u64, Target<TypeIndex>)] {
        match self.targets.get(query) {
            None => &[],
            Some(TargetOverTime::Always(answer)) => std::slice::from_ref(answer),
            Some(TargetOverTime::ByTime(answers)) => answers,
        }
    }

    /// The target of a query at a time.
    pub(super) fn get(&self, query: &AttributionQuery, time: u64) -> Option<Target<TypeIndex>> {
        let targets = self.targets_over_time(query);
        let past = targets.partition_point(|(from, _)| *from <= time);
        targets.get(past.saturating_sub(1)).map(|(_, target)| *target)
    }
}
