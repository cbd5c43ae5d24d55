//! One recording of a program, and what its samples touched.

use super::attributed::Attributed;
use super::questions::{Decided, Question, Questions};
use super::straight::Straight;
use crate::gather::{Aside, Facts, Gathered, Source};
use crate::objects::{Objects, Seen, decide, in_space};
use fieldline_perfdata::perf_data::RecordTally;
use fieldline_perfdata::sample::Sample;
use fieldline_typeflow::operands::{Answers, Reason, Target, TypeIndex};
use fieldline_typeflow::program::Program;

/// A recording with all that is known of its samples.
pub(crate) struct Recorded<'f> {
    pub(crate) source: Source<'f>,
    /// Its samples, but for their times.
    pub(crate) gathered: Gathered,
    /// What samples touched, where addresses were used.
    pub(super) decided: Decided,
    pub(crate) straight: Straight,
}

pub(crate) struct Part<'p, 'f> {
    pub(crate) recorded: &'p Recorded<'f>,
    /// What the code of the program tells.
    pub(crate) answers: &'p Answers,
}

impl Part<'_, '_> {
    /// The tally and the median gap, if they are known.
    pub(crate) fn looked(&self) -> Option<&(RecordTally, u64)> {
        let Recorded { source, gathered, .. } = self.recorded;
        gathered.looked(self.answers).filter(|_| source.traps.is_empty())
    }

    /// Whether a sample counts by the runs of its branch stack.
    pub(crate) fn counts_runs(&self, sample: &Sample<'_>) -> bool {
        self.recorded.source.counts_runs(sample.event)
    }

    /// Whether a sample is in the program, and its function.
    pub(crate) fn function(&self, sample: &Sample<'_>) -> Option<Option<u32>> {
        let question = self.question(&self.recorded.source.facts(sample)).ok()?;
        Some(self.answers.at(question.ip).function)
    }

    /// What a sample touched, by code and, where they were used, addresses.
    pub(crate) fn attribute(&self, sample: &Sample<'_>) -> Attributed {
        self.attribute_facts(&self.recorded.source.facts(sample), sample.time.unwrap_or(0))
    }

    /// The same of a sample at a time.
    pub(super) fn attribute_facts(&self, facts: &Facts, time: u64) -> Attributed {
        let question = self.question(facts);
        let decided = question.as_ref().ok().and_then(|question| self.recorded.decided.get(question, time));
        self.attributed(facts, question, decided)
    }

    /// What samples touched, from each time on; the first of them also before. One at least.
    pub(crate) fn turns(&self, facts: &Facts) -> Vec<(u64, Attributed)> {
        let question = self.question(facts);
        let turns = question.as_ref().map_or(&[][..], |question| self.recorded.decided.turns(question));
        if turns.is_empty() {
            return vec![(0, self.attributed(facts, question, None))];
        }
        let attributed = |target| self.attributed(facts, question, Some(target));
        turns.iter().map(|(from, target)| (*from, attributed(*target))).collect()
    }

    /// Whether a sample says that it is of a store, or of a load.
    fn is_store(&self, aside: &Aside) -> Option<bool> {
        let operation = aside.source.map(|source| source.operation());
        match operation.map(|operation| (operation.is_load(), operation.is_store())) {
            Some((true, false)) => Some(false),
            Some((false, true)) => Some(true),
            _ => {
                let watch = self.recorded.source.traps.of_event(aside.event)?;
                watch.is_of_writes.then_some(true)
            }
        }
    }

    /// What samples ask. A watch's address is the access's only if that is as long as what is watched.
    fn question(&self, facts: &Facts) -> Result<Question, Reason> {
        let Facts { aside, address, ip } = facts;
        let (space, is_store) = (aside.space?, self.is_store(aside));
        let source = &self.recorded.source;
        let (ip, is_whole) = match source.traps.of_event(aside.event) {
            Some(watch) => {
                let ip = self.answers.before(*ip).ok_or(Reason::NoMemoryOperand)?;
                let operand = self.answers.at(ip).operand(is_store);
                (ip, operand.is_some_and(|operand| u64::from(operand.size) == watch.length))
            }
            None => (*ip, true),
        };
        Ok(Question {
            ip,
            address: in_space(if is_whole { *address } else { 0 }, space),
            owner: if source.linker.is_program() { aside.tid } else { aside.cpu },
            is_store,
        })
    }

    /// What samples touched that ask something, of which more may be decided than the code tells.
    fn attributed(
        &self,
        facts: &Facts,
        question: Result<Question, Reason>,
        decided: Option<Target<TypeIndex>>,
    ) -> Attributed {
        let question = match question {
            Ok(question) => question,
            Err(reason) => {
                let is_store = self.is_store(&facts.aside).unwrap_or(false);
                return Attributed { is_store, ..Attributed::unknown(reason) };
            }
        };
        let answer = self.answers.at(question.ip);
        let operand = answer.operand(question.is_store);
        let by_code = answer.target(question.is_store);
        let is_write = || operand.is_some_and(|operand| operand.access.is_write());
        Attributed {
            ip: Some(question.ip),
            function: answer.function,
            target: decided.unwrap_or(by_code),
            by_code,
            size: operand.map_or(0, |operand| u64::from(operand.size)),
            is_store: question.is_store.unwrap_or_else(is_write),
        }
    }
}

impl Recorded<'_> {
    /// Finds objects by the addresses of the samples, then decides with both.
    pub(super) fn use_addresses<'a>(&mut self, program: &'a Program<'a>, answers: &mut Answers) {
        let mut questions = Questions::default();
        let part = Part { recorded: self, answers };
        for (facts, sums) in self.gathered.table.iter() {
            if let Ok(question) = part.question(&facts) {
                questions.ask(question, sums.votes, sums.at);
            }
        }
        let mut objects =
            Objects::new(program, answers, &questions.evidence(answers), self.source.linker.slides());
        for question in questions.in_order() {
            let answer = answers.at(question.ip);
            let operand = answer.operand(question.is_store).copied();
            let by_code = answer.target(question.is_store);
            let turns = objects.turns(question.address);
            // For each time at which the answer may be another.
            let mut at = |time| {
                let seen = Seen { address: question.address, time, owner: question.owner };
                decide(&mut objects, answers, seen, operand.as_ref(), by_code)
            };
            let targets = turns.into_iter().map(|time| (time, at(time))).collect();
            self.decided.insert(question, targets);
        }
    }
}
