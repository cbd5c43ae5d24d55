//! `fieldline check`: a gate for layouts.

use crate::args::{CheckArgs, Form, Sink};
use crate::gate::verdict::{Verdict, judge_all};
use crate::gate::{config, day, targets};
use crate::input::document;
use crate::output::{self, Outcome};
use crate::report::color::Paint;
use crate::report::findings::{github, junit, sarif, summary, text};
use anyhow::{Context, Result, bail};
use fieldline_check::FindingLevel;
use std::io::ErrorKind;
use std::path::Path;

pub(crate) fn run(args: &CheckArgs) -> Result<Outcome> {
    let today = args.today.clone().unwrap_or_else(day::today);
    if !day::is_date(&today) {
        bail!("--today {today}: no date such as 2026-01-31");
    }
    let mut config = config::read(&args.config, &today)?;
    targets::against(&mut config, &args.against)?;
    let profile = config.profile.as_deref().map(document::read_profile).transpose()?;
    let loaded = targets::read(&config)?;
    let verdict = judge_all(&config, &loaded, profile.as_ref())?;
    write(&verdict, &args.format)?;
    Ok(if verdict.count(FindingLevel::Error) > 0 { Outcome::No } else { Outcome::Done })
}

/// Writes each form to its place; the text goes to standard output unless another form does.
fn write(verdict: &Verdict, sinks: &[Sink]) -> Result<()> {
    let mut files: Vec<(&Path, Vec<u8>)> = Vec::new();
    for sink in sinks {
        if let Some(path) = &sink.path {
            let mut bytes = kept(sink.form, path)?;
            bytes.extend(form(verdict, sink.form, false)?.into_bytes());
            files.push((path, bytes));
        }
    }
    output::write_files(&files)?;
    let mut shown: Vec<Form> =
        sinks.iter().filter(|sink| sink.path.is_none()).map(|sink| sink.form).collect();
    if shown.is_empty() {
        shown.push(Form::Text);
    }
    for of in shown {
        output::print(&form(verdict, of, true)?)?;
    }
    Ok(())
}

/// What stays in front: a job's page holds what its other commands told.
fn kept(form: Form, path: &Path) -> Result<Vec<u8>> {
    match std::fs::read(path) {
        _ if form != Form::Summary => Ok(Vec::new()),
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

fn form(verdict: &Verdict, form: Form, is_shown: bool) -> Result<String> {
    Ok(match form {
        Form::Text => text::draw(verdict, Paint::new(is_shown && output::use_color())),
        Form::Json => serde_json::to_string_pretty(verdict)? + "\n",
        Form::Sarif => serde_json::to_string_pretty(&sarif::document(verdict))? + "\n",
        Form::Junit => junit::draw(verdict),
        Form::Github => github::draw(verdict),
        Form::Summary => summary::draw(verdict),
    })
}
