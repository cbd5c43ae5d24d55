//! `fieldline patch`.

use crate::Outcome;
use crate::args::PatchArgs;
use anyhow::Result;

pub(crate) fn run(_args: &PatchArgs) -> Result<Outcome> {
    anyhow::bail!("to be wired")
}
