//! `explain` says of each access which member it touches, and how that is known.

use std::path::Path;
use std::process::{Command, Output};

fn explain(place: &str) -> Output {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo/shaper");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    command.args(["explain", place, "--vmlinux"]).arg(program).output().unwrap()
}

fn explained(place: &str) -> String {
    let output = explain(place);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Address of the first access in a function's list that a text fits.
fn first(list: &str, wanted: &str) -> String {
    let line =
        list.lines().find(|line| line.contains(wanted)).unwrap_or_else(|| panic!("no {wanted} in\n{list}"));
    line.split(' ').next().unwrap().to_owned()
}

#[test]
fn a_function_is_listed_with_the_members_it_touches() {
    // `flow->srtt` and what follows: fixtures/demo/tree/shaper/flow.c, flow_ack.
    let list = explained("flow_ack");
    let rows: Vec<&str> = list.lines().filter(|line| line.contains("struct tx_flow +")).collect();
    assert_eq!(rows.len(), 16, "{list}");
    assert_eq!(
        rows[..2],
        [
            "401f90  mov    0x60(%rdi),%edx                       load           struct tx_flow +96, srtt",
            "401f93  subl   $0x1,0xe8(%rdi)                       load and store struct tx_flow +232, in_flight"
        ]
    );
    assert!(list.contains("  store          struct tx_flow +260, pacing\n"), "{list}");
    for line in rows {
        assert!(line.contains(", "), "no member is named: {line}");
    }
}

#[test]
fn an_instruction_is_explained_with_the_data_flow_of_its_pointer() {
    let list = explained("check");
    let text = explained(&first(&list, "struct tx_flow +112, class"));
    assert!(text.starts_with("check+0x48 0x4025c8\n"), "{text}");
    let known = "known here    rcx = -> struct tx_flow +240\n";
    assert!(text.contains(known), "the pointer was made by container_of:\n{text}");
    assert!(
        text.contains("verdict       load of 8 bytes at -0x80(%rcx): struct tx_flow +112, class"),
        "{text}"
    );
    let join =
        "data flow     4025c8  several paths join                       rcx = -> struct tx_flow +240\n";
    assert!(text.contains(join), "{text}");
}

#[test]
fn what_is_unknown_has_its_reason() {
    let list = explained("check");
    let text = explained(&first(&list, "unknown_pointer"));
    assert!(text.contains("unknown_pointer\n"), "{text}");
    assert!(text.contains("it is not known what the pointer points to"), "{text}");
}

#[test]
fn functions_without_debug_info_do_not_hide_the_others() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo/shaper");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    // `_start` is the C library's, in assembly.
    let output = command.args(["explain", "_start", "flow_ack", "--vmlinux"]).arg(program).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no function with debug info is there"));
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("struct tx_flow +").count(), 16);
    let alone = explain("_start");
    assert_eq!((alone.status.code(), alone.stdout.len()), (Some(2), 0));
}

#[test]
fn places_that_are_none_are_refused() {
    for (place, message) in [
        ("no_such_function", "neither a function of the program nor an address"),
        ("flow_ack+0x100000", "the function has only"),
        ("flow_ack+", "no offset behind +"),
        ("12", "no function with debug info"),
    ] {
        let output = explain(place);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{place}: {text}");
        assert!(text.contains(message) && text.contains(place.trim_end_matches('+')), "{place}: {text}");
    }
    let list = explained("flow_ack");
    let inside = u64::from_str_radix(&first(&list, "struct tx_flow"), 16).unwrap() + 1;
    let output = explain(&format!("{inside:x}"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no instruction begins there"));
}
