//! With the addresses of its samples no type of a recording has fewer accesses than without.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of structs that may be wrappers of a number or pointer (`atomic_t`, `hlist_head`). Those count in what
/// holds them only, if that is known.
const MAX_WRAPPER_SIZE: u64 = 8;

/// Samples by type and size. Wrappers and types without a name are left out: they count in what holds them.
fn samples_by_type(program: &Path, perf: &Path, more: &[&str]) -> BTreeMap<(String, u64), u64> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("addresses");
    std::fs::create_dir_all(&folder).unwrap();
    let to = folder.join(format!("{}-{}.json", perf.file_name().unwrap().to_str().unwrap(), more.len()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    command.args(["profile", "--program"]).arg(program).arg("--perf").arg(perf).arg("-o").arg(&to).args(more);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let profile: Value = serde_json::from_slice(&std::fs::read(to).unwrap()).unwrap();
    let mut samples = BTreeMap::new();
    for ty in profile["types"].as_array().unwrap() {
        let (name, size) = (ty["name"].as_str().unwrap().to_owned(), ty["size"].as_u64().unwrap());
        let accesses = ty["accesses"].as_array().unwrap().iter();
        let counts = accesses.flat_map(|access| [&access["loads"], &access["stores"]]);
        let sum: u64 = counts.map(|count| count["samples"].as_u64().unwrap()).sum();
        if name != "(anonymous)" && size > MAX_WRAPPER_SIZE {
            *samples.entry((name, size)).or_default() += sum;
        }
    }
    samples
}

/// Fails if a type has fewer samples with addresses.
pub(super) fn assert_addresses_lose_nothing(program: &Path, perf: &Path) {
    let (with, without) =
        (samples_by_type(program, perf, &[]), samples_by_type(program, perf, &["--no-addresses"]));
    for (ty, samples) in &without {
        let found = with.get(ty).copied().unwrap_or(0);
        assert!(found >= *samples, "{}: {ty:?}: {found} with addresses, {samples} without", perf.display());
    }
}

#[test]
fn addresses_lose_no_access_of_the_example() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo");
    assert_addresses_lose_nothing(&demo.join("shaper"), &demo.join("shaper.perf.data"));
}

/// Recordings of a kernel, where `FIELDLINE_DATA` names the folder that has them unpacked.
#[test]
#[ignore = "reads the recordings that FIELDLINE_DATA names; cargo xtask kernel runs it"]
fn recordings_of_a_kernel_lose_no_access_to_addresses() {
    let folder = PathBuf::from(std::env::var_os("FIELDLINE_DATA").unwrap());
    let kernel = PathBuf::from(std::env::var_os("FIELDLINE_VMLINUX").unwrap());
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_recording = |path: &PathBuf| path.display().to_string().ends_with(".perf.data");
    let mut recordings: Vec<PathBuf> = files.filter(is_recording).collect();
    recordings.sort();
    assert!(!recordings.is_empty());
    recordings.iter().for_each(|perf| assert_addresses_lose_nothing(&kernel, perf));
}
