//! A trial of a program: copies of its tree, built without and with patches by the project's own command, and the figures
//! of recorded runs.
//!
//! `setup.txt` says what it was made of; `programs/VARIANT` are the copies; [`RunFiles`] are the results.

use crate::command;
use crate::error::{Error, Result};
use crate::runs::RunFiles;
use crate::score::{ScoredMachine, TraceFigures};
use crate::setup;
use crate::trial::Variant;
use fieldline_debuginfo::{Elf, FileBytes, hex};
use fieldline_tree::proof::{TreeCopy, check_untouched};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// How to build a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramBuild {
    /// The source tree.
    pub tree: PathBuf,
    /// The command that builds it, for `sh -c` at the top of the tree.
    pub command: String,
    /// The program, with debug info, by its path in the tree.
    pub program: PathBuf,
}

/// How runs are recorded and scored: what their figures depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRun {
    /// The load: a command, run at the top of each copy.
    pub command: Vec<String>,
    /// Instructions of each thread in a burst of steps.
    pub burst: u64,
    /// Mean time between bursts.
    pub gap: Duration,
    /// The longest time of a recording.
    pub time: Duration,
    /// Structs that are counted one by one.
    pub structs: Vec<String>,
    /// The machines that are modelled.
    pub machine: ScoredMachine,
}

/// A trial of a program.
#[derive(Clone, Debug)]
pub struct ProgramTrial {
    folder: PathBuf,
    build: ProgramBuild,
    /// The programs, the unpatched one first.
    pub variants: Vec<Variant>,
}

impl ProgramTrial {
    /// Opens a folder, or begins a trial in it.
    ///
    /// # Errors
    ///
    /// The folder has a trial of something else, or can't be written.
    pub fn open(folder: &Path, build: ProgramBuild, variants: Vec<Variant>) -> Result<Self> {
        let tree = build.tree.canonicalize().map_err(Error::file(&build.tree))?;
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let folder = folder.canonicalize().map_err(Error::file(folder))?;
        if folder.starts_with(&tree) {
            let what = "lies in the tree, which is copied into it: name a folder elsewhere (-o)".to_owned();
            return Err(Error::Input { path: folder, what });
        }
        let build = ProgramBuild { tree, ..build };
        setup::write_or_check(&folder.join("setup.txt"), &programs_setup(&build, &variants))?;
        Ok(Self { folder, build, variants })
    }

    /// The top of a variant's copy of the tree.
    #[must_use]
    pub fn copy(&self, variant: &Variant) -> PathBuf {
        self.folder.join("programs").join(&variant.name)
    }

    /// A variant's program.
    #[must_use]
    pub fn program(&self, variant: &Variant) -> PathBuf {
        self.copy(variant).join(&self.build.program)
    }

    /// Builds a variant, unless it is there. Gives whether it was built now.
    ///
    /// # Errors
    ///
    /// It can't be built, the command wrote to the tree itself, or there is no such program afterwards.
    pub fn build(&self, variant: &Variant) -> Result<bool> {
        let copy = self.copy(variant);
        let done = copy.with_extension("built");
        if done.exists() {
            return Ok(false);
        }
        let programs = self.folder.join("programs");
        fs::create_dir_all(&programs).map_err(Error::file(&programs))?;
        // Builds note where they are, so the copy is made where it stays; one that was interrupted is made anew.
        if copy.exists() {
            fs::remove_dir_all(&copy).map_err(Error::file(&copy))?;
        }
        let started = SystemTime::now();
        let tree = TreeCopy::new(&self.build.tree, &copy).map_err(Error::tree)?;
        tree.apply(&variant.files).map_err(Error::tree)?;
        let mut build = Command::new("sh");
        build.arg("-c").arg(&self.build.command).current_dir(&copy).env("PWD", &copy);
        command::run(&mut build, Some(&self.folder.join("build.log")))?;
        check_untouched(&self.build.tree, started).map_err(Error::tree)?;
        let program = self.program(variant);
        if !program.is_file() {
            let what = format!("'{}' did not make it", self.build.command);
            return Err(Error::Input { path: program, what });
        }
        setup::write_whole(&done, "")?;
        Ok(true)
    }

    /// Where a run's recording goes, and what its load prints.
    ///
    /// # Errors
    ///
    /// The folder can't be made.
    pub fn recording(&self, (number, index): (u32, usize)) -> Result<(PathBuf, PathBuf)> {
        let name = self.variants.get(index).map_or("", |variant| variant.name.as_str());
        let folder = self.folder.join("recordings").join(name);
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        Ok((folder.join(format!("run-{number:03}.perf.data")), folder.join(format!("run-{number:03}.log"))))
    }

    /// The runs that are not there yet, in turns.
    ///
    /// # Errors
    ///
    /// A run that is there was made with other options.
    pub fn pending(&self, runs: u32, run: &RecordedRun) -> Result<Vec<(u32, usize)>> {
        self.run_files().pending(runs, |number, index| self.run_setup((number, index), run))
    }

    /// The figures of its runs.
    #[must_use]
    pub fn run_files(&self) -> RunFiles {
        let names = self.variants.iter().map(|variant| variant.name.clone()).collect();
        RunFiles::new(&self.folder, names)
    }

    /// Writes the figures of a run.
    ///
    /// # Errors
    ///
    /// A file can't be written.
    pub fn write(&self, at: (u32, usize), figures: &TraceFigures, run: &RecordedRun) -> Result<()> {
        self.run_files().write(at, figures, &self.run_setup(at, run)?)
    }

    /// Facts that a run depends on.
    fn run_setup(&self, (number, index): (u32, usize), run: &RecordedRun) -> Result<String> {
        let Some(variant) = self.variants.get(index) else { return Ok(String::new()) };
        let file = FileBytes::open(&self.program(variant)).map_err(Error::debug_info)?;
        let build_id = Elf::parse(&file).map_err(Error::debug_info)?.build_id().map(hex);
        let program = build_id.unwrap_or_else(|| setup::digest(&[file.bytes()]));
        let RecordedRun { command, burst, gap, time, structs, machine } = run;
        let ScoredMachine { lines, caches, visit_gap } = machine;
        let mut text = format!("fieldline trial: {}, run {number}\n", variant.name);
        // Writing to a string can't fail.
        let _ = writeln!(text, "program {program}; command {}", command.join(" "));
        let _ = writeln!(text, "bursts of {burst} every {gap:?}, for {time:?}");
        let _ = write!(
            text,
            "structs {}; lines {lines:?}; caches {caches:?}; gap {visit_gap}",
            structs.join(",")
        );
        Ok(text)
    }
}

/// Facts that the programs depend on.
fn programs_setup(build: &ProgramBuild, variants: &[Variant]) -> String {
    let mut text = format!("tree {}\nprogram {}\n", build.tree.display(), build.program.display());
    // Writing to a string can't fail.
    let _ = writeln!(text, "command {}", build.command.replace('\n', " "));
    variants.iter().for_each(|variant| text += &variant.setup());
    text
}
