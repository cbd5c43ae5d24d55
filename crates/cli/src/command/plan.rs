//! `fieldline plan`.

use crate::Outcome;
use crate::args::PlanArgs;
use anyhow::Result;

pub(crate) fn run(_args: &PlanArgs) -> Result<Outcome> {
    anyhow::bail!("to be wired")
}
