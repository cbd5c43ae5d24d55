//! How a build compiles a unit.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::{Component, Path, PathBuf};

/// The command that compiles a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recipe {
    /// The folder it runs in.
    pub folder: PathBuf,
    /// The compiler and its arguments, without what a shell would run after it.
    pub words: Vec<String>,
    /// The file it compiles, absolute.
    pub source: PathBuf,
    /// The files it reads, absolute; empty where nothing recorded them.
    pub read: Vec<PathBuf>,
}

impl Recipe {
    /// Out of a `.cmd` file of a build folder. `None` unless it made an object or assembler text from C.
    pub(super) fn from_cmd(build: &Path, path: &Path) -> Result<Option<Self>> {
        // Names in it need not be UTF-8, but a command that can be carried out is.
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        let Some(saved) = parse_cmd(&String::from_utf8_lossy(&bytes)) else { return Ok(None) };
        let Some(words) = split_command(&saved.command) else { return Ok(None) };
        let source = saved.source.or_else(|| words.last().cloned()).unwrap_or_default();
        let is_source = [".c", ".cc", ".cpp", ".cxx"].iter().any(|end| source.ends_with(end));
        if !is_source || !words.iter().any(|word| word == "-c" || word == "-S") {
            return Ok(None);
        }
        let read = saved.read.iter().map(|name| absolute(build, name)).collect();
        Ok(Some(Self { folder: build.to_owned(), words, source: absolute(build, &source), read }))
    }

    /// The same command for another source.
    pub(super) fn for_source(&self, source: &Path) -> Self {
        let mut other = self.clone();
        let own = other.words.iter().rposition(|word| absolute(&self.folder, word) == self.source);
        if let Some(word) = own.and_then(|index| other.words.get_mut(index)) {
            *word = source.display().to_string();
        }
        // kbuild lets a file include what lies beside it by angle brackets too.
        let folder = source.parent().unwrap_or(source);
        other.words.push(format!("-I{}", folder.display()));
        other.source = source.to_owned();
        other.read = Vec::new();
        other
    }
}

/// The words of a command up to the first `;`, `&&`, `||` or `|`. `None` if its quotes don't match.
fn split_command(command: &str) -> Option<Vec<String>> {
    let mut words = shlex::split(command)?;
    let end = words.iter().position(|word| matches!(word.as_str(), ";" | "&&" | "||" | "|"));
    words.truncate(end.unwrap_or(words.len()));
    Some(words)
}

/// A path of a command as seen from its folder, without `.` and `..`.
pub(super) fn absolute(folder: &Path, name: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in folder.join(name).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path
}

/// An entry of compile_commands.json (clang's "JSON Compilation Database Format Specification").
#[derive(Debug, Deserialize)]
struct DatabaseEntry {
    directory: PathBuf,
    file: String,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    arguments: Option<Vec<String>>,
}

/// The units that compile_commands.json lists, in its order.
pub(super) fn read_database(path: &Path) -> Result<Vec<Recipe>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let entries: Vec<DatabaseEntry> =
        serde_json::from_slice(&bytes).with_context(|| format!("{}: no list of commands", path.display()))?;
    let base = path.parent().unwrap_or(path);
    let read = |entry| read_entry(base, entry).with_context(|| path.display().to_string());
    entries.into_iter().map(read).collect()
}

fn read_entry(base: &Path, entry: DatabaseEntry) -> Result<Recipe> {
    let folder = base.join(&entry.directory);
    let words = match (entry.arguments, entry.command) {
        (Some(words), _) => words,
        (None, Some(command)) => split_command(&command)
            .with_context(|| format!("{}: a command's quotes don't match", entry.file))?,
        (None, None) => bail!("{}: neither command nor arguments", entry.file),
    };
    if words.is_empty() {
        bail!("{}: an empty command", entry.file);
    }
    let source = absolute(&folder, &entry.file);
    Ok(Recipe { folder, words, source, read: Vec::new() })
}

/// The content of a `.cmd` file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CmdFile {
    /// The command as a shell would read it.
    command: String,
    /// The file that was compiled.
    source: Option<String>,
    /// Other files that were read.
    read: Vec<String>,
}

/// Reads a `.cmd` file of kbuild (scripts/Kbuild.include, scripts/basic/fixdep.c). `None` without command.
fn parse_cmd(text: &str) -> Option<CmdFile> {
    let mut saved = CmdFile::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some((name, value)) = line.split_once(" := ") else { continue };
        if name.starts_with("savedcmd_") || name.starts_with("cmd_") {
            // make reads the file: `$` is doubled and `#` is a variable.
            saved.command = value.replace("$(pound)", "#").replace("\\#", "#").replace("$$", "$");
        } else if name.starts_with("source_") {
            saved.source = Some(value.trim().to_owned());
        } else if name.starts_with("deps_") {
            let more = lines.by_ref().take_while(|line| !line.trim().is_empty());
            saved.read = std::iter::once(value).chain(more).filter_map(dependency).collect();
        }
    }
    (!saved.command.is_empty()).then_some(saved)
}

/// `  /tree/include/linux/list.h \`; configuration markers are no files that were read.
fn dependency(line: &str) -> Option<String> {
    let name = line.trim().trim_end_matches('\\').trim();
    (!name.is_empty() && !name.starts_with('$')).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_ends_before_the_next() {
        assert_eq!(split_command("cc '-DA=\"b c\"' x.c ; tool x").unwrap(), ["cc", "-DA=\"b c\"", "x.c"]);
        assert_eq!(split_command("cc 'x"), None);
    }

    #[test]
    fn paths_are_seen_from_the_commands_folder() {
        assert_eq!(absolute(Path::new("/tree/out"), "../a/./b.c"), Path::new("/tree/a/b.c"));
        assert_eq!(absolute(Path::new("/tree/out"), "/x/b.c"), Path::new("/x/b.c"));
    }

    #[test]
    fn another_source_takes_the_place_of_the_first() {
        let folder = PathBuf::from("/out");
        let words = ["cc", "-c", "-o", "k/b.s", "../tree/k/b.c"].map(str::to_owned).to_vec();
        let recipe = Recipe { folder, words, source: "/tree/k/b.c".into(), read: Vec::new() };
        let other = recipe.for_source(Path::new("/tree/k/s/c.c"));
        assert_eq!(other.words, ["cc", "-c", "-o", "k/b.s", "/tree/k/s/c.c", "-I/tree/k/s"]);
    }

    #[test]
    fn databases_have_commands_or_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("compile_commands.json");
        let text = r#"[{"directory": "o", "file": "../a.c", "command": "cc -c ../a.c"},
                       {"directory": "/x", "file": "b.c", "arguments": ["cc", "b.c"]}]"#;
        std::fs::write(&path, text).unwrap();
        let recipes = read_database(&path).unwrap();
        assert_eq!(recipes[0].source, folder.path().join("a.c"));
        assert_eq!(recipes[1].words, ["cc", "b.c"]);
        for wrong in [
            "{}",
            r#"[{"directory": "/", "file": "a.c"}]"#,
            "[",
            r#"[{"directory":"/","file":"a.c","command":"'"}]"#,
        ] {
            std::fs::write(&path, wrong).unwrap();
            assert!(read_database(&path).is_err(), "{wrong}");
        }
    }

    #[test]
    fn command_source_and_dependencies_are_read() {
        let text = "savedcmd_a/b.o := gcc -DX='\\#$$1' -c -o a/b.o /tree/a/b.c ; ./objtool a/b.o\n\n\
                    source_a/b.o := /tree/a/b.c\n\ndeps_a/b.o := \\\n    $(wildcard include/config/FOO) \\\n  \
                    /tree/a/b.h \\\n  include/generated/x.h \\\n\na/b.o: $(deps_a/b.o)\n";
        let saved = parse_cmd(text).unwrap();
        assert_eq!(saved.command, "gcc -DX='#$1' -c -o a/b.o /tree/a/b.c ; ./objtool a/b.o");
        assert_eq!(saved.source.as_deref(), Some("/tree/a/b.c"));
        assert_eq!(saved.read, ["/tree/a/b.h", "include/generated/x.h"]);
        // Kernels before 6.3 say cmd_.
        assert_eq!(parse_cmd("cmd_x.o := cc -c x.c\n").unwrap().command, "cc -c x.c");
        assert_eq!(parse_cmd("# nothing\n"), None);
    }
}
