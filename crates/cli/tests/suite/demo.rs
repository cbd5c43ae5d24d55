//! The demo runs the whole pipeline, and its results for the example are correct.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command that must succeed; gives what it printed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {} {message}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

fn fieldline(args: &[&str]) -> String {
    run(Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args))
}

/// The demo's folder and what it printed.
fn demo() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let printed = fieldline(&["demo", folder.path().to_str().unwrap()]);
    (folder, printed)
}

fn plan(folder: &Path) -> Vec<Value> {
    let plan: Value = serde_json::from_slice(&std::fs::read(folder.join("plan.json")).unwrap()).unwrap();
    plan["structs"].as_array().unwrap().clone()
}

fn patch(folder: &Path) -> PathBuf {
    let patches: Vec<PathBuf> =
        std::fs::read_dir(folder.join("patches")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(patches.len(), 1, "{patches:?}");
    patches[0].clone()
}

#[test]
fn the_demo_ends_in_an_order_that_touches_fewer_lines_and_its_patch() {
    let (folder, printed) = demo();
    for command in ["layout", "profile", "report", "plan", "patch"] {
        assert!(printed.contains(&format!("\n$ fieldline {command} ")), "{command}:\n{printed}");
    }
    for struct_plan in plan(folder.path()) {
        let number = |value: &Value| value.as_f64().unwrap();
        let size = |order: &str| struct_plan[order]["size"].as_u64().unwrap();
        assert!(size("chosen") <= size("declared"), "{struct_plan}");
        for forecast in struct_plan["forecasts"].as_array().unwrap() {
            let together = &forecast["together"];
            let gain = number(&together["before"]) - number(&together["after"]);
            assert!(
                gain >= if forecast["line"] == 64 { 0.5 } else { 0.0 },
                "{}: {forecast}",
                struct_plan["name"]
            );
        }
    }
    let patch = std::fs::read_to_string(patch(folder.path())).unwrap();
    assert!(patch.contains("\n+++ b/include/shaper.h\n"), "{patch}");
}

#[test]
fn the_demo_fits_on_a_screen_and_shows_each_result_behind_its_command_if_asked() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    for columns in ["80", "200"] {
        let printed =
            run(Command::new(env!("CARGO_BIN_EXE_fieldline")).args(["demo", place]).env("COLUMNS", columns));
        let width = printed.lines().map(|row| row.chars().count()).max().unwrap();
        assert!(printed.lines().count() <= 60 && width <= columns.parse().unwrap(), "{printed}");
    }
    let printed = fieldline(&["demo", "-v", place]);
    let position = |text: &str| printed.find(text).unwrap_or_else(|| panic!("no {text} in:\n{printed}"));
    let order = [
        "$ fieldline layout ",
        "  offset    size  member",
        "$ fieldline report ",
        "  functions that touch it",
    ];
    assert!(order.map(position).is_sorted(), "{printed}");
}

#[test]
fn every_run_writes_the_same_files() {
    let (first, _) = demo();
    let (other, _) = demo();
    let patch = patch(first.path());
    for file in [Path::new("profile.json"), Path::new("plan.json"), patch.strip_prefix(first.path()).unwrap()]
    {
        let read = |folder: &Path| std::fs::read(folder.join(file)).unwrap();
        assert!(read(first.path()) == read(other.path()), "{}", file.display());
    }
}

/// A type's objects lie one behind the other.
struct Pool {
    name: String,
    start: u64,
    size: u64,
    count: u64,
}

fn pools() -> Vec<Pool> {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo/objects.tsv");
    let text = std::fs::read_to_string(table).unwrap();
    let rows = text.lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| {
        let words: Vec<&str> = row.split('\t').collect();
        Pool {
            name: words[0].to_owned(),
            start: u64::from_str_radix(words[1].trim_start_matches("0x"), 16).unwrap(),
            size: words[2].parse().unwrap(),
            count: words[3].parse().unwrap(),
        }
    })
    .collect()
}

/// Counts by type: samples on its objects, and those of them that were given the type and the true offset.
#[test]
fn samples_are_attributed_to_the_objects_they_lie_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let rows = fieldline(&["samples", "--vmlinux", &path("shaper"), "--perf", &path("shaper.perf.data")]);
    let pools = pools();
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for row in rows.lines().filter(|row| !row.starts_with('#')) {
        let words: Vec<&str> = row.split_whitespace().collect();
        let address = u64::from_str_radix(words[1], 16).unwrap();
        let holds = |pool: &&Pool| (pool.start..pool.start + pool.size * pool.count).contains(&address);
        let claimed = pools.iter().find(|pool| pool.name == words[2]);
        let Some(pool) = pools.iter().find(holds) else {
            assert!(claimed.is_none(), "no {} is there: {row}", words[2]);
            continue;
        };
        let (seen, found) = counts.entry(&pool.name).or_default();
        *seen += 1;
        if let Some(claimed) = claimed {
            let offset: u64 = words[3].parse().unwrap();
            assert_eq!((&claimed.name, offset), (&pool.name, (address - pool.start) % pool.size), "{row}");
            *found += 1;
        }
    }
    assert_eq!(counts.len(), pools.len());
    assert!(counts.values().all(|(seen, found)| 100 * found >= 85 * seen), "{counts:?}");
}

#[test]
fn the_patched_header_compiles_to_the_layout_planned() {
    if !fieldline_testing::has_programs(&["gcc", "git"]) {
        return;
    }
    let (folder, _) = demo();
    let tree = folder.path().join("tree");
    run(Command::new("git").current_dir(&tree).args(["apply", "-p1"]).arg(patch(folder.path())));
    let object = folder.path().join("patched.o");
    let flags = ["-std=gnu11", "-g", "-Iinclude", "-include", "config.h", "-c", "shaper/setup.c", "-o"];
    run(Command::new("gcc").current_dir(&tree).args(flags).arg(&object));
    for struct_plan in plan(folder.path()) {
        let name = struct_plan["name"].as_str().unwrap();
        let printed = fieldline(&["layout", name, "--vmlinux", object.to_str().unwrap(), "--format", "json"]);
        let built: Value = serde_json::from_str(&printed).unwrap();
        let built = &built["layouts"][0];
        assert_eq!(built["size"], struct_plan["chosen"]["size"], "{name}");
        let place = |member: &Value, offset: u64| (member["name"].as_str().map(str::to_owned), offset);
        let members = |layout: &Value| layout["members"].as_array().unwrap().clone();
        let built: Vec<_> = members(built)
            .iter()
            .map(|member| place(member, member["bit_offset"].as_u64().unwrap() / 8))
            .collect();
        let planned: Vec<_> = members(&struct_plan["chosen"])
            .iter()
            .map(|member| place(member, member["offset"].as_u64().unwrap()))
            .collect();
        assert_eq!(built, planned, "{name}");
    }
}
