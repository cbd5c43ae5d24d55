//! The verbs of CI and of daily work: `cargo xtask VERB`.

mod ci;
mod deb;
mod fixtures;
mod fleet;
mod fuzz;
mod kernel;
mod measure;
mod page;
mod research;
mod safety;
mod tidy;
mod tools;

use anyhow::Result;
use kernel::{bench_guest, guest, packing, parity, permutations, source, trial};
use measure::{bench, throughput};
use research::{calibrate, decode, emulated, truth, typed};
use std::process::ExitCode;

/// A verb: name, line of help, function of the remaining arguments.
type Verb = (&'static str, &'static str, fn(&[String]) -> Result<bool>);

const VERBS: &[Verb] = &[
    ("ci", "run everything CI runs: tests, formatting, lints, documentation, kernel: [--no-kernel]", ci::run),
    (
        "kernel",
        "test a real kernel: parity, placement rules, all steps up to git apply: [--full]",
        kernel::run,
    ),
    ("guest", "record a kernel in QEMU and score it by its own objects: [VMLINUX]", guest::run),
    (
        "bench-guest",
        "run bench cgroup-tree in a kernel in QEMU: its load uses the quota, its groups are gone after any end: [VMLINUX]",
        bench_guest::run,
    ),
    (
        "trial",
        "build, boot and compare kernels whose answer is known: one member a line, and no change: [VMLINUX [RUNS]]",
        trial::run,
    ),
    ("parity", "compare every struct of a vmlinux with pahole's text: [VMLINUX]", parity::run),
    ("packing", "plan every struct of a vmlinux by size alone and check the plans: [VMLINUX]", packing::run),
    ("source", "compare the declarations of a kernel tree with debug info: [VMLINUX [TREE]]", source::run),
    (
        "permutations",
        "compile random orders of many structs and check the offsets: [--full]",
        permutations::run,
    ),
    ("bench", "measure time and memory beside pahole and perf: [BENCHMARK…]", bench::run),
    ("throughput", "measure profiles of recordings of 1/2, 1 and 2 GB: [perf]", throughput::run),
    ("truth", "score attribution, visits and false sharing by recorded truth: [STRUCT…]", truth::run),
    (
        "calibrate",
        "replay plans on traces of other runs, and see whether their intervals hold: [--ranks] [FOLDER [STRUCT…]]",
        calibrate::run,
    ),
    ("typed", "measure the share of a kernel's instructions with a type: [FOLDER [VMLINUX…]]", typed::run),
    ("decode", "compare operands in memory of an AArch64 program with objdump's: PROGRAM", decode::run),
    (
        "emulated",
        "score attribution of AArch64 programs run under qemu (qemu, cross compilers)",
        emulated::run,
    ),
    (
        "safety",
        "try orders of structs on the programs of fixtures/safety: [prove|table] [--orders N] [--text|--build] [--known] [PROGRAM…]",
        safety::run,
    ),
    (
        "fleet",
        "merge 1000 made-up hosts by fieldline, DuckDB and Spark, and compare (python3, java): [--hosts N] PROFILE.json…",
        fleet::run,
    ),
    ("deb", "build a Debian package; --try: use it in a clean root of the suite: [--try]", deb::run),
    ("page", "open the pages in Chromium, choose all there is, look for faults: [--picture FILE]", page::run),
    ("tidy", "check crates, files and names against docs/ARCHITECTURE.md", tidy::run),
    ("fuzz", "write the seeds of the fuzz targets from the fixtures", fuzz::run),
    ("fixtures", "rebuild the demo's program and recording (gcc, valgrind)", fixtures::run),
];

#[expect(clippy::print_stderr, reason = "a command-line tool")]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let verb = args.first().and_then(|name| VERBS.iter().find(|verb| verb.0 == name));
    let Some((_, _, run)) = verb else {
        eprintln!("usage: cargo xtask VERB\n");
        for (name, help, _) in VERBS {
            eprintln!("  {name:<12} {help}");
        }
        return ExitCode::from(2);
    };
    match run(&args[1..]) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}
