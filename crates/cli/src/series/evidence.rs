//! Measured results: what `compare --format json` writes and `--evidence` reads.

use fieldline_compare::comparison::Comparison;
use fieldline_compare::environment::{EnvironmentDifference, EnvironmentFacts};
use serde::{Deserialize, Serialize};

/// The name and version of the file.
pub(crate) const FORMAT: &str = "fieldline-comparison";
pub(crate) const VERSION: u32 = 1;

/// A comparison with the machines that ran.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EvidenceDocument {
    format: String,
    version: u32,
    /// Facts by variant.
    pub(crate) environments: Vec<EnvironmentFacts>,
    /// Facts in which variants differ.
    pub(crate) differences: Vec<EnvironmentDifference>,
    #[serde(flatten)]
    pub(crate) comparison: Comparison,
}

impl EvidenceDocument {
    pub(crate) fn new(
        comparison: Comparison,
        environments: Vec<EnvironmentFacts>,
        differences: Vec<EnvironmentDifference>,
    ) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, environments, differences, comparison }
    }
}
