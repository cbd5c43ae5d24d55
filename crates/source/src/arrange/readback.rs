//! The edited text read again: what was meant must be there, and nothing else may have changed.

use crate::body::{Body, PieceKind};
use crate::edits::Edits;
use crate::join::{ExpectedMember, Join};
use crate::refusal::Refusal;
use crate::scan::{Literal, SourceText, TokenKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// Parses the edited text and joins it with the members in their new order. Every statement, of every branch, must
/// still be there under its conditions, and no comment may be lost but those about the layout.
pub(super) fn check(
    join: &Join,
    edits: &Edits,
    order: &[usize],
    lines: &[Range<usize>],
) -> Result<(), Refusal> {
    let old = join.body;
    let text = edits.apply(old.source.bytes());
    let source = SourceText::new(&text);
    let definition = old.found_again(&source).ok_or_else(|| failed("the struct is gone"))?;
    let new = Body::parse(&source, &definition)?;
    let new_lines = new_lines(old, lines);
    let member = |index: &usize| {
        let line = join.statement_of(*index)?.line;
        let member = join.expected.get(*index)?.clone();
        Some(member.with_line(new_lines.get(&line).copied()))
    };
    let expected: Vec<ExpectedMember> = order.iter().filter_map(member).collect();
    Join::new(&new, &expected)?;
    if inventory(old) != inventory(&new) {
        return Err(failed("a declaration is lost, doubled or under another condition"));
    }
    if comments(old) != comments(&new) {
        return Err(failed("a comment is lost or doubled"));
    }
    Ok(())
}

/// For each line of the original body that is written once its new number, both 1-based.
fn new_lines(body: &Body, lines: &[Range<usize>]) -> BTreeMap<u32, u32> {
    let written = lines.iter().cloned().flatten();
    let numbered = written.zip(body.lines.start..);
    numbered.map(|(old, new)| (Body::number(old), Body::number(new))).collect()
}

fn failed(what: &str) -> Refusal {
    Refusal::ReadBack { what: what.to_owned() }
}

/// Every statement's text with its conditions.
fn inventory<'t>(body: &Body<'_, 't>) -> Vec<(&'t [u8], Vec<Literal>)> {
    let entry = |statement| {
        // `#ifdef` lines may be nested the other way round.
        let mut conditions = body.conditions(statement);
        conditions.sort();
        (body.text(statement), conditions)
    };
    let mut found: Vec<(&[u8], Vec<Literal>)> = body.statements().iter().map(entry).collect();
    found.sort();
    found
}

/// Every comment outside declarations, those about the layout and those on preprocessor lines apart.
fn comments<'t>(body: &Body<'_, 't>) -> Vec<&'t [u8]> {
    let pieces = body.pieces.iter().filter(|piece| piece.kind != PieceKind::Layout);
    let tokens = pieces.flat_map(|piece| piece.comments.iter());
    let is_comment =
        |index: &&usize| body.source.token(**index).map(|token| token.kind) == Some(TokenKind::Comment);
    let mut found: Vec<&[u8]> = tokens.filter(is_comment).map(|index| body.source.text(*index)).collect();
    found.sort_unstable();
    found
}
