//! `fieldline guest record` where no guest can run. Guests that run are a test on real kernels (`cargo xtask guest`).

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo/shaper")
}

/// The exit code and messages of a recording of the demo's program as if it were a kernel, and whether a file was
/// written.
fn record(name: &str, path: Option<&Path>, more: &[&str]) -> (Option<i32>, String, bool) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    command.args(["guest", "record", "--kernel"]).arg(program()).arg("--vmlinux").arg(program());
    command.arg("-o").arg(folder.join("perf.data")).args(more).env("XDG_CACHE_HOME", folder.join("cache"));
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), text, folder.join("perf.data").exists())
}

#[test]
fn a_missing_qemu_is_named_with_its_package_and_the_way_out() {
    for (arch, package) in [("x86_64", "qemu-system-x86"), ("aarch64", "qemu-system-arm")] {
        let (code, text, is_written) = record(arch, Some(Path::new("/nowhere")), &["--arch", arch]);
        assert_eq!((code, is_written), (Some(2), false), "{text}");
        assert!(text.contains(package) && text.contains("10.0") && text.contains("--qemu"), "{text}");
    }
}

/// A program that says it is QEMU.
fn qemu(name: &str, version: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("qemu");
    std::fs::write(&path, format!("#!/bin/sh\necho 'QEMU emulator version {version} (Debian)'\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn an_old_qemu_is_refused_before_it_runs() {
    for version in ["7.2.19", "9.2.4", "", "x"] {
        let qemu = qemu("old", version);
        let (code, text, is_written) = record("old", None, &["--qemu", &qemu]);
        assert_eq!((code, is_written), (Some(2), false), "{text}");
        assert!(text.contains("10.0 or newer"), "{text}");
    }
}

#[test]
fn a_program_that_is_no_kernel_is_refused_with_the_reason() {
    let qemu = qemu("refused", "10.0.2");
    let (code, text, is_written) = record("refused", None, &["--qemu", &qemu]);
    assert_eq!((code, is_written), (Some(2), false), "{text}");
    assert!(text.contains("shaper: it is no kernel with symbols"), "{text}");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let wrong = [
        &["--load", "no-such-load"][..],
        &["--load", "cgroup-tree:depth=deep"],
        &["--window", "0"],
        &["--caches", "32K"],
        &["--memory", "1"],
        &["--initrd", "a", "--load", "ping-pong"],
    ];
    for (number, more) in wrong.into_iter().enumerate() {
        let (code, text, is_written) = record(&format!("wrong-{number}"), None, more);
        assert_eq!((code, is_written), (Some(2), false), "{more:?}: {text}");
    }
}
