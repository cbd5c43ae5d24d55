//! `fieldline bench`: benchmarks of the running kernel, for `compare`.

#[cfg(target_os = "linux")]
mod cgroup_tree;

use crate::args::{BenchArgs, BenchCommand};
use crate::output::CommandOutcome;
use anyhow::Result;

#[cfg(target_os = "linux")]
pub(crate) fn run(args: &BenchArgs) -> Result<CommandOutcome> {
    match &args.command {
        BenchCommand::CgroupTree(args) => cgroup_tree::run(args),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn run(args: &BenchArgs) -> Result<CommandOutcome> {
    let BenchCommand::CgroupTree(_) = &args.command;
    anyhow::bail!("benchmarks of the kernel run on Linux only")
}
