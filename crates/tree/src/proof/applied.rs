//! Diffs of others applied beside a tree, one after the other.
//!
//! `git apply` does it, as it does for `git am`: it knows every form of a diff and refuses paths that lead out of the
//! folder. It runs on copies of the files that a diff names.

use super::overlay::{Patch, temporary_folder};
use anyhow::{Context, Result, bail};
use std::io::Write;
use std::path::{Component, Path};
use std::process::{Command, Stdio};

/// The files that were changed so far, as a diff makes them: those of the tree and `before` with it.
///
/// # Errors
/// If the diff doesn't fit, or git is missing.
pub fn apply(tree: &Path, before: &Patch, diff: &[u8], files: &[String]) -> Result<Patch> {
    let folder = temporary_folder("fieldline-apply-")?;
    for name in files {
        check_inside(name)?;
        let path = folder.path().join(name);
        let Some(text) = current_text(tree, before, name)? else { continue };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).with_context(|| name.clone())?;
        }
        std::fs::write(&path, text).with_context(|| name.clone())?;
    }
    run_git(folder.path(), diff)?;
    let mut after = before.clone();
    for name in files {
        let path = folder.path().join(name);
        // A link could lead anywhere, and is no C text.
        if path.symlink_metadata().is_ok_and(|data| data.is_file()) {
            after.insert(name.clone(), fieldline_files::read(&path).with_context(|| name.clone())?);
        } else {
            after.remove(name);
        }
    }
    Ok(after)
}

/// The texts of some files as changed so far, those that are there.
pub fn current_texts(tree: &Path, changed: &Patch, files: &[String]) -> Result<Patch> {
    let mut texts = Patch::new();
    for name in files {
        texts.extend(current_text(tree, changed, name)?.map(|text| (name.clone(), text)));
    }
    Ok(texts)
}

/// A file's text as changed so far, or the tree's; `None` if there is no such file.
pub(super) fn current_text(tree: &Path, changed: &Patch, name: &str) -> Result<Option<Vec<u8>>> {
    if let Some(text) = changed.get(name) {
        return Ok(Some(text.clone()));
    }
    let path = tree.join(name);
    if !path.is_file() {
        return Ok(None);
    }
    fieldline_files::read(&path).map(Some).with_context(|| path.display().to_string())
}

/// Refuses a path that isn't one from the top of a tree.
fn check_inside(name: &str) -> Result<()> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if name.is_empty() || !Path::new(name).components().all(is_plain) {
        bail!("{name:?}: the patch names a file outside the tree");
    }
    Ok(())
}

fn run_git(folder: &Path, diff: &[u8]) -> Result<()> {
    let mut git = Command::new("git");
    git.args(["apply", "--whitespace=nowarn", "-"]).current_dir(folder);
    // Neither a repository around the temporary folder nor the user's settings change what a diff does.
    git.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder)).env("LC_ALL", "C");
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(name);
    }
    git.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = git.spawn().context("git can't be started; it applies patches")?;
    let mut input = child.stdin.take().context("git takes no input")?;
    let sent = std::thread::scope(|scope| {
        let sender = scope.spawn(move || input.write_all(diff));
        let output = child.wait_with_output();
        (sender.join().map_err(|_| ()), output)
    });
    let output = sent.1.context("git")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> =
            message.lines().map(|line| line.trim_start_matches("error: ")).take(4).collect();
        bail!("does not apply to the tree: {}", lines.join("; "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir(tree.path().join("a")).unwrap();
        std::fs::write(tree.path().join("a/x.h"), "one\ntwo\nthree\n").unwrap();
        tree
    }

    #[test]
    fn diffs_add_up_and_the_tree_stays() {
        if !fieldline_testing::has_programs(&["git"]) {
            return;
        }
        let tree = tree();
        let files = ["a/x.h".to_owned(), "b/new.h".to_owned()];
        let first = b"--- a/a/x.h\n+++ b/a/x.h\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n-- \n2.43\n";
        let first = apply(tree.path(), &Patch::new(), first, &files[..1]).unwrap();
        let second = b"diff --git a/a/x.h b/a/x.h\n--- a/a/x.h\n+++ b/a/x.h\n@@ -1,3 +1,2 @@\n one\n 2\n-three\n\
            diff --git a/b/new.h b/b/new.h\nnew file mode 100644\n--- /dev/null\n+++ b/b/new.h\n@@ -0,0 +1 @@\n+new\n";
        let second = apply(tree.path(), &first, second, &files).unwrap();
        assert_eq!(first["a/x.h"], b"one\n2\nthree\n");
        assert_eq!(second["a/x.h"], b"one\n2\n");
        assert_eq!(second["b/new.h"], b"new\n");
        assert_eq!(std::fs::read(tree.path().join("a/x.h")).unwrap(), b"one\ntwo\nthree\n");
    }

    #[test]
    fn what_does_not_fit_or_leads_out_is_refused() {
        if !fieldline_testing::has_programs(&["git"]) {
            return;
        }
        let tree = tree();
        let diff = b"--- a/a/x.h\n+++ b/a/x.h\n@@ -1 +1 @@\n-four\n+4\n";
        let why = apply(tree.path(), &Patch::new(), diff, &["a/x.h".to_owned()]).unwrap_err().to_string();
        assert!(why.contains("a/x.h:1"), "{why}");
        for name in ["../x.h", "/etc/passwd", ""] {
            let why = apply(tree.path(), &Patch::new(), diff, &[name.to_owned()]).unwrap_err();
            assert!(why.to_string().contains("outside the tree"), "{why}");
        }
        // A diff that names others than it is said to name.
        let other = b"--- a/../out.h\n+++ b/../out.h\n@@ -0,0 +1 @@\n+x\n";
        assert!(apply(tree.path(), &Patch::new(), other, &[]).is_err());
    }
}
