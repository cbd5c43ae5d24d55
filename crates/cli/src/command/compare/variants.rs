//! Arguments of all kinds of comparison: the files of variants, and formats that all have.

use crate::args::{CompareArgs, CompareFormat};
use anyhow::{Result, bail};
use std::path::PathBuf;

/// The files of each variant as the user named them, the base first.
pub(super) fn arguments(args: &CompareArgs) -> Vec<&[PathBuf]> {
    let others = args.variants.others.iter().map(Vec::as_slice);
    std::iter::once(args.variants.base.as_slice()).chain(others).collect()
}

/// Refuses formats that only tables of runs have.
pub(super) fn require_plain_format(args: &CompareArgs, option: &str) -> Result<()> {
    match args.format {
        CompareFormat::Table | CompareFormat::Markdown | CompareFormat::Json => Ok(()),
        _ => bail!("{option} prints --format table, markdown or json"),
    }
}
