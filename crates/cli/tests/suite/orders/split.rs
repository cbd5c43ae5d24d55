//! Splits, structs side by side, and what is said where there are none.

use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

fn fieldline(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).current_dir(folder).args(args).output().unwrap()
}

fn demo() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert!(fieldline(folder.path(), &["demo", "."]).status.success());
    folder
}

const INPUTS: [&str; 4] = ["--profile", "profile.json", "--vmlinux", "./shaper"];

#[test]
fn a_split_is_compared_with_the_best_order_and_counts_places() {
    let folder = demo();
    // Two objects: the one inside another struct is touched at its first bytes alone.
    let mut trace = String::new();
    for _ in 0..1_500 {
        trace.push_str("0 1000 8 l\n1 4000 8 s\n");
        (0x1008..0x1180).step_by(8).for_each(|address| writeln!(trace, "0 {address:x} 8 l").unwrap());
    }
    std::fs::write(folder.path().join("t.txt"), trace).unwrap();
    let objects = "1000 tx_class 384\n3000 tx_cpu 16512\n4000 tx_class 384\n";
    std::fs::write(folder.path().join("o.tsv"), objects).unwrap();
    let replay = ["--tree", "tree", "--trace", "t.txt", "--objects", "o.tsv", "--lines", "64"];
    let args = [&["split", "tx_class", "--format", "json"][..], &INPUTS, &replay].concat();
    let output = fieldline(folder.path(), &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["format"], &found["version"]), (&"fieldline-split".into(), &1.into()));
    let splits = found["splits"].as_array().unwrap();
    for split in splits {
        let (stays, leaves) = (split["stays"].as_u64().unwrap(), split["leaves"].as_u64().unwrap());
        assert!(stays > 0 && leaves >= 32 && stays < 384 + 64, "{stays} {leaves}");
        let members = split["placed"]["members"].as_array().unwrap();
        let behind = |member: &&Value| member["offset"].as_u64() >= split["border"].as_u64();
        assert_eq!(members.iter().filter(behind).count(), split["indices"].as_array().unwrap().len());
    }
    let kinds: Vec<&Value> = splits.iter().flat_map(|split| split["why"].as_array().unwrap()).collect();
    assert!(kinds.iter().any(|why| why["kind"] == "tx_cpu"), "{kinds:?}");
    let files: Vec<&str> =
        found["files"].as_array().unwrap().iter().map(|file| file[0].as_str().unwrap()).collect();
    assert!(files.contains(&"shaper/class.c"), "{files:?}");
    // The best order and up to four splits, each with lines and misses.
    let replays = found["replay"].as_array().unwrap();
    assert_eq!(replays.len(), 1 + splits.len().min(4));
    assert!(replays.iter().all(|replay| replay["tables"][0]["line"] == 64));
    let again = fieldline(folder.path(), &[&args[..], &["--threads", "1"]].concat());
    assert_eq!(again.stdout, output.stdout, "threads change nothing");
}

#[test]
fn structs_that_nothing_holds_side_by_side_are_an_answer() {
    let folder = demo();
    let args = [&["plan", "--together", "tx_class,tx_flow"][..], &INPUTS].concat();
    let output = fieldline(folder.path(), &args);
    assert_eq!(output.status.code(), Some(1));
    let note = String::from_utf8_lossy(&output.stderr);
    assert!(note.contains("no struct holds tx_class and tx_flow side by side"), "{note}");
}

#[test]
fn objects_of_another_size_are_refused() {
    let folder = demo();
    std::fs::write(folder.path().join("t.txt"), "0 1000 8 l\n").unwrap();
    std::fs::write(folder.path().join("o.tsv"), "1000 tx_class 8\n").unwrap();
    let args = [&["split", "tx_class", "--trace", "t.txt", "--objects", "o.tsv"][..], &INPUTS].concat();
    let output = fieldline(folder.path(), &args);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("o.tsv: no objects of struct tx_class with 384 bytes"), "{error}");
}
