//! Members whose places are fixed: by comments that say so, and by shapes.

use super::attribute::is_tag_keyword;
use super::remark::{CommentReader, CommentReadings};
use super::statement::{BodyPiece, FixedPlace, MemberShape, PlaceComment, Statement};
use crate::definition::{StructDefinition, lossy};
use crate::scan::SourceText;
use std::collections::{BTreeMap, BTreeSet};

/// Pins statements whose comments or shape fix their place. Gives the comments that only speak of places.
pub(crate) fn find_pins(
    source: &SourceText,
    definition: &StructDefinition,
    statements: &mut [Statement],
    pieces: &[BodyPiece],
) -> Vec<PlaceComment> {
    let CommentReadings { mut pins, comments } =
        CommentReader::new(source, definition, statements, pieces).read();
    let users = index_words(source, statements);
    for (number, statement) in statements.iter_mut().enumerate() {
        let pin = pins.remove(&number).or_else(|| find_shape_pin(statement));
        statement.pin = pin.or_else(|| find_use_pin(source, statement, &users));
    }
    comments
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
