//! The function that asserts members of groups (`CACHELINE_ASSERT_GROUP_MEMBER`, include/linux/cache.h).

use crate::mark::CoveredMember;
use crate::scan::ConditionLiteral;
use std::fmt::Write;

/// Longest line that scripts/checkpatch.pl takes.
const COLUMNS: usize = 100;
const TAB: usize = 8;
const MACRO: &str = "CACHELINE_ASSERT_GROUP_MEMBER";

/// Members that must be in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupAssertion {
    /// The group's name.
    pub group: String,
    /// Text of the comment above it.
    pub comment: String,
    /// Its members.
    pub members: Vec<CoveredMember>,
}

/// How the function is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckInvocation {
    /// Another one calls it.
    Called,
    /// It is an initcall of its own.
    Initcall,
}

/// The function's definition: `static void __init TAG_struct_check(void)`.
pub fn write_check_function(tag: &str, assertions: &[GroupAssertion], invocation: CheckInvocation) -> String {
    let result = if invocation == CheckInvocation::Called { "void" } else { "int" };
    let mut out = format!("static {result} __init {tag}_struct_check(void)\n{{\n");
    for (index, assertion) in assertions.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        let _ = writeln!(out, "{gap}\t/* {} */", assertion.comment);
        let mut open: Vec<&ConditionLiteral> = Vec::new();
        for member in &assertion.members {
            let pairs = open.iter().zip(&member.conditions);
            let kept = pairs.take_while(|(left, right)| *left == right).count();
            close_conditions(&mut out, &mut open, kept);
            for literal in member.conditions.iter().skip(kept) {
                let _ = writeln!(out, "{}", format_condition(literal));
                open.push(literal);
            }
            out.push_str(&format_assertion(tag, &assertion.group, &member.name));
        }
        close_conditions(&mut out, &mut open, 0);
    }
    match invocation {
        CheckInvocation::Called => out.push_str("}\n"),
        CheckInvocation::Initcall => {
            let _ = write!(out, "\n\treturn 0;\n}}\ncore_initcall({tag}_struct_check);\n");
        }
    }
    out
}

/// Closes conditions down to some that stay open.
fn close_conditions(out: &mut String, open: &mut Vec<&ConditionLiteral>, kept: usize) {
    while open.len() > kept {
        out.push_str("#endif\n");
        open.pop();
    }
}

/// The preprocessor line of a condition.
fn format_condition(literal: &ConditionLiteral) -> String {
    let name = literal.atom.strip_prefix("defined(").and_then(|rest| rest.strip_suffix(')'));
    let name = name.filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    match (name, literal.holds) {
        (Some(name), true) => format!("#ifdef {name}"),
        (Some(name), false) => format!("#ifndef {name}"),
        (None, true) => format!("#if {}", literal.atom),
        (None, false) => format!("#if !({})", literal.atom),
    }
}

/// An assertion on one line, or on two if that one would be too long.
fn format_assertion(tag: &str, group: &str, member: &str) -> String {
    let whole = format!("\t{MACRO}(struct {tag}, {group}, {member});\n");
    if whole.len() - 2 + TAB <= COLUMNS {
        return whole;
    }
    let columns = TAB + MACRO.len() + 1;
    let indent = "\t".repeat(columns / TAB) + &" ".repeat(columns % TAB);
    format!("\t{MACRO}(struct {tag}, {group},\n{indent}{member});\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(name: &str, conditions: &[(&str, bool)]) -> CoveredMember {
        let literal =
            |(atom, holds): &(&str, bool)| ConditionLiteral { atom: (*atom).to_owned(), holds: *holds };
        CoveredMember { name: name.to_owned(), conditions: conditions.iter().map(literal).collect() }
    }

    #[test]
    fn members_keep_their_conditions() {
        let members = vec![
            covered("a", &[]),
            covered("b", &[("defined(X)", true)]),
            covered("c", &[("defined(X)", true), ("Y > 1", false)]),
            covered("d", &[("defined(X)", false)]),
        ];
        let assertions = [GroupAssertion { group: "s_read".into(), comment: "Hot".into(), members }];
        let want = "static void __init s_struct_check(void)\n{\n\t/* Hot */\n\
                    \tCACHELINE_ASSERT_GROUP_MEMBER(struct s, s_read, a);\n#ifdef X\n\
                    \tCACHELINE_ASSERT_GROUP_MEMBER(struct s, s_read, b);\n#if !(Y > 1)\n\
                    \tCACHELINE_ASSERT_GROUP_MEMBER(struct s, s_read, c);\n#endif\n#endif\n#ifndef X\n\
                    \tCACHELINE_ASSERT_GROUP_MEMBER(struct s, s_read, d);\n#endif\n}\n";
        assert_eq!(write_check_function("s", &assertions, CheckInvocation::Called), want);
        let own = write_check_function("s", &assertions, CheckInvocation::Initcall);
        assert!(own.starts_with("static int __init s_struct_check(void)\n"), "{own}");
        assert!(own.ends_with("#endif\n\n\treturn 0;\n}\ncore_initcall(s_struct_check);\n"), "{own}");
    }

    #[test]
    fn long_lines_are_broken_at_the_bracket() {
        let text = format_assertion(
            "some_long_structure",
            "some_long_structure_write_hot",
            "some_rather_long_member",
        );
        assert_eq!(
            text,
            "\tCACHELINE_ASSERT_GROUP_MEMBER(struct some_long_structure, some_long_structure_write_hot,\n\
             \t\t\t\t      some_rather_long_member);\n"
        );
    }
}
