//! A struct's body: declarations with their comments, in their nest of `#if` blocks.
//!
//! Every line between the braces belongs to exactly one piece, to a block's preprocessor lines, or is blank;
//! so an order of pieces is an order of whole lines.

pub(crate) mod attribute;
mod comment;
mod declarator;
mod element;
mod macros;
mod own;
mod part;
mod pin;
mod tree;

pub use declarator::{Declarator, Declares, Shape};
pub use pin::Pin;

pub(crate) use comment::{is_layout_comment, names_cacheline};
pub(crate) use own::{Piece, PieceKind};
pub(crate) use tree::{Block, Node};

use crate::definition::{Definition, lossy};
use crate::refusal::Refusal;
use crate::scan::{Literal, SourceText};
use std::ops::Range;

/// A body split into statements.
#[derive(Clone, Debug)]
pub struct Body<'s, 't> {
    pub(crate) source: &'s SourceText<'t>,
    pub(crate) definition: Definition,
    pub(crate) statements: Vec<Statement>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) root: Vec<Node>,
    /// 0-based lines that belong to the body alone.
    pub(crate) lines: Range<usize>,
    /// Whether a declaration shares a line with one of the braces.
    pub(crate) is_inline: bool,
}

/// One declaration, macro call or assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Byte range from its first word to its semicolon.
    pub range: Range<usize>,
    /// 1-based line it begins on.
    pub line: u32,
    /// What it declares.
    pub declares: Declares,
    /// Attributes of its own level, as written.
    pub attributes: Vec<String>,
    /// What a comment of its own says about its place.
    pub pin: Option<Pin>,
    /// Preprocessor lines run through it.
    pub is_tangled: bool,
    pub(crate) piece: usize,
    /// Token index of the first and behind the last token.
    pub(crate) tokens: Range<usize>,
}

impl<'s, 't> Body<'s, 't> {
    /// Splits a definition's body.
    ///
    /// # Errors
    /// If brackets or `#if` lines don't pair up, or a preprocessor line shares a line with a declaration.
    pub fn parse(source: &'s SourceText<'t>, definition: &Definition) -> Result<Self, Refusal> {
        let elements = element::split(source, definition.open + 1..definition.close)?;
        let mut owned = own::own(source, definition, &elements)?;
        let tree = tree::grow(source, &mut owned.pieces)?;
        let mut body = Self {
            source,
            definition: definition.clone(),
            statements: owned.statements,
            pieces: owned.pieces,
            blocks: tree.blocks,
            root: tree.root,
            lines: owned.lines,
            is_inline: owned.is_inline,
        };
        pin::find_pins(&mut body);
        Ok(body)
    }

    /// The definition whose body it is.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// All statements in order, those of inactive branches too.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// A statement's own text.
    pub fn text(&self, statement: &Statement) -> &'t [u8] {
        self.source.slice(statement.range.clone())
    }

    /// Byte range of the whole lines that move with a statement: its comments and, if they share lines, its neighbours.
    pub fn owned_range(&self, statement: &Statement) -> Range<usize> {
        let piece = self.pieces.get(statement.piece);
        piece.map_or(0..0, |piece| self.source.lines().span(&piece.lines))
    }

    /// The conditions around a statement, outermost first. In an `#else` arm those of the arms before it, negated.
    pub fn conditions(&self, statement: &Statement) -> Vec<Literal> {
        self.path(statement.piece)
            .into_iter()
            .flat_map(|(block, arm)| self.arm_literals(block, arm))
            .collect()
    }

    /// The body of a nested struct or union that a statement declares, to be parsed on its own.
    pub fn nested(&self, statement: &Statement) -> Option<Definition> {
        let is_keyword = |at: &usize| matches!(self.source.word(*at), Some(b"struct" | b"union"));
        let keyword = statement.tokens.clone().find(is_keyword)?;
        let nested = crate::definition::definition_at(self.source, keyword)?;
        (nested.close < statement.tokens.end).then_some(nested)
    }

    /// Blocks around a piece with the arm it is in, outermost first.
    pub(crate) fn path(&self, piece: usize) -> Vec<(usize, usize)> {
        let home = self.pieces.get(piece).and_then(|piece| piece.home);
        self.path_up(home)
    }

    pub(crate) fn path_up(&self, mut home: Option<(usize, usize)>) -> Vec<(usize, usize)> {
        let mut path = Vec::new();
        while let Some((block, arm)) = home {
            path.push((block, arm));
            home = self.blocks.get(block).and_then(|block| block.home);
        }
        path.reverse();
        path
    }

    pub(crate) fn arm_literals(&self, block: usize, arm: usize) -> Vec<Literal> {
        let arm = self.blocks.get(block).and_then(|block| block.arms.get(arm));
        arm.map_or_else(Vec::new, |arm| arm.literals.clone())
    }

    /// 0-based line on which a preprocessor line itself begins, comments above it apart.
    pub(crate) fn directive_line(&self, piece: &Piece) -> usize {
        let token = match piece.kind {
            PieceKind::Directive(token) => self.source.token(token),
            _ => None,
        };
        token.map_or(piece.lines.start, |token| self.source.lines().index(token.start))
    }

    /// 1-based line of a 0-based one.
    pub(crate) fn number(line: usize) -> u32 {
        u32::try_from(line + 1).unwrap_or(u32::MAX)
    }

    /// The lines' text.
    pub(crate) fn lines_text(&self, lines: &Range<usize>) -> &'t [u8] {
        self.source.slice(self.source.lines().span(lines))
    }
}

impl Statement {
    /// The members it declares for sure or perhaps, in order.
    pub fn declarators(&self) -> &[Declarator] {
        match &self.declares {
            Declares::Members(members) => members,
            Declares::Nothing | Declares::Unknown => &[],
        }
    }

    /// Its names for a message, quoted.
    pub(crate) fn label(&self, source: &SourceText) -> String {
        let names: Vec<String> = self
            .declarators()
            .iter()
            .map(|member| match &member.name {
                Some(name) => format!("`{name}`"),
                None => "an unnamed member".to_owned(),
            })
            .collect();
        match names.is_empty() {
            false => names.join(", "),
            true => format!("`{}`", first_line(source.slice(self.range.clone()))),
        }
    }
}

fn first_line(text: &[u8]) -> String {
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    lossy(text.get(..end.unwrap_or(text.len())).unwrap_or(text))
}
