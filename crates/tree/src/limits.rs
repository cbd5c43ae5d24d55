//! Constraints of the source on the order of a struct's members, or why it can't be changed at all.

use crate::documents::{self, ListedStruct};
use crate::header::{self, Declaration};
use crate::uses::{self, DeclaredStruct};
use anyhow::Result;
use fieldline_layout::Layout;
use fieldline_layout::constraint::PlacementRequests;
use fieldline_plan::{Outcome, Plan, StructPlan};
use std::path::Path;

/// The source's requests for a struct, or why it can't be changed there.
pub fn read_requests(tree: Option<&Path>, layout: &Layout) -> Result<(PlacementRequests, Option<String>)> {
    let limits = read_limits(tree, std::slice::from_ref(layout))?.pop().unwrap_or_default();
    Ok((limits.requests, limits.refusal))
}

/// Constraints on the order of a struct's members.
#[derive(Clone, Default)]
pub struct SourceLimits {
    /// The requests.
    pub requests: PlacementRequests,
    /// Notes that are no constraints, a sentence each.
    pub notes: Vec<String>,
    /// Why the source can't be changed, if so.
    pub refusal: Option<String>,
}

/// Constraints of a tree on structs: by their declarations, and by all code that can know them.
pub fn read_limits(tree: Option<&Path>, layouts: &[Layout]) -> Result<Vec<SourceLimits>> {
    let read = layouts.iter().map(|layout| read_declaration(tree, layout)).collect::<Result<Vec<_>>>()?;
    add_uses(tree, layouts, read)
}

/// Constraints by the declaration of a struct, with the path of its file; `None` without a tree.
type HeaderLimits = Option<(SourceLimits, String)>;

fn read_declaration(tree: Option<&Path>, layout: &Layout) -> Result<HeaderLimits> {
    let Some(tree) = tree else { return Ok(None) };
    let declaration = Declaration::from(layout);
    let header = header::open(tree, &declaration)?;
    let mut limits = SourceLimits::default();
    match header::read_notes(&header, &declaration) {
        Ok((notes, reader_notes)) => {
            limits.requests.notes = notes;
            limits.notes = reader_notes;
        }
        Err(refusal) => limits.refusal = Some(format!("{}: {refusal}", header.path)),
    }
    Ok(Some((limits, header.path)))
}

/// Adds those by the rest of the tree.
fn add_uses(tree: Option<&Path>, layouts: &[Layout], read: Vec<HeaderLimits>) -> Result<Vec<SourceLimits>> {
    let declared = layouts.iter().zip(&read).filter_map(|(layout, read)| {
        let (_, header) = read.as_ref()?;
        Some(DeclaredStruct { layout, header })
    });
    let declared: Vec<DeclaredStruct<'_>> = declared.collect();
    let listed: Vec<_> = declared.iter().map(|declared| ListedStruct::from(declared.layout)).collect();
    let (found, documents) = match tree {
        Some(tree) if !declared.is_empty() => {
            rayon::join(|| uses::find_in_tree(tree, &declared), || documents::find_notes(tree, &listed))
        }
        _ => (Ok(Vec::new()), Vec::new()),
    };
    let (mut found, mut documents) = (found?.into_iter(), documents.into_iter());
    let limits = layouts.iter().zip(read).map(|(layout, read)| {
        let Some((mut limits, _)) = read else { return SourceLimits::default() };
        limits.notes.extend(found.next().unwrap_or_default().add_to(&mut limits.requests, layout));
        limits.notes.extend(documents.next().unwrap_or_default());
        limits
    });
    Ok(limits.collect())
}

/// Adds notes to a plan, and refuses what the source refuses.
pub fn apply_limits(plan: &mut Plan, limits: Vec<SourceLimits>) {
    for (struct_plan, limits) in plan.structs.iter_mut().zip(limits) {
        struct_plan.notes.extend(limits.notes);
        if let Some(reason) = limits.refusal {
            refuse(struct_plan, reason);
        }
    }
}

/// A plan that can't be carried out proposes nothing.
fn refuse(struct_plan: &mut StructPlan, reason: String) {
    struct_plan.outcome = Outcome::Refused;
    struct_plan.reason = Some(reason);
    struct_plan.chosen = struct_plan.declared.clone();
    struct_plan.moved.clear();
    struct_plan.candidates.clear();
    struct_plan.forecasts.clear();
    struct_plan.sizes.clear();
    struct_plan.builds.clear();
    struct_plan.groups.clear();
    struct_plan.search = None;
    struct_plan.confidence = None;
    struct_plan.terms.clear();
}
