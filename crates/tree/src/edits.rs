//! A plan as changes of the tree: patches of its files, step by step.

use crate::header::{self, Declaration, FileChange, HeaderChange};
use crate::idiom::options::IdiomOptions;
use crate::idiom::{self, GroupIdiom};
use crate::proof::Patch;
use anyhow::{Result, bail};
use fieldline_layout::abi;
use fieldline_plan::{Outcome, Plan, StructPlan};
use std::path::Path;

/// What came of editing the tree.
#[derive(Default)]
pub struct Patched {
    /// File name of the patch and its text.
    pub patches: Vec<(String, Vec<u8>)>,
    /// Remarks, a sentence each.
    pub notes: Vec<String>,
    /// Structs that were refused, and why.
    pub refusals: Vec<(String, String)>,
    /// The same changes step by step.
    pub steps: Vec<PatchStep>,
    /// The changed files as they become.
    pub files: Patch,
}

/// One patch of the series, upon those before it.
#[derive(Clone, Debug, Default)]
pub struct PatchStep {
    /// What it is about.
    pub about: About,
    /// What it changes.
    pub files: Vec<FileChange>,
    /// What readers of the patch should know, a sentence each.
    pub shared: Vec<String>,
    /// Whether it uses macros that align on some machines only.
    pub needs_macros: bool,
    /// Names of groups that are marked, by index into the plan's.
    pub groups: Vec<(usize, String)>,
}

/// What a patch is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// Macros that the others use.
    #[default]
    Macros,
    /// The struct with this tag.
    Struct(String),
}

impl PatchStep {
    /// The struct's tag.
    pub fn name(&self) -> Option<&str> {
        match &self.about {
            About::Macros => None,
            About::Struct(name) => Some(name),
        }
    }
}

/// Turns a plan into patches, one for each file that changes.
pub fn patch(plan: &Plan, tree: &Path, options: &IdiomOptions) -> Result<Patched> {
    let manner = GroupIdiom::new(options, tree, plan)?;
    let mut changes: Vec<HeaderChange> = Vec::new();
    let mut patched = Patched::default();
    patched.notes.extend(manner.note());
    for of in &plan.structs {
        if of.outcome == Outcome::Moved {
            add_struct(&mut changes, &mut patched, of, (tree, &manner))?;
        } else if of.outcome == Outcome::Refused {
            patched.refusals.push((of.name.clone(), of.reason.clone().unwrap_or_default()));
        }
    }
    if patched.steps.iter().any(|step| step.needs_macros) {
        prepare(&mut changes, &mut patched, tree)?;
    }
    for (number, change) in (1..).zip(&changes) {
        let dashed = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        let name: String = change.header.path.chars().map(dashed).collect();
        patched.patches.push((format!("{number:04}-{name}.patch"), change.diff()?));
        patched.files.insert(change.header.path.clone(), change.text()?);
    }
    Ok(patched)
}

/// Adds the macros that conditional alignment needs, before all else.
fn prepare(changes: &mut Vec<HeaderChange>, patched: &mut Patched, tree: &Path) -> Result<()> {
    let (mut first, mut files) = (Vec::new(), Vec::new());
    for (header, edits) in idiom::macros::missing(tree)? {
        files.push(header::add(&mut first, header, &edits, None)?);
    }
    if !files.is_empty() {
        first.append(changes);
        *changes = first;
        patched.steps.insert(0, PatchStep { about: About::Macros, files, ..PatchStep::default() });
    }
    Ok(())
}

fn add_struct(
    changes: &mut Vec<HeaderChange>,
    patched: &mut Patched,
    of: &StructPlan,
    (tree, manner): (&Path, &GroupIdiom<'_>),
) -> Result<()> {
    let order = of.order();
    if !abi::is_permutation(&order, of.declared.members.len()) {
        bail!("the plan of struct {} does not hold each member once", of.name);
    }
    let declaration = Declaration::from(of);
    let header = header::open(tree, &declaration)?;
    let path = header.path.clone();
    let reordered = header::joined(&header, &declaration, |join| join.reorder(&order));
    let (told, reordering) = match reordered.and_then(|one| Ok((manner.tell(&header, of, &one.edits)?, one)))
    {
        Ok(done) => done,
        Err(refusal) => {
            patched.refusals.push((of.name.clone(), format!("{path}: {refusal}")));
            return Ok(());
        }
    };
    patched.notes.extend(reordering.notes.iter().map(|note| format!("{path}: {note}")));
    let mut step = PatchStep {
        about: About::Struct(of.name.clone()),
        files: vec![header::add(changes, header, &told.edits, None)?],
        shared: told.remarks,
        needs_macros: told.needs_macros,
        groups: told.groups,
    };
    if !told.assertions.is_empty() {
        let (file, remark) = manner.check(changes, &path, &of.name, &told.assertions)?;
        step.files.extend(file);
        step.shared.push(remark);
    }
    patched.notes.extend(step.shared.iter().map(|remark| format!("{path}: {remark}")));
    patched.steps.push(step);
    Ok(())
}
