//! `fieldline propose`: recordings to report, profile, plan and patches. All stages of the project, in order.

use super::{text, verdict, write};
use crate::args::ProposeArgs;
use crate::input::{document, recordings};
use crate::output::{self, Outcome};
use crate::planning::{Foresight, Question};
use crate::report::plan::{plan_text, proposal};
use crate::report::profile::coverage;
use crate::series;
use anyhow::{Result, bail};
use fieldline_tree::{builds, edits, pins};

/// What is proposed is judged unless asked otherwise: with so many resamples a share of 80 % is known to within 9 %.
const RESAMPLES: usize = 20;

pub(crate) fn run(args: &ProposeArgs) -> Result<Outcome> {
    let (program, tree) = (args.recordings.first_program(), args.tree.as_path());
    if !tree.is_dir() {
        bail!("{}: no folder with a source tree", tree.display());
    }
    // What is missing is told before anything takes time.
    let pins = args.pins.as_deref().map(pins::read).transpose()?;
    builds::check(&args.choice.also)?;
    let opened = recordings::Opened::new(&args.recordings)?;

    output::progress("attributing samples");
    let (profile, foresight) = rayon::join(
        || opened.attributed(|attributed| attributed.profile()),
        || Foresight::new(&args.types, program, Some(tree)),
    );
    let profile = profile?;

    output::progress("planning");
    let (types, pins) = (args.types.as_slice(), pins.as_ref());
    let question = Question { types, program, tree: Some(tree), pins, profile: Some(&profile) };
    let limited = question.limited(foresight.as_ref())?;
    let options = question.options(&args.lines, &args.choice, RESAMPLES)?;
    let mut plan = fieldline_plan::plan(&profile, &limited.requests(), &options);
    limited.tell(&mut plan, &question)?;

    output::progress("editing the source");
    let mut patched = edits::patch(&plan, tree, &args.series.telling.options())?;
    if args.series.series {
        patched.patches = series::files(&plan, Some(&profile), &patched.steps, &args.series);
    }

    output::progress("writing");
    let files = [
        ("report.md", proposal::markdown(&profile, &plan, &patched).into_bytes()),
        ("profile.json", document::text(&profile)?),
        ("plan.json", document::text(&plan)?),
    ];
    write(&patched, &args.output, &files)?;
    output::draw(|out, paint| {
        coverage::draw(out, &profile, paint);
        plan_text::draw(out, &plan, paint);
        out.push_str(&text(&patched, &args.output));
    })?;
    Ok(if patched.refusals.is_empty() { verdict(&plan) } else { Outcome::No })
}
