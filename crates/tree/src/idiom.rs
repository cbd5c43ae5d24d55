//! How groups of an order are marked in the source.
//!
//! * `groups` names and aligns the groups that get markers.
//! * `configurations`: cost of alignment in other configurations.
//! * `check_site` finds the function that checks are called from.
//! * `macros` adds what a tree lacks.
//! * `options`: what a user may choose; `wording`: which groups are marked, and what is said of them.

mod check_site;
mod configurations;
mod groups;
pub mod macros;
pub mod options;
mod wording;

pub use groups::MarkedGroups;

use crate::header::{self, Declaration, Header};
use crate::idiom::options::{Idiom, IdiomOptions};
use anyhow::{Context, Result, bail};
use fieldline_files::UnreadableKind;
use fieldline_plan::result::{Group, GroupAlignment};
use fieldline_plan::{Plan, StructPlan};

use fieldline_source::{Edit, Edits, MemberAnnotation, SourceRefusal};
use std::path::Path;

/// The attribute that aligns a member to the cacheline, and the header of a kernel tree that defines it.
const ALIGNED: (&str, &str) = ("____cacheline_aligned", "include/linux/cache.h");
/// A macro that the header defines where groups can be marked.
const MARKER: &[u8] = b"__cacheline_group_begin";

/// How to mark groups of structs of a tree.
#[derive(Clone, Copy, Debug)]
pub struct GroupIdiom<'m> {
    idiom: Idiom,
    args: &'m IdiomOptions,
    tree: &'m Path,
    /// Whether the tree is a kernel's.
    is_kernel: bool,
    /// Line size in bytes of the machine the plan was made for.
    line: u64,
}

impl<'m> GroupIdiom<'m> {
    /// The idiom asked for, or the one the tree supports.
    pub fn new(args: &'m IdiomOptions, tree: &'m Path, plan: &Plan) -> Result<Self> {
        let path = tree.join(ALIGNED.1);
        let header = match fieldline_files::read(&path) {
            Err(error) if UnreadableKind::in_error(&error).is_some() => {
                return Err(error).with_context(|| path.display().to_string());
            }
            read => read.ok(),
        };
        let has_groups = header.as_deref().is_some_and(|text| memchr::memmem::find(text, MARKER).is_some());
        let drifts =
            || plan.structs.iter().flat_map(|planned| &planned.groups).any(|group| !group.drifts.is_empty());
        let fitting = || match (has_groups, header.is_some()) {
            (true, _) if drifts() => Idiom::Groups,
            (true, _) => Idiom::Plain,
            (false, _) => Idiom::None,
        };
        let idiom = args.idiom.unwrap_or_else(fitting);
        let line = plan.build_line;
        if idiom == Idiom::Groups && !has_groups {
            bail!("{}: no cacheline groups are defined there; take another --idiom", path.display());
        }
        if idiom == Idiom::Groups {
            groups::check_args(args, plan)?;
        }
        Ok(Self { idiom, args, tree, is_kernel: header.is_some(), line })
    }

    /// A note if no idiom was asked for and the tree supports none.
    pub fn fallback_note(&self) -> Option<String> {
        let is_fallback = self.args.idiom.is_none() && self.idiom == Idiom::None;
        let text = "the tree has no cacheline groups (include/linux/cache.h), so groups aren't marked in the source; \
                    --idiom plain writes comments";
        is_fallback.then(|| text.to_owned())
    }

    /// Adds to a reordering the markers or comments of its groups.
    pub fn mark_groups(
        &self,
        header: &Header,
        plan: &StructPlan,
        reordering: &Edits,
    ) -> Result<MarkedGroups, SourceRefusal> {
        let moved = Header { path: header.path.clone(), text: reordering.apply(&header.text) };
        let declaration = Declaration {
            members: plan.chosen.members.iter().map(|member| (member.name.clone(), None)).collect(),
            ..Declaration::from(plan)
        };
        let (edits, mut outcome) = match self.idiom {
            Idiom::None => (Edits::default(), MarkedGroups::default()),
            Idiom::Plain => self.annotate_groups(&moved, &declaration, plan)?,
            Idiom::Groups => groups::mark_groups(self.args, self.line, &moved, &declaration, plan)?,
        };
        outcome.edits = match edits.is_empty() {
            true => reordering.clone(),
            false => replace_changed(&header.text, &edits.apply(&moved.text)),
        };
        Ok(outcome)
    }

    fn annotate_groups(
        &self,
        moved: &Header,
        declaration: &Declaration,
        plan: &StructPlan,
    ) -> Result<(Edits, MarkedGroups), SourceRefusal> {
        let headings = self.build_annotations(plan);
        if headings.is_empty() {
            return Ok((Edits::default(), MarkedGroups::default()));
        }
        let annotated = header::with_join(moved, declaration, |join| join.annotate(&headings))?;
        let asked = headings.iter().filter(|heading| heading.attribute.is_some()).count();
        let given = asked.saturating_sub(annotated.without_attribute.len());
        let note = |name: &str| {
            format!(
                "{name} costs no byte in any build that was judged, and leaves every member where it is on {} B lines; for \
                 other lines, figures are those of the order without it.",
                self.line
            )
        };
        let mut notes: Vec<String> = (given > 0).then(|| note(ALIGNED.0)).into_iter().collect();
        for (member, reason) in &annotated.without_attribute {
            let name = plan.chosen.members.get(*member).and_then(|member| member.name.as_deref());
            let name = name.unwrap_or("(anonymous)");
            notes.push(format!("{name} is not aligned to the cacheline: {reason}."));
        }
        Ok((annotated.edits, MarkedGroups { notes, ..MarkedGroups::default() }))
    }

    /// A comment above each group that means something; the most visited that drifts elsewhere is aligned, if that costs
    /// nothing.
    fn build_annotations(&self, plan: &StructPlan) -> Vec<MemberAnnotation> {
        let may_be_aligned = |group: &&Group| {
            let is_on_line = group.first_offset > 0 && group.first_offset.is_multiple_of(self.line.max(1));
            let is_free = group.alignment == GroupAlignment::Aligned;
            self.is_kernel && is_on_line && is_free && !group.drifts.is_empty()
        };
        let meant = wording::meant_groups(plan);
        let candidates = meant.iter().map(|(_, group)| *group).filter(may_be_aligned);
        let aligned = candidates.max_by(|left, right| left.visits.total_cmp(&right.visits));
        let mut said: Vec<String> = Vec::new();
        let heading = |(_, group): &(usize, &Group)| {
            let first = group.members.first()?;
            let member = plan.chosen.members.iter().position(|placed| placed.index == *first)?;
            let is_aligned = aligned.is_some_and(|aligned| std::ptr::eq(aligned, *group));
            let word = wording::group_word(group, &self.args.group_names);
            // One comment is enough for lines of one purpose.
            let comment =
                (!said.contains(&word)).then(|| wording::group_comment(group, &self.args.group_names));
            said.push(word);
            let attribute = is_aligned.then(|| ALIGNED.0.to_owned());
            let says_something = comment.is_some() || attribute.is_some();
            says_something.then_some(MemberAnnotation { member, comment, attribute })
        };
        meant.iter().filter_map(heading).collect()
    }
}

/// One edit from a text to another.
fn replace_changed(old: &[u8], new: &[u8]) -> Edits {
    let start = old.iter().zip(new).take_while(|(left, right)| left == right).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
    let same = ends.take_while(|(left, right)| left == right).count();
    let replacement = new_rest[..new_rest.len() - same].to_vec();
    Edit { range: start..old.len() - same, replacement }.into()
}

#[cfg(test)]
mod tests {
    use super::replace_changed;

    #[test]
    fn one_edit_leads_from_text_to_text() {
        for (old, new) in
            [("abcabc", "abxabc"), ("aa", "aaa"), ("aaa", "aa"), ("", "x"), ("x", ""), ("ab", "ab")]
        {
            assert_eq!(replace_changed(old.as_bytes(), new.as_bytes()).apply(old.as_bytes()), new.as_bytes());
        }
    }
}
