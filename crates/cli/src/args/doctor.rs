//! `fieldline doctor`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the machine or the recording can answer, 1 it can't (the findings say why, and which \
command would), 2 an input is missing or broken."
)]
pub(crate) struct DoctorArgs {
    /// Structs asked about: whether they have enough samples; the busiest if none is given.
    #[arg(value_name = "TYPE", requires = "vmlinux")]
    pub(crate) types: Vec<String>,
    /// Recordings to judge, perf.data or texts of perf script; without one this machine is looked at.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) perf: Vec<PathBuf>,
    /// The vmlinux (or program) that was running: also judges the samples on structs.
    #[arg(long, visible_alias = "program", value_name = "FILE", requires = "perf")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// Folder whose proc and sys describe the machine.
    #[arg(long, value_name = "DIR", default_value = "/", conflicts_with = "perf")]
    pub(crate) root: PathBuf,
    /// Print JSON (docs/formats.md).
    #[arg(long)]
    pub(crate) json: bool,
}
