//! `fieldline layout --format pahole` against what pahole 1.30 printed for the fixtures.

use std::path::{Path, PathBuf};
use std::process::Command;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/layout")
}

fn layout(file: &str, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fieldline"))
        .current_dir(fixtures())
        .args(["layout", "--format", "pahole", "--vmlinux", file])
        .args(args)
        .output()
        .expect("fieldline runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{file}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

fn expected(file: &str) -> String {
    std::fs::read_to_string(fixtures().join(format!("{file}.pahole"))).expect("the expected text is there")
}

/// Compares line by line, so that a failure shows the line and not two books.
fn assert_same(file: &str, ours: &str, theirs: &str) {
    for (number, (our, their)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(our, their, "{file}: line {} of the text", number + 1);
    }
    assert_eq!(ours.len(), theirs.len(), "{file}: length of the text");
}

#[test]
fn dwarf_of_all_versions_and_machines_prints_as_pahole_prints_it() {
    let files = ["x86_64-dwarf5.o", "x86_64-dwarf2.o", "i686-dwarf4.o", "ppc-dwarf3.o", "s390x-dwarf5.o"];
    for file in files {
        assert_same(file, &layout(file, &["--debug-format", "dwarf"]), &expected(file));
    }
}

#[test]
fn btf_of_both_byte_orders_prints_as_pahole_prints_it() {
    for file in ["x86_64.btf", "ppc.btf"] {
        assert_same(file, &layout(file, &[]), &expected(file));
    }
}

#[test]
fn split_btf_prints_with_its_base() {
    let own = ["--btf-base", "x86_64.btf", "module_own", "module_other"];
    assert_same("module.btf", &layout("module.btf", &own), &expected("module.btf"));
}

#[test]
fn a_type_known_to_a_function_only_is_printed_when_asked_for() {
    assert!(!layout("x86_64-dwarf5.o", &[]).contains("only_inside"));
    assert!(layout("x86_64-dwarf5.o", &["only_inside"]).starts_with("struct only_inside {\n"));
}

#[test]
fn a_typedef_is_printed_with_what_it_names() {
    let text = layout("x86_64.btf", &["typedef_union"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "typedef union {");
    assert_eq!(lines[1], "\tint                a;                    /*     0     4 */");
    assert_eq!(lines[3], "} typedef_union;");
}
