//! One thing that a machine or a recording can't do.

use serde::Serialize;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The question can't be answered.
    CannotAnswer,
    /// Part of the answer is missing or bent.
    Limits,
    /// Good to know.
    Note,
}

impl Severity {
    /// The word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::CannotAnswer => "cannot answer",
            Self::Limits => "limits",
            Self::Note => "note",
        }
    }
}

/// What is missing, what shows it, and what would help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    /// A word that does not change.
    pub key: String,
    /// How much it weighs.
    pub severity: Severity,
    /// What can't be done, a sentence.
    pub what: String,
    /// The fact that shows it, and where it was seen.
    pub why: String,
    /// What helps.
    pub remedy: String,
    /// The command that would answer, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl DoctorFinding {
    /// A finding without a command.
    pub(super) fn new(
        key: &str,
        severity: Severity,
        what: impl Into<String>,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (what, why, remedy) = (what.into(), why.into(), remedy.into());
        Self { key: key.to_owned(), severity, what, why, remedy, command: None }
    }

    pub(super) fn with_command(self, command: &str) -> Self {
        Self { command: Some(command.to_owned()), ..self }
    }
}
