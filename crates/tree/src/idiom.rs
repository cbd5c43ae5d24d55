//! How groups of an order are told in the source.
//!
//! * `groups` names and aligns the groups that get markers.
//! * `elsewhere` judges alignment in other configurations.
//! * `home` finds the function that checks are called from.
//! * `macros` adds what a tree lacks.
//! * `options`: what a user may choose.

mod elsewhere;
mod groups;
mod home;
pub mod macros;
pub mod options;

pub use groups::Told;

use crate::header::{self, Declaration, FileChange, Header, HeaderChange};
use crate::idiom::options::{Idiom, IdiomOptions};
use anyhow::{Result, bail};
use fieldline_plan::result::{Group, GroupAlignment, GroupKind};
use fieldline_plan::{Plan, StructPlan};
use fieldline_source::startup::Assertion;
use fieldline_source::{Edit, Edits, Heading, Refusal};
use std::path::Path;

/// What aligns a member to the cacheline, and the header of a kernel tree that defines it.
const ALIGNED: (&str, &str) = ("____cacheline_aligned", "include/linux/cache.h");
/// What that header defines where groups can be marked.
const MARKER: &[u8] = b"__cacheline_group_begin";

/// How to tell groups of structs of a tree.
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
    /// The manner asked for, or the one the tree can take.
    pub fn new(args: &'m IdiomOptions, tree: &'m Path, plan: &Plan) -> Result<Self> {
        let header = std::fs::read(tree.join(ALIGNED.1)).ok();
        let has_groups =
            header.as_deref().is_some_and(|text| text.windows(MARKER.len()).any(|word| word == MARKER));
        let idiom = args.idiom.unwrap_or(if has_groups { Idiom::Groups } else { Idiom::None });
        let line = plan.build_line;
        if idiom == Idiom::Groups && !has_groups {
            bail!(
                "{}: no cacheline groups are defined there; take another --idiom",
                tree.join(ALIGNED.1).display()
            );
        }
        if idiom == Idiom::Groups {
            groups::check_args(args, plan)?;
        }
        Ok(Self { idiom, args, tree, is_kernel: header.is_some(), line })
    }

    /// What a reader should know of the choice.
    pub fn note(&self) -> Option<String> {
        let is_fallback = self.args.idiom.is_none() && self.idiom == Idiom::None;
        let text = "the tree has no cacheline groups (include/linux/cache.h), so groups aren't told in the source; \
                    --idiom plain writes comments";
        is_fallback.then(|| text.to_owned())
    }

    /// Adds to a reordering what tells its groups.
    pub fn tell(&self, header: &Header, of: &StructPlan, reordering: &Edits) -> Result<Told, Refusal> {
        let moved = Header { path: header.path.clone(), text: reordering.apply(&header.text) };
        let declaration = Declaration {
            members: of.chosen.members.iter().map(|member| (member.name.clone(), 0)).collect(),
            ..Declaration::from(of)
        };
        let (edits, mut told) = match self.idiom {
            Idiom::None => (Edits::default(), Told::default()),
            Idiom::Plain => self.tell_plainly(&moved, &declaration, of)?,
            Idiom::Groups => groups::tell(self.args, self.line, &moved, &declaration, of)?,
        };
        told.edits = match edits.is_empty() {
            true => reordering.clone(),
            false => replacing(&header.text, &edits.apply(&moved.text)),
        };
        Ok(told)
    }

    /// Writes the checks of a struct into the tree. Gives what changes, and a sentence on it.
    pub fn check(
        &self,
        changes: &mut Vec<HeaderChange>,
        header: &str,
        name: &str,
        assertions: &[Assertion],
    ) -> Result<(Option<FileChange>, String)> {
        home::check(self.tree, self.args.check_in.as_ref(), changes, header, name, assertions)
    }

    fn tell_plainly(
        &self,
        moved: &Header,
        declaration: &Declaration,
        of: &StructPlan,
    ) -> Result<(Edits, Told), Refusal> {
        let headings = self.plain(of);
        if headings.is_empty() {
            return Ok((Edits::default(), Told::default()));
        }
        let annotated = header::joined(moved, declaration, |join| join.annotate(&headings))?;
        let asked = headings.iter().filter(|heading| heading.attribute.is_some()).count();
        let given = asked.saturating_sub(annotated.without_attribute.len());
        let remark = |name: &str| {
            format!(
                "{name} costs no byte in any build that was judged, and leaves every member where it is on {} B lines; for \
                 other lines, figures are those of the order without it.",
                self.line
            )
        };
        let mut remarks: Vec<String> = (given > 0).then(|| remark(ALIGNED.0)).into_iter().collect();
        for (member, reason) in &annotated.without_attribute {
            let name = of.chosen.members.get(*member).and_then(|member| member.name.as_deref());
            let name = name.unwrap_or("(anonymous)");
            remarks.push(format!("{name} is not aligned to the cacheline: {reason}."));
        }
        Ok((annotated.edits, Told { remarks, ..Told::default() }))
    }

    /// A comment above each group of several members. Of those that may be aligned for nothing, the most visited is aligned.
    fn plain(&self, of: &StructPlan) -> Vec<Heading> {
        let may_be_aligned = |group: &&Group| {
            let is_on_line = group.first_offset > 0 && group.first_offset.is_multiple_of(self.line.max(1));
            self.is_kernel && is_on_line && group.alignment == GroupAlignment::Aligned
        };
        let candidates = of.groups.iter().filter(may_be_aligned);
        let aligned = candidates.max_by(|one, other| one.visits.total_cmp(&other.visits));
        let heading = |group: &Group| {
            let first = group.members.first()?;
            let member = of.chosen.members.iter().position(|placed| placed.index == *first)?;
            let is_aligned = aligned.is_some_and(|aligned| std::ptr::eq(aligned, group));
            let comment = (group.members.len() > 1).then(|| comment(group.kind).to_owned());
            let attribute = is_aligned.then(|| ALIGNED.0.to_owned());
            (comment.is_some() || attribute.is_some()).then_some(Heading { member, comment, attribute })
        };
        of.groups.iter().filter_map(heading).collect()
    }
}

fn comment(kind: GroupKind) -> &'static str {
    match kind {
        GroupKind::HotReadMostly => "Hot and read-mostly, used together:",
        GroupKind::HotWritten => "Hot and often written, used together:",
        GroupKind::Cold => "Rarely used:",
    }
}

/// One edit from a text to another.
fn replacing(old: &[u8], new: &[u8]) -> Edits {
    let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
    let same = ends.take_while(|(one, other)| one == other).count();
    let replacement = new_rest[..new_rest.len() - same].to_vec();
    Edit { range: start..old.len() - same, replacement }.into()
}

#[cfg(test)]
mod tests {
    use super::replacing;

    #[test]
    fn one_edit_leads_from_text_to_text() {
        for (old, new) in
            [("abcabc", "abxabc"), ("aa", "aaa"), ("aaa", "aa"), ("", "x"), ("x", ""), ("ab", "ab")]
        {
            assert_eq!(replacing(old.as_bytes(), new.as_bytes()).apply(old.as_bytes()), new.as_bytes());
        }
    }
}
