//! Comments above members, and alignments behind their names.

use crate::body::{BodyNode, MemberShape, Statement, StructBody};
use crate::edits::{Edit, Edits};
use crate::join::Join;
use crate::refusal::{Result, SourceRefusal};

/// Comment and attribute of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberAnnotation {
    /// The member's declared index.
    pub member: usize,
    /// Text of a comment on a line of its own above it, or above the `#if` it comes first under.
    pub comment: Option<String>,
    /// Attribute to write behind its name.
    pub attribute: Option<String>,
}

/// Annotations as edits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnotationEdits {
    /// Edits of the file's text.
    pub edits: Edits,
    /// Members that could not have their attribute, and why.
    pub without_attribute: Vec<(usize, String)>,
}

impl Join<'_, '_, '_> {
    /// Writes headings. Members keep their order; an attribute goes only where it holds for one member of
    /// every configuration.
    /// Fails if two headings want the same place, or the result doesn't read back as meant.
    pub fn annotate(&self, headings: &[MemberAnnotation]) -> Result<AnnotationEdits> {
        let mut annotated = AnnotationEdits::default();
        for heading in headings {
            let Some(statement) = self.statement_of(heading.member) else { continue };
            if let Some(comment) = &heading.comment {
                annotated.edits.insert(self.comment_above(statement, comment))?;
            }
            match (&heading.attribute, self.attribute_refusal(statement)) {
                (Some(attribute), None) => {
                    // Before the semicolon.
                    let at = statement.range.end.saturating_sub(1);
                    let edit = Edit { range: at..at, replacement: format!(" {attribute}").into() };
                    annotated.edits.insert(edit)?;
                }
                (Some(_), Some(reason)) => annotated.without_attribute.push((heading.member, reason)),
                (None, _) => {}
            }
        }
        self.check_annotated(&annotated.edits)?;
        Ok(annotated)
    }

    /// A comment line above a statement's own lines, set off by a blank line unless the body begins there.
    fn comment_above(&self, statement: &Statement, comment: &str) -> Edit {
        let (body, source) = (self.body, self.body.source);
        let line = first_line(body, statement);
        let own = source.line(source.lines().index(statement.range.start));
        let end: &[u8] = if own.ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
        let is_set_off = line <= body.lines.start || line.checked_sub(1).is_none_or(|at| source.is_blank(at));
        let gap: &[u8] = if is_set_off { b"" } else { end };
        let comment = format!("/* {comment} */");
        let at = source.lines().start(line);
        let indent = source.indent(statement.range.start);
        Edit { range: at..at, replacement: [gap, indent, comment.as_bytes(), end].concat() }
    }

    /// Why an attribute can't stand behind a statement's name.
    fn attribute_refusal(&self, statement: &Statement) -> Option<String> {
        let is_one_field = matches!(statement.declarators(), [declarator] if declarator.shape == MemberShape::Field)
            && !statement.is_tangled;
        let reason = if statement.attributes.iter().any(|attribute| attribute.contains("aligned")) {
            "it has an alignment"
        } else if !self.body.conditions(statement).is_empty() {
            "it stands under an #if, and without it another member would come first"
        } else if !is_one_field {
            "its declaration is more than one plain member"
        } else {
            return None;
        };
        Some(reason.to_owned())
    }

    /// The same members, and not a statement more or less, must be there.
    fn check_annotated(&self, edits: &Edits) -> Result<()> {
        self.reread(edits, |body| {
            if body.statements().len() != self.body.statements().len() {
                return Err(SourceRefusal::ReadBack("a declaration is lost or new".to_owned()));
            }
            let expected = self.expected.iter().enumerate().map(|(member, expected)| {
                // Statements keep their order, so the place of the old one finds the new one.
                let statement = self.statement_index(member).and_then(|at| body.statements().get(at));
                expected.clone().with_line(statement.map(|statement| statement.line))
            });
            Join::new(body, &expected.collect::<Vec<_>>()).map(|_| ())
        })
    }
}

/// 0-based line above which a comment on a statement goes: before the `#if` lines whose first piece it is.
fn first_line(body: &StructBody<'_, '_>, statement: &Statement) -> usize {
    let mut node = BodyNode::Piece(statement.piece);
    let mut piece = statement.piece;
    for (index, arm) in body.path(statement.piece).into_iter().rev() {
        let arms = body.arms(index);
        let Some(first) = arms.first().filter(|first| arm == 0 && first.nodes.first() == Some(&node)) else {
            break;
        };
        piece = first.piece;
        node = BodyNode::Block(index);
    }
    body.pieces.get(piece).map_or(0, |piece| piece.lines.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::DefinitionQuery;
    use crate::join::ExpectedMember;
    use crate::scan::SourceText;

    /// The text with headings at members, each `(name, comment, attribute)`.
    fn annotated(text: &str, members: &[&str], headings: &[(&str, &str, bool)]) -> (String, Vec<usize>) {
        let source = SourceText::new(text.as_bytes());
        let definition = source.find(&DefinitionQuery::for_name("s")).unwrap();
        let body = StructBody::parse(&source, &definition).unwrap();
        let expected: Vec<ExpectedMember> = members.iter().map(|name| ExpectedMember::named(name)).collect();
        let join = Join::new(&body, &expected).unwrap();
        let heading = |(name, comment, aligned): &(&str, &str, bool)| MemberAnnotation {
            member: members.iter().position(|member| member == name).unwrap(),
            comment: (!comment.is_empty()).then(|| (*comment).to_owned()),
            attribute: aligned.then(|| "____cacheline_aligned".to_owned()),
        };
        let headings: Vec<MemberAnnotation> = headings.iter().map(heading).collect();
        let annotated = join.annotate(&headings).unwrap();
        let new = String::from_utf8(annotated.edits.apply(text.as_bytes())).unwrap();
        (new, annotated.without_attribute.into_iter().map(|(member, _)| member).collect())
    }

    #[test]
    fn comments_stand_above_what_belongs_to_a_member() {
        let text = "struct s {\n\tint a;\n\t/* b's own */\n\tint b;\t/* trails */\n};\n";
        let (new, without) = annotated(text, &["a", "b"], &[("a", "One", false), ("b", "Two", true)]);
        let want = "struct s {\n\t/* One */\n\tint a;\n\n\t/* Two */\n\t/* b's own */\n\
                    \tint b ____cacheline_aligned;\t/* trails */\n};\n";
        assert_eq!((new.as_str(), without), (want, vec![]));
    }

    #[test]
    fn a_member_of_a_holder_is_aligned_where_it_stands() {
        let text =
            "struct s {\r\n\tstruct a\ta;\r\n\tstruct b\tb; /* of a */\r\n} __no_randomize_layout;\r\n";
        let (new, without) = annotated(text, &["a", "b"], &[("b", "", true)]);
        assert_eq!((new, without), (text.replace("\tb;", "\tb ____cacheline_aligned;"), vec![]));
    }

    #[test]
    fn under_an_if_the_comment_goes_above_it_and_nothing_is_aligned() {
        let text = "struct s {\n\tint a;\n\n#ifdef A\n#ifdef B\n\tint b;\n\tint c;\n#endif\n#endif\n};\n";
        let (new, without) = annotated(text, &["a", "b", "c"], &[("b", "Two", true), ("c", "Three", false)]);
        let want = "struct s {\n\tint a;\n\n\t/* Two */\n#ifdef A\n#ifdef B\n\tint b;\n\n\t/* Three */\n\tint c;\n\
                    #endif\n#endif\n};\n";
        assert_eq!((new.as_str(), without), (want, vec![1]));
    }

    #[test]
    fn only_single_plain_members_are_aligned() {
        let text = "struct s {\n\tint a, b;\n\tint c:3;\n\tint (*d)(int x);\n\tlong e __aligned(8);\n\tint f[4];\n};\n";
        let members = ["a", "b", "c", "d", "e", "f"];
        let all: Vec<(&str, &str, bool)> = ["a", "c", "d", "e", "f"].map(|name| (name, "", true)).to_vec();
        let (new, without) = annotated(text, &members, &all);
        assert_eq!(without, [0, 2, 4]);
        assert!(new.contains("int (*d)(int x) ____cacheline_aligned;\n"), "{new}");
        assert!(new.contains("int f[4] ____cacheline_aligned;\n"), "{new}");
    }
}
