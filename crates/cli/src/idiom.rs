//! How groups of an order are told in the source.

use crate::args::series::Idiom;
use crate::tree::{self, Declaration, Header};
use fieldline_plan::StructPlan;
use fieldline_plan::groups::{Alignment, Group, Kind};
use fieldline_source::{Edit, Edits, Heading, Refusal};
use std::path::Path;

/// What aligns a member to the cacheline, and the header of a kernel tree that defines it.
const ALIGNED: (&str, &str) = ("____cacheline_aligned", "include/linux/cache.h");

/// How to tell groups of structs of a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    idiom: Idiom,
    /// Whether the tree is a kernel's.
    is_kernel: bool,
    /// Line size in bytes of the machine the plan was made for.
    line: u64,
}

/// A struct's edits, its groups told.
pub(crate) struct Told {
    pub(crate) edits: Edits,
    /// What a reader should know, a sentence each.
    pub(crate) remarks: Vec<String>,
}

impl Manner {
    pub(crate) fn new(idiom: Idiom, tree: &Path, line: u64) -> Self {
        Self { idiom, is_kernel: tree.join(ALIGNED.1).is_file(), line }
    }

    /// Adds to a reordering what tells its groups.
    pub(crate) fn tell(self, header: &Header, of: &StructPlan, reordering: &Edits) -> Result<Told, Refusal> {
        let headings = match self.idiom {
            Idiom::None => Vec::new(),
            Idiom::Plain => self.plain(of),
        };
        if headings.is_empty() {
            return Ok(Told { edits: reordering.clone(), remarks: Vec::new() });
        }
        let moved = Header { path: header.path.clone(), text: reordering.apply(&header.text) };
        let declaration = Declaration {
            members: of.chosen.members.iter().map(|member| (member.name.clone(), 0)).collect(),
            ..Declaration::from(of)
        };
        let annotated = tree::annotate(&moved, &declaration, &headings)?;
        let new = annotated.edits.apply(&moved.text);
        let asked = headings.iter().filter(|heading| heading.attribute.is_some()).count();
        let given = asked.saturating_sub(annotated.without_attribute.len());
        let mut remarks = Vec::new();
        if given > 0 {
            remarks.push(format!(
                "{} costs no byte in any build that was judged, and leaves every member where it is on {} B lines; for \
                 other lines, figures are those of the order without it.",
                ALIGNED.0, self.line
            ));
        }
        for (member, reason) in &annotated.without_attribute {
            let name = of.chosen.members.get(*member).and_then(|member| member.name.as_deref());
            remarks.push(format!(
                "{} is not aligned to the cacheline: {reason}.",
                name.unwrap_or("(anonymous)")
            ));
        }
        Ok(Told { edits: replacing(&header.text, &new), remarks })
    }

    /// A comment above each group of several members. Of those that may be aligned for nothing, the one that most visits
    /// touch is: what two cost together the plan doesn't say.
    fn plain(self, of: &StructPlan) -> Vec<Heading> {
        let may_be_aligned = |group: &&Group| {
            let is_on_line = group.first_offset > 0 && group.first_offset.is_multiple_of(self.line.max(1));
            self.is_kernel && is_on_line && group.alignment == Alignment::Aligned
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

fn comment(kind: Kind) -> &'static str {
    match kind {
        Kind::HotReadMostly => "Hot and read-mostly, used together:",
        Kind::HotWritten => "Hot and often written, used together:",
        Kind::Cold => "Rarely used:",
    }
}

/// One edit from a text to another.
fn replacing(old: &[u8], new: &[u8]) -> Edits {
    let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (old.get(start..).unwrap_or_default(), new.get(start..).unwrap_or_default());
    let same =
        old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    let replacement = new_rest.get(..new_rest.len() - same).unwrap_or_default().to_vec();
    let mut edits = Edits::default();
    // The first edit overlaps nothing.
    let _ = edits.insert(Edit { range: start..old.len() - same, replacement });
    edits
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
