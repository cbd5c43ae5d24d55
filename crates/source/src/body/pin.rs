//! Comments that say where a member must stand.

use super::comment::words;
use super::own::PieceKind;
use super::{Body, Shape};
use crate::scan::SourceText;

/// A member's place, and what fixes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// 1-based line of the words that say so.
    pub line: u32,
    /// Why it stays, as the end of a sentence.
    pub reason: String,
}

/// Words that make a wish a rule.
const RULES: &[&str] =
    &["must", "has", "have", "needs", "need", "keep", "always", "should", "shall", "leave"];

/// Words for a place that a rule can name.
const PLACES: &[&str] = &["first", "1st", "last", "end", "beginning", "start", "bottom", "offset"];

/// Words between a rule and its place that don't change its meaning.
const LINKS: &[&str] = &[
    "a",
    "absolutely",
    "all",
    "always",
    "are",
    "as",
    "at",
    "be",
    "been",
    "come",
    "element",
    "entry",
    "field",
    "go",
    "in",
    "is",
    "it",
    "member",
    "of",
    "on",
    "placed",
    "put",
    "remain",
    "stay",
    "struct",
    "structure",
    "that",
    "the",
    "them",
    "these",
    "this",
    "to",
    "very",
    "stays",
    "located",
    "kept",
    "aligned",
];

/// Phrases that forbid any move.
const PHRASES: &[&[&str]] = &[
    &["do", "not", "move"],
    &["don't", "move"],
    &["do", "not", "reorder"],
    &["don't", "reorder"],
    &["not", "be", "moved"],
    &["not", "be", "reordered"],
    &["order", "matters"],
    &["order", "is", "important"],
    &["change", "the", "order"],
    &["must", "precede"],
    &["must", "immediately", "follow"],
    &["must", "immediately", "precede"],
    &["must", "follow"],
    &["must", "be", "adjacent"],
    &["must", "be", "contiguous"],
    &["must", "be", "consecutive"],
    &["put", "anything", "below"],
    &["put", "anything", "after"],
    &["add", "anything", "below"],
    &["add", "anything", "after"],
    &["add", "fields", "after"],
    &["add", "fields", "below"],
    &["nothing", "after", "this"],
];

/// Pins statements whose comments or shape fix their place.
pub(crate) fn find_pins(body: &mut Body) {
    let mut found = Vec::new();
    for piece in &body.pieces {
        let PieceKind::Statements(statements) = &piece.kind else {
            continue;
        };
        let rule = piece.comments.iter().find_map(|token| rule(body.source, *token));
        if let Some((pin, count)) = rule {
            let last = statements.last().copied().unwrap_or(0);
            let more = (last + 1..body.statements.len()).take(count.saturating_sub(statements.len()));
            found.extend(statements.iter().copied().chain(more).map(|at| (at, pin.clone())));
        }
    }
    for (statement, pin) in found {
        if let Some(statement) = body.statements.get_mut(statement) {
            statement.pin.get_or_insert(pin);
        }
    }
    pin_by_shape(body);
}

fn pin_by_shape(body: &mut Body) {
    for statement in &mut body.statements {
        let reason = statement.declarators().iter().find_map(|member| match member.shape {
            Shape::Flexible => Some("an array without length keeps its place"),
            Shape::Marker => Some("it marks a place"),
            _ => None,
        });
        if let Some(reason) = reason {
            statement.pin.get_or_insert(Pin { line: statement.line, reason: reason.to_owned() });
        }
    }
}

/// The rule a comment states, and for how many members from its own on.
fn rule(source: &SourceText, comment: usize) -> Option<(Pin, usize)> {
    let text = source.text(comment);
    let words = words(text);
    let place = place(&words);
    let forbids = PHRASES.iter().any(|phrase| contains(&words, phrase));
    let count = match place {
        Some(at) => counted(words.get(at + 1).map(String::as_str)),
        None if forbids => 1,
        None => return None,
    };
    let shown: Vec<&str> = words.iter().take(12).map(String::as_str).collect();
    let pin =
        Pin { line: source.line_of(comment), reason: format!("its comment says \"{}\"", shown.join(" ")) };
    Some((pin, count))
}

fn counted(word: Option<&str>) -> usize {
    match word {
        Some("two" | "2") => 2,
        Some("three" | "3") => 3,
        Some("four" | "4") => 4,
        _ => 1,
    }
}

/// Index of a word for a place that a rule word governs.
fn place(words: &[String]) -> Option<usize> {
    (0..words.len()).find(|at| {
        let is_place = PLACES.contains(&words[*at].as_str());
        is_place && governed(words.get(..*at).unwrap_or(&[])) && !is_of_something(words, *at)
    })
}

/// Whether the words before a place lead back to a rule word.
fn governed(before: &[String]) -> bool {
    let rule = before.iter().rev().find(|word| !LINKS.contains(&word.as_str()));
    rule.is_some_and(|word| RULES.contains(&word.as_str()))
}

/// Whether an "offset", "start" or "end" is one of something else, as in `must be the start of the page`.
fn is_of_something(words: &[String], at: usize) -> bool {
    let next = words.get(at + 1).map(String::as_str);
    let after = words.get(at + 2).map(String::as_str);
    match words[at].as_str() {
        "offset" => !matches!(next, Some("0" | "zero")),
        "end" | "start" | "beginning" | "bottom" => {
            let owner = words.get(at + 3).map(String::as_str);
            let names_struct = |word: Option<&str>| matches!(word, Some("struct" | "structure" | "this"));
            next == Some("of") && !names_struct(after) && !names_struct(owner)
        }
        _ => false,
    }
}

fn contains(words: &[String], phrase: &[&str]) -> bool {
    words.windows(phrase.len()).any(|window| window.iter().eq(phrase.iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pins(comment: &str) -> Option<usize> {
        let source = SourceText::new(comment.as_bytes());
        rule(&source, 0).map(|(_, count)| count)
    }

    #[test]
    fn rules_pin() {
        for comment in [
            "/* must be first */",
            "/* Must be the very first member */",
            "/* has to be the first member of inet_sock */",
            "/* Keep last */",
            "/* keep this last */",
            "/* WARNING: on x86 this MUST be at the end of this structure */",
            "/*\n * must be at the end of the struct\n */",
            "/* Do not put anything below here! */",
            "/* must be last entry: flexible array */",
            "/* must be at offset 0 */",
            "/* do not reorder */",
        ] {
            assert_eq!(pins(comment), Some(1), "{comment}");
        }
        assert_eq!(pins("/* sk and pinet6 has to be the first two members of it */"), Some(2));
    }

    #[test]
    fn other_comments_do_not() {
        for comment in [
            "/* first entry of the list */",
            "/* must be held when the last user leaves */",
            "/* last time we looked */",
            "/* must be set before the start of the page */",
            "/* Per entity load average tracking. */",
            "/* must be the start of the page */",
        ] {
            assert_eq!(pins(comment), None, "{comment}");
        }
    }
}
