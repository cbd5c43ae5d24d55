//! Running other programs.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Prints a line on standard output, formatted as `format!` does.
macro_rules! print_line {
    ($($text:tt)*) => { $crate::tools::shell::write_line(format_args!($($text)*)) };
}
pub(crate) use print_line;

#[expect(clippy::print_stdout, reason = "a command-line tool")]
pub(crate) fn write_line(text: std::fmt::Arguments<'_>) {
    println!("{text}");
}

/// Runs a command; an error if it can't be run or fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = format_command(command);
    print_line!("$ {shown}");
    let status = command.status().with_context(|| format!("cannot run {shown}"))?;
    if !status.success() {
        bail!("{shown}: {status}");
    }
    Ok(())
}

/// Runs a command and returns its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = format_command(command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run {shown}"))?;
    if !output.status.success() {
        bail!("{shown}: {}", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn format_command(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Whether a program is on the PATH, or a file with its whole path there.
pub(crate) fn has(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// Installs Debian packages of which a program or file is not there yet, see [`has`].
pub(crate) fn require_files(files: &[(&str, &str)]) -> Result<()> {
    let missing = files.iter().filter(|(file, _)| !has(file)).map(|(_, package)| *package);
    let missing: Vec<&str> = missing.collect();
    if missing.is_empty() {
        return Ok(());
    }
    update_packages()?;
    install_packages(&missing)
}

/// Fetches the lists of Debian packages.
pub(crate) fn update_packages() -> Result<()> {
    run(Command::new("apt-get").args(["update", "-q"]))
}

/// Installs Debian packages.
pub(crate) fn install_packages(names: &[&str]) -> Result<()> {
    run(Command::new("apt-get").args(["install", "-y", "-q", "--no-install-recommends"]).args(names))
}

/// A command of cargo for the whole checkout.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(args);
    command
}

/// The top of the checkout.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// The folder for downloads and other big things that may be deleted at any time.
pub(crate) fn cache() -> Result<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let folder = base.or_else(home).context("neither XDG_CACHE_HOME nor HOME is set")?.join("fieldline");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// The path of the release binary, which is built the first time; as packages have it, with Parquet.
pub(crate) fn fieldline() -> Result<PathBuf> {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    if let Some(built) = BUILT.get() {
        return Ok(built.clone());
    }
    let features = ["--features", "parquet"];
    run(cargo(&["build", "--release", "--quiet", "--package", "fieldline-cli"]).args(features))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(BUILT.get_or_init(|| target.join("release").join("fieldline")).clone())
}

/// A path for temporary files of this run.
pub(crate) fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("fieldline-{name}-{}", std::process::id()))
}
