//! `fieldline trial --compile`: a program built without and with patches, recorded and compared.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use fieldline_testing::{has_programs, is_available};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Two members that all loops use, on two lines of 64 bytes and on one of 128.
const HEADER: &str = "\
struct item {
\tlong first;
\tlong cold[9];
\tlong second;
\tlong more[5];
};
";
const PROGRAM: &str = "\
#include <stdlib.h>
#include \"item.h\"
#define COUNT 400
volatile long other;
static long visit(struct item *item)
{
\titem->second += item->first;
\treturn item->second;
}
int main(void)
{
\tlong sum = 0;
\tstruct item *items = aligned_alloc(128, COUNT * sizeof(*items));
\tfor (int i = 0; i < COUNT; i++)
\t\titems[i] = (struct item){ .first = i };
\tfor (int round = 0; round < 30000000; round++)
\t\tfor (int i = 0; i < COUNT; i++)
\t\t\tsum += visit(&items[i]);
\treturn sum == 1;
}
";

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["tree", "near", "far"] {
            fs::create_dir(project.path(folder)).unwrap();
        }
        project.write("tree/item.h", HEADER);
        project.write("tree/main.c", PROGRAM);
        project.write("tree/Makefile", "prog: main.c item.h\n\tgcc -g -O1 -fno-inline -o prog main.c\n");
        let near = HEADER
            .replace("\tlong second;\n", "")
            .replace("\tlong first;\n", "\tlong first;\n\tlong second;\n");
        let far = HEADER
            .replace("\tlong second;\n", "")
            .replace("\tlong more[5];\n", "\tlong more[5];\n\tlong second;\n");
        for (name, text) in [("near", near), ("far", far)] {
            project.write(&format!("{name}.h"), &text);
            let (before, after) = (project.path("tree/item.h"), project.path(&format!("{name}.h")));
            let diff = Command::new("diff").arg("-u").args([before, after]).output().unwrap();
            let text = String::from_utf8(diff.stdout).unwrap();
            let body: Vec<&str> = text.lines().skip(2).collect();
            let patch = format!("--- a/item.h\n+++ b/item.h\n{}\n", body.join("\n"));
            project.write(&format!("{name}/0001-order.patch"), &patch);
        }
        project
    }

    fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(inner)
    }

    fn write(&self, inner: &str, text: &str) {
        fs::write(self.path(inner), text).unwrap();
    }

    fn trial(&self, more: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
        command.arg("trial").arg("--patches").arg(self.path("near")).arg("--vs").arg(self.path("far"));
        command.arg("--tree").arg(self.path("tree")).arg("-o").arg(self.path("out"));
        command.args(["--compile", "make -s prog", "--program", "prog", "--runs", "3", "--format", "json"]);
        command.args(more).output().unwrap()
    }
}

/// The mean of a figure of the struct, by variant.
fn means(document: &Value, measure: &str, case: &str) -> Vec<f64> {
    let rows = document["structs"]["rows"].as_array().unwrap();
    let row =
        rows.iter().find(|row| row["test"] == "item" && row["measure"] == measure && row["case"] == case);
    let summaries = row.unwrap_or_else(|| panic!("{measure} {case}"))["summaries"].as_array().unwrap();
    summaries.iter().map(|summary| summary["mean"].as_f64().unwrap()).collect()
}

#[test]
fn a_program_is_tried_at_the_addresses_it_has() {
    if !has_programs(&["gcc", "make", "git", "diff"]) {
        return;
    }
    let project = Project::new();
    let load = ["--for", "1", "--gap", "20", "--visit-gap", "20", "--", "./prog"];
    let output = project.trial(&load);
    let error = String::from_utf8(output.stderr).unwrap();
    if error.contains("refuses to trace") {
        let _ = is_available("permission to trace", false);
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{error}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = means(&document, "lines per visit", "64 B");
    // Bursts cut the first and the last visit.
    let is_near = |found: f64, wanted: f64| (found - wanted).abs() < 0.1;
    assert!(is_near(lines[0], 2.0) && is_near(lines[1], 1.0) && is_near(lines[2], 2.0), "{lines:?}");
    assert!(means(&document, "lines per visit", "128 B").iter().all(|lines| is_near(*lines, 1.0)));
    assert_eq!(document["kernels"][0]["reordered"], serde_json::json!(["item"]));
    // What is there is kept, the tree is as it was, and other options are another trial.
    assert!(!project.path("tree/prog").exists());
    assert!(!project.path("out/recordings/base/run-001.perf.data").exists());
    let again = project.trial(&load);
    assert_eq!(again.stdout, output.stdout);
    let note = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(note.contains("9 of 9 runs are there already"), "{note}");
    let other = project.trial(&["--for", "2", "--", "./prog"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&other.stderr).contains("made of something else"));
}

#[test]
fn what_cannot_be_tried_is_said() {
    if !has_programs(&["gcc", "make", "git", "diff"]) {
        return;
    }
    let project = Project::new();
    let fails = |words: &[&str], what: &str| {
        let output = project.trial(words);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), error.contains(what)), (Some(2), true), "{error}");
        fs::remove_dir_all(project.path("out")).ok();
    };
    fails(&["--structs", "nosuch", "--", "./prog"], "no struct nosuch");
    fails(&["--kconfig", "x", "--", "./prog"], "--kconfig");
    fails(&["--runs", "1"], "PROGRAM");
    project.write("tree/main.c", &PROGRAM.replace("long sum", "lang sum"));
    fails(&["--", "./prog"], "build.log");
    project.write("tree/main.c", &PROGRAM.replace("visit(&items[i])", "other"));
    fails(&["--for", "1", "--", "./prog"], "no run has an access to struct item");
}
