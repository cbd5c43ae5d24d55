//! Queries for the object at an address: equal samples share one query.

use crate::addresses::TaggedAddress;
use crate::objects::{Evidence, KnownObjects, Lifetimes, ObjectId, ObservedSpan};
use fieldline_debuginfo::LinkedAddress;
use fieldline_typeflow::operands::{ProgramOperands, Target, TypeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

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
pub(crate) struct DecidedTargets {
    targets: FxHashMap<AttributionQuery, DecidedTarget>,
    /// Of objects that decide by their times.
    lifetimes: Lifetimes,
}

/// The target of a query.
#[derive(Clone, Debug)]
pub(crate) enum DecidedTarget {
    /// At any time.
    Always(Target<TypeIndex>),
    /// By the object that was sampled nearest in time: memory was reused for another.
    ByObject(Box<[(ObjectId, Target<TypeIndex>)]>),
}

impl DecidedTargets {
    /// Adds a target that does not depend on time.
    pub(super) fn insert(&mut self, query: AttributionQuery, target: Target<TypeIndex>) {
        self.targets.insert(query, DecidedTarget::Always(target));
    }

    /// Adds the targets by object; one at least.
    pub(super) fn insert_by_object(
        &mut self,
        query: AttributionQuery,
        targets: Vec<(ObjectId, Target<TypeIndex>)>,
    ) {
        let Some((_, first)) = targets.first().copied() else { return };
        let decided = match targets.iter().all(|(_, target)| *target == first) {
            true => DecidedTarget::Always(first),
            false => DecidedTarget::ByObject(targets.into()),
        };
        self.targets.insert(query, decided);
    }

    /// Adds when objects were sampled: those that decide a target, and were sampled from some time to some
    /// time in which no other was. Returns all others: each of their samples' times matters.
    pub(super) fn add_spans(&mut self, objects: &KnownObjects<'_>) -> FxHashSet<ObjectId> {
        let mut interrupted = FxHashSet::default();
        for decided in self.targets.values() {
            let DecidedTarget::ByObject(targets) = decided else { continue };
            let spans = targets.iter().filter_map(|(id, _)| Some((*id, objects.span(*id)?)));
            let mut spans: Vec<(ObjectId, ObservedSpan)> = spans.collect();
            spans.sort_unstable_by_key(|(id, span)| (span.first, *id));
            let mut last: Option<(ObjectId, u64)> = None;
            for (id, span) in &spans {
                self.lifetimes.add_span(*id, *span);
                if let Some((before, _)) = last.filter(|(_, last)| *last >= span.first) {
                    interrupted.extend([before, *id]);
                }
                if last.is_none_or(|(_, last)| last < span.last) {
                    last = Some((*id, span.last));
                }
            }
        }
        interrupted
    }

    /// Adds the times of all samples of an object.
    pub(super) fn add_times(&mut self, object: ObjectId, times: Vec<u64>) {
        self.lifetimes.add_times(object, times);
    }

    /// The decision on a query, if an address decides it.
    pub(super) fn find(&self, query: &AttributionQuery) -> Option<&DecidedTarget> {
        self.targets.get(query)
    }

    /// The target of a query at a time.
    pub(super) fn get(&self, query: &AttributionQuery, time: u64) -> Option<Target<TypeIndex>> {
        match self.find(query)? {
            DecidedTarget::Always(target) => Some(*target),
            DecidedTarget::ByObject(targets) => self.nearest(targets, time),
        }
    }

    /// Of some objects with values the value of the one sampled nearest to a time.
    pub(crate) fn nearest<T: Copy>(&self, candidates: &[(ObjectId, T)], time: u64) -> Option<T> {
        self.lifetimes.nearest(candidates, time)
    }
}
