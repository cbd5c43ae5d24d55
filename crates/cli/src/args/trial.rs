//! Arguments of `trial`.

use super::guest::{GuestRunArgs, ScoreArgs};
use super::record::StepArgs;
use super::values::output_format;
use crate::output::OutputFormat;
use clap::{ArgGroup, Args, value_parser};
use std::path::PathBuf;

/// Options of kernels: a program has none of them.
const KERNEL_ONLY: [&str; 16] = [
    "build",
    "kconfig",
    "option",
    "make_arguments",
    "prove_build",
    "arch",
    "cpus",
    "memory",
    "load",
    "units",
    "symbols",
    "types",
    "window",
    "append",
    "qemu",
    "timeout",
];

#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("subject").required(true)),
    group(ArgGroup::new("stepping").args(["burst", "gap", "time"]).multiple(true).requires("compile")),
    after_help = "Builds the tree without and with each patch in the folder -o; the tree itself is not written to. Each kernel is \
booted as often as --runs says, in turns, with seeds of its own, and its accesses go through modelled caches at the addresses \
they have. What is there already is kept: an interrupted trial goes on. Needs what builds a kernel, QEMU 10.0 or newer with \
plugins, and git. With --compile a program is tried instead: built in copies of its tree, and recorded by single steps as \
`record` does, in bursts. Misses are then of what was recorded, not of the whole run. Exit codes: 0 done, 1 a kernel or program \
is not what the plan predicts, 2 not done (the message says why)."
)]
pub(crate) struct TrialArgs {
    /// A plan: the order it proposes is tried.
    #[arg(long, value_name = "FILE", group = "subject")]
    pub(crate) plan: Option<PathBuf>,
    /// Patches to try: a folder with *.patch, or one patch.
    #[arg(long, value_name = "DIR", group = "subject")]
    pub(crate) patches: Option<PathBuf>,
    /// Another kernel to try: patches, or a plan (*.json). May be given several times.
    #[arg(long, value_name = "OTHER")]
    pub(crate) vs: Vec<PathBuf>,
    /// The kernels' names in tables, with commas between, that of the unpatched one first.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) names: Vec<String>,
    /// The source tree.
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: PathBuf,
    /// A build folder whose configuration is used. Without one, and without --kconfig, a small kernel is built.
    #[arg(long, value_name = "[O=]DIR", value_parser = super::orders::build, conflicts_with = "kconfig")]
    pub(crate) build: Option<PathBuf>,
    /// The recorded kernel: the structs must lie in the unpatched one as they do there. With --compile, the program: by
    /// the path in the tree that the command makes it at; if it is there, it is the recorded one.
    #[arg(long, visible_alias = "program", value_name = "FILE")]
    pub(crate) vmlinux: Option<PathBuf>,
    /// Try a program: the command that builds it, for sh at the top of a copy of the tree. The load stands behind --.
    #[arg(long, value_name = "COMMAND", requires_all = ["vmlinux", "command"], conflicts_with_all = KERNEL_ONLY)]
    pub(crate) compile: Option<String>,
    #[command(flatten)]
    pub(crate) steps: StepArgs,
    /// A whole configuration of the kernel.
    #[arg(long, value_name = "FILE")]
    pub(crate) kconfig: Option<PathBuf>,
    /// An option more of the small kernel, such as CONFIG_INET=y. May be given several times.
    #[arg(long, value_name = "CONFIG_X=y", conflicts_with_all = ["kconfig", "build"])]
    pub(crate) option: Vec<String>,
    /// An argument of make, such as CC=gcc-14. May be given several times.
    #[arg(long = "make", value_name = "NAME=VALUE")]
    pub(crate) make_arguments: Vec<String>,
    /// Boots of each kernel.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = value_parser!(u32).range(1..=1000))]
    pub(crate) runs: u32,
    /// The folder for kernels and results.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) guest: GuestRunArgs,
    #[command(flatten)]
    pub(crate) score: ScoreArgs,
    /// Also build the last kernel from nothing, and compare its code and data with the one that was built from the others'
    /// objects.
    #[arg(long)]
    pub(crate) prove_build: bool,
    /// Keep all traces, for guest score and simulate. A trace of 30M accesses has 480 MB.
    #[arg(long)]
    pub(crate) keep_traces: bool,
    /// Go on where members don't lie as in the plan, or where more than places of members changed.
    #[arg(long)]
    pub(crate) force: bool,
    /// Write a page with both layouts and the results.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// The program's load: a command that is run at the top of each copy, and recorded with all that it starts.
    #[arg(value_name = "PROGRAM", last = true, requires = "compile")]
    pub(crate) command: Vec<String>,
    /// How to print: as text for the terminal, or as JSON (docs/formats.md), also for --evidence.
    #[arg(long, default_value = "text", value_parser = output_format(), value_name = "FORMAT")]
    pub(crate) format: OutputFormat,
}
