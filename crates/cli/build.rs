//! The version that `fieldline --version` prints, with the commit where it is known.
//!
//! The commit is the first found of: `FIELDLINE_COMMIT` (for packagers), the one that `cargo package` noted, the head of
//! the git checkout that this crate stands in. It never fails: a source without any of these has no commit.

// Cargo reads its instructions from standard output.
#![allow(clippy::print_stdout)]

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Digits of a commit that are shown.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=FIELDLINE_COMMIT");
    let crate_folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let crate_folder = Path::new(&crate_folder);
    let commit = env::var("FIELDLINE_COMMIT").ok().and_then(|text| shorten(&text));
    let commit = commit.or_else(|| packaged_commit(crate_folder)).or_else(|| checkout_commit(crate_folder));
    let commit = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    println!("cargo::rustc-env=FIELDLINE_VERSION={version}{commit}");
}

/// The first digits of a commit; `None` if it is none.
fn shorten(commit: &str) -> Option<String> {
    let commit = commit.trim();
    let is_commit = commit.len() >= DIGITS && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| commit[..DIGITS].to_ascii_lowercase())
}

/// The commit in `.cargo_vcs_info.json`, which `cargo package` puts into packages.
fn packaged_commit(crate_folder: &Path) -> Option<String> {
    let path = crate_folder.join(".cargo_vcs_info.json");
    let text = fs::read_to_string(&path).ok()?;
    println!("cargo::rerun-if-changed={}", path.display());
    let (_, rest) = text.split_once("\"sha1\"")?;
    shorten(rest.split('"').nth(1)?)
}

/// The head of the checkout whose `crates/cli` this crate is. Another repository that a source was unpacked into is none.
fn checkout_commit(crate_folder: &Path) -> Option<String> {
    let top = crate_folder.parent()?.parent()?;
    let of_top = git(top, &["rev-parse", "--show-toplevel"])?;
    if fs::canonicalize(of_top).ok()? != fs::canonicalize(top).ok()? {
        return None;
    }
    watch_head(top);
    shorten(&git(top, &["rev-parse", "HEAD"])?)
}

/// Has cargo run this again when the head moves. Git notes each move in `logs/HEAD`. Without that file, the head or its
/// branch changes; cargo runs this each time if the branch has no file yet.
fn watch_head(top: &Path) {
    let path = |name: &str| Some(top.join(git(top, &["rev-parse", "--git-path", name])?));
    let branch = || git(top, &["symbolic-ref", "--quiet", "HEAD"]);
    let paths = match path("logs/HEAD").filter(|path| path.is_file()) {
        Some(log) => vec![log],
        None => [path("HEAD"), branch().and_then(|name| path(&name))].into_iter().flatten().collect(),
    };
    paths.iter().for_each(|path| println!("cargo::rerun-if-changed={}", path.display()));
}

/// The first line that git prints in a folder; `None` if it can't be run or fails.
fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args).env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.lines().next()?.to_owned())
}
