//! Commands to record with on a machine.

use crate::sampler::Sampler;
use serde::Serialize;

/// The workload that commands record.
pub(super) const WORKLOAD: &str = "-- sleep 10";

/// Commands for a machine, and their limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// Hardware that samples memory accesses.
    pub sampler: Sampler,
    /// The sampler, as a sentence.
    pub summary: String,
    /// It can record what fieldline needs.
    pub can_answer: bool,
    /// Commands in their order; alternatives say so.
    pub commands: Vec<AdvisedCommand>,
    /// Steps to take where no command would answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
    /// Limits of such recordings.
    pub cannot_show: Vec<String>,
}

/// A command and its purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdvisedCommand {
    /// As typed, by root.
    pub command: String,
    /// Its purpose.
    pub purpose: String,
}

impl AdvisedCommand {
    pub(super) fn new(command: impl Into<String>, purpose: &str) -> Self {
        Self { command: command.into(), purpose: purpose.to_owned() }
    }
}

impl Advice {
    /// Commands that record accesses; the sampler is filled in by `Advice::for_machine`.
    pub(super) fn with_commands(
        summary: impl Into<String>,
        commands: Vec<AdvisedCommand>,
        cannot_show: &[&str],
    ) -> Self {
        let (sampler, summary, cannot_show) = (Sampler::TimersOnly, summary.into(), to_strings(cannot_show));
        Self { sampler, summary, can_answer: true, commands, instead: Vec::new(), cannot_show }
    }

    /// The command that records, if the machine can.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        self.commands.first().filter(|_| self.can_answer).map(|command| command.command.as_str())
    }

    /// The same with more options.
    #[must_use]
    pub fn command_with(&self, options: &str) -> Option<String> {
        self.command().map(|command| command.replacen(" -a ", &format!(" -a {options} "), 1))
    }

    /// The same for so many seconds.
    #[must_use]
    pub fn command_for(&self, seconds: u64) -> Option<String> {
        self.command().map(|command| command.replace(WORKLOAD, &format!("-- sleep {seconds}")))
    }
}

pub(super) fn to_strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
