//! One recording of a program, and the attribution of its samples.

use super::attributed::Attributed;
use super::queries::{AttributionQueries, AttributionQuery, DecidedTarget, DecidedTargets};
use super::straight_line::StraightLineAccesses;
use crate::addresses::TaggedAddress;
use crate::gather::{GatheredSamples, LinkedRecording, SampleAttributes, SampleFacts, times_by_group};
use crate::objects::{KnownObjects, ObjectId, ObservedAddress, decide, observed_object};
use fieldline_perfdata::perf_data::{Error, RecordCounts};
use fieldline_perfdata::sample::Sample;
use fieldline_typeflow::operands::{ProgramOperands, Reason, Target, TypeIndex};
use fieldline_typeflow::program::Program;

/// A recording with all that is known of its samples.
pub(crate) struct AttributedRecording<'f> {
    pub(crate) source: LinkedRecording<'f>,
    /// Its samples, but for their times.
    pub(crate) gathered: GatheredSamples,
    /// Targets that addresses decided.
    pub(crate) decided: DecidedTargets,
    pub(crate) straight_line: StraightLineAccesses,
}

pub(crate) struct ProgramSamples<'p, 'f> {
    pub(crate) recorded: &'p AttributedRecording<'f>,
    /// Operands typed by the program's code.
    pub(crate) answers: &'p ProgramOperands,
}

impl ProgramSamples<'_, '_> {
    /// The tally and the median gap, if they are known.
    pub(crate) fn tally_and_gap(&self) -> Option<&(RecordCounts, u64)> {
        let AttributedRecording { source, gathered, .. } = self.recorded;
        gathered.tally_and_gap(self.answers).filter(|_| source.data_breakpoints.is_empty())
    }

    /// Whether a sample counts by the ranges of its branch stack.
    pub(crate) fn counts_ranges(&self, sample: &Sample<'_>) -> bool {
        self.recorded.source.counts_ranges(sample.event)
    }

    /// Whether a sample is in the program, and its function.
    pub(crate) fn function(&self, sample: &Sample<'_>) -> Option<Option<u32>> {
        let query = self.query(&self.recorded.source.sample_facts(sample)).ok()?;
        Some(self.answers.operands_at(query.ip).function)
    }

    /// The attribution of a sample, by code and, where they were used, addresses.
    pub(crate) fn attribute(&self, sample: &Sample<'_>) -> Attributed {
        self.attribute_facts(&self.recorded.source.sample_facts(sample), sample.time.unwrap_or(0))
    }

    /// The same of a sample at a time.
    pub(super) fn attribute_facts(&self, facts: &SampleFacts, time: u64) -> Attributed {
        let query = self.query(facts);
        let decided = query.as_ref().ok().and_then(|query| self.recorded.decided.get(query, time));
        self.build_attributed(facts, query, decided)
    }

    /// The attribution of samples, or those by the object sampled nearest in time.
    pub(crate) fn attributed_by_object(&self, facts: &SampleFacts) -> AttributedByObject {
        let query = self.query(facts);
        let decided = query.as_ref().ok().and_then(|query| self.recorded.decided.find(query));
        let attributed = |target| self.build_attributed(facts, query, target);
        match decided {
            None => AttributedByObject::Always(attributed(None)),
            Some(DecidedTarget::Always(target)) => AttributedByObject::Always(attributed(Some(*target))),
            Some(DecidedTarget::ByObject(targets)) => {
                let by_object = targets.iter().map(|(object, target)| (*object, attributed(Some(*target))));
                AttributedByObject::ByObject(by_object.collect())
            }
        }
    }

    /// Whether a sample is a store or a load, if known.
    fn is_store(&self, attributes: &SampleAttributes) -> Option<bool> {
        let operation = attributes.source.map(|source| source.operation());
        match operation.map(|operation| (operation.is_load(), operation.is_store())) {
            Some((true, false)) => Some(false),
            Some((false, true)) => Some(true),
            _ => {
                let breakpoint = self.recorded.source.data_breakpoints.for_event(attributes.event)?;
                breakpoint.is_write_only.then_some(true)
            }
        }
    }

    /// The query of samples. A breakpoint's address is that of the access only if both are of one length.
    fn query(&self, facts: &SampleFacts) -> Result<AttributionQuery, Reason> {
        let SampleFacts { attributes, address, .. } = facts;
        let (space, is_store) = (attributes.space?, self.is_store(attributes));
        let ip = facts.ip().ok_or(Reason::NoInstructionAddress)?;
        let source = &self.recorded.source;
        let (ip, is_whole) = match source.data_breakpoints.for_event(attributes.event) {
            Some(breakpoint) => {
                let ip = self.answers.instruction_before(ip).ok_or(Reason::NoMemoryOperand)?;
                let operand = self.answers.operands_at(ip).operand(is_store);
                (ip, operand.is_some_and(|operand| u64::from(operand.size) == breakpoint.length))
            }
            None => (ip, true),
        };
        let address = address.filter(|_| is_whole).map(|address| TaggedAddress::new(address, space));
        let owner = if source.linker.is_program() { attributes.tid } else { attributes.cpu };
        Ok(AttributionQuery { ip, address, owner, is_store })
    }

    /// The attribution of samples with a query, by the decided target or else by code.
    fn build_attributed(
        &self,
        facts: &SampleFacts,
        query: Result<AttributionQuery, Reason>,
        decided: Option<Target<TypeIndex>>,
    ) -> Attributed {
        let question = match query {
            Ok(query) => query,
            Err(reason) => {
                let is_store = self.is_store(&facts.attributes).unwrap_or(false);
                return Attributed { is_store, ..Attributed::unknown(reason) };
            }
        };
        let operands = self.answers.operands_at(question.ip);
        let operand = operands.operand(question.is_store);
        let by_code = operands.target(question.is_store);
        let is_write = || operand.is_some_and(|operand| operand.access.is_write());
        Attributed {
            ip: Some(question.ip),
            function: operands.function,
            target: decided.unwrap_or(by_code),
            by_code,
            size: operand.map_or(0, |operand| u64::from(operand.size)),
            is_store: question.is_store.unwrap_or_else(is_write),
        }
    }
}

/// The attribution of samples that differ in time only.
pub(crate) enum AttributedByObject {
    /// At any time.
    Always(Attributed),
    /// By the object that was sampled nearest in time.
    ByObject(Vec<(ObjectId, Attributed)>),
}

impl AttributedRecording<'_> {
    /// Finds objects by the addresses of the samples, then decides with both.
    ///
    /// # Errors
    /// If a record can't be read.
    pub(super) fn use_addresses<'a>(
        &mut self,
        program: &'a Program<'a>,
        answers: &mut ProgramOperands,
    ) -> Result<(), Error> {
        let mut queries = AttributionQueries::default();
        let part = ProgramSamples { recorded: self, answers };
        for (facts, sums) in self.gathered.table.iter() {
            if let Ok(query) = part.query(&facts) {
                queries.add(query, sums.span, sums.first_position);
            }
        }
        let mut objects =
            KnownObjects::new(program, answers, &queries.evidence(answers), self.source.linker.load_biases());
        for query in queries.in_file_order() {
            let Some(address) = query.address else { continue };
            let operands = answers.operands_at(query.ip);
            let operand = operands.operand(query.is_store).copied();
            let by_code = operands.target(query.is_store);
            let claimed = operand.and_then(|operand| observed_object(address, &operand, answers));
            let rivals = objects.rivals(address, claimed);
            let mut target = |nearest| {
                let observed = ObservedAddress { address, nearest, owner: query.owner };
                decide(&mut objects, answers, observed, operand.as_ref(), by_code)
            };
            if rivals.is_empty() {
                self.decided.insert(query, target(None));
            } else {
                let targets = rivals.into_iter().map(|object| (object, target(Some(object))));
                self.decided.insert_by_object(query, targets.collect());
            }
        }
        self.add_lifetimes(&mut objects, answers)
    }

    /// Finds when objects were sampled, where targets depend on it.
    fn add_lifetimes(
        &mut self,
        objects: &mut KnownObjects<'_>,
        answers: &ProgramOperands,
    ) -> Result<(), Error> {
        let interrupted = self.decided.add_spans(objects);
        if interrupted.is_empty() {
            return Ok(());
        }
        let part = ProgramSamples { recorded: self, answers };
        let mut object = |facts: &SampleFacts| {
            let query = part.query(facts).ok()?;
            let operand = answers.operands_at(query.ip).operand(query.is_store)?;
            let claimed = observed_object(query.address?, operand, answers)?;
            objects.shown_object(claimed, &interrupted).map(|object| object.0)
        };
        let groups: Vec<Option<u32>> = self.gathered.table.iter().map(|(facts, _)| object(&facts)).collect();
        for (group, times) in times_by_group(&self.source, &self.gathered.table, &groups)? {
            self.decided.add_times(ObjectId(group), times);
        }
        Ok(())
    }
}
