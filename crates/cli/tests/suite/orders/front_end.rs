//! `--build`: what a C front end shows of the units of a build, and how outputs say so.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

const HEADER: &str = "\
struct plain {
	char a;
	long b;
	char c;
};

struct wire {
	char kind;
	int length;
	char port;
} __attribute__((packed));

struct row {
	char a;
	long b;
	char c;
};
";

const UNIT: &str = "\
#include \"q.h\"
struct plain p;
struct wire w;
struct row rows[] = { { 1, 2, 3 } };
int main(void)
{
	return p.a;
}
";

fn fieldline(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// A tree of one unit, with its build and an object beside it.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// `None` if the machine has no front end.
    fn new() -> Option<Self> {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["tree", "out", "cache"] {
            fs::create_dir_all(project.path(folder)).unwrap();
        }
        fs::write(project.path("tree/q.h"), HEADER).unwrap();
        fs::write(project.path("tree/t.c"), UNIT).unwrap();
        let unit = project.text("tree/t.c");
        let database = serde_json::json!([{"directory": project.path("out"), "file": unit,
            "command": format!("cc -g -c -o t.o {unit}")}]);
        fs::write(project.path("out/compile_commands.json"), database.to_string()).unwrap();
        let args = ["-g", "-c", "-o", &project.text("t.o"), &unit];
        assert!(Command::new("cc").args(args).status().unwrap().success());
        let (_, text) = project.plan(&["plain"], &["--build", &project.text("out")]);
        let is_there = !text.contains("install libclang");
        let name = "libclang (libclang1-19, libclang-common-19-dev)";
        fieldline_testing::is_available(name, is_there).then_some(project)
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(inner)
    }

    fn text(&self, inner: &str) -> String {
        self.path(inner).display().to_string()
    }

    fn plan(&self, types: &[&str], rest: &[&str]) -> (Option<i32>, String) {
        let (program, tree, plan) = (self.text("t.o"), self.text("tree"), self.text("plan.json"));
        let own = ["--static", "--shuffle", "1", "--vmlinux", &program, "--tree", &tree, "-o", &plan];
        fieldline(&[&["plan"], types, &own, rest].concat())
    }

    fn patch(&self, rest: &[&str]) -> (Option<i32>, String) {
        let (tree, plan, out) = (self.text("tree"), self.text("plan.json"), self.text("patches"));
        let own = ["patch", "--plan", &plan, "--tree", &tree, "-o", &out];
        fieldline(&[&own, rest].concat())
    }

    /// The cover letter of a series, its lines joined.
    fn cover(&self) -> String {
        let (code, text) = self.patch(&["--series", "--from", "A <a@b.c>"]);
        assert_eq!(code, Some(0), "{text}");
        let letter = fs::read_to_string(self.path("patches/0000-cover-letter.patch")).unwrap();
        letter.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn every_output_says_which_proof_an_order_has() {
    let Some(project) = Project::new() else { return };
    let (code, text) = project.plan(&["plain"], &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("no use depends on this order: read as text"), "{text}");
    assert!(project.cover().contains("no use depends on this order: read as text."));
    let (code, text) = project.plan(&["plain"], &["--build", &project.text("out")]);
    assert_eq!(code, Some(0), "{text}");
    let proof = "no use depends on this order: 1 unit read by a C front end";
    assert!(text.contains(proof) && project.cover().contains(proof), "{text}");
}

#[test]
fn a_packed_struct_changes_only_for_a_reason_that_is_printed() {
    let Some(project) = Project::new() else { return };
    let out = project.text("out");
    let (code, text) = project.plan(&["wire"], &["--build", &out]);
    assert_eq!((code, text.contains("q.h:7")), (Some(1), true), "{text}");
    let (code, text) = project.plan(&["wire"], &["--build", &out, "--allow", "both ends change"]);
    assert_eq!((code, text.contains("(both ends change)")), (Some(0), true), "{text}");
    let cover = project.cover();
    assert!(cover.contains("changes all the same (both ends change)"), "{cover}");
    assert!(cover.contains("packed") && cover.contains("q.h:7"), "{cover}");
    let (plan, tree) = (project.text("plan.json"), project.text("tree"));
    let (code, text) = fieldline(&["verify", "--plan", &plan, "--tree", &tree, "--build", &out]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_plan_made_without_the_tree_is_held_against_the_build() {
    let Some(project) = Project::new() else { return };
    let (program, plan, out) = (project.text("t.o"), project.text("plan.json"), project.text("out"));
    let args = ["plan", "plain", "row", "--static", "--shuffle", "3", "--vmlinux", &program, "-o", &plan];
    let (code, text) = fieldline(&args);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = project.patch(&["--build", &out, "--vmlinux", &program]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("refused: struct row: ") && text.contains("by position"), "{text}");
    assert!(!text.contains("struct plain") && text.contains("wrote"), "{text}");
    let (code, text) = project.patch(&["--build", &out]);
    assert_eq!((code, text.contains("--vmlinux")), (Some(2), true), "{text}");
}

#[test]
fn a_missing_front_end_is_named_with_its_packages() {
    let Some(project) = Project::new() else { return };
    let (program, tree, out) = (project.text("t.o"), project.text("tree"), project.text("out"));
    let args = ["plan", "plain", "--static", "--vmlinux", &program, "--tree", &tree, "--build", &out];
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    let output = command.args(args).env("LIBCLANG_PATH", project.path("cache")).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("libclang1-19") && text.contains("libclang-common-19-dev"), "{text}");
}
