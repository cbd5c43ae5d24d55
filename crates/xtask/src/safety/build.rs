//! Compiles and runs programs.

use super::corpus::Program;
use anyhow::{Context, Result};
use std::fmt;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Most bytes that are read of what a program prints: broken ones may print without an end.
const MAX_OUTPUT: u64 = 1 << 20;

/// The folder for files in memory, where the system has one.
const MEMORY: &str = "/dev/shm";

/// Seconds after which a program is killed.
const SECONDS: &str = "5";

/// The outcome of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Outcome {
    pub(super) printed: String,
    /// Exit code, or the number of the signal that ended it, negative.
    pub(super) code: i32,
}

impl Outcome {
    /// How this run differs from the one expected.
    pub(super) fn difference(&self, expected: &Self) -> Difference {
        if self == expected {
            Difference::None
        } else if self.code == expected.code {
            Difference::Printed
        } else {
            Difference::Ended(self.code)
        }
    }
}

/// How a run differs from another.
pub(super) enum Difference {
    None,
    Printed,
    /// By its exit code or signal.
    Ended(i32),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "runs as before"),
            Self::Printed => write!(f, "prints something else"),
            Self::Ended(code) if *code < 0 => write!(f, "ends by signal {}", -code),
            Self::Ended(code) => write!(f, "ends with exit code {code}"),
        }
    }
}

/// Writes a program's files into a folder.
pub(super) fn write_files(program: &Program, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (name, text) in &program.files {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// The words of the compiler's command without its output, to be run in the folder of the program's files.
pub(super) fn compiler(program: &Program, flags: &[&str]) -> Vec<String> {
    let (name, standard) = if program.is_cpp() { ("g++", "-std=gnu++20") } else { ("gcc", "-std=gnu11") };
    let words = [name, standard, "-w", "-pipe", "-pthread", "-I."].into_iter();
    words.chain(flags.iter().copied()).map(str::to_owned).collect()
}

/// Compiles a program's files in a folder; false if there are errors.
pub(super) fn compile(program: &Program, folder: &Path, flags: &[&str], output: &Path) -> Result<bool> {
    let words = compiler(program, flags);
    let (name, flags) = words.split_first().context("no compiler")?;
    let mut command = Command::new(name);
    command.args(flags).args(program.units()).arg("-o").arg(output).arg("-lm").current_dir(folder);
    let status = command.stderr(Stdio::null()).status().with_context(|| format!("cannot run {name}"))?;
    Ok(status.success())
}

/// Runs a program in a folder.
pub(super) fn run(program: &Path, folder: &Path) -> Result<Outcome> {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", SECONDS]).arg(program).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().context("cannot run timeout")?;
    let mut printed = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        pipe.take(MAX_OUTPUT).read_to_end(&mut printed)?;
    }
    let status = child.wait()?;
    // `timeout` ends with 128 + the signal that ended its program.
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1);
    let code = if code > 128 { 128 - code } else { code };
    Ok(Outcome { printed: String::from_utf8_lossy(&printed).into_owned(), code })
}

/// A folder of this run that is removed when it goes out of scope.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// In memory where programs may run there: files that appear whole wait for the disk else, longer than all work takes.
    pub(super) fn new() -> Result<Self> {
        let folder = crate::tools::shell::temporary("safety");
        if let Some(name) = folder.file_name() {
            let scratch = Self(Path::new(MEMORY).join(name));
            if scratch.runs_programs() {
                return Ok(scratch);
            }
        }
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }

    /// Makes the folder; false if that fails, or if no program may run in it.
    fn runs_programs(&self) -> bool {
        let script = self.0.join("script");
        let is_written = fs::create_dir_all(&self.0).and_then(|()| fs::write(&script, "#!/bin/sh\n"));
        let is_written =
            is_written.and_then(|()| fs::set_permissions(&script, fs::Permissions::from_mode(0o755)));
        is_written.is_ok() && Command::new(&script).status().is_ok_and(|status| status.success())
    }

    /// A folder in it for what commands keep; no program has its name.
    pub(super) fn cache(&self) -> PathBuf {
        self.0.join(".cache")
    }

    /// The path of a program's own folder in it.
    pub(super) fn folder(&self, program: &Program) -> PathBuf {
        self.0.join(&program.name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind lies in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
