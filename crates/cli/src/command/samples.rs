//! `fieldline samples`.

use crate::Outcome;
use crate::args::SamplesArgs;
use anyhow::Result;

pub(crate) fn run(_args: &SamplesArgs) -> Result<Outcome> {
    anyhow::bail!("to be wired")
}
