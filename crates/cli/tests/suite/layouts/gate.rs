//! Layouts compared, stored and checked, by the commands a user types.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name);
    path.to_str().unwrap().to_owned()
}

/// Exit code, standard output, standard error.
fn fieldline(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn diff(old: &str, new: &str, more: &[&str]) -> String {
    let (code, out, err) = fieldline(&[&["diff", old, new], more].concat());
    assert_eq!(code, 0, "{err}");
    out
}

/// A folder to work in, with a baseline of the example's program.
struct Gate {
    folder: tempfile::TempDir,
}

impl Gate {
    fn new() -> Self {
        let gate = Self { folder: tempfile::tempdir().unwrap() };
        let (program, kept) = (fixture("demo/shaper"), gate.file("old.json"));
        let (code, _, err) =
            fieldline(&["baseline", "--vmlinux", &program, "tx_class", "tx_flow", "-o", &kept]);
        assert_eq!(code, 0, "{err}");
        gate
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Changes a type of the baseline.
    fn edit(&self, ty: &str, change: impl Fn(&mut Value)) {
        let mut kept: Value = serde_json::from_str(&self.read("old.json")).unwrap();
        let types = kept["types"].as_array_mut().unwrap();
        change(types.iter_mut().find(|entry| entry["name"] == ty).unwrap());
        self.write("old.json", &kept.to_string());
    }

    /// Checks the example's program against the baseline; `more` is the rest of the configuration.
    fn check(&self, more: &str, args: &[&str]) -> (i32, String, String) {
        let target =
            format!("[target.demo]\nfile = \"{}\"\nagainst = \"old.json\"\n", fixture("demo/shaper"));
        self.check_by(
            &format!("types = [\"tx_class\", \"tx_flo?\"]\n{}", more.replace("TARGET", &target)),
            args,
        )
    }

    fn check_by(&self, config: &str, args: &[&str]) -> (i32, String, String) {
        self.write("fieldline.toml", config);
        fieldline(&[&["check", "--config", &self.file("fieldline.toml")], args].concat())
    }

    /// The findings as (rule, type, member) and the exit code.
    fn findings(&self, more: &str) -> (i32, Vec<(String, String, String)>) {
        let (code, out, err) = self.check(more, &["--format", "json"]);
        let found: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let rows = found["findings"].as_array().unwrap().iter();
        (code, rows.map(|row| (text(&row["rule"]), text(&row["type"]), text(&row["member"]))).collect())
    }
}

fn has(found: &[(String, String, String)], rule: &str, ty: &str, member: &str) -> bool {
    found.contains(&(rule.to_owned(), ty.to_owned(), member.to_owned()))
}

/// Makes a kept struct one of `size` bytes, without the members behind.
fn cut(entry: &mut Value, size: u64) {
    entry["size"] = size.into();
    let end = |member: &Value| member["bit_offset"].as_u64().unwrap() + member["bit_size"].as_u64().unwrap();
    entry["members"].as_array_mut().unwrap().retain(|member| end(member) <= size * 8);
}

fn member<'m>(entry: &'m mut Value, name: &str) -> &'m mut Value {
    entry["members"].as_array_mut().unwrap().iter_mut().find(|member| member["name"] == name).unwrap()
}

/// Bytes with each occurrence of some replaced by as many others.
fn renamed(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    for at in 0..bytes.len().saturating_sub(from.len()) {
        if bytes[at..].starts_with(from) {
            bytes[at..at + from.len()].copy_from_slice(to);
        }
    }
    bytes
}

#[test]
fn a_file_against_itself_has_no_change() {
    for file in ["demo/shaper", "layout/x86_64-dwarf5.o", "layout/ppc.btf", "layout/s390x-dwarf5.o"] {
        let file = fixture(file);
        let out = diff(&file, &file, &[]);
        assert!(out.starts_with("0 types changed (0 grew, 0 shrank), 0 new, 0 gone, "), "{out}");
        assert!(!out.contains(" 0 unchanged"), "{out}");
    }
}

#[test]
fn other_versions_of_dwarf_change_nothing() {
    let out = diff(
        &fixture("layout/x86_64-dwarf2.o"),
        &fixture("layout/x86_64-dwarf5.o"),
        &["wasteful", "pointers"],
    );
    assert_eq!(out, "0 types changed (0 grew, 0 shrank), 0 new, 0 gone, 2 unchanged\n");
}

#[test]
fn both_kinds_of_debug_info_of_one_source_agree() {
    let (dwarf, btf) = (fixture("layout/x86_64-dwarf5.o"), fixture("layout/x86_64.btf"));
    let (code, out, err) = fieldline(&["diff", &dwarf, &btf]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("alignments, which only DWARF has, are not compared"), "{err}");
    assert!(out.starts_with("0 types changed"), "{out}");
}

#[test]
fn another_machine_shows_what_differs_in_all_forms() {
    let (old, new) = (fixture("layout/x86_64-dwarf5.o"), fixture("layout/i686-dwarf4.o"));
    let text = diff(&old, &new, &["packed_member"]);
    assert!(
        text.contains("packed_member (./torture.c:35): 24 -> 16 bytes, kmalloc 32 -> 16, align 8 -> 4"),
        "{text}"
    );
    assert!(text.contains("  resized   z, at 8, 8 -> 4 bytes\n  shifted   q, at 16 -> 12\n"), "{text}");
    let markdown = diff(&old, &new, &["packed_member", "--format", "markdown"]);
    assert!(markdown.contains("| struct packed\\_member | 24 -> 16 bytes,"), "{markdown}");
    let json = diff(&old, &new, &["packed_member", "--format", "json", "--lines", "16,64"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["format"], &json["version"]), (&"fieldline-diff".into(), &1.into()));
    let changed = &json["changed"][0];
    assert_eq!(changed["cachelines"][0], serde_json::json!({"line": 16, "before": 2, "after": 1}));
    assert_eq!(changed["members"][0]["what"], serde_json::json!(["resized"]));
}

#[test]
fn a_name_that_neither_file_has_is_an_error() {
    let file = fixture("demo/shaper");
    let (code, _, err) = fieldline(&["diff", &file, &file, "tx_clas"]);
    assert_eq!(code, 2);
    assert!(err.contains("'tx_clas'"), "{err}");
}

#[test]
fn a_baseline_stands_in_for_its_file() {
    let gate = Gate::new();
    let (kept, program) = (gate.file("old.json"), fixture("demo/shaper"));
    let text = gate.read("old.json");
    let line = text.lines().find(|line| line.contains("\"deficit\"")).unwrap();
    assert!(line.starts_with(" {\"name\":\"deficit\",\"type_name\":\"s32\""), "{line}");
    assert!(!text.contains("\"line\""), "lines of the source change without the layout");
    let out = diff(&kept, &program, &["tx_*"]);
    assert!(out.contains("0 types changed") && out.contains("2 unchanged"), "{out}");
    gate.edit("tx_class", |entry| member(entry, "quantum")["name"] = "share".into());
    let out = diff(&kept, &program, &["tx_class"]);
    assert!(out.contains("  renamed   share -> quantum, at 88\n"), "{out}");
    gate.edit("tx_class", |entry| member(entry, "mtu")["bit_offset"] = (92 * 8).into());
    let out = diff(&kept, &program, &["tx_class"]);
    assert!(out.contains("  moved     mtu, at 92 -> 80\n"), "{out}");
}

#[test]
fn broken_baselines_are_refused() {
    let gate = Gate::new();
    let (kept, program) = (gate.file("old.json"), fixture("demo/shaper"));
    let good = gate.read("old.json");
    let refused = |text: &str| {
        gate.write("old.json", text);
        let (code, _, err) = fieldline(&["diff", &kept, &program]);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("old.json"), "{err}");
        let (code, _, _) = gate.check("TARGET", &[]);
        assert_eq!(code, 2);
        err
    };
    assert!(refused(&good[..good.len() / 2]).contains("fieldline-baseline"));
    assert!(refused(&good.replace("\"version\":1", "\"version\":99")).contains("version 99"));
    assert!(refused(&good.replace("fieldline-baseline", "fieldline-plan")).contains("fieldline-plan"));
    assert!(refused(&good.replace("\"size\":384", "\"size\":4")).contains("behind the 4 bytes"));
    assert!(
        refused(&good.replace("\"pointer\":8", "\"pointer\":\"x\"")).contains("broken fieldline-baseline")
    );
}

#[test]
fn an_unchanged_file_passes() {
    let gate = Gate::new();
    let (code, out, err) = gate.check("TARGET", &[]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("2 types of 1 targets checked: 0 errors, 0 warnings, 0 suppressed"), "{out}");
    assert!(out.contains("note: no profile, so hot-member-moved-line"), "{out}");
}

#[test]
fn growth_fails_in_every_form() {
    let gate = Gate::new();
    gate.edit("tx_class", |entry| cut(entry, 256));
    let (code, found) = gate.findings("TARGET");
    assert_eq!(code, 1);
    for rule in ["size-grew", "cachelines-grew", "slab-class", "new-padding"] {
        assert!(has(&found, rule, "tx_class", ""), "{rule}: {found:?}");
    }
    assert!(found.iter().all(|(_, ty, _)| ty == "tx_class"), "{found:?}");
    let (sarif, junit) = (gate.file("out.sarif"), gate.file("out.xml"));
    let (to_sarif, to_junit) = (format!("sarif={sarif}"), format!("junit={junit}"));
    let (code, out, err) =
        gate.check("TARGET", &["--format", &to_sarif, "--format", &to_junit, "--format", "github"]);
    assert_eq!(code, 1, "{err}");
    let accept = format!(
        "fieldline baseline --vmlinux {} tx_class 'tx_flo?' -o {}",
        fixture("demo/shaper"),
        gate.file("old.json")
    );
    assert!(
        out.contains(&format!(
            ",title=cachelines-grew::demo: tx_class: 4 -> 6 cachelines%0Ato accept it: {accept}\n"
        )),
        "{out}"
    );
    assert!(out.contains("::error file=") && out.contains("shaper.h,line="), "{out}");
    let junit = gate.read("out.xml");
    assert!(junit.contains("<failure message=\"cachelines-grew: 4 -&gt; 6 cachelines\">"), "{junit}");
    assert!(junit.contains("shaper.h:") && junit.contains(&accept), "{junit}");
    let sarif: Value = serde_json::from_str(&gate.read("out.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), found.len());
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in results {
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].as_str().unwrap().ends_with("shaper.h"), "{place}");
        assert!(place["region"]["startLine"].as_u64().unwrap() > 0);
        assert!(result["message"]["text"].as_str().unwrap().ends_with(&accept), "{result}");
    }
}

#[test]
fn levels_budgets_and_suppressions_decide() {
    let gate = Gate::new();
    gate.edit("tx_class", |entry| cut(entry, 256));
    let (code, found) = gate.findings(
        "TARGET[rules]\ncachelines-grew = { allow = 2 }\nslab-class = \"off\"\nstraddles-line = \"off\"\n",
    );
    assert_eq!(code, 0, "{found:?}");
    assert!(!has(&found, "slab-class", "tx_class", "") && has(&found, "size-grew", "tx_class", ""));
    let suppress = "TARGET[rules]\nstraddles-line = \"off\"\n[[suppress]]\nrule = \"cachelines-grew\"\ntype = \"tx_*\"\nreason = \"measured\"\nuntil = \"2030-01-01\"\n";
    let (code, out, _) = gate.check(suppress, &["--today", "2030-01-01"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("[cachelines-grew]: measured") && out.contains("1 suppressed"), "{out}");
    let (code, _, err) = gate.check(suppress, &["--today", "2030-01-02"]);
    assert_eq!(code, 2);
    assert!(err.contains("expired on 2030-01-01"), "{err}");
    let idle = suppress.replace("tx_*", "tx_flow");
    let (code, out, _) = gate.check(&idle, &["--today", "2030-01-01"]);
    assert_eq!(code, 1);
    assert!(out.contains("the suppression of cachelines-grew in tx_flow suppresses nothing"), "{out}");
    let (code, found) =
        gate.findings("TARGET[budget.tx_flow]\nsize = 256\n[pin.tx_flow]\nfirst = \"created\"\n");
    assert_eq!(code, 1);
    assert!(has(&found, "over-budget", "tx_flow", "") && has(&found, "first-moved", "tx_flow", "created"));
}

#[test]
fn what_can_t_be_checked_is_no_pass() {
    let gate = Gate::new();
    let target = format!("[target.demo]\nfile = \"{}\"\n", fixture("demo/shaper"));
    let refused = |config: &str, args: &[&str]| {
        let (code, out, err) = gate.check_by(config, args);
        assert_eq!(code, 2, "{config}: {out}{err}");
        err
    };
    assert!(refused(&format!("types = [\"tx_clas\"]\n{target}"), &[]).contains("no struct 'tx_clas'"));
    assert!(refused(&format!("types = [\"no_*\"]\n{target}"), &[]).contains("nothing matches 'no_*'"));
    assert!(
        refused(&format!("types = [\"tx_flow\"]\n{target}[rules]\nsizes = \"off\"\n"), &[])
            .contains("fieldline.toml:5")
    );
    assert!(refused("types = [\"a\"]\n[target.x]\nfile = \"gone\"\n", &[]).contains("target x"));
    assert!(
        refused(&format!("types = [\"tx_flow\"]\n{target}"), &["--against", "gone.json"])
            .contains("gone.json")
    );
    assert!(
        refused(&format!("types = [\"tx_flow\"]\n{target}[pin.tx_class]\nfirst = \"id\"\n"), &[])
            .contains("'tx_class'")
    );
    assert!(refused(&format!("types = [\"tx_flow\"]\n{target}"), &["--today", "soon"]).contains("soon"));
    let bare = std::fs::read(fixture("demo/shaper")).unwrap();
    std::fs::write(gate.path("bare"), renamed(bare, b".debug_info\0", b".other_info\0")).unwrap();
    assert!(refused("types = [\"tx_flow\"]\n[target.x]\nfile = \"bare\"\n", &[]).contains("target x"));
    gate.edit("tx_class", |entry| entry["name"] = "other".into());
    gate.edit("tx_flow", |entry| entry["name"] = "another".into());
    let kept = gate.file("old.json");
    let twice = ["--against", &kept, "--against", &kept];
    assert!(
        refused(&format!("types = [\"tx_flow\"]\n{target}"), &twice[..2])
            .contains("old.json: has none of the types checked")
    );
    assert!(refused(&format!("types = [\"tx_flow\"]\n{target}"), &twice).contains("has another one already"));
    assert!(
        refused(&format!("types = [\"gone_*\"]\n{target}optional = [\"gone_*\"]\n"), &[])
            .contains("none of the types")
    );
    let (code, out, _) =
        gate.check_by(&format!("types = [\"tx_flow\", \"gone\"]\n{target}optional = [\"gone\"]\n"), &[]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("nothing to compare with"), "{out}");
}

/// A text of /proc/lock_stat with one class, of whose 2000 acquisitions some waited.
fn lock_stat_text(class: &str, contentions: u32) -> String {
    let head = "class name con-bounces contentions waittime-min waittime-max waittime-total waittime-avg acq-bounces \
                acquisitions holdtime-min holdtime-max holdtime-total holdtime-avg";
    format!(
        "lock_stat version 0.4\n{head}\n\n{class}: 9 {contentions} 0.10 5.00 250.00 2.50 400 2000 0.05 9.00 1000.00 0.50\n"
    )
}

#[test]
fn a_plan_says_what_shares_the_line_of_a_contended_lock() {
    let gate = Gate::new();
    let (program, perf, profile) =
        (fixture("demo/shaper"), fixture("demo/shaper.perf.data"), gate.file("profile.json"));
    let (code, _, err) = fieldline(&["profile", "--vmlinux", &program, "--perf", &perf, "-o", &profile]);
    assert_eq!(code, 0, "{err}");
    let lock_stat = gate.file("lock_stat");
    gate.write("lock_stat", &lock_stat_text("&tx_class->inbox.lock", 100));
    let arguments = ["plan", "tx_class", "--profile", &profile, "--vmlinux", &program, "--format", "json"];
    let plan = |more: &[&str]| -> Value {
        let (code, out, err) = fieldline(&[&arguments[..], more].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).unwrap()
    };
    let (with, without) = (plan(&["--lock-stat", &lock_stat]), plan(&[]));
    let notes = with["structs"][0]["notes"].as_array().unwrap();
    let says = notes.iter().filter_map(Value::as_str).find(|note| note.contains("inbox.lock"));
    let says = says.expect("a note on the lock");
    assert!(
        says.starts_with("5.0 % of the acquisitions of inbox.lock (&tx_class->inbox.lock) wait"),
        "{says}"
    );
    assert!(
        says.contains("as declared: ") && says.contains("tokens") && says.contains("as planned: "),
        "{says}"
    );
    assert_eq!(
        with["structs"][0]["chosen"], without["structs"][0]["chosen"],
        "the order does not depend on it"
    );
}

#[test]
fn hot_members_that_part_are_found_with_a_profile() {
    let gate = Gate::new();
    let (program, perf, profile) =
        (fixture("demo/shaper"), fixture("demo/shaper.perf.data"), gate.file("profile.json"));
    let (code, _, err) = fieldline(&["profile", "--vmlinux", &program, "--perf", &perf, "-o", &profile]);
    assert_eq!(code, 0, "{err}");
    let more = "profile = \"profile.json\"\nTARGET";
    assert_eq!(gate.findings(more), (0, Vec::new()));
    // Before, the queue's length and what it may send lay on one line; now they don't.
    gate.edit("tx_class", |entry| member(entry, "deficit")["bit_offset"] = (312 * 8).into());
    let (code, found) = gate.findings(more);
    assert_eq!(code, 1);
    assert!(has(&found, "hot-member-moved-line", "tx_class", "deficit"), "{found:?}");
    let alone =
        format!("types = [\"tx_class\"]\nprofile = \"profile.json\"\n[target.demo]\nfile = \"{program}\"\n");
    let (code, out, _) = gate.check_by(&alone, &[]);
    assert_eq!(code, 0, "{out}");
    assert!(
        out.contains("tx_class.load.avg: load.avg shares a cacheline with ")
            && out.contains("[false-sharing-pair]"),
        "{out}"
    );
    let lock_stat = gate.file("lock_stat");
    gate.write("lock_stat", &lock_stat_text("&tx_class->inbox.lock", 100));
    let (code, out, _) = gate.check_by(&alone, &["--lock-stat", &lock_stat]);
    assert!(
        code == 0 && out.contains("inbox.lock, a lock for which 5.0 % of the acquisitions wait"),
        "a warning: {out}"
    );
    for (class, contentions) in [("&tx_class->inbox.lock", 19), ("&class->inbox.lock", 100)] {
        gate.write("lock_stat", &lock_stat_text(class, contentions));
        let (_, out, _) = gate.check_by(&alone, &["--lock-stat", &lock_stat]);
        assert!(!out.contains("acquisitions wait"), "hardly contended, or of any struct: {out}");
    }
    gate.write("lock_stat", "no such text\n");
    assert_eq!(gate.check_by(&alone, &["--lock-stat", &lock_stat]).0, 2);
    let mut other: Value = serde_json::from_str(&gate.read("profile.json")).unwrap();
    for type_profile in other["types"].as_array_mut().unwrap() {
        type_profile["fingerprint"] = 1.into();
    }
    gate.write("profile.json", &other.to_string());
    let (code, _, err) = gate.check(more, &[]);
    assert_eq!(code, 2);
    assert!(err.contains("another layout"), "{err}");
}

#[test]
fn targets_that_disagree_are_named() {
    let gate = Gate::new();
    let program = fixture("demo/shaper");
    let config = format!(
        "types = [\"tx_flow\"]\n[target.small]\nfile = \"{program}\"\n[target.large]\nfile = \"{program}\"\nline = 128\n"
    );
    let (code, out, err) = gate.check_by(&config, &[]);
    assert_eq!(code, 0, "{err}");
    let expected = "comment straddles cachelines on small (64-byte lines, offset 176), not on large (128-byte lines, offset 176)";
    assert!(out.contains(expected), "{out}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let gate = Gate::new();
    gate.edit("tx_class", |entry| cut(entry, 256));
    let sarif = |threads| gate.check("TARGET", &["--format", "sarif", "--threads", threads]).1;
    assert_eq!(sarif("1"), sarif("4"));
}

#[test]
fn every_rule_has_a_page() {
    let gate = Gate::new();
    let (_, out, _) = gate.check("TARGET", &["--format", "sarif"]);
    let sarif: Value = serde_json::from_str(&out).unwrap();
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules");
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for rule in rules {
        let (id, level) = (rule["id"].as_str().unwrap(), &rule["defaultConfiguration"]["level"]);
        let page = std::fs::read_to_string(pages.join(format!("{id}.md"))).unwrap();
        let level = if level == "warning" { "warn" } else { level.as_str().unwrap() };
        assert!(page.starts_with(&format!("# {id}\n")), "{id}");
        let uri = rule["helpUri"].as_str().unwrap();
        assert!(uri.starts_with("https://") && uri.ends_with(&format!("/docs/rules/{id}.md")), "{uri}");
        assert!(page.contains(&format!("Default level: `{level}`")), "{id}");
    }
    assert_eq!(std::fs::read_dir(pages).unwrap().count(), rules.len());
}

#[test]
fn a_first_configuration_passes_with_its_baseline() {
    let gate = Gate::new();
    let (program, perf) = (fixture("demo/shaper"), fixture("demo/shaper.perf.data"));
    let (profile, config) = (gate.file("profile.json"), gate.file("fieldline.toml"));
    let (code, _, err) = fieldline(&["profile", "--vmlinux", &program, "--perf", &perf, "-o", &profile]);
    assert_eq!(code, 0, "{err}");
    let init = ["init", "--vmlinux", &program, "--profile", &profile, "--top", "2", "-o", &config];
    let (code, out, err) = fieldline(&init);
    assert_eq!(code, 0, "{out}{err}");
    assert!(gate.read("fieldline.toml").contains("\"tx_class\",\n"));
    let (code, _, err) = fieldline(&["baseline", "--vmlinux", &program, "-o", &gate.file("layouts.json")]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = fieldline(&["check", "--config", &config]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("2 types of 1 targets checked: 0 errors"), "{out}");
    let (code, _, err) = fieldline(&init);
    assert_eq!(code, 2);
    assert!(err.contains("is there already"), "{err}");
}

/// The findings of a check as JSON.
fn findings_of(gate: &Gate, more: &str) -> Vec<Value> {
    let (_, out, _) = gate.check(more, &["--format", "json"]);
    let found: Value = serde_json::from_str(&out).unwrap();
    found["findings"].as_array().unwrap().clone()
}

/// The line of the example's header that declares a member of a struct.
fn declared_line(name: &str) -> u64 {
    let layout =
        fieldline(&["layout", "tx_class", "--vmlinux", &fixture("demo/shaper"), "--format", "json"]).1;
    let document: Value = serde_json::from_str(&layout).unwrap();
    let mut members = document["layouts"][0]["members"].as_array().unwrap().iter();
    members.find(|member| member["name"] == name).unwrap()["line"].as_u64().unwrap()
}

#[test]
fn findings_stand_at_the_line_of_their_member() {
    let gate = Gate::new();
    // Before, one member was at the end and another was not there.
    gate.edit("tx_class", |entry| member(entry, "mtu")["bit_offset"] = (324 * 8).into());
    gate.edit("tx_class", |entry| {
        entry["members"].as_array_mut().unwrap().retain(|member| member["name"] != "quantum");
        entry["size"] = 328.into();
    });
    let found = findings_of(&gate, "TARGET[pin.tx_class]\nfirst = \"mtu\"\n");
    let at = |rule: &str| {
        found.iter().find(|row| row["rule"] == rule).unwrap_or_else(|| panic!("{rule}: {found:?}"))
    };
    assert_eq!(at("first-moved")["line"], declared_line("mtu"));
    assert_eq!(at("size-grew")["line"], declared_line("quantum"));
    assert!(at("size-grew")["file"].as_str().unwrap().ends_with("shaper.h"));
    assert!(at("first-moved")["fix"].as_str().unwrap().starts_with("move mtu in front of "));
    let lines = at("first-moved")["accept"]["add"].as_str().unwrap();
    assert!(lines.contains("rule = \"first-moved\"\ntype = \"tx_class\"\nmember = \"mtu\"\n"), "{lines}");
}

#[test]
fn what_a_finding_says_to_accept_it_is_enough() {
    let gate = Gate::new();
    gate.edit("tx_class", |entry| cut(entry, 256));
    let config = "TARGET[budget.tx_flow]\nsize = 256\ncachelines = 1\n[pin.tx_flow]\nfirst = \"created\"\n";
    let found = findings_of(&gate, config);
    let accept = |rule: &str, how: &str| {
        let row = found.iter().find(|row| row["rule"] == rule).unwrap_or_else(|| panic!("{rule}: {found:?}"));
        row["accept"][how].as_str().unwrap_or_else(|| panic!("{row}")).to_owned()
    };
    // The command is run as a shell does.
    let command = accept("size-grew", "run").replacen("fieldline", env!("CARGO_BIN_EXE_fieldline"), 1);
    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    let (budget, pin) = (accept("over-budget", "set"), accept("first-moved", "add"));
    let accepted = format!("TARGET{budget}\n[pin.tx_flow]\nfirst = \"created\"\n{pin}\n");
    let (code, out, err) = gate.check(&accepted, &[]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("0 errors, 0 warnings, 1 suppressed"), "{out}");
}

#[test]
fn a_program_that_is_compared_with_is_not_written_anew() {
    let gate = Gate::new();
    let program = fixture("layout/x86_64-dwarf5.o");
    let config = format!(
        "types = [\"tx_class\"]\n[target.demo]\nfile = \"{}\"\nagainst = \"{program}\"\n",
        fixture("demo/shaper")
    );
    let (code, _, err) = gate.check_by(&config, &[]);
    assert_eq!(code, 2, "no type in common: {err}");
    let mut bytes = std::fs::read(fixture("demo/shaper")).unwrap();
    bytes.extend([0; 8]);
    std::fs::write(gate.path("earlier"), bytes).unwrap();
    let config = config.replace(&program, "earlier") + "[pin.tx_class]\nlast = \"gone\"\n";
    let (code, out, err) = gate.check_by(&config, &[]);
    assert_eq!(code, 1, "{err}");
    let lines =
        "    [[suppress]]\n    rule = \"last-moved\"\n    type = \"tx_class\"\n    member = \"gone\"\n";
    assert!(out.contains("to accept it: add to ") && out.contains(lines), "{out}");
}
