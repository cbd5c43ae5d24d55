//! A struct's members in another order, as text. The programs declare one member a line, which makes this simple.
//! It shares no code with fieldline: it is what fieldline's own orders are judged by.

use super::corpus::Program;
use std::collections::BTreeSet;

/// All orders are tried of structs that have no more than this.
const MAX_ORDERS: u64 = 720;

/// The definition of a program's struct.
pub(super) struct Definition {
    /// The file that has it.
    pub(super) file: String,
    /// The members, each with its comments and its `#if`.
    pub(super) members: Vec<String>,
    /// The text up to the first member, and that behind the last: methods stand there.
    before: String,
    after: String,
}

impl Definition {
    pub(super) fn find(program: &Program) -> Option<Self> {
        program.files.iter().find_map(|(file, text)| {
            let (start, end) = find_body(text, &program.subject)?;
            let (mut before, mut members, mut after) = (text[..start].to_owned(), Vec::new(), String::new());
            for unit in split_units(&text[start..end]) {
                match (is_member(&unit, program.is_cpp()), members.is_empty()) {
                    (true, _) => members.push(unit),
                    (false, true) => before.push_str(&unit),
                    (false, false) => after.push_str(&unit),
                }
            }
            after.push_str(&text[end..]);
            Some(Self { file: file.clone(), members, before, after })
        })
    }

    /// The file's text with the members in this order.
    pub(super) fn reordered(&self, order: &[usize]) -> String {
        let members: String = order.iter().filter_map(|index| self.members.get(*index)).cloned().collect();
        format!("{}{members}{}", self.before, self.after)
    }
}

/// The byte range between the lines with the braces of the struct of a name.
fn find_body(text: &str, subject: &str) -> Option<(usize, usize)> {
    let open = find_tag(text, subject).or_else(|| find_typedef(text, subject))?;
    let start = open + text.get(open..)?.find('\n')? + 1;
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().skip(open) {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        if depth == 0 {
            return Some((start, text.get(..at)?.rfind('\n')? + 1));
        }
    }
    None
}

/// The opening brace of `struct TAG {`, also with attributes, bases or a brace in the next line.
fn find_tag(text: &str, subject: &str) -> Option<usize> {
    let heads = text.match_indices("struct ").chain(text.match_indices("class "));
    heads.map(|(at, _)| at).find_map(|at| {
        let line = text.get(..at)?.rsplit('\n').next()?;
        let open = at + text.get(at..)?.find('{')?;
        let head = text.get(at..open)?;
        // A tag in a comment or in a declaration of something else has more before the brace.
        let is_head =
            !line.contains("//") && !head.contains([';', '=', ',']) && !head.trim_end().contains('\n');
        let tag = head.split(':').next()?.trim_end().trim_end_matches(" final");
        (is_head && tag.ends_with(&format!(" {subject}")) && !tag.contains(") *")).then_some(open)
    })
}

/// The opening brace of `typedef struct { … } NAME;`.
fn find_typedef(text: &str, subject: &str) -> Option<usize> {
    let mut closing = text.match_indices("\n}");
    let end = closing.find_map(|(at, _)| {
        let names = text.get(at + 2..)?.split(';').next()?;
        let is_name = !names.contains(['\n', '{']);
        is_name.then_some(())?;
        names.split([' ', ',', '*']).any(|name| name == subject).then_some(at + 1)
    })?;
    let mut depth = 0;
    let mut bytes = text.bytes().enumerate().take(end + 1).rev();
    bytes.find_map(|(at, byte)| {
        depth += i32::from(byte == b'}') - i32::from(byte == b'{');
        (depth == 0).then_some(at)
    })
}

/// The lines of a body by declaration: comments stay with what follows them, and an `#if` with all up to its `#endif`.
fn split_units(body: &str) -> Vec<String> {
    let (mut units, mut unit, mut depth) = (Vec::new(), String::new(), 0);
    for line in body.split_inclusive('\n') {
        unit.push_str(line);
        let code = strip_comments(line);
        let code = code.trim();
        depth += code.matches(['{', '(']).count() as i32 - code.matches(['}', ')']).count() as i32;
        depth += i32::from(code.starts_with("#if")) - i32::from(code.starts_with("#endif"));
        let ends = code.ends_with([';', '}']) || code.ends_with(':') || code.starts_with("#endif");
        if depth == 0 && ends {
            units.push(std::mem::take(&mut unit));
        }
    }
    if !unit.is_empty() {
        units.push(unit);
    }
    units
}

/// A line without its comments. None goes on in the next line behind code.
fn strip_comments(line: &str) -> String {
    let line = line.split("//").next().unwrap_or(line);
    if line.trim_start().starts_with('*') && !line.contains("*/") {
        return String::new();
    }
    let mut code = String::new();
    for (index, part) in line.split("*/").enumerate() {
        if index == 0 && line.contains("*/") && !part.contains("/*") {
            continue;
        }
        code.push_str(part.split("/*").next().unwrap_or(part));
    }
    code
}

/// Whether a unit is a data member, not a method, a type or a label.
fn is_member(unit: &str, is_cpp: bool) -> bool {
    let code: String = unit.lines().map(strip_comments).collect();
    let code = code.trim();
    if code.is_empty() || code.ends_with(':') {
        return false;
    }
    let others = ["static ", "using ", "typedef ", "friend ", "template", "enum ", "virtual "];
    let is_plain = ["(*", "attribute__", "alignas", "decltype", "::*"].iter().any(|word| code.contains(word));
    !(is_cpp && (others.iter().any(|other| code.starts_with(other)) || (code.contains('(') && !is_plain)))
}

/// Orders of that many members but the declared one: all, or as many drawn ones as `limit` or [`MAX_ORDERS`] says. The
/// reverse order and rotations come first, since most programs break under these.
pub(super) fn orders(count: usize, limit: Option<u64>) -> Vec<Vec<usize>> {
    let declared: Vec<usize> = (0..count).collect();
    let mut seen = BTreeSet::from([declared.clone()]);
    let mut orders = vec![declared.iter().rev().copied().collect()];
    for shift in 1..count {
        orders.push((0..count).map(|index| (index + shift) % count).collect());
    }
    let limit = limit.unwrap_or(MAX_ORDERS);
    let all = (1..=count as u64).try_fold(1u64, u64::checked_mul).unwrap_or(u64::MAX);
    if all <= limit {
        orders.extend((0..all).map(|number| nth_order(count, number)));
    } else {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        orders.extend((0..limit).map(|_| nth_order(count, step(&mut state) % all)));
    }
    orders.retain(|order| seen.insert(order.clone()));
    orders.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    orders
}

/// The order of this number among all of them by lexicographic order.
fn nth_order(count: usize, mut number: u64) -> Vec<usize> {
    let mut left: Vec<usize> = (0..count).collect();
    let mut order = Vec::with_capacity(count);
    while !left.is_empty() {
        let rest: u64 = (1..left.len() as u64).product();
        let index = usize::try_from(number / rest).unwrap_or(0).min(left.len() - 1);
        number %= rest;
        order.push(left.remove(index));
    }
    order
}

/// The next number of xorshift64 (Marsaglia, Xorshift RNGs, 2003).
fn step(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safety::corpus::Kind;

    fn program(file: &str, text: &str) -> Program {
        Program {
            name: "p".to_owned(),
            kind: Kind::Safe,
            subject: "item".to_owned(),
            idiom: String::new(),
            files: vec![(file.to_owned(), text.to_owned())],
        }
    }

    #[test]
    fn members_change_places_with_their_comments() {
        let text = "struct item *f(void) {\n}\nstruct item {\n\t/* the\n\t * first */\n\tint a;\n\tunion {\n\t\tint b;\n\t};\n\
                    #ifdef C\n\tint c;\n#endif\n\tint (*d)(int); // d\n} x;\n";
        let definition = Definition::find(&program("p.c", text)).unwrap();
        let expected = "struct item *f(void) {\n}\nstruct item {\n\tint (*d)(int); // d\n#ifdef C\n\tint c;\n#endif\n\
                        \tunion {\n\t\tint b;\n\t};\n\t/* the\n\t * first */\n\tint a;\n} x;\n";
        assert_eq!(definition.reordered(&[3, 2, 1, 0]), expected);
    }

    #[test]
    fn typedefs_and_methods_are_found() {
        let text = "typedef struct {\n\tint a;\n\tlong b;\n} item, *items;\n";
        let definition = Definition::find(&program("p.c", text)).unwrap();
        assert_eq!(definition.reordered(&[1, 0]), "typedef struct {\n\tlong b;\n\tint a;\n} item, *items;\n");
        let text =
            "class item final : public base {\npublic:\n\tint a;\n\tint f() { return a; }\n\tlong b;\n};\n";
        let definition = Definition::find(&program("p.cc", text)).unwrap();
        let expected =
            "class item final : public base {\npublic:\n\tlong b;\n\tint a;\n\tint f() { return a; }\n};\n";
        assert_eq!(definition.reordered(&[1, 0]), expected);
    }

    #[test]
    fn every_order_is_tried_once() {
        let orders = orders(5, None);
        assert_eq!(orders.len(), 119);
        assert_eq!(orders[0], [4, 3, 2, 1, 0]);
        assert_eq!(orders.iter().collect::<BTreeSet<_>>().len(), 119);
        assert_eq!(super::orders(9, Some(100)).len(), 100);
    }
}
