//! The units of a build folder: `compile_commands.json`, or kbuild's `.cmd` files.

mod kbuild;
mod response;

use crate::error::Error;
use crate::records::absolute;
use crate::unit::SourceUnit;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// An entry of compile_commands.json (clang's "JSON Compilation Database Format Specification").
#[derive(Debug, Deserialize)]
struct Entry {
    directory: PathBuf,
    file: String,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    arguments: Option<Vec<String>>,
}

/// The units that a build compiled, by file.
///
/// compile_commands.json is preferred; without it, `.cmd` files are looked for in all folders below.
pub fn units(build: &Path) -> Result<Vec<SourceUnit>, Error> {
    let build = &std::path::absolute(build).map_err(Error::input(build))?;
    let path = build.join("compile_commands.json");
    let mut units = if fieldline_files::is_there(&path) { listed(&path)? } else { saved(build)? };
    units.sort_by(|left, right| (&left.file, &left.arguments).cmp(&(&right.file, &right.arguments)));
    units.dedup();
    if units.is_empty() {
        let message = "neither compile_commands.json nor a command that compiled a unit".to_owned();
        return Err(Error::Content { file: build.to_owned(), message });
    }
    Ok(units)
}

/// The units that a compile_commands.json lists, in its order.
pub fn listed(path: &Path) -> Result<Vec<SourceUnit>, Error> {
    let bytes = fieldline_files::read(path).map_err(Error::input(path))?;
    let wrong = |message: String| Error::Content { file: path.to_owned(), message };
    let entries: Vec<Entry> =
        serde_json::from_slice(&bytes).map_err(|error| wrong(format!("no list of commands: {error}")))?;
    let base = path.parent().unwrap_or(path);
    let mut units = Vec::new();
    for entry in entries {
        let name = entry.file.clone();
        let unit = listed_unit(base, entry)?
            .ok_or_else(|| wrong(format!("{name}: no command, or one that can't be split")))?;
        units.extend(is_c(&unit.file).then_some(unit));
    }
    Ok(units)
}

/// The unit of an entry. `None` if it has no command.
fn listed_unit(base: &Path, entry: Entry) -> Result<Option<SourceUnit>, Error> {
    let directory = absolute(base, &entry.directory);
    let arguments = entry.arguments.or_else(|| split(&entry.command?));
    let Some(arguments) = arguments.filter(|words| !words.is_empty()) else { return Ok(None) };
    let arguments = response::expand(&directory, arguments)?;
    let file = absolute(&directory, Path::new(&entry.file));
    let reads = saved_reads(&directory, &arguments);
    Ok(Some(SourceUnit { file, directory, arguments, reads }))
}

/// The files that kbuild saved as read, for a command that makes an object.
fn saved_reads(directory: &Path, arguments: &[String]) -> Vec<PathBuf> {
    let saved = || {
        let object = arguments.iter().skip_while(|word| *word != "-o").nth(1)?;
        let object = absolute(directory, Path::new(object));
        let name = object.file_name()?.to_str()?;
        let bytes = fieldline_files::read(&object.with_file_name(format!(".{name}.cmd"))).ok()?;
        kbuild::parse(&String::from_utf8_lossy(&bytes))
    };
    let reads = saved().map(|saved| saved.reads).unwrap_or_default();
    reads.iter().map(|name| absolute(directory, Path::new(name))).collect()
}

fn is_c(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    ["c", "cc", "cpp", "cxx", "C", "c++"].contains(&end)
}

/// The words of a command up to the first `;`, `&&`, `||` or `|`, without variables and programs that only run the
/// compiler. `None` if its quotes don't match.
fn split(command: &str) -> Option<Vec<String>> {
    let words = shlex::split(command)?.into_iter();
    let words = words.take_while(|word| !matches!(word.as_str(), ";" | "&&" | "||" | "|"));
    let is_before = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or(word);
        matches!(name, "ccache" | "distcc" | "sccache" | "env")
            || word.contains('=') && !word.starts_with('-')
    };
    Some(words.skip_while(is_before).collect())
}

/// The units of `.cmd` files.
fn saved(build: &Path) -> Result<Vec<SourceUnit>, Error> {
    let (mut units, mut folders) = (Vec::new(), vec![build.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(Error::input(&folder))?;
        for entry in entries {
            let entry = entry.map_err(Error::input(&folder))?;
            let kind = entry.file_type().map_err(Error::input(&folder))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if kind.is_dir() && !name.starts_with('.') {
                folders.push(entry.path());
            } else if !kind.is_dir() && name.starts_with('.') && name.ends_with(".o.cmd") {
                units.extend(saved_unit(build, &entry.path())?);
            }
        }
    }
    Ok(units)
}

/// The unit of a `.cmd` file of a build folder. `None` unless it made an object or assembler text from C.
pub fn saved_unit(build: &Path, path: &Path) -> Result<Option<SourceUnit>, Error> {
    // Names in it need not be UTF-8, but a command that can be carried out is.
    let bytes = fieldline_files::read(path).map_err(Error::input(path))?;
    let Some(saved) = kbuild::parse(&String::from_utf8_lossy(&bytes)) else { return Ok(None) };
    let Some(arguments) = split(&saved.command) else { return Ok(None) };
    let arguments = response::expand(build, arguments)?;
    let Some(source) = saved.source.or_else(|| arguments.last().cloned()) else { return Ok(None) };
    let file = absolute(build, Path::new(&source));
    // Tools beside a kernel are built in folders of their own, and nothing says which.
    if path.starts_with(build.join("tools")) && !file.is_file() {
        return Ok(None);
    }
    if !is_c(&file) || !arguments.iter().any(|word| word == "-c" || word == "-S") {
        return Ok(None);
    }
    let reads = saved.reads.iter().map(|name| absolute(build, Path::new(name))).collect();
    Ok(Some(SourceUnit { file, directory: build.to_owned(), arguments, reads }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_begins_with_the_compiler_and_ends_before_the_next() {
        assert_eq!(split("ccache cc '-DA=\"b c\"' x.c ; tool x").unwrap(), ["cc", "-DA=\"b c\"", "x.c"]);
        assert_eq!(split("LC_ALL=C cc x.c").unwrap(), ["cc", "x.c"]);
        assert_eq!(split("cc 'x"), None);
    }

    #[test]
    fn databases_have_commands_or_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("compile_commands.json");
        let text = r#"[{"directory": "o", "file": "../a.c", "command": "cc -c ../a.c"},
                       {"directory": "/x", "file": "b.cc", "arguments": ["cc", "b.cc"]},
                       {"directory": "/x", "file": "b.S", "arguments": ["cc", "b.S"]}]"#;
        std::fs::write(&path, text).unwrap();
        let found = units(folder.path()).unwrap();
        let files: Vec<_> = found.iter().map(|unit| unit.file.clone()).collect();
        assert!(
            files.contains(&folder.path().join("a.c"))
                && files.contains(&"/x/b.cc".into())
                && files.len() == 2
        );
        for wrong in ["{}", r#"[{"directory": "/", "file": "a.c"}]"#, "[", "[]"] {
            std::fs::write(&path, wrong).unwrap();
            assert!(units(folder.path()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn commands_that_kbuild_saved_are_units() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("k")).unwrap();
        let text = "savedcmd_k/a.o := gcc -c -o k/a.o ../t/k/a.c\n\nsource_k/a.o := ../t/k/a.c\n\n\
                    deps_k/a.o := \\\n  ../t/a.h \\\n\n";
        std::fs::write(folder.path().join("k/.a.o.cmd"), text).unwrap();
        std::fs::write(folder.path().join("k/.b.o.cmd"), "savedcmd_k/b.o := ld -r -o k/b.o k/a.o\n").unwrap();
        let found = units(folder.path()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].file, absolute(folder.path(), Path::new("../t/k/a.c")));
        assert_eq!(found[0].reads.len(), 1);
        // A database of the same build has what was read as well.
        let entry = serde_json::json!([{"directory": folder.path(), "file": found[0].file, "command": "gcc -c -o k/a.o a.c"}]);
        std::fs::write(folder.path().join("compile_commands.json"), entry.to_string()).unwrap();
        assert_eq!(units(folder.path()).unwrap()[0].reads, found[0].reads);
    }
}
