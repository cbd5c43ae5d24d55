//! Which units of a build can show a struct.

use super::arguments::canonical;
use anyhow::{Context, Result, bail};
use fieldline_files::is_there;
use fieldline_frontend::{SourceUnit, absolute, listed, saved_unit};
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// Most commands that are read to find one that read a header.
const MOST_COMMANDS: usize = 4000;
/// Most units that are offered for one header.
const MOST_UNITS: usize = 6;

/// Folders whose files include headers for all, the smaller ones first.
const USERS: &[&str] = &["kernel", "mm", "block", "security", "fs", "net"];

/// A unit and how to compile it.
#[derive(Clone, Debug)]
pub(super) struct CompileUnit {
    pub compiled: SourceUnit,
    /// Its source from the top of the tree.
    pub name: String,
    /// The unit whose command it is compiled with, if the build never compiled it.
    pub borrowed: Option<String>,
}

/// Compile units of a build folder.
#[derive(Debug)]
pub(super) struct CompileUnits<'u> {
    tree: &'u Path,
    build: &'u Path,
    /// The units of compile_commands.json, where there is one.
    database: Option<Vec<SourceUnit>>,
}

impl<'u> CompileUnits<'u> {
    /// The units of a build folder. Both paths are real ones.
    pub(super) fn open(tree: &'u Path, build: &'u Path) -> Result<Self> {
        let path = build.join("compile_commands.json");
        let database = is_there(&path).then(|| listed(&path)).transpose()?;
        Ok(Self { tree, build, database })
    }

    /// The unit of a source file, from the top of the tree.
    pub(super) fn unit_of_source(&self, name: &str) -> Result<Option<CompileUnit>> {
        let source = self.tree.join(name);
        let mut listed = self.database.iter().flatten();
        if let Some(unit) = listed.find(|unit| canonical(&unit.file) == canonical(&source)) {
            return Ok(Some(self.unit(unit.clone())));
        }
        for end in ["o", "s"] {
            // `kernel/fork.c` is made into `kernel/fork.o` by the command in `kernel/.fork.o.cmd`.
            let made = self.build.join(name);
            let stem = made.file_stem().and_then(|stem| stem.to_str());
            let path = stem.map(|stem| made.with_file_name(format!(".{stem}.{end}.cmd")));
            if let Some(path) = path.filter(|path| is_there(path))
                && let Some(unit) = saved_unit(self.build, &path)?
            {
                return Ok(Some(self.unit(unit)));
            }
        }
        Ok(None)
    }

    /// The unit of a source file, compiled as its neighbours are if the build never compiled it.
    pub(super) fn unit_of_source_or_neighbour(&self, name: &str) -> Result<CompileUnit> {
        if let Some(unit) = self.unit_of_source(name)? {
            return Ok(unit);
        }
        fieldline_files::check_entry(&self.tree.join(name))?;
        if !self.tree.join(name).is_file() {
            bail!("{}: no such file", self.tree.join(name).display());
        }
        let build = self.build.display();
        let missing = || format!("{build}: neither compile_commands.json nor a command that compiled a unit");
        self.unit_like_neighbour(name)?.with_context(missing)
    }

    /// Units that may show what a header declares, the most promising first.
    pub(super) fn units_of_header(&self, header: &str) -> Result<Vec<CompileUnit>> {
        if header.ends_with(".c") {
            return Ok(vec![self.unit_of_source_or_neighbour(header)?]);
        }
        let mut units = match self.database.is_some() {
            true => self.units_in_database(header),
            false => self.units_reading(header)?,
        };
        if units.is_empty() && self.database.is_none() {
            for name in self.files_including(header) {
                units.extend(self.unit_like_neighbour(&name)?);
            }
        }
        units.truncate(MOST_UNITS);
        Ok(units)
    }

    fn unit(&self, unit: SourceUnit) -> CompileUnit {
        CompileUnit { name: self.name(&unit.file), compiled: unit, borrowed: None }
    }

    fn name(&self, source: &Path) -> String {
        let source = canonical(source);
        source.strip_prefix(self.tree).unwrap_or(&source).display().to_string()
    }

    /// Units of compile_commands.json: those that include the header, then its neighbours, small ones first.
    fn units_in_database(&self, header: &str) -> Vec<CompileUnit> {
        let folder = self.tree.join(header);
        let rank = |unit: &SourceUnit| {
            let is_beside = canonical(&unit.file).parent() == folder.parent();
            (!includes(&unit.file, header), !is_beside, length(&unit.file))
        };
        let mut units: Vec<&SourceUnit> = self.database.iter().flatten().collect();
        units.sort_by_cached_key(|unit| rank(unit));
        units.into_iter().take(MOST_UNITS).map(|unit| self.unit(unit.clone())).collect()
    }

    /// Units whose commands read the header, folder by folder, in each the small ones first.
    fn units_reading(&self, header: &str) -> Result<Vec<CompileUnit>> {
        let wanted = canonical(&self.tree.join(header));
        let reads = |unit: &SourceUnit| {
            let mut named = unit.reads.iter().filter(|read| read.file_name() == wanted.file_name());
            named.any(|read| canonical(read) == wanted)
        };
        let (mut units, mut count) = (Vec::new(), 0);
        for folder in self.folders(header) {
            let mut found = Vec::new();
            for path in commands_in(&folder) {
                count += 1;
                found.extend(saved_unit(self.build, &path)?.filter(|unit| reads(unit)));
            }
            found.sort_by_cached_key(|unit| length(&unit.file));
            units.extend(found.into_iter().map(|unit| self.unit(unit)));
            if units.len() >= MOST_UNITS || count > MOST_COMMANDS {
                break;
            }
        }
        Ok(units)
    }

    /// Folders of the build: the header's own, those compiled first (Kbuild: asm-offsets), then top down.
    fn folders(&self, header: &str) -> Vec<PathBuf> {
        let own = Path::new(header).parent().unwrap_or(Path::new(""));
        let mut folders = vec![self.build.join(own)];
        folders.extend(folders_in(&self.build.join("arch")).into_iter().map(|arch| arch.join("kernel")));
        folders.push(self.build.join("kernel"));
        let mut queue = VecDeque::from([self.build.to_owned()]);
        while let Some(folder) = queue.pop_front() {
            queue.extend(folders_in(&folder));
            folders.push(folder);
        }
        let mut seen = BTreeSet::new();
        folders.retain(|folder| seen.insert(folder.clone()));
        folders
    }

    /// C files near a header that include it, those a makefile names first, small ones first.
    fn files_including(&self, header: &str) -> Vec<String> {
        let own = Path::new(header).parent().unwrap_or(Path::new(""));
        let is_public = own.components().any(|part| part.as_os_str() == "include");
        let tops = if is_public { USERS } else { &[""] };
        let tops = tops.iter().map(|top| if is_public { self.tree.join(top) } else { self.tree.join(own) });
        let mut searches = tops.map(|top| sources_including(top, header));
        let mut found = searches.find(|found| !found.is_empty()).unwrap_or_default();
        found.sort_by_cached_key(|path| (!is_in_makefile(path), length(path), path.clone()));
        found.iter().take(MOST_UNITS).map(|path| self.name(path)).collect()
    }

    /// A unit compiled as the nearest one that the build compiled for itself, not as a helper of the build.
    fn unit_like_neighbour(&self, name: &str) -> Result<Option<CompileUnit>> {
        let source = self.tree.join(name);
        let with_command = |unit: &SourceUnit| {
            let borrowed = Some(self.name(&unit.file));
            Some(CompileUnit { compiled: for_source(unit, &source), name: name.to_owned(), borrowed })
        };
        if let Some(unit) = self.database.iter().flatten().next() {
            return Ok(with_command(unit));
        }
        let up = Path::new(name).ancestors().skip(1).map(|folder| self.build.join(folder));
        for folder in up.chain(self.folders(name)) {
            for path in commands_in(&folder) {
                let Some(unit) = saved_unit(self.build, &path)? else { continue };
                if !unit.arguments.iter().any(|word| word == "-D__KERNEL__") {
                    continue;
                }
                if !canonical(&unit.file).starts_with(self.tree) {
                    let (build, tree) = (self.build.display(), self.tree.display());
                    bail!("{build}: was built from {}, not from {tree}", unit.file.display());
                }
                return Ok(with_command(&unit));
            }
        }
        Ok(None)
    }
}

/// C files of a folder and those in it that include a header.
fn sources_including(top: PathBuf, header: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut queue = VecDeque::from([top]);
    while let Some(folder) = queue.pop_front() {
        queue.extend(folders_in(&folder));
        let is_source = |path: &PathBuf| path.extension().is_some_and(|end| end == "c");
        let sources = files_in(&folder).into_iter().filter(is_source);
        found.extend(sources.filter(|path| includes(path, header)));
    }
    found
}

/// A unit's command for another source.
fn for_source(unit: &SourceUnit, source: &Path) -> SourceUnit {
    let mut other = unit.clone();
    let is_own = |word: &String| absolute(&unit.directory, Path::new(word)) == unit.file;
    let own = unit.arguments.iter().rposition(is_own);
    if let Some(word) = own.and_then(|index| other.arguments.get_mut(index)) {
        *word = source.display().to_string();
    }
    // kbuild lets a file include what lies beside it by angle brackets too.
    let folder = source.parent().unwrap_or(source);
    other.arguments.push(format!("-I{}", folder.display()));
    other.file = source.to_owned();
    other.reads = Vec::new();
    other
}

/// The folder's files with commands that made objects or assembler text, by name.
fn commands_in(folder: &Path) -> Vec<PathBuf> {
    let is_command = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with('.') && (name.ends_with(".o.cmd") || name.ends_with(".s.cmd"))
    };
    entries(folder, |kind| !kind.is_dir()).into_iter().filter(is_command).collect()
}

/// Files of a folder by name; none if it can't be read: builds lack some folders of the tree.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder, |kind| kind.is_file())
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder, |kind| kind.is_dir())
}

fn entries(folder: &Path, wanted: impl Fn(&std::fs::FileType) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| wanted(&kind)));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(u64::MAX, |data| data.len())
}

/// Whether a file has an `#include` whose name is the end of a header's path.
fn includes(source: &Path, header: &str) -> bool {
    let text = fieldline_files::read(source).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let named = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim();
        rest.trim_start_matches(['"', '<']).split(['"', '>']).next()
    });
    let header = Path::new(header);
    let mut named = named.map(|name| Path::new(name.trim_start_matches("../").trim_start_matches("./")));
    named.any(|name| name.file_name().is_some() && header.ends_with(name))
}

/// Whether the makefile beside a file names its object.
fn is_in_makefile(path: &Path) -> bool {
    let Some(object) = path.file_stem().and_then(|stem| stem.to_str()).map(|stem| format!("{stem}.o")) else {
        return false;
    };
    let makefiles = ["Makefile", "Kbuild"].iter().map(|name| path.with_file_name(name));
    let names = |text: String| text.split_whitespace().any(|word| word == object);
    makefiles.filter_map(|path| fieldline_files::read_to_string(&path).ok()).any(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with a build folder in which only `init/main.c` was compiled.
    fn build() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let write = |path: &str, text: &str| {
            let path = top.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("tree/include/linux/hot.h", "struct hot { int a; };\n");
        write("tree/net/queue.h", "struct queue { int a; };\n");
        write("tree/net/Makefile", "obj-y += big.o\n");
        write("tree/net/big.c", "#include \"queue.h\"\n/* longer */\n");
        write("tree/net/part.c", "#include \"queue.h\"\n");
        write("tree/init/main.c", "#include <linux/hot.h>\n");
        let tree = top.join("tree");
        let (tree, helper) = (tree.display(), "savedcmd_scripts/a.o := gcc -c -o scripts/a.o scripts/a.c\n");
        write("out/scripts/.a.o.cmd", helper);
        write(
            "out/init/.main.o.cmd",
            &format!(
                "savedcmd_init/main.o := gcc -D__KERNEL__ -c -o init/main.o {tree}/init/main.c\n\n\
                 source_init/main.o := {tree}/init/main.c\n\ndeps_init/main.o := \\\n  {tree}/include/linux/hot.h \\\n\n"
            ),
        );
        folder
    }

    #[test]
    fn what_read_a_header_shows_it_and_neighbours_stand_in() {
        let folder = build();
        let top = folder.path().canonicalize().unwrap();
        let (tree, out) = (top.join("tree"), top.join("out"));
        let units = CompileUnits::open(&tree, &out).unwrap();
        let names = |units: Vec<CompileUnit>| {
            units.into_iter().map(|unit| (unit.name, unit.borrowed)).collect::<Vec<_>>()
        };
        assert_eq!(
            names(units.units_of_header("include/linux/hot.h").unwrap()),
            [("init/main.c".to_owned(), None)]
        );
        // What the makefile names comes before what is smaller.
        let borrowed = Some("init/main.c".to_owned());
        let expected = [("net/big.c".to_owned(), borrowed.clone()), ("net/part.c".to_owned(), borrowed)];
        assert_eq!(names(units.units_of_header("net/queue.h").unwrap()), expected);
        assert!(units.unit_of_source("net/big.c").unwrap().is_none());
        assert!(units.unit_of_source_or_neighbour("net/none.c").is_err());
    }

    #[test]
    fn a_build_of_another_tree_is_refused() {
        let (folder, other) = (build(), build());
        let tree = folder.path().canonicalize().unwrap().join("tree");
        let out = other.path().canonicalize().unwrap().join("out");
        let error = CompileUnits::open(&tree, &out).unwrap().units_of_header("net/queue.h").unwrap_err();
        assert!(error.to_string().contains("was built from"), "{error}");
    }

    #[test]
    fn another_source_takes_the_place_of_the_first() {
        let arguments = ["cc", "-c", "-o", "k/b.s", "../tree/k/b.c"].map(str::to_owned).to_vec();
        let (directory, file) = (PathBuf::from("/out"), PathBuf::from("/tree/k/b.c"));
        let unit = SourceUnit { directory, arguments, file, reads: Vec::new() };
        let other = for_source(&unit, Path::new("/tree/k/s/c.c"));
        assert_eq!(other.arguments, ["cc", "-c", "-o", "k/b.s", "/tree/k/s/c.c", "-I/tree/k/s"]);
    }

    #[test]
    fn a_header_is_included_by_the_end_of_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.c");
        for (text, is_included) in [
            ("#include <linux/x.h>", true),
            (" # include \"x.h\"", true),
            ("#include <net/x.h>", false),
            ("x.h", false),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(includes(&path, "include/linux/x.h"), is_included, "{text}");
        }
    }
}
