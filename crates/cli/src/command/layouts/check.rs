//! `fieldline check`: checks layouts by rules.

use super::{mailed, page, sinks};
use crate::args::{CheckArgs, FindingsFormat, FindingsOutput};
use crate::gate::verdict::{CheckReport, check_targets};
use crate::gate::{config, targets};
use crate::input::{document, fleet};
use crate::lock_lines;
use crate::output::{self, CommandOutcome};
use anyhow::{Result, bail};
use fieldline_check::FindingLevel;

pub(crate) fn run(args: &CheckArgs) -> Result<CommandOutcome> {
    args.html.as_deref().map(output::check_writable).transpose()?;
    if let Some(mail) = &args.mail {
        return mailed::run(args, mail);
    }
    if args.format.iter().any(|sink| sink.format == FindingsFormat::Mail) {
        bail!("--format mail goes with --mail, whose patches it replies to");
    }
    let mut config = config::read(&args.config, args.today.as_deref())?;
    targets::set_files(&mut config, &args.vmlinux)?;
    targets::set_baselines(&mut config, &args.against)?;
    config.profile = args.profile.clone().or(config.profile);
    let profile = config.profile.as_deref().map(document::read_profile).transpose()?;
    let loaded = targets::read(&config)?;
    let locks = args.lock_stat.as_deref().map(lock_lines::read_classes).transpose()?.unwrap_or_default();
    let mut verdict = check_targets(&config, &loaded, profile.as_ref(), &locks)?;
    if let Some(path) = config.profile.as_deref().filter(|path| fleet::is_fleet(path)) {
        let types = verdict.targets.iter().flat_map(|target| target.types.iter().cloned());
        verdict.notes.extend(fleet::describe_drift(path, &types.collect::<Vec<_>>())?);
    }
    if let Some(path) = &args.html {
        page::write_check(path, &verdict, &loaded, profile.as_ref())?;
    }
    write(&verdict, &args.format)?;
    Ok(if verdict.count(FindingLevel::Error) > 0 { CommandOutcome::Negative } else { CommandOutcome::Done })
}

fn write(verdict: &CheckReport, sinks: &[FindingsOutput]) -> Result<()> {
    sinks::write(sinks, FindingsFormat::Text, |format, is_shown| sinks::render(verdict, format, is_shown))
}
