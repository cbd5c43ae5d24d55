//! `fieldline propose`.

use crate::Outcome;
use crate::args::ProposeArgs;
use anyhow::Result;

pub(crate) fn run(_args: &ProposeArgs) -> Result<Outcome> {
    anyhow::bail!("to be wired")
}
