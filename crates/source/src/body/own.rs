//! Which lines belong to which statement: comments above it, behind it and on the lines after it.

use super::comment::{is_layout_comment, is_section};
use super::declarator::{attributes, declares};
use super::element::Element;
use super::statement::{Declares, Piece, PieceKind, Statement};
use crate::definition::Definition;
use crate::refusal::Refusal;
use crate::scan::{Directive, SourceText, is_word, line_number};
use std::collections::BTreeSet;
use std::ops::Range;

/// Columns beyond its statement's from which a comment on a line of its own belongs to the statement before.
const DEEP: usize = 16;

/// What the elements of a body own.
pub(crate) struct Owned {
    pub(crate) statements: Vec<Statement>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) lines: Range<usize>,
    pub(crate) is_inline: bool,
}

/// Gives every line of a body to a piece.
pub(crate) fn own(
    source: &SourceText,
    definition: &Definition,
    elements: &[Element],
) -> Result<Owned, Refusal> {
    let mut owner = Owner { source, statements: Vec::new(), pieces: Vec::new() };
    for element in elements {
        owner.place(element)?;
    }
    let (lines, is_inline) = owner.cut_at_braces(definition);
    let used = words_in_use(source, elements);
    for piece in std::mem::take(&mut owner.pieces) {
        owner.attach(piece, &used);
    }
    let Owner { mut statements, mut pieces, .. } = owner;
    let mut end = lines.start;
    for (index, piece) in pieces.iter_mut().enumerate() {
        piece.blank_before = piece.lines.start.saturating_sub(end);
        end = piece.lines.end;
        if let PieceKind::Statements(own) = &piece.kind {
            own.iter().for_each(|at| statements[*at].piece = index);
        }
    }
    Ok(Owned { statements, pieces, lines, is_inline })
}

struct Owner<'s, 't> {
    source: &'s SourceText<'t>,
    statements: Vec<Statement>,
    pieces: Vec<Piece>,
}

impl Owner<'_, '_> {
    /// Makes an element a piece, or part of the last piece if they share a line.
    fn place(&mut self, element: &Element) -> Result<(), Refusal> {
        let tokens = element.tokens();
        let range = self.source.span(tokens.start, tokens.end.saturating_sub(1));
        let lines = self.source.lines().touched(&range);
        let (kind, comments) = match *element {
            Element::Statement { is_tangled, .. } => {
                let declares =
                    if is_tangled { Declares::Unknown } else { declares(self.source, tokens.clone()) };
                self.statements.push(Statement {
                    line: self.source.lines().number(range.start),
                    range,
                    declares,
                    attributes: attributes(self.source, tokens.clone()),
                    pin: None,
                    is_tangled,
                    piece: 0,
                    tokens,
                });
                (PieceKind::Statements(vec![self.statements.len() - 1]), Vec::new())
            }
            Element::Comment(token) => (PieceKind::Comment, vec![token]),
            Element::Directive(token) => (PieceKind::Directive(token), Vec::new()),
        };
        let piece = Piece { kind, lines, blank_before: 0, comments, home: None };
        match self.pieces.last_mut() {
            Some(last) if last.lines.end > piece.lines.start => join(last, piece),
            _ => {
                self.pieces.push(piece);
                Ok(())
            }
        }
    }

    /// Drops comments on the braces' lines; gives the lines between, and whether a declaration shares a line with a brace.
    fn cut_at_braces(&mut self, definition: &Definition) -> (Range<usize>, bool) {
        let line = |token| self.source.lines().index(self.source.start(token));
        let (open, close) = (line(definition.open), line(definition.close));
        let mut lines = open + 1..close.max(open + 1);
        let is_comment = |piece: &Piece| piece.kind == PieceKind::Comment;
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
        let is_outside = |piece: &Piece| piece.lines.start <= open || piece.lines.end > close;
        let is_inline = self.pieces.iter().any(is_outside) || lines.start > lines.end;
        (lines.start..lines.end.max(lines.start), is_inline)
    }

    /// Adds a piece, or gives it to the statement before, as some comments on lines of their own and `#define` lines.
    fn attach(&mut self, mut piece: Piece, used: &BTreeSet<&[u8]>) {
        let text = |token: &usize| self.source.text(*token);
        match piece.kind {
            PieceKind::Comment if piece.comments.iter().map(text).all(is_layout_comment) => {
                piece.kind = PieceKind::Layout;
            }
            PieceKind::Comment if self.belongs_to_last(&piece) => return self.extend_last(piece),
            PieceKind::Statements(_) => self.absorb_comments_above(&mut piece),
            PieceKind::Directive(token) => match self.source.directive(token) {
                Some(Directive::If(_)) => self.absorb_comments_above(&mut piece),
                Some(Directive::Define(name))
                    if !used.contains(name.as_bytes()) && self.define_follows(&piece) =>
                {
                    return;
                }
                _ => {}
            },
            PieceKind::Comment | PieceKind::Layout => {}
        }
        self.pieces.push(piece);
    }

    /// Whether a comment right below the last statement belongs to it: as far right as its trailing one, or deep.
    fn belongs_to_last(&self, piece: &Piece) -> bool {
        let Some(last) = self.pieces.last() else { return false };
        let PieceKind::Statements(statements) = &last.kind else { return false };
        let Some(statement) = statements.last().and_then(|index| self.statements.get(*index)) else {
            return false;
        };
        let source = self.source;
        let column = |offset: usize| source.lines().column(source.bytes(), offset);
        let comment_column = |token: &usize| column(source.start(*token));
        let own = piece.comments.first().map_or(0, comment_column);
        let is_trailing = |token: &&usize| {
            let start = source.start(**token);
            start >= statement.range.end && !source.begins_line(start)
        };
        let trailing = last.comments.iter().find(is_trailing);
        let aligned = trailing.is_some_and(|token| own + 1 >= comment_column(token));
        last.lines.end == piece.lines.start && (aligned || own >= column(statement.range.start) + DEEP)
    }

    fn extend_last(&mut self, piece: Piece) {
        if let Some(last) = self.pieces.last_mut() {
            last.lines.end = piece.lines.end;
            last.comments.extend(piece.comments);
        }
    }

    /// Takes the comments directly above a piece, up to a blank line.
    fn absorb_comments_above(&mut self, piece: &mut Piece) {
        let sections = |last: &Piece| last.comments.iter().any(|token| is_section(self.source.text(*token)));
        while let Some(above) = self
            .pieces
            .pop_if(|last| last.kind == PieceKind::Comment && touch(last, piece) && !sections(last))
        {
            piece.lines.start = above.lines.start;
            piece.comments.splice(..0, above.comments);
        }
    }

    /// Gives a `#define` directly below a statement to it, with comments between.
    fn define_follows(&mut self, piece: &Piece) -> bool {
        let is_comment = |other: &Piece| other.kind == PieceKind::Comment;
        let Some(at) = self.pieces.iter().rposition(|other| !is_comment(other)) else { return false };
        let run = &self.pieces[at..];
        let touches = run.windows(2).all(|pair| touch(&pair[0], &pair[1]))
            && run.last().is_some_and(|last| touch(last, piece));
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
fn words_in_use<'t>(source: &SourceText<'t>, elements: &[Element]) -> BTreeSet<&'t [u8]> {
    let mut used = BTreeSet::new();
    for element in elements {
        match element {
            Element::Statement { tokens, .. } => {
                used.extend(tokens.clone().filter_map(|index| source.word(index)));
            }
            Element::Directive(token) => {
                if let Some(Directive::If(_) | Directive::Elif(_)) = source.directive(*token) {
                    used.extend(source.text(*token).split(|byte| !is_word(*byte)));
                }
            }
            Element::Comment(_) => {}
        }
    }
    used
}

/// Joins two pieces that share a line.
fn join(last: &mut Piece, next: Piece) -> Result<(), Refusal> {
    match (&mut last.kind, next.kind) {
        (PieceKind::Statements(ours), PieceKind::Statements(more)) => ours.extend(more),
        (_, PieceKind::Comment) => {}
        (PieceKind::Comment, kind) => last.kind = kind,
        _ => return Err(Refusal::Entangled(line_number(next.lines.start))),
    }
    last.lines.end = last.lines.end.max(next.lines.end);
    last.comments.extend(next.comments);
    Ok(())
}

fn touch(one: &Piece, next: &Piece) -> bool {
    one.lines.end == next.lines.start
}
