//! What to type on a machine, in its parts.

use crate::sampler::Sampler;
use serde::Serialize;

/// What is recorded while.
pub(super) const LOAD: &str = "-- sleep 10";

/// What to do on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// What it samples memory accesses by.
    pub sampler: Sampler,
    /// That in words.
    pub summary: String,
    /// It can record what fieldline needs.
    pub can_answer: bool,
    /// What to type, in this order; alternatives say so.
    pub commands: Vec<AdviceStep>,
    /// What to do where no command would answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// What such recordings can't show.
    pub cannot_show: Vec<String>,
}

/// A command and what it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdviceStep {
    /// As typed, by root.
    pub command: String,
    /// What it does.
    pub purpose: String,
}

impl AdviceStep {
    pub(super) fn new(command: impl Into<String>, purpose: &str) -> Self {
        Self { command: command.into(), purpose: purpose.to_owned() }
    }
}

impl Advice {
    /// Commands that record accesses; the sampler is filled in by `Advice::of`.
    pub(super) fn records(
        summary: impl Into<String>,
        commands: Vec<AdviceStep>,
        cannot_show: &[&str],
    ) -> Self {
        let (sampler, cannot_show) = (Sampler::TimersOnly, owned(cannot_show));
        Self {
            sampler,
            summary: summary.into(),
            can_answer: true,
            commands,
            instead: Vec::new(),
            cannot_show,
        }
    }

    /// The command that records, if the machine can.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        self.commands.first().filter(|_| self.can_answer).map(|step| step.command.as_str())
    }

    /// The same with more options.
    #[must_use]
    pub fn command_with(&self, options: &str) -> Option<String> {
        self.command().map(|command| command.replacen(" -a ", &format!(" -a {options} "), 1))
    }

    /// The same for so many seconds.
    #[must_use]
    pub fn command_for(&self, seconds: u64) -> Option<String> {
        self.command().map(|command| command.replace(LOAD, &format!("-- sleep {seconds}")))
    }
}

pub(super) fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
