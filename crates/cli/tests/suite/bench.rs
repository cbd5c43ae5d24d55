//! `fieldline bench` where it can't run. That it runs, and leaves nothing, is a test in a guest (`cargo xtask
//! bench-guest`).

use std::path::Path;
use std::process::Command;

/// Exit code and messages of a benchmark, and whether its folder was made.
fn bench(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, bool) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    command.args(["bench", "cgroup-tree", "-o"]).arg(folder.join("out")).args(arguments);
    let output = command.env("XDG_CACHE_HOME", folder.join("cache")).current_dir(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), text, folder.join("out").exists())
}

#[test]
fn a_group_without_the_cpu_controller_is_refused_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cgroup.controllers"), "cpuset memory\n").unwrap();
    let parent = folder.path().to_str().unwrap();
    let (code, text, is_made) = bench(folder.path(), &["--parent", parent]);
    assert_eq!((code, is_made), (Some(2), false), "{text}");
    // It depends on the machine which of the reasons it is.
    let reasons = ["--parent DIR", "mount -t cgroup2", "gives it no cpu controller"];
    assert!(reasons.iter().any(|reason| text.contains(reason)), "{text}");
    let (code, text, is_made) = bench(folder.path(), &["--parent", "no-such-group"]);
    assert_eq!((code, is_made), (Some(2), false), "{text}");
}

#[test]
fn benchmarks_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["--load", "no-such-load"][..],
        &["--load", "hackbench:workers=3"],
        &["--load", "messages", "--", "true"],
        &["--quota", "101"],
        &["--quota-period", "0"],
        &["--width", "0"],
        &["--runs", "0"],
        &["--for", "0"],
        &["--clean"],
    ] {
        let nowhere = ["--parent", "no-such-group"];
        let (code, text, is_made) = bench(folder.path(), &[&nowhere[..], arguments].concat());
        assert_eq!((code, is_made), (Some(2), false), "{arguments:?}: {text}");
        assert!(text.starts_with("error:"), "{arguments:?}: {text}");
    }
}
