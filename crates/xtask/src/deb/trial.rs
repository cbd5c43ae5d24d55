//! The package in a clean root of the suite: installed by apt, used as a person would. Nothing else of this machine changes.

use crate::tools::debian::{self, SUITE};
use crate::tools::shell::{self, cache, print_line};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages of a machine on which people read manuals and complete commands.
const INCLUDED: &str = "--include=bash-completion,man-db";

/// Uses that must work: names, and scripts of bash that end with 0.
const CHECKS: &[(&str, &str)] = &[
    ("its version is printed", "fieldline --version"),
    ("the demo writes a patch", "fieldline demo /tmp/demo > /tmp/printed && ls /tmp/demo/patches/*.patch"),
    ("its manual is found", "man fieldline | grep -A1 ^NAME"),
    (
        "every command has a manual",
        "for page in $(fieldline --help | sed -n 's/^  \\([a-z]\\+\\)  .*/\\1/p' | grep -v help); do
             man fieldline-$page > /tmp/page && grep -q '^SEE ALSO' /tmp/page || exit 1
         done; man -w fieldline-guest-record",
    ),
    (
        "bash completes commands and options",
        "source /usr/share/bash-completion/bash_completion
         complete -p fieldline > /tmp/spec 2>&1 || { _comp_load fieldline || _completion_loader fieldline; }
         completed() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _fieldline fieldline \"${@: -1}\" \"${@: -2:1}\"; }
         completed fieldline lay; [ \"${COMPREPLY[*]}\" = layout ] || exit 1
         completed fieldline layout --btf; echo \"${COMPREPLY[*]}\"; [ \"${COMPREPLY[*]}\" = --btf-base ]",
    ),
    (
        "the front end that apt recommends reads a build",
        "cd /tmp/demo && entry() { printf '{\"directory\": \"/tmp/demo/tree\", \"file\": \"shaper/%s.c\", \"command\": \
         \"gcc -std=gnu11 -Iinclude -include config.h -c shaper/%s.c\"}' $1 $1; }
         mkdir -p build && { printf '['; sep=; for unit in class cpu flow main setup; do printf '%s' \"$sep\"; entry $unit; sep=,; \
         done; printf ']'; } > build/compile_commands.json
         fieldline propose tx_class --vmlinux shaper --perf shaper.perf.data --tree tree --build build -o out > /tmp/printed
         cat /tmp/printed | grep -i 'front end'",
    ),
    ("it is removed without a trace", "apt-get remove -y -qq -o Dpkg::Use-Pty=0 fieldline > /tmp/removed && [ ! -e /usr/bin/fieldline ]"),
];

/// Installs a package into a copy of the clean root and runs the checks; `true` if all hold.
pub(super) fn run(package: &Path) -> Result<bool> {
    let clean = clean_root()?;
    let trial = cache()?.join(format!("trial-{}", std::process::id()));
    let holds = try_in(&clean, &trial, package);
    // Of the copy nothing is kept, whatever came of it.
    shell::run(Command::new("rm").args(["-rf", "--one-file-system"]).arg(&trial))?;
    holds
}

fn try_in(clean: &Path, trial: &Path, package: &Path) -> Result<bool> {
    shell::run(Command::new("cp").args(["-a", "--reflink=auto"]).arg(clean).arg(trial))?;
    fs::copy(package, trial.join("fieldline.deb")).context("copy of the package")?;
    let install = "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Use-Pty=0 /fieldline.deb > /tmp/installed";
    shell::run(&mut inside(trial, install))?;
    let mut holds = true;
    for (name, script) in CHECKS {
        let output = inside(trial, script).output().context("cannot run chroot")?;
        let word = if output.status.success() { "ok" } else { "FAILED" };
        print_line!("test {name} ... {word}");
        for text in [&output.stdout, &output.stderr] {
            String::from_utf8_lossy(text).lines().for_each(|line| print_line!("  {line}"));
        }
        holds &= output.status.success();
    }
    Ok(holds)
}

/// A root of the suite with nothing of ours, made the first time.
fn clean_root() -> Result<PathBuf> {
    let root = cache()?.join(format!("{SUITE}-clean"));
    let done = root.join("usr/share/bash-completion/bash_completion");
    if !done.exists() {
        if root.exists() {
            fs::remove_dir_all(&root).with_context(|| root.display().to_string())?;
        }
        debian::make_root(INCLUDED, &root)?;
    }
    Ok(root)
}

/// A script in a root, with the variables of a login and no others.
fn inside(root: &Path, script: &str) -> Command {
    let mut command = Command::new("chroot");
    command.arg(root).args(["/usr/bin/bash", "-o", "pipefail", "-c", script]);
    command.env_clear().env("HOME", "/root").env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("TERM", "dumb");
    command.env("LC_ALL", "C.UTF-8").env("MANWIDTH", "100");
    command
}
