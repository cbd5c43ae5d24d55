//! Profiles in Parquet: the folder of one host plans as its JSON does, many are merged, damage is named.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn demo(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo").join(name);
    path.to_str().unwrap().to_owned()
}

fn fieldline(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).current_dir(folder).output().unwrap()
}

fn done(folder: &Path, args: &[&str]) -> (String, String) {
    let output = fieldline(folder, args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

fn refused(folder: &Path, args: &[&str]) -> String {
    let output = fieldline(folder, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// Writes the demo's profile as JSON, or as a host of a fleet with labels.
fn profile(folder: &Path, output: &str, labels: &[&str]) {
    let (program, recording) = (demo("shaper"), demo("shaper.perf.data"));
    let mut args = vec!["profile", "--vmlinux", &program, "--perf", &recording, "-o", output];
    labels.iter().for_each(|label| args.extend(["--label", label]));
    args.extend((!labels.is_empty()).then_some(["--format", "parquet"]).into_iter().flatten());
    done(folder, &args);
}

fn fleet(folder: &Path) {
    for (host, cohort) in [("a", "web"), ("b", "db"), ("c", "batch")] {
        let (host_label, cohort) = (format!("host={host}"), format!("cohort={cohort}"));
        profile(folder, &format!("fleet/{host}"), &[&host_label, &cohort, "day=2026-05-01"]);
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_folder_plans_as_the_json_of_its_host_does() {
    let folder = tempfile::tempdir().unwrap();
    profile(folder.path(), "profile.json", &[]);
    profile(folder.path(), "host", &["cohort=web"]);
    let plan = |profile: &str, to: &str| {
        let program = demo("shaper");
        let args = ["plan", "tx_class", "tx_flow", "--vmlinux", &program, "--confidence", "4", "-o", to];
        done(folder.path(), &[&args[..], &["--profile", profile]].concat());
        std::fs::read(folder.path().join(to)).unwrap()
    };
    assert!(plan("profile.json", "a.json") == plan("host", "b.json"));
    assert!(plan("host/*.parquet", "c.json") == plan("host", "b.json"));
    let size = |path: PathBuf| std::fs::metadata(path).unwrap().len();
    let files = std::fs::read_dir(folder.path().join("host")).unwrap().map(|entry| entry.unwrap().path());
    let (tables, whole) = (files.map(size).sum::<u64>(), size(folder.path().join("profile.json")));
    assert!(tables <= whole, "{tables} of {whole}: a small profile has five heads of files");
}

#[test]
fn hosts_are_merged_and_chosen() {
    let folder = tempfile::tempdir().unwrap();
    fleet(folder.path());
    let (text, _) =
        done(folder.path(), &["merge", "fleet/**/*.parquet", "--format", "parquet", "-o", "merged"]);
    assert!(text.contains("3 hosts, 12 files"), "{text}");
    let samples = |profile: &str, more: &[&str]| {
        let args = ["report", "tx_class", "--format", "json", "--profile", profile];
        let (text, _) = done(folder.path(), &[&args[..], more].concat());
        serde_json::from_str::<Value>(&text).unwrap()["types"][0]["samples"].as_u64().unwrap()
    };
    let single = samples("fleet/a", &[]);
    assert_eq!((samples("merged", &[]), samples("fleet", &[])), (3 * single, 3 * single));
    assert_eq!(samples("fleet/**/*.parquet", &["--where", "host=b"]), single);
    assert_eq!(samples("merged", &["--where", "cohort!=db"]), 2 * single);
    assert_eq!(samples("merged", &["--weight", "cohort=web*5", "--weight", "cohort=d**0"]), 6 * single);
    let kept = refused(folder.path(), &["report", "--profile", "merged", "--where", "host=b"]);
    assert!(kept.contains("keep no host"), "{kept}");
    done(folder.path(), &["merge", "fleet", "-o", "sum.json"]);
    assert_eq!(samples("sum.json", &[]), 3 * single);
    let (text, _) = done(folder.path(), &["report", "--profile", "fleet", "--hosts"]);
    assert!(text.starts_with("3 hosts; those that stand out: 0"), "{text}");
}

#[test]
fn no_cohort_gets_worse() {
    let folder = tempfile::tempdir().unwrap();
    fleet(folder.path());
    let program = demo("shaper");
    let args = ["plan", "tx_class", "--vmlinux", &program, "--profile", "fleet", "-o", "plan.json"];
    let (text, _) = done(folder.path(), &[&args[..], &["--cohorts", "cohort", "--no-cohort-worse"]].concat());
    assert!(text.contains("  web: lines/visit 64 B "), "{text}");
    let plan = json(&folder.path().join("plan.json"));
    assert_eq!(plan["structs"][0]["outcome"], "moved");
    let cohorts = plan["structs"][0]["cohorts"].as_array().unwrap();
    let names: Vec<&str> = cohorts.iter().map(|cohort| cohort["cohort"].as_str().unwrap()).collect();
    assert_eq!(names, ["batch", "db", "web"]);
    for cohort in cohorts {
        assert_eq!(cohort["is_worse"], false);
        for forecast in cohort["forecasts"].as_array().unwrap() {
            let lines = |side: &str| forecast["together"][side].as_f64().unwrap();
            assert!(lines("after") <= lines("before"), "{forecast}");
        }
    }
    let none = refused(folder.path(), &[&args[..], &["--cohorts", "rack"]].concat());
    assert!(none.contains("no host has that label"), "{none}");
}

#[test]
fn a_broken_file_is_named_or_counted() {
    let folder = tempfile::tempdir().unwrap();
    fleet(folder.path());
    let path = folder.path().join("fleet/b/accesses.parquet");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let args = ["merge", "fleet/**/*.parquet", "--format", "parquet", "-o", "merged"];
    let error = refused(folder.path(), &args);
    assert!(error.contains("fleet/b/accesses.parquet: broken Parquet file"), "{error}");
    assert!(!folder.path().join("merged").exists());
    let (_, notes) = done(folder.path(), &[&args[..], &["--skip-broken"]].concat());
    assert!(notes.contains("1 broken file is left out; the first: fleet/b/accesses.parquet"), "{notes}");
    std::fs::write(folder.path().join("other.parquet"), "PAR1").unwrap();
    let error = refused(folder.path(), &["report", "--profile", "other.parquet"]);
    assert!(error.contains("other.parquet: broken"), "{error}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    profile(folder.path(), "profile.json", &[]);
    profile(folder.path(), "host", &["cohort=web"]);
    let (program, recording) = (demo("shaper"), demo("shaper.perf.data"));
    let args = ["profile", "--vmlinux", &program, "--perf", &recording];
    for (more, complaint) in [
        (&["--format", "parquet"][..], "needs -o"),
        (&["--label", "a=b"], "--label needs --format parquet"),
        (&["--format", "parquet", "-o", "profile.json"], "a file, but a folder"),
        (&["--format", "parquet", "-o", "x", "--label", "kernel=y"], "that name is taken"),
    ] {
        let error = refused(folder.path(), &[&args[..], more].concat());
        assert!(error.contains(complaint), "{error}");
    }
    let error = refused(folder.path(), &["merge", "host", "profile.json", "-o", "sum.json"]);
    assert!(error.contains("no Parquet, but others are"), "{error}");
    let error = refused(folder.path(), &["report", "--profile", "profile.json", "--where", "cohort=web"]);
    assert!(error.contains("are for profiles in Parquet"), "{error}");
    let error = refused(folder.path(), &["report", "--profile", "host", "--where", "cohort"]);
    assert!(error.contains("--where 'cohort'"), "{error}");
    let error = refused(
        folder.path(),
        &["merge", "host", "host/*.parquet", "host", "-o", "sum.json", "--where", "host=none"],
    );
    assert!(error.contains("no recording is left"), "{error}");
}
