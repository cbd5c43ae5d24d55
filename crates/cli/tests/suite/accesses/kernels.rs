//! `guest score` on traces written by hand, and trials that can't begin.

use fieldline_testing::has_programs;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Loads of eight bytes by CPU 0, as a trace has them (docs/formats.md).
fn write_trace(path: &Path, addresses: &[u64]) {
    let mut bytes = Vec::new();
    for address in addresses {
        bytes.extend(address.to_le_bytes());
        bytes.extend([0, 0, 0, 0, 0, 3, 0, 0]);
    }
    fs::write(path, bytes).unwrap();
    fs::write(path.with_extension("tsv"), "1000\tentity\t128\n").unwrap();
}

/// Two kernels with three runs each: in the second a visit touches one line instead of two.
fn traces() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (kernel, second) in [("base", 0x1040), ("packed", 0x1008)] {
        fs::create_dir(folder.path().join(kernel)).unwrap();
        for run in 1..=3 {
            let path = folder.path().join(format!("{kernel}/run-{run}.trace"));
            write_trace(&path, &[0x1000, second, 0x9000]);
        }
    }
    folder
}

fn run(folder: &Path, line: &str) -> (Option<i32>, String, String) {
    let args: Vec<&str> = line.split_whitespace().collect();
    let output =
        Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn traces_of_two_kernels_are_scored_and_compared() {
    let folder = traces();
    let (code, text, error) = run(folder.path(), "guest score base --vs packed --structs entity");
    assert_eq!(code, Some(0), "{error}");
    let row = text.lines().find(|line| line.starts_with("lines per visit 64 B")).unwrap();
    assert_eq!(
        row.split_whitespace().skip(5).take(3).collect::<Vec<_>>(),
        ["2.000", "1.000", "-50.0%"],
        "{text}"
    );
    assert!(text.contains("struct entity") && text.contains("all accesses"), "{text}");
    let (code, json, _) = run(folder.path(), "guest score base --vs packed --structs entity --format json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, json["format"].as_str()), (Some(0), Some("fieldline-comparison")));
    assert_eq!(json["rows"][0]["measure"], "lines per visit");
}

#[test]
fn wrong_uses_of_scores_name_the_file() {
    let folder = traces();
    fs::write(folder.path().join("base/broken.trace"), [0; 17]).unwrap();
    fs::write(folder.path().join("base/broken.tsv"), "").unwrap();
    for (line, said) in [
        ("guest score nosuch", "nosuch"),
        ("guest score base/broken.trace", "17 bytes are no whole number"),
        ("guest score base/run-1.trace --objects a b", "--objects names 2 files, but there are 1 traces"),
        ("guest score base/run-1.trace --vs packed --names one", "--names has 1 names"),
        ("guest score base/run-1.trace --vmlinux a b", "--vmlinux names 2 files"),
        ("guest score .", "no *.trace is in it"),
    ] {
        let (code, _, error) = run(folder.path(), line);
        assert_eq!((code, error.contains(said)), (Some(2), true), "{line}: {error}");
    }
}

#[test]
fn trials_that_cannot_begin_say_why_and_write_nothing() {
    if !has_programs(&["git"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    write("tree/a.h", "one\n");
    fs::create_dir(folder.path().join("kernel")).unwrap();
    for name in ["a.h", "Kbuild", "Makefile"] {
        write(&format!("kernel/{name}"), "one\n");
    }
    write("good.patch", "--- a/a.h\n+++ b/a.h\n@@ -1 +1 @@\n-one\n+two\n");
    write("stale.patch", "--- a/a.h\n+++ b/a.h\n@@ -1 +1 @@\n-three\n+two\n");
    for (line, said) in [
        ("trial --tree tree -o out", "--patches"),
        ("trial --patches nosuch --tree tree -o out", "nosuch"),
        ("trial --patches empty --tree tree -o out", "no *.patch is in it"),
        ("trial --patches stale.patch --tree tree -o out", "git"),
        ("trial --patches good.patch --tree tree --names base -o out", "--names has 1 names"),
        ("trial --patches good.patch --tree tree --names base,a/b -o out", "'a/b' can't be the name"),
        ("trial --patches good.patch --tree tree -o out", "it has no Kbuild"),
        ("trial --patches good.patch --tree tree --arch aarch64 -o out", "--kconfig"),
        // Before an hour of building, not behind it.
        ("trial --patches good.patch --tree kernel --qemu ./nosuch -o out", "./nosuch was not found"),
    ] {
        let (code, _, error) = run(folder.path(), line);
        assert_eq!((code, error.contains(said)), (Some(2), true), "{line}: {error}");
        assert!(!folder.path().join("out").exists(), "{line}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("tree/a.h")).unwrap(), "one\n");
}
