//! `fieldline report`.

use crate::Outcome;
use crate::args::ReportArgs;
use anyhow::Result;

pub(crate) fn run(_args: &ReportArgs) -> Result<Outcome> {
    anyhow::bail!("to be wired")
}
