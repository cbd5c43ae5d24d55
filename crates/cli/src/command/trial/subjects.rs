//! The kernels to try: the tree as it is, then plans and patches.

use crate::args::TrialArgs;
use crate::command::orders::read_plan;
use crate::output;
use anyhow::{Result, bail};
use fieldline_plan::Plan;
use fieldline_tree::edits;
use fieldline_tree::idiom::options::{AlignGroups, IdiomOptions};
use fieldline_trial::{PatchFiles, Variant, read_patches};
use std::path::Path;

/// The name of the tree as it is.
const BASE: &str = "base";

/// A kernel to build.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) variant: Variant,
    /// The plan it follows, if it was given as one.
    pub(super) plan: Option<Plan>,
}

/// All subjects, the unpatched tree first.
pub(super) fn read(args: &TrialArgs) -> Result<Vec<Subject>> {
    let base = Variant { name: BASE.to_owned(), files: PatchFiles::new() };
    let mut subjects = vec![Subject { variant: base, plan: None }];
    for path in args.plan.iter().chain(&args.patches).chain(&args.vs) {
        let mut subject = read_subject(path, args)?;
        let is_taken = |name: &str| subjects.iter().any(|known: &Subject| known.variant.name == name);
        if is_taken(&subject.variant.name) {
            subject.variant.name += &format!("-{}", subjects.len());
        }
        subjects.push(subject);
    }
    rename(&mut subjects, &args.names)?;
    Ok(subjects)
}

fn rename(subjects: &mut [Subject], names: &[String]) -> Result<()> {
    if !names.is_empty() && names.len() != subjects.len() {
        bail!("--names has {} names, but there are {} kernels", names.len(), subjects.len());
    }
    for (index, (subject, name)) in subjects.iter_mut().zip(names).enumerate() {
        if name.starts_with('.') || name.is_empty() || !name.chars().all(is_plain) {
            bail!("--names: '{name}' can't be the name of a folder: use letters, digits, - and _");
        }
        if names.get(..index).unwrap_or_default().contains(name) {
            bail!("--names: '{name}' is there twice");
        }
        subject.variant.name.clone_from(name);
    }
    Ok(())
}

fn read_subject(path: &Path, args: &TrialArgs) -> Result<Subject> {
    let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
    let name: String =
        name.unwrap_or_default().to_string_lossy().replace(|letter: char| !is_plain(letter), "_");
    let name = if name.is_empty() || name.starts_with('.') { "patches".to_owned() } else { name };
    if path.extension().is_none_or(|ending| ending != "json") || path.is_dir() {
        let files = read_patches(&args.tree, path)?;
        return Ok(Subject { variant: Variant { name, files }, plan: None });
    }
    let plan = read_plan(path)?;
    let patched = edits::build_patches(&plan, &args.tree, &usual_idiom())?;
    if let Some((name, reason)) = patched.refusals.first() {
        bail!("{}: struct {name} can't be patched: {reason}", path.display());
    }
    if patched.files.is_empty() {
        bail!("{}: the plan moves nothing", path.display());
    }
    patched.notes.iter().for_each(|note| output::print_note(note));
    Ok(Subject { variant: Variant { name, files: patched.files }, plan: Some(plan) })
}

/// Marks of groups as `patch` chooses them.
fn usual_idiom() -> IdiomOptions {
    IdiomOptions { idiom: None, align_groups: AlignGroups::Plan, group_names: Vec::new(), check_in: None }
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&letter)
}
