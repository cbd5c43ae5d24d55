//! Facts of a tree's repository and scripts for a series: base commit, date, blob names, recipients.

use crate::calendar::civil_date;
use anyhow::{Context, Result, bail};
use fieldline_tree::edits::PatchStep;
use fieldline_tree::header::FileChange;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Digits of a blob's name in a diff.
const DIGITS: usize = 12;
/// Settings by which a tree's repository could run programs.
const QUIET: [&str; 4] = ["-c", "core.fsmonitor=false", "-c", "log.showSignature=false"];
/// The script of a kernel tree that names recipients.
const SCRIPT: &str = "scripts/get_maintainer.pl";

/// The commit that a tree stands on; none if it is no repository.
pub(super) fn base_commit(tree: &Path) -> Option<String> {
    git(tree, &["rev-parse", "--verify", "--quiet", "HEAD"], b"")
}

/// The date of that commit, as mails have it.
pub(super) fn commit_date(tree: &Path) -> Option<String> {
    git(tree, &["log", "-1", "--format=%cD"], b"")
}

/// By file, the `index` line of its diff: names of the old and the new blob, and the mode.
pub(super) fn index_lines(tree: &Path, steps: &[PatchStep]) -> BTreeMap<(String, Vec<u8>), String> {
    let files = steps.iter().flat_map(|step| &step.files);
    let line = |FileChange { path, old, new }: &FileChange| {
        let name = |text: &[u8]| {
            let name = git(tree, &["hash-object", "--stdin"], text)?;
            name.get(..DIGITS).map(str::to_owned)
        };
        let mode = git(tree, &["ls-files", "-s", "--", path], b"")?;
        let mode = mode.split(' ').next().filter(|mode| !mode.is_empty())?.to_owned();
        let line = format!("index {}..{} {mode}", name(old)?, name(new)?);
        Some(((path.clone(), new.clone()), line))
    };
    files.filter_map(line).collect()
}

/// Who gets a series: maintainers, and everybody else that the tree names for the files.
pub(super) fn recipients(tree: &Path, steps: &[PatchStep]) -> Result<(Vec<String>, Vec<String>)> {
    if !tree.join(SCRIPT).is_file() {
        bail!("--maintainers: {} has no {SCRIPT}", tree.display());
    }
    let mut paths: Vec<&str> =
        steps.iter().flat_map(|step| &step.files).map(|file| file.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut script = Command::new("perl");
    script.current_dir(tree).arg(SCRIPT).args([
        "--no-git",
        "--no-git-fallback",
        "--norolestats",
        "--roles",
        "-f",
    ]);
    let output =
        script.args(&paths).stdin(Stdio::null()).output().context("--maintainers: perl can't be run")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("--maintainers: {SCRIPT} fails: {}", message.lines().next().unwrap_or("without a message"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(split_recipients(&text))
}

/// Lines such as `Ada <ada@example.org> (maintainer:SHAPER)` by role.
fn split_recipients(text: &str) -> (Vec<String>, Vec<String>) {
    let lines = text.lines().filter_map(|line| line.trim().split_once(" ("));
    let lines = lines.filter(|(address, _)| address.contains('@') && !address.chars().any(char::is_control));
    let (to, cc): (Vec<_>, Vec<_>) = lines.partition(|(_, role)| role.starts_with("maintainer"));
    let addresses = |all: Vec<(&str, &str)>| all.into_iter().map(|(address, _)| address.to_owned()).collect();
    (addresses(to), addresses(cc))
}

/// Output of git without the line's end; none if it fails, isn't there or prints nothing.
fn git(tree: &Path, args: &[&str], input: &[u8]) -> Option<String> {
    let mut git = Command::new("git");
    git.args(QUIET).env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1");
    git.current_dir(tree).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = git.spawn().ok()?;
    // Dropped at the end of the statement, so that git sees the end of its input.
    child.stdin.take()?.write_all(input).ok()?;
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim_end().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// A number of seconds since 1970 as mails have dates, in UTC.
pub(super) fn mail_date(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil_date(days);
    let name = |names: &[&'static str], index: u64| names.get(index as usize).copied().unwrap_or_default();
    let (weekday, month) = (name(&DAYS, days % 7), name(&MONTHS, month.saturating_sub(1)));
    let (hours, minutes) = (rest / 3_600, rest / 60 % 60);
    format!("{weekday}, {day} {month} {year} {hours:02}:{minutes:02}:{:02} +0000", rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_dates_of_mails() {
        assert_eq!(mail_date(0), "Thu, 1 Jan 1970 00:00:00 +0000");
        assert_eq!(mail_date(951_827_696), "Tue, 29 Feb 2000 12:34:56 +0000");
        assert_eq!(mail_date(1_795_651_199), "Wed, 25 Nov 2026 23:59:59 +0000");
    }

    #[test]
    fn maintainers_and_others_are_split_by_role() {
        let text = "Ada <ada@example.org> (maintainer:SHAPER)\nBo <bo@example.org> (reviewer:SHAPER)\n\
                    list@example.org (open list:SHAPER)\nno address (maintainer:X)\n";
        let (to, cc) = split_recipients(text);
        assert_eq!(to, ["Ada <ada@example.org>"]);
        assert_eq!(cc, ["Bo <bo@example.org>", "list@example.org"]);
    }
}
