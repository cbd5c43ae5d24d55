//! Comments that say where a member must stand.

use super::attribute::is_tag_keyword;
use super::comment::words;
use super::member::MemberShape;
use super::statement::{FixedPlace, Piece, PieceKind};
use super::whole::Body;
use crate::definition::lossy;
use crate::scan::{SourceText, TokenKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Words that make a wish a rule.
const RULES: &str = "must has have needs need keep always should shall leave";

/// Words for a place that a rule can name.
const PLACES: &str = "first 1st last end beginning start bottom offset";

/// Words between a rule and its place that don't change its meaning.
const LINKS: &str = "\
    a absolutely all always are as at be been come element entry field go in is it member of on placed \
    put remain stay struct structure that the them these this to very stays located kept aligned";

/// Phrases that forbid any move.
const PHRASES: &str = "\
    do not move, don't move, do not reorder, don't reorder, not be moved, not be reordered, \
    order matters, order is important, change the order, must precede, must immediately follow, \
    must immediately precede, must follow, must be adjacent, must be contiguous, must be consecutive, \
    put anything below, put anything after, add anything below, add anything after, add fields after, \
    add fields below, nothing after this";

/// Words around a rule that a message shows.
const SHOWN: usize = 4;

/// How many members a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// This many, from its own on.
    Count(usize),
    /// All up to the next blank line or comment.
    Paragraph,
}

/// Pins statements whose comments or shape fix their place.
pub(crate) fn find_pins(body: &mut Body) {
    let mut found = Vec::new();
    for (index, piece) in body.pieces.iter().enumerate() {
        let PieceKind::Statements(statements) = &piece.kind else { continue };
        let rule = piece.comments.iter().find_map(|token| rule(body.source, *token));
        if let Some((pin, reach)) = rule {
            let more = reached(body, index, reach, statements);
            found.extend(statements.iter().copied().chain(more).map(|at| (at, pin.clone())));
        }
    }
    for (statement, pin) in found {
        if let Some(statement) = body.statements.get_mut(statement) {
            statement.pin.get_or_insert(pin);
        }
    }
    pin_by_inner(body);
    pin_by_end(body);
    pin_by_shape(body);
    pin_by_use(body);
}

/// Pins unnamed structs and unions by comments inside: their members are the outer struct's.
fn pin_by_inner(body: &mut Body) {
    let source = body.source;
    for statement in &mut body.statements {
        let mut declarators = statement.declarators().iter();
        if !declarators.any(|member| member.name.is_none() && member.shape == MemberShape::Aggregate) {
            continue;
        }
        let is_comment = |at: &usize| source.token(*at).is_some_and(|token| token.kind == TokenKind::Comment);
        let found = statement.tokens.clone().filter(is_comment).find_map(|comment| rule(source, comment));
        if let Some((pin, _)) = found {
            statement.pin.get_or_insert(pin);
        }
    }
}

/// Pins the last statement by a comment below it, such as `/* Do not put anything below here! */`.
fn pin_by_end(body: &mut Body) {
    let is_statement = |piece: &Piece| matches!(piece.kind, PieceKind::Statements(_));
    let behind = body.pieces.iter().rposition(is_statement).map_or(0, |last| last + 1);
    let pieces = body.pieces.get(behind..).unwrap_or_default().iter();
    let comments = pieces.filter(|piece| piece.kind == PieceKind::Comment).flat_map(|piece| &piece.comments);
    let found = comments.filter_map(|comment| rule(body.source, *comment)).next();
    if let (Some((pin, _)), Some(last)) = (found, body.statements.last_mut()) {
        last.pin.get_or_insert(pin);
    }
}

/// Statements behind a rule's own that it is about too.
fn reached(body: &Body, piece: usize, reach: Reach, own: &[usize]) -> Vec<usize> {
    let next = own.last().map_or(0, |last| last + 1);
    match reach {
        Reach::Count(count) => (next..body.statements.len()).take(count.saturating_sub(own.len())).collect(),
        Reach::Paragraph => {
            let below = body.pieces.get(piece + 1..).unwrap_or_default().iter();
            let below =
                below.take_while(|piece| piece.blank_before == 0 && !begins_with_comment(body, piece));
            below
                .map_while(|piece| match &piece.kind {
                    PieceKind::Statements(statements) => Some(statements.clone()),
                    _ => None,
                })
                .flatten()
                .collect()
        }
    }
}

/// Whether the first line of a piece is a comment of its own.
fn begins_with_comment(body: &Body, piece: &Piece) -> bool {
    let first = piece.comments.first().and_then(|token| body.source.token(*token));
    let lines = body.source.lines();
    first.is_some_and(|comment| {
        let line = lines.index(comment.start);
        let before = body.source.slice(lines.start(line)..comment.start);
        line == piece.lines.start && before.iter().all(u8::is_ascii_whitespace)
    })
}

fn pin_by_shape(body: &mut Body) {
    for statement in &mut body.statements {
        let reason = statement.declarators().iter().find_map(|member| match member.shape {
            MemberShape::Flexible => Some("an array without length keeps its place"),
            MemberShape::Marker => Some("it marks a place"),
            _ => None,
        });
        if let Some(reason) = reason {
            statement.pin.get_or_insert(FixedPlace { line: statement.line, reason: reason.to_owned() });
        }
    }
}

/// Pins declarations that define a type or constant another declaration of the body names: that one must stay behind.
fn pin_by_use(body: &mut Body) {
    let mut users: BTreeMap<&[u8], BTreeSet<usize>> = BTreeMap::new();
    for (index, statement) in body.statements.iter().enumerate() {
        for word in statement.tokens.clone().filter_map(|token| body.source.word(token)) {
            users.entry(word).or_default().insert(index);
        }
    }
    for statement in &mut body.statements {
        let defined = defined_names(body.source, statement.tokens.clone());
        let used = defined.into_iter().find(|name| users.get(name).is_some_and(|users| users.len() > 1));
        if let Some(name) = used {
            let reason = format!("other declarations use `{}`, which it defines", lossy(name));
            statement.pin.get_or_insert(FixedPlace { line: statement.line, reason });
        }
    }
}

/// Tags and enumeration constants that a declaration defines.
fn defined_names<'t>(source: &SourceText<'t>, tokens: Range<usize>) -> Vec<&'t [u8]> {
    let mut names = Vec::new();
    for keyword in tokens.clone().filter(|at| source.word(*at).is_some_and(is_tag_keyword)) {
        let tag = source.skip_silent(keyword + 1, tokens.end);
        let after = source.skip_silent(tag + 1, tokens.end);
        let open = if source.is_punct(tag, b'{') { tag } else { after };
        if !source.is_punct(open, b'{') {
            continue;
        }
        names.extend(source.word(tag));
        if source.text(keyword) == b"enum" {
            let inside = open..source.partner(open).unwrap_or(open).min(tokens.end);
            let begins = |at: &usize| source.is_punct(*at, b'{') || source.is_punct(*at, b',');
            let constants = inside.clone().filter(begins);
            names.extend(constants.filter_map(|at| source.word(source.skip_silent(at + 1, inside.end))));
        }
    }
    names
}

/// The rule a comment states, and how far it reaches.
fn rule(source: &SourceText, comment: usize) -> Option<(FixedPlace, Reach)> {
    let words = words(source.text(comment));
    let place = place(&words);
    let at = place.or_else(|| PHRASES.split(", ").find_map(|phrase| find(&words, phrase)))?;
    let reach = match place.and_then(|at| counted(words.get(at + 1))) {
        Some(count) => Reach::Count(count),
        None if words.iter().any(|word| is_plural(word)) => Reach::Paragraph,
        None => Reach::Count(1),
    };
    let shown = words.get(at.saturating_sub(SHOWN)..words.len().min(at + SHOWN));
    let reason = format!("its comment says \"{}\"", shown.unwrap_or_default().join(" "));
    let line = source.line_of(comment);
    Some((FixedPlace { line, reason }, reach))
}

fn counted(word: Option<&String>) -> Option<usize> {
    match word?.as_str() {
        "two" | "2" => Some(2),
        "three" | "3" => Some(3),
        "four" | "4" => Some(4),
        _ => None,
    }
}

fn is_plural(word: &str) -> bool {
    matches!(word, "these" | "fields" | "members" | "elements")
}

fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

/// Index of a word for a place that a rule word governs.
fn place(words: &[String]) -> Option<usize> {
    (0..words.len()).find(|at| {
        let is_place = is_among(PLACES, &words[*at]);
        is_place && governed(words.get(..*at).unwrap_or(&[])) && !is_of_something(words, *at)
    })
}

/// Whether the words before a place lead back to a rule word.
fn governed(before: &[String]) -> bool {
    let rule = before.iter().rev().find(|word| !is_among(LINKS, word));
    rule.is_some_and(|word| is_among(RULES, word))
}

/// Whether an "offset", "start" or "end" is none of the struct's, as in `must be the start of the page`, or no place
/// at all, as in `should start`.
fn is_of_something(words: &[String], at: usize) -> bool {
    let word = |at: usize| words.get(at).map(String::as_str);
    match word(at) {
        Some("offset") => !matches!(word(at + 1), Some("0" | "zero")),
        Some("end" | "start" | "beginning" | "bottom") => {
            let is_verb = !matches!(word(at.wrapping_sub(1)), Some("the" | "at" | "very"));
            let names_struct = |at| matches!(word(at), Some("struct" | "structure" | "this"));
            is_verb || (word(at + 1) == Some("of") && !names_struct(at + 2) && !names_struct(at + 3))
        }
        _ => false,
    }
}

fn find(words: &[String], phrase: &str) -> Option<usize> {
    words.windows(phrase.split(' ').count()).position(|window| window.iter().eq(phrase.split(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pins(comment: &str) -> Option<Reach> {
        let source = SourceText::new(comment.as_bytes());
        rule(&source, 0).map(|(_, reach)| reach)
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
            assert_eq!(pins(comment), Some(Reach::Count(1)), "{comment}");
        }
        assert_eq!(pins("/* sk and pinet6 has to be the first two members of it */"), Some(Reach::Count(2)));
        assert_eq!(pins("/* These elements must be at the end */"), Some(Reach::Paragraph));
    }

    /// Names of the members that a struct's text pins.
    fn pinned(text: &str) -> Vec<String> {
        let source = SourceText::new(text.as_bytes());
        let definition = source.find(&crate::Query::named("s")).unwrap();
        let body = Body::parse(&source, &definition).unwrap();
        let pinned = body.statements().iter().filter(|statement| statement.pin.is_some());
        pinned.map(|statement| statement.label(&source)).collect()
    }

    #[test]
    fn comments_below_the_last_member_pin_it() {
        let text =
            "struct s {\n\tint a;\n\tint b;\n\n\t/*\n\t * Do not put anything below here!\n\t */\n};\n";
        assert_eq!(pinned(text), ["`b`"]);
        assert_eq!(
            pinned(&text.replace("Do not put anything below here", "Statistics are elsewhere")),
            [] as [&str; 0]
        );
    }

    #[test]
    fn comments_inside_unnamed_members_pin_them() {
        let text = "struct s {\n\tunion {\n\t\tstruct {\n\t\t\t/* These two members must be first. */\n\t\t\t\
                    int *next;\n\t\t};\n\t\tlong l;\n\t};\n\tint a;\n};\n";
        assert_eq!(pinned(text), ["an unnamed member"]);
        assert_eq!(pinned(&text.replace("};\n\tint a", "} u;\n\tint a")), [] as [&str; 0]);
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
            "/* pfn where the scanner should start */",
        ] {
            assert_eq!(pins(comment), None, "{comment}");
        }
    }
}
