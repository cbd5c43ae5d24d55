//! `fieldline propose`: recordings to report, profile, plan and patches.

use super::{patch, plan};
use crate::args::ProposeArgs;
use crate::foresight::Foresight;
use crate::report::color::Paint;
use crate::report::{coverage, plan_text, proposal};
use crate::stages::{self, PlanInput};
use crate::{Outcome, document, matrix, output, pins, recordings, series};
use anyhow::{Result, bail};

/// What is proposed is judged unless asked otherwise: with so many resamples a share of 80 % is known to within 9 %.
const RESAMPLES: usize = 20;

pub(crate) fn run(args: &ProposeArgs) -> Result<Outcome> {
    if !args.tree.is_dir() {
        bail!("{}: no folder with a source tree", args.tree.display());
    }
    // What is missing is told before anything takes time.
    let pins = args.pins.as_deref().map(pins::read).transpose()?;
    matrix::check(&args.also)?;
    let opened = recordings::Opened::new(&args.recordings)?;
    output::progress("attributing samples");
    let (profile, foresight) = rayon::join(
        || opened.attributed(|attributed| attributed.profile()),
        || Foresight::new(&args.types, args.recordings.first_program(), Some(&args.tree)),
    );
    let profile = profile?;
    output::progress("planning");
    let plan = stages::plan(&PlanInput {
        types: &args.types,
        profile: Some(&profile),
        shuffle: None,
        vmlinux: args.recordings.first_program(),
        tree: Some(&args.tree),
        pins: pins.as_ref(),
        lines: &args.lines,
        choice: args.choice,
        resamples: args.choice.confidence.map_or(RESAMPLES, usize::from),
        also: &args.also,
        foresight,
    })?;
    output::progress("editing the source");
    let mut patched = stages::patch(&plan, &args.tree, &args.series.telling.options())?;
    if args.series.series {
        patched.patches = series::files(&plan, Some(&profile), &patched.steps, &args.series);
    }
    output::progress("writing");
    let files = [
        ("report.md", proposal::markdown(&profile, &plan, &patched).into_bytes()),
        ("profile.json", document::text(&profile)?),
        ("plan.json", document::text(&plan)?),
    ];
    patch::write(&patched, &args.output, &files)?;
    let mut out = String::new();
    let paint = Paint::new(output::use_color());
    coverage::draw(&mut out, &profile, paint);
    plan_text::draw(&mut out, &plan, paint);
    out.push_str(&patch::text(&patched, &args.output));
    output::print(&out)?;
    Ok(if patched.refusals.is_empty() { plan::verdict(&plan) } else { Outcome::No })
}
