//! The words of a compiler's command, so that it writes nothing and runs in any folder.
//!
//! Options of gcc 14 and clang 19 that write files are left out. Relative paths become absolute, since the command runs
//! in an empty folder, where what an unknown option writes does no harm.

use fieldline_frontend::{SourceUnit, absolute};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

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

/// Options that write a file, or say of one what it has, and whose value is the next word.
const DROPPED_PAIRS: &[&str] = &[
    "-o",
    "--output",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-aux-info",
    "-dumpdir",
    "-dumpbase",
    "-dumpbase-ext",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
    "-index-store-path",
    "-index-unit-output-path",
    "-wrapper",
];
/// Options that write files, leave types out of debug info, or end before there is an object.
const DROPPED: &[&str] = &["-S", "-c", "-E", "-g0", "-fsyntax-only", "-emit-llvm", "-emit-ast", "-time"];
/// As those, with anything behind.
const DROPPED_BEGINNINGS: &[&str] = &[
    "-M",
    "--write-dependencies",
    "--write-user-dependencies",
    "--dependencies",
    "--user-dependencies",
    "--output=",
    "--assemble",
    "--preprocess",
    "--compile",
    "-aux-info=",
    "-dumpdir=",
    "-save-temps",
    "--save-temps",
    "-save-stats",
    "--save-stats",
    "-print-stats",
    "-time=",
    "-gsplit-dwarf",
    "-gen-reproducer",
    "-index-store-path=",
    "--serialize-diagnostics=",
    "-femit-struct-debug-",
    "-flto",
    "-ffat-lto",
    "-fprofile-",
    "-fno-profile-",
    "-fcs-profile-",
    "-fauto-profile",
    "-fmemory-profile",
    "-fcoverage-",
    "-ftest-coverage",
    "-coverage",
    "--coverage",
    "-fcallgraph-info",
    "-fstack-usage",
    "-frecord-",
    "-fdump-",
    "-fcompare-debug",
    "-freport-bug",
    "-fopt-info",
    "-fdiagnostics-format",
    "-fdiagnostics-add-output",
    "-fdiagnostics-set-output",
    "-ftime-trace",
    "-ftime-report",
    "-fproc-stat-report",
    "-fcrash-diagnostics",
    "-fsave-optimization-record",
    "-foptimization-record-",
    "-fmodules-cache-path",
    "-fmodule-output",
    "-fdeps-",
    "-fxray-",
    "-fthinlto-index=",
];
/// Options whose value is the next word and no path.
const VERBATIM_PAIRS: &[&str] =
    &["-x", "-D", "-U", "-A", "--param", "-arch", "-target", "-mllvm", "-T", "-u", "-z", "-Xlinker"];
/// Options with a path in the same word or the next one, from which sources are read. `-include` has it in the next.
const SOURCES: &[&str] = &["-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-I"];
/// Options with a path in the next word.
const PATH_PAIRS: &[&str] = &["-isysroot", "--sysroot", "-B", "-include-pch", "-ivfsoverlay", "-F"];
/// Parts of compilers that are handed options of their own, one a word.
const PARTS: &[&str] = &["-Xassembler", "-Xpreprocessor", "-Xclang"];

/// The arguments with paths as `site` has them.
pub(super) fn rewrite_arguments(
    unit: &SourceUnit,
    arguments: &[String],
    site: CompileSite<'_>,
) -> Vec<OsString> {
    let rewriter = Rewriter { unit, site };
    let mut words = Vec::new();
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        rewriter.add(word, &mut rest, &mut words);
    }
    if !arguments.iter().any(|word| asks_for_debug_info(word)) {
        words.push("-g".into());
    }
    words
}

fn asks_for_debug_info(word: &str) -> bool {
    let is_kind = |rest: &str| ["1", "2", "3", "gdb", "dwarf"].iter().any(|kind| rest.starts_with(kind));
    word.strip_prefix("-g").is_some_and(|rest| rest.is_empty() || is_kind(rest))
}

struct Rewriter<'r> {
    unit: &'r SourceUnit,
    site: CompileSite<'r>,
}

impl Rewriter<'_> {
    /// Adds what becomes of a word, and of those behind it that belong to it.
    fn add<'w>(&self, word: &str, rest: &mut impl Iterator<Item = &'w str>, words: &mut Vec<OsString>) {
        if DROPPED_PAIRS.contains(&word) {
            rest.next();
        } else if VERBATIM_PAIRS.contains(&word) {
            words.push(word.into());
            words.extend(rest.next().map(OsString::from));
        } else if PATH_PAIRS.contains(&word) {
            words.push(word.into());
            words.extend(rest.next().map(|name| self.absolute(name).into_os_string()));
        } else if PARTS.contains(&word) {
            self.add_to_part(word, rest, words);
        } else if let Some(list) = word.strip_prefix("-Wa,") {
            self.add_list("-Wa", &kept_of_assembler(list.split(',')), words);
        } else if let Some(list) = word.strip_prefix("-Wp,") {
            self.add_list("-Wp", &kept_of_preprocessor(list.split(',')), words);
        } else if let Some((option, name)) = source_option(word) {
            let name = if name.is_empty() { rest.next().unwrap_or_default() } else { name };
            words.extend([option.into(), self.read_by(option, name)]);
        } else if !writes(word) {
            words.push(self.plain(word));
        }
    }

    /// `-Xclang -dependency-file -Xclang FILE`, and what doesn't write.
    fn add_to_part<'w>(
        &self,
        part: &str,
        rest: &mut impl Iterator<Item = &'w str>,
        words: &mut Vec<OsString>,
    ) {
        let Some(word) = rest.next() else { return };
        let is_pair = DROPPED_PAIRS.contains(&word) || CC1_PAIRS.contains(&word) || word == "--MD";
        if is_pair {
            // The value is handed on in the same way.
            rest.next();
            rest.next();
        } else if !writes(word) && !CC1_WORDS.iter().any(|begin| word.starts_with(begin)) && !is_listing(word)
        {
            words.extend([part.into(), self.plain(word)]);
        }
    }

    fn add_list(&self, option: &str, kept: &[&str], words: &mut Vec<OsString>) {
        if kept.is_empty() {
            return;
        }
        let mut whole = OsString::from(option);
        for word in kept {
            whole.push(",");
            match word.strip_prefix("-I").filter(|name| !name.is_empty()) {
                Some(name) => {
                    whole.push("-I");
                    whole.push(self.absolute(name));
                }
                None => whole.push(self.plain(word)),
            }
        }
        words.push(whole);
    }

    /// A word that may be a path, or have one behind `=`. It is taken for one if a file or folder is there.
    fn plain(&self, word: &str) -> OsString {
        if !word.starts_with('-') {
            let path = self.absolute(word);
            if path == self.unit.file {
                return self.source(word);
            }
            return if path.exists() { path.into_os_string() } else { word.into() };
        }
        if word.contains("prefix-map=") || word.starts_with("-D") {
            return word.into();
        }
        match word.split_once('=') {
            Some((option, name)) if is_relative(name) && self.absolute(name).exists() => {
                let mut whole = OsString::from(format!("{option}="));
                whole.push(self.absolute(name));
                whole
            }
            _ => match word.strip_prefix("-B").filter(|name| is_relative(name)) {
                Some(name) => ["-B".into(), self.absolute(name).into_os_string()].into_iter().collect(),
                None => word.into(),
            },
        }
    }

    fn absolute(&self, name: &str) -> PathBuf {
        absolute(&self.unit.directory, Path::new(name))
    }

    /// The file or folder that an option names. A name that `-include` doesn't find in the command's folder is searched as
    /// `#include "…"` is (GCC manual, Preprocessor Options), so it stays as it is.
    fn read_by(&self, option: &str, name: &str) -> OsString {
        let is_searched = ["-include", "-imacros"].contains(&option) && Path::new(name).is_relative();
        if is_searched && !self.absolute(name).exists() { name.into() } else { self.source(name) }
    }

    fn source(&self, name: &str) -> OsString {
        self.site.resolve(&self.absolute(name)).into_os_string()
    }
}

/// A path from the command's folder on, and not a plain value such as `gnu11`.
fn is_relative(name: &str) -> bool {
    !name.starts_with('/') && !name.is_empty() && (name.contains('/') || name.starts_with('.'))
}

/// Options of clang's first part that write the file that the next word names.
const CC1_PAIRS: &[&str] = &[
    "-dependency-file",
    "-header-include-file",
    "-serialize-diagnostic-file",
    "-diagnostic-log-file",
    "-dwarf-debug-flags",
    "-split-dwarf-file",
    "-split-dwarf-output",
    "-module-dependency-dir",
    "-MT",
];
/// As those, with the file in the same word, or with a choice of their own.
const CC1_WORDS: &[&str] = &["-stats-file", "-coverage-", "-opt-record-", "-emit-", "-ast-dump", "-fprofile"];

/// The option of a word with a path that sources are read from, and the path; empty if it is the next word.
fn source_option(word: &str) -> Option<(&'static str, &str)> {
    let (option, name) = SOURCES.iter().find_map(|option| Some((*option, word.strip_prefix(option)?)))?;
    // Other options begin as `-include` does.
    let is_other = matches!(option, "-include" | "-imacros") && !name.is_empty();
    (!is_other).then_some((option, name))
}

/// Whether an option makes a compiler write a file of its own, or no object.
fn writes(word: &str) -> bool {
    let is_object = word.starts_with("-o") && !word.starts_with("-obj");
    // `-da`, `-dx`: dumps. `-dumpmachine` and the like end before there is an object.
    let is_dump = word.starts_with("-d");
    is_object
        || is_dump
        || DROPPED.contains(&word)
        || DROPPED_BEGINNINGS.iter().any(|begin| word.starts_with(begin))
}

/// `-adhln=FILE` of GNU as.
fn is_listing(word: &str) -> bool {
    let Some(rest) = word.strip_prefix("-a") else { return false };
    let letters = rest.split('=').next().unwrap_or_default();
    letters.chars().all(|letter| "cdghilmns".contains(letter))
}

/// The options in a list for the assembler that write nothing.
fn kept_of_assembler<'l>(list: impl Iterator<Item = &'l str>) -> Vec<&'l str> {
    without(
        list,
        |word| matches!(word, "--MD" | "-MD" | "-o"),
        |word| is_listing(word) || word.starts_with("--MD") || word.starts_with("-o"),
    )
}

/// The options in a list for the preprocessor that write nothing.
fn kept_of_preprocessor<'l>(list: impl Iterator<Item = &'l str>) -> Vec<&'l str> {
    without(list, |word| matches!(word, "-MD" | "-MMD" | "-MF" | "-MT" | "-MQ" | "-o"), writes)
}

/// Words but those that write, with the next one where it is their value.
fn without<'l>(
    mut list: impl Iterator<Item = &'l str>,
    has_value: impl Fn(&str) -> bool,
    is_dropped: impl Fn(&str) -> bool,
) -> Vec<&'l str> {
    let mut kept = Vec::new();
    while let Some(word) = list.next() {
        if has_value(word) {
            list.next();
        } else if !is_dropped(word) {
            kept.push(word);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(directory: &str, words: &str, site: CompileSite<'_>) -> String {
        let unit = SourceUnit {
            directory: directory.into(),
            arguments: words.split_whitespace().map(str::to_owned).collect(),
            file: "/tree/k/b.c".into(),
            reads: Vec::new(),
        };
        let words = rewrite_arguments(&unit, &unit.arguments[1..], site);
        words.join(" ".as_ref()).into_string().unwrap()
    }

    fn site() -> CompileSite<'static> {
        let (tree, build) = (Path::new("/tree"), Path::new("/tree/out"));
        CompileSite { tree, build, overlay: Some(Path::new("/over")) }
    }

    #[test]
    fn only_the_sources_are_replaced_and_nothing_else_is_written() {
        let words = "cc -Wp,-MMD,k/.b.o.d -I/tree/include -I ./include -include /tree/x.h -DA=/tree -femit-struct-debug-baseonly \
                     -flto=thin -S -o k/b.s /tree/k/b.c";
        let expected = "-I /over/include -I /tree/out/include -include /over/x.h -DA=/tree /over/k/b.c -g";
        assert_eq!(rewritten("/tree/out", words, site()), expected);
        let site = CompileSite { overlay: None, ..site() };
        assert!(rewritten("/tree/out", words, site).contains("/tree/k/b.c"));
    }

    #[test]
    fn what_writes_is_left_out_wherever_it_stands() {
        for words in [
            "-ok/b.o -aux-info k/b.X -dumpdir k/ -dumpbase b -dumpbase-ext .c -da",
            "-MD -MMD -MP -MFk/b.d -MT b.o -MQ b.o -MJ b.json -MG",
            "-Wa,-adhln=k/b.lst -Wa,-a=b.s,--MD,b.d -Xassembler -adhln=b.lst -Xassembler --MD -Xassembler b.d",
            "-Wp,-MD,b.d,-MT,b.o -Xclang -dependency-file -Xclang b.d -Xclang -stats-file=b.stats",
            "-save-temps=obj -fdump-tree-all -fdump-ipa-all=b -fprofile-generate=p -fprofile-arcs -fprofile-use",
            "--coverage -ftest-coverage -gsplit-dwarf -fcallgraph-info=su,da -fstack-usage -frecord-gcc-switches",
            "-fdiagnostics-format=sarif-file -fcompare-debug -freport-bug -fopt-info-all=b.opt -flto=auto",
            "-serialize-diagnostics b.dia -ftime-trace=b.json -fcrash-diagnostics-dir=c -fmodules-cache-path=m",
            "-index-store-path i -foptimization-record-file=r -fsave-optimization-record -save-stats=obj",
        ] {
            assert_eq!(rewritten("/tree/out", &format!("cc {words}"), site()), "-g", "{words}");
        }
        let kept =
            "-Wp,-DX,-MD,b.d -Wa,--gdwarf-5,-al=b.s -Xclang -fno-pch-timestamp -O2 -objc -mllvm -dx -x c";
        let expected = "-Wp,-DX -Wa,--gdwarf-5 -Xclang -fno-pch-timestamp -O2 -objc -mllvm -dx -x c -g";
        assert_eq!(rewritten("/tree/out", &format!("cc {kept}"), site()), expected);
    }

    #[test]
    fn relative_paths_hold_in_any_folder() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("s")).unwrap();
        std::fs::write(top.join("s/p.so"), "").unwrap();
        let (path, words) =
            (top.display(), "cc -fplugin=./s/p.so -Wa,-Is -isystems -B s -std=gnu11 -fmacro-prefix-map=s/=");
        let expected = format!(
            "-fplugin={path}/s/p.so -Wa,-I{path}/s -isystem {path}/s -B {path}/s -std=gnu11 -fmacro-prefix-map=s/= -g"
        );
        assert_eq!(rewritten(&path.to_string(), words, site()), expected);
        // What isn't in the folder is searched where -I says.
        std::fs::write(top.join("here.h"), "").unwrap();
        let words = "cc -Is -include here.h -imacros there.h";
        let expected = format!("-I {path}/s -include {path}/here.h -imacros there.h -g");
        assert_eq!(rewritten(&path.to_string(), words, site()), expected);
    }
}
