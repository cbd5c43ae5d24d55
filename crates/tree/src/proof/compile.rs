//! A unit's command run so that only a temporary folder is written to.

use anyhow::{Context, Result, bail};
use fieldline_frontend::{SourceUnit, absolute};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where files of a unit are.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompileSite<'s> {
    /// The source tree's real path.
    pub tree: &'s Path,
    /// The build folder's real path; the tree's if it was built in place.
    pub build: &'s Path,
    /// The folder in place of the tree, if there is one.
    pub overlay: Option<&'s Path>,
}

#[derive(Clone, Debug)]
pub(super) enum CompileOutcome {
    /// The object is there. What was read for it.
    Done(Vec<PathBuf>),
    /// The compiler's messages.
    Failed(String),
}

/// Options that take the next word as the file they write, or that go with it.
const OUTPUTS: &[&str] = &["-o", "-MF", "-MT", "-MQ", "-MJ"];
/// Options that write files, leave types out of debug info, or end before there is an object.
const DROPPED: &[&str] =
    &["-MMD", "-MD", "-MP", "-MG", "-S", "-c", "-g0", "-gsplit-dwarf", "-fsyntax-only", "-flto"];
/// As those, with more behind.
const DROPPED_BEGINNINGS: &[&str] = &["-Wp,-M", "-femit-struct-debug-", "-save-temps", "-flto=", "-ffat-lto"];
/// Options with a path in the same word or the next one.
const PATHS: &[&str] = &["-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-I"];

/// Compiles the source of a unit into an object with debug info of all its types.
pub(super) fn compile(unit: &SourceUnit, site: CompileSite<'_>, object: &Path) -> Result<CompileOutcome> {
    let read = object.with_extension("d");
    let (program, arguments) = unit.arguments.split_first().context("an empty command")?;
    let mut command = Command::new(program);
    command.current_dir(&unit.directory).env("LC_ALL", "C").args(rewrite_arguments(unit, arguments, site));
    command.arg("-c").arg("-o").arg(object).arg("-MD").arg("-MF").arg(&read);
    command.arg("-fno-eliminate-unused-debug-types");
    let cannot_run = || format!("cannot run {program}, which the build names as its compiler");
    let output = command.output().with_context(cannot_run)?;
    if !output.status.success() {
        return Ok(CompileOutcome::Failed(first_errors(&String::from_utf8_lossy(&output.stderr))));
    }
    let read = std::fs::read_to_string(&read)
        .with_context(|| format!("{}: the compiler did not say what it read", unit.file.display()))?;
    let read = parse_dependencies(&read).into_iter();
    let read = read.map(|name| canonical(&absolute(&unit.directory, Path::new(&name))));
    Ok(CompileOutcome::Done(read.collect()))
}

/// The arguments with paths as `site` has them.
pub(super) fn rewrite_arguments(
    unit: &SourceUnit,
    arguments: &[String],
    site: CompileSite<'_>,
) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut rest = arguments.iter();
    let begins = |word: &str| DROPPED_BEGINNINGS.iter().any(|begin| word.starts_with(begin));
    let is_dropped = |word: &str| DROPPED.contains(&word) || begins(word);
    let moved = |name: &str| site.resolve(&absolute(&unit.directory, Path::new(name))).into_os_string();
    while let Some(word) = rest.next() {
        if OUTPUTS.contains(&word.as_str()) {
            rest.next();
        } else if is_dropped(word) {
        } else if PATHS.contains(&word.as_str()) {
            words.push(word.into());
            words.extend(rest.next().map(|name| moved(name)));
        } else if let Some(name) = word.strip_prefix("-I") {
            words.push([OsString::from("-I"), moved(name)].into_iter().collect());
        } else if absolute(&unit.directory, Path::new(word)) == unit.file {
            words.push(moved(word));
        } else {
            words.push(word.into());
        }
    }
    let has_debug = |word: &String| {
        let is_kind = |rest: &str| ["1", "2", "3", "gdb", "dwarf"].iter().any(|kind| rest.starts_with(kind));
        word.strip_prefix("-g").is_some_and(|rest| rest.is_empty() || is_kind(rest))
    };
    if !arguments.iter().any(has_debug) {
        words.push("-g".into());
    }
    words
}

impl CompileSite<'_> {
    /// Where a file is read from: what lies in the tree and is not made by the build may be replaced.
    fn resolve(&self, path: &Path) -> PathBuf {
        let path = canonical(path);
        let is_made = self.build != self.tree && path.starts_with(self.build);
        match (self.overlay, path.strip_prefix(self.tree)) {
            (Some(overlay), Ok(inner)) if !is_made => overlay.join(inner),
            _ => path,
        }
    }
}

/// The path without links, or as it is if there is no such file.
pub(super) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
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
    fn only_the_sources_are_replaced_and_nothing_else_is_written() {
        let words = "cc -Wp,-MMD,k/.b.o.d -I/tree/include -I ./include -include /tree/x.h -DA=/tree -femit-struct-debug-baseonly \
                     -flto=thin -S -o k/b.s /tree/k/b.c";
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let unit = SourceUnit {
            directory: "/tree/out".into(),
            arguments: words,
            file: "/tree/k/b.c".into(),
            reads: Vec::new(),
        };
        let site = CompileSite {
            tree: Path::new("/tree"),
            build: Path::new("/tree/out"),
            overlay: Some(Path::new("/over")),
        };
        let words = rewrite_arguments(&unit, &unit.arguments[1..], site);
        let expected = "-I/over/include -I /tree/out/include -include /over/x.h -DA=/tree /over/k/b.c -g";
        assert_eq!(words.join(" ".as_ref()), expected);
        let site = CompileSite { overlay: None, ..site };
        assert!(rewrite_arguments(&unit, &unit.arguments[1..], site).contains(&"/tree/k/b.c".into()));
    }

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
