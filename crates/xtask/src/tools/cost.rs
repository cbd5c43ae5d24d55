//! Time and memory of a program's run.

use anyhow::{Context, Result};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time and peaks of memory of a run, in kB.
#[derive(Clone, Copy)]
pub(crate) struct RunCost {
    pub(crate) time: Duration,
    /// Peak of the resident set.
    pub(crate) resident: u64,
    /// Peak of private anonymous memory, sampled while the program ran.
    pub(crate) anonymous: u64,
}

/// Runs a command of ours with an empty cache.
pub(crate) fn run_uncached(command: &mut Command) -> Result<RunCost> {
    let home = std::env::temp_dir().join("fieldline-empty-home");
    std::fs::create_dir_all(&home)?;
    run_measured(command.env("HOME", &home).env("XDG_CACHE_HOME", &home))
}

/// Runs a command, discards its output, and samples its memory while it runs.
pub(crate) fn run_measured(command: &mut Command) -> Result<RunCost> {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("cannot run")?;
    let status_file = format!("/proc/{}/status", child.id());
    let (mut resident, mut anonymous) = (0, 0);
    let time = loop {
        if let Ok(text) = std::fs::read_to_string(&status_file) {
            resident = resident.max(field(&text, "VmHWM:"));
            anonymous = anonymous.max(field(&text, "RssAnon:"));
        }
        if child.try_wait()?.is_some() {
            break start.elapsed();
        }
        std::thread::sleep(Duration::from_micros(500));
    };
    Ok(RunCost { time, resident, anonymous })
}

fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
