//! Versions, completions and manual pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fieldline(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code(), text)
}

/// The build script, compiled for itself, and a source tree to run it for.
struct BuildScript {
    folder: tempfile::TempDir,
}

impl BuildScript {
    fn new() -> Self {
        let script = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(script.crate_folder()).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs");
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut compiler = Command::new(rustc);
        compiler.args(["--edition=2024", "-o"]).arg(script.folder.path().join("script")).arg(source);
        assert!(compiler.status().unwrap().success());
        script
    }

    fn top(&self) -> PathBuf {
        self.folder.path().join("source")
    }

    fn crate_folder(&self) -> PathBuf {
        self.top().join("crates/cli")
    }

    /// The version it finds, and the files that it has cargo watch.
    fn run(&self, variables: &[(&str, &str)]) -> (String, Vec<PathBuf>) {
        let mut command = Command::new(self.folder.path().join("script"));
        command.env("CARGO_MANIFEST_DIR", self.crate_folder()).env("CARGO_PKG_VERSION", "1.2.3");
        command.env_remove("FIELDLINE_COMMIT");
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let value = |line: &str, key: &str| line.strip_prefix(key).map(str::to_owned);
        let version = text.lines().find_map(|line| value(line, "cargo::rustc-env=FIELDLINE_VERSION="));
        let watched = text.lines().filter_map(|line| value(line, "cargo::rerun-if-changed="));
        (version.unwrap(), watched.map(PathBuf::from).collect())
    }

    fn version(&self, variables: &[(&str, &str)]) -> String {
        self.run(variables).0
    }
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=A", "-c", "user.email=a@b.c"]).args(args);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(folder: &Path) -> String {
    git(folder, &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(folder, &["rev-parse", "HEAD"])[..12].to_owned()
}

#[test]
fn the_version_names_a_commit_only_where_it_is_known() {
    if !fieldline_testing::has_programs(&["git"]) {
        return;
    }
    let script = BuildScript::new();
    assert_eq!(script.version(&[]), "1.2.3", "a source without git");
    git(script.folder.path(), &["init", "-q"]);
    commit(script.folder.path());
    assert_eq!(script.version(&[]), "1.2.3", "unpacked within another repository");

    let packaged =
        "{\n  \"git\": {\n    \"sha1\": \"0123456789abcdef0123\"\n  },\n  \"path_in_vcs\": \"crates/cli\"\n}";
    fs::write(script.crate_folder().join(".cargo_vcs_info.json"), packaged).unwrap();
    assert_eq!(script.version(&[]), "1.2.3 (0123456789ab)", "a package of cargo");
    fs::remove_file(script.crate_folder().join(".cargo_vcs_info.json")).unwrap();

    git(&script.top(), &["init", "-q"]);
    assert_eq!(script.version(&[]), "1.2.3", "a repository without a commit");
    let first = commit(&script.top());
    let (version, watched) = script.run(&[]);
    assert_eq!(version, format!("1.2.3 ({first})"));
    let lengths = |paths: &[PathBuf]| paths.iter().map(|path| fs::metadata(path).unwrap().len()).sum::<u64>();
    // Some of these files changes when the head does.
    let watched: Vec<PathBuf> = watched.into_iter().filter(|path| path.is_absolute()).collect();
    let before = lengths(&watched);
    let second = commit(&script.top());
    assert!(lengths(&watched) > before, "{watched:?}");
    assert_eq!(script.version(&[]), format!("1.2.3 ({second})"));

    let given = [("FIELDLINE_COMMIT", "ABCDEF0123456789")];
    assert_eq!(script.version(&given), "1.2.3 (abcdef012345)", "the packager's");
    assert_eq!(script.version(&[("FIELDLINE_COMMIT", "v1.2 of today")]), format!("1.2.3 ({second})"));
}

#[test]
fn the_version_is_one_line_with_the_crates_version() {
    let (code, text) = fieldline(&["--version"]);
    let rest = text.strip_prefix(concat!("fieldline ", env!("CARGO_PKG_VERSION"))).unwrap();
    assert!(code == Some(0) && text.lines().count() == 1, "{text}");
    assert!(rest == "\n" || rest.starts_with(" ("), "{text}");
}

#[test]
fn bash_completes_commands_options_and_values() {
    if !fieldline_testing::has_programs(&["bash"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("fieldline.bash");
    let (code, text) = fieldline(&["completions", "bash"]);
    assert_eq!(code, Some(0), "{text}");
    fs::write(&script, text).unwrap();
    let completed = |words: &str| {
        let line = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _fieldline fieldline \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo ${{COMPREPLY[@]}}",
            script.display()
        );
        let output = Command::new("bash").args(["--norc", "-c", &line]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(completed("fieldline prop"), "propose");
    assert_eq!(completed("fieldline layout --exp"), "--expand");
    assert_eq!(completed("fieldline layout --format pa"), "pahole");
    assert_eq!(completed("fieldline guest record --kas"), "--kaslr");
}

#[test]
fn manual_pages_are_written_for_all_commands_and_printed_for_each() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let (code, text) = fieldline(&["man", "-o", pages.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{text}");
    let written =
        fs::read_dir(&pages).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let written: Vec<String> = written.collect();
    assert!(written.contains(&"fieldline.1".to_owned()) && written.len() > 20, "{written:?}");
    for name in written {
        let command = name.strip_prefix("fieldline").and_then(|rest| rest.strip_suffix(".1")).unwrap();
        let page = fs::read_to_string(pages.join(&name)).unwrap();
        assert!(page.starts_with(&format!(".TH fieldline{command} 1 ")), "{page}");
        let words = ["man", command.trim_start_matches('-')];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        assert_eq!(fieldline(&words), (Some(0), page));
    }
    let page = fs::read_to_string(pages.join("fieldline-guest-record.1")).unwrap();
    assert_eq!(fieldline(&["man", "guest", "record"]), (Some(0), page));
    let (code, text) = fieldline(&["man", "nosuch"]);
    assert!(code == Some(2) && text.contains("nosuch: not a command"), "{text}");
}
