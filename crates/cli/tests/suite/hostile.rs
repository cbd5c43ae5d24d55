//! The entry points of the fuzz targets, on stable Rust: with every input that was a finding, seeds, and
//! fixtures.
//!
//! Overflow is checked in this build, so that what wraps in a release is a finding here as it is for the
//! fuzzers.

#[allow(
    unreachable_pub,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "shared with the fuzz targets"
)]
#[path = "../../../fuzz/src/lib.rs"]
mod entries;

use std::path::{Path, PathBuf};

fn below(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.is_file());
    found.sort();
    found
}

/// Calls the entry point with each file of a folder; gives how many there were.
fn replay(name: &str, folder: &Path) -> usize {
    let entry = entries::entry(name).unwrap_or_else(|| panic!("no entry point {name}"));
    let files = files(folder);
    for path in &files {
        entry(&std::fs::read(path).unwrap());
    }
    files.len()
}

#[test]
fn what_was_a_finding_is_none_any_more() {
    let mut replayed = 0;
    for folder in std::fs::read_dir(below("crates/fuzz/findings")).unwrap() {
        let folder = folder.unwrap();
        replayed += replay(folder.file_name().to_str().unwrap(), &folder.path());
    }
    assert!(replayed > 0, "no findings were found");
}

#[test]
fn fixtures_and_seeds_are_read() {
    for (name, folder) in [
        ("perf_data", "fixtures/perf"),
        ("script", "crates/fuzz/seeds/script"),
        ("dwarf", "fixtures/layout"),
        ("dwarf", "fixtures/attribution"),
        ("btf", "fixtures/layout"),
        ("source", "crates/fuzz/seeds/source"),
        ("source", "fixtures/demo/tree/include"),
        ("source", "fixtures/demo/tree/shaper"),
    ] {
        assert!(replay(name, &below(folder)) > 0, "{folder}");
    }
    assert!(entries::entry("no such target").is_none());
}

/// Code put where the fixture's was: its own, and what no compiler writes.
#[test]
fn any_code_is_analysed() {
    for place in (0..1100u16).step_by(63) {
        let code = |byte: u8| [&place.to_le_bytes()[..], &[byte; 96]].concat();
        // Zeros are stores through rax, 0x90 is nothing, 0xe9 jumps, 0xcc is a trap, 0x0f begins longer
        // codes.
        for byte in [0, 0x48, 0x90, 0xe9, 0xcc, 0x0f, 0xff] {
            entries::code(&code(byte));
        }
    }
}

/// Documents with a number or a word replaced.
#[test]
fn documents_with_other_numbers_are_read_or_refused() {
    let profile = r#"{"format":"fieldline-profile","version":1,"recordings":[],"coverage":[],"blind_spots":[],"types":
        [{"name":"pair","size":16,"fingerprint":1,"layout":null,"accesses":[],"cpus":[],"phases":{}}],"functions":[],"windows":[]}"#;
    let plan = r#"{"format":"fieldline-plan","version":1,"lines":[64],"build_line":64,"structs":[]}"#;
    for number in ["0", "18446744073709551615", "-1", "1e300", "null", "[]", "\"x\""] {
        entries::profile(profile.replace("16", number).as_bytes());
        entries::profile(profile.replace(":1,", &format!(":{number},")).as_bytes());
        entries::plan(plan.replace("64", number).as_bytes());
    }
}

/// A file with some of its bytes changed, others for each round.
fn changed(bytes: &[u8], round: usize) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for place in 0..8 {
        let at = (round * 7919 + place * 104_729 + round * round * 31) % changed.len();
        changed[at] = changed[at].wrapping_add((round * 37 + place * 11 + 1) as u8);
    }
    changed
}

/// Runs a command, which must end with one of its exit codes and without a panic.
fn ends(args: &[&str]) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0..=2)), "{args:?}: {:?} {said}", output.status);
    assert!(!said.contains("panicked"), "{args:?}: {said}");
}

#[test]
fn commands_end_with_their_exit_codes_whatever_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let fixture = |name: &str| below(name).to_str().unwrap().to_owned();
    let (program, perf) = (fixture("fixtures/demo/shaper"), fixture("fixtures/demo/shaper.perf.data"));
    let (profile, plan) = (path("profile.json"), path("plan.json"));
    ends(&["profile", "--vmlinux", &program, "--perf", &perf, "-o", &profile]);
    ends(&["plan", "tx_class", "--static", "--vmlinux", &program, "-o", &plan]);
    let bytes = |path: &str| std::fs::read(path).unwrap();
    let inputs = [bytes(&program), bytes(&perf), bytes(&profile), bytes(&plan)];
    let places = ["program", "perf.data", "changed-profile", "changed-plan"].map(path);
    for round in 0..12 {
        for (bytes, place) in inputs.iter().zip(&places) {
            std::fs::write(place, changed(bytes, round)).unwrap();
        }
        ends(&["profile", "--vmlinux", &places[0], "--perf", &perf]);
        ends(&["profile", "--vmlinux", &program, "--perf", &places[1]]);
        ends(&["doctor", "--perf", &places[1]]);
        ends(&["report", "tx_class", "--profile", &places[2]]);
        ends(&["place", "tx_class", "--member", "int more", "--profile", &places[2], "--vmlinux", &program]);
        ends(&["simulate", "--plan", &places[3], "--profile", &profile, "--vmlinux", &program]);
        ends(&["explain", "--vmlinux", &places[0], "main"]);
    }
}

/// Bytes with a name replaced by as many others.
fn with_name(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut replaced = 0;
    for at in 0..bytes.len().saturating_sub(from.len()) {
        if bytes[at..].starts_with(from) {
            bytes[at..at + from.len()].copy_from_slice(to);
            replaced += 1;
        }
    }
    assert!(replaced > 0, "{}", String::from_utf8_lossy(from));
    bytes
}

/// Output of a command, which must have neither control characters nor a line that begins a command of a log.
fn shown(args: &[&str]) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap();
    let mut all = String::new();
    for stream in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(stream).unwrap();
        let control = text.chars().find(|character| character.is_control() && !"\n\t".contains(*character));
        assert_eq!(control, None, "{args:?}: {text:?}");
        let is_command = |line: &&str| line.trim_start().starts_with("::pwn");
        assert_eq!(text.lines().find(is_command), None, "{args:?}: {text:?}");
        all.push_str(text);
    }
    assert!(!all.contains("panicked"), "{all}");
    all
}

/// The example with hostile names of a member, a struct and a function in its debug info.
fn hostile_program(path: &str) {
    let bytes = std::fs::read(below("fixtures/demo/shaper")).unwrap();
    let bytes = with_name(bytes, b"\0deficit\0", b"\0\n::pwn:\0");
    let bytes = with_name(bytes, b"\0quantum\0", b"\0\x1b[2Jpwn\0");
    let bytes = with_name(bytes, b"\0tx_flow\0", b"\0\n::pwn-\0");
    let bytes = with_name(bytes, b"\0shaper.h\0", b"\0\n::pwn.h\0");
    let bytes = with_name(bytes, b"\0class_charge\0", b"\0\n::pwn::\x1b[2J\0");
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn names_control_neither_terminals_nor_logs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let fixture = |name: &str| below(name).to_str().unwrap().to_owned();
    let (program, kept, config) = (path("program"), path("old.json"), path("fieldline.toml"));
    let (good, perf, profile) =
        (fixture("fixtures/demo/shaper"), fixture("fixtures/demo/shaper.perf.data"), path("profile.json"));
    hostile_program(&program);
    for format in ["text", "pahole", "json"] {
        let out = shown(&["layout", "tx_class", "--vmlinux", &program, "--format", format]);
        assert!(out.contains("u001b[2Jpwn") && out.contains("u000a::pwn:"), "{format}: {out}");
    }
    for format in ["text", "markdown", "json"] {
        let out = shown(&["diff", &good, &program, "tx_class", "--format", format]);
        assert!(out.contains("u000a::pwn:"), "{format}: {out}");
    }
    shown(&["baseline", "--vmlinux", &good, "tx_class", "-o", &kept]);
    let toml = format!(
        "types = [\"tx_class\"]\n[target.\"a\\n::pwn::\\u001b\"]\nfile = \"{program}\"\nagainst = \"{kept}\"\n\
         [pin.tx_class]\nfirst = \"gone\"\nlast = \"mtu\"\n[[suppress]]\nrule = \"last-moved\"\ntype = \"tx_class\"\n\
         reason = \"x\\n::pwn::\\u001b[2J\"\n"
    );
    std::fs::write(&config, toml).unwrap();
    for format in ["text", "github", "summary", "junit", "sarif", "json"] {
        let out = shown(&["check", "--config", &config, "--format", format]);
        assert!(out.contains("gone should be first"), "{format}: {out}");
    }
    shown(&["profile", "--vmlinux", &program, "--perf", &perf, "-o", &profile]);
    shown(&["report", "tx_class", "--profile", &profile, "-v"]);
    shown(&["place", "tx_class", "--member", "u32 x", "--with", "mtu", "--vmlinux", &program]);
    shown(&["plan", "tx_class", "--profile", &profile, "--vmlinux", &program, "-v"]);
    let all = shown(&["layout", "--vmlinux", &program]);
    assert!(all.contains("struct \\u000a::pwn-: ") && all.contains("/\\u000a::pwn.h:"), "{all}");
    shown(&["report", "--profile", &profile, "--format", "json"]);
    shown(&["samples", "--vmlinux", &program, "--perf", &perf]);
    shown(&["explain", "--vmlinux", &program, "main"]);
    shown(&["layout", "a\n::pwn::\x1b[2J", "--vmlinux", &good]);
    // Documents are inputs too: escapes of JSON in them are names all the same.
    let text = std::fs::read_to_string(&profile).unwrap();
    std::fs::write(&profile, text.replace("\"tx_class\"", "\"tx\\n::pwn::\\u001b\"")).unwrap();
    let out = shown(&["report", "--profile", &profile]);
    assert!(!out.contains("\n::pwn"), "{out}");
}

#[test]
fn names_of_recordings_control_nothing_either() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (perf, program) = (path("perf.data"), below("fixtures/demo/shaper"));
    let bytes = std::fs::read(below("fixtures/demo/shaper.perf.data")).unwrap();
    std::fs::write(&perf, with_name(bytes, b"shaper\0", b"\n::pwn\0")).unwrap();
    shown(&["doctor", "--perf", &perf]);
    shown(&["profile", "--coverage", "--vmlinux", program.to_str().unwrap(), "--perf", &perf]);
    shown(&["samples", "--vmlinux", program.to_str().unwrap(), "--perf", &perf]);
}
