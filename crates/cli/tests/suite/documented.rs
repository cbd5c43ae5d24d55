//! Every command line of README.md and docs/*.md: the program takes its arguments, and those that can run on the demo's
//! files do.

use fieldline_testing::has_programs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README.md first, then docs, in order of their names.
fn documents() -> Vec<(String, String)> {
    let mut paths = vec![root().join("README.md")];
    for folder in ["docs", "docs/rules", "docs/findings"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let mut pages: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
        pages.sort();
        paths.extend(pages);
    }
    let read = |path: &PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap())
    };
    paths.iter().map(read).collect()
}

/// Words of a command line behind `fieldline`, up to what ends it in a shell.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" # ").next().unwrap_or(line).replace("\\|", "|");
    let words = shlex::split(&line).unwrap_or_else(|| panic!("no command line: {line}"));
    words.into_iter().take_while(|word| !["&&", "|", ">", "<", ";"].contains(&word.as_str())).collect()
}

/// Lines of code blocks: indented by four columns, or fenced. Lines that end in a backslash go on.
fn block_lines(page: &str) -> Vec<String> {
    let (mut found, mut is_fenced, mut is_behind_text) = (Vec::<String>::new(), false, false);
    for line in page.lines() {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        } else if is_fenced || (line.starts_with("    ") && !is_behind_text) {
            match found.last_mut().filter(|last| last.ends_with('\\')) {
                Some(last) => *last = format!("{} {}", last.trim_end_matches('\\'), line.trim()),
                None => found.push(line.trim().to_owned()),
            }
            continue;
        }
        is_behind_text = !line.trim().is_empty() && !line.starts_with("<!--");
    }
    found
}

/// Command lines of the code blocks of a page, and of the first cells of its tables of commands.
fn command_lines(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for line in block_lines(page) {
        let begins = ["", "$ ", "- ", "to accept it: "]
            .iter()
            .find_map(|before| line.strip_prefix(before)?.strip_prefix("fieldline "));
        let within = || line.split_once("&& fieldline ").map(|(_, rest)| rest);
        found.extend(begins.or_else(within).map(words));
    }
    let mut is_commands = false;
    for line in page.lines() {
        is_commands = line.starts_with("| command |") || (is_commands && line.starts_with('|'));
        let cell = line.strip_prefix("| `").and_then(|rest| rest.split_once("` |"));
        found.extend(cell.filter(|_| is_commands).map(|(cell, _)| words(cell)));
    }
    found
}

/// Mentions of commands in running text, which may be incomplete.
fn mentions(page: &str) -> Vec<Vec<String>> {
    let text: Vec<&str> = page.lines().filter(|line| !line.starts_with("    ")).collect();
    let text = text.join(" ");
    let spans = text.split('`').skip(1).step_by(2);
    spans.filter_map(|span| span.strip_prefix("fieldline ")).map(words).collect()
}

/// A synopsis as one of the command lines it stands for: without what is optional, with the first of what may be chosen.
fn instance(words: &[String]) -> Vec<String> {
    let (mut found, mut depth) = (Vec::new(), 0);
    for word in words {
        // Brackets within a word, as in TYPE@SYMBOL[+OFFSET], are optional too.
        let mut kept = String::new();
        for letter in word.chars() {
            match letter {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ if depth > 0 => {}
                letter => kept.push(letter),
            }
        }
        // No process has that number.
        let kept =
            if kept == "PID" { "4000000".to_owned() } else { kept.replace("<MAIL>", "<name@localhost>") };
        let kept = kept.trim_end_matches(",…").trim_end_matches('…');
        let kept = if kept.contains("O=") { kept } else { kept.split('|').next().unwrap_or_default() };
        // A list has two entries.
        let count = if word.ends_with('…') && depth == 0 { 2 } else { 1 };
        found.extend(std::iter::repeat_n(kept.to_owned(), if kept.is_empty() { 0 } else { count }));
    }
    found
}

fn run(folder: &Path, words: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldline"));
    let is_bench = words.len() > 1 && words[0] == "bench";
    // Where it could run, it would take minutes.
    let nowhere = if is_bench { &["--parent", "no-such-group"][..] } else { &[] };
    command.args(words).args(nowhere).current_dir(folder).env("TMPDIR", folder).env("HOME", folder);
    command.env_remove("GITHUB_STEP_SUMMARY").output().unwrap()
}

/// The complaint about arguments, if there is one.
fn complaint(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.starts_with("error:").then_some(text)
}

#[test]
fn the_program_takes_every_command_line() {
    let empty = tempfile::tempdir().unwrap();
    let (mut checked, mut refused) = (BTreeSet::new(), Vec::new());
    for (name, page) in documents() {
        for line in command_lines(&page) {
            let words = instance(&line);
            // The demo has tests of its own, and takes no arguments to check.
            if words[0] == "demo" || !checked.insert(words.clone()) {
                continue;
            }
            let complaint = complaint(&run(empty.path(), &words)).unwrap_or_default();
            let is_cut = line.iter().any(|word| word == "…") && complaint.contains("required arguments");
            if !complaint.is_empty() && !is_cut {
                refused.push(format!("{name}: fieldline {}: {complaint}", words.join(" ")));
            }
        }
        for words in mentions(&page).iter().map(|words| instance(words)) {
            if words[0] == "demo" || words[0] == "COMMAND" || !checked.insert(words.clone()) {
                continue;
            }
            let complaint = complaint(&run(empty.path(), &words)).unwrap_or_default();
            let is_incomplete = [
                "required",
                "requires a subcommand",
                "a value is required",
                "Usage: fieldline guest <COMMAND>",
                "Usage: fieldline bench <COMMAND>",
            ]
            .iter()
            .any(|reason| complaint.contains(reason));
            if !complaint.is_empty() && !is_incomplete {
                refused.push(format!("{name}: fieldline {}: {complaint}", words.join(" ")));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(checked.len() > 60, "{checked:?}");
}

/// The demo's files under the names that documents use, with a build folder and a test to run.
fn demo_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let demo = root().join("fixtures/demo");
    copy(&demo.join("tree"), &folder.path().join("linux"));
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("build")).unwrap();
    for name in ["vmlinux", "build/vmlinux", "build/shaper"] {
        std::fs::copy(demo.join("shaper"), path(name)).unwrap();
    }
    for name in ["perf.data", "guest.perf.data"] {
        std::fs::copy(demo.join("shaper.perf.data"), path(name)).unwrap();
    }
    let compile = "gcc -std=gnu11 -g -Iinclude -include include/config.h -c shaper/setup.c";
    let unit = serde_json::json!([{"directory": path("linux"), "file": "shaper/setup.c", "command": format!("{compile} -o setup.o")}]);
    std::fs::write(path("build/compile_commands.json"), unit.to_string()).unwrap();
    std::fs::write(path("linux/Makefile"), format!("check:\n\t{compile} -o /dev/null\n")).unwrap();
    copy(&path("linux"), &path("T"));
    folder
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        let target = to.join(entry.file_name().unwrap());
        match entry.is_dir() {
            true => copy(&entry, &target),
            false => assert!(std::fs::copy(&entry, target).is_ok(), "{}", entry.display()),
        }
    }
}

/// A command line on the demo's structs; none if it records, or if a placeholder stands for something else.
fn on_demo(words: &[String]) -> Option<Vec<String>> {
    let command = words.first()?.as_str();
    let other = [
        "bench", "compare", "demo", "doctor", "record", "guest", "trial", "import", "merge", "simulate",
        "explain", "samples", "place", "diff", "layout",
    ];
    let is_placeholder = |word: &String| {
        let letters = word.trim_start_matches("O=");
        letters.len() > 1 && letters.chars().all(|letter| letter.is_ascii_uppercase())
    };
    // Without the feature, Parquet is refused; and the demo has no fleet beside the folder that a line writes.
    let is_fleet = words.iter().any(|word| word.contains("fleet") || word == "merged" || word == "parquet");
    if other.contains(&command)
        || is_fleet
        || words.iter().any(is_placeholder)
        || words.iter().any(|word| word == "F" || word == "V" || word == "P")
    {
        return None;
    }
    let renamed = words.iter().map(|word| {
        let name = match word.as_str() {
            "cfs_rq" | "task_struct" => "tx_class",
            "sched_entity" | "net_device" => "tx_flow",
            other => other,
        };
        name.to_owned()
    });
    let mut renamed: Vec<String> = renamed.collect();
    if command == "propose" && !renamed.contains(&"--confidence".to_owned()) {
        renamed.extend(["--confidence", "0"].map(str::to_owned));
    }
    Some(renamed)
}

#[test]
fn command_lines_run_on_the_demo() {
    if !has_programs(&["gcc", "make", "git", "sh"]) {
        return;
    }
    let folder = demo_folder();
    let mut ran = BTreeSet::new();
    for (name, page) in documents() {
        for line in command_lines(&page) {
            // What stands in brackets, or may be chosen, is a synopsis.
            let is_synopsis = line.iter().any(|word| word.contains(['[', '…', '|']));
            let Some(words) = on_demo(&line).filter(|_| !is_synopsis) else { continue };
            if !ran.insert(words.clone()) {
                continue;
            }
            if words[0] == "init" {
                // Each page begins with one, and none replaces another's.
                drop(std::fs::remove_file(folder.path().join("fieldline.toml")));
            }
            let output = run(folder.path(), &words);
            let message = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{name}: fieldline {}: {message}", words.join(" "));
        }
    }
    for command in ["profile", "report", "propose", "verify", "init", "baseline", "check"] {
        assert!(ran.iter().any(|words| words[0] == command), "{command} was not run: {ran:?}");
    }
}
