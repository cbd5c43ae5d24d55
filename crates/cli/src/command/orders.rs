//! Orders: planned, written as patches, proven.

pub(crate) mod place;
pub(crate) mod propose;
pub(crate) mod simulate;
pub(crate) mod verify;

use crate::args::{PatchArgs, PlanArgs};
use crate::input::document;
use crate::output::{self, Outcome};
use crate::planning::{Foresight, Question};
use crate::report::plan::plan_text;
use crate::series;
use anyhow::{Context, Result};
use fieldline_plan::{Outcome as Planned, Plan, packing};
use fieldline_tree::edits::{self, Patched};
use fieldline_tree::{builds, pins};
use std::path::Path;

/// `fieldline plan`: a member order that touches fewer cachelines.
pub(crate) fn plan(args: &PlanArgs) -> Result<Outcome> {
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
fn verdict(plan: &Plan) -> Outcome {
    let refused = plan.structs.iter().any(|of| of.outcome == Planned::Refused);
    if refused { Outcome::No } else { Outcome::Done }
}

/// `fieldline patch`: a plan to patches of the headers.
pub(crate) fn patch(args: &PatchArgs) -> Result<Outcome> {
    let plan = read_plan(&args.plan)?;
    let profile = args.profile.as_deref().map(document::read_profile).transpose()?;
    let mut patched = edits::patch(&plan, &args.tree, &args.series.telling.options())?;
    if args.series.series {
        patched.patches = series::files(&plan, profile.as_ref(), &patched.steps, &args.series);
    }
    write(&patched, &args.output, &[])?;
    output::print(&text(&patched, &args.output))?;
    Ok(if patched.refusals.is_empty() { Outcome::Done } else { Outcome::No })
}

fn read_plan(path: &Path) -> Result<Plan> {
    document::read(path, fieldline_plan::result::FORMAT, u64::from(fieldline_plan::result::VERSION))
}

/// Writes the patches and other files into a folder, all or none.
fn write(patched: &Patched, folder: &Path, others: &[(&str, Vec<u8>)]) -> Result<()> {
    if patched.patches.is_empty() && others.is_empty() {
        return Ok(());
    }
    output::make_folder(folder)?;
    let patches = patched.patches.iter().map(|(name, text)| (folder.join(name), text.as_slice()));
    let others = others.iter().map(|(name, text)| (folder.join(name), text.as_slice()));
    output::write_files(&patches.chain(others).collect::<Vec<_>>())
}

/// What was written, remarked and refused.
fn text(patched: &Patched, folder: &Path) -> String {
    let mut out = String::new();
    out.extend(patched.patches.iter().map(|(name, _)| format!("wrote {}\n", folder.join(name).display())));
    out.extend(patched.notes.iter().map(|note| format!("note: {note}\n")));
    let refused = |(name, reason): &(String, String)| format!("refused: struct {name}: {reason}\n");
    out.extend(patched.refusals.iter().map(refused));
    if patched.patches.is_empty() && patched.refusals.is_empty() {
        out.push_str("nothing moves, so there is no patch\n");
    }
    out
}
