//! `fieldline demo`.

use crate::Outcome;
use crate::args::DemoArgs;
use anyhow::Result;

pub(crate) fn run(_args: &DemoArgs) -> Result<Outcome> {
    anyhow::bail!("to be wired")
}
