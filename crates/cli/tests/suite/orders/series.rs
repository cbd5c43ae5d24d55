//! A series of mails: `git am` takes it, it says what was measured, and nobody signs it unasked.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fieldline(args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fieldline")).args(args).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

struct Demo(tempfile::TempDir);

impl Demo {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(fieldline(&["demo", folder.path().to_str().unwrap()]).0, Some(0));
        Self(folder)
    }

    fn place(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn patch(&self, out: &str, more: &[&str]) -> (Option<i32>, String) {
        let place = |name: &str| self.place(name).to_str().unwrap().to_owned();
        let (plan, tree, out) = (place("plan.json"), place("tree"), place(out));
        fieldline(&[&["patch", "--plan", &plan, "--tree", &tree, "-o", &out], more].concat())
    }

    fn series(&self, out: &str, more: &[&str]) -> BTreeMap<String, String> {
        let profile = self.place("profile.json");
        let from =
            ["--series", "--from", "Ada B\u{e9}r <ada@example.org>", "--profile", profile.to_str().unwrap()];
        let (code, text) = self.patch(out, &[&from, more].concat());
        assert_eq!(code, Some(0), "{text}");
        let files = std::fs::read_dir(self.place(out)).unwrap().map(|entry| entry.unwrap().path());
        files
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, std::fs::read_to_string(path).unwrap())
            })
            .collect()
    }

    fn structs(&self) -> Vec<Value> {
        let plan: Value = serde_json::from_slice(&std::fs::read(self.place("plan.json")).unwrap()).unwrap();
        plan["structs"].as_array().unwrap().clone()
    }
}

fn git(folder: &Path, args: &[&str]) -> String {
    let who = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").current_dir(folder).args(who).args(args).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{args:?}: {text}");
    text
}

#[test]
fn the_cover_letter_says_what_was_measured_and_what_moves() {
    let demo = Demo::new();
    let files = demo.series("series", &["--subject-prefix", "RFC PATCH v2"]);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(names[0], "0000-cover-letter.patch");
    assert_eq!(names.len(), 3, "{names:?}");
    let cover = &files["0000-cover-letter.patch"];
    assert!(
        cover.contains("\nSubject: [RFC PATCH v2 0/2] Reorder struct tx_class and struct tx_flow\n"),
        "{cover}"
    );
    assert!(cover.contains("\nFrom: =?UTF-8?q?Ada=20B=C3=A9r?= <ada@example.org>\n"), "{cover}");
    assert!(cover.contains("\nNot measured yet.\n") && cover.contains("No speed-up is predicted"), "{cover}");
    for struct_plan in demo.structs() {
        let name = struct_plan["name"].as_str().unwrap();
        assert!(cover.contains(&format!("struct {name}\n=====")), "{cover}");
        let together = &struct_plan["forecasts"][0]["together"];
        let numbers = |side: &str| format!("{:.2}", together[side].as_f64().unwrap());
        assert!(cover.contains(&format!("{:>7} {:>7}", numbers("before"), numbers("after"))), "{cover}");
        let patch = files
            .values()
            .skip(1)
            .find(|text| text.contains(&format!(": Reorder struct {name} by")))
            .unwrap();
        for moved in struct_plan["moved"].as_array().unwrap() {
            let start = format!(
                "  * {}: {} -> {},",
                moved["name"].as_str().unwrap_or("(anonymous)"),
                moved["from"],
                moved["to"]
            );
            assert!(patch.contains(&start), "{start}\n{patch}");
        }
    }
    assert!(cover.contains("accesses  load:store  visits\n"), "{cover}");
    for text in files.values() {
        assert!(!text.contains("Signed-off-by"), "{text}");
        let (_, body) = text.split_once("\n\n").unwrap();
        let body = body.split("\ndiff --git").next().unwrap();
        assert!(body.lines().all(|line| line.chars().count() <= 78), "{body}");
    }
}

#[test]
fn the_same_plan_gives_the_same_mails() {
    let demo = Demo::new();
    assert_eq!(demo.series("one", &[]), demo.series("other", &[]));
}

#[test]
fn results_the_workload_and_who_signs_are_given() {
    let demo = Demo::new();
    let plain = demo.series("plain", &[]);
    assert!(plain["0000-cover-letter.patch"].contains("\nSubject: [RFC PATCH 0/2] "), "{plain:?}");
    std::fs::write(demo.place("results.txt"), "hackbench: 4.1 % fewer misses, 10 runs\n").unwrap();
    let results = demo.place("results.txt").display().to_string();
    let more = ["--measured", &results, "--workload", "a queue of 64 flows", "--signoff"];
    let files = demo.series("given", &more);
    let cover = &files["0000-cover-letter.patch"];
    assert!(cover.contains("\nSubject: [PATCH 0/2] ") && !cover.contains("Not measured yet"), "{cover}");
    assert!(cover.contains("\nhackbench: 4.1 % fewer misses, 10 runs\n"), "{cover}");
    assert!(
        cover.contains("  * workload: a queue of 64 flows\n") && !cover.contains("Signed-off-by"),
        "{cover}"
    );
    let signed =
        files.values().skip(1).all(|text| text.contains("\nSigned-off-by: Ada B\u{e9}r <ada@example.org>\n"));
    assert!(signed, "{files:?}");
    let (code, text) = demo.patch("none", &["--series", "--from", "A <a@b.c>", "--maintainers"]);
    assert_eq!((code, text.contains("has no scripts/get_maintainer.pl")), (Some(2), true), "{text}");
    assert!(!demo.place("none").exists());
}

#[test]
fn a_repository_gives_its_date_commit_and_blobs() {
    if !fieldline_testing::has_programs(&["git", "perl"]) {
        return;
    }
    let demo = Demo::new();
    let tree = demo.place("tree");
    std::fs::create_dir_all(tree.join("scripts")).unwrap();
    let script = "print \"Bo <bo\\@example.org> (maintainer:SHAPER)\\nlist\\@example.org (open list)\\n\";\n";
    std::fs::write(tree.join("scripts/get_maintainer.pl"), script).unwrap();
    git(&tree, &["init", "-q"]);
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "-q", "-m", "base"]);
    let date = git(&tree, &["log", "-1", "--format=%cD"]);
    let files = demo.series("series", &["--maintainers"]);
    let cover = &files["0000-cover-letter.patch"];
    assert!(cover.contains(&format!("\nDate: {}\n", date.trim())), "{cover}");
    assert!(cover.contains("\nTo: Bo <bo@example.org>\nCc: list@example.org\n"), "{cover}");
    let commit = git(&tree, &["rev-parse", "HEAD"]);
    assert!(cover.contains(&format!("\nbase-commit: {}\n", commit.trim())), "{cover}");
    let patch = files.values().nth(1).unwrap();
    let path = patch.split("diff --git a/").nth(1).unwrap().split(' ').next().unwrap();
    let blob = git(&tree, &["rev-parse", &format!("HEAD:{path}")]);
    assert!(
        patch.contains(&format!("\nindex {}..", &blob[..12])) && patch.contains(" 100644\n--- a/"),
        "{patch}"
    );
}

#[test]
fn git_am_takes_it_patch_by_patch() {
    if !fieldline_testing::has_programs(&["git"]) {
        return;
    }
    let demo = Demo::new();
    let date = "Sat, 21 Nov 2026 12:00:00 +0100";
    let more = ["--date", date, "--trailer", "Suggested-by: Z\u{e9} <z@example.org>", "--idiom", "plain"];
    let files = demo.series("series", &more);
    let (code, text) = demo.patch("bare", &["--idiom", "plain"]);
    assert_eq!(code, Some(0), "{text}");
    let tree = demo.place("tree");
    git(&tree, &["init", "-q"]);
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "-q", "-m", "base"]);
    // Behind the cut line stand both layouts, which no commit has.
    for (name, mail) in files.iter().skip(1) {
        let (message, rest) = mail.split_once("\n---\n").unwrap();
        let cut = rest.split_once("\ndiff --git").unwrap().0;
        let sizes = cut.matches("/* size: ").count();
        assert!(sizes == 2 && cut.contains("{ /* before */") && cut.contains("{ /* after */"), "{cut}");
        assert!(!message.contains("/* size: "), "{message}");
        git(&tree, &["am", demo.place("series").join(name).to_str().unwrap()]);
    }
    let log = git(&tree, &["log", "--reverse", "--format=%an|%ae|%aD|%s|%(trailers:only)"]);
    let commits: Vec<&str> = log.lines().filter(|line| line.contains('|')).skip(1).collect();
    assert_eq!(commits.len(), 2, "{log}");
    for commit in commits {
        let start = format!("Ada B\u{e9}r|ada@example.org|{date}|shaper: Reorder struct ");
        assert!(commit.starts_with(&start), "{commit}");
        assert!(commit.ends_with("|Suggested-by: Z\u{e9} <z@example.org>"), "{commit}");
    }
    // All patches together are the whole change.
    let header = std::fs::read(tree.join("include/shaper.h")).unwrap();
    git(&tree, &["checkout", "-q", "HEAD~2"]);
    let bare = std::fs::read_dir(demo.place("bare")).unwrap().next().unwrap().unwrap().path();
    git(&tree, &["apply", bare.to_str().unwrap()]);
    assert!(std::fs::read(tree.join("include/shaper.h")).unwrap() == header);
}

/// Members that a patch aligns, without those that were aligned and only move.
fn aligned(patch: &str) -> usize {
    let marked = |sign| {
        let lines = patch.lines().filter(|line| line.starts_with(sign));
        lines.filter(|line| line.contains(" ____cacheline_aligned;")).count()
    };
    marked('+').saturating_sub(marked('-'))
}

#[test]
fn the_plain_idiom_tells_groups_and_aligns_nothing_outside_a_kernel() {
    let demo = Demo::new();
    let (code, text) = demo.patch("plain", &["--idiom", "plain"]);
    assert_eq!(code, Some(0), "{text}");
    let path = std::fs::read_dir(demo.place("plain")).unwrap().next().unwrap().unwrap().path();
    let patch = std::fs::read_to_string(path).unwrap();
    let structs = demo.structs();
    let groups = structs.iter().flat_map(|struct_plan| struct_plan["groups"].as_array().unwrap().clone());
    let marked = patch.lines().filter(|line| line.starts_with("+\t/* ") && line.contains("used by "));
    let marked = marked.count() + patch.matches("+\t/* Used together by").count();
    assert!(marked > 0 && marked <= groups.count(), "{patch}");
    assert_eq!(aligned(&patch), 0, "{patch}");
    // The same in what looks like a kernel's tree, where every group would cost nothing.
    std::fs::create_dir_all(demo.place("tree/include/linux")).unwrap();
    std::fs::write(demo.place("tree/include/linux/cache.h"), "").unwrap();
    let mut plan: Value = serde_json::from_slice(&std::fs::read(demo.place("plan.json")).unwrap()).unwrap();
    for struct_plan in plan["structs"].as_array_mut().unwrap() {
        let groups = struct_plan["groups"].as_array_mut().unwrap();
        for group in groups {
            group["alignment"] = "aligned".into();
            group["drifts"] = serde_json::json!(["other.o"]);
        }
    }
    std::fs::write(demo.place("plan.json"), serde_json::to_vec(&plan).unwrap()).unwrap();
    let (code, text) = demo.patch("kernel", &["--idiom", "plain"]);
    assert_eq!(code, Some(0), "{text}");
    let path = std::fs::read_dir(demo.place("kernel")).unwrap().next().unwrap().unwrap().path();
    let patch = std::fs::read_to_string(path).unwrap();
    let refused = text.matches("is not aligned to the cacheline").count();
    // One a struct, if its group begins on a line.
    assert!((1..=2).contains(&(aligned(&patch) + refused)), "{text}{patch}");
}

#[test]
fn what_no_mail_may_hold_is_refused() {
    let demo = Demo::new();
    let from = ["--series", "--from", "Ada <ada@example.org>"];
    let wrong: [&[&str]; 5] = [
        &["--series"],
        &["--series", "--from", "Ada"],
        &[from[0], from[1], from[2], "--date", "yesterday"],
        &[from[0], from[1], from[2], "--trailer", "no key"],
        &["--from", "Ada <ada@example.org>"],
    ];
    for args in wrong {
        let (code, text) = demo.patch("none", args);
        assert_eq!(code, Some(2), "{args:?}: {text}");
        assert!(!demo.place("none").exists(), "{args:?}");
    }
}
