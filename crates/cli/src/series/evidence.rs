//! Measured results: what `compare` writes and `--evidence` reads.

use crate::input::document;
use anyhow::{Context, Result, bail};
use fieldline_compare::comparison::Comparison;
use fieldline_compare::environment::{EnvironmentDifference, EnvironmentFacts};
use fieldline_compare::tables::{COVER_BEGINNING, draw_cover};
use serde::{Deserialize, Serialize};
use std::path::Path;

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

/// The text for a cover letter: of a comparison in JSON, or what `compare --format cover` wrote.
pub(crate) fn cover_text(path: &Path) -> Result<String> {
    let bytes = fieldline_files::read(path).with_context(|| path.display().to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    if text.trim_start().starts_with('{') {
        let EvidenceDocument { comparison, environments, .. } =
            document::read(path, FORMAT, u64::from(VERSION))?;
        return Ok(draw_cover(&comparison, &environments).trim_end().to_owned());
    }
    if !text.starts_with(COVER_BEGINNING) {
        bail!("{}: not what fieldline compare --format json or --format cover wrote", path.display());
    }
    Ok(text.trim_end().to_owned())
}
