//! A Debian package of the program, its manual pages and completions: `cargo xtask deb`.
//!
//! * `control`: names, versions and relations of the package.
//! * `copyright`: licences of the program and of the crates in it.
//! * `trial`: the package in a clean root of the suite.

mod control;
mod copyright;
mod trial;

use crate::tools::shell::{self, print_line, root};
use anyhow::{Context, Result, bail};
use control::Release;
pub(crate) use control::git;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs that packing needs, with their Debian packages.
const TOOLS: &[(&str, &str)] = &[
    ("dpkg-deb", "dpkg"),
    ("dpkg-shlibdeps", "dpkg-dev"),
    ("strip", "binutils"),
    ("gzip", "gzip"),
    ("md5sum", "coreutils"),
    ("git", "git"),
];

/// Shells, with the place of their completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/fieldline"),
    ("zsh", "usr/share/zsh/vendor-completions/_fieldline"),
    ("fish", "usr/share/fish/vendor_completions.d/fieldline.fish"),
];

/// Folders of the checkout whose documents are installed, with the place of these.
const DOCUMENTS: [(&str, &str); 4] = [
    ("", "usr/share/doc/fieldline"),
    ("docs", "usr/share/doc/fieldline/docs"),
    ("docs/rules", "usr/share/doc/fieldline/docs/rules"),
    ("docs/findings", "usr/share/doc/fieldline/docs/findings"),
];

/// `cargo xtask deb [--try]`: builds the package; with `--try` installs it into a clean root and uses it there.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let is_tried = match args {
        [] => false,
        [option] if option == "--try" => true,
        _ => bail!("usage: cargo xtask deb [--try]"),
    };
    shell::require_files(TOOLS)?;
    let package = build()?;
    print_line!("{}", package.display());
    if is_tried { trial::run(&package) } else { Ok(true) }
}

/// Builds the package; returns its path.
fn build() -> Result<PathBuf> {
    let program = shell::fieldline()?;
    let release = Release::read()?;
    let folder = program.parent().and_then(Path::parent).context("no target folder")?.join("debian");
    let tree = folder.join("root");
    if tree.exists() {
        fs::remove_dir_all(&tree).with_context(|| tree.display().to_string())?;
    }
    install_program(&program, &tree)?;
    install_manual(&program, &tree)?;
    install_documents(&tree, &release)?;
    let depends = control::library_depends(&tree.join("usr/bin/fieldline"), &folder)?;
    write(&tree, "DEBIAN/control", release.control(&depends, installed_kilobytes(&tree)?)?.as_bytes())?;
    write(&tree, "DEBIAN/md5sums", checksums(&tree)?.as_bytes())?;
    let package = folder.join(release.file_name()?);
    let mut command = Command::new("dpkg-deb");
    command.env("SOURCE_DATE_EPOCH", release.epoch()).args(["--root-owner-group", "--build"]);
    shell::run(command.arg(&tree).arg(&package))?;
    Ok(package)
}

fn install_program(program: &Path, tree: &Path) -> Result<()> {
    let place = tree.join("usr/bin/fieldline");
    write(tree, "usr/bin/fieldline", &fs::read(program).with_context(|| program.display().to_string())?)?;
    shell::run(Command::new("strip").args(["--strip-unneeded", "--remove-section=.comment"]).arg(&place))?;
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).context("usr/bin/fieldline")
}

/// Pages and completions, as the program itself writes them.
fn install_manual(program: &Path, tree: &Path) -> Result<()> {
    let pages = tree.join("usr/share/man/man1");
    shell::run(Command::new(program).args(["man", "-q", "-o"]).arg(&pages))?;
    for entry in fs::read_dir(&pages)? {
        compress(&entry?.path())?;
    }
    for (name, place) in COMPLETIONS {
        let script = shell::output(Command::new(program).args(["completions", name]))?;
        write(tree, place, script.as_bytes())?;
    }
    Ok(())
}

fn install_documents(tree: &Path, release: &Release) -> Result<()> {
    for (from, to) in DOCUMENTS {
        let from = root().join(from);
        for entry in fs::read_dir(&from).with_context(|| from.display().to_string())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.ends_with(".md") && name != "CHANGELOG.md" {
                write(tree, &format!("{to}/{name}"), &fs::read(&path)?)?;
            }
        }
    }
    for entry in fs::read_dir(root().join("crates/fleet/sql")).context("crates/fleet/sql")? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        write(tree, &format!("usr/share/fieldline/sql/{name}"), &fs::read(&path)?)?;
    }
    let folder = "usr/share/doc/fieldline";
    write(tree, &format!("{folder}/copyright"), copyright::text()?.as_bytes())?;
    let changes = fs::read(root().join("CHANGELOG.md")).context("CHANGELOG.md")?;
    for (name, text) in [("changelog", changes), ("changelog.Debian", release.changelog()?.into_bytes())] {
        write(tree, &format!("{folder}/{name}"), &text)?;
        compress(&tree.join(folder).join(name))?;
    }
    Ok(())
}

/// Writes a file at a place of the package, readable by all.
fn write(tree: &Path, place: &str, bytes: &[u8]) -> Result<()> {
    let path = tree.join(place);
    let folder = path.parent().unwrap_or(tree);
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for above in folder.ancestors().take_while(|above| above.starts_with(tree)) {
        fs::set_permissions(above, fs::Permissions::from_mode(0o755))?;
    }
    fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).with_context(|| path.display().to_string())
}

/// Compresses a file in place, without its name and time.
fn compress(path: &Path) -> Result<()> {
    let status =
        Command::new("gzip").args(["-9", "-n", "-f"]).arg(path).status().context("cannot run gzip")?;
    if !status.success() {
        bail!("gzip of {}: {status}", path.display());
    }
    Ok(())
}

/// Sizes of all files, each rounded up, as Debian Policy 5.6.20 counts them.
fn installed_kilobytes(tree: &Path) -> Result<u64> {
    let sizes = files(tree)?.into_iter().map(|path| Ok(fs::metadata(tree.join(path))?.len().div_ceil(1024)));
    sizes.sum()
}

/// The lines of `md5sums`.
fn checksums(tree: &Path) -> Result<String> {
    shell::output(Command::new("md5sum").current_dir(tree).args(files(tree)?))
}

/// All files to be installed, from the top of the tree, in order.
fn files(tree: &Path) -> Result<Vec<String>> {
    let list = Command::new("find").current_dir(tree).args(["usr", "-type", "f"]).output().context("find")?;
    let mut files: Vec<String> = String::from_utf8(list.stdout)?.lines().map(str::to_owned).collect();
    files.sort();
    Ok(files)
}
