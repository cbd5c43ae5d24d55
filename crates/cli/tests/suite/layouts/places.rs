//! Lines that findings stand at.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    path.to_str().unwrap().to_owned()
}

/// The findings of a configuration written to a folder.
fn findings(folder: &Path, config: &str) -> Vec<Value> {
    let path = folder.join("fieldline.toml");
    std::fs::write(&path, config).unwrap();
    let mut check = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    let output = check.args(["check", "--format", "json", "--config"]).arg(path).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    report["findings"].as_array().unwrap().clone()
}

#[test]
fn a_member_of_an_included_file_is_found_there() {
    if !fieldline_testing::has_programs(&["gcc"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("part.h"), "/* Members. */\nint extra;\nstruct { int inner; } held;\n").unwrap();
    let source = "struct sample {\n\tlong a;\n#include \"part.h\"\n\tlong z;\n};\nstruct sample it;\n";
    std::fs::write(path("sample.c"), source).unwrap();
    let gcc =
        Command::new("gcc").args(["-g", "-c", "sample.c", "-o", "sample.o"]).current_dir(&folder).status();
    assert!(gcc.unwrap().success());
    let place = |pinned: &str| {
        let config = format!(
            "types = [\"sample\"]\n[target.t]\nfile = \"sample.o\"\n[pin.sample]\nfirst = \"{pinned}\"\n"
        );
        let found = &findings(folder.path(), &config)[0];
        let file = found["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (file, found["line"].as_u64().unwrap())
    };
    assert_eq!(place("z"), ("sample.c".to_owned(), 4));
    assert_eq!(place("extra"), ("part.h".to_owned(), 2));
    assert_eq!(place("held.inner"), ("part.h".to_owned(), 3));
    assert_eq!(place("gone"), ("sample.c".to_owned(), 2), "where the member in its place is");
}

#[test]
fn btf_has_no_lines() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "types = [\"pointers\"]\n[target.t]\nfile = \"{}\"\n[pin.pointers]\nfirst = \"gone\"\n",
        fixture("layout/x86_64.btf")
    );
    let found = findings(folder.path(), &config);
    assert_eq!((found.len(), &found[0]["line"], &found[0]["file"]), (1, &Value::Null, &Value::Null));
}
