//! `fieldline profile`.

use crate::Outcome;
use crate::args::ProfileArgs;
use anyhow::Result;

pub(crate) fn run(_args: &ProfileArgs) -> Result<Outcome> {
    anyhow::bail!("to be wired")
}
