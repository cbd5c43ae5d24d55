//! A unit's command run so that only a temporary folder is written to.

use super::arguments::{CompileSite, canonical, rewrite_arguments};
use super::untouched::FolderListing;
use anyhow::{Context, Result, bail};
use fieldline_frontend::{SourceUnit, absolute};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Debug)]
pub(super) enum CompileOutcome {
    /// The object is there. What was read for it.
    Done(Vec<PathBuf>),
    /// The compiler's messages.
    Failed(String),
}

/// Variables by which compilers are told to write files.
const WRITING_VARIABLES: &[&str] = &[
    "DEPENDENCIES_OUTPUT",
    "SUNPRO_DEPENDENCIES",
    "CC_PRINT_OPTIONS_FILE",
    "CC_PRINT_HEADERS_FILE",
    "CC_LOG_DIAGNOSTICS_FILE",
    "CC_PRINT_PROC_STAT_FILE",
    "CCC_OVERRIDE_OPTIONS",
];

/// Compiles the source of a unit into an object with debug info of all its types. Fails if tree or build folder are
/// written to.
pub(super) fn compile(unit: &SourceUnit, site: CompileSite<'_>, object: &Path) -> Result<CompileOutcome> {
    let (read, scratch) = (object.with_extension("d"), object.with_extension("scratch"));
    std::fs::create_dir_all(&scratch).with_context(|| scratch.display().to_string())?;
    let (program, mut command) = command(unit, site, &scratch).context("an empty command")?;
    command.arg("-c").arg("-o").arg(object).arg("-MD").arg("-MF").arg(&read);
    command.arg("-fno-eliminate-unused-debug-types");
    let listing = FolderListing::new(unit, &[site.tree, site.build]);
    let cannot_run = || format!("cannot run {program}, which the build names as its compiler");
    let output = command.output().with_context(cannot_run)?;
    listing.check_unchanged(program)?;
    if !output.status.success() {
        return Ok(CompileOutcome::Failed(first_errors(&String::from_utf8_lossy(&output.stderr))));
    }
    let read = fieldline_files::read_to_string(&read)
        .with_context(|| format!("{}: the compiler did not say what it read", unit.file.display()))?;
    let read = parse_dependencies(&read).into_iter();
    let read = read.map(|name| canonical(&absolute(&unit.directory, Path::new(&name))));
    Ok(CompileOutcome::Done(read.collect()))
}

/// A unit's compiler and the command that runs it in an empty folder, where it reads what it read in its own and can
/// write. `None` if the unit has no command.
pub(super) fn command<'u>(
    unit: &'u SourceUnit,
    site: CompileSite<'_>,
    scratch: &Path,
) -> Option<(&'u str, Command)> {
    let (program, arguments) = unit.arguments.split_first()?;
    let mut command = Command::new(compiler(unit, program));
    command.current_dir(scratch).env("LC_ALL", "C").env("TMPDIR", scratch).env("CCACHE_DISABLE", "1");
    for name in WRITING_VARIABLES {
        command.env_remove(name);
    }
    command.args(rewrite_arguments(unit, arguments, site));
    // Debug info names the folder that the build ran in, and the assembler finds there what it includes.
    let directory = unit.directory.display().to_string();
    command.arg(format!("-fdebug-prefix-map={}={directory}", scratch.display()));
    if !directory.contains(',') {
        command.arg(format!("-Wa,-I{directory}"));
    }
    if unit.arguments.iter().any(|word| word.starts_with("-fmodules")) {
        command.arg(format!("-fmodules-cache-path={}", scratch.join("modules").display()));
    }
    Some((program, command))
}

/// The compiler as the shell found it from the unit's folder.
fn compiler(unit: &SourceUnit, program: &str) -> PathBuf {
    let path = Path::new(program);
    if program.contains('/') { absolute(&unit.directory, path) } else { path.to_owned() }
}

/// The first errors of a compiler's messages, or their end.
fn first_errors(messages: &str) -> String {
    let errors: Vec<&str> = messages.lines().filter(|line| line.contains("error")).take(3).collect();
    let last = messages.lines().rev().take(3).collect::<Vec<_>>();
    let lines = if errors.is_empty() { last.into_iter().rev().collect() } else { errors };
    if lines.is_empty() { "the compiler failed without a word".to_owned() } else { lines.join("\n") }
}

/// The files of a make rule as compilers write it, blanks in names escaped.
fn parse_dependencies(rule: &str) -> Vec<String> {
    let files = rule.split_once(": ").map_or("", |(_, files)| files);
    let (mut names, mut name) = (Vec::new(), String::new());
    let mut letters = files.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(' ' | '#' | '\\')) => name.extend(letters.next()),
            ('\\', Some('\n')) => {}
            (blank, _) if blank.is_whitespace() => names.push(std::mem::take(&mut name)),
            (letter, _) => name.push(letter),
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}

/// Fails unless a unit read each file of a patch that it can know, in place of the tree's.
pub(super) fn check_read(read: &[PathBuf], site: CompileSite<'_>, files: &[&str], unit: &Path) -> Result<()> {
    let Some(overlay) = site.overlay.map(canonical) else { return Ok(()) };
    for path in files {
        if read.contains(&site.tree.join(path)) {
            bail!("{}: reads {path} by a path that can't be replaced beside the tree", unit.display());
        }
        if !read.contains(&overlay.join(path)) {
            bail!("{}: does not read the changed {path}", unit.display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_make_are_read() {
        assert_eq!(parse_dependencies("a.o: b.c \\\n  c\\ d.h e.h\n"), ["b.c", "c d.h", "e.h"]);
        assert!(parse_dependencies("nothing").is_empty());
    }

    #[test]
    fn errors_come_before_anything_else() {
        assert_eq!(first_errors("in file x\nx.c:1: error: no\nnote: y\n"), "x.c:1: error: no");
        assert_eq!(first_errors("a\nb\n"), "a\nb");
    }
}
