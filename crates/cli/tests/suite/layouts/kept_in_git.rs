//! Files in a git repository, compared at some revision.

use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    path.to_str().unwrap().to_owned()
}

/// A git with a folder `sub` that keeps a baseline in two versions.
struct Git {
    folder: tempfile::TempDir,
}

impl Git {
    /// `None` without git.
    fn new() -> Option<Self> {
        if !fieldline_testing::has_programs(&["git"]) {
            return None;
        }
        let git = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(git.sub()).unwrap();
        git.git(&["init", "-q", "."]);
        let (code, out) =
            git.fieldline(&["baseline", "--vmlinux", &fixture("demo/shaper"), "tx_class", "-o", "kept.json"]);
        assert_eq!(code, 0, "{out}");
        let now = std::fs::read_to_string(git.sub().join("kept.json")).unwrap();
        std::fs::write(git.sub().join("kept.json"), now.replace("\"deficit\"", "\"credit\"")).unwrap();
        git.commit();
        std::fs::write(git.sub().join("kept.json"), now).unwrap();
        std::fs::copy(fixture("demo/shaper"), git.sub().join("shaper")).unwrap();
        git.commit();
        Some(git)
    }

    fn sub(&self) -> PathBuf {
        self.folder.path().join("sub")
    }

    fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(self.folder.path()).args(["-c", "user.email=a@localhost", "-c", "user.name=a"]);
        let output = git.args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "layouts"]);
    }

    /// In the folder `sub`.
    fn fieldline(&self, args: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
        let output = command.current_dir(self.sub()).args(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout) + &text(&output.stderr))
    }

    /// Names and content of all files, those of the git too.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut found, mut folders) = (Vec::new(), vec![self.folder.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path)
                } else {
                    found.push((path.clone(), std::fs::read(path).unwrap()))
                }
            }
        }
        found.sort();
        found
    }
}

#[test]
fn an_earlier_baseline_or_program_is_compared_and_nothing_is_written() {
    let Some(git) = Git::new() else { return };
    let config =
        "types = [\"tx_class\"]\n[target.demo]\nfile = \"shaper\"\nagainst = \"git:HEAD:kept.json\"\n";
    std::fs::write(git.sub().join("fieldline.toml"), config).unwrap();
    let before = git.files();
    let (code, out) = git.fieldline(&["check"]);
    assert_eq!(code, 0, "{out}");
    let earlier = ["check", "--format", "json", "--against", "git:HEAD~1:kept.json"];
    let (code, out) = git.fieldline(&earlier);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("\"against\": \"git:HEAD~1:kept.json\""), "{out}");
    assert_eq!(git.fieldline(&["check", "--against", "git:HEAD:./shaper"]).0, 0);
    let (code, out) = git.fieldline(&["diff", "git:HEAD~1:kept.json", "shaper"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("renamed   credit -> deficit"), "{out}");
    assert!(git.files() == before, "something was written");
}

#[test]
fn paths_in_a_configuration_count_from_its_folder() {
    let Some(git) = Git::new() else { return };
    let config =
        "types = [\"tx_class\"]\n[target.demo]\nfile = \"shaper\"\nagainst = \"git:HEAD:kept.json\"\n";
    std::fs::write(git.sub().join("fieldline.toml"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    let config = git.sub().join("fieldline.toml");
    let output = command.args(["check", "--config"]).arg(config).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_a_git_does_not_have_is_an_error_that_says_what() {
    let Some(git) = Git::new() else { return };
    let against = |text: &str| {
        let config =
            format!("types = [\"tx_class\"]\n[target.demo]\nfile = \"shaper\"\nagainst = \"{text}\"\n");
        std::fs::write(git.sub().join("fieldline.toml"), config).unwrap();
        let (code, out) = git.fieldline(&["check"]);
        assert_eq!(code, 2, "{out}");
        assert!(out.contains("target demo"), "{out}");
        out
    };
    assert!(against("git:HEAD:gone.json").contains("git:HEAD:gone.json: git has no such file"));
    assert!(against("git:nowhere:kept.json").contains("nowhere"));
    assert!(against("git:HEAD").contains("git:REV:FILE is expected"));
    assert!(against("git:HEAD:/etc/passwd").contains("absolute"));
    std::fs::remove_dir_all(git.folder.path().join(".git")).unwrap();
    let out = against("git:HEAD:kept.json");
    assert!(out.contains("git:HEAD:kept.json") && out.contains("repository"), "{out}");
}

#[test]
fn a_finding_against_git_is_accepted_by_a_commit() {
    let Some(git) = Git::new() else { return };
    let kept = git.sub().join("kept.json");
    let now = std::fs::read_to_string(&kept).unwrap();
    std::fs::write(&kept, now.replace("\"align\":64,", "\"align\":128,")).unwrap();
    git.commit();
    let config = "types = [\"tx_class\"]\n[target.t]\nfile = \"shaper\"\nagainst = \"git:HEAD:kept.json\"\n";
    std::fs::write(git.sub().join("fieldline.toml"), config).unwrap();
    let (code, out) = git.fieldline(&["check"]);
    assert_eq!(code, 1, "{out}");
    let command = "baseline --vmlinux shaper tx_class -o kept.json";
    assert!(out.contains(&format!("to accept it: fieldline {command}, and commit it")), "{out}");
    let (code, out) = git.fieldline(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(code, 0, "{out}");
    git.commit();
    assert_eq!(git.fieldline(&["check"]).0, 0);
}
