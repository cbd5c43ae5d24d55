//! The verbs of CI and of daily work: `cargo xtask VERB`.

mod ci;
mod fixtures;
mod fuzz;
mod kernel;
mod measure;
mod research;
mod tidy;
mod tools;

use anyhow::Result;
use kernel::{packing, parity, permutations, source};
use measure::{bench, throughput};
use research::{decode, emulated, truth, typed};
use std::process::ExitCode;

/// A verb: name, what it does, function of the remaining arguments.
type Verb = (&'static str, &'static str, fn(&[String]) -> Result<bool>);

const VERBS: &[Verb] = &[
    ("ci", "run what CI runs: tests, formatting, lints, documentation, kernel", ci::run),
    ("kernel", "test on a real kernel: parity, placement rules, all steps up to git apply", kernel::run),
    ("parity", "compare every struct of a vmlinux with pahole's text: [VMLINUX]", parity::run),
    ("packing", "plan every struct of a vmlinux by size alone and check the plans: [VMLINUX]", packing::run),
    (
        "source",
        "read the declaration of every struct of a vmlinux in its tree, against debug info: [VMLINUX [TREE]]",
        source::run,
    ),
    (
        "permutations",
        "reorder many structs at random in one patch, and hold what compiles against the prediction: [--full]",
        permutations::run,
    ),
    ("bench", "measure against pahole and perf in the same run: [WORK…]", bench::run),
    ("throughput", "measure profiles of recordings of 1/2, 1 and 2 GB: [perf]", throughput::run),
    (
        "truth",
        "judge attribution, visits and sharing on recordings with a known truth: [STRUCT…]",
        truth::run,
    ),
    (
        "typed",
        "the share of a kernel's code off the stack that has a type, by folder: [FOLDER [VMLINUX…]]",
        typed::run,
    ),
    ("decode", "compare operands in memory of an AArch64 program with objdump's: PROGRAM", decode::run),
    (
        "emulated",
        "attribution of AArch64 programs run under qemu against where their objects lie (qemu, cross compilers)",
        emulated::run,
    ),
    ("tidy", "prove that crates, files and names are laid as docs/ARCHITECTURE.md says", tidy::run),
    ("fuzz", "write the seeds of the fuzz targets, out of the fixtures", fuzz::run),
    ("fixtures", "build the demo's program and recording again (gcc, valgrind)", fixtures::run),
];

#[expect(clippy::print_stderr, reason = "a command-line tool")]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let verb = args.first().and_then(|name| VERBS.iter().find(|verb| verb.0 == name));
    let Some((_, _, run)) = verb else {
        eprintln!("usage: cargo xtask VERB\n");
        for (name, what, _) in VERBS {
            eprintln!("  {name:<12} {what}");
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
