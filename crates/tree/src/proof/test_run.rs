//! A patch proven by running: the project's own test command in two copies of its tree, without and with the
//! patch.

use super::overlay::{Patch, temporary_folder};
use super::scratch::{self, TreeCopy};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// How often a running command is looked at.
const POLL: Duration = Duration::from_millis(50);
/// Last lines of a log that are shown.
const SHOWN_LINES: usize = 15;
/// Most of a log that is read, in bytes from its end.
const READ_BYTES: usize = 8 << 20;
/// Exit codes of `sh` for a command that isn't there or can't be run (POSIX, 2.8.2).
const NOT_RUN: [i32; 2] = [126, 127];
/// Words by which test programs name what failed.
const FAILURES: [&str; 4] = ["fail", "error", "not ok", "abort"];

/// A test command and what it is run on.
#[derive(Clone, Copy, Debug)]
pub struct TestRun<'r> {
    /// The source tree.
    pub tree: &'r Path,
    /// The files that change.
    pub patch: &'r Patch,
    /// The command, for `sh -c` at the top of the tree.
    pub command: &'r str,
    /// How long it may run; no limit if none.
    pub timeout: Option<Duration>,
    /// The folder for the logs; a temporary one, kept if the patch changes the outcome, if none.
    pub logs: Option<&'r Path>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It was killed because it took too long.
    TimedOut,
}

/// One run of the command.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// How it ended.
    pub end: RunEnd,
    /// The last lines it printed, on both outputs.
    pub last_lines: Vec<String>,
    /// Lines that name failures, numbers masked.
    failures: BTreeSet<String>,
    /// Lines in all.
    pub lines: usize,
}

/// The effect of the patch on the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestVerdict {
    /// It passes without and with the patch.
    Passes,
    /// It fails without the patch too, with the same exit code, and no new line names a failure.
    FailsUnpatched,
    /// The patch changes how it ends, or what fails.
    Changed,
}

/// The runs without and with the patch.
#[derive(Clone, Debug)]
pub struct TestProof {
    /// Without the patch.
    pub before: RunResult,
    /// With the patch.
    pub after: RunResult,
    /// Where the logs are, if they were kept.
    pub logs: Option<PathBuf>,
    /// Notes, a sentence each.
    pub notes: Vec<String>,
}

impl TestProof {
    /// The effect of the patch on the outcome.
    pub fn verdict(&self) -> TestVerdict {
        match (self.before.end, self.after.end) {
            (RunEnd::Code(0), RunEnd::Code(0)) => TestVerdict::Passes,
            (before, after) if before == after && self.new_failures().is_empty() => {
                TestVerdict::FailsUnpatched
            }
            _ => TestVerdict::Changed,
        }
    }

    /// Lines that name a failure only with the patch. Numbers in them are masked as `#`.
    pub fn new_failures(&self) -> Vec<&str> {
        self.after.failures.difference(&self.before.failures).map(String::as_str).collect()
    }
}

impl TestRun<'_> {
    /// Runs the command in a copy of the tree without the patch, then in one with it.
    /// Fails if the command can't be run or doesn't end without the patch, if the tree can't be copied, or if
    /// the command wrote to the tree itself.
    pub fn run(&self) -> Result<TestProof> {
        let tree = self.tree.canonicalize().with_context(|| self.tree.display().to_string())?;
        let work = temporary_folder("fieldline-test-")?;
        let started = SystemTime::now();
        let [without, with] = ["without", "with"].map(|name| work.path().join(name));
        let before = self.run_in(&TreeCopy::new(&tree, &without)?, work.path(), "without")?;
        self.check_before(before.end)?;
        scratch::check_untouched(&tree, started)?;
        let notes = scratch::note_fixed_paths(&without, &tree);
        scratch::remove(&without)?;
        let copy = TreeCopy::new(&tree, &with)?;
        copy.apply(self.patch)?;
        let after = self.run_in(&copy, work.path(), "with")?;
        scratch::check_untouched(&tree, started)?;
        let mut proof = TestProof { before, after, logs: None, notes };
        proof.logs = self.keep_logs(work.path(), proof.verdict() == TestVerdict::Changed)?;
        Ok(proof)
    }

    /// Without the patch the command must be there and end.
    fn check_before(&self, end: RunEnd) -> Result<()> {
        let command = self.command;
        match end {
            RunEnd::Code(code) if NOT_RUN.contains(&code) => {
                bail!(
                    "--test '{command}': sh can't run it (exit code {code}); it runs at the top of the tree"
                )
            }
            RunEnd::TimedOut => {
                let seconds = self.timeout.unwrap_or_default().as_secs();
                bail!(
                    "--test '{command}': did not end within {seconds} s without the patch; --timeout sets the limit"
                )
            }
            _ => Ok(()),
        }
    }

    fn run_in(&self, copy: &TreeCopy, work: &Path, name: &str) -> Result<RunResult> {
        let path = work.join(format!("{name}.log"));
        let log = File::create(&path).with_context(|| path.display().to_string())?;
        let mut command = Command::new("sh");
        command.arg("-c").arg(self.command).current_dir(copy.path()).stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log).process_group(0);
        // Some programs ask the shell's variable where they are.
        command.env("PWD", copy.path());
        let child = command.spawn().context("cannot run sh")?;
        let end = wait(child, self.timeout)?;
        let text = read_end(&path)?;
        Ok(RunResult::new(end, &text, copy.path()))
    }

    fn keep_logs(&self, work: &Path, is_changed: bool) -> Result<Option<PathBuf>> {
        let folder = match self.logs {
            Some(folder) => {
                std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
                folder.to_owned()
            }
            None if is_changed => temporary_folder("fieldline-test-logs-")?.keep(),
            None => return Ok(None),
        };
        for name in ["without.log", "with.log"] {
            let to = folder.join(name);
            std::fs::copy(work.join(name), &to).with_context(|| to.display().to_string())?;
        }
        Ok(Some(folder))
    }
}

impl RunResult {
    fn new(end: RunEnd, log: &str, copy: &Path) -> Self {
        let here = copy.display().to_string();
        let lines: Vec<&str> = log.lines().collect();
        let names_failure = |line: &&&str| {
            let line = line.to_lowercase();
            FAILURES.iter().any(|word| line.contains(word))
        };
        let failures = lines.iter().filter(names_failure).map(|line| mask(&line.replace(&here, "TREE")));
        let last = lines.iter().skip(lines.len().saturating_sub(SHOWN_LINES));
        Self {
            end,
            last_lines: last.map(|line| (*line).to_owned()).collect(),
            failures: failures.collect(),
            lines: lines.len(),
        }
    }
}

/// A line with each number as `#`: times and process numbers differ between any two runs.
fn mask(line: &str) -> String {
    let mut masked = String::new();
    for letter in line.trim().chars() {
        match letter.is_ascii_digit() {
            true if masked.ends_with('#') => {}
            true => masked.push('#'),
            false => masked.push(letter),
        }
    }
    masked
}

/// Waits for a command, or kills it and all it started when the time is over.
fn wait(mut child: Child, timeout: Option<Duration>) -> Result<RunEnd> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(run_end(status));
        }
        if timeout.is_some_and(|timeout| started.elapsed() >= timeout) {
            kill_group(child.id());
            child.wait()?;
            return Ok(RunEnd::TimedOut);
        }
        std::thread::sleep(POLL);
    }
}

/// Ends the processes of the group that a command began.
fn kill_group(group: u32) {
    let mut kill = Command::new("sh");
    // A group that is gone already is no error.
    let _ = kill.arg("-c").arg(format!("kill -KILL -- -{group}")).stderr(Stdio::null()).status();
}

fn run_end(status: ExitStatus) -> RunEnd {
    status.code().map_or_else(|| RunEnd::Signal(status.signal().unwrap_or(0)), RunEnd::Code)
}

/// The end of a log.
fn read_end(path: &Path) -> Result<String> {
    let bytes = fieldline_files::read(path).with_context(|| path.display().to_string())?;
    let end = bytes.get(bytes.len().saturating_sub(READ_BYTES)..).unwrap_or_default();
    Ok(String::from_utf8_lossy(end).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree whose test fails with the code in a file, and says so.
    fn tree() -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        std::fs::write(tree.path().join("code"), "0").unwrap();
        tree
    }

    fn run(tree: &Path, command: &str, new: &str) -> Result<TestProof> {
        let patch = Patch::from([("code".to_owned(), new.as_bytes().to_vec())]);
        let timeout = Some(Duration::from_secs(20));
        TestRun { tree, patch: &patch, command, timeout, logs: None }.run()
    }

    #[test]
    fn a_patch_that_changes_the_outcome_is_found() {
        let tree = tree();
        let command = "touch made; echo code $(cat code); exit $(cat code)";
        let proof = run(tree.path(), command, "3").unwrap();
        assert_eq!((proof.before.end, proof.after.end), (RunEnd::Code(0), RunEnd::Code(3)));
        assert_eq!(
            (proof.verdict(), proof.after.last_lines.as_slice()),
            (TestVerdict::Changed, &["code 3".to_owned()][..])
        );
        let logs = proof.logs.unwrap();
        assert_eq!(std::fs::read_to_string(logs.join("with.log")).unwrap(), "code 3\n");
        std::fs::remove_dir_all(logs).unwrap();
        assert!(!tree.path().join("made").exists());
        assert_eq!(run(tree.path(), command, "0").unwrap().verdict(), TestVerdict::Passes);
    }

    #[test]
    fn tests_that_fail_already_are_compared_by_what_fails() {
        let tree = tree();
        let similar = run(tree.path(), "echo test 7 FAILED in 12 ms, pid $$; pwd; exit 1", "1").unwrap();
        assert_eq!((similar.verdict(), similar.logs), (TestVerdict::FailsUnpatched, None));
        let other = run(tree.path(), "echo case_$(tr 01 ab < code) failed; exit 1", "1").unwrap();
        assert_eq!((other.verdict(), other.new_failures()), (TestVerdict::Changed, vec!["case_b failed"]));
        std::fs::remove_dir_all(other.logs.unwrap()).unwrap();
    }

    #[test]
    fn what_cannot_be_judged_is_an_error() {
        let tree = tree();
        let error = |command: &str| run(tree.path(), command, "1").unwrap_err().to_string();
        assert!(error("no-such-command-here").contains("sh can't run it"));
        let own = tree.path().canonicalize().unwrap();
        assert!(error(&format!("sleep 0.05; echo x > {}/code", own.display())).contains("wrote to"));
        let patch = Patch::new();
        let timeout = Some(Duration::from_millis(200));
        let slow = TestRun { tree: tree.path(), patch: &patch, command: "sleep 30", timeout, logs: None };
        assert!(slow.run().unwrap_err().to_string().contains("did not end within"));
    }

    #[test]
    fn numbers_are_masked() {
        assert_eq!(mask(" FAIL 12.5 s, a1b "), "FAIL #.# s, a#b");
    }
}
