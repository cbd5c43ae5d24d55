//! Our time as a ratio to the peer's, in the same run on the same input.
//!
//! Runs of both alternate, so that noise of the machine affects both. Medians and minima are printed, never asserted.

use crate::measure::enlarged::{SIZE, enlarge_recording};
use crate::tools::chosen::{self, Purpose};
use crate::tools::cost::{RunCost, run_measured, run_uncached};
use crate::tools::shell::{self, print_line};
use crate::tools::{debian, inputs};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const ROUNDS: usize = 5;

struct Benchmark {
    name: String,
    /// The accepted ratio or size, as text.
    bound: &'static str,
    ours: Vec<String>,
    /// Program and arguments of the peer.
    peer: Vec<String>,
    /// A slow peer runs once.
    once: bool,
}

/// `cargo xtask bench [BENCHMARK…]`: all benchmarks, or those whose names contain an argument.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let fieldline = shell::fieldline()?;
    let vmlinux = inputs::vmlinux()?;
    let root = debian::peers_root()?;
    let inside = debian::copy_into_root(&root, &vmlinux)?;
    let mut benchmarks = layout_benchmarks(&vmlinux.display().to_string(), &inside)?;
    if let Some(recording) = inputs::recording()? {
        benchmarks.extend(profile_benchmarks(&root, &vmlinux, &recording)?);
    }
    print_line!(
        "{:<26} {:>9} {:>9} {:>8} {:>8} {:>8} {:>9} {:>9}  bound",
        "work",
        "ours ms",
        "peer ms",
        "ratio",
        "min/min",
        "RSS MB",
        "anon MB",
        "peer MB"
    );
    for benchmark in benchmarks {
        if args.is_empty() || args.iter().any(|arg| benchmark.name.contains(arg.as_str())) {
            measure(&benchmark, &fieldline, &root)?;
        }
    }
    Ok(true)
}

fn split(command: &str) -> Vec<String> {
    command.split(' ').map(str::to_owned).collect()
}

fn layout_benchmarks(vmlinux: &str, inside: &str) -> Result<Vec<Benchmark>> {
    let benchmark = |name: String, ours: String, theirs: String, bound| {
        let ours = split(&format!("layout {ours} --vmlinux {vmlinux}"));
        Benchmark { name, bound, ours, peer: split(&format!("pahole {theirs} {inside}")), once: false }
    };
    let named = |name: String, ty: &str, format: &str, bound| {
        let ours = format!("{ty} --format pahole --debug-format {format}");
        benchmark(name, ours, format!("-F {format} -C {ty}"), bound)
    };
    let timed = chosen::structs(Purpose::Timed)?;
    let (first, others) = timed.split_first().context("no struct to time")?;
    let every = "--format pahole --debug-format dwarf".to_owned();
    let mut all = vec![named("one struct, DWARF".to_owned(), first, "dwarf", "<= 0.1 x, <= 150 MB anon")];
    all.extend(others.iter().map(|ty| named(format!("{ty}, DWARF"), ty, "dwarf", "<= 1 x")));
    let peer = "-j2 -F dwarf".to_owned();
    all.push(benchmark("every struct, DWARF".to_owned(), every, peer, "<= 0.2 x, <= 1 GB"));
    all.push(named("one struct, BTF".to_owned(), first, "btf", "<= 0.3 x"));
    Ok(all)
}

/// `perf report` by type, and of a recording of 1 GB by symbol only.
fn profile_benchmarks(root: &Path, vmlinux: &Path, recording: &Path) -> Result<[Benchmark; 2]> {
    let benchmark = |name: &str, bound, recording: &Path, options: &str| -> Result<Benchmark> {
        let inside = debian::copy_into_root(root, recording)?;
        let ours = split(&format!("profile --vmlinux {} --perf {}", vmlinux.display(), recording.display()));
        let peer = split(&format!("perf report -i {inside} {options} --stdio"));
        Ok(Benchmark { name: name.to_owned(), bound, ours, peer, once: true })
    };
    let kernel = vmlinux.file_name().context("no file name")?.to_string_lossy();
    let by_type = format!("--vmlinux /inputs/{kernel} -s type,typeoff");
    let small = benchmark("profile", "<= 2 s (peer 18.5 s)", recording, &by_type)?;
    let large = enlarge_recording(recording, SIZE)?;
    Ok([small, benchmark("profile, 1 GB", ">= 3 M samples/s", &large, "-s symbol")?])
}

fn measure(benchmark: &Benchmark, fieldline: &Path, root: &Path) -> Result<()> {
    let (mut ours, mut peers) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        ours.push(run_uncached(Command::new(fieldline).args(&benchmark.ours))?);
        if !benchmark.once || round == 0 {
            peers.push(run_measured(debian::peer(root, &benchmark.peer[0]).args(&benchmark.peer[1..]))?);
        }
    }
    print_line!("{}", row(benchmark, &mut ours, &mut peers));
    Ok(())
}

fn row(benchmark: &Benchmark, ours: &mut [RunCost], peers: &mut [RunCost]) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let mb = |kb: Option<u64>| kb.unwrap_or(0) as f64 / 1024.0;
    ours.sort_by_key(|cost| cost.time);
    peers.sort_by_key(|cost| cost.time);
    let [median, peer] = [&*ours, &*peers].map(|costs| ms(costs[costs.len() / 2].time));
    format!(
        "{:<26} {median:>9.0} {peer:>9.0} {:>8.3} {:>8.3} {:>8.0} {:>9.0} {:>9.0}  {}",
        benchmark.name,
        median / peer,
        ms(ours[0].time) / ms(peers[0].time),
        mb(ours.iter().map(|cost| cost.resident).max()),
        mb(ours.iter().map(|cost| cost.anonymous).max()),
        mb(peers.iter().map(|cost| cost.resident).max()),
        benchmark.bound
    )
}
