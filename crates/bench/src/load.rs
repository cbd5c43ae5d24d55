//! The process that runs the load: commands on its standard input, answers on its standard output
//! (crates/guest/programs/bench.c).

use crate::error::{Error, Result};
use crate::groups::GroupTree;
use crate::interrupt::Interrupt;
use crate::latency::LatencyCounts;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Longest time until a signal is noticed.
const PAUSE: Duration = Duration::from_millis(50);
/// Most bytes of its errors that are shown.
const SHOWN_BYTES: u64 = 4096;

/// A running load. When it is dropped its input ends, upon which it kills all groups.
pub(crate) struct LoadProcess {
    child: Child,
    commands: Option<ChildStdin>,
    answers: Receiver<String>,
}

/// Results of the load.
#[derive(Debug, Default)]
pub(crate) struct LoadResult {
    pub(crate) latencies: Vec<LatencyCounts>,
    /// Runs of a command that failed.
    pub(crate) failed: u64,
}

impl LoadProcess {
    /// Starts a process in each leaf, and waits until all are there.
    pub(crate) fn start(
        program: &Path,
        words: &[String],
        tree: &GroupTree,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Signals of the terminal are for this process, which then ends the load.
        let mut child = command.process_group(0).spawn().map_err(Error::file(program))?;
        let commands = child.stdin.take();
        let answers = read_lines(child.stdout.take());
        let mut load = Self { child, commands, answers };
        load.tell(&leaves_text(tree))?;
        load.wait_for("before it ran", interrupt, |line| (line == "ready").then_some(()))?;
        Ok(load)
    }

    /// Counts latencies from now on.
    pub(crate) fn begin(&mut self) -> Result<()> {
        self.tell("begin\n")
    }

    /// Counts no more.
    pub(crate) fn stop(&mut self) -> Result<()> {
        self.tell("end\n")
    }

    /// The counts, once it counts no more.
    pub(crate) fn result(&mut self, interrupt: &Interrupt) -> Result<LoadResult> {
        let mut result = LoadResult::default();
        result.failed = self.wait_for("before its end", interrupt, |line| {
            let is_latency = LatencyCounts::add_line(&mut result.latencies, line);
            if is_latency { None } else { line.strip_prefix("done ")?.parse().ok() }
        })?;
        Ok(result)
    }

    fn tell(&mut self, text: &str) -> Result<()> {
        let written =
            self.commands.as_mut().map(|pipe| pipe.write_all(text.as_bytes()).and_then(|()| pipe.flush()));
        match written {
            Some(Ok(())) => Ok(()),
            _ => Err(self.failed("before it ran")),
        }
    }

    fn wait_for<T>(
        &mut self,
        when: &'static str,
        interrupt: &Interrupt,
        mut take: impl FnMut(&str) -> Option<T>,
    ) -> Result<T> {
        loop {
            interrupt.check()?;
            match self.answers.recv_timeout(PAUSE) {
                Ok(line) => {
                    if let Some(taken) = take(&line) {
                        return Ok(taken);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.failed(when)),
            }
        }
    }

    /// An error with what the load printed.
    fn failed(&mut self, when: &'static str) -> Error {
        let _ = self.child.kill();
        let mut bytes = Vec::new();
        if let Some(errors) = self.child.stderr.take() {
            // Without a text the error still says that it ended.
            let _ = errors.take(SHOWN_BYTES).read_to_end(&mut bytes);
        }
        let output = String::from_utf8_lossy(&bytes).trim().to_owned();
        Error::Load { when, output }
    }
}

impl Drop for LoadProcess {
    fn drop(&mut self) {
        self.commands = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first lines of the load's input: how all groups are killed, and the leaves.
fn leaves_text(tree: &GroupTree) -> String {
    let mut text = format!("{}\n", tree.top().join("cgroup.kill").display());
    for leaf in tree.leaves() {
        text += &format!("{}\n", leaf.join("cgroup.procs").display());
    }
    text + "\n"
}

fn read_lines(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let lines =
            pipe.into_iter().flat_map(|pipe| BufReader::new(pipe).lines()).map_while(std::result::Result::ok);
        for line in lines {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
