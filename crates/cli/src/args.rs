//! Command-line arguments.

mod accesses;
mod layouts;
mod orders;
mod record;
mod series;
mod values;

pub(crate) use accesses::{
    DoctorArgs, ExplainArgs, ImportArgs, MergeArgs, ProfileArgs, ReportArgs, ReportFormat, SamplesArgs,
};
pub(crate) use layouts::{
    BaselineArgs, CheckArgs, DiffArgs, DiffFormat, FindingsFormat, FindingsOutput, InitArgs, LayoutArgs,
    Style,
};
pub(crate) use orders::{
    BuiltObject, PatchArgs, PlaceArgs, PlanArgs, ProposeArgs, SimulateArgs, SimulateInput, VerifyArgs,
};
pub(crate) use record::{CpuList, RecordArgs, cpus};

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Place struct members that are used together on the same cacheline, and write the patch.
#[derive(Debug, Parser)]
#[command(name = "fieldline", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Threads to use; all cores if not given. Results do not depend on it.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Folder with separate debug files, found by build ID or by name. /usr/lib/debug is searched too.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) debug_dir: Vec<PathBuf>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print struct layouts: members, holes, cachelines.
    Layout(LayoutArgs),
    /// Attribute the samples of perf.data files, or of perf script's text, to struct members.
    Profile(ProfileArgs),
    /// Import what perf counted by type (perf report, perf annotate --data-type, JSON).
    Import(ImportArgs),
    /// Merge profiles of one program: of several files, hosts or runs.
    Merge(MergeArgs),
    /// Print one row a sample: ip addr type offset reason.
    Samples(SamplesArgs),
    /// Explain what an instruction touches: operands, registers with the source of their values, attribution.
    Explain(ExplainArgs),
    /// Show members of structs by accesses, with CPUs, functions and false sharing.
    Report(ReportArgs),
    /// Find a member order that touches fewer cachelines.
    Plan(PlanArgs),
    /// Find where a new member of a struct costs least.
    Place(PlaceArgs),
    /// Replay recorded accesses through modelled caches, as declared and as planned.
    Simulate(SimulateArgs),
    /// Turn a plan into a patch of the header.
    Patch(PatchArgs),
    /// Compare what was built with what a plan predicted.
    Verify(VerifyArgs),
    /// Run all stages: attribute, plan, and write the report and patches.
    Propose(Box<ProposeArgs>),
    /// List the structs that differ between two files, and how.
    Diff(DiffArgs),
    /// Store the layouts of a file, to compare later ones with.
    Baseline(BaselineArgs),
    /// Check layouts by the rules of fieldline.toml, for CI.
    Check(CheckArgs),
    /// Write a first fieldline.toml.
    Init(InitArgs),
    /// Advise what to record on this machine, or diagnose a recording.
    Doctor(DoctorArgs),
    /// Record a program's memory accesses without a PMU, by single steps or breakpoints, as a perf.data.
    Record(RecordArgs),
    /// Run the pipeline on the built-in example.
    Demo(DemoArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Folder to work in; a new one under the system's temporary folder if not given.
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
