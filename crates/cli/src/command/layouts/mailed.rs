//! `fieldline check --mail`: patches by mail checked by rules.

use super::sinks;
use crate::args::{CheckArgs, FindingsFormat};
use crate::gate::mailed::MailGate;
use crate::gate::{config, targets};
use crate::input::document;
use crate::output::{self, CommandOutcome};
use crate::report::findings::{mailed, reply};
use anyhow::{Context, Result};
use std::io::Read;
use std::path::Path;

/// Larger mailboxes hold no series.
const LARGEST: u64 = 256 << 20;

pub(super) fn run(args: &CheckArgs, mail: &Path) -> Result<CommandOutcome> {
    let config = config::read(&args.config, args.today.as_deref())?;
    let profile = config.profile.as_deref().map(document::read_profile).transpose()?;
    let tree = args.tree.as_deref().context("--mail goes with --tree")?;
    fieldline_tree::header::check_tree(tree)?;
    let name = if mail == Path::new("-") { "standard input".to_owned() } else { mail.display().to_string() };
    let bytes = read(mail).with_context(|| name.clone())?;
    let series = fieldline_mail::read_series(&bytes).with_context(|| name.clone())?;
    let builds = targets::builds(&config, &args.builds)?;
    let gate = MailGate { config: &config, profile: profile.as_ref(), tree, builds };
    let report = {
        let _stage = output::begin_stage("compiling without and with each patch");
        gate.judge(&series).with_context(|| name)?
    };
    sinks::write(&args.format, FindingsFormat::Mail, |format, is_shown| match format {
        FindingsFormat::Mail => Ok(reply::draw(&report)),
        FindingsFormat::Text => Ok(mailed::draw(&report, is_shown && output::use_color())),
        FindingsFormat::Json => {
            Ok(serde_json::to_string_pretty(&mailed::document(&report, &config.path))? + "\n")
        }
        other => sinks::render(&mailed::join(&report, &config.path), other, is_shown),
    })?;
    let is_refused = report.patches.iter().any(|patch| patch.is_refused());
    Ok(if is_refused { CommandOutcome::Negative } else { CommandOutcome::Done })
}

fn read(mail: &Path) -> Result<Vec<u8>> {
    if mail != Path::new("-") {
        return Ok(fieldline_files::read(mail)?);
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
