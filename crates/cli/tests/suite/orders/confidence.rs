//! A plan is cross-validated and bootstrapped, in its file and in the report.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn fieldline(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn advice_on_the_example_holds_on_time_left_out() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo");
    let fixture = |name: &str| fixtures.join(name).to_str().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let read = |name: &str| -> Value { serde_json::from_slice(&std::fs::read(path(name)).unwrap()).unwrap() };
    let (program, recording) = (fixture("shaper"), fixture("shaper.perf.data"));
    let (profile, plan) = (path("profile.json"), path("plan.json"));
    fieldline(&["profile", "--vmlinux", &program, "--perf", &recording, "-o", &profile]);
    let blocks: Vec<u64> = read("profile.json")["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block.as_u64().unwrap())
        .collect();
    let samples = read("profile.json")["recordings"][0]["samples"].as_u64().unwrap();
    assert_eq!((blocks.len(), blocks.iter().sum::<u64>()), (20, samples));
    let most = blocks.iter().max().unwrap() - blocks.iter().min().unwrap();
    assert!(most <= samples / 200, "{blocks:?}");

    let args = ["--profile", &profile, "--vmlinux", &program, "--confidence", "2", "-v", "-o", &plan];
    let printed = fieldline(&[&["plan", "tx_flow"][..], &args].concat());
    let struct_plan = &read("plan.json")["structs"][0];
    assert_eq!(struct_plan["outcome"], "moved", "{struct_plan}");
    let confidence = &struct_plan["confidence"];
    assert_eq!((&confidence["folds"], &confidence["resamples"]), (&5.into(), &2.into()));
    let interval = &confidence["out_of_fold"][0]["interval"];
    assert!(interval["high"].as_f64().unwrap() < 0.0, "{confidence}");
    let head = "  5-fold cross-validation: lines per visit in the time blocks not planned on (4 of 20 blocks each)\n";
    assert!(printed.contains(head), "{printed}");
    let row = &confidence["out_of_fold"][0];
    let share = |value: &Value| 100.0 * value.as_f64().unwrap();
    let bias = format!(
        " [in sample {:+.1} %, in-sample bias {:.1} %]\n",
        share(&row["in_sample"]),
        share(&row["optimism"])
    );
    assert!(printed.contains(&bias), "{bias}{printed}");
    // Replicates begin with the patterns and orders of the whole recording (docs/METHOD.md).
    let percent = |name: &str| format!("{:+.1}", 100.0 * confidence["interval"][name].as_f64().unwrap());
    let (change, low, high) = (percent("change"), percent("low"), percent("high"));
    let bootstrap = format!(
        "  block bootstrap, 2 replicates, warm-started: {change} % (95 % CI {low}..{high}) over all line sizes\n"
    );
    assert!(printed.contains(&bootstrap), "{bootstrap}{printed}");
}
