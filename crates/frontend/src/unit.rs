//! A unit as a build compiles it.

use crate::records::absolute;
use std::path::{Path, PathBuf};

/// A source file with the command that compiles it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceUnit {
    /// The source, absolute.
    pub file: PathBuf,
    /// The folder the command runs in.
    pub directory: PathBuf,
    /// The compiler and its arguments, of gcc or of clang.
    pub arguments: Vec<String>,
    /// Other files the unit reads, absolute; empty where nobody kept it.
    pub reads: Vec<PathBuf>,
}

impl SourceUnit {
    /// Whether a unit is compiled for a kernel, as kbuild says it (KBUILD_CPPFLAGS of the kernel's Makefile). Programs that
    /// only run while a kernel is built are not.
    pub fn is_of_kernel(&self) -> bool {
        self.arguments.iter().any(|word| word == "-D__KERNEL__")
    }
}

/// Options whose value is the next word and that the front end is not given.
const DROPPED_PAIRS: [&str; 21] = [
    "-o",
    "-MF",
    "-MT",
    "-MQ",
    "-Xassembler",
    "-Xlinker",
    "-Xpreprocessor",
    "-T",
    "-u",
    "-z",
    "-L",
    "-dumpdir",
    "-dumpbase",
    "-dumpbase-ext",
    "-aux-info",
    "-MJ",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
    "-index-store-path",
    "-index-unit-output-path",
    "-wrapper",
];
/// Options whose value is the next word, or the rest of the word.
const KEPT_PAIRS: [&str; 13] = [
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "--sysroot",
    "-iprefix",
    "-iwithprefixbefore",
    "-iwithprefix",
    "-I",
    "-D",
    "-U",
];
/// Options of code generation that change what the preprocessor defines or how types are laid out.
const KEPT: [&str; 58] = [
    "-std=",
    "-ansi",
    "-pthread",
    "-nostdinc",
    "-undef",
    "-O",
    "-fshort-enums",
    "-fno-short-enums",
    "-fpack-struct",
    "-fms-extensions",
    "-fplan9-extensions",
    "-fsigned-char",
    "-funsigned-char",
    "-fno-signed-char",
    "-fno-unsigned-char",
    "-fshort-wchar",
    "-fno-short-wchar",
    "-fexceptions",
    "-fno-exceptions",
    "-frtti",
    "-fno-rtti",
    "-fopenmp",
    "-ffreestanding",
    "-fno-builtin",
    "-fgnu89-inline",
    "-fblocks",
    "-fcoroutines",
    "-fchar8_t",
    "-fno-char8_t",
    "-fpermissive",
    "-fms-compatibility",
    "-fdelayed-template-parsing",
    "-fstrict-flex-arrays",
    "-fPIC",
    "-fpic",
    "-fPIE",
    "-fpie",
    "-fno-PIE",
    "-fno-pie",
    "-fcommon",
    "-fno-common",
    "-fwrapv",
    "-fcf-protection",
    "-fstack-protector",
    "-ffast-math",
    "-fsized-deallocation",
    "-faligned-new",
    "--target=",
    "-m32",
    "-m64",
    "-mx32",
    "-m16",
    "-march=",
    "-mcpu=",
    "-mabi=",
    "-mfpu=",
    "-mfloat-abi=",
    "--sysroot=",
];
/// Options of processors: whole families.
const KEPT_MACHINE: [&str; 14] = [
    "-msse",
    "-mno-sse",
    "-mavx",
    "-mno-avx",
    "-mmmx",
    "-mno-mmx",
    "-mcmodel=",
    "-mms-bitfields",
    "-mlong-double",
    "-mgeneral-regs-only",
    "-mbig-endian",
    "-mlittle-endian",
    "-maes",
    "-mpclmul",
];

/// Errors of clang that are warnings of GCC up to 13: what the build's compiler takes is read.
const ALLOWED: [&str; 4] = [
    "implicit-function-declaration",
    "implicit-int",
    "int-conversion",
    "incompatible-function-pointer-types",
];

/// The command line the front end is given. Nothing in it writes files.
pub(crate) fn words(unit: &SourceUnit, resources: &Path) -> Vec<String> {
    let compiler = unit.arguments.first().map(String::as_str).unwrap_or_default();
    // With its folder: clang finds the headers of GCC's C++ library from there. From an empty one it goes by `/../lib`,
    // a link to another folder, and the paths that it then gives lead nowhere once `..` is taken out of them.
    let mut words = vec![if is_cpp(compiler) { "/usr/bin/clang++" } else { "/usr/bin/clang" }.to_owned()];
    words.extend(target(compiler));
    words.push(format!("-resource-dir={}", resources.display()));
    words.push(format!("-working-directory={}", unit.directory.display()));
    words.extend(["-w", "-fsyntax-only", "-ferror-limit=50", "-Wno-error"].map(str::to_owned));
    words.extend(ALLOWED.map(|warning| format!("-Wno-error={warning}")));
    let include = resources.join("include").display().to_string();
    let mut rest = unit.arguments.iter().skip(1).flat_map(|word| preprocessor(word)).peekable();
    while let Some(word) = rest.next() {
        if DROPPED_PAIRS.contains(&word.as_str()) {
            rest.next();
        } else if word == "-x" || word == "-arch" || word == "-target" {
            words.extend([Some(word), rest.next()].into_iter().flatten());
        } else if let Some(option) = KEPT_PAIRS.iter().find(|option| word.starts_with(**option)) {
            let value = match word.strip_prefix(option) {
                Some("") => rest.next().unwrap_or_default(),
                Some(value) => value.trim_start_matches('=').to_owned(),
                None => continue,
            };
            let value = if is_of_gcc(&value) { include.clone() } else { value };
            words.extend([(*option).to_owned(), value]);
        } else if KEPT.iter().chain(&KEPT_MACHINE).any(|kept| word.starts_with(kept)) {
            words.push(word);
        }
    }
    // No `--` in front of it: libclang adds options of its own behind the words.
    words.push(absolute(&unit.directory, &unit.file).display().to_string());
    words
}

fn base(compiler: &str) -> &str {
    compiler.rsplit('/').next().unwrap_or(compiler)
}

fn is_cpp(compiler: &str) -> bool {
    base(compiler)
        .trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-' || letter == '.')
        .ends_with("++")
}

/// `aarch64-linux-gnu-gcc-12` compiles for another machine.
fn target(compiler: &str) -> Option<String> {
    let name = base(compiler);
    let end = ["-gcc", "-g++", "-cc", "-c++"].iter().find_map(|end| name.find(end))?;
    let target = name.get(..end)?;
    (target.matches('-').count() >= 2).then(|| format!("--target={target}"))
}

/// gcc's own headers are of no use to clang, which has its own.
fn is_of_gcc(folder: &str) -> bool {
    folder.contains("/lib/gcc") && (folder.ends_with("/include") || folder.ends_with("/include/"))
}

/// `-Wp,-DX,-MMD,file`: what it defines.
fn preprocessor(word: &str) -> Vec<String> {
    let Some(list) = word.strip_prefix("-Wp,") else { return vec![word.to_owned()] };
    let kept =
        |option: &&str| option.starts_with("-D") || option.starts_with("-U") || option.starts_with("-I");
    list.split(',').filter(kept).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(command: &str) -> String {
        let arguments = command.split(' ').map(str::to_owned).collect();
        let unit = SourceUnit { file: "a.c".into(), directory: "/b".into(), arguments, reads: Vec::new() };
        words(&unit, Path::new("/r")).get(7 + ALLOWED.len()..).unwrap_or_default().join(" ")
    }

    #[test]
    fn what_writes_warns_or_is_of_gcc_alone_is_left_out() {
        let end = " /b/a.c";
        for (given, expected) in [
            ("gcc -c -o a.o -MMD -MF a.d -MT a.o -MP a.c", ""),
            ("gcc -Wall -Werror -Wp,-MMD,x.d -save-temps --coverage -g a.c", ""),
            ("gcc -Wp,-DX=1,-MD,a.d a.c", "-D X=1"),
            (
                "gcc -aux-info -Ia.x -dumpbase-ext -Dx -Wa,-adhln=a.s -fcallgraph-info=su -fdump-tree-all=-O a.c",
                "",
            ),
            (
                "clang -serialize-diagnostics -O.dia -MJ -Dj -index-store-path -Ii -fmodules -fmodules-cache-path=m \
                 -ftime-trace=t.json -fsave-optimization-record -foptimization-record-file=r -save-stats=obj \
                 -fcrash-diagnostics-dir=c -fprofile-generate=p a.c",
                "",
            ),
            (
                "gcc -Iinc -I inc2 -isystem s -DX -D Y=1 -UZ -include k.h a.c",
                "-I inc -I inc2 -isystem s -D X -D Y=1 -U Z -include k.h",
            ),
            (
                "gcc -std=gnu11 -O2 -m32 -march=x86-64 -fshort-enums -fpack-struct=4 a.c",
                "-std=gnu11 -O2 -m32 -march=x86-64 -fshort-enums -fpack-struct=4",
            ),
            (
                "gcc -fconserve-stack -fplugin=x.so -mpreferred-stack-boundary=3 -mindirect-branch=thunk a.c",
                "",
            ),
            ("gcc -isystem /usr/lib/gcc/x86_64-linux-gnu/14/include a.c", "-isystem /r/include"),
        ] {
            assert_eq!(kept(given), format!("{expected}{end}").trim_start(), "{given}");
        }
    }

    #[test]
    fn compilers_tell_language_and_machine() {
        assert!(is_cpp("/usr/bin/g++-12") && is_cpp("clang++") && !is_cpp("gcc"));
        assert_eq!(target("/x/aarch64-linux-gnu-gcc-12").as_deref(), Some("--target=aarch64-linux-gnu"));
        assert_eq!(target("gcc"), None);
    }
}
