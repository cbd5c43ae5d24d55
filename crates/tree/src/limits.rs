//! What the source says about structs: what limits the order of their members, and why they can't be changed at all.

use crate::documents::{self, Listed};
use crate::header::{self, Declaration};
use crate::uses::{self, Declared};
use anyhow::Result;
use fieldline_layout::Layout;
use fieldline_layout::constraint::Wishes;
use fieldline_plan::{Outcome, Plan, StructPlan};
use std::path::Path;

/// What the source says about a struct, or why it can't be changed there.
pub fn wishes(tree: Option<&Path>, layout: &Layout) -> Result<(Wishes, Option<String>)> {
    let limits = of(tree, std::slice::from_ref(layout))?.pop().unwrap_or_default();
    Ok((limits.wishes, limits.refusal))
}

/// What limits the order of a struct's members.
#[derive(Clone, Default)]
pub struct Limits {
    /// What the order should keep.
    pub wishes: Wishes,
    /// What can't be held, a sentence each.
    pub remarks: Vec<String>,
    /// Why the source can't be changed, if so.
    pub refusal: Option<String>,
}

/// What a tree says about structs: their declarations, and all code that can know them.
pub fn of(tree: Option<&Path>, layouts: &[Layout]) -> Result<Vec<Limits>> {
    let read = layouts.iter().map(|layout| read_of(tree, layout)).collect::<Result<Vec<_>>>()?;
    with_uses(tree, layouts, read)
}

/// What the declaration of a struct says, with the path of its file.
type Read = (Limits, String);

fn read_of(tree: Option<&Path>, layout: &Layout) -> Result<Option<Read>> {
    let Some(tree) = tree else { return Ok(None) };
    let declaration = Declaration::from(layout);
    let header = header::open(tree, &declaration)?;
    let mut limits = Limits::default();
    match header::notes(&header, &declaration) {
        Ok((notes, remarks)) => {
            limits.wishes.notes = notes;
            limits.remarks = remarks;
        }
        Err(refusal) => limits.refusal = Some(format!("{}: {refusal}", header.path)),
    }
    Ok(Some((limits, header.path)))
}

/// Adds what the rest of the tree says.
fn with_uses(tree: Option<&Path>, layouts: &[Layout], read: Vec<Option<Read>>) -> Result<Vec<Limits>> {
    let declared = layouts.iter().zip(&read).filter_map(|(layout, read)| {
        let (_, header) = read.as_ref()?;
        Some(Declared { layout, header })
    });
    let declared: Vec<Declared<'_>> = declared.collect();
    let listed: Vec<Listed> = declared.iter().map(|of| Listed::from(of.layout)).collect();
    let (found, documents) = match tree {
        Some(tree) if !declared.is_empty() => {
            rayon::join(|| uses::find(tree, &declared), || documents::remarks(tree, &listed))
        }
        _ => (Ok(Vec::new()), Vec::new()),
    };
    let (mut found, mut documents) = (found?.into_iter(), documents.into_iter());
    let limits = layouts.iter().zip(read).map(|(layout, read)| {
        let Some((mut limits, _)) = read else { return Limits::default() };
        limits.remarks.extend(found.next().unwrap_or_default().add_to(&mut limits.wishes, layout));
        limits.remarks.extend(documents.next().unwrap_or_default());
        limits
    });
    Ok(limits.collect())
}

/// Adds remarks to a plan, and refuses what the source refuses.
pub fn tell(plan: &mut Plan, limits: Vec<Limits>) {
    for (of, limits) in plan.structs.iter_mut().zip(limits) {
        of.notes.extend(limits.remarks);
        if let Some(reason) = limits.refusal {
            refuse(of, reason);
        }
    }
}

/// A plan that can't be carried out proposes nothing.
fn refuse(of: &mut StructPlan, reason: String) {
    of.outcome = Outcome::Refused;
    of.reason = Some(reason);
    of.chosen = of.declared.clone();
    of.moved.clear();
    of.candidates.clear();
    of.forecasts.clear();
    of.sizes.clear();
    of.builds.clear();
    of.groups.clear();
    of.search = None;
    of.confidence = None;
    of.terms.clear();
}
