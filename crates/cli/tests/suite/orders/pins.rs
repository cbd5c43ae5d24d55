//! Pins from a file, and limits from the rest of a source tree, on the built-in example.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo").join(name)
}

fn fieldline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap()
}

/// A folder with the example's profile and a copy of its tree.
struct Example {
    folder: tempfile::TempDir,
}

impl Example {
    fn new() -> Self {
        let example = Self { folder: tempfile::tempdir().unwrap() };
        copy(&fixture("tree"), &example.folder.path().join("tree"));
        let (program, recording) = (path(&fixture("shaper")), path(&fixture("shaper.perf.data")));
        let profile = example.path("profile.json");
        let output = fieldline(&["profile", "--vmlinux", &program, "--perf", &recording, "-o", &profile]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        example
    }

    fn path(&self, name: &str) -> String {
        path(&self.folder.path().join(name))
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.folder.path().join(name), text).unwrap();
        self.path(name)
    }

    fn plan(&self, more: &[&str]) -> Output {
        let (program, profile) = (path(&fixture("shaper")), self.path("profile.json"));
        let (tree, plan) = (self.path("tree"), self.path("plan.json"));
        let args =
            ["plan", "tx_class", "--vmlinux", &program, "--profile", &profile, "--tree", &tree, "-o", &plan];
        fieldline(&[&args, more].concat())
    }

    fn planned(&self, more: &[&str]) -> Value {
        let output = self.plan(more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes = std::fs::read(self.folder.path().join("plan.json")).unwrap();
        let plan: Value = serde_json::from_slice(&bytes).unwrap();
        plan["structs"][0].clone()
    }
}

fn path(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// First and last line of 64 bytes with bytes of a member in the chosen layout.
fn lines(plan: &Value, name: &str) -> (u64, u64) {
    let members = plan["chosen"]["members"].as_array().unwrap();
    let member = members.iter().find(|member| member["name"] == name).unwrap();
    let (offset, size) = (member["offset"].as_u64().unwrap(), member["size"].as_u64().unwrap());
    (offset / 64, (offset + size - 1) / 64)
}

/// Names of the members in front of one, sorted.
fn before(plan: &Value, layout: &str, name: &str) -> Vec<String> {
    let members = plan[layout]["members"].as_array().unwrap().iter();
    let names = members.map(|member| member["name"].as_str().unwrap_or_default().to_owned());
    let mut names: Vec<String> = names.take_while(|other| other != name).collect();
    names.sort();
    names
}

#[test]
fn a_plan_keeps_the_pins_of_a_file() {
    let example = Example::new();
    let pins = "[tx_class]\nfirst = [\"cpu\"]\nsame-line = [[\"mtu\", \"created\"]]\n\
                apart = [[\"rate\", \"nr_flows\"]]\n[tx_flow]\nkeep = []\n";
    let file = example.write("pins.toml", pins);
    let output = example.plan(&["--pins", &file]);
    assert_eq!(output.status.code(), Some(2), "an empty list is an error");
    let file = example.write("pins.toml", &pins.replace("[tx_flow]\nkeep = []\n", ""));
    let plan = example.planned(&["--pins", &file]);
    assert_eq!(plan["chosen"]["members"][0]["name"], "cpu", "{}", plan["reason"]);
    assert_eq!(lines(&plan, "mtu"), lines(&plan, "created"));
    assert_ne!(lines(&plan, "rate"), lines(&plan, "nr_flows"));
    let reports = plan["pins"].as_array().unwrap();
    assert!(reports.iter().all(|pin| pin["chosen"] == true), "{reports:?}");
    assert!(reports.iter().any(|pin| pin["pin"].as_str().unwrap().contains("pins.toml:3")), "{reports:?}");
    let patches = example.path("patches");
    let output = fieldline(&[
        "patch",
        "--plan",
        &example.path("plan.json"),
        "--tree",
        &example.path("tree"),
        "-o",
        &patches,
    ]);
    assert!(
        output.status.success(),
        "the pinned order can be written: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn wrong_pins_are_errors_with_place_and_hint() {
    let example = Example::new();
    let cases = [
        (
            "[tx_class]\nfirst = [\"cpuu\"]\n",
            "pins.toml:2: struct tx_class has no member 'cpuu'; did you mean 'cpu'?",
        ),
        (
            "\n[tx_klass]\nfirst = [\"cpu\"]\n",
            "pins.toml:2: there is no struct 'tx_klass'; did you mean 'tx_class'?",
        ),
        ("[tx_class]\nnear = [[\"cpu\", \"id\"]]\n", "pins.toml:2: there is no pin 'near'"),
        ("[tx_class]\nsame-line = [[\"cpu\", \"id\"]]\napart = [[\"cpu\", \"id\"]]\n", "lie apart"),
    ];
    for (text, wanted) in cases {
        let file = example.write("pins.toml", text);
        let output = example.plan(&["--pins", &file]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(wanted), "{message}");
    }
    let output = example.plan(&["--pins", &example.path("nowhere.toml")]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn ranges_of_bytes_in_the_tree_hold_the_members_that_end_them() {
    let example = Example::new();
    let declared = example.planned(&[]);
    // A member that the free plan moves others past.
    let members = declared["declared"]["members"].as_array().unwrap().iter();
    let names: Vec<&str> = members.filter_map(|member| member["name"].as_str()).collect();
    let passed =
        names.iter().find(|name| before(&declared, "declared", name) != before(&declared, "chosen", name));
    let passed = passed.unwrap();
    let text = format!(
        "void wipe(struct tx_class *c)\n{{\n\tmemset(c, 0, offsetof(struct tx_class, {passed}));\n}}\n"
    );
    example.write("tree/shaper/wipe.c", &text);
    let plan = example.planned(&[]);
    assert_eq!(before(&plan, "declared", passed), before(&plan, "chosen", passed));
    let held = plan["held"].as_array().unwrap();
    let index = names.iter().position(|name| name == passed).unwrap();
    let reason = held.iter().find(|held| held["index"] == index).map(|held| held["reason"].as_str().unwrap());
    assert!(reason.is_some_and(|reason| reason.contains("shaper/wipe.c:3")), "{held:?}");
}

#[test]
fn assembler_constants_are_remarked_and_hold_nothing() {
    let example = Example::new();
    let free = example.planned(&[]);
    std::fs::create_dir_all(example.folder.path().join("tree/arch/x86/kernel")).unwrap();
    example.write(
        "tree/arch/x86/kernel/asm-offsets.c",
        "void f(void)\n{\n\tOFFSET(CLASS_CPU, tx_class, cpu);\n}\n",
    );
    let plan = example.planned(&[]);
    assert_eq!(plan["chosen"], free["chosen"]);
    let notes = plan["notes"].as_array().unwrap();
    assert!(
        notes.iter().any(|note| note.as_str().unwrap().contains("assembler code reads cpu")),
        "{notes:?}"
    );
}
