//! Replaying accesses shows what a plan changes.

use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

fn fieldline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap()
}

/// Offsets in the first struct planned of two members that share a 64-byte line only in the chosen order.
fn find_joined_members(struct_plan: &Value) -> (u64, u64) {
    let line = |side: &str, index: u64| {
        let members = struct_plan[side]["members"].as_array().unwrap();
        let member = members.iter().find(|member| member["index"] == index).unwrap();
        member["offset"].as_u64().unwrap() / 64
    };
    let members = struct_plan["declared"]["members"].as_array().unwrap();
    let offset = |index: u64| members[index as usize]["offset"].as_u64().unwrap();
    for first in 0..members.len() as u64 {
        for second in 0..first {
            if line("declared", first) != line("declared", second)
                && line("chosen", first) == line("chosen", second)
            {
                return (offset(first), offset(second));
            }
        }
    }
    panic!("the plan brings no two members together: {struct_plan}");
}

/// A folder with a plan, and a trace in which two CPUs visit the two members of one object in turn.
fn prepare() -> (tempfile::TempDir, Value) {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    assert!(fieldline(&["demo", folder.path().to_str().unwrap()]).status.success());
    let plan: Value = serde_json::from_slice(&std::fs::read(place("plan.json")).unwrap()).unwrap();
    let struct_plan = plan["structs"][0].clone();
    let (first, second) = find_joined_members(&struct_plan);
    let base = 0xffff_8880_0000_0000_u64;
    let mut trace = String::from("# cpu address size kind\n");
    for visit in 0..100 {
        let cpu = visit % 2;
        writeln!(trace, "{cpu} {:#x} 4 s\n{cpu} {:x} 4 l", base + first, base + second).unwrap();
        (0..10).for_each(|_| writeln!(trace, "{cpu} 1000 8 l").unwrap());
    }
    std::fs::write(place("trace.txt"), trace).unwrap();
    let size = struct_plan["declared"]["size"].as_u64().unwrap();
    std::fs::write(
        place("objects.tsv"),
        format!("{base:x}\t{}\t{size}\n", struct_plan["name"].as_str().unwrap()),
    )
    .unwrap();
    (folder, struct_plan)
}

fn simulate(folder: &Path, more: &[&str]) -> Output {
    let place = |name: &str| folder.join(name).display().to_string();
    let (plan, trace, objects) = (place("plan.json"), place("trace.txt"), place("objects.tsv"));
    let mut args =
        vec!["simulate", "--plan", &plan, "--trace", &trace, "--objects", &objects, "--visit-gap", "5"];
    args.extend(more);
    fieldline(&args)
}

#[test]
fn members_brought_together_cost_one_line_a_visit() {
    let (folder, struct_plan) = prepare();
    let out = folder.path().join("simulation.json");
    let output = simulate(folder.path(), &["--lines", "64", "-o", out.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(document["format"], "fieldline-simulation");
    let row = &document["tables"][0]["rows"][0];
    assert_eq!((&row["name"], &row["visits"]), (&struct_plan["name"], &Value::from(100)));
    let lines = &row["metrics"][0];
    assert_eq!((&lines["before"], &lines["after"]), (&Value::from(2.0), &Value::from(1.0)));
    // Each CPU finds the line written by the other once a visit: two lines before, one after.
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("lines per visit       2.000 ->      1.000   -50.0 %  [-50.0, -50.0]"), "{text}");
}

/// Runs on the demo's own profile and program, without a trace.
fn simulate_samples(folder: &Path, more: &[&str]) -> Output {
    let place = |name: &str| folder.join(name).display().to_string();
    let (plan, profile, program) = (place("plan.json"), place("profile.json"), place("shaper"));
    let mut args = vec!["simulate", "--plan", &plan, "--profile", &profile, "--vmlinux", &program];
    args.extend(["--visits", "20000", "--population", "300"]);
    args.extend(more);
    fieldline(&args)
}

#[test]
fn visits_drawn_from_samples_touch_as_many_lines_as_the_plan_says() {
    let (folder, struct_plan) = prepare();
    let out = folder.path().join("simulation.json");
    let output = simulate_samples(folder.path(), &["--lines", "64", "-o", out.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("FROM SAMPLED VISITS"), "{text}");
    let document: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert!(document["drawn"].as_str().unwrap().contains("20000 visits"));
    let lines = &document["tables"][0]["rows"][0]["metrics"][0];
    let together = &struct_plan["forecasts"][0]["together"];
    for side in ["before", "after"] {
        let (simulated, planned) = (lines[side].as_f64().unwrap(), together[side].as_f64().unwrap());
        assert!((simulated / planned - 1.0).abs() < 0.05, "{side}: {simulated} {planned}");
    }
    let run = |threads| simulate_samples(folder.path(), &["--threads", threads]).stdout;
    assert_eq!(run("1"), run("3"));
}

#[test]
fn a_trace_and_a_profile_exclude_each_other() {
    let (folder, _) = prepare();
    let profile = folder.path().join("profile.json").display().to_string();
    let output = simulate(folder.path(), &["--profile", &profile]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--profile"));
}

#[test]
fn threads_change_nothing() {
    let (folder, _) = prepare();
    let run = |threads| String::from_utf8(simulate(folder.path(), &["--threads", threads]).stdout).unwrap();
    assert_eq!(run("1"), run("3"));
}

#[test]
fn what_does_not_belong_is_refused_with_file_and_place() {
    let (folder, struct_plan) = prepare();
    let refused = |file: &str, content: &[u8], message: &str| {
        let path = folder.path().join(file);
        let before = std::fs::read(&path).unwrap();
        std::fs::write(&path, content).unwrap();
        let output = simulate(folder.path(), &[]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(file) && text.contains(message), "{text}");
        std::fs::write(&path, before).unwrap();
    };
    refused("trace.txt", b"0 10 8 l\n0 10 8 q\n", "line 2");
    refused("trace.txt", b"", "empty");
    refused("trace.txt", &[0; 17], "no whole number of 16-byte records");
    refused("objects.tsv", b"1000 some_other 64\n", "no objects of struct");
    let name = struct_plan["name"].as_str().unwrap();
    refused("objects.tsv", format!("zz {name} 64\n").as_bytes(), "line 1");
    refused("objects.tsv", format!("1000 {name} 64\n").as_bytes(), "but the plan's has");
}
