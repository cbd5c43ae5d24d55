//! `fieldline plan`: a member order that touches fewer cachelines.

use crate::args::PlanArgs;
use crate::foresight::Foresight;
use crate::report::color::Paint;
use crate::report::plan_text;
use crate::stages::{self, PlanInput};
use crate::{Outcome, document, matrix, output, pins};
use anyhow::{Context, Result};
use fieldline_plan::{Outcome as Planned, Plan};

pub(crate) fn run(args: &PlanArgs) -> Result<Outcome> {
    // What is missing is told before the tree is read.
    let pins = args.pins.as_deref().map(pins::read).transpose()?;
    matrix::check(&args.also)?;
    for path in args.profile.iter().chain([&args.vmlinux]) {
        std::fs::File::open(path).with_context(|| path.display().to_string())?;
    }
    let (profile, foresight) = rayon::join(
        || args.profile.as_deref().map(document::read_profile).transpose(),
        || Foresight::new(&args.types, &args.vmlinux, args.tree.as_deref()),
    );
    let profile = profile?;
    let plan = stages::plan(&PlanInput {
        types: &args.types,
        profile: profile.as_ref(),
        shuffle: args.shuffle,
        vmlinux: &args.vmlinux,
        tree: args.tree.as_deref(),
        pins: pins.as_ref(),
        lines: &args.lines,
        choice: args.choice,
        resamples: args.choice.confidence.map_or(0, usize::from),
        also: &args.also,
        foresight,
    })?;
    if let Some(path) = &args.output {
        document::write(path, &plan)?;
    }
    let mut out = String::new();
    plan_text::draw(&mut out, &plan, Paint::new(output::use_color()));
    output::print(&out)?;
    Ok(verdict(&plan))
}

/// A refused struct is the answer no; no gain is an answer too, and not a no.
pub(crate) fn verdict(plan: &Plan) -> Outcome {
    let refused = plan.structs.iter().any(|of| of.outcome == Planned::Refused);
    if refused { Outcome::No } else { Outcome::Done }
}
