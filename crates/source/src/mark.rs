//! Markers around groups of members: where they stand so that every configuration that has one has the other.
//!
//! * `position` finds where a marker can be at one end of a group, by the nest of `#if` blocks.
//! * `insertion` writes the markers that go between the same two lines.

mod insertion;
mod marking;
mod position;
mod readback;

use crate::body::{MemberShape, Statement};
use crate::definition::lossy;
use crate::edits::Edits;
use crate::join::Join;
use crate::refusal::Result;
use crate::scan::ConditionLiteral;
#[cfg(test)]
use crate::scan::SourceText;
use insertion::InsertionPoints;
pub use marking::{CoveredMember, GroupToMark};
use marking::{group_name, marker_name};
use position::{GroupEdge, MarkerPosition};
use std::collections::BTreeSet;

/// The attribute that lets the compiler shuffle members (include/linux/compiler_types.h).
const SHUFFLED: &str = "__randomize_layout";

/// Markers as edits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkerEdits {
    /// Edits of the file's text.
    pub edits: Edits,
    /// For each marking the plain members between its markers in any configuration, or why it has none.
    /// Bit-fields, flexible arrays and unnamed members are left out: `offsetof` and `sizeof` can't take them.
    pub groups: Vec<Result<Vec<CoveredMember>, String>>,
}

impl Join<'_, '_, '_> {
    /// Writes markers around groups; members keep their order. Both markers of a group stand under the same
    /// conditions: where the text has no such places, `#if` blocks are closed and opened again.
    /// Fails if the result doesn't read back as meant.
    pub fn mark(&self, markings: &[GroupToMark]) -> Result<MarkerEdits> {
        let mut points = InsertionPoints::new(self.body);
        let groups: Vec<_> = markings.iter().map(|marking| self.mark_group(marking, &mut points)).collect();
        let edits = points.edits()?;
        let covered_members = readback::check(self, &edits, markings, &groups)?;
        let groups = groups.into_iter().zip(covered_members).map(|(group, covered)| group.map(|()| covered));
        Ok(MarkerEdits { edits, groups: groups.collect() })
    }

    fn mark_group(&self, marking: &GroupToMark, points: &mut InsertionPoints) -> Result<(), String> {
        let statements = self.body.statements();
        if statements.iter().any(|statement| group_name(statement) == Some(&marking.name)) {
            return Err(format!("a group {} is there", marking.name));
        }
        // The first and the last declaration.
        let mut declarations = marking.members.clone().map(|member| self.statement_index(member));
        let first = declarations.next().flatten();
        let last = declarations.next_back().unwrap_or(first);
        let (first, last) = first.zip(last).ok_or("it has no declarations of its own")?;
        self.check_markable(first, last)?;
        let begins = position::find_positions(self, first, &marking.members, GroupEdge::Begin);
        let ends = position::find_positions(self, last, &marking.members, GroupEdge::End);
        let (begin, end) = self
            .find_pair(marking, &begins, &ends)
            .ok_or("its first or last member shares a line or an #if block with members of no group")?;
        let indent = lossy(self.body.source.indent(statements[first].range.start));
        let comment = format!("{indent}/* {} */", marking.comment);
        points.insert(begin, true, vec![comment, format!("{indent}{}", marking.begin)]);
        points.insert(end, false, vec![format!("{indent}{}", marking.end)]);
        Ok(())
    }

    /// Why nothing can be marked from one declaration to another, if so.
    fn check_markable(&self, first: usize, last: usize) -> Result<(), String> {
        let body = self.body;
        let (before, rest) = body.statements().split_at(first);
        let (own, behind) = rest.split_at(last + 1 - first);
        if body.is_inline {
            return Err("declarations share a line with the braces".to_owned());
        }
        if own.iter().any(|statement| marker_name(statement).is_some()) {
            return Err("other cacheline groups begin or end among its members".to_owned());
        }
        let markers = before.iter().filter_map(marker_name);
        let count = |edge: &str| markers.clone().filter(|name| name.starts_with(edge)).count();
        if count("begin__") > count("end__") {
            return Err("it lies in a cacheline group that is there".to_owned());
        }
        let shuffles = before.iter().map(|statement| body.text(statement));
        let shuffles = shuffles.filter(|text| text.starts_with(b"randomized_struct_fields")).count();
        let attributes = &body.definition().attributes;
        if shuffles % 2 == 1 || attributes.iter().any(|attribute| attribute.contains(SHUFFLED)) {
            return Err("the compiler shuffles its members where CONFIG_RANDSTRUCT is set".to_owned());
        }
        let mut edges = [(before.last(), own.first()), (own.last(), behind.first())].into_iter();
        match edges.any(|(above, below)| above.is_some_and(is_bits) && below.is_some_and(is_bits)) {
            true => Err("a marker would come between bit-fields and move them".to_owned()),
            false => Ok(()),
        }
    }

    /// The two places under equal conditions: those that all members share, so that no configuration has
    /// members of the group without its markers; of these the fewest blocks cut, and the innermost.
    fn find_pair(
        &self,
        marking: &GroupToMark,
        begins: &[MarkerPosition],
        ends: &[MarkerPosition],
    ) -> Option<(MarkerPosition, MarkerPosition)> {
        let shared = self.shared_conditions(marking);
        let pairs = begins.iter().flat_map(|begin| ends.iter().map(move |end| (begin, end)));
        let equal = pairs.filter(|(begin, end)| begin.conditions == end.conditions);
        let cost = |(begin, end): &(&MarkerPosition, &MarkerPosition)| {
            let is_shared = begin.conditions.is_subset(&shared);
            let depth = i64::try_from(begin.conditions.len()).unwrap_or(i64::MAX);
            (!is_shared, begin.splits + end.splits, if is_shared { -depth } else { depth })
        };
        equal.min_by_key(cost).map(|(begin, end)| (begin.clone(), end.clone()))
    }

    /// Conditions that all members of a group stand under.
    fn shared_conditions(&self, marking: &GroupToMark) -> BTreeSet<ConditionLiteral> {
        let members = marking.members.clone().filter_map(|member| self.statement_of(member));
        let conditions = members.map(|statement| BTreeSet::from_iter(self.body.conditions(statement)));
        conditions.reduce(|shared, own| &shared & &own).unwrap_or_default()
    }
}

fn is_bits(statement: &Statement) -> bool {
    let mut members = statement.declarators().iter();
    members.any(|member| matches!(member.shape, MemberShape::BitField | MemberShape::UnnamedBits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::StructBody;
    use crate::definition::DefinitionQuery;
    use crate::join::ExpectedMember;

    /// The text with plain markers around groups, each given by its first and last member, and what is
    /// covered.
    fn marked(
        text: &str,
        members: &[&str],
        groups: &[(&str, &str)],
    ) -> (String, Vec<Result<String, String>>) {
        let source = SourceText::new(text.as_bytes());
        let definition = source.find(&DefinitionQuery::for_name("s")).unwrap();
        let body = StructBody::parse(&source, &definition).unwrap();
        let expected: Vec<ExpectedMember> = members.iter().map(|name| ExpectedMember::named(name)).collect();
        let join = Join::new(&body, &expected).unwrap();
        let at = |name: &str| members.iter().position(|member| *member == name).unwrap();
        let marking = |(number, (first, last)): (usize, &(&str, &str))| GroupToMark {
            name: format!("g{number}"),
            members: at(first)..at(last) + 1,
            comment: format!("Group {number}"),
            begin: format!("__cacheline_group_begin(g{number});"),
            end: format!("__cacheline_group_end(g{number});"),
        };
        let markings: Vec<GroupToMark> = (1..).zip(groups).map(marking).collect();
        let marked = join.mark(&markings).unwrap();
        let shown = |covered: Vec<CoveredMember>| {
            let show_one = |covered: &CoveredMember| {
                let conditions: Vec<String> = covered.conditions.iter().map(ToString::to_string).collect();
                format!("{}[{}]", covered.name, conditions.join(" "))
            };
            covered.iter().map(show_one).collect::<Vec<_>>().join(" ")
        };
        let new = String::from_utf8(marked.edits.apply(text.as_bytes())).unwrap();
        (new, marked.groups.into_iter().map(|group| group.map(shown)).collect())
    }

    #[test]
    fn markers_stand_around_members_with_their_comments() {
        let text = "struct s {\n\t/* of a */\n\tint a;\n\tint b;\t/* trails\n\t\t\t * on */\n\n\tint c;\n\tint d[2], e;\n};\n";
        let (new, covered) = marked(text, &["a", "b", "c", "d", "e"], &[("a", "b"), ("c", "e")]);
        let want = "struct s {\n\t/* Group 1 */\n\t__cacheline_group_begin(g1);\n\t/* of a */\n\tint a;\n\tint b;\t/* trails\n\t\t\t * on */\n\
                    \t__cacheline_group_end(g1);\n\n\t/* Group 2 */\n\t__cacheline_group_begin(g2);\n\tint c;\n\tint d[2], e;\n\
                    \t__cacheline_group_end(g2);\n};\n";
        assert_eq!(new, want);
        assert_eq!(covered, [Ok("a[] b[]".to_owned()), Ok("c[] d[] e[]".to_owned())]);
    }

    #[test]
    fn a_group_wholly_inside_an_ifdef_has_its_markers_inside() {
        let text = "struct s {\n\tint a;\n#ifdef X\n\tint b;\n#ifdef Y\n\tint c;\n#endif\n\tint d;\n#endif /* X */\n\tint e;\n};\n";
        let (new, covered) = marked(text, &["a", "b", "c", "d", "e"], &[("b", "d")]);
        let want = "struct s {\n\tint a;\n#ifdef X\n\t/* Group 1 */\n\t__cacheline_group_begin(g1);\n\tint b;\n#ifdef Y\n\tint c;\n#endif\n\tint d;\n\
                    \t__cacheline_group_end(g1);\n#endif /* X */\n\tint e;\n};\n";
        assert_eq!(new, want);
        assert_eq!(covered, [Ok("b[defined(X)] c[defined(X) defined(Y)] d[defined(X)]".to_owned())]);
    }

    #[test]
    fn a_group_partly_inside_an_ifdef_has_its_markers_outside() {
        let text = "struct s {\n\tint a;\n\n#ifdef X\n\tint b;\n#endif\n\tint c;\n\tint d;\n};\n";
        let (new, covered) = marked(text, &["a", "b", "c", "d"], &[("b", "c")]);
        let want = "struct s {\n\tint a;\n\n\t/* Group 1 */\n\t__cacheline_group_begin(g1);\n#ifdef X\n\tint b;\n#endif\n\tint c;\n\
                    \t__cacheline_group_end(g1);\n\n\tint d;\n};\n";
        assert_eq!(new, want);
        assert_eq!(covered, [Ok("b[defined(X)] c[]".to_owned())]);
    }

    #[test]
    fn a_block_that_two_groups_share_is_closed_and_opened_again() {
        let text = "struct s {\n#ifdef X\n\tint a;\n\tint b;\n\n#ifdef Y\n\tint c;\n\tint d;\n#endif /* Y */\n#endif /* X */\n\tint e;\n};\n";
        let (new, covered) = marked(text, &["a", "b", "c", "d", "e"], &[("a", "c"), ("d", "e")]);
        let want = "struct s {\n#ifdef X\n\t/* Group 1 */\n\t__cacheline_group_begin(g1);\n\tint a;\n\tint b;\n\n#ifdef Y\n\tint c;\n\
                    #endif /* Y */\n\t__cacheline_group_end(g1);\n#endif /* X */\n\n\t/* Group 2 */\n\t__cacheline_group_begin(g2);\n\
                    #ifdef X\n#ifdef Y\n\tint d;\n#endif /* Y */\n#endif /* X */\n\tint e;\n\t__cacheline_group_end(g2);\n};\n";
        assert_eq!(new, want);
        assert_eq!(
            covered,
            [
                Ok("a[defined(X)] b[defined(X)] c[defined(X) defined(Y)]".to_owned()),
                Ok("d[defined(X) defined(Y)] e[]".to_owned())
            ]
        );
    }

    #[test]
    fn members_under_no_condition_are_marked_in_every_configuration() {
        let text = "struct s {\n#ifdef X\n\tint a;\n\tint b;\n#endif\n\tint c;\n#ifdef X\n\tint d;\n\tint e;\n#endif\n};\n";
        let (new, covered) = marked(text, &["a", "b", "c", "d", "e"], &[("b", "d")]);
        let want = "struct s {\n#ifdef X\n\tint a;\n#endif\n\n\t/* Group 1 */\n\t__cacheline_group_begin(g1);\n#ifdef X\n\tint b;\n\
                    #endif\n\tint c;\n#ifdef X\n\tint d;\n#endif\n\t__cacheline_group_end(g1);\n\n#ifdef X\n\tint e;\n#endif\n};\n";
        assert_eq!(new, want);
        assert_eq!(covered, [Ok("b[defined(X)] c[] d[defined(X)]".to_owned())]);
    }

    #[test]
    fn alternatives_are_marked_as_one() {
        let text =
            "struct s {\n\tint a;\n#ifdef X\n\tint b;\n#else\n\tlong b;\n#endif\n\tint c;\n\tint d;\n};\n";
        let (new, covered) = marked(text, &["a", "b", "c", "d"], &[("b", "c")]);
        assert!(new.contains("\n\n\t/* Group 1 */\n\t__cacheline_group_begin(g1);\n#ifdef X\n"), "{new}");
        assert_eq!(covered, [Ok("b[defined(X)] b[!defined(X)] c[]".to_owned())]);
    }

    #[test]
    fn bit_fields_are_marked_as_runs_and_never_asserted() {
        let text = "struct s {\n\tint a;\n\tunsigned b:3;\n\tunsigned c:2;\n\tint d;\n\tchar e[];\n};\n";
        let members = ["a", "b", "c", "d", "e"];
        let (new, covered) = marked(text, &members, &[("b", "e")]);
        assert!(new.contains("\t__cacheline_group_begin(g1);\n\tunsigned b:3;\n"), "{new}");
        assert_eq!(covered, [Ok("d[]".to_owned())]);
        let (new, covered) = marked(text, &members, &[("a", "b"), ("c", "d")]);
        assert_eq!(new, text);
        let reason = Err("a marker would come between bit-fields and move them".to_owned());
        assert_eq!(covered, [reason.clone(), reason]);
    }

    #[test]
    fn groups_that_are_there_stay_as_they_are() {
        let text = "struct s {\n\tint a;\n\tint b;\n\t__cacheline_group_begin(tx);\n\tint c;\n\tint d;\n\
                    \t__cacheline_group_end(tx);\n\tint e;\n\tint f;\n};\n";
        let members =
            ["a", "b", "__cacheline_group_begin__tx", "c", "d", "__cacheline_group_end__tx", "e", "f"];
        let (new, covered) = marked(text, &members, &[("b", "c"), ("c", "d"), ("e", "f")]);
        assert_eq!(covered[0], Err("other cacheline groups begin or end among its members".to_owned()));
        assert_eq!(covered[1], Err("it lies in a cacheline group that is there".to_owned()));
        assert_eq!(covered[2], Ok("e[] f[]".to_owned()));
        assert_eq!(new.matches("__cacheline_group_begin(").count(), 2, "{new}");
    }

    #[test]
    fn what_the_compiler_shuffles_is_not_marked() {
        let text = "struct s {\n\tint a;\n\tint b;\n} __randomize_layout;\n";
        let (new, covered) = marked(text, &["a", "b"], &[("a", "b")]);
        assert!(covered[0].as_ref().is_err_and(|reason| reason.contains("RANDSTRUCT")), "{covered:?}");
        assert_eq!(new, text);
    }
}
