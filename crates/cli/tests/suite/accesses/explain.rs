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
    assert!(
        list.contains("load and store struct tx_flow +") || list.contains("store          struct tx_flow +")
    );
    for line in list.lines().filter(|line| line.contains("struct tx_flow +")) {
        assert!(line.contains(", "), "no member is named: {line}");
    }
}

#[test]
fn an_instruction_is_explained_with_the_way_its_pointer_came() {
    let list = explained("check");
    let text = explained(&first(&list, "struct tx_flow +112, class"));
    assert!(text.starts_with("check+0x"), "{text}");
    assert!(text.contains("-> struct tx_flow +240"), "the pointer was made by container_of:\n{text}");
    assert!(
        text.contains("verdict       load of 8 bytes at -0x80(%rcx): struct tx_flow +112, class"),
        "{text}"
    );
    assert!(text.contains("on the way"), "{text}");
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
    assert!(String::from_utf8_lossy(&output.stdout).contains("struct tx_flow +"));
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
