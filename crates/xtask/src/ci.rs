//! The stages of CI, with the time each may take.

use crate::tools::debian;
use crate::tools::shell::{self, print_line};
use anyhow::{Context, Result};
use std::time::{Duration, Instant};

/// A stage: its name, its budget in minutes on two idle cores, and its work.
type Stage = (&'static str, u64, fn() -> Result<bool>);

/// All stages. Other verbs are run by hand.
const STAGES: &[Stage] = &[
    ("tests", 8, tests),
    ("lints", 4, lints),
    ("safety", 2, safety),
    ("kernel", 6, || crate::kernel::run(&[])),
];

/// Programs that tests run. Their Debian packages have the same names.
const PROGRAMS: [&str; 6] = ["gcc", "g++", "clang", "git", "patch", "make"];

/// Orders drawn for each program of fixtures/safety, and in how many parts these are taken: each commit runs another part
/// than the one before, as the budget has no room for all of them.
const SAFETY_ORDERS: &str = "1";
const SAFETY_PARTS: usize = 2;

/// Runs each stage in turn; the first that fails ends it. `--no-kernel` leaves the real kernel out.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let mut spent: Vec<String> = Vec::new();
    for (name, minutes, work) in STAGES {
        if *name == "kernel" && args.iter().any(|arg| arg == "--no-kernel") {
            print_line!("kernel: left out as asked");
            continue;
        }
        let start = Instant::now();
        let holds = work()?;
        spent.push(stage_report(name, start.elapsed(), *minutes));
        if !holds {
            return Ok(false);
        }
    }
    print_line!("\n{}", spent.join("\n"));
    Ok(true)
}

/// A stage's time against its budget. Machines are noisy: it is printed, not asserted.
fn stage_report(name: &str, spent: Duration, minutes: u64) -> String {
    let over = if spent > Duration::from_secs(60 * minutes) { ", over" } else { "" };
    format!("stage {name:<7} {:>4} s of {:>3} s{over}", spent.as_secs(), 60 * minutes)
}

fn tests() -> Result<bool> {
    shell::require_files(&PROGRAMS.map(|name| (name, name)))?;
    debian::require_libclang()?;
    let left_out = shell::temporary("left-out");
    std::fs::write(&left_out, "").with_context(|| left_out.display().to_string())?;
    cargo(
        &["test", "--workspace", "--features", "fieldline-cli/parquet"],
        &[("FIELDLINE_LEFT_OUT", &left_out.display().to_string())],
    )?;
    let names = std::fs::read_to_string(&left_out)?;
    std::fs::remove_file(&left_out)?;
    print_line!("{} tests left out for want of a facility of the kernel", names.lines().count());
    names.lines().for_each(|name| print_line!("  {name}"));
    Ok(true)
}

fn lints() -> Result<bool> {
    cargo(&["fmt", "--all", "--check"], &[])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])?;
    let with_parquet = ["clippy", "-p", "fieldline-cli", "--features", "parquet", "--all-targets"];
    cargo(&[&with_parquet[..], &["--", "-D", "warnings"]].concat(), &[])?;
    let flags = [("RUSTDOCFLAGS", "-D warnings")];
    cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"], &flags)?;
    crate::tidy::run(&[])
}

fn safety() -> Result<bool> {
    debian::require_libclang()?;
    let part = format!("{}/{SAFETY_PARTS}", commits() % SAFETY_PARTS);
    print_line!("safety: part {part} of the programs; cargo xtask safety --known runs all");
    crate::safety::run(&["--orders", SAFETY_ORDERS, "--known", "--part", &part].map(str::to_owned))
}

/// Commits up to this one; 0 outside a checkout.
fn commits() -> usize {
    let count = crate::deb::git(&["rev-list", "--count", "HEAD"]);
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

fn cargo(args: &[&str], variables: &[(&str, &str)]) -> Result<()> {
    shell::run(shell::cargo(args).envs(variables.iter().copied()))
}
