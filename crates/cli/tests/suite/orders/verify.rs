//! Built layouts are compared with those a plan predicted.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fieldline(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo/shaper")
}

fn demo() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(fieldline(&["demo", folder.path().to_str().unwrap()]).0, Some(0));
    folder
}

fn verify(plan: &Path, object: &str) -> (Option<i32>, String) {
    fieldline(&["verify", "--plan", plan.to_str().unwrap(), "--vmlinux", object])
}

/// The demo's plan, changed.
fn changed(folder: &Path, change: impl Fn(&mut Value)) -> PathBuf {
    let mut plan: Value = serde_json::from_slice(&std::fs::read(folder.join("plan.json")).unwrap()).unwrap();
    plan["structs"].as_array_mut().unwrap().iter_mut().for_each(change);
    let path = folder.join("changed.json");
    std::fs::write(&path, serde_json::to_vec(&plan).unwrap()).unwrap();
    path
}

#[test]
fn an_object_without_the_patch_fails_with_member_and_both_offsets() {
    let folder = demo();
    let program = program();
    let (code, text) = verify(&folder.path().join("plan.json"), program.to_str().unwrap());
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("struct tx_class: not as predicted"), "{text}");
    // Only what the plan leaves as it is holds.
    let as_declared =
        changed(folder.path(), |struct_plan| struct_plan["chosen"] = struct_plan["declared"].clone());
    let (code, text) = verify(&as_declared, program.to_str().unwrap());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("are as predicted"), "{text}");
    let off_by_eight = changed(folder.path(), |struct_plan| {
        struct_plan["chosen"] = struct_plan["declared"].clone();
        let member = &mut struct_plan["chosen"]["members"][2];
        member["offset"] = Value::from(member["offset"].as_u64().unwrap() + 8);
    });
    let (code, text) = verify(&off_by_eight, program.to_str().unwrap());
    assert_eq!(code, Some(1), "{text}");
    let plan: Value = serde_json::from_slice(&std::fs::read(&off_by_eight).unwrap()).unwrap();
    let member = &plan["structs"][0]["chosen"]["members"][2];
    let predicted = member["offset"].as_u64().unwrap();
    let name = member["name"].as_str().unwrap();
    assert!(
        text.contains(&format!("{name}: predicted at offset {predicted}, is at {}", predicted - 8)),
        "{text}"
    );
}

#[test]
fn a_file_without_the_struct_or_that_is_none_is_an_error() {
    let folder = demo();
    let plan = folder.path().join("plan.json");
    let strange = program().with_file_name("../layout/s390x-dwarf5.o");
    for object in [strange.to_str().unwrap(), "no/such/file"] {
        let (code, text) = verify(&plan, object);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(object), "{text}");
    }
    assert_eq!(verify(&plan, "=").0, Some(2));
}

/// Compiles the demo's tree.
fn compile(tree: &Path, object: &Path, flags: &[&str]) {
    let common = ["-std=gnu11", "-g", "-Iinclude", "-include", "config.h", "-c", "shaper/setup.c", "-o"];
    let status = Command::new("gcc").current_dir(tree).args(flags).args(common).arg(object).status().unwrap();
    assert!(status.success());
}

#[test]
fn the_patched_tree_holds_in_its_own_and_in_another_configuration() {
    if !fieldline_testing::has_programs(&["gcc", "git"]) {
        return;
    }
    let folder = demo();
    let tree = folder.path().join("tree");
    let place = |name: &str| folder.path().join(name);
    // A configuration without what the demo's has.
    let other = ["-UCONFIG_SHAPER_STATS", "-D_CONFIG_H", "-DCONFIG_SHAPER_DEBUG=1"];
    compile(&tree, &place("other-before.o"), &other);
    for patch in std::fs::read_dir(folder.path().join("patches")).unwrap() {
        let applied =
            Command::new("git").current_dir(&tree).args(["apply", "-p1"]).arg(patch.unwrap().path()).status();
        assert!(applied.unwrap().success());
    }
    compile(&tree, &place("after.o"), &[]);
    compile(&tree, &place("other-after.o"), &other);
    let plan = place("plan.json");
    let (code, text) = verify(&plan, place("after.o").to_str().unwrap());
    assert_eq!(code, Some(0), "{text}");
    let pair = format!("{}={}", place("other-after.o").display(), place("other-before.o").display());
    let (code, text) = verify(&plan, &pair);
    assert_eq!(code, Some(0), "{text}");
    let wrong = format!("{}={}", place("other-before.o").display(), place("other-before.o").display());
    let (code, text) = verify(&plan, &wrong);
    assert_eq!(code, Some(1), "{text}");
    // Without the build before, the members of the other configuration aren't those predicted.
    assert_eq!(verify(&plan, place("other-after.o").to_str().unwrap()).0, Some(1));
}
