//! Plans are evaluated in further builds of the program.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fieldline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap()
}

/// The demo's folder with its profile, and its program.
fn prepare() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    assert!(fieldline(&["demo", folder.path().to_str().unwrap()]).status.success());
    (folder, Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo/shaper"))
}

fn plan(folder: &Path, program: &Path, also: &[&str]) -> (Output, Value) {
    let place = |name: &str| folder.join(name).display().to_string();
    let (profile, out, program) = (place("profile.json"), place("also.json"), program.display().to_string());
    let mut args =
        vec!["plan", "tx_class", "tx_flow", "-v", "--profile", &profile, "--vmlinux", &program, "-o", &out];
    also.iter().for_each(|also| args.extend(["--also", also]));
    let output = fieldline(&args);
    let document = std::fs::read(&out).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
    (output, document)
}

#[test]
fn further_builds_are_judged_or_named_with_the_reason() {
    let (folder, program) = prepare();
    let (alone, before) = plan(folder.path(), &program, &[]);
    assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stderr));
    // The same file, and one that holds none of the structs.
    let strange = program.with_file_name("../layout/s390x-dwarf5.o");
    let also = format!("{},{}", program.display(), strange.display());
    let (output, document) = plan(folder.path(), &program, &[&also]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    for (struct_plan, before) in
        document["structs"].as_array().unwrap().iter().zip(before["structs"].as_array().unwrap())
    {
        assert_eq!(
            (&struct_plan["chosen"], &struct_plan["forecasts"]),
            (&before["chosen"], &before["forecasts"])
        );
        if struct_plan["forecasts"].is_null() {
            continue;
        }
        assert_eq!(
            (&struct_plan["builds"][0]["judged"], &struct_plan["builds"][0]["build"]),
            (&"alike".into(), &"shaper".into())
        );
        assert_eq!(struct_plan["builds"][1]["judged"], "no");
    }
    assert!(text.contains("shaper: places every order like the recorded one for 64 B"), "{text}");
    assert!(text.contains("not evaluated, it has no struct tx_"), "{text}");
    let head = "  groups: bytes the struct grows by if one is aligned to lines of 32, 64, 128, 256 B,\n";
    assert!(text.contains(head), "{text}");
}

#[test]
fn a_file_that_is_none_is_an_error_with_its_name() {
    let (folder, program) = prepare();
    let (output, _) = plan(folder.path(), &program, &["no/such/file@128"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("no/such/file:") || text.contains("no/such/file "), "{text}");
    let (output, _) = plan(folder.path(), &program, &["no/such/file@100"]);
    assert_eq!(output.status.code(), Some(2));
}
