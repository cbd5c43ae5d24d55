//! Whatever is wrong with an input: exit code 2, one message that names the file, no panic, nothing written.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn fieldline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap()
}

/// The command fails as it should; gives its message.
fn refused(args: &[&str]) -> String {
    let output = fieldline(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(message.starts_with("fieldline: "), "{args:?}: {message}");
    assert!(!message.contains("panicked"), "{args:?}: {message}");
    message
}

/// The command ends with any of its exit codes, and not by a panic or a signal.
fn survives(args: &[&str]) {
    let output = fieldline(args);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0..=2)), "{args:?}: {:?} {message}", output.status);
    assert!(!message.contains("panicked"), "{args:?}: {message}");
}

/// Files made of one by cutting it at every fiftieth.
fn cuts(file: &Path) -> Vec<(tempfile::TempDir, String)> {
    let bytes = std::fs::read(file).unwrap();
    let step = (bytes.len() / 50).max(1);
    let cut = |end: usize| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut");
        std::fs::write(&path, &bytes[..end]).unwrap();
        let path = path.to_str().unwrap().to_owned();
        (folder, path)
    };
    (0..bytes.len()).step_by(step).map(cut).collect()
}

fn written(name: &str, bytes: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn what_is_no_file_with_types_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().to_str().unwrap();
    assert!(refused(&["layout", "--vmlinux", directory]).contains("a folder, but a regular file is needed"));
    assert!(refused(&["layout", "--vmlinux", "/nowhere/at/all"]).contains("/nowhere/at/all"));
    let (_keep, empty) = written("empty", b"");
    assert!(refused(&["layout", "--vmlinux", &empty]).contains("empty"));
    let garbage: Vec<u8> =
        (0..100_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let (_keep, garbage) = written("garbage", &garbage);
    assert!(refused(&["layout", "--vmlinux", &garbage]).contains("not an ELF file"));
}

#[test]
fn cut_elf_files_are_refused_or_read_as_far_as_they_go() {
    for (_keep, cut) in cuts(&fixture("layout/x86_64-dwarf5.o")) {
        refused(&["layout", "--vmlinux", &cut]);
        refused(&["layout", "--debug-format", "dwarf", "--format", "pahole", "--vmlinux", &cut]);
    }
}

#[test]
fn cut_btf_is_refused() {
    for (_keep, cut) in cuts(&fixture("layout/x86_64.btf")) {
        refused(&["layout", "--vmlinux", &cut]);
    }
}

#[test]
fn changed_bytes_never_panic() {
    for name in
        ["layout/x86_64-dwarf5.o", "layout/x86_64-dwarf2.o", "layout/ppc-dwarf3.o", "layout/x86_64.btf"]
    {
        let bytes = std::fs::read(fixture(name)).unwrap();
        for round in 0..40usize {
            let mut changed = bytes.clone();
            for place in 0..16 {
                let at = (round * 7919 + place * 104_729 + 131) % changed.len();
                changed[at] = changed[at].wrapping_add((round * 37 + place * 11 + 1) as u8);
            }
            let (_keep, path) = written("changed", &changed);
            survives(&["layout", "--vmlinux", &path]);
            survives(&["layout", "--format", "pahole", "--vmlinux", &path]);
        }
    }
}

#[test]
fn a_form_nobody_knows_is_an_error_with_its_place() {
    let path = fixture("layout/x86_64-dwarf5.o");
    let mut bytes = std::fs::read(&path).unwrap();
    // DW_AT_byte_size (0x0b) as DW_FORM_data1 (0x0b) stands in every abbreviation of a base type.
    let pair = bytes.windows(4).position(|four| four == [0x0b, 0x0b, 0x3e, 0x0b]).unwrap();
    bytes[pair + 1] = 0x7e;
    let (_keep, path) = written("form.o", &bytes);
    let message = refused(&["layout", "--vmlinux", &path]);
    assert!(message.contains("form.o") && message.contains("+0x"), "{message}");
}

#[test]
fn a_program_without_debug_info_is_refused_with_where_to_get_it() {
    let bytes = std::fs::read(fixture("layout/x86_64-dwarf5.o")).unwrap();
    // Renaming the section is what is left of it for a reader.
    let at = bytes.windows(12).rposition(|name| name == b".debug_info\0").unwrap();
    let mut bytes = bytes;
    bytes[at + 1..at + 11].copy_from_slice(b"other_info");
    let (_keep, path) = written("stripped.o", &bytes);
    let message = refused(&["layout", "anything", "--vmlinux", &path]);
    assert!(message.contains("no debug info") && message.contains("-g"), "{message}");
}

#[test]
fn a_type_that_is_not_there_draws_near_names() {
    let path = fixture("layout/x86_64-dwarf5.o");
    let message = refused(&["layout", "no_such_struct_at_all", "--vmlinux", path.to_str().unwrap()]);
    assert!(message.contains("no_such_struct_at_all"), "{message}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The example's program, recording and tree.
fn example() -> (PathBuf, PathBuf, PathBuf) {
    (fixture("demo/shaper"), fixture("demo/shaper.perf.data"), fixture("demo/tree"))
}

#[test]
fn broken_recordings_are_refused_with_their_name() {
    let (program, recording, _) = example();
    let bytes = std::fs::read(&recording).unwrap();
    for part in 0..50 {
        let (_keep, cut) = written("cut.data", &bytes[..bytes.len() * part / 50]);
        let message = refused(&["profile", "--vmlinux", text(&program), "--perf", &cut]);
        assert!(message.contains("cut.data"), "{message}");
    }
    let (_keep, garbage) = written("garbage.data", &[0x5a; 4096]);
    assert!(refused(&["samples", "--vmlinux", text(&program), "--perf", &garbage]).contains("garbage.data"));
    let folder = tempfile::tempdir().unwrap();
    refused(&["profile", "--vmlinux", text(&program), "--perf", text(folder.path())]);
}

#[test]
fn a_recording_of_another_build_is_refused_unless_forced() {
    let (program, recording, _) = example();
    let mut bytes = std::fs::read(&program).unwrap();
    // The note's header: 4 bytes of name, 20 of build id, kind 3, "GNU".
    let note = [4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, b'G', b'N', b'U', 0];
    let at = bytes.windows(note.len()).position(|window| window == note).unwrap() + note.len();
    bytes[at] ^= 0xff;
    let (_keep, other) = written("shaper", &bytes);
    let message = refused(&["profile", "--vmlinux", &other, "--perf", text(&recording)]);
    assert!(message.contains("build id") && message.contains("--force"), "{message}");
}

#[test]
fn a_plan_profile_or_tree_that_does_not_belong_writes_nothing() {
    let (program, recording, tree) = example();
    let work = tempfile::tempdir().unwrap();
    let path = |name: &str| work.path().join(name).to_str().unwrap().to_owned();
    let profile = path("profile.json");
    let made =
        fieldline(&["profile", "--vmlinux", text(&program), "--perf", text(&recording), "-o", &profile]);
    assert!(made.status.success());
    // A profile of another layout.
    let changed = std::fs::read_to_string(&profile).unwrap().replace("\"fingerprint\":", "\"fingerprint\":1");
    std::fs::write(path("other.json"), changed).unwrap();
    let (out, other) = (path("plan.json"), path("other.json"));
    let plan = |profile: &str, out: &str| {
        ["plan", "tx_class", "--profile", profile, "--vmlinux", text(&program), "-o", out].map(str::to_owned)
    };
    let words = plan(&other, &out);
    refused(&words.each_ref().map(String::as_str));
    assert!(!Path::new(&out).exists());
    // A folder that can't be written.
    let words = plan(&profile, "/proc/nowhere/plan.json");
    refused(&words.each_ref().map(String::as_str));
    let words = plan(&profile, &out);
    assert!(fieldline(&words.each_ref().map(String::as_str)).status.success());
    // A tree without the struct, a profile in a plan's place, a patch folder that can't be made.
    let (empty, patches) = (tempfile::tempdir().unwrap(), path("patches"));
    refused(&["patch", "--plan", &out, "--tree", text(empty.path()), "-o", &patches]);
    refused(&["patch", "--plan", &profile, "--tree", text(&tree), "-o", &patches]);
    assert!(!Path::new(&patches).exists());
    refused(&["patch", "--plan", &out, "--tree", text(&tree), "-o", "/proc/nowhere"]);
    // A plan of another version of the header is understood, and the answer is no.
    let changed = std::fs::read_to_string(&out).unwrap().replace("\"name\":\"", "\"name\":\"x_");
    let changed = changed.replace("x_tx_class", "tx_class");
    std::fs::write(path("changed.json"), changed).unwrap();
    let changed = path("changed.json");
    let output = fieldline(&["patch", "--plan", &changed, "--tree", text(&tree), "-o", &patches]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!Path::new(&patches).exists());
}

#[cfg(unix)]
#[test]
fn a_pipe_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let (program, recording, _) = example();
    let work = tempfile::tempdir().unwrap();
    let pipe = work.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    let words = ["profile", "--vmlinux", text(&program), "--perf", text(&recording), "-o", text(&pipe)];
    assert!(fieldline(&words).status.success());
    assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    assert!(reader.join().unwrap().starts_with('{'));
}

/// Gives a file a time of access long past, which any reading makes newer (relatime: it is older than the
/// last change).
fn forget_access(path: &Path) -> std::time::SystemTime {
    let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000);
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_times(std::fs::FileTimes::new().set_accessed(past)).unwrap();
    past
}

#[test]
fn missing_inputs_are_reported_before_the_tree_is_read() {
    let (program, recording, demo) = example();
    let tree = tempfile::tempdir().unwrap();
    let header = demo.join("include/shaper.h");
    let copy = tree.path().join("include/shaper.h");
    std::fs::create_dir(tree.path().join("include")).unwrap();
    std::fs::copy(header, &copy).unwrap();
    let profile = tree.path().join("profile.json");
    let (program, recording) = (text(&program), text(&recording));
    let profiled = fieldline(&["profile", "--vmlinux", program, "--perf", recording, "-o", text(&profile)]);
    assert!(profiled.status.success());
    let out = tree.path().join("out");
    let rest = ["tx_class", "--tree", text(tree.path()), "-o", text(&out), "--vmlinux", program];
    let propose = |perf: &str, more: &[&str]| {
        let before = forget_access(&copy);
        let message = refused(&[&["propose"], &rest[..], &["--perf", perf], more].concat());
        assert_eq!(std::fs::metadata(&copy).unwrap().accessed().unwrap(), before, "{message}");
        assert!(!out.exists());
        message
    };
    assert!(propose("no-such.data", &[]).contains("no-such.data"));
    assert!(propose(recording, &["--pins", "no-such.toml"]).contains("no-such.toml"));
    assert!(propose(recording, &["--also", "no-such.ko"]).contains("no-such.ko"));
    let before = forget_access(&copy);
    let message = refused(&[&["plan"], &rest[..], &["--profile", "no-such.json"]].concat());
    assert!(message.contains("no-such.json"), "{message}");
    assert_eq!(std::fs::metadata(&copy).unwrap().accessed().unwrap(), before, "{message}");
}
