//! A plan as changes of the tree: patches of its files, step by step.
//!
//! * `align`: planned structs aligned within the one that holds them.
//! * `patches`: the patches and what they are about.

pub(crate) mod align;
mod patches;

pub use patches::{PatchSet, PatchStep, PatchSubject};

use crate::documents::{self, NewRow};
use crate::header::{self, Declaration, HeaderChange};
use crate::idiom::options::IdiomOptions;
use crate::idiom::{self, GroupIdiom};
use anyhow::{Result, bail};
use fieldline_layout::abi;
use fieldline_plan::result::Verdict;
use fieldline_plan::search::moved_units;
use fieldline_plan::{Plan, StructPlan};
use fieldline_source::{EditOverlap, Edits};
use std::path::Path;

/// Turns a plan into patches, one for each file that changes.
pub fn build_patches(plan: &Plan, tree: &Path, options: &IdiomOptions) -> Result<PatchSet> {
    header::check_tree(tree)?;
    let group_idiom = GroupIdiom::new(options, tree, plan)?;
    let mut changes: Vec<HeaderChange> = Vec::new();
    let mut patched = PatchSet::default();
    patched.notes.extend(group_idiom.fallback_note());
    check_any_declared(plan, tree)?;
    for struct_plan in &plan.structs {
        match &struct_plan.verdict {
            Verdict::Moved { .. } => {
                add_struct(&mut changes, &mut patched, struct_plan, (tree, &group_idiom))?
            }
            Verdict::Refused { reason } => patched.refusals.push((struct_plan.name.clone(), reason.clone())),
            Verdict::NoGain { .. } | Verdict::TooFewSamples { .. } => {}
        }
    }
    for found in &plan.together {
        align::add_holder(&mut changes, &mut patched, (found, &plan.structs), tree)?;
    }
    if patched.steps.iter().any(|step| step.needs_macros) {
        add_macros(&mut changes, &mut patched, tree)?;
    }
    for (number, change) in (1..).zip(&changes) {
        let dashed = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        let name: String = change.header.path.chars().map(dashed).collect();
        patched.patches.push((format!("{number:04}-{name}.patch"), change.diff()?));
        patched.files.insert(change.header.path.clone(), change.text()?);
    }
    Ok(patched)
}

/// Fails if the tree declares none of the structs that change: it is another program's.
fn check_any_declared(plan: &Plan, tree: &Path) -> Result<()> {
    let mut first = None;
    for struct_plan in plan.structs.iter().filter(|struct_plan| struct_plan.changes()) {
        match header::open(tree, &Declaration::from(struct_plan)) {
            Ok(_) => return Ok(()),
            Err(error) => first = first.or(Some(error)),
        }
    }
    first.map_or(Ok(()), Err)
}

/// Adds the documents' tables of a struct's members, in the order of its new text.
fn add_tables(
    changes: &mut Vec<HeaderChange>,
    step: &mut PatchStep,
    struct_plan: &StructPlan,
    (tree, name, new): (&Path, &str, &[u8]),
) -> Result<()> {
    let members = &struct_plan.declared.members;
    let moved = moved_units(&struct_plan.order()).into_iter().filter_map(|index| members.get(index));
    let rows = moved.filter_map(|member| {
        Some(NewRow { name: member.name.clone()?, type_name: member.type_name.clone() })
    });
    for (document, edit) in documents::edit_tables(tree, name, new, &rows.collect::<Vec<_>>()) {
        let path = document.path.clone();
        let mut edits = Edits::default();
        edits.insert(edit)?;
        match header::add_change(changes, document, &edits, None) {
            Ok(file) => step.files.push(file),
            Err(error) if error.is::<EditOverlap>() => {
                step.notes.push(format!("{path}: another struct's table overlaps its own: update it"));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Adds the macros that conditional alignment needs, before all else.
fn add_macros(changes: &mut Vec<HeaderChange>, patched: &mut PatchSet, tree: &Path) -> Result<()> {
    let (mut first, mut files) = (Vec::new(), Vec::new());
    for (header, edits) in idiom::macros::find_missing(tree)? {
        files.push(header::add_change(&mut first, header, &edits, None)?);
    }
    if !files.is_empty() {
        first.append(changes);
        *changes = first;
        patched.steps.insert(0, PatchStep { subject: PatchSubject::Macros, files, ..PatchStep::default() });
    }
    Ok(())
}

fn add_struct(
    changes: &mut Vec<HeaderChange>,
    patched: &mut PatchSet,
    struct_plan: &StructPlan,
    (tree, group_idiom): (&Path, &GroupIdiom<'_>),
) -> Result<()> {
    let order = struct_plan.order();
    if !abi::is_permutation(&order, struct_plan.declared.members.len()) {
        bail!("the plan of struct {} does not hold each member once", struct_plan.name);
    }
    let declaration = Declaration::from(struct_plan);
    let header = match header::open(tree, &declaration) {
        Ok(header) => header,
        Err(error) if header::is_special(&error) => return Err(error),
        Err(error) => {
            patched.refusals.push((struct_plan.name.clone(), format!("{error:#}")));
            return Ok(());
        }
    };
    let path = header.path.clone();
    let reordered = header::with_join(&header, &declaration, |join| join.reorder(&order));
    let marked =
        reordered.and_then(|order| Ok((group_idiom.mark_groups(&header, struct_plan, &order.edits)?, order)));
    let (outcome, reordering) = match marked {
        Ok(done) => done,
        Err(refusal) => {
            patched.refusals.push((struct_plan.name.clone(), format!("{path}: {refusal}")));
            return Ok(());
        }
    };
    let mut edits = outcome.edits;
    let new = edits.apply(&header.text);
    let doc = documents::edit_kernel_doc(&header, &declaration.name, &new);
    // Where another edit has the comment, it stays as it is.
    let edits_doc = doc.is_some_and(|doc| edits.insert(doc).is_ok());
    let file = match header::add_change(changes, header, &edits, None) {
        Err(error) if error.is::<EditOverlap>() => {
            let reason = "stands inside the declaration of another struct that moves, or has one inside";
            patched.refusals.push((struct_plan.name.clone(), format!("{path}: it {reason}")));
            return Ok(());
        }
        file => file?,
    };
    patched.notes.extend(reordering.notes.iter().map(|note| format!("{path}: {note}")));
    let mut step = PatchStep {
        subject: PatchSubject::Struct(struct_plan.name.clone()),
        files: vec![file],
        notes: outcome.notes,
        needs_macros: outcome.needs_macros,
        groups: outcome.groups,
    };
    if edits_doc {
        step.notes.push("the entries of its kernel-doc move with the members".to_owned());
    }
    add_tables(changes, &mut step, struct_plan, (tree, &declaration.name, &new))?;
    if !outcome.assertions.is_empty() {
        let (file, note) = group_idiom.write_check(changes, &path, &struct_plan.name, &outcome.assertions)?;
        step.files.extend(file);
        step.notes.push(note);
    }
    patched.notes.extend(step.notes.iter().map(|note| format!("{path}: {note}")));
    patched.steps.push(step);
    Ok(())
}
