//! `fieldline demo`: the pipeline from a recording to a patch, on an example in the binary, each step by the
//! command a user would type.

use crate::args::{Arguments, Command, DemoArgs};
use crate::command::accesses::{profile, report};
use crate::command::layouts::layout;
use crate::command::orders::{patch, plan};
use crate::output::{self, CommandOutcome};
use crate::report::screen::next;
use anyhow::{Context, Result, bail};
use clap::Parser;
use std::path::{Path, PathBuf};

const PROGRAM: &str = "shaper";
const RECORDING: &str = "shaper.perf.data";
const TREE: &str = "tree";

macro_rules! embedded {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../../demo/", $path)).as_slice())),*]
    };
}

/// The example's files: path and content. README.md says how each was made. The folder is a link to fixtures/demo, so that
/// packages of this crate have it.
const FILES: &[(&str, &[u8])] = embedded![
    "README.md",
    "shaper",
    "shaper.perf.data",
    "tree/include/config.h",
    "tree/include/list.h",
    "tree/include/shaper.h",
    "tree/include/types.h",
    "tree/shaper/class.c",
    "tree/shaper/cpu.c",
    "tree/shaper/flow.c",
    "tree/shaper/main.c",
    "tree/shaper/setup.c",
];
const PROFILE: &str = "profile.json";
const PLAN: &str = "plan.json";
const PATCHES: &str = "patches";
/// The structs of the example.
const TYPES: [&str; 2] = ["tx_class", "tx_flow"];

pub(crate) fn run(args: &DemoArgs) -> Result<CommandOutcome> {
    let folder = match &args.dir {
        Some(dir) => dir.clone(),
        None => {
            let folder = tempfile::Builder::new().prefix("fieldline-demo-").tempdir();
            folder.context("cannot make a folder for the demo")?.keep()
        }
    };
    write_files(&folder)?;
    // The commands are shown as they are typed in that folder, and run there.
    std::env::set_current_dir(&folder).with_context(|| folder.display().to_string())?;
    let is_whole = output::is_verbose();
    output::print_collected(|| {
        let screen = output::screen();
        let mut rows = screen.rows();
        let place = folder.display();
        rows.paragraph(
            "",
            &format!("The example is in {place}: a program, its source, a recording. In that folder:"),
            3,
        );
        output::print(&rows.into_text())?;
        let (run, left): (Vec<_>, Vec<_>) = steps().into_iter().partition(|step| is_whole || step.is_needed);
        for step in &run {
            output::print(&step.heading(is_whole))?;
            output::reserve_rows(CLOSING_ROWS);
            if let CommandOutcome::Negative = run_step(step, is_whole)? {
                return Ok(CommandOutcome::Negative);
            }
        }
        output::print(&closing_text(&left)?)
    })
}

/// Rows behind the screen of the plan, about.
const CLOSING_ROWS: usize = 12;

fn write_files(folder: &Path) -> Result<()> {
    let files: Vec<_> = FILES.iter().map(|(path, bytes)| (folder.join(path), *bytes)).collect();
    for (path, _) in &files {
        output::make_folder(path.parent().unwrap_or(folder))?;
    }
    output::write_files(&files)
}

struct DemoStep {
    title: &'static str,
    /// The arguments a user would type.
    arguments: Vec<String>,
    /// Whether a patch needs it.
    is_needed: bool,
}

impl DemoStep {
    /// Its command, with a title before it if its result follows in full.
    fn heading(&self, is_whole: bool) -> String {
        match is_whole {
            true => format!("\n{}\n{}\n", self.title, self.command()),
            false => format!("\n{}", self.command()),
        }
    }

    /// Rows of the command as it is typed.
    fn command(&self) -> String {
        let mut rows = output::screen().rows();
        next::draw(&mut rows, "$ ", &[&["fieldline".to_owned()], self.arguments.as_slice()].concat());
        rows.into_text()
    }
}

/// The steps from the program to a patch, as typed in the folder.
fn steps() -> Vec<DemoStep> {
    let step = |title, is_needed, words: &[&[&str]]| DemoStep {
        title,
        arguments: words.concat().into_iter().map(str::to_owned).collect(),
        is_needed,
    };
    let [first, _] = TYPES;
    let inputs = ["--profile", PROFILE, "--vmlinux", PROGRAM, "--tree", TREE, "-o", PLAN];
    vec![
        step("The declared layout of a struct:", false, &[&["layout", first, "--vmlinux", PROGRAM]]),
        step(
            "The members that the recorded accesses touched:",
            true,
            &[&["profile", "--vmlinux", PROGRAM, "--perf", RECORDING, "-o", PROFILE]],
        ),
        step(
            "Hot members, and members touched together:",
            false,
            &[&["report"], &TYPES, &["--profile", PROFILE]],
        ),
        step("An order that touches fewer cachelines:", true, &[&["plan"], &TYPES, &inputs]),
        step(
            "That order as a patch of the header:",
            true,
            &[&["patch", "--plan", PLAN, "--tree", TREE, "-o", PATCHES]],
        ),
    ]
}

/// Runs a step's command, and prints what a newcomer needs of it.
fn run_step(step: &DemoStep, is_whole: bool) -> Result<CommandOutcome> {
    let words = std::iter::once("fieldline").chain(step.arguments.iter().map(String::as_str));
    let command = Arguments::try_parse_from(words).context("a step of the demo")?.command;
    let is_first_screen = matches!(command, Command::Plan(_));
    let run = || match command {
        Command::Layout(args) => layout::run(&args),
        Command::Profile(args) => profile(&args),
        Command::Report(args) => report(&args),
        Command::Plan(args) => plan(&args),
        Command::Patch(args) => patch(&args),
        _ => bail!("the demo has no such step"),
    };
    if is_whole || is_first_screen {
        return run();
    }
    let (outcome, text) = output::capture(run)?;
    let mut rows = output::screen().rows();
    // The profile's text is for the second look: the first screen of the plan has what matters of it.
    let shown = text.lines().filter(|line| line.starts_with("wrote ") || line.starts_with("note: "));
    shown.for_each(|line| rows.paragraph("", line, 3));
    output::print(&rows.into_text())?;
    Ok(outcome)
}

/// Commands that apply the patches, those left out, and the one command that does all steps.
fn closing_text(left: &[DemoStep]) -> Result<String> {
    let mut text = String::from("\nTo apply:\n");
    for patch in patches(Path::new(PATCHES))? {
        text.push_str(&format!("$ patch -p1 -d {TREE} < {}\n", patch.display()));
    }
    if !left.is_empty() {
        text.push_str("More to see (or all of it: fieldline demo -v):\n");
        left.iter().for_each(|step| text.push_str(&step.command()));
    }
    text.push_str("All steps by one command, on a kernel:\n");
    let mut rows = output::screen().rows();
    next::draw(&mut rows, "$ ", &PROPOSE.map(str::to_owned));
    Ok(text + &rows.into_text())
}

/// All steps by one command.
const PROPOSE: [&str; 11] = [
    "fieldline",
    "propose",
    "TYPE",
    "--vmlinux",
    "VMLINUX",
    "--perf",
    "perf.data",
    "--tree",
    "LINUX",
    "-o",
    "DIR",
];

/// The patches written, in order of their names.
fn patches(folder: &Path) -> Result<Vec<PathBuf>> {
    let place = || folder.display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(place)? {
        found.push(entry.with_context(place)?.path());
    }
    found.retain(|path| path.extension().is_some_and(|extension| extension == "patch"));
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of fixtures/demo but the table that only tests need.
    #[test]
    fn every_file_of_the_example_is_embedded() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo");
        let mut found = Vec::new();
        collect_files(&fixtures, &mut found);
        let mut names: Vec<String> = found
            .iter()
            .map(|path| path.strip_prefix(&fixtures).unwrap().to_str().unwrap().to_owned())
            .filter(|name| name != "objects.tsv")
            .collect();
        names.sort();
        assert_eq!(names, FILES.iter().map(|(path, _)| *path).collect::<Vec<_>>());
    }

    fn collect_files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() { collect_files(&path, found) } else { found.push(path) }
        }
    }

    #[test]
    fn files_are_written_into_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let demo = folder.path().join("new/demo");
        write_files(&demo).unwrap();
        for (path, bytes) in FILES {
            assert_eq!(std::fs::read(demo.join(path)).unwrap(), *bytes, "{path}");
        }
    }

    #[test]
    fn steps_are_command_lines_the_tool_takes() {
        for step in steps() {
            let words = std::iter::once("fieldline").chain(step.arguments.iter().map(String::as_str));
            Arguments::try_parse_from(words).unwrap();
        }
    }
}
