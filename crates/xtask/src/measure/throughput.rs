//! Samples a second on recordings of a gigabyte, and the memory that takes.

use crate::measure::enlarged::{SIZE, enlarge_recording};
use crate::tools::cost::{RunCost, run_measured};
use crate::tools::shell::{self, print_line};
use crate::tools::{debian, inputs};
use anyhow::{Context, Result};
use fieldline_perfdata::sample_file::SampleFile;
use std::path::Path;
use std::process::Command;

/// `cargo xtask throughput [perf]`: recordings of half, one and two gigabytes, made of the data folder's by repeating
/// it; with `perf`, `perf report` on that of one gigabyte too.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let fieldline = shell::fieldline()?;
    let vmlinux = inputs::vmlinux()?;
    let recording = inputs::recording()?.context("FIELDLINE_DATA is no folder with recordings")?;
    let small = measure(&fieldline, &vmlinux, &recording)?;
    let few = samples(&recording)?;
    print_line!("{}", row("as recorded", few, &small, None));
    let mut holds = true;
    for (name, bytes) in [("1/2 GB", SIZE / 2), ("1 GB", SIZE), ("2 GB", 2 * SIZE)] {
        let large = enlarge_recording(&recording, bytes)?;
        let many = samples(&large)?;
        let cost = measure(&fieldline, &vmlinux, &large)?;
        let rate = (many - few) as f64 / (cost.time.saturating_sub(small.time)).as_secs_f64();
        print_line!("{}", row(name, many, &cost, Some(rate)));
        holds &= rate >= 3e6;
        if bytes == SIZE && args.iter().any(|arg| arg == "perf") {
            peer(&large, many)?;
        }
    }
    Ok(holds)
}

fn row(name: &str, samples: u64, cost: &RunCost, rate: Option<f64>) -> String {
    let rate = rate.map_or_else(String::new, |rate| format!("{:>8.2} M samples/s more", rate / 1e6));
    format!(
        "{name:<12} {samples:>10} samples {:>8.2} s {:>6} MB resident, {:>5} MB anonymous {rate}",
        cost.time.as_secs_f64(),
        cost.resident >> 10,
        cost.anonymous >> 10
    )
}

fn measure(fieldline: &Path, vmlinux: &Path, recording: &Path) -> Result<RunCost> {
    let once = || {
        let mut profile = Command::new(fieldline);
        run_measured(profile.arg("profile").arg("--vmlinux").arg(vmlinux).arg("--perf").arg(recording))
    };
    let mut runs = [once()?, once()?, once()?];
    runs.sort_by_key(|cost| cost.time);
    Ok(runs[1])
}

fn peer(recording: &Path, samples: u64) -> Result<()> {
    let root = debian::peers_root()?;
    let inside = debian::copy_into_root(&root, recording)?;
    let words = ["report", "--stdio", "-s", "symbol", "-i", &inside];
    let cost = run_measured(debian::peer(&root, "perf").args(words))?;
    print_line!("{}", row("  perf report", samples, &cost, Some(samples as f64 / cost.time.as_secs_f64())));
    Ok(())
}

fn samples(recording: &Path) -> Result<u64> {
    Ok(SampleFile::open(recording)?.count_records()?.samples())
}
