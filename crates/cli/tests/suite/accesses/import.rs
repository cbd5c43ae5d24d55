//! perf's counts by type are imported unchanged, and those of another program are refused.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn import(report: &str) -> (Output, Option<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("report"), folder.path().join("profile.json"));
    std::fs::write(&path, report).unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo/shaper");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    command.arg("import").arg(&path).arg("--vmlinux").arg(program).arg("-o").arg(&out);
    let output = command.output().unwrap();
    let profile = std::fs::read(&out).ok().map(|bytes| serde_json::from_slice(&bytes).unwrap());
    (output, profile)
}

const REPORT: &str = "\
# Samples: 1K of event 'cpu/mem-loads,ldlat=3/P'
#
# Overhead       Samples  Data Type  Data Type Offset  Symbol
# ........  ............  .........  ................  ......
#
    50.00%           500  struct tx_class  struct tx_class +0x10 (a)  [.] charge
    30.00%           300  struct tx_class  struct tx_class +0x10 (a)  [.] refill
    20.00%           200  (stack operation)  (stack operation) +0 (no field)  [.] refill
# Samples: 7  of event 'cpu/mem-stores/P'
# Overhead       Samples  Data Type  Data Type Offset  Symbol
   100.00%             7  struct tx_flow  struct tx_flow +0x13f (b)  [.] charge
";

fn refused(report: &str) -> String {
    let (output, profile) = import(report);
    assert_eq!((output.status.code(), profile), (Some(2), None));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn rows_come_out_as_they_went_in() {
    let (output, profile) = import(REPORT);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let profile = profile.unwrap();
    let mut rows = Vec::new();
    for type_profile in profile["types"].as_array().unwrap() {
        assert!(type_profile["layout"]["members"].as_array().unwrap().len() > 30);
        for access in type_profile["accesses"].as_array().unwrap() {
            let function = &profile["functions"][access["function"].as_u64().unwrap() as usize];
            let samples = |side: &str| access[side]["samples"].as_u64().unwrap();
            let offset = access["offset"].as_u64().unwrap();
            let (ty, function) = (type_profile["name"].as_str().unwrap(), function.as_str().unwrap());
            rows.push(format!("{ty} {offset} {function} {} {}", samples("loads"), samples("stores")));
        }
    }
    rows.sort();
    assert_eq!(rows, ["tx_class 16 charge 500 0", "tx_class 16 refill 300 0", "tx_flow 319 charge 0 7"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("no windows, no joint visits and no false sharing"), "{text}");
    assert!(text.contains("800 of 1000 samples attributed"), "{text}");
}

#[test]
fn json_of_another_program_is_refused_by_its_build_id() {
    let json = r#"{"version": 1, "dsos": [{"dso": "/bin/x", "build_id": "0123", "types": [{"type": "struct tx_class",
        "size": 384, "histograms": [{"event": "e", "samples": [{"offset": 8, "nr_samples_store": 3}]}]}]}]}"#;
    let message = refused(json);
    assert!(message.contains("build ids counted: 0123"), "{message}");
    let (output, profile) = import(&json.replace("\"0123\"", "null"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(profile.unwrap()["types"][0]["accesses"][0]["stores"]["samples"], 3);
    let message = refused(&json.replace("\"0123\"", "null").replace("384", "385"));
    assert!(message.contains("has 384 bytes in the program given, but 385"), "{message}");
}

#[test]
fn places_behind_a_structs_end_and_broken_lines_are_refused() {
    let message = refused(&REPORT.replace("+0x13f", "+0x140"));
    assert!(message.contains("struct tx_flow has 320 bytes") && message.contains("offset 320"), "{message}");
    let message = refused(&REPORT.replace("+0x13f", "+0xyz"));
    assert!(message.contains("report:11: "), "{message}");
    assert!(refused("hello\n").contains("is neither of perf report"));
}
