//! Which lines belong to which statement: comments above it, behind it and on the lines after it.

use super::comment::{goes_on_in, is_layout_comment, is_section};
use super::declarator::{find_attributes, parse_declared};
use super::element::BodyElement;
use super::statement::{BodyPiece, DeclaredMembers, PieceKind, Statement};
use crate::definition::StructDefinition;
use crate::refusal::{Result, SourceRefusal};
use crate::scan::{Directive, SourceText, is_word, line_number};
use std::collections::BTreeSet;
use std::ops::Range;

/// Columns beyond its statement's from which a comment on a line of its own belongs to the statement before.
const DEEP: usize = 16;

/// Statements and pieces of a body.
pub(crate) struct BodyLines {
    pub(crate) statements: Vec<Statement>,
    pub(crate) pieces: Vec<BodyPiece>,
    pub(crate) lines: Range<usize>,
    pub(crate) is_inline: bool,
}

/// Gives every line of a body to a piece.
pub(crate) fn assign_lines(
    source: &SourceText,
    definition: &StructDefinition,
    elements: &[BodyElement],
) -> Result<BodyLines> {
    let mut assigner = LineAssigner { source, statements: Vec::new(), pieces: Vec::new() };
    for element in elements {
        assigner.add_element(element)?;
    }
    let (lines, is_inline) = assigner.cut_at_braces(definition);
    let used = words_in_use(source, elements);
    for piece in std::mem::take(&mut assigner.pieces) {
        assigner.attach_piece(piece, &used);
    }
    let LineAssigner { mut statements, mut pieces, .. } = assigner;
    let mut end = lines.start;
    for (index, piece) in pieces.iter_mut().enumerate() {
        piece.blank_before = piece.lines.start.saturating_sub(end);
        end = piece.lines.end;
        if let PieceKind::Statements(own) = &piece.kind {
            own.iter().for_each(|at| statements[*at].piece = index);
        }
    }
    Ok(BodyLines { statements, pieces, lines, is_inline })
}

struct LineAssigner<'s, 't> {
    source: &'s SourceText<'t>,
    statements: Vec<Statement>,
    pieces: Vec<BodyPiece>,
}

impl LineAssigner<'_, '_> {
    /// Makes an element a piece, or part of the last piece if they share a line.
    fn add_element(&mut self, element: &BodyElement) -> Result<()> {
        let tokens = element.tokens();
        let range = self.source.span(tokens.start, tokens.end.saturating_sub(1));
        let lines = self.source.lines().lines_of_range(&range);
        let (kind, comments) = match *element {
            BodyElement::Statement { is_tangled, .. } => {
                let declared = match is_tangled {
                    true => DeclaredMembers::Unknown,
                    false => parse_declared(self.source, tokens.clone()),
                };
                self.statements.push(Statement {
                    line: self.source.lines().number(range.start),
                    range,
                    declared,
                    attributes: find_attributes(self.source, tokens.clone()),
                    pin: None,
                    is_tangled,
                    piece: 0,
                    tokens,
                });
                (PieceKind::Statements(vec![self.statements.len() - 1]), Vec::new())
            }
            BodyElement::Comment(token) => (PieceKind::Comment, vec![token]),
            BodyElement::Directive(token) => (PieceKind::Directive(token), Vec::new()),
        };
        let piece = BodyPiece { kind, lines, blank_before: 0, comments, parent_arm: None };
        match self.pieces.last_mut() {
            Some(last) if last.lines.end > piece.lines.start => join_pieces(last, piece),
            _ => {
                self.pieces.push(piece);
                Ok(())
            }
        }
    }

    /// Drops comments on the braces' lines; gives the lines between, and whether a declaration shares one.
    fn cut_at_braces(&mut self, definition: &StructDefinition) -> (Range<usize>, bool) {
        let line = |token| self.source.lines().index(self.source.start(token));
        let (open, close) = (line(definition.open), line(definition.close));
        let mut lines = open + 1..close.max(open + 1);
        let is_comment = |piece: &BodyPiece| piece.kind == PieceKind::Comment;
        if let Some(first) = self.pieces.first().filter(|piece| piece.lines.start <= open) {
            lines.start = first.lines.end.max(lines.start);
            if is_comment(first) {
                self.pieces.remove(0);
            }
        }
        if let Some(last) = self.pieces.last().filter(|piece| piece.lines.end > close) {
            lines.end = last.lines.start;
            if is_comment(last) {
                self.pieces.pop();
            }
        }
        let is_outside = |piece: &BodyPiece| piece.lines.start <= open || piece.lines.end > close;
        let is_inline = self.pieces.iter().any(is_outside) || lines.start > lines.end;
        (lines.start..lines.end.max(lines.start), is_inline)
    }

    /// Adds a piece, or gives it to the statement before, as some comments on lines of their own and
    /// `#define` lines.
    fn attach_piece(&mut self, mut piece: BodyPiece, used: &BTreeSet<&[u8]>) {
        let text = |token: &usize| self.source.text(*token);
        match piece.kind {
            PieceKind::Comment if piece.comments.iter().map(text).all(is_layout_comment) => {
                piece.kind = PieceKind::Layout;
            }
            PieceKind::Comment if self.belongs_to_last(&piece) => return self.extend_last(piece),
            PieceKind::Statements(_) if self.continues_last(&piece) => return self.join_last(piece),
            PieceKind::Statements(_) => self.absorb_comments_above(&mut piece),
            PieceKind::Directive(token) => match self.source.directive(token) {
                Some(Directive::If(_)) => self.absorb_comments_above(&mut piece),
                Some(Directive::Define(name)) if used.contains(name.as_bytes()) => {}
                Some(Directive::Define(_)) if self.attach_define(&piece) => return,
                _ => {}
            },
            PieceKind::Comment | PieceKind::Layout => {}
        }
        self.pieces.push(piece);
    }

    /// Whether a comment right below the last statement belongs to it: below its trailing one, or deep.
    fn belongs_to_last(&self, piece: &BodyPiece) -> bool {
        let Some(last) = self.pieces.last() else { return false };
        let PieceKind::Statements(own) = &last.kind else { return false };
        let Some(statement) = own.last().and_then(|at| self.statements.get(*at)) else { return false };
        let source = self.source;
        let column = |offset: usize| source.lines().column(source.bytes(), offset);
        let comment_column = |token: &usize| column(source.start(*token));
        let here = piece.comments.first().map_or(0, comment_column);
        let trailing = last.comments.iter().find(|token| self.is_trailing(**token, statement));
        let aligned = trailing.is_some_and(|token| here + 1 >= comment_column(token));
        let goes_on = trailing.is_some() && self.goes_on(last.comments.last(), piece.comments.first());
        let is_deep = here >= column(statement.range.start) + DEEP;
        last.lines.end == piece.lines.start && (aligned || is_deep || goes_on)
    }

    /// Whether a comment stands behind a statement on its line.
    fn is_trailing(&self, token: usize, statement: &Statement) -> bool {
        let start = self.source.start(token);
        start >= statement.range.end && !self.source.begins_line(start)
    }

    /// Whether a comment is the rest of another.
    fn goes_on(&self, first: Option<&usize>, second: Option<&usize>) -> bool {
        let text = |token: Option<&usize>| token.map_or(&b""[..], |token| self.source.text(*token));
        goes_on_in(text(first), text(second))
    }

    /// Whether the comment behind the last statement goes on behind this one, on the next line.
    fn continues_last(&self, piece: &BodyPiece) -> bool {
        let statement = |piece: &BodyPiece| match &piece.kind {
            PieceKind::Statements(own) => own.last().and_then(|at| self.statements.get(*at)),
            _ => None,
        };
        let Some(last) = self.pieces.last().filter(|last| are_adjacent(last, piece)) else { return false };
        let (first, second) = (last.comments.last(), piece.comments.first());
        let trails = |token: Option<&usize>, piece| {
            token.zip(statement(piece)).is_some_and(|(token, found)| self.is_trailing(*token, found))
        };
        trails(first, last) && trails(second, piece) && self.goes_on(first, second)
    }

    /// Makes a piece of statements part of the last one.
    fn join_last(&mut self, piece: BodyPiece) {
        if let (Some(last), PieceKind::Statements(more)) = (self.pieces.last_mut(), &piece.kind) {
            if let PieceKind::Statements(own) = &mut last.kind {
                own.extend(more);
            }
            self.extend_last(piece);
        }
    }

    fn extend_last(&mut self, piece: BodyPiece) {
        if let Some(last) = self.pieces.last_mut() {
            last.lines.end = piece.lines.end;
            last.comments.extend(piece.comments);
        }
    }

    /// Takes the comments directly above a piece, up to a blank line.
    fn absorb_comments_above(&mut self, piece: &mut BodyPiece) {
        let begins_section = |token: &usize| is_section(self.source.text(*token));
        let is_taken = |last: &mut BodyPiece, piece: &BodyPiece| {
            let is_comment = last.kind == PieceKind::Comment && are_adjacent(last, piece);
            is_comment && !last.comments.iter().any(begins_section)
        };
        while let Some(above) = self.pieces.pop_if(|last| is_taken(last, piece)) {
            piece.lines.start = above.lines.start;
            piece.comments.splice(..0, above.comments);
        }
    }

    /// Gives a `#define` directly below a statement to it, with comments between.
    fn attach_define(&mut self, piece: &BodyPiece) -> bool {
        let is_comment = |other: &BodyPiece| other.kind == PieceKind::Comment;
        let Some(at) = self.pieces.iter().rposition(|other| !is_comment(other)) else { return false };
        let run = &self.pieces[at..];
        let touches = run.windows(2).all(|pair| are_adjacent(&pair[0], &pair[1]))
            && run.last().is_some_and(|last| are_adjacent(last, piece));
        if !touches || !matches!(self.pieces[at].kind, PieceKind::Statements(_)) {
            return false;
        }
        for comment in self.pieces.split_off(at + 1) {
            self.extend_last(comment);
        }
        self.pieces[at].lines.end = piece.lines.end;
        true
    }
}

/// Words of declarations and conditions: a macro among them must stay defined before its use.
fn words_in_use<'t>(source: &SourceText<'t>, elements: &[BodyElement]) -> BTreeSet<&'t [u8]> {
    let mut used = BTreeSet::new();
    for element in elements {
        match element {
            BodyElement::Statement { tokens, .. } => {
                used.extend(tokens.clone().filter_map(|index| source.word(index)));
            }
            BodyElement::Directive(token) => {
                if let Some(Directive::If(_) | Directive::Elif(_)) = source.directive(*token) {
                    used.extend(source.text(*token).split(|byte| !is_word(*byte)));
                }
            }
            BodyElement::Comment(_) => {}
        }
    }
    used
}

/// Joins two pieces that share a line.
fn join_pieces(last: &mut BodyPiece, next: BodyPiece) -> Result<()> {
    match (&mut last.kind, next.kind) {
        (PieceKind::Statements(ours), PieceKind::Statements(more)) => ours.extend(more),
        (_, PieceKind::Comment) => {}
        (PieceKind::Comment, kind) => last.kind = kind,
        _ => return Err(SourceRefusal::Entangled(line_number(next.lines.start))),
    }
    last.lines.end = last.lines.end.max(next.lines.end);
    last.comments.extend(next.comments);
    Ok(())
}

fn are_adjacent(previous: &BodyPiece, next: &BodyPiece) -> bool {
    previous.lines.end == next.lines.start
}
