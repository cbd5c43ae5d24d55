//! Output: standard output, files that appear whole or not at all, notes on standard error.
//!
//! * `terminal`: its size.
//! * `pager`: a pager for long texts.
//! * `progress`: stages of the work, on a terminal.

mod pager;
mod progress;
mod terminal;

pub(crate) use progress::Stage;

use crate::report::color::Palette;
use crate::report::screen::Screen;
use anyhow::{Context, Result};
use fieldline_files::printable::{self, is_unprintable};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
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

/// Options of all commands that say how to print.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PrintOptions {
    pub(crate) color: ColorChoice,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) no_pager: bool,
}

/// The options, and when this command began.
struct Settings {
    options: PrintOptions,
    began: Instant,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Text that is printed at the end, in one piece, if it is collected.
static COLLECTED: Mutex<Option<String>> = Mutex::new(None);

/// Rows that are not for the next screen.
static RESERVED_ROWS: AtomicUsize = AtomicUsize::new(0);

/// Keeps the options that say how to print; those of the first call count.
pub(crate) fn configure(options: PrintOptions) {
    SETTINGS.get_or_init(|| Settings { options, began: Instant::now() });
}

fn options() -> PrintOptions {
    SETTINGS.get().map(|settings| settings.options).unwrap_or_default()
}

/// Whether all parts of a text are printed, also those behind the first screen.
pub(crate) fn is_verbose() -> bool {
    options().verbose
}

/// How a first screen is drawn: as wide as the terminal.
pub(crate) fn screen() -> Screen {
    let reserved = RESERVED_ROWS.load(Ordering::Relaxed);
    Screen { width: terminal::columns(), paint: Palette::new(use_color()), reserved }
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
    let mut out = FilteredStdout::lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output")?;
    Ok(CommandOutcome::Done)
}

/// Runs steps that print, and prints what they did in one piece, in a pager if it is long.
pub(crate) fn print_collected(steps: impl FnOnce() -> Result<CommandOutcome>) -> Result<CommandOutcome> {
    let collect =
        |text| COLLECTED.lock().ok().and_then(|mut collected| std::mem::replace(&mut *collected, text));
    collect(Some(String::new()));
    let outcome = steps();
    let text = collect(None).unwrap_or_default();
    print_paged(&text)?;
    outcome
}

/// Runs a step within [`print_collected`], and gives what it prints instead of printing it.
pub(crate) fn capture(step: impl FnOnce() -> Result<CommandOutcome>) -> Result<(CommandOutcome, String)> {
    let length = || COLLECTED.lock().ok().and_then(|text| text.as_ref().map(String::len)).unwrap_or(0);
    let before = length();
    let outcome = step()?;
    let mut collected = COLLECTED.lock().ok();
    let text =
        collected.as_mut().and_then(|text| text.as_mut()).map(|text| text.split_off(before.min(text.len())));
    Ok((outcome, text.unwrap_or_default()))
}

/// Keeps rows of the screens to come for what is printed beside them.
pub(crate) fn reserve_rows(behind: usize) {
    let collected = COLLECTED.lock().ok().and_then(|text| text.as_ref().map(|text| text.lines().count()));
    RESERVED_ROWS.store(behind + collected.unwrap_or(0), Ordering::Relaxed);
}

/// Writes a text to standard output, in a pager if that is a terminal which it doesn't fit on.
pub(crate) fn print_paged(text: &str) -> Result<CommandOutcome> {
    let is_collected = COLLECTED.lock().is_ok_and(|collected| collected.is_some());
    let filtered = filter(text, use_color());
    if !is_collected && !options().no_pager && pager::show(&filtered).context("standard output")? {
        return Ok(CommandOutcome::Done);
    }
    print(text)
}

/// Writes a line about what was done to standard output, unless --quiet is given.
pub(crate) fn print_done(text: &str) -> Result<CommandOutcome> {
    if options().quiet { Ok(CommandOutcome::Done) } else { print(text) }
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

/// Keeps text for the end, if it is collected.
fn collect(text: &str) -> bool {
    let mut collected = COLLECTED.lock().ok();
    let collected = collected.as_mut().and_then(|collected| collected.as_mut());
    collected.map(|collected| collected.push_str(text)).is_some()
}

/// Standard output without what controls terminals, except the colours of [`Palette`].
pub(crate) struct FilteredStdout {
    out: io::StdoutLock<'static>,
    has_color: bool,
}

impl FilteredStdout {
    fn lock() -> Self {
        Self { out: io::stdout().lock(), has_color: use_color() }
    }
}

impl Write for FilteredStdout {
    /// Writes all of it: callers give whole texts.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let text = filter(&text, self.has_color);
        if !collect(&text) {
            self.out.write_all(text.as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Text with what controls terminals written as escapes of JSON, so that JSON stays what it was. Lines and tabs
/// stay, and colours of ours if wanted.
fn filter(text: &str, has_color: bool) -> Cow<'_, str> {
    let is_escaped = |character| is_unprintable(character) && character != '\n' && character != '\t';
    if !has_color || !text.contains('\x1b') {
        return printable::escape(text, is_escaped);
    }
    let mut out = String::with_capacity(text.len());
    for (index, part) in text.split('\x1b').enumerate() {
        match Palette::SEQUENCES.iter().find(|sequence| index > 0 && part.starts_with(**sequence)) {
            Some(_) => out.push('\x1b'),
            None if index > 0 => out.push_str("\\u001b"),
            None => {}
        }
        out.push_str(&printable::escape(part, is_escaped));
    }
    Cow::Owned(out)
}

/// A message's text. Its further lines are marked, so that none is taken for a command by what reads a log.
fn message(text: &str) -> String {
    filter(text, false).replace('\n', "\n  | ")
}

/// Writes what is drawn to standard output, in colour where that is a terminal.
pub(crate) fn print_drawn(drawn: impl FnOnce(&mut String, Palette)) -> Result<CommandOutcome> {
    let mut out = String::new();
    drawn(&mut out, Palette::new(use_color()));
    print_paged(&out)
}

/// Standard output with a buffer, for many rows.
pub(crate) fn buffered_stdout() -> BufWriter<FilteredStdout> {
    BufWriter::with_capacity(1 << 16, FilteredStdout::lock())
}

/// Prints the error that ends the program.
#[expect(clippy::print_stderr, reason = "errors are printed here and nowhere else")]
pub(crate) fn print_error(error: &anyhow::Error) {
    eprintln!("fieldline: {}", message(&format!("{error:#}")));
}

/// Prints a note, which is not part of the result, unless --quiet is given.
#[expect(clippy::print_stderr, reason = "notes go to standard error")]
pub(crate) fn print_note(text: &str) {
    if options().quiet {
        return;
    }
    progress::suspend(|| eprintln!("fieldline: note: {}", message(text)));
}

/// Begins a stage of the work: on a terminal it has a row as long as it lives.
pub(crate) fn begin_stage(name: &str) -> Stage {
    print_progress(name);
    Stage::begin(name, !options().quiet && !options().verbose)
}

/// Prints what is done with the time since the start, if --verbose is given.
#[expect(clippy::print_stderr, reason = "progress goes to standard error")]
pub(crate) fn print_progress(text: &str) {
    if let Some(settings) = SETTINGS.get().filter(|settings| settings.options.verbose) {
        eprintln!("fieldline: {:.1} s: {}", settings.began.elapsed().as_secs_f64(), message(text));
    }
}

/// Whether text on standard output is coloured: as --color says, else on a terminal (NO_COLOR, no-color.org).
pub(crate) fn use_color() -> bool {
    match options().color {
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

/// A file that appears whole, once it is kept, or not at all.
pub(crate) struct PendingFile {
    /// Of a device or a pipe there is nothing to rename.
    file: Result<BufWriter<tempfile::NamedTempFile>, BufWriter<std::fs::File>>,
    path: PathBuf,
}

impl PendingFile {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = if is_special(path) {
            let file = std::fs::OpenOptions::new().write(true).open(path);
            Err(BufWriter::new(file.with_context(|| write_error(path))?))
        } else {
            Ok(BufWriter::with_capacity(1 << 20, temporary_file_for(path)?))
        };
        Ok(Self { file, path: path.to_owned() })
    }

    /// Puts the file at its place.
    pub(crate) fn keep(mut self) -> Result<()> {
        let place = || write_error(&self.path);
        match &mut self.file {
            Ok(file) => {
                file.flush().and_then(|()| file.get_ref().as_file().sync_all()).with_context(place)?
            }
            Err(file) => file.flush().with_context(place)?,
        }
        if let Ok(file) = self.file {
            let file = file.into_inner().map_err(io::IntoInnerError::into_error);
            let file = file.with_context(|| write_error(&self.path))?;
            let file = file.persist(&self.path).with_context(|| write_error(&self.path))?;
            make_readable(&file).with_context(|| write_error(&self.path))?;
        }
        Ok(())
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Ok(file) => file.write(bytes),
            Err(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.file {
            Ok(file) => file.flush(),
            Err(file) => file.flush(),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_terminal_is_written_out_and_colours_stay() {
        let bold = Palette::new(true).bold("a");
        assert_eq!(filter(&bold, true), bold);
        assert_eq!(filter(&bold, false), "\\u001b[1ma\\u001b[0m");
        let hostile = "\x1b]0;title\x07\x1b[2J\r\u{9b}31m";
        let written = "\\u001b]0;title\\u0007\\u001b[2J\\u000d\\u009b31m";
        assert_eq!((filter(hostile, true).as_ref(), filter(hostile, false).as_ref()), (written, written));
        assert!(matches!(filter("one\n\ttwo ── three", false), Cow::Borrowed(_)));
    }

    #[test]
    fn json_says_the_same_behind_the_filter() {
        let value = serde_json::json!({"name": "a\u{9b}b\u{7f}\u{202e}"});
        let text = value.to_string();
        let shown = filter(&text, false);
        assert!(shown != text && serde_json::from_str::<serde_json::Value>(&shown).unwrap() == value);
    }

    #[test]
    fn further_lines_of_a_message_begin_no_command() {
        assert_eq!(message("gone\n::error::x"), "gone\n  | ::error::x");
    }
}
