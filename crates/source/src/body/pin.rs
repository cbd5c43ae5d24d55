//! Comments that say where a member must stand.

use super::attribute::is_tag_keyword;
use super::comment::words;
use super::statement::{BodyPiece, FixedPlace, MemberShape, PieceKind, Statement};
use crate::definition::lossy;
use crate::scan::{SourceText, TokenKind};
use std::collections::{BTreeMap, BTreeSet};

/// Words that make a rule of a comment.
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
const CONTEXT_WORDS: usize = 4;

/// How many members a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RuleReach {
    /// This many, from its own on.
    Count(usize),
    /// All up to the next blank line or comment.
    Paragraph,
}

/// Pins statements whose comments or shape fix their place.
pub(crate) fn find_pins(source: &SourceText, statements: &mut [Statement], pieces: &[BodyPiece]) {
    let mut ruled = find_comment_pins(source, statements.len(), pieces);
    let mut below = find_pin_below_last(source, pieces);
    let users = index_words(source, statements);
    let last = statements.len();
    for (number, statement) in (1..).zip(statements) {
        let pin = ruled.remove(&(number - 1)).or_else(|| find_inner_pin(source, statement));
        let pin = pin.or_else(|| below.take_if(|_| number == last)).or_else(|| find_shape_pin(statement));
        statement.pin = pin.or_else(|| find_use_pin(source, statement, &users));
    }
}

/// Pins by comments on their own statements, and on those behind (of `count`) that they are about too.
fn find_comment_pins(source: &SourceText, count: usize, pieces: &[BodyPiece]) -> BTreeMap<usize, FixedPlace> {
    let mut found = BTreeMap::new();
    for (index, piece) in pieces.iter().enumerate() {
        let PieceKind::Statements(own) = &piece.kind else { continue };
        let rule = piece.comments.iter().find_map(|token| parse_rule(source, *token));
        let Some((pin, reach)) = rule else { continue };
        let next = own.last().map_or(0, |last| last + 1);
        let more: Vec<usize> = match reach {
            RuleReach::Count(members) => (next..count).take(members.saturating_sub(own.len())).collect(),
            RuleReach::Paragraph => {
                let belongs = |at: &BodyPiece| at.blank_before == 0 && !begins_with_comment(source, at);
                let below = pieces[index + 1..].iter().map_while(|piece| match &piece.kind {
                    PieceKind::Statements(statements) if belongs(piece) => Some(statements),
                    _ => None,
                });
                below.flatten().copied().collect()
            }
        };
        for at in own.iter().copied().chain(more) {
            found.entry(at).or_insert_with(|| pin.clone());
        }
    }
    found
}

/// Whether the first line of a piece is a comment of its own.
fn begins_with_comment(source: &SourceText, piece: &BodyPiece) -> bool {
    piece.comments.first().is_some_and(|comment| {
        let start = source.start(*comment);
        source.lines().index(start) == piece.lines.start && source.begins_line(start)
    })
}

/// The pin by a comment inside an unnamed struct or union: its members are the outer struct's.
fn find_inner_pin(source: &SourceText, statement: &Statement) -> Option<FixedPlace> {
    let mut declarators = statement.declarators().iter();
    declarators.find(|member| member.name.is_none() && member.shape == MemberShape::Aggregate)?;
    let mut comments = statement.tokens.clone().filter(|at| source.kind(*at) == Some(TokenKind::Comment));
    comments.find_map(|comment| parse_rule(source, comment)).map(|(pin, _)| pin)
}

/// The pin by a comment below the last statement, such as `/* Do not put anything below here! */`.
fn find_pin_below_last(source: &SourceText, pieces: &[BodyPiece]) -> Option<FixedPlace> {
    let is_statement = |piece: &&BodyPiece| matches!(piece.kind, PieceKind::Statements(_));
    let behind: Vec<&BodyPiece> = pieces.iter().rev().take_while(|piece| !is_statement(piece)).collect();
    let comments = behind.into_iter().rev().filter(|piece| piece.kind == PieceKind::Comment);
    let mut comments = comments.flat_map(|piece| &piece.comments);
    comments.find_map(|comment| parse_rule(source, *comment)).map(|(pin, _)| pin)
}

fn find_shape_pin(statement: &Statement) -> Option<FixedPlace> {
    let reason = statement.declarators().iter().find_map(|member| match member.shape {
        MemberShape::Flexible => Some("an array without length keeps its place"),
        MemberShape::Marker => Some("it marks a place"),
        _ => None,
    })?;
    Some(FixedPlace { line: statement.line, reason: reason.to_owned() })
}

/// Which statements have a word, for each.
type WordUsers<'t> = BTreeMap<&'t [u8], BTreeSet<u32>>;

fn index_words<'t>(source: &SourceText<'t>, statements: &[Statement]) -> WordUsers<'t> {
    let mut users = WordUsers::new();
    for (number, statement) in (0..).zip(statements) {
        for word in statement.tokens.clone().filter_map(|token| source.word(token)) {
            users.entry(word).or_default().insert(number);
        }
    }
    users
}

/// A declaration stays if it defines a type or constant that another one of the body names.
fn find_use_pin(source: &SourceText, statement: &Statement, users: &WordUsers<'_>) -> Option<FixedPlace> {
    let mut defined = defined_names(source, statement.tokens.clone()).into_iter();
    let name = defined.find(|name| users.get(name).is_some_and(|users| users.len() > 1))?;
    let reason = format!("other declarations use `{}`, which it defines", lossy(name));
    Some(FixedPlace { line: statement.line, reason })
}

/// Tags and enumeration constants that a declaration defines.
fn defined_names<'t>(source: &SourceText<'t>, tokens: std::ops::Range<usize>) -> Vec<&'t [u8]> {
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
fn parse_rule(source: &SourceText, comment: usize) -> Option<(FixedPlace, RuleReach)> {
    let words = words(source.text(comment));
    let place = find_place_word(&words);
    let at = place.or_else(|| PHRASES.split(", ").find_map(|phrase| find_phrase(&words, phrase)))?;
    let reach = match place.and_then(|at| parse_count(words.get(at + 1)?)) {
        Some(count) => RuleReach::Count(count),
        None if words.iter().any(|word| is_among("these fields members elements", word)) => {
            RuleReach::Paragraph
        }
        None => RuleReach::Count(1),
    };
    let shown = words.get(at.saturating_sub(CONTEXT_WORDS)..words.len().min(at + CONTEXT_WORDS));
    let reason = format!("its comment says \"{}\"", shown.unwrap_or_default().join(" "));
    let line = source.line_of(comment);
    Some((FixedPlace { line, reason }, reach))
}

fn parse_count(word: &str) -> Option<usize> {
    let numbers = [(2, "two 2"), (3, "three 3"), (4, "four 4")];
    numbers.into_iter().find(|(_, names)| is_among(names, word)).map(|(number, _)| number)
}

fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|entry| entry == word)
}

/// Index of a word for a place that a rule word governs.
fn find_place_word(words: &[String]) -> Option<usize> {
    (0..words.len()).find(|at| {
        let is_place = is_among(PLACES, &words[*at]);
        // The words before it lead back to a rule word.
        let rule = || words[..*at].iter().rev().find(|word| !is_among(LINKS, word));
        is_place && rule().is_some_and(|word| is_among(RULES, word)) && !is_other_place(words, *at)
    })
}

/// Whether a place is none of the struct's, as in `must be the start of the page`, or no place, as in
/// `should start`.
fn is_other_place(words: &[String], at: usize) -> bool {
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

fn find_phrase(words: &[String], phrase: &str) -> Option<usize> {
    words.windows(phrase.split(' ').count()).position(|window| window.iter().eq(phrase.split(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_reach(comment: &str) -> Option<RuleReach> {
        let source = SourceText::new(comment.as_bytes());
        parse_rule(&source, 0).map(|(_, reach)| reach)
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
            assert_eq!(parse_reach(comment), Some(RuleReach::Count(1)), "{comment}");
        }
        assert_eq!(
            parse_reach("/* sk and pinet6 has to be the first two members of it */"),
            Some(RuleReach::Count(2))
        );
        assert_eq!(parse_reach("/* These elements must be at the end */"), Some(RuleReach::Paragraph));
    }

    /// Names of the members that a struct's text pins.
    fn pinned(text: &str) -> Vec<String> {
        let source = SourceText::new(text.as_bytes());
        let definition = source.find(&crate::DefinitionQuery::for_name("s")).unwrap();
        let body = crate::StructBody::parse(&source, &definition).unwrap();
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
            assert_eq!(parse_reach(comment), None, "{comment}");
        }
    }
}
