//! Output: standard output, files that appear whole or not at all, notes on standard error.

use crate::report::color::Palette;
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

/// How a command prints its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Text for the terminal.
    #[default]
    Text,
    /// JSON (docs/formats.md).
    Json,
}

/// When text is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ColorChoice {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Options of all commands, and when this one began.
struct Settings {
    color: ColorChoice,
    quiet: bool,
    verbose: bool,
    began: Instant,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Keeps the options that say how to print; those of the first call count.
pub(crate) fn configure(color: ColorChoice, quiet: bool, verbose: bool) {
    SETTINGS.get_or_init(|| Settings { color, quiet, verbose, began: Instant::now() });
}

fn is_quiet() -> bool {
    SETTINGS.get().is_some_and(|settings| settings.quiet)
}

/// Result of a command that ran without an error.
pub(crate) enum CommandOutcome {
    Done,
    Negative,
    /// `record --hold` could not execute the program, with the error number.
    ExecFailed(u8),
}

/// Whether an error is only that the reader of a pipe closed it.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes text to standard output, and is done.
pub(crate) fn print(text: &str) -> Result<CommandOutcome> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output")?;
    Ok(CommandOutcome::Done)
}

/// Writes a line about what was done to standard output, unless --quiet is given.
pub(crate) fn print_done(text: &str) -> Result<CommandOutcome> {
    if is_quiet() { Ok(CommandOutcome::Done) } else { print(text) }
}

/// Writes a document to standard output as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<CommandOutcome> {
    print(&(serde_json::to_string(value)? + "\n"))
}

/// Writes a result to standard output, as JSON or drawn.
pub(crate) fn print_as(
    format: OutputFormat,
    value: &impl Serialize,
    drawn: impl FnOnce(&mut String, Palette),
) -> Result<CommandOutcome> {
    match format {
        OutputFormat::Json => print_json(value),
        OutputFormat::Text => print_drawn(drawn),
    }
}

/// Writes what is drawn to standard output, in colour where that is a terminal.
pub(crate) fn print_drawn(drawn: impl FnOnce(&mut String, Palette)) -> Result<CommandOutcome> {
    let mut out = String::new();
    drawn(&mut out, Palette::new(use_color()));
    print(&out)
}

/// Standard output with a buffer, for many rows.
pub(crate) fn buffered_stdout() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Prints a note, which is not part of the result, unless --quiet is given.
#[expect(clippy::print_stderr, reason = "notes go to standard error")]
pub(crate) fn print_note(text: &str) {
    if is_quiet() {
        return;
    }
    eprintln!("fieldline: note: {text}");
}

/// Prints the stage of the work: on a terminal, or with the time since the start if --verbose is given.
#[expect(clippy::print_stderr, reason = "progress goes to standard error")]
pub(crate) fn print_progress(text: &str) {
    match SETTINGS.get() {
        Some(settings) if settings.verbose => {
            eprintln!("fieldline: {:.1} s: {text}", settings.began.elapsed().as_secs_f64());
        }
        _ if is_quiet() || !io::stderr().is_terminal() => {}
        _ => eprintln!("fieldline: {text}"),
    }
}

/// Whether text on standard output is coloured: as --color says, else on a terminal (NO_COLOR, no-color.org).
pub(crate) fn use_color() -> bool {
    match SETTINGS.get().map(|settings| settings.color).unwrap_or_default() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// Writes a file whole or not at all: beside its place first, then renamed.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    write_files(&[(path, content)])
}

/// Writes several files; none appears unless all could be written. Devices and pipes are written to, not
/// replaced.
pub(crate) fn write_files(files: &[(impl AsRef<Path>, impl AsRef<[u8]>)]) -> Result<()> {
    let files: Vec<(&Path, &[u8])> =
        files.iter().map(|(path, content)| (path.as_ref(), content.as_ref())).collect();
    let mut written = Vec::new();
    for (path, content) in files.iter().filter(|(path, _)| !is_special(path)) {
        let mut file = temporary_file_for(path)?;
        let whole = file.write_all(content).and_then(|()| file.as_file().sync_all());
        whole.with_context(|| write_error(path))?;
        written.push((file, *path));
    }
    for (path, content) in files.iter().filter(|(path, _)| is_special(path)) {
        let file = std::fs::OpenOptions::new().write(true).open(path);
        file.and_then(|mut file| file.write_all(content)).with_context(|| write_error(path))?;
    }
    for (file, path) in written {
        let file = file.persist(path).with_context(|| write_error(path))?;
        make_readable(&file).with_context(|| write_error(path))?;
    }
    Ok(())
}

/// Whether a file could be written there, before work is done for nothing.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
    if !is_special(path) {
        temporary_file_for(path)?;
    }
    Ok(())
}

fn write_error(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// A temporary file in the folder of another.
fn temporary_file_for(path: &Path) -> Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::NamedTempFile::new_in(folder).with_context(|| write_error(path))
}

/// Whether a path is neither a file nor a folder.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Temporary files are private; results are as readable as any other file.
#[cfg(unix)]
fn make_readable(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_file: &std::fs::File) -> io::Result<()> {
    Ok(())
}

pub(crate) fn make_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))
}
