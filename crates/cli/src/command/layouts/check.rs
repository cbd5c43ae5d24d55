//! `fieldline check`: checks layouts by rules.

use super::page;
use crate::args::{CheckArgs, FindingsFormat, FindingsOutput};
use crate::gate::verdict::{CheckReport, check_targets};
use crate::gate::{config, date, targets};
use crate::input::document;
use crate::lock_lines;
use crate::output::{self, CommandOutcome};
use crate::report::color::Palette;
use crate::report::findings::{github, junit, sarif, summary, text};
use anyhow::{Context, Result, bail};
use fieldline_check::FindingLevel;
use fieldline_files::UnreadableKind;
use std::io::ErrorKind;
use std::path::Path;

pub(crate) fn run(args: &CheckArgs) -> Result<CommandOutcome> {
    args.html.as_deref().map(output::check_writable).transpose()?;
    let today = args.today.clone().unwrap_or_else(date::today);
    if !date::is_date(&today) {
        bail!("--today {today}: no date such as 2026-01-31");
    }
    let mut config = config::read(&args.config, &today)?;
    targets::set_files(&mut config, &args.vmlinux)?;
    targets::set_baselines(&mut config, &args.against)?;
    let profile = config.profile.as_deref().map(document::read_profile).transpose()?;
    let loaded = targets::read(&config)?;
    let locks = args.lock_stat.as_deref().map(lock_lines::read_classes).transpose()?.unwrap_or_default();
    let verdict = check_targets(&config, &loaded, profile.as_ref(), &locks)?;
    if let Some(path) = &args.html {
        page::write_check(path, &verdict, &loaded, profile.as_ref())?;
    }
    write(&verdict, &args.format)?;
    Ok(if verdict.count(FindingLevel::Error) > 0 { CommandOutcome::Negative } else { CommandOutcome::Done })
}

/// Writes each format to its file; the text goes to standard output unless another format does.
fn write(verdict: &CheckReport, sinks: &[FindingsOutput]) -> Result<()> {
    let mut files: Vec<(&Path, Vec<u8>)> = Vec::new();
    for sink in sinks {
        if let Some(path) = &sink.path {
            let mut bytes = existing_summary(sink.format, path)?;
            bytes.extend(render(verdict, sink.format, false)?.into_bytes());
            files.push((path, bytes));
        }
    }
    output::write_files(&files)?;
    let shown = sinks.iter().filter(|sink| sink.path.is_none()).map(|sink| sink.format);
    let mut shown: Vec<FindingsFormat> = shown.collect();
    if shown.is_empty() {
        shown.push(FindingsFormat::Text);
    }
    shown.into_iter().try_for_each(|format| output::print(&render(verdict, format, true)?).map(|_| ()))
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

fn render(verdict: &CheckReport, form: FindingsFormat, is_shown: bool) -> Result<String> {
    Ok(match form {
        FindingsFormat::Text => text::draw(verdict, Palette::new(is_shown && output::use_color())),
        FindingsFormat::Json => serde_json::to_string_pretty(verdict)? + "\n",
        FindingsFormat::Sarif => serde_json::to_string_pretty(&sarif::document(verdict))? + "\n",
        FindingsFormat::Junit => junit::draw(verdict),
        FindingsFormat::Github => github::draw(verdict),
        FindingsFormat::Summary => summary::draw(verdict),
    })
}
