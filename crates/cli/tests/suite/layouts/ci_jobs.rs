//! action.yml and the snippets of docs/ci.md, run as a CI job would: in a clean folder, with what the runner
//! sets.

use fieldline_testing::has_programs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path.as_ref())
        .unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lines below the first line of `text` that is `head`, as far as they are indented deeper, without that.
fn below(text: &str, head: &str) -> Vec<String> {
    let mut lines = text.lines().skip_while(|line| line.trim() != head);
    let own = indent(lines.next().unwrap_or_else(|| panic!("no '{head}' in:\n{text}")));
    let block: Vec<&str> = lines.take_while(|line| line.trim().is_empty() || indent(line) > own).collect();
    let inner =
        block.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line)).min().unwrap_or(0);
    block.iter().map(|line| line.get(inner..).unwrap_or("").to_owned()).collect()
}

/// `key: value` lines below a head.
fn mapping(text: &str, head: &str) -> BTreeMap<String, String> {
    let lines = below(text, head).into_iter().filter(|line| indent(line) == 0);
    let pairs = lines.filter_map(|line| {
        let (key, value) = line.split_once(':')?;
        Some((key.to_owned(), value.trim().trim_matches('"').to_owned()))
    });
    pairs.collect()
}

/// The code blocks of a page in a language.
fn fenced(page: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line == format!("```{language}") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(block.join("\n") + "\n");
        } else if line.starts_with("```") {
            lines.by_ref().find(|line| *line == "```");
        }
    }
    blocks
}

/// The folder of a job, with `fieldline` among its programs.
struct Job {
    folder: tempfile::TempDir,
}

impl Job {
    fn new() -> Self {
        let job = Self { folder: tempfile::tempdir().unwrap() };
        for name in ["bin", "work", "temp"] {
            std::fs::create_dir(job.path(name)).unwrap();
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fieldline"), job.path("bin/fieldline")).unwrap();
        job
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// A program to check as `file`, a configuration for it, and its baseline, which is committed twice.
    fn project(&self, file: &str) {
        let config =
            format!("types = [\"tx_class\"]\n[target.main]\nagainst = \"layouts.json\"\nfile = \"{file}\"\n");
        self.write("work/fieldline.toml", &config);
        self.write("work/Makefile", "vmlinux:\n\tmkdir -p ./$(O) && cp $(PROGRAM) ./$(O)/vmlinux\n");
        self.must("fieldline baseline --vmlinux \"$PROGRAM\" tx_class -o layouts.json");
        self.must("git init -q . && git config user.email job@localhost && git config user.name job");
        self.must("git add . && git commit -q -m first && git commit -q --allow-empty -m second");
    }

    fn run(&self, script: &str, variables: &[(&str, &str)]) -> (i32, String) {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("bash");
        shell.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]);
        shell.current_dir(self.path("work")).env_clear().env("HOME", self.folder.path());
        shell.env("PATH", format!("{}:{path}", self.path("bin").display()));
        shell.env("PROGRAM", root().join("fixtures/demo/shaper"));
        let output = shell.envs(variables.iter().copied()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout) + &text(&output.stderr))
    }

    fn must(&self, script: &str) {
        let (code, out) = self.run(script, &[]);
        assert_eq!(code, 0, "{script}: {out}");
    }
}

/// A step of action.yml: its script and its variables, with the inputs' values.
fn step(name: &str, with: &BTreeMap<String, String>) -> (String, Vec<(String, String)>) {
    let action = read(root().join("action.yml"));
    let start = action.find(&format!("- name: {name}")).unwrap();
    let rest = &action[start..];
    let end = rest[1..].find("- name:").map_or(rest.len(), |end| end + 1);
    let step = &rest[..end];
    let value = |text: &str| {
        let Some(input) = text.strip_prefix("${{ inputs.").and_then(|rest| rest.strip_suffix(" }}")) else {
            return text.to_owned();
        };
        let default = || mapping(&action, &format!("{input}:")).remove("default").unwrap();
        with.get(input).cloned().unwrap_or_else(default)
    };
    let variables = mapping(step, "env:").into_iter().map(|(key, text)| (key, value(&text)));
    (below(step, "run: |").join("\n"), variables.collect())
}

/// The action's check with some inputs: exit code, output, the job's page, what it hands on.
fn check(job: &Job, with: &BTreeMap<String, String>) -> (i32, String, String, String) {
    let (script, variables) = step("Check layouts", with);
    let (page, outputs) = (job.path("temp/page.md"), job.path("temp/output"));
    std::fs::write(&page, "before\n").unwrap();
    let runner =
        [("GITHUB_STEP_SUMMARY", page.to_str().unwrap()), ("GITHUB_OUTPUT", outputs.to_str().unwrap())];
    let given = variables.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let all: Vec<(&str, &str)> = given.chain(runner).collect();
    let (code, out) = job.run(&script, &all);
    (code, out, read(&page), read(&outputs))
}

/// Inputs of the action in the page's example.
fn example() -> BTreeMap<String, String> {
    let page = read(root().join("docs/ci.md"));
    let blocks = fenced(&page, "yaml");
    let workflow = blocks.iter().find(|block| block.contains("/fieldline@")).unwrap();
    let uses = workflow.lines().position(|line| line.contains("/fieldline@")).unwrap();
    let rest: Vec<&str> = workflow.lines().skip(uses + 1).collect();
    mapping(&rest.join("\n"), "with:")
}

#[test]
fn the_action_checks_what_the_example_asks_for() {
    if !has_programs(&["bash", "git"]) {
        return;
    }
    let inputs = mapping(&read(root().join("action.yml")), "inputs:");
    let with = example();
    assert!(with.len() >= 2 && with.keys().all(|key| inputs.contains_key(key)), "{with:?} {inputs:?}");
    let job = Job::new();
    let program = root().join("fixtures/demo/shaper");
    job.project(program.to_str().unwrap());
    let (code, out, page, outputs) = check(&job, &with);
    assert_eq!(code, 0, "{out}");
    assert!(page.starts_with("before\n### Struct layouts\n"), "{page}");
    assert!(page.contains("| main | git:HEAD~1:layouts.json | 1 | 0 | 0 |"), "{page}");
    assert_eq!(outputs, "exit-code=0\n");
    let sarif: serde_json::Value = serde_json::from_str(&read(job.path("work/layouts.sarif"))).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
}

#[test]
fn the_action_fails_where_check_does_and_says_why() {
    if !has_programs(&["bash", "git"]) {
        return;
    }
    let job = Job::new();
    job.project(root().join("fixtures/demo/shaper").to_str().unwrap());
    let config = read(job.path("work/fieldline.toml"));
    job.write("work/fieldline.toml", &format!("{config}[budget.tx_class]\nsize = 128\n"));
    let (code, out, page, outputs) = check(&job, &BTreeMap::new());
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("::error file="), "{out}");
    assert!(page.contains("| error | main | tx\\_class |") && page.contains("| over-budget |"), "{page}");
    assert_eq!(outputs, "exit-code=1\n");
    let with = BTreeMap::from([("against".to_owned(), "git:nowhere:layouts.json".to_owned())]);
    let (code, out, page, _) = check(&job, &with);
    assert_eq!(code, 2, "{out}");
    assert!(out.contains("git:nowhere:layouts.json"), "{out}");
    assert_eq!(page, "before\n");
}

#[test]
fn the_action_builds_what_is_not_there() {
    if !has_programs(&["bash"]) {
        return;
    }
    let job = Job::new();
    job.write("bin/cargo", "#!/bin/sh\nfor argument; do echo \"$argument\"; done\n");
    job.must("chmod +x ../bin/cargo");
    let (script, variables) = step("Build fieldline", &BTreeMap::new());
    assert!(variables.contains(&("SOURCE".to_owned(), "${{ github.action_path }}".to_owned())));
    let source = root();
    let run = |program: &str| {
        let paths = job.path("temp/path");
        let variables = [
            ("FIELDLINE", program),
            ("SOURCE", source.to_str().unwrap()),
            ("RUNNER_TEMP", "/runner"),
            ("GITHUB_PATH", paths.to_str().unwrap()),
        ];
        job.run(&script, &variables)
    };
    assert_eq!(run("fieldline"), (0, String::new()));
    let (code, out) = run("fieldline-that-is-not-there");
    assert_eq!(code, 0, "{out}");
    let arguments: Vec<&str> = out.lines().collect();
    let place = arguments.iter().position(|argument| *argument == "--path").unwrap() + 1;
    assert!(Path::new(arguments[place]).join("Cargo.toml").exists(), "{out}");
    assert_eq!(read(job.path("temp/path")), "/runner/fieldline/bin\n");
}

#[test]
fn the_gitlab_job_runs() {
    if !has_programs(&["bash", "git", "make"]) {
        return;
    }
    let page = read(root().join("docs/ci.md"));
    let blocks = fenced(&page, "yaml");
    let job_text = blocks.iter().find(|block| block.contains("script:")).unwrap();
    let commands =
        below(job_text, "script:").into_iter().filter_map(|line| Some(line.strip_prefix("- ")?.to_owned()));
    let commands: Vec<String> = commands.collect();
    assert_eq!(commands.len(), 2);
    let job = Job::new();
    job.project("vmlinux");
    let (code, out) = job.run(&commands.join("\n"), &[]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("1 types of 1 targets checked: 0 errors"), "{out}");
    let report = mapping(job_text, "reports:").remove("junit").unwrap();
    assert!(read(job.path("work").join(report)).contains("<testcase classname=\"main\" name=\"tx_class\">"));
}

#[test]
fn the_make_targets_run() {
    if !has_programs(&["bash", "git", "make"]) {
        return;
    }
    let page = read(root().join("docs/ci.md"));
    let job = Job::new();
    job.project("vmlinux");
    let makefile = read(job.path("work/Makefile"));
    job.write("work/Makefile", &(makefile + &fenced(&page, "make")[0]));
    let (code, out) = job.run("make check-layouts", &[]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("1 types of 1 targets checked"), "{out}");
    let job = Job::new();
    job.project("build/vmlinux");
    let (code, out) = job.run(&fenced(&page, "sh")[0], &[]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("1 types of 1 targets checked"), "{out}");
    job.must("sed -i s/tx_class/tx_klass/ fieldline.toml");
    assert_ne!(job.run(&fenced(&page, "sh")[0], &[]).0, 0);
}
