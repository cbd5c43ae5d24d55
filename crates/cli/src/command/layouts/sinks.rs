//! Where the forms of a check go.

use crate::args::{FindingsFormat, FindingsOutput};
use crate::gate::verdict::CheckReport;
use crate::output;
use crate::report::color::Palette;
use crate::report::findings::{github, junit, sarif, summary, text};
use anyhow::{Context, Result};
use fieldline_files::UnreadableKind;
use std::io::ErrorKind;
use std::path::Path;

/// Writes each format to its file; `default` goes to standard output unless another format does. `render` is told
/// whether its text is shown.
pub(super) fn write(
    sinks: &[FindingsOutput],
    default: FindingsFormat,
    render: impl Fn(FindingsFormat, bool) -> Result<String>,
) -> Result<()> {
    let mut files: Vec<(&Path, Vec<u8>)> = Vec::new();
    for sink in sinks {
        if let Some(path) = &sink.path {
            let mut bytes = existing_summary(sink.format, path)?;
            bytes.extend(render(sink.format, false)?.into_bytes());
            files.push((path, bytes));
        }
    }
    output::write_files(&files)?;
    let shown = sinks.iter().filter(|sink| sink.path.is_none()).map(|sink| sink.format);
    let mut shown: Vec<FindingsFormat> = shown.collect();
    if shown.is_empty() {
        shown.push(default);
    }
    shown.into_iter().try_for_each(|format| output::print(&render(format, true)?).map(|_| ()))
}

/// Content that is kept in front: a job's page also has the summaries of its other commands.
fn existing_summary(form: FindingsFormat, path: &Path) -> Result<Vec<u8>> {
    match fieldline_files::read(path) {
        _ if form != FindingsFormat::Summary => Ok(Vec::new()),
        Ok(bytes) => Ok(bytes),
        // Pipes and devices are written to, and keep nothing.
        Err(error) if UnreadableKind::in_error(&error).is_some_and(|kind| kind != UnreadableKind::Folder) => {
            Ok(Vec::new())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// A check in a format. It replies to nothing, so that as mail it is text.
pub(super) fn render(verdict: &CheckReport, form: FindingsFormat, is_shown: bool) -> Result<String> {
    Ok(match form {
        FindingsFormat::Text | FindingsFormat::Mail => {
            text::draw(verdict, Palette::new(is_shown && output::use_color()))
        }
        FindingsFormat::Json => serde_json::to_string_pretty(verdict)? + "\n",
        FindingsFormat::Sarif => serde_json::to_string_pretty(&sarif::document(verdict))? + "\n",
        FindingsFormat::Junit => junit::draw(verdict),
        FindingsFormat::Github => github::draw(verdict),
        FindingsFormat::Summary => summary::draw(verdict),
    })
}
