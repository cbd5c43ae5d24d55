//! Structs that can't be read, structs that hold one another, and tests run with a patch.

use fieldline_testing::has_programs;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const HEADER: &str = "\
struct inner {
	char a;
	long b;
	char c;
};

struct outer {
	char x;
	struct inner held;
	char y;
	long rest[4];
};
";

fn fieldline(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// A project of one program, with a makefile that builds and runs it, and objects beside it.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(project.path("tree")).unwrap();
        fs::create_dir_all(project.path("out")).unwrap();
        project.write("tree/q.h", HEADER);
        project.write(
            "tree/t.c",
            "#include \"q.h\"\nstruct outer o;\nint main(void)\n{\n\treturn o.held.a;\n}\n",
        );
        project.write("tree/Makefile", "check: t\n\t./t\nt: t.c q.h\n\tcc -g -o t t.c\n");
        let tree = project.text("tree");
        let database = serde_json::json!([{"directory": project.path("out"), "file": format!("{tree}/t.c"),
            "command": format!("cc -g -c -o t.o {tree}/t.c")}]);
        project.write("out/compile_commands.json", &database.to_string());
        let args = ["-g", "-c", "-o", &project.text("t.o"), &project.text("tree/t.c")];
        assert!(Command::new("cc").args(args).status().unwrap().success());
        project
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(inner)
    }

    fn text(&self, inner: &str) -> String {
        self.path(inner).display().to_string()
    }

    fn write(&self, inner: &str, text: &str) {
        fs::write(self.path(inner), text).unwrap();
    }

    fn plan(&self, types: &[&str]) -> (Option<i32>, String) {
        let (program, tree, plan) = (self.text("t.o"), self.text("tree"), self.text("plan.json"));
        let rest = ["--static", "--vmlinux", &program, "--tree", &tree, "-o", &plan];
        fieldline(&[&["plan"], types, &rest].concat())
    }

    fn verify(&self, rest: &[&str]) -> (Option<i32>, String) {
        let (plan, tree) = (self.text("plan.json"), self.text("tree"));
        fieldline(&[&["verify", "--plan", &plan, "--tree", &tree], rest].concat())
    }
}

#[test]
fn a_struct_that_cannot_be_read_does_not_stop_the_others() {
    let project = Project::new();
    let (code, text) = project.plan(&["nosuch", "inner"]);
    assert_eq!(code, Some(1), "{text}");
    let plan: Value = serde_json::from_slice(&fs::read(project.path("plan.json")).unwrap()).unwrap();
    assert_eq!(
        (&plan["structs"][0]["outcome"], &plan["structs"][1]["outcome"]),
        (&"refused".into(), &"moved".into())
    );
    assert!(plan["structs"][0]["reason"].as_str().unwrap().contains("nosuch"), "{plan}");
    let (plan, tree, out) = (project.text("plan.json"), project.text("tree"), project.text("patches"));
    let (code, text) = fieldline(&["patch", "--plan", &plan, "--tree", &tree, "-o", &out]);
    assert_eq!(
        (code, text.contains("refused: struct nosuch"), text.contains("wrote")),
        (Some(1), true, true),
        "{text}"
    );
    // If none can be read, something else was given.
    assert_eq!(project.plan(&["nosuch"]).0, Some(2));
    // A declaration that isn't in the tree.
    project.write("tree/q.h", &HEADER.replace("struct inner {", "struct other {"));
    let (code, text) = project.plan(&["inner", "outer"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("struct inner: refused") && text.contains("struct outer"), "{text}");
}

#[test]
fn a_refusal_without_a_reason_is_no_plan() {
    let project = Project::new();
    project.plan(&["nosuch", "inner"]);
    let mut plan: Value = serde_json::from_slice(&fs::read(project.path("plan.json")).unwrap()).unwrap();
    plan["structs"][0].as_object_mut().unwrap().remove("reason");
    project.write("plan.json", &plan.to_string());
    let (code, text) = project.verify(&["--test", "true"]);
    assert_eq!((code, text.contains("reason")), (Some(2), true), "{text}");
}

#[test]
fn an_inner_struct_that_shrinks_shrinks_its_holder() {
    if !has_programs(&["cc", "git"]) {
        return;
    }
    let project = Project::new();
    let (code, text) = project.plan(&["outer", "inner"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.matches("move").count() >= 2, "{text}");
    let (code, text) = project.verify(&["--build", &project.text("out")]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("outer") && text.contains("as predicted"), "{text}");
    // Objects built with the patch, with and without those before it.
    let (plan, tree, out) = (project.text("plan.json"), project.text("tree"), project.text("patches"));
    fieldline(&["patch", "--plan", &plan, "--tree", &tree, "-o", &out]);
    let patch = project.text("patches/0001-q-h.patch");
    assert!(Command::new("git").args(["apply", &patch]).current_dir(&tree).status().unwrap().success());
    let (before, after) = (project.text("t.o"), project.text("after.o"));
    let args = ["-g", "-c", "-o", &after, &project.text("tree/t.c")];
    assert!(Command::new("cc").args(args).status().unwrap().success());
    for object in [format!("{after}={before}"), after] {
        let (code, text) = fieldline(&["verify", "--plan", &plan, "--vmlinux", &object]);
        assert_eq!(code, Some(0), "{object}: {text}");
    }
}

#[test]
fn tests_run_without_and_with_the_patch() {
    if !has_programs(&["cc", "make"]) {
        return;
    }
    let project = Project::new();
    assert_eq!(project.plan(&["inner"]).0, Some(0));
    let (code, text) = project.verify(&["--test", "make -s check"]);
    assert_eq!((code, text.contains("passes without and with the patch")), (Some(0), true), "{text}");
    assert!(!project.path("tree/t").exists());
    // A test that depends on the order.
    let logs = project.text("logs");
    let command =
        "make -s check && test \"$(sed -n 3p q.h)\" = '\tlong b;' || { echo order FAILED; exit 9; }";
    let (code, text) = project.verify(&["--test", command, "-o", &logs]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("fails with exit code 9") && text.contains("only with the patch: order FAILED"),
        "{text}"
    );
    assert!(fs::read_to_string(project.path("logs/with.log")).unwrap().contains("order FAILED"));
    assert_eq!(fs::read_to_string(project.path("tree/q.h")).unwrap(), HEADER);
    let (code, text) = project.verify(&["--test", "no-such-command"]);
    assert_eq!((code, text.contains("can't run it")), (Some(2), true), "{text}");
    let (code, text) = project.verify(&["--test", "sleep 20", "--timeout", "1"]);
    assert_eq!((code, text.contains("--timeout")), (Some(2), true), "{text}");
}
