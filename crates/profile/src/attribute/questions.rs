//! What addresses are asked: samples that look alike to objects are one question, however many there are.

use crate::objects::{Evidence, Votes};
use fieldline_typeflow::operands::{Answers, Target, TypeIndex};
use rustc_hash::FxHashMap;

/// All that decides what a sample touched, but for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Question {
    /// The instruction as linked.
    pub(super) ip: u64,
    /// The data's address as objects know it; 0 if there is none.
    pub(super) address: u64,
    /// Whose own data it touches.
    pub(super) owner: Option<u32>,
    /// Whether it is of a store, if that is known.
    pub(super) is_store: Option<bool>,
}

/// Questions, with the samples that ask them.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// With where in the file each was asked first.
    asked: FxHashMap<Question, (Votes, u64)>,
}

impl Questions {
    /// Takes samples that ask, the first of them where it stands in the file.
    pub(super) fn ask(&mut self, question: Question, votes: Votes, at: u64) {
        let known = self.asked.entry(question);
        let known = known.and_modify(|(known, first)| {
            known.add(votes);
            *first = at.min(*first);
        });
        known.or_insert((votes, at));
    }

    pub(super) fn evidence(&self, answers: &Answers) -> Evidence {
        let mut evidence = Evidence::default();
        for (question, (votes, _)) in &self.asked {
            if let Some(operand) = answers.at(question.ip).operand(question.is_store) {
                evidence.add_all(question.address, question.owner, *votes, operand, answers);
            }
        }
        evidence
    }

    /// All questions, in the order in which they were asked first.
    pub(super) fn in_order(&self) -> Vec<Question> {
        let mut all: Vec<(u64, Question)> = self.asked.iter().map(|(of, (_, at))| (*at, *of)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, question)| question).collect()
    }
}

/// What samples touched, where addresses were used.
#[derive(Debug, Default)]
pub(super) struct Decided {
    targets: FxHashMap<Question, Choice>,
}

/// The answer to a question, from each time on.
#[derive(Clone, Debug)]
enum Choice {
    /// Whenever it is asked: from 0 on.
    Always((u64, Target<TypeIndex>)),
    /// By time: memory was used for one object after the other.
    ByTime(Vec<(u64, Target<TypeIndex>)>),
}

impl Decided {
    /// Takes answers at some times, in order of time.
    pub(super) fn insert(&mut self, question: Question, mut answers: Vec<(u64, Target<TypeIndex>)>) {
        answers.dedup_by_key(|(_, target)| *target);
        let choice = if let [only] = answers[..] { Choice::Always(only) } else { Choice::ByTime(answers) };
        self.targets.insert(question, choice);
    }

    /// What samples touched that ask this, from each time on; nothing if no address was used for it.
    pub(super) fn turns(&self, question: &Question) -> &[(u64, Target<TypeIndex>)] {
        match self.targets.get(question) {
            None => &[],
            Some(Choice::Always(answer)) => std::slice::from_ref(answer),
            Some(Choice::ByTime(answers)) => answers,
        }
    }

    /// What a sample touched that asks this.
    pub(super) fn get(&self, question: &Question, time: u64) -> Option<Target<TypeIndex>> {
        let turns = self.turns(question);
        let past = turns.partition_point(|(from, _)| *from <= time);
        turns.get(past.saturating_sub(1)).map(|(_, target)| *target)
    }
}
