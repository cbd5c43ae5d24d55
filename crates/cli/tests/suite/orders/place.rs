//! Places for new members, and plans without a profile, by the commands a user types.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn fieldline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap()
}

/// Exit code, answer and text of a question about the example's program.
fn place(args: &[&str]) -> (Option<i32>, Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let answer = folder.path().join("place.json");
    let vmlinux = fixture("demo/shaper");
    let mut all = vec!["place", "--vmlinux", vmlinux.to_str().unwrap(), "-o", answer.to_str().unwrap()];
    all.extend(args);
    let output = fieldline(&all);
    let written = std::fs::read(&answer).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code(), written, text)
}

/// The declared layout of a struct of the example.
fn declared(name: &str) -> Value {
    let program = fixture("demo/shaper");
    let output = fieldline(&["layout", name, "--vmlinux", program.to_str().unwrap(), "--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    document["layouts"][0].clone()
}

#[test]
fn a_new_member_goes_into_a_hole_of_the_real_struct() {
    let (code, answer, text) = place(&["tx_flow", "--member", "u32 quirks"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(answer["format"], "fieldline-place");
    assert_eq!(answer["basis"], "layout");
    assert_eq!(answer["member"]["bit_size"], 32);
    let best = &answer["spots"][0];
    assert_eq!((&best["shifted"], &best["hole"]), (&Value::from(0), &Value::from(4)));
    // The place is a hole of the declared layout.
    let bits = best["offset"].as_u64().unwrap() * 8;
    let layout = declared("tx_flow");
    let is_hole = |item: &Value| {
        let (start, size) = (item["bit_offset"].as_u64().unwrap(), item["bit_size"].as_u64().unwrap());
        item["item"] == "hole" && start <= bits && bits + 32 <= start + size
    };
    assert!(layout["items"].as_array().unwrap().iter().any(is_hole), "{best}");
    assert!(text.contains("by holes and structure alone"), "{text}");
}

#[test]
fn a_profile_tells_hot_lines_from_cold_ones() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile.json");
    let (program, perf) = (fixture("demo/shaper"), fixture("demo/shaper.perf.data"));
    let (program, perf, profile) =
        (program.to_str().unwrap(), perf.to_str().unwrap(), profile.to_str().unwrap());
    assert!(fieldline(&["profile", "--vmlinux", program, "--perf", perf, "-o", profile]).status.success());
    let tree = fixture("demo/tree");
    let args = ["tx_class", "--member", "u64 quirks", "--profile", profile, "--tree", tree.to_str().unwrap()];
    let (code, answer, text) = place(&args);
    assert_eq!((code, &answer["basis"]), (Some(0), &Value::from("profile")), "{text}");
    assert!(answer["samples"].as_u64().unwrap() > 100);
    let best = &answer["spots"][0];
    assert_eq!(best["heat"]["hot"], false, "{best}");
    assert_eq!(best["pushed"], Value::Null, "{best}");
    // What is wanted with a member gets to its line, and no place elsewhere is listed.
    let with = [&args[..], &["--with", "deficit"]].concat();
    let (_, answer, _) = place(&with);
    let layout = declared("tx_class");
    let members = layout["members"].as_array().unwrap();
    let deficit = members.iter().find(|member| member["name"] == "deficit").unwrap();
    let line = deficit["bit_offset"].as_u64().unwrap() / 8 / 64;
    let spots = answer["spots"].as_array().unwrap();
    assert!(!spots.is_empty() && answer["suitable"].as_u64() <= answer["legal"].as_u64());
    assert!(spots.iter().all(|spot| spot["offset"].as_u64().unwrap() / 64 == line), "{answer}");
}

#[test]
fn the_same_question_has_the_same_answer() {
    let ask = |threads| place(&["tx_class", "--member", "char tag[3]", "--threads", threads]).1;
    assert_eq!(ask("1"), ask("3"));
}

#[test]
fn types_come_from_debug_info_and_sizes_from_the_abi() {
    let size = |vmlinux: &str, member: &str, name: &str| {
        let folder = tempfile::tempdir().unwrap();
        let answer = folder.path().join("place.json");
        let program = fixture(vmlinux);
        let output = fieldline(&[
            "place",
            name,
            "--member",
            member,
            "--vmlinux",
            program.to_str().unwrap(),
            "-o",
            answer.to_str().unwrap(),
        ]);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let bytes = std::fs::read(&answer).unwrap_or_default();
        let answer: Value = serde_json::from_slice(&bytes).unwrap_or_else(|_| text.into());
        let member = &answer["member"];
        (member["bit_size"].as_u64().unwrap_or(0) / 8, member["align"].as_u64().unwrap_or(0))
    };
    let shaper = |member| size("demo/shaper", member, "tx_flow");
    assert_eq!(shaper("long x"), (8, 8));
    assert_eq!(shaper("u8 x[3]"), (3, 1));
    assert_eq!(shaper("struct list_head x"), (16, 8));
    assert_eq!(shaper("struct never_heard_of *x"), (8, 8));
    assert_eq!(shaper("int (*x)(void)"), (8, 8));
    assert_eq!(shaper("u32 x ____cacheline_aligned"), (4, 64));
}

#[test]
fn questions_that_make_no_sense_are_refused_with_the_reason() {
    let refused = |args: &[&str], message: &str| {
        let (code, _, text) = place(args);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(message), "{text}");
    };
    refused(&["tx_flow", "--member", "u32 a, b"], "one member at a time");
    refused(&["tx_flow", "--member", "nosuch_t a"], "no type 'nosuch_t'");
    refused(&["tx_flow", "--member", "struct nosuch a"], "no struct nosuch");
    refused(&["tx_flow", "--member", "u32 hash"], "has a member hash already");
    refused(&["tx_flow", "--member", "u32 a", "--with", "nosuch"], "--with nosuch");
    refused(&["tx_flow", "--member", "u32 a:40"], "1 to 32 bits");
    refused(&["nosuch", "--member", "u32 a"], "no definition");
}

#[test]
fn a_static_plan_says_so_and_needs_no_profile() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.json");
    let program = fixture("demo/shaper");
    let (program, plan_path) = (program.to_str().unwrap(), plan.to_str().unwrap());
    let output =
        fieldline(&["plan", "--static", "tx_flow", "tx_class", "--vmlinux", program, "-o", plan_path]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("by size alone"));
    let plan: Value = serde_json::from_slice(&std::fs::read(&plan).unwrap()).unwrap();
    assert_eq!(plan["basis"], "layout");
    for struct_plan in plan["structs"].as_array().unwrap() {
        // Both fill their lines as declared: what can't be saved is said.
        assert_eq!(struct_plan["outcome"], "no-gain", "{struct_plan}");
        assert!(
            struct_plan["reason"]
                .as_str()
                .unwrap()
                .contains("neither a cacheline of 64 bytes nor a slab class")
        );
    }
    let without = fieldline(&["plan", "tx_flow", "--vmlinux", program]);
    assert_eq!(without.status.code(), Some(2));
    let both = fieldline(&["plan", "--static", "tx_flow", "--vmlinux", program, "--profile", "p.json"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_cacheline_that_can_t_be_reached_is_a_no_with_the_reason() {
    let far = ["tx_class", "--member", "u64 quirks", "--with"];
    let members = declared("tx_class")["members"].as_array().unwrap().clone();
    let name = |member: &Value| member["name"].as_str().unwrap().to_owned();
    let ends = format!("{},{}", name(&members[0]), name(&members[members.len() - 1]));
    let (code, answer, text) = place(&[&far[..], &[&ends]].concat());
    assert_eq!((code, &answer["impossible"]), (Some(1), &Value::from(true)), "{text}");
    assert_eq!(answer["spots"], Value::Null);
    assert!(text.contains("  impossible: no place is on the 64-byte cachelines of "), "{text}");
    let wide = ["tx_class", "--member", "char page[64] ____cacheline_aligned", "--with"];
    let (code, answer, text) = place(&[&wide[..], &[&name(&members[0])]].concat());
    assert_eq!((code, &answer["suitable"]), (Some(1), &Value::from(0)), "{text}");
    assert!(answer["refusal"].as_str().unwrap().contains("does not fit there"), "{answer}");
}
