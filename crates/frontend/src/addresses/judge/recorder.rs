//! Where demands are recorded.

use super::super::facts::CodePlace;
use crate::demand::{CodeUse, Demand};

/// Where demands are told.
pub(crate) struct Recorder<'t> {
    pub(crate) at: &'t CodePlace,
    pub(crate) end: &'t CodePlace,
    pub(crate) found: &'t mut Vec<CodeUse>,
}

impl Recorder<'_> {
    pub(crate) fn record(&mut self, subject: usize, demand: Demand, why: String) {
        let is_elsewhere = self.end.file != self.at.file || self.end.line != self.at.line;
        let name =
            self.end.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let why = if is_elsewhere { format!("{why}, at {name}:{}", self.end.line) } else { why };
        self.found.push(self.at.used(subject, demand, why));
    }
}
