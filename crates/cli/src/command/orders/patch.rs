//! `fieldline patch`: a plan to patches of the headers.

use crate::args::PatchArgs;
use crate::input::document;
use crate::output::{self, Outcome};
use crate::series;
use anyhow::Result;
use fieldline_plan::Plan;
use fieldline_tree::edits::{self, Patched};
use std::fmt::Write;
use std::path::Path;

pub(crate) fn run(args: &PatchArgs) -> Result<Outcome> {
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

pub(crate) fn read_plan(path: &Path) -> Result<Plan> {
    document::read(path, fieldline_plan::result::FORMAT, u64::from(fieldline_plan::result::VERSION))
}

/// Writes the patches and other files into a folder, all or none.
pub(crate) fn write(patched: &Patched, folder: &Path, others: &[(&str, Vec<u8>)]) -> Result<()> {
    if patched.patches.is_empty() && others.is_empty() {
        return Ok(());
    }
    output::make_folder(folder)?;
    let patches = patched.patches.iter().map(|(name, text)| (folder.join(name), text.as_slice()));
    let others = others.iter().map(|(name, text)| (folder.join(name), text.as_slice()));
    output::write_files(&patches.chain(others).collect::<Vec<_>>())
}

/// What was written, remarked and refused.
pub(crate) fn text(patched: &Patched, folder: &Path) -> String {
    let mut out = String::new();
    for (name, _) in &patched.patches {
        let _ = writeln!(out, "wrote {}", folder.join(name).display());
    }
    for note in &patched.notes {
        let _ = writeln!(out, "note: {note}");
    }
    for (name, reason) in &patched.refusals {
        let _ = writeln!(out, "refused: struct {name}: {reason}");
    }
    if patched.patches.is_empty() && patched.refusals.is_empty() {
        out.push_str("nothing moves, so there is no patch\n");
    }
    out
}
