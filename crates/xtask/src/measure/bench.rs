//! Our time as a ratio to the peer's, in the same run on the same input.
//!
//! Runs of both alternate, so that a noisy machine hurts both; medians and minima are printed, never asserted.

use crate::measure::enlarged::{SIZE, enlarge_recording};
use crate::tools::cost::{RunCost, run_measured};
use crate::tools::shell::{self, print_line};
use crate::tools::{debian, inputs};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const ROUNDS: usize = 5;

struct Benchmark {
    name: &'static str,
    /// What the issue of the work allows, for the reader.
    bound: &'static str,
    ours: Vec<String>,
    /// Program and arguments of the peer.
    peer: Vec<String>,
    /// The peer takes long: it runs once.
    once: bool,
}

/// `cargo xtask bench [WORK…]`: all works, or those whose name contains a word given.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let fieldline = shell::fieldline()?;
    let vmlinux = inputs::vmlinux()?;
    let root = debian::peers_root()?;
    let inside = debian::copy_into_root(&root, &vmlinux)?;
    let mut works = layout_works(&vmlinux.display().to_string(), &inside);
    if let Some(recording) = inputs::recording()? {
        works.push(profile_work(&root, &vmlinux, &recording)?);
        works.push(large_work(&root, &vmlinux, &recording)?);
    }
    print_line(&format!(
        "{:<26} {:>9} {:>9} {:>8} {:>8} {:>8} {:>9} {:>9}  bound",
        "work", "ours ms", "peer ms", "ratio", "min/min", "RSS MB", "anon MB", "peer MB"
    ));
    for work in works {
        if args.is_empty() || args.iter().any(|word| work.name.contains(word.as_str())) {
            measure(&work, &fieldline, &root)?;
        }
    }
    Ok(true)
}

fn split_words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn layout_works(vmlinux: &str, inside: &str) -> Vec<Benchmark> {
    let work = |name, ours: String, theirs: String, bound| Benchmark {
        name,
        bound,
        ours: split_words(&format!("layout {ours} --from {vmlinux}")),
        peer: split_words(&format!("pahole {theirs} {inside}")),
        once: false,
    };
    let named = |name, ty: &str, format: &str, bound| {
        let ours = format!("{ty} --style pahole --debug-format {format}");
        work(name, ours, format!("-F {format} -C {ty}"), bound)
    };
    let every = "--style pahole --debug-format dwarf".to_owned();
    vec![
        named("one struct, DWARF", "cfs_rq", "dwarf", "<= 0.1 x, <= 150 MB anon"),
        named("sk_buff, DWARF", "sk_buff", "dwarf", "<= 1 x"),
        named("task_struct, DWARF", "task_struct", "dwarf", "<= 1 x"),
        named("list_head, DWARF", "list_head", "dwarf", "<= 1 x"),
        named("page, DWARF", "page", "dwarf", "<= 1 x"),
        work("every struct, DWARF", every, "-j2 -F dwarf".to_owned(), "<= 0.2 x, <= 1 GB"),
        named("one struct, BTF", "cfs_rq", "btf", "<= 0.3 x"),
    ]
}

fn profile_work(root: &Path, vmlinux: &Path, recording: &Path) -> Result<Benchmark> {
    let inside = debian::copy_into_root(root, recording)?;
    let kernel = format!("/inputs/{}", vmlinux.file_name().context("no file name")?.to_string_lossy());
    let report = format!("perf report -i {inside} --vmlinux {kernel} -s type,typeoff --stdio");
    Ok(Benchmark {
        name: "profile",
        bound: "<= 2 s (peer 18.5 s)",
        ours: split_words(&format!("profile --vmlinux {} --perf {}", vmlinux.display(), recording.display())),
        peer: split_words(&report),
        once: true,
    })
}

/// A recording of 1 GB; perf only counts its samples by symbol and knows nothing of types.
fn large_work(root: &Path, vmlinux: &Path, recording: &Path) -> Result<Benchmark> {
    let large = enlarge_recording(recording, SIZE)?;
    let inside = debian::copy_into_root(root, &large)?;
    Ok(Benchmark {
        name: "profile, 1 GB",
        bound: ">= 3 M samples/s",
        ours: split_words(&format!("profile --vmlinux {} --perf {}", vmlinux.display(), large.display())),
        peer: split_words(&format!("perf report -i {inside} -s symbol --stdio")),
        once: true,
    })
}

fn measure(work: &Benchmark, fieldline: &Path, root: &Path) -> Result<()> {
    let (mut ours, mut peers) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // No caches of ours: an empty home.
        let home = std::env::temp_dir().join("fieldline-bench-home");
        std::fs::create_dir_all(&home)?;
        let mut command = Command::new(fieldline);
        command.args(&work.ours).env("HOME", &home).env("XDG_CACHE_HOME", &home);
        ours.push(run_measured(&mut command)?);
        if !work.once || round == 0 {
            peers.push(run_measured(debian::peer(root, &work.peer[0]).args(&work.peer[1..]))?);
        }
    }
    print_line(&row(work, &mut ours, &mut peers));
    Ok(())
}

fn row(work: &Benchmark, ours: &mut [RunCost], peers: &mut [RunCost]) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let mb = |kb: Option<u64>| kb.unwrap_or(0) as f64 / 1024.0;
    ours.sort_by_key(|cost| cost.time);
    peers.sort_by_key(|cost| cost.time);
    let [median, peer] = [&*ours, &*peers].map(|costs| ms(costs[costs.len() / 2].time));
    format!(
        "{:<26} {median:>9.0} {peer:>9.0} {:>8.3} {:>8.3} {:>8.0} {:>9.0} {:>9.0}  {}",
        work.name,
        median / peer,
        ms(ours[0].time) / ms(peers[0].time),
        mb(ours.iter().map(|cost| cost.resident).max()),
        mb(ours.iter().map(|cost| cost.anonymous).max()),
        mb(peers.iter().map(|cost| cost.resident).max()),
        work.bound
    )
}
