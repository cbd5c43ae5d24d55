//! `fieldline plan`: a member order that touches fewer cachelines.

use crate::args::PlanArgs;
use crate::input::document;
use crate::output::{self, Outcome};
use crate::planning::{Foresight, Question};
use crate::report::plan::plan_text;
use anyhow::{Context, Result};
use fieldline_plan::{Outcome as Planned, Plan, packing};
use fieldline_tree::{builds, pins};

pub(crate) fn run(args: &PlanArgs) -> Result<Outcome> {
    let (program, tree) = (args.vmlinux.as_path(), args.tree.as_deref());
    // What is missing is told before the tree is read.
    let pins = args.pins.as_deref().map(pins::read).transpose()?;
    builds::check(&args.choice.also)?;
    for path in args.profile.iter().chain([&args.vmlinux]) {
        std::fs::File::open(path).with_context(|| path.display().to_string())?;
    }
    let (profile, foresight) = rayon::join(
        || args.profile.as_deref().map(document::read_profile).transpose(),
        || Foresight::new(&args.types, program, tree),
    );
    let profile = profile?;
    let (types, pins) = (args.types.as_slice(), pins.as_ref());
    let question = Question { types, program, tree, pins, profile: profile.as_ref() };
    let limited = question.limited(foresight.as_ref())?;
    let options = question.options(&args.lines, &args.choice, 0)?;
    let mut plan = match (&profile, args.shuffle) {
        (Some(profile), _) => fieldline_plan::plan(profile, &limited.requests(), &options),
        (None, Some(seed)) => packing::shuffle(&limited.requests(), &options, seed),
        (None, None) => packing::pack(&limited.requests(), &options),
    };
    limited.tell(&mut plan, &question)?;
    document::keep(args.output.as_ref(), &plan)?;
    output::draw(|out, paint| plan_text::draw(out, &plan, paint))?;
    Ok(verdict(&plan))
}

/// A refused struct is the answer no; no gain is an answer too, and not a no.
pub(crate) fn verdict(plan: &Plan) -> Outcome {
    let refused = plan.structs.iter().any(|of| of.outcome == Planned::Refused);
    if refused { Outcome::No } else { Outcome::Done }
}
