//! One limit of a machine or a recording.

use serde::Serialize;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The question can't be answered.
    CannotAnswer,
    /// Part of the answer is missing or biased.
    Limits,
    /// Good to know.
    Note,
}

impl Severity {
    /// Its name in reports.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::CannotAnswer => "cannot answer",
            Self::Limits => "limits",
            Self::Note => "note",
        }
    }
}

/// One limit: its description, its evidence and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    /// An identifier that does not change.
    pub key: String,
    /// How much it weighs.
    pub severity: Severity,
    /// The limit, a sentence.
    #[serde(rename = "what")]
    pub message: String,
    /// The fact that shows it, and its source.
    #[serde(rename = "why")]
    pub evidence: String,
    /// The remedy.
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
        Self { key: key.to_owned(), severity, message: what, evidence: why, remedy, command: None }
    }

    /// One of severity `limits`.
    pub(super) fn limits(
        key: &str,
        what: impl Into<String>,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::new(key, Severity::Limits, what, why, remedy)
    }

    pub(super) fn with_command(self, command: &str) -> Self {
        Self { command: Some(command.to_owned()), ..self }
    }
}
