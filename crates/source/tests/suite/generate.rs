//! Random structs, and a preprocessor small enough to trust.

use fieldline_source::{DeclaredMembers, ExpectedMember, MemberShape, StructBody, TextConstraints};
use proptest::prelude::*;

/// Macros of the generated text; a configuration is a set of their bits.
const MACROS: [&str; 3] = ["CONFIG_A", "CONFIG_B", "CONFIG_C"];

/// A struct `sample`, and the configuration debug info was made in.
#[derive(Clone, Debug)]
pub(crate) struct GeneratedStruct {
    items: Vec<GeneratedItem>,
    /// Bit `n` defines the `n`-th macro.
    pub(crate) config: u8,
    ends: &'static str,
    has_final_newline: bool,
}

#[derive(Clone, Debug)]
enum GeneratedItem {
    Member(u8),
    Blank,
    Comment(u8),
    If { condition: u8, arm: Vec<Self>, other: Option<Vec<Self>> },
}

fn item() -> impl Strategy<Value = GeneratedItem> {
    let leaf = prop_oneof![
        8 => (0u8..9).prop_map(GeneratedItem::Member),
        2 => Just(GeneratedItem::Blank),
        2 => (0u8..4).prop_map(GeneratedItem::Comment),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let arm = prop::collection::vec(inner.clone(), 0..5);
        let other = prop::option::weighted(0.25, prop::collection::vec(inner, 0..4));
        (0u8..6, arm, other).prop_map(|(condition, arm, other)| GeneratedItem::If { condition, arm, other })
    })
}

/// Any program.
pub(crate) fn program() -> impl Strategy<Value = GeneratedStruct> {
    let items = prop::collection::vec(item(), 1..14);
    (items, 0u8..8, any::<bool>(), any::<bool>()).prop_map(|(items, config, crlf, has_final_newline)| {
        GeneratedStruct { items, config, ends: if crlf { "\r\n" } else { "\n" }, has_final_newline }
    })
}

impl GeneratedStruct {
    /// Its text.
    pub(crate) fn text(&self) -> Vec<u8> {
        let mut lines = vec!["/* sample */".to_owned(), "struct sample {".to_owned()];
        let mut number = 0;
        for item in &self.items {
            write(item, &mut lines, &mut number);
        }
        lines.push("};".to_owned());
        let mut text = lines.join(self.ends);
        if self.has_final_newline {
            text.push_str(self.ends);
        }
        text.into_bytes()
    }

    /// The members of debug info.
    pub(crate) fn members(&self) -> Vec<ExpectedMember> {
        let names = active(&self.text(), self.config);
        names.iter().map(|name| ExpectedMember::named(name)).collect()
    }
}

fn write(item: &GeneratedItem, lines: &mut Vec<String>, number: &mut usize) {
    match item {
        GeneratedItem::Member(shape) => {
            *number += 1;
            lines.extend(member(*shape, *number));
        }
        GeneratedItem::Blank => lines.push(String::new()),
        GeneratedItem::Comment(shape) => {
            *number += 1;
            lines.extend(comment(*shape, *number));
        }
        GeneratedItem::If { condition, arm, other } => {
            let name = MACROS[usize::from(condition % 3)];
            lines.push(match condition / 3 {
                0 => format!("#ifdef {name}"),
                _ => format!("#ifndef {name}"),
            });
            arm.iter().for_each(|item| write(item, lines, number));
            if let Some(other) = other {
                lines.push("#else".to_owned());
                other.iter().for_each(|item| write(item, lines, number));
            }
            lines.push(if condition % 2 == 0 { "#endif".to_owned() } else { format!("#endif /* {name} */") });
        }
    }
}

fn member(shape: u8, number: usize) -> Vec<String> {
    let text = match shape {
        0 => format!("\tint m{number};"),
        1 => format!("\tlong\t\tm{number};\t/* about m{number} */"),
        2 => format!("\tstruct t *m{number};\t/* about m{number},\n\t\t\t\t * at length */"),
        3 => format!("\t/* above m{number} */\n\tchar m{number}[4] ____cacheline_aligned;"),
        4 => format!("\tvoid (*m{number})(int, long);"),
        5 => format!("\tstruct {{\n\t\tint inner{number};\n\t\tint more;\n\t}} m{number};"),
        6 => format!("\tint m{number}, n{number};"),
        7 => format!("\tDECLARE_BITMAP(m{number}, 8);\n\t\t\t\t\t/* behind m{number} */"),
        _ => format!("\tunsigned m{number}:3;"),
    };
    text.split('\n').map(str::to_owned).collect()
}

fn comment(shape: u8, number: usize) -> Vec<String> {
    let text = match shape {
        0 => format!("\t/* comment {number} */"),
        1 => format!("\t// comment {number}"),
        2 => format!("\t/*\n\t * comment {number}\n\t */"),
        _ => format!("/* comment {number} */"),
    };
    text.split('\n').map(str::to_owned).collect()
}

/// Members of the text in a configuration, in order.
pub(crate) fn active(text: &[u8], config: u8) -> Vec<String> {
    all(text).into_iter().filter(|(_, path)| holds(path, config)).map(|(name, _)| name).collect()
}

/// Every member with the conditions around it, both sorted.
pub(crate) fn declarations(text: &[u8]) -> Vec<(String, Vec<(String, bool)>)> {
    let mut all = all(text);
    all.iter_mut().for_each(|(_, path)| path.sort());
    all.sort();
    all
}

fn holds(path: &[(String, bool)], config: u8) -> bool {
    path.iter().all(|(name, wanted)| {
        let bit = MACROS.iter().position(|known| known == name).unwrap();
        (config >> bit & 1 == 1) == *wanted
    })
}

/// Reads the generated text line by line: names are `m<n>` and `n<n>` outside comments, in their first line.
fn all(text: &[u8]) -> Vec<(String, Vec<(String, bool)>)> {
    let text = String::from_utf8(text.to_vec()).unwrap();
    let mut path: Vec<(String, bool)> = Vec::new();
    let mut found = Vec::new();
    for line in without_comments(&text).lines() {
        let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '#').collect();
        match words.first().copied() {
            Some("#ifdef") => path.push((words[1].to_owned(), true)),
            Some("#ifndef") => path.push((words[1].to_owned(), false)),
            Some("#else") => path.last_mut().unwrap().1 ^= true,
            Some("#endif") => drop(path.pop().unwrap()),
            _ => {
                let names = words.iter().filter(|word| is_name(word));
                found.extend(names.map(|name| ((*name).to_owned(), path.clone())));
            }
        }
    }
    assert!(path.is_empty(), "{text}");
    found
}

fn is_name(word: &str) -> bool {
    let digits = word.strip_prefix(['m', 'n']);
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        let end = start + rest[start..].find("*/").unwrap() + 2;
        out.push_str(&rest[..start]);
        out.extend(rest[start..end].chars().filter(|c| *c == '\n'));
        rest = &rest[end..];
    }
    out.push_str(rest);
    let lines = out.lines().map(|line| line.split("//").next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

/// Numbers that follow from a seed (xorshift64).
fn randoms(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Any order.
pub(crate) fn permutation(count: usize, seed: u64) -> Vec<usize> {
    let mut random = randoms(seed);
    let mut keyed: Vec<(u64, usize)> = (0..count).map(|index| (random(), index)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, index)| index).collect()
}

/// An order that keeps the constraints: units shuffled within their zones.
pub(crate) fn shuffled(constraints: &TextConstraints, seed: u64) -> Vec<usize> {
    let mut random = randoms(seed);
    let units = constraints.units.iter();
    let mut keyed: Vec<(u32, u64, Vec<usize>)> = units
        .map(|unit| {
            let zone = constraints.members[unit.members.start].zone;
            (zone, random(), unit.members.clone().collect())
        })
        .collect();
    keyed.sort();
    keyed.into_iter().flat_map(|(_, _, members)| members).collect()
}

/// The members a body declares if every condition holds that can: an expectation that needs no debug info.
pub(crate) fn expected(body: &StructBody) -> Vec<ExpectedMember> {
    let active = body.statements().iter().filter(|statement| {
        let conditions = body.conditions(statement);
        conditions.iter().all(|condition| condition.holds) && statement.declared != DeclaredMembers::Unknown
    });
    let members = active.flat_map(|statement| statement.declarators());
    members
        .filter(|member| member.shape != MemberShape::UnnamedBits && !member.is_optional)
        .map(|member| match &member.name {
            Some(name) => ExpectedMember::named(name),
            None => ExpectedMember::unnamed(),
        })
        .collect()
}
