//! What CI runs.

use crate::tools::shell::{self, root, say};
use anyhow::Result;
use std::process::Command;

fn run_cargo(args: &[&str], deny_docs: bool) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root()).args(args);
    if deny_docs {
        command.env("RUSTDOCFLAGS", "-D warnings");
    }
    shell::run(&mut command)
}

/// Runs every check in turn; the first that fails ends it. `--no-kernel` leaves the real kernel out.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    run_cargo(&["test", "--workspace"], false)?;
    run_cargo(&["fmt", "--all", "--check"], false)?;
    run_cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], false)?;
    run_cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"], true)?;
    if args.iter().any(|arg| arg == "--no-kernel") {
        say("kernel: left out as asked");
        return Ok(true);
    }
    crate::kernel::run(&[])
}
