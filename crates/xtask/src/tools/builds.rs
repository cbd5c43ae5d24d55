//! A kernel tree prepared for compiling single units, with the suite's configuration.

use crate::tools::debian::{self, SUITE};
use crate::tools::inputs::find_file;
use crate::tools::shell::{self, cache, print_line};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs and files that preparing a kernel needs, each with its Debian package.
const TOOLS: &[(&str, &str)] = &[
    ("make", "make"),
    ("gcc", "gcc"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("xz", "xz-utils"),
    ("perl", "perl"),
    ("python3", "python3"),
    ("/usr/include/libelf.h", "libelf-dev"),
    ("/usr/include/openssl/ssl.h", "libssl-dev"),
];
/// Options that need keys or programs which debug info of single units doesn't.
const DISABLED_OPTIONS: &[&str] = &["MODULE_SIG", "SYSTEM_TRUSTED_KEYRING", "DEBUG_INFO_BTF"];
/// The configuration that the vmlinux of the tests was built with.
const FLAVOUR: &str = "cloud-amd64";

/// A build folder of the tree in which `make prepare` was run and the given objects were made.
pub(crate) fn prepared_build(tree: &Path, objects: &[&str]) -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("FIELDLINE_BUILD") {
        return Ok(PathBuf::from(given));
    }
    let name = tree.parent().and_then(Path::file_name).context("a tree without a name")?;
    let folder = cache()?.join(format!("build-{}", name.to_string_lossy()));
    let done = folder.join(".prepared");
    if !done.exists() {
        prepare(tree, &folder)?;
        fs::write(&done, "")?;
    }
    let missing: Vec<&str> = objects.iter().copied().filter(|object| !folder.join(object).exists()).collect();
    if !missing.is_empty() {
        make(tree, &folder, &missing)?;
    }
    Ok(folder)
}

fn prepare(tree: &Path, folder: &Path) -> Result<()> {
    shell::require_files(TOOLS)?;
    fs::create_dir_all(folder)?;
    fs::write(folder.join(".config"), config(tree)?)?;
    let script = tree.join("scripts/config");
    let mut switch = Command::new("bash");
    switch.arg(script).arg("--file").arg(folder.join(".config"));
    shell::run(switch.args(DISABLED_OPTIONS.iter().flat_map(|option| ["-d", option])))?;
    make(tree, folder, &["olddefconfig", "prepare"])
}

fn make(tree: &Path, folder: &Path, targets: &[&str]) -> Result<()> {
    let output = format!("O={}", folder.display());
    shell::run(Command::new("make").args(["-s", "-j2", "-C"]).arg(tree).arg(output).args(targets))
}

/// The suite's configuration for the tree's series.
fn config(tree: &Path) -> Result<String> {
    let name = tree.file_name().unwrap_or_default().to_string_lossy();
    let series = name.strip_prefix("linux-source-").context("the tree is not named linux-source-SERIES")?;
    let wanted = format!("linux-config-{series}");
    let package = debian::packages(SUITE, |name| name == wanted)?;
    let package = package.last().with_context(|| format!("no package {wanted}"))?;
    let folder = package.folder()?;
    let end = format!("none_{FLAVOUR}.xz");
    if find_file(&folder, "", &end).is_none() {
        debian::unpack(package, "*/config.*", &folder)?;
    }
    let path = find_file(&folder, "", &end);
    let path = path.with_context(|| format!("{wanted} has no configuration for {FLAVOUR}"))?;
    print_line!("configuration: {}", path.display());
    shell::output(Command::new("xz").arg("-dc").arg(path))
}
