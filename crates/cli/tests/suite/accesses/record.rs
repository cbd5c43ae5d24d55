//! `fieldline record` against programs that count their own accesses.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use super::addresses::assert_addresses_lose_nothing;
use crate::built::compiler;
use fieldline_testing::{KernelFacility, has_facility, is_available};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The test that needs breakpoints.
const WATCHES: &str = "breakpoints_catch_the_members_they_watch_and_no_others";

fn fieldline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap()
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Compiles a fixture as position independent program with debug info; nothing where there is no compiler.
fn build(folder: &Path, source: &str) -> Option<PathBuf> {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/programs").join(source);
    let (from, to) = (from.display().to_string(), folder.join(source.split('.').next().unwrap()));
    let mut c = vec!["-g", "-O2", "-fPIE", "-pie", "-pthread", "-o", text(&to), &from];
    let second = from.replace("hostel.c", "hostel_bell.c");
    if second != from {
        c.push(&second);
    }
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let rust = ["--edition", "2024", "-g", "-C", "opt-level=2", "-o", text(&to), &from];
    let (name, args): (&str, &[&str]) = match source.rsplit('.').next() {
        Some("c") => ("gcc", &c),
        Some("cc") => ("g++", &c),
        _ => (&rustc, &rust),
    };
    compiler(name, args)?;
    Some(to)
}

/// Records; nothing where the machine or its container lets nobody trace or watch.
fn record(perf: &Path, args: &[&str]) -> Option<String> {
    std::fs::remove_file(perf).ok();
    let output = fieldline(&[&["record", "-o", text(perf)], args].concat());
    let error = String::from_utf8(output.stderr).unwrap();
    if error.contains("refuses to trace") || error.contains("cannot watch") {
        let _ = match error.contains("cannot watch") {
            true => has_facility(WATCHES, KernelFacility::Breakpoints, false),
            false => is_available("permission to trace", false),
        };
        assert!(!perf.exists());
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{error}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn profile(program: &Path, perf: &Path) -> Value {
    profile_with(program, perf, &[])
}

fn profile_with(program: &Path, perf: &Path, more: &[&str]) -> Value {
    let to = perf.with_extension("json");
    let args = ["profile", "--program", text(program), "--perf", text(perf), "-o", text(&to)];
    let output = fieldline(&[&args, more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&std::fs::read(to).unwrap()).unwrap()
}

/// A program's own counts: type, member, offset, accesses.
fn counts(output: &str) -> Vec<(String, String, u64, u64)> {
    let rows = output.lines().filter_map(|line| line.strip_prefix("count "));
    let rows = rows.map(|row| {
        let words: Vec<&str> = row.split(' ').collect();
        let number = |at: usize| words[at].parse().unwrap();
        (words[0].to_owned(), words[1].to_owned(), number(2), number(3))
    });
    let rows: Vec<_> = rows.collect();
    assert!(!rows.is_empty(), "{output}");
    rows
}

/// Samples of a member, of functions other than `main`.
fn sampled(profile: &Value, ty: &str, offset: u64) -> u64 {
    sums(profile, ty, offset, "samples")
}

/// Samples of a member, or the sum of their periods.
fn sums(profile: &Value, ty: &str, offset: u64, what: &str) -> u64 {
    let is_type = |type_profile: &&Value| {
        let name = type_profile["name"].as_str().unwrap();
        name == ty || name.split_once("::").is_some_and(|(_, rest)| rest == ty)
    };
    let Some(type_profile) = profile["types"].as_array().unwrap().iter().find(is_type) else { return 0 };
    let in_main = |access: &&Value| {
        let function = access["function"].as_u64().map(|index| &profile["functions"][index as usize]);
        function.is_some_and(|function| function["name"].as_str() == Some("main") || function == "main")
    };
    let at = type_profile["accesses"].as_array().unwrap().iter().filter(|access| access["offset"] == offset);
    let of_access = |access: &Value| {
        ["loads", "stores"].iter().map(|kind| access[kind][what].as_u64().unwrap()).sum::<u64>()
    };
    at.filter(|access| !in_main(access)).map(of_access).sum()
}

/// Compiles a fixture and steps all of it: program, recording, and what it printed.
fn step_all(name: &str, source: &str, rounds: &str) -> Option<(PathBuf, PathBuf, String)> {
    let folder = folder(name);
    let program = build(&folder, source)?;
    let perf = folder.join("perf.data");
    let output = record(&perf, &["--gap", "0", "--for", "600", "--", text(&program), rounds])?;
    Some((program, perf, output))
}

/// Each member was sampled as often as the program says that it was touched.
#[track_caller]
fn assert_counts(profile: &Value, output: &str) {
    for (ty, member, offset, count) in counts(output) {
        assert_eq!(sampled(profile, &ty, offset), count, "{ty}.{member}");
    }
}

/// Ranks from 0 on; equal values share the mean of theirs.
fn ranks(values: &[u64]) -> Vec<f64> {
    let below = |value: &u64| values.iter().filter(|other| *other < value).count() as f64;
    let equal = |value: &u64| values.iter().filter(|other| *other == value).count() as f64;
    values.iter().map(|value| below(value) + (equal(value) - 1.0) / 2.0).collect()
}

/// Spearman's rank correlation: Pearson's of the ranks.
fn rank_correlation(a: &[u64], b: &[u64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

#[test]
fn rank_correlation_is_spearmans() {
    assert!((rank_correlation(&[1, 2, 3], &[10, 20, 30]) - 1.0).abs() < 1e-9);
    assert!((rank_correlation(&[1, 2, 3], &[30, 20, 10]) + 1.0).abs() < 1e-9);
    assert!((rank_correlation(&[1, 2, 2, 4], &[1, 2, 3, 4]) - 0.9486).abs() < 1e-3);
}

/// Samples, or branch stacks, that make the ranks of members certain enough.
const MIN_RANKED_SAMPLES: u64 = 300;
/// How often a program is given twice as much to do, if it was done too fast for so many.
const MAX_LONGER_RUNS: u32 = 4;

/// Records a program: what it printed, and the profile. One that is done before `count` finds enough in the profile
/// gets more to do.
fn record_enough(
    program: &Path,
    perf: &Path,
    how: &[&str],
    rounds: u64,
    count: impl Fn(&str, &Value) -> u64,
) -> Option<(String, Value)> {
    let mut last = None;
    for rounds in (0..=MAX_LONGER_RUNS).map(|run| (rounds << run).to_string()) {
        let output = record(perf, &[&["--for", "300"], how, &["--", text(program), &rounds]].concat())?;
        let profile = profile(program, perf);
        let is_enough = count(&output, &profile) >= MIN_RANKED_SAMPLES;
        last = Some((output, profile));
        if is_enough {
            break;
        }
    }
    last
}

/// The counts of members, by the program itself and by a profile.
fn counted_and_seen(output: &str, profile: &Value, what: &str) -> (Vec<u64>, Vec<u64>) {
    let counts = counts(output);
    counts.iter().map(|(ty, _, offset, count)| (*count, sums(profile, ty, *offset, what))).unzip()
}

/// Records a program at the default settings, and compares how hot its members are with what it counted
/// itself.
fn finds_hot_members(source: &str, rounds: u64) {
    let folder = folder(source);
    let Some(program) = build(&folder, source) else { return };
    let perf = folder.join("perf.data");
    let samples =
        |output: &str, profile: &Value| counted_and_seen(output, profile, "samples").1.iter().sum::<u64>();
    let Some((output, profile)) = record_enough(&program, &perf, &[], rounds, samples) else { return };
    let (counted, seen) = counted_and_seen(&output, &profile, "samples");
    let correlation = rank_correlation(&counted, &seen);
    assert!(correlation >= 0.95, "{source}: {correlation}; {output} sampled {seen:?}");
    assert_addresses_lose_nothing(&program, &perf);
}

#[test]
fn hot_members_of_a_program_in_c_are_found() {
    finds_hot_members("market.c", 60_000_000);
}

#[test]
fn hot_members_of_a_program_in_cxx_are_found() {
    finds_hot_members("harbour.cc", 40_000_000);
}

#[test]
fn hot_members_of_a_program_in_rust_are_found() {
    finds_hot_members("orchard.rs", 60_000_000);
}

/// Records a program with branch stacks, and compares accesses in straight-line ranges with the program's own
/// counts. Gives the ratio of the sum of periods to the count.
fn branches_find_hot_members(source: &str, rounds: u64, depth: &str, how: &[&str]) -> f64 {
    let folder = folder(&format!("branches-{source}"));
    let Some(program) = build(&folder, source) else { return 1.0 };
    let perf = folder.join("perf.data");
    let how = [&["--branch-stacks", depth], how].concat();
    let stacks = |_: &str, profile: &Value| profile["recordings"][0]["branch_stacks"].as_u64().unwrap();
    let Some((output, profile)) = record_enough(&program, &perf, &how, rounds, stacks) else { return 1.0 };
    let recording = &profile["recordings"][0];
    let (stacks, runs) = (&recording["branch_stacks"], &recording["branch_runs"]);
    assert!(runs.as_u64().unwrap() > 3 * stacks.as_u64().unwrap(), "{stacks} {runs}");
    let (counted, seen) = counted_and_seen(&output, &profile, "samples");
    let (_, periods) = counted_and_seen(&output, &profile, "period");
    let correlation = rank_correlation(&counted, &seen);
    let sum = |all: &[u64]| all.iter().sum::<u64>() as f64;
    let ratio = sum(&periods) / sum(&counted);
    println!(
        "{source}: {runs} runs of {stacks} stacks, rank correlation {correlation:.4}, periods {ratio:.4} of all"
    );
    assert!(correlation >= 0.95, "{source}: {correlation}; {output} seen {seen:?}");
    ratio
}

#[test]
fn branches_find_what_a_program_in_c_touched_and_how_often() {
    let ratio = branches_find_hot_members("market.c", 1000, "16", &["--gap", "0", "--every", "100"]);
    assert!((0.85..1.15).contains(&ratio), "{ratio}");
}

#[test]
fn branches_find_hot_members_of_a_program_in_cxx() {
    branches_find_hot_members("harbour.cc", 40_000_000, "32", &["--gap", "4", "--every", "8"]);
}

#[test]
fn branches_find_hot_members_of_a_program_in_rust() {
    branches_find_hot_members("orchard.rs", 60_000_000, "16", &["--gap", "4", "--every", "8"]);
}

#[test]
fn where_all_is_stepped_each_access_is_seen_once() {
    let Some((program, perf, output)) = step_all("all", "market.c", "60") else { return };
    let profile = profile(&program, &perf);
    assert_counts(&profile, &output);
}

/// A program whose objects an address alone doesn't tell apart: all of it is stepped, so each access is seen once.
#[test]
fn objects_at_reused_and_shared_addresses_keep_their_accesses() {
    let Some((program, perf, output)) = step_all("reused", "hostel.c", "40") else { return };
    let profile = profile(&program, &perf);
    assert_counts(&profile, &output);
    assert_addresses_lose_nothing(&program, &perf);
    // An account lies in a member at 48, also in those that nothing else of was touched; a bell in the lobby.
    let offsets = |name: &str| {
        let types = profile["types"].as_array().unwrap().iter();
        let found = types.filter(|ty| ty["name"] == name).flat_map(|ty| ty["accesses"].as_array().unwrap());
        found.map(|access| access["offset"].as_u64().unwrap()).collect::<Vec<u64>>()
    };
    assert_eq!(sampled(&profile, "member", 56), sampled(&profile, "account", 8));
    assert!(offsets("lobby").iter().all(|offset| *offset >= 24), "{:?}", offsets("lobby"));
    for event in profile["coverage"].as_array().unwrap() {
        assert!(event["unattributed"].get("bad_addr").is_none(), "{event}");
    }
}

/// Where all is stepped, allocations are noted, so that an address and a time say what was touched.
#[test]
fn memory_that_is_allocated_again_is_another_object() {
    let Some((program, perf, output)) = step_all("allocated", "counter.c", "40") else { return };
    let profile = profile(&program, &perf);
    assert_counts(&profile, &output);
    assert_addresses_lose_nothing(&program, &perf);
}

/// Pointers walk arrays forwards, in strides and backwards; indexes are read from memory.
#[test]
fn elements_of_arrays_keep_their_accesses_with_addresses_and_without() {
    let Some((program, perf, output)) = step_all("elements", "stairs.c", "40") else { return };
    for more in [&[][..], &["--no-addresses"]] {
        assert_counts(&profile_with(&program, &perf, more), &output);
    }
    assert_addresses_lose_nothing(&program, &perf);
}

#[test]
fn false_sharing_shows_in_steps_and_objects_of_one_thread_are_not_accused() {
    let Some((program, perf, _)) = step_all("relay", "relay.c", "300") else { return };
    profile(&program, &perf);
    let profile = perf.with_extension("json");
    let output = fieldline(&["report", "--profile", text(&profile), "--format", "json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let falsely = |name: &str| {
        let of_type = report["types"].as_array().unwrap().iter().find(|ty| ty["name"] == name).unwrap();
        let found = of_type["false_sharing"].as_array().unwrap().iter();
        let mut members: Vec<String> = found
            .filter(|shared| shared["line_size"] == 64)
            .map(|shared| format!("{} {}", shared["name"], shared["written"][0]["name"]))
            .collect();
        members.sort();
        members
    };
    assert_eq!(falsely("baton"), [r#""first" "second""#, r#""second" "first""#]);
    assert!(falsely("clock").is_empty() && falsely("runner").is_empty());
    let output = fieldline(&["report", "--profile", text(&profile), "baton", "-v"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("falsely shared: 2 threads use different members of one line of 64 B"), "{text}");
}

#[test]
fn breakpoints_catch_the_members_they_watch_and_no_others() {
    let folder = folder("watched");
    let Some(program) = build(&folder, "market.c") else { return };
    let perf = folder.join("perf.data");
    let watch = ["--object", "buyer@buyers", "--members", "money,hunger,seed", "--for", "2", "--kill", "--"];
    let Some(_) = record(&perf, &[&watch[..], &[text(&program), "4000000000"]].concat()) else { return };
    let profile = profile(&program, &perf);
    // A look, at each turn of the loop, touches `seed` twice; a purchase, at each third, touches `money`
    // twice.
    let [money, hunger, seed] = [8, 24, 40].map(|offset| sampled(&profile, "buyer", offset));
    assert!(money > 0 && hunger > 0 && seed > 0, "{money} {hunger} {seed}");
    for offset in [0, 16, 28, 32] {
        assert_eq!(sampled(&profile, "buyer", offset), 0, "{offset}");
    }
}

/// The message of a recording that fails; nothing is written then.
fn refused(args: &[&str]) -> String {
    let perf = folder("refused").join("perf.data");
    let output = fieldline(&[&["record", "-o", text(&perf)], args].concat());
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(!perf.exists(), "{error}");
    error.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn what_can_not_be_recorded_is_said_and_nothing_is_written() {
    assert!(refused(&["--", "/no/such/program"]).contains("cannot run /no/such/program: No such file"));
    assert!(refused(&["--object", "a@b", "--", "/no/such/program"]).contains("cannot run /no/such/program"));
    assert!(refused(&["--pid", "4194305"]).contains("there is no process 4194305"));
    assert!(refused(&["--object", "a@0xz", "--", "/no/such/program"]).contains("TYPE@SYMBOL"));
    assert!(refused(&["--gap", "x", "--", "true"]).contains("--help"));
    let error = refused(&["--", "/bin/true"]);
    assert!(error.contains("no samples: the program ended") || error.contains("refuses to trace"), "{error}");
    let error = fieldline(&["record", "-o", "/no/such/folder/perf.data", "--", "/bin/true"]);
    assert!(String::from_utf8(error.stderr).unwrap().contains("cannot write /no/such/folder/perf.data"));
}

#[test]
fn objects_that_can_not_be_watched_are_refused() {
    let folder = folder("objects");
    let Some(program) = build(&folder, "market.c") else { return };
    let with = |object: &str, more: &[&str]| {
        refused(&[&["--object", object], more, &["--", text(&program), "100000000"]].concat())
    };
    assert!(with("buyer@nobody", &[]).contains("there is no variable nobody"));
    assert!(with("nobody@buyers", &[]).contains("nobody"));
    assert!(with("buyer@buyers", &["--members", "wings"]).contains("has no member wings"));
    let error = with("stall@buyers", &["--for", "0.05"]);
    assert!(error.contains("rotations of four") && error.contains("--for"), "{error}");
}
