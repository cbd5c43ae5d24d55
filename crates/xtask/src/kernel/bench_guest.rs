//! `fieldline bench cgroup-tree` in a guest: its load uses the quota, and its groups are gone after any end.
//!
//! The guest counts time in instructions, so that other work on this machine changes nothing.

use crate::tools::debian::{self, SUITE};
use crate::tools::inputs;
use crate::tools::shell::{self, cache, print_line};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The first program of the guest.
const INIT: &str = include_str!("bench-init.sh");
const ARGUMENTS: &str =
    "console=ttyS0 tsc=reliable clocksource=tsc mitigations=off nokaslr rdinit=/init panic=-1 loglevel=3";
const CPUS: &str = "4,sockets=1,cores=4,threads=1";
/// Seconds after which the guest is ended: it takes four to eight minutes.
const TIMEOUT: &str = "1800";
/// Percent of all CPUs that the leaves should use, and how far from it they may be.
const USAGE: (f64, f64) = (80.0, 3.0);
/// Trees that are run.
const TREES: usize = 2;
/// The exit code of a shell's job that SIGKILL ended.
const KILLED: &str = "137";

/// `cargo xtask bench-guest [VMLINUX]`.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let vmlinux = args.first().map_or_else(inputs::vmlinux, |path| Ok(path.into()))?;
    let (_, image) = inputs::bootable(&vmlinux)?;
    let out = shell::temporary("bench-guest");
    let root = out.join("root");
    fill(&root)?;
    let initrd = pack(&root, &out)?;
    let console = boot(&image, &initrd)?;
    fs::remove_dir_all(&out).with_context(|| out.display().to_string())?;
    judge(&console)
}

/// The guest's files: busybox, fieldline with its libraries, and its load, where fieldline looks for it.
fn fill(root: &Path) -> Result<()> {
    let program = shell::fieldline()?;
    copy(&busybox()?, &root.join("bin/busybox"))?;
    copy(&program, &root.join("bin/fieldline"))?;
    for library in libraries(&program)? {
        copy(Path::new(&library), &root.join(library.trim_start_matches('/')))?;
    }
    let load = fieldline_guest::bench_program(&cache()?.join("guest"))?;
    let name = load.file_name().context("no name")?;
    copy(&load, &root.join("root/.cache/fieldline/guest").join(name))?;
    let init = root.join("init");
    fs::write(&init, INIT)?;
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let place = || format!("copy of {}", from.display());
    fs::create_dir_all(to.parent().context("no folder")?).with_context(place)?;
    fs::copy(from, to).with_context(place)?;
    Ok(())
}

fn busybox() -> Result<PathBuf> {
    let packages = debian::packages(SUITE, |name| name == "busybox-static")?;
    let package = packages.last().context("the suite has no busybox-static")?;
    let folder = package.folder()?;
    if inputs::find_file(&folder, "busybox", "").is_none() {
        debian::unpack(package, "*bin/busybox", &folder)?;
    }
    inputs::find_file(&folder, "busybox", "").with_context(|| format!("{} holds no busybox", package.name))
}

/// The libraries that ldd lists; a static program has none.
fn libraries(program: &Path) -> Result<Vec<String>> {
    let output = Command::new("ldd").arg(program).output().context("ldd")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let path = |line: &str| line.split_whitespace().find(|word| word.starts_with('/')).map(str::to_owned);
    Ok(text.lines().filter_map(path).collect())
}

fn pack(root: &Path, out: &Path) -> Result<PathBuf> {
    shell::require_files(&[("cpio", "cpio")])?;
    let initrd = out.join("initrd");
    let script = "cd \"$1\" && find . | cpio -o -H newc --quiet > \"$2\"";
    shell::run(Command::new("bash").args(["-o", "pipefail", "-c", script, "pack"]).arg(root).arg(&initrd))?;
    Ok(initrd)
}

/// Boots the guest; its console's text.
fn boot(image: &Path, initrd: &Path) -> Result<String> {
    let mut command = Command::new("timeout");
    command.arg(TIMEOUT).arg(debian::qemu()?);
    command.args(["-machine", "q35,hpet=off", "-cpu", "qemu64", "-smp", CPUS, "-m", "3072"]);
    command.args(["-accel", "tcg,thread=single,tb-size=512", "-icount", "shift=2,sleep=off"]);
    command.args(["-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none", "-serial", "stdio"]);
    command.arg("-kernel").arg(image).arg("-initrd").arg(initrd).args(["-append", ARGUMENTS]);
    shell::output(command.stdin(Stdio::null()))
}

/// The words of lines that begin with a mark.
fn marked<'c>(console: &'c str, mark: &'c str) -> impl Iterator<Item = Vec<&'c str>> {
    let lines = console.lines().filter_map(move |line| line.trim().strip_prefix(mark)?.strip_prefix(' '));
    lines.map(|rest| rest.split(' ').collect())
}

/// Prints what was seen; whether it is what it should be.
fn judge(console: &str) -> Result<bool> {
    console.lines().filter(|line| !line.starts_with('[')).for_each(|line| print_line!("  {}", line.trim()));
    let usages: Vec<_> = marked(console, "@usage").collect();
    ensure!(usages.len() == TREES, "the guest ended early");
    let mut holds = true;
    for words in usages {
        let [_, usage, _, throttled, ..] = words[..] else { continue };
        let usage: f64 = usage.parse().context("usage")?;
        holds &= (usage - USAGE.0).abs() <= USAGE.1 && throttled.parse::<u64>().is_ok_and(|count| count > 0);
    }
    // After each tree, and after the clean-up.
    let is = |mark, expected: &[&str]| {
        marked(console, mark).map(|words| words.join(" ")).eq(expected.iter().copied())
    };
    holds &= is("@exit", &["0"; TREES + 1]) && is("@left", &["0"; TREES + 1]);
    holds &= is("@repeated", &["0"]) && is("@TERM", &["2 0"]) && is("@other", &["kept"]);
    // SIGKILL leaves the groups, which the next start removes.
    let killed: Vec<_> = marked(console, "@KILL").collect();
    holds &= matches!(killed[..], [ref words] if words[0] == KILLED && words.get(1).is_some_and(|left| *left != "0"));
    Ok(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "@exit 0\n@usage d3w10 82.1 throttled 7 of 9\n@left 0\n@exit 0\r\n@usage d5w4 79 throttled 7 of 9\n\
                        @left 0\n@repeated 0\n@TERM 2 0\n@KILL 137 1111\n@exit 0\n@left 0\n@other kept\n";

    #[test]
    fn what_is_not_as_it_should_be_is_seen() {
        assert!(judge(GOOD).unwrap());
        for (good, bad) in [
            ("82.1", "84"),
            ("79 ", "76.5 "),
            ("throttled 7", "throttled 0"),
            ("@left 0", "@left 3"),
            ("@TERM 2 0", "@TERM 2 5"),
            ("@KILL 137 1111", "@KILL 0 0"),
            ("@repeated 0", "@repeated 1"),
            ("@other kept\n", ""),
        ] {
            assert!(!judge(&GOOD.replacen(good, bad, 1)).unwrap(), "{bad}");
        }
        assert!(judge("@exit 2\n").is_err());
    }
}
