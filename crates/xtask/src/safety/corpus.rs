//! The programs of fixtures/safety.

use crate::tools::shell::{self, print_line};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The line of the README below which the tables stand.
const TABLE_BEGINS: &str = "<!-- The tables below are written by cargo xtask safety table. -->\n";

/// The effect of the orders of a program's struct on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// Some order breaks it.
    Breaks,
    /// No order breaks it.
    Safe,
}

impl Kind {
    /// The name of its folder.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Breaks => "breaks",
            Self::Safe => "safe",
        }
    }
}

/// A program.
pub(super) struct Program {
    /// Name of its file without the ending, or of its folder.
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The struct whose members change places, as its first line names it.
    pub(super) subject: String,
    /// The idiom, as its first line tells it.
    pub(super) idiom: String,
    /// Names and texts of its files.
    pub(super) files: Vec<(String, String)>,
}

impl Program {
    pub(super) fn is_cpp(&self) -> bool {
        self.files.iter().any(|(name, _)| name.ends_with(".cc"))
    }

    /// The names of the files that are compiled.
    pub(super) fn units(&self) -> impl Iterator<Item = &str> {
        let names = self.files.iter().map(|(name, _)| name.as_str());
        names.filter(|name| [".c", ".cc", ".S"].iter().any(|ending| name.ends_with(ending)))
    }
}

/// All programs, those that break first, each kind by name.
pub(super) fn read_all() -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for kind in [Kind::Breaks, Kind::Safe] {
        let mut paths = entries(&folder().join(kind.name()))?;
        paths.sort();
        for path in paths {
            programs.push(read(&path, kind).with_context(|| path.display().to_string())?);
        }
    }
    let names: BTreeSet<&str> = programs.iter().map(|program| program.name.as_str()).collect();
    ensure!(names.len() == programs.len(), "fixtures/safety: two programs have one name");
    Ok(programs)
}

fn folder() -> PathBuf {
    shell::root().join("fixtures/safety")
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn read(path: &Path, kind: Kind) -> Result<Program> {
    let mut paths = if path.is_dir() { entries(path)? } else { vec![path.to_owned()] };
    paths.sort();
    let mut files = Vec::new();
    for path in &paths {
        let name = path.file_name().context("no file name")?.to_string_lossy().into_owned();
        files.push((name, fs::read_to_string(path)?));
    }
    let main = files.iter().find(|(name, _)| paths.len() == 1 || name.starts_with("main."));
    let (_, text) = main.context("a folder needs a file main.c or main.cc")?;
    let (subject, idiom) =
        parse_first_line(text).context("the first line must be: // struct NAME: the idiom")?;
    let name = path.file_stem().context("no file name")?.to_string_lossy().into_owned();
    Ok(Program { name, kind, subject, idiom, files })
}

/// The struct and the idiom of `// struct NAME: idiom`.
fn parse_first_line(text: &str) -> Option<(String, String)> {
    let line = text.lines().next()?.strip_prefix("// struct ")?;
    let (subject, idiom) = line.split_once(": ")?;
    Some((subject.to_owned(), idiom.to_owned()))
}

/// Writes the tables of the README.
pub(super) fn write_table(programs: &[Program]) -> Result<bool> {
    let path = folder().join("README.md");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    fs::write(&path, with_tables(&text, programs)?)?;
    print_line!("{}: {} programs", path.display(), programs.len());
    Ok(true)
}

/// The README's text with the tables of these programs.
fn with_tables(text: &str, programs: &[Program]) -> Result<String> {
    let (before, _) =
        text.split_once(TABLE_BEGINS).context("README.md: the line above the tables is gone")?;
    let mut text = format!("{before}{TABLE_BEGINS}");
    for (kind, title) in [(Kind::Breaks, "Some order breaks these"), (Kind::Safe, "No order breaks these")] {
        text.push_str(&format!("\n## {title}\n\n| program | idiom |\n| --- | --- |\n"));
        for Program { name, idiom, .. } in programs.iter().filter(|program| program.kind == kind) {
            text.push_str(&format!("| `{name}` | {} |\n", idiom.replace('|', "\\|")));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_lists_every_program() {
        let text = fs::read_to_string(folder().join("README.md")).unwrap();
        let expected = with_tables(&text, &read_all().unwrap()).unwrap();
        assert!(text == expected, "cargo xtask safety table writes the tables anew");
    }

    #[test]
    fn every_program_has_a_struct_to_permute() {
        for program in read_all().unwrap() {
            let found = super::super::permute::Definition::find(&program);
            assert!(found.is_some_and(|definition| definition.members.len() > 1), "{}", program.name);
        }
    }

    #[test]
    fn there_are_as_many_programs_as_asked_for() {
        let programs = read_all().unwrap();
        let count = |kind| programs.iter().filter(|program| program.kind == kind).count();
        assert!(count(Kind::Breaks) >= 80 && count(Kind::Safe) >= 30);
    }
}
