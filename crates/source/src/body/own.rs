//! Which lines belong to which statement: comments above it, behind it and on the lines after it.

use super::comment::{is_layout_comment, is_section};
use super::declarator::{attributes, declares};
use super::element::Element;
use super::member::Declares;
use super::statement::{Piece, PieceKind, Statement};
use crate::definition::Definition;
use crate::refusal::Refusal;
use crate::scan::{Directive, SourceText};
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
    let used = owner.words_in_use(elements);
    let pieces = Attacher::attach(source, std::mem::take(&mut owner.pieces), &used, &owner.statements);
    let mut owned = Owned { statements: owner.statements, pieces, lines, is_inline };
    owned.count_blanks();
    owned.link_statements();
    Ok(owned)
}

struct Owner<'s, 't> {
    source: &'s SourceText<'t>,
    statements: Vec<Statement>,
    pieces: Vec<Piece>,
}

impl Owner<'_, '_> {
    /// Makes an element a piece, or part of the last piece if they share a line.
    fn place(&mut self, element: &Element) -> Result<(), Refusal> {
        let range = self.byte_range(element.tokens());
        let lines = self.source.lines().touched(&range);
        let piece = self.piece(element, range, lines);
        match self.pieces.last_mut() {
            Some(last) if last.lines.end > piece.lines.start => join(last, piece),
            _ => {
                self.pieces.push(piece);
                Ok(())
            }
        }
    }

    fn byte_range(&self, tokens: Range<usize>) -> Range<usize> {
        let start = self.source.token(tokens.start).map_or(0, |token| token.start);
        let last = self.source.token(tokens.end.saturating_sub(1));
        start..last.map_or(start, |token| token.end)
    }

    fn piece(&mut self, element: &Element, range: Range<usize>, lines: Range<usize>) -> Piece {
        let mut comments = Vec::new();
        let kind = match element {
            Element::Statement { tokens, is_tangled } => {
                self.statements.push(self.statement(tokens.clone(), *is_tangled, range));
                PieceKind::Statements(vec![self.statements.len() - 1])
            }
            Element::Comment(token) => {
                comments.push(*token);
                PieceKind::Comment
            }
            Element::Directive(token) => PieceKind::Directive(*token),
        };
        Piece { kind, lines, blank_before: 0, comments, home: None }
    }

    fn statement(&self, tokens: Range<usize>, is_tangled: bool, range: Range<usize>) -> Statement {
        Statement {
            line: self.source.lines().number(range.start),
            range,
            declares: if is_tangled { Declares::Unknown } else { declares(self.source, tokens.clone()) },
            attributes: attributes(self.source, tokens.clone()),
            pin: None,
            is_tangled,
            piece: 0,
            tokens,
        }
    }

    /// Drops comments that belong to the braces' lines; gives the lines between, and whether a declaration shares a
    /// line with a brace.
    fn cut_at_braces(&mut self, definition: &Definition) -> (Range<usize>, bool) {
        let line = |index| {
            let token = self.source.token(index);
            token.map_or(0, |token| self.source.lines().index(token.start))
        };
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

    /// Words of declarations and conditions: a macro among them must stay defined before its use.
    fn words_in_use(&self, elements: &[Element]) -> BTreeSet<Vec<u8>> {
        let mut used = BTreeSet::new();
        for element in elements {
            match element {
                Element::Statement { tokens, .. } => {
                    let words = tokens.clone().filter_map(|index| self.source.word(index));
                    used.extend(words.map(<[u8]>::to_vec));
                }
                Element::Directive(token) => {
                    let is_condition =
                        matches!(self.source.directive(*token), Some(Directive::If(_) | Directive::Elif(_)));
                    let text = self.source.text(*token);
                    let words = text.split(|byte| !crate::scan::is_word(*byte));
                    used.extend(words.filter(|_| is_condition).map(<[u8]>::to_vec));
                }
                Element::Comment(_) => {}
            }
        }
        used
    }
}

/// Joins two pieces that share a line.
fn join(last: &mut Piece, next: Piece) -> Result<(), Refusal> {
    let line = u32::try_from(next.lines.start + 1).unwrap_or(u32::MAX);
    let kind = match (&mut last.kind, next.kind) {
        (PieceKind::Statements(ours), PieceKind::Statements(more)) => {
            ours.extend(more);
            None
        }
        (_, PieceKind::Comment) => None,
        (PieceKind::Comment, kind) => Some(kind),
        _ => return Err(Refusal::Entangled { line }),
    };
    if let Some(kind) = kind {
        last.kind = kind;
    }
    last.lines.end = last.lines.end.max(next.lines.end);
    last.comments.extend(next.comments);
    Ok(())
}

/// Gives comments on lines of their own, and `#define` lines, to the statements they belong to.
struct Attacher<'s, 't> {
    source: &'s SourceText<'t>,
    used: &'s BTreeSet<Vec<u8>>,
    statements: &'s [Statement],
    pieces: Vec<Piece>,
}

impl<'s, 't> Attacher<'s, 't> {
    fn attach(
        source: &'s SourceText<'t>,
        pieces: Vec<Piece>,
        used: &'s BTreeSet<Vec<u8>>,
        statements: &'s [Statement],
    ) -> Vec<Piece> {
        let mut attacher = Self { source, used, statements, pieces: Vec::with_capacity(pieces.len()) };
        for piece in pieces {
            attacher.take(piece);
        }
        attacher.pieces
    }

    fn take(&mut self, mut piece: Piece) {
        match piece.kind {
            PieceKind::Comment if self.is_layout(&piece) => piece.kind = PieceKind::Layout,
            PieceKind::Comment if self.belongs_to_last(&piece) => {
                self.extend_last(piece);
                return;
            }
            PieceKind::Statements(_) => self.absorb_comments_above(&mut piece),
            PieceKind::Directive(token) => match self.source.directive(token) {
                Some(Directive::If(_)) => self.absorb_comments_above(&mut piece),
                Some(Directive::Define(name)) if self.define_follows(&name, &piece) => return,
                _ => {}
            },
            PieceKind::Comment | PieceKind::Layout => {}
        }
        self.pieces.push(piece);
    }

    fn is_layout(&self, piece: &Piece) -> bool {
        let mut comments = piece.comments.iter();
        comments.all(|token| is_layout_comment(self.source.text(*token)))
    }

    fn is_section(&self, piece: &Piece) -> bool {
        let mut comments = piece.comments.iter();
        comments.any(|token| is_section(self.source.text(*token)))
    }

    /// Whether a comment continues or follows the last statement: no blank line between, and as far right as that
    /// one's trailing comment or deep in the line.
    fn belongs_to_last(&self, piece: &Piece) -> bool {
        let Some(last) = self.pieces.last() else { return false };
        let PieceKind::Statements(statements) = &last.kind else { return false };
        let Some(statement) = statements.last().and_then(|index| self.statements.get(*index)) else {
            return false;
        };
        let column = self.comment_column(piece.comments.first());
        let deep = self.column(statement.range.start) + DEEP;
        let is_trailing = |token: &&usize| {
            let start = self.source.token(**token).map_or(0, |token| token.start);
            start >= statement.range.end && !self.begins_line(start)
        };
        let trailing = last.comments.iter().find(is_trailing);
        let aligned = trailing.is_some() && column + 1 >= self.comment_column(trailing);
        last.lines.end == piece.lines.start && (aligned || column >= deep)
    }

    fn column(&self, offset: usize) -> usize {
        self.source.lines().column(self.source.bytes(), offset)
    }

    fn comment_column(&self, token: Option<&usize>) -> usize {
        let token = token.and_then(|token| self.source.token(*token));
        token.map_or(0, |token| self.column(token.start))
    }

    fn begins_line(&self, offset: usize) -> bool {
        let line = self.source.lines().start(self.source.lines().index(offset));
        self.source.slice(line..offset).iter().all(u8::is_ascii_whitespace)
    }

    fn extend_last(&mut self, piece: Piece) {
        if let Some(last) = self.pieces.last_mut() {
            last.lines.end = piece.lines.end;
            last.comments.extend(piece.comments);
        }
    }

    /// Takes the comments directly above a piece, up to a blank line.
    fn absorb_comments_above(&mut self, piece: &mut Piece) {
        while let Some(last) = self.pieces.last() {
            let touches = last.lines.end == piece.lines.start;
            if last.kind != PieceKind::Comment || !touches || self.is_section(last) {
                return;
            }
            let Some(above) = self.pieces.pop() else { return };
            piece.lines.start = above.lines.start;
            let mut comments = above.comments;
            comments.append(&mut piece.comments);
            piece.comments = comments;
        }
    }

    /// Gives a `#define` directly below a statement to it, with comments between, if the body doesn't use the macro.
    fn define_follows(&mut self, name: &str, piece: &Piece) -> bool {
        let is_comment = |other: &Piece| other.kind == PieceKind::Comment;
        let Some(at) = self.pieces.iter().rposition(|other| !is_comment(other)) else { return false };
        let Some(run) = self.pieces.get(at..) else { return false };
        let touches = run.windows(2).all(|pair| touch(&pair[0], &pair[1]))
            && run.last().is_some_and(|last| touch(last, piece));
        let follows = matches!(run.first(), Some(first) if matches!(first.kind, PieceKind::Statements(_)));
        if !touches || !follows || self.used.contains(name.as_bytes()) {
            return false;
        }
        for comment in self.pieces.split_off(at + 1) {
            self.extend_last(comment);
        }
        if let Some(last) = self.pieces.last_mut() {
            last.lines.end = piece.lines.end;
        }
        true
    }
}

fn touch(one: &Piece, next: &Piece) -> bool {
    one.lines.end == next.lines.start
}

impl Owned {
    fn count_blanks(&mut self) {
        let mut end = self.lines.start;
        for piece in &mut self.pieces {
            piece.blank_before = piece.lines.start.saturating_sub(end);
            end = piece.lines.end;
        }
    }

    fn link_statements(&mut self) {
        for (index, piece) in self.pieces.iter().enumerate() {
            let PieceKind::Statements(statements) = &piece.kind else { continue };
            for statement in statements {
                if let Some(statement) = self.statements.get_mut(*statement) {
                    statement.piece = index;
                }
            }
        }
    }
}
