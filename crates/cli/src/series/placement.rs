//! Where members lie before and after a change, in the shape of pahole's text.

use fieldline_plan::StructPlan;
use fieldline_plan::result::{Arrangement, PlacedMember};
use std::fmt::Write;

/// Columns of a member's type, and of its type and name together.
const TYPE_COLUMNS: usize = 26;
const DECLARATION_COLUMNS: usize = 50;

/// Both layouts of a struct, with boundaries of lines of `line` bytes. No line begins with what `git am` takes for a
/// diff: all but the first of each layout are indented.
pub(super) fn describe(plan: &StructPlan, line: u64) -> String {
    let mut out = String::new();
    for (when, layout) in [("before", &plan.declared), ("after", &plan.chosen)] {
        write_arrangement(&mut out, &format!("struct {} {{ /* {when} */", plan.name), layout, line);
        out.push('\n');
    }
    out
}

/// One layout of a struct behind its `head`, with boundaries of lines of `line` bytes.
pub(crate) fn write_arrangement(out: &mut String, head: &str, layout: &Arrangement, line: u64) {
    let _ = writeln!(out, "{head}");
    write_members(out, layout, line);
    out.push_str("};\n");
}

fn write_members(out: &mut String, layout: &Arrangement, line: u64) {
    let (mut end, mut boundary, mut holes) = (0, 0, 0);
    for member in &layout.members {
        let (first, last) = bits(member);
        let hole = (first / 8).saturating_sub(end_byte(end));
        if hole > 0 {
            let _ = writeln!(out, "\n\t/* XXX {hole} bytes hole */");
        }
        holes += hole;
        let number = member.offset / line.max(1);
        if number > boundary {
            let _ = writeln!(out, "\t/* --- cacheline {number} boundary ({} bytes) --- */", number * line);
            boundary = number;
        }
        let place = match (member.bit_offset, member.bit_size) {
            (Some(start), Some(width)) => format!("{:>5}:{} {width:>3} bits", start / 8, start % 8),
            _ => format!("{:>5} {:>5}", member.offset, member.size),
        };
        let declaration = declare(&member.type_name, member.name.as_deref().unwrap_or_default());
        let _ = writeln!(out, "\t{declaration:<DECLARATION_COLUMNS$} /* {place} */");
        end = end.max(last);
    }
    let padding = layout.size.saturating_sub(end_byte(end));
    let lines = layout.size.div_ceil(line.max(1));
    let members = layout.members.len();
    let _ = writeln!(out, "\n\t/* size: {}, cachelines: {lines}, members: {members} */", layout.size);
    let _ = writeln!(out, "\t/* holes: {holes} bytes, padding: {padding} bytes */");
}

/// The first bit of a member, and the bit behind its last.
fn bits(member: &PlacedMember) -> (u64, u64) {
    let first = member.bit_offset.unwrap_or_else(|| member.offset.saturating_mul(8));
    let size = member.bit_size.unwrap_or_else(|| member.size.saturating_mul(8));
    (first, first.saturating_add(size))
}

fn end_byte(bit: u64) -> u64 {
    bit.div_ceil(8)
}

/// A declaration of a name with a type as C spells it: behind the asterisk of a pointer to a function, in front of the
/// lengths of an array.
fn declare(type_name: &str, name: &str) -> String {
    // Mails stay plain ASCII wherever names are.
    let type_name = type_name.replace('\u{2026}', "...");
    let column = |head: &str, rest: &str| format!("{head:<TYPE_COLUMNS$} {name}{rest};");
    if name.is_empty() {
        return format!("{type_name};");
    }
    match (type_name.find("(*"), type_name.find('[')) {
        (Some(at), _) => {
            let (head, tail) = type_name.split_at(at + 2);
            format!("{head}{name}{tail};")
        }
        (None, Some(at)) => {
            let (head, tail) = type_name.split_at(at);
            column(head.trim_end(), tail)
        }
        (None, None) => column(&type_name, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_where_c_has_them() {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&declare("u64", "a")), "u64 a;");
        assert_eq!(words(&declare("int[4][2]", "a")), "int a[4][2];");
        assert_eq!(declare("void (*)(struct work *)", "f"), "void (*f)(struct work *);");
        assert_eq!(words(&declare("struct {\u{2026}}", "a")), "struct {...} a;");
        assert_eq!(declare("union {...}", ""), "union {...};");
    }

    #[test]
    fn holes_boundaries_and_padding_are_shown() {
        let member = |offset: u64, size: u64| PlacedMember {
            index: 0,
            name: Some(format!("m{offset}")),
            type_name: "x".to_owned(),
            offset,
            size,
            bit_offset: None,
            bit_size: None,
            line: None,
            inherited: false,
        };
        let layout = Arrangement { size: 80, members: vec![member(0, 4), member(8, 56), member(64, 8)] };
        let mut text = String::new();
        write_members(&mut text, &layout, 64);
        assert!(text.contains("XXX 4 bytes hole"), "{text}");
        assert!(text.contains("cacheline 1 boundary (64 bytes)"), "{text}");
        assert!(text.contains("size: 80, cachelines: 2, members: 3"), "{text}");
        assert!(text.contains("holes: 4 bytes, padding: 8 bytes"), "{text}");
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with('\t')), "{text}");
    }
}
