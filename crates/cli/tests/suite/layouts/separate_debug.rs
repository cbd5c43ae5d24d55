//! Programs that were stripped of their debug info: every command finds it in the file of its own, or says where it looked.

use fieldline_debuginfo::{Elf, FileBytes, hex};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SOURCE: &str = "struct hot {\n\tchar a;\n\tlong b;\n\tchar c;\n};\nstruct hot the_hot;\n\
    int main(void)\n{\n\tthe_hot.b = 3;\n\treturn the_hot.a;\n}\n";

fn fieldline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap()
}

fn run(program: &str, args: &[&str]) {
    let output = Command::new(program).args(args).output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A program with debug info, the same without, and its debug file, in folders of their own.
struct Stripped {
    folder: tempfile::TempDir,
}

impl Stripped {
    /// `None` if the programs for it are missing.
    fn new(build_id: &str) -> Option<Self> {
        if !fieldline_testing::has_programs(&["gcc", "objcopy"]) {
            return None;
        }
        let made = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["whole", "bin", "kept"] {
            std::fs::create_dir(made.path(folder)).unwrap();
        }
        std::fs::write(made.path("a.c"), SOURCE).unwrap();
        let (source, whole, debug) =
            (made.text("a.c"), made.text("whole/prog"), made.text("kept/prog.debug"));
        run("gcc", &["-g", "-O1", &format!("-Wl,--build-id={build_id}"), "-o", &whole, &source]);
        run("objcopy", &["--only-keep-debug", &whole, &debug]);
        let link = format!("--add-gnu-debuglink={debug}");
        run("objcopy", &["--strip-all", &link, &whole, &made.text("bin/prog")]);
        Some(made)
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().join(inner)
    }

    fn text(&self, inner: &str) -> String {
        self.path(inner).display().to_string()
    }

    fn build_id(&self) -> String {
        let bytes = FileBytes::open(&self.path("whole/prog")).unwrap();
        hex(Elf::parse(&bytes).unwrap().build_id().unwrap())
    }

    /// Copies the debug file to a place.
    fn put(&self, inner: &str) {
        std::fs::create_dir_all(self.path(inner).parent().unwrap()).unwrap();
        std::fs::copy(self.path("kept/prog.debug"), self.path(inner)).unwrap();
    }

    /// The exit code and output of each command on a program.
    fn results(&self, program: &str, more: &[&str]) -> Vec<(Option<i32>, String, String)> {
        let (program, made, config) = (self.text(program), self.text("made"), self.text("fieldline.toml"));
        let text = format!("types = [\"hot\"]\n[target.x]\nfile = \"{program}\"\n");
        std::fs::write(&config, text).unwrap();
        let first = self.text("first.toml");
        let _ = std::fs::remove_file(&first);
        let commands: [&[&str]; 11] = [
            &["layout", "hot", "--vmlinux", &program],
            &["plan", "hot", "--static", "--vmlinux", &program],
            &["explain", "main", "--program", &program],
            &["diff", &program, &self.text("whole/prog"), "hot"],
            &["diff", &self.text("whole/prog"), &program, "hot"],
            &["baseline", "hot", "--vmlinux", &program, "-o", &made],
            &["init", "hot", "--vmlinux", &program, "-o", &first],
            &["check", "--config", &config],
            &["place", "hot", "--member", "long x", "--vmlinux", &program],
            &["plan", "hot", "--static", "--vmlinux", &self.text("whole/prog"), "--also", &program],
            &[
                "record",
                "--object",
                "hot@the_hot",
                "--program",
                &program,
                "--for",
                "0.1",
                "--members",
                "none",
                "--",
                &program,
            ],
        ];
        let run = |words: &[&str]| {
            let output = fieldline(&[words, more].concat());
            let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&program, "PROGRAM");
            (output.status.code(), plain(&output.stdout), plain(&output.stderr))
        };
        commands
            .iter()
            .map(|words| match words.iter().position(|word| *word == "--") {
                // What stands behind `--` is the recorded program's.
                Some(_) => run_before(words, more, &program),
                None => run(words),
            })
            .collect()
    }
}

/// As other commands, with the options in front of `--`.
fn run_before(words: &[&str], more: &[&str], program: &str) -> (Option<i32>, String, String) {
    let output = fieldline(&[&words[..1], more, &words[1..]].concat());
    let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(program, "PROGRAM");
    (output.status.code(), plain(&output.stdout), plain(&output.stderr))
}

#[test]
fn every_command_finds_the_debug_file_in_every_place() {
    let Some(made) = Stripped::new("sha1") else { return };
    let expected = made.results("whole/prog", &[]);
    assert!(expected[..10].iter().all(|(code, ..)| *code == Some(0)), "{expected:?}");
    let id = made.build_id();
    let by_id = format!(".build-id/{}/{}.debug", &id[..2], &id[2..]);
    let given = made.text("given");
    let by_folder = ["--debug-dir", given.as_str()];
    for (place, more) in [
        ("bin/prog.debug".to_owned(), &[][..]),
        ("bin/.debug/prog.debug".to_owned(), &[]),
        (format!("given/{by_id}"), &by_folder),
        ("given/prog.debug".to_owned(), &by_folder),
    ] {
        made.put(&place);
        for (found, wanted) in made.results("bin/prog", more).into_iter().zip(&expected) {
            assert_eq!((found.0, &found.1), (wanted.0, &wanted.1), "{place}: {}", found.2);
        }
        std::fs::remove_file(made.path(&place)).unwrap();
    }
}

#[test]
fn without_a_debug_file_every_command_says_what_it_looked_for() {
    let Some(made) = Stripped::new("sha1") else { return };
    let (id, given) = (made.build_id(), made.text("given"));
    std::fs::create_dir(&given).unwrap();
    for (code, _, error) in made.results("bin/prog", &["--debug-dir", &given]) {
        assert_eq!(code, Some(2), "{error}");
        for part in [&id, "prog.debug", &given, "/usr/lib/debug", "-dbgsym", "debuginfod-find debuginfo"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}

#[test]
fn a_debug_file_of_another_build_is_refused() {
    // Without build IDs, the checksum tells.
    for build_id in ["sha1", "none"] {
        let (Some(made), Some(other)) = (Stripped::new(build_id), Stripped::new(build_id)) else { return };
        std::fs::write(other.path("a.c"), format!("{SOURCE}int more;\n")).unwrap();
        let whole = other.text("whole/prog");
        run("gcc", &["-g", &format!("-Wl,--build-id={build_id}"), "-o", &whole, &other.text("a.c")]);
        run("objcopy", &["--only-keep-debug", &whole, &made.text("bin/prog.debug")]);
        let layout = |made: &Stripped| fieldline(&["layout", "hot", "--vmlinux", &made.text("bin/prog")]);
        let output = layout(&made);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        let why = if build_id == "none" { "says checksum" } else { "is the debug file of build id" };
        assert!(error.contains(why) && error.contains("prog.debug"), "{error}");
        // A right one in a later place is found nevertheless.
        made.put("bin/.debug/prog.debug");
        assert_eq!(layout(&made).status.code(), Some(0));
    }
}

#[test]
fn a_pipe_in_place_of_a_debug_file_is_named() {
    let Some(made) = Stripped::new("sha1") else { return };
    if !fieldline_testing::has_programs(&["mkfifo"]) {
        return;
    }
    run("mkfifo", &[&made.text("bin/prog.debug")]);
    let output = fieldline(&["layout", "hot", "--vmlinux", &made.text("bin/prog")]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("prog.debug: a pipe (FIFO)"), "{error}");
}

#[test]
fn supplementary_files_are_found_in_the_same_folders() {
    let Some(made) = Stripped::new("sha1") else { return };
    // Any file of that build id will do: nothing in the DWARF refers to it.
    let id = made.build_id();
    let (head, tail) = (&id[..2], &id[2..]);
    let bytes: Vec<u8> =
        (0..id.len() / 2).map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).unwrap()).collect();
    std::fs::write(made.path("link"), [b"gone/common.debug\0", bytes.as_slice()].concat()).unwrap();
    let linked = made.text("linked");
    let add = format!(".gnu_debugaltlink={}", made.text("link"));
    run("objcopy", &["--add-section", &add, &made.text("whole/prog"), &linked]);
    let given = made.text("given");
    let layout = || fieldline(&["layout", "hot", "--vmlinux", &linked, "--debug-dir", &given]);
    let output = layout();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    for part in ["gone/common.debug", &id, &given, "debuginfod-find"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    made.put(&format!("given/.build-id/{head}/{tail}.debug"));
    let output = layout();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(Path::new(&given).is_dir());
}
