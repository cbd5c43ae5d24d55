//! What a run of a program costs.

use anyhow::{Context, Result};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time and peaks of memory of a run, in kB.
#[derive(Clone, Copy)]
pub(crate) struct RunCost {
    pub(crate) time: Duration,
    /// All that is resident.
    pub(crate) resident: u64,
    /// What is private and anonymous, as far as it was seen.
    pub(crate) anonymous: u64,
}

/// Runs a command with its output thrown away and looks at its memory while it runs.
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
