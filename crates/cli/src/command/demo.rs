//! `fieldline demo`: the pipeline from a recording to a patch, on an example in the binary, each step by the
//! command a user would type.

use crate::args::{Arguments, Command, DemoArgs};
use crate::command::accesses::{profile, report};
use crate::command::layouts::layout;
use crate::command::orders::{patch, plan};
use crate::output::{self, CommandOutcome};
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
    let mut text = format!("The example is in {}: a program, its source, a recording.\n", folder.display());
    for step in steps(&folder)? {
        output::print(&format!("{text}\n{}\n$ {}\n\n", step.title, command_line(&step.arguments)))?;
        if let CommandOutcome::Negative = run_step(&step)? {
            return Ok(CommandOutcome::Negative);
        }
        text.clear();
    }
    output::print(&closing_text(&folder)?)
}

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
}

/// The steps from the program to a patch.
fn steps(folder: &Path) -> Result<Vec<DemoStep>> {
    let path = |name: &str| {
        let path = folder.join(name);
        path.to_str().map(str::to_owned).with_context(|| format!("{}: not UTF-8", path.display()))
    };
    let (program, recording, tree) = (path(PROGRAM)?, path(RECORDING)?, path(TREE)?);
    let (profile, plan, patches) = (path("profile.json")?, path("plan.json")?, path(PATCHES)?);
    let step = |title, words: &[&[&str]]| DemoStep {
        title,
        arguments: words.concat().into_iter().map(str::to_owned).collect(),
    };
    let [first, _] = TYPES;
    let inputs = ["--profile", &profile, "--vmlinux", &program, "--tree", &tree, "-o", &plan];
    Ok(vec![
        step("The declared layout of a struct:", &[&["layout", first, "--vmlinux", &program]]),
        step(
            "The members that the recorded accesses touched:",
            &[&["profile", "--vmlinux", &program, "--perf", &recording, "-o", &profile]],
        ),
        step("Hot members, and members touched together:", &[&["report"], &TYPES, &["--profile", &profile]]),
        step("An order that touches fewer cachelines:", &[&["plan"], &TYPES, &inputs]),
        step(
            "That order as a patch of the header:",
            &[&["patch", "--plan", &plan, "--tree", &tree, "-o", &patches]],
        ),
    ])
}

/// The command line, ready to be typed.
fn command_line(words: &[String]) -> String {
    let mut line = String::from("fieldline");
    for word in words {
        line.push(' ');
        match word.chars().all(|letter| letter.is_alphanumeric() || "-_./,+=:@%".contains(letter)) {
            true => line.push_str(word),
            false => line.push_str(&format!("'{}'", word.replace('\'', r"'\''"))),
        }
    }
    line
}

/// Runs a step's command.
fn run_step(step: &DemoStep) -> Result<CommandOutcome> {
    let words = std::iter::once("fieldline").chain(step.arguments.iter().map(String::as_str));
    match Arguments::try_parse_from(words).context("a step of the demo")?.command {
        Command::Layout(args) => layout::run(&args),
        Command::Profile(args) => profile(&args),
        Command::Report(args) => report(&args),
        Command::Plan(args) => plan(&args),
        Command::Patch(args) => patch(&args),
        _ => bail!("the demo has no such step"),
    }
}

/// Commands that apply the patches, and the one command that does all steps.
fn closing_text(folder: &Path) -> Result<String> {
    let tree = folder.join(TREE);
    let mut text = String::from("\nTo apply:\n");
    for patch in patches(&folder.join(PATCHES))? {
        text.push_str(&format!("$ patch -p1 -d {} < {}\n", tree.display(), patch.display()));
    }
    text.push_str(
        "\nAll steps by one command, on a kernel:\n\
         $ fieldline propose TYPE… --vmlinux VMLINUX --perf perf.data --tree LINUX -o DIR\n",
    );
    Ok(text)
}

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
        for step in steps(Path::new("/a folder")).unwrap() {
            let words = std::iter::once("fieldline").chain(step.arguments.iter().map(String::as_str));
            Arguments::try_parse_from(words).unwrap();
        }
    }

    #[test]
    fn words_with_blanks_are_quoted() {
        let words = ["layout", "a b", "it's"].map(str::to_owned);
        assert_eq!(command_line(&words), r"fieldline layout 'a b' 'it'\''s'");
    }
}
