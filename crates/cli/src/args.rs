//! Command-line arguments.

mod accesses;
mod bench;
mod common;
mod compare;
mod fleet;
mod guest;
mod install;
mod layouts;
#[cfg(test)]
mod options_doc;
mod orders;
mod record;
mod series;
mod split;
mod trial;
mod values;

pub(crate) use accesses::{
    DoctorArgs, ExplainArgs, ImportArgs, MergeArgs, ProfileArgs, ReportArgs, SamplesArgs,
};
pub(crate) use bench::{BenchArgs, BenchCommand, CgroupTreeArgs};
pub(crate) use common::{GlobalArgs, require_vmlinux, require_words};
pub(crate) use compare::{CompareArgs, CompareFormat, FailOn};
pub(crate) use guest::{GuestArgs, GuestCommand, GuestRecordArgs, GuestRunArgs, GuestScoreArgs, ScoreArgs};
pub(crate) use install::{CompletionsArgs, ManArgs};
pub(crate) use layouts::{
    BaselineArgs, CheckArgs, DiffArgs, DiffFormat, FindingsFormat, FindingsOutput, InitArgs, LayoutArgs,
    LayoutFormat,
};
pub(crate) use orders::{
    BuiltObject, PatchArgs, PlaceArgs, PlanArgs, ProposeArgs, SimulateArgs, SimulateInput, VerifyArgs,
};
pub(crate) use record::{CpuList, RecordArgs, cpus};
pub(crate) use split::SplitArgs;
pub(crate) use trial::TrialArgs;
pub(crate) use values::ProfileFormat;

use clap::{Args, Parser, Subcommand};
use common::PlainArguments;
use std::path::PathBuf;

/// The version with the commit it was built from, where that is known (build.rs), and with what a static build lacks.
const VERSION: &str = if cfg!(target_feature = "crt-static") {
    concat!(env!("FIELDLINE_VERSION"), ", static: no C front end")
} else {
    env!("FIELDLINE_VERSION")
};

/// Place struct members that are used together on the same cacheline, and write the patch.
#[derive(Debug, Parser)]
#[command(name = "fieldline", version = VERSION, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
}

impl Arguments {
    /// Arguments of this process; a plain argument that is a file is the one of --vmlinux.
    pub(crate) fn from_command_line() -> Self {
        let mut arguments = Self::parse();
        if let Some(plain) = arguments.command.plain_arguments() {
            plain.take_file();
        }
        arguments
    }
}

impl Command {
    fn plain_arguments(&mut self) -> Option<PlainArguments<'_>> {
        let (words, vmlinux) = match self {
            Self::Layout(args) => (&mut args.types, &mut args.vmlinux),
            Self::Explain(args) => (&mut args.places, &mut args.vmlinux),
            Self::Report(args) => (&mut args.types, &mut args.vmlinux),
            Self::Plan(args) => (&mut args.types, &mut args.vmlinux),
            Self::Place(args) => (&mut args.types, &mut args.vmlinux),
            Self::Split(args) => (&mut args.types, &mut args.vmlinux),
            Self::Baseline(args) => (&mut args.types, &mut args.vmlinux),
            Self::Init(args) => (&mut args.types, &mut args.vmlinux),
            Self::Doctor(args) => (&mut args.types, &mut args.vmlinux),
            _ => return None,
        };
        Some(PlainArguments { words, vmlinux })
    }
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
    /// Find members that could be a struct of their own, and what that changes.
    Split(SplitArgs),
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
    /// Record kernels that run in QEMU.
    Guest(GuestArgs),
    /// Build a kernel without and with patches, boot each in QEMU several times, and compare lines, misses and HITM.
    Trial(Box<TrialArgs>),
    /// Run a benchmark of the kernel again and again, for `compare`.
    Bench(BenchArgs),
    /// Compare runs of benchmarks of several variants: statistics, tables, verdicts.
    Compare(Box<CompareArgs>),
    /// Run the pipeline on the built-in example.
    Demo(DemoArgs),
    /// Print the completions of a shell.
    Completions(CompletionsArgs),
    /// Print or write manual pages.
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Folder to work in; a new one under the system's temporary folder if not given.
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
