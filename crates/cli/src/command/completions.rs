//! `fieldline completions`: what a shell completes.

use crate::args::{Arguments, CompletionsArgs};
use crate::output::{self, CommandOutcome};
use anyhow::Result;
use clap::CommandFactory;

pub(crate) fn run(args: &CompletionsArgs) -> Result<CommandOutcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "fieldline", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}
