//! Profiles are sums: those of parts of a recording add up to that of the whole, in any order.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn demo(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo").join(name);
    path.to_str().unwrap().to_owned()
}

fn fieldline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap()
}

fn done(args: &[&str]) {
    let output = fieldline(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn refused(args: &[&str]) -> String {
    let output = fieldline(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The demo's samples as a text of perf script, cut in two, in a folder: `whole`, `early` and `late`.
fn texts(folder: &Path) {
    let samples = fieldline(&["samples", "--vmlinux", &demo("shaper"), "--perf", &demo("shaper.perf.data")]);
    let rows = String::from_utf8(samples.stdout).unwrap();
    let line = |(number, row): (usize, &str)| {
        let mut words = row.split(' ');
        let (ip, addr) = (words.next().unwrap(), words.next().unwrap());
        // Half of the samples are loads; what they are is the operand's to say.
        let event = if number % 2 == 0 { "loads" } else { "stores" };
        let cpu = number % 4;
        format!(
            "shaper 7/7 [00{cpu}] 1.{number:09}: 100 {event}: {addr:>16} {ip:>17} [unknown] (/demo/shaper)\n"
        )
    };
    let map =
        "shaper 7/7 [000] 0.000000000: PERF_RECORD_MMAP 7/7: [0x401000(0x2000) @ 0x1000]: x /demo/shaper\n";
    let lines: Vec<String> = rows.lines().filter(|row| !row.starts_with('#')).enumerate().map(line).collect();
    let (early, late) = lines.split_at(lines.len() / 2);
    for (name, lines) in [("whole", &lines[..]), ("early", early), ("late", late)] {
        std::fs::write(folder.join(name), map.to_owned() + &lines.concat()).unwrap();
    }
}

fn profile(folder: &Path, names: &[&str], to: &str) -> PathBuf {
    let (text, out) = (folder.join(names[0]), folder.join(to));
    let program = demo("shaper");
    let mut args = vec!["profile", "--no-addresses", "--vmlinux", &program, "-o", out.to_str().unwrap()];
    args.extend(["--perf", text.to_str().unwrap()]);
    done(&args);
    out
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// All counts by what they count; windows and blocks apart, which depend on where the recording was cut.
fn counts(profile: &Value) -> Vec<String> {
    let mut counts: Vec<String> =
        profile["coverage"].as_array().unwrap().iter().map(ToString::to_string).collect();
    for type_profile in profile["types"].as_array().unwrap() {
        for access in type_profile["accesses"].as_array().unwrap() {
            let mut access = access.clone();
            let function = &profile["functions"][access["function"].as_u64().unwrap() as usize];
            access["function"] = function.clone();
            for absent in ["blocks", "away"] {
                access.as_object_mut().unwrap().remove(absent);
            }
            counts.push(format!("{} {access}", type_profile["name"]));
        }
        counts.push(format!("{} {}", type_profile["name"], type_profile["cpus"]));
    }
    counts.sort();
    counts
}

#[test]
fn halves_add_up_to_the_whole_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    texts(folder);
    let whole = profile(folder, &["whole"], "whole.json");
    let (early, late) = (profile(folder, &["early"], "early.json"), profile(folder, &["late"], "late.json"));
    let (early, late) = (early.to_str().unwrap(), late.to_str().unwrap());
    let (first, second) = (folder.join("one.json"), folder.join("other.json"));
    done(&["merge", early, late, "-o", first.to_str().unwrap()]);
    done(&["merge", late, early, "-o", second.to_str().unwrap()]);
    assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap());
    let (sum, whole) = (json(&first), json(&whole));
    assert!(counts(&whole).len() > 100);
    assert_eq!(counts(&sum), counts(&whole));
    assert_eq!(sum["blocks"].as_array().unwrap().len(), 40);
    assert_eq!(sum["recordings"].as_array().unwrap().len(), 2);
}

#[test]
fn other_programs_and_the_same_profile_twice_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    texts(folder);
    let early = profile(folder, &["early"], "early.json");
    let mut strange = json(&profile(folder, &["late"], "late.json"));
    strange["recordings"][0]["build_id"] = "ab".into();
    let strange_path = folder.join("strange.json");
    std::fs::write(&strange_path, strange.to_string()).unwrap();
    let (early, strange, out) = (early.to_str().unwrap(), strange_path.to_str().unwrap(), folder.join("out"));
    let out = out.to_str().unwrap();
    let message = refused(&["merge", early, strange, "-o", out]);
    assert!(
        message.contains("strange.json does not go with") && message.contains("build id ab"),
        "{message}"
    );
    let message = refused(&["merge", early, early, "-o", out]);
    assert!(message.contains("hold the same samples"), "{message}");
    assert!(!Path::new(out).exists());
}
