//! The markers that go between the same two lines, and the `#if` lines they need around them.

use super::position::MarkerPosition;
use crate::body::StructBody;
use crate::definition::lossy;
use crate::edits::{Edit, Edits};
use crate::refusal::Result;
use crate::scan::Directive;
use std::collections::BTreeMap;
use std::ops::Range;

/// Markers by position.
pub(super) struct InsertionPoints<'b, 's, 't> {
    body: &'b StructBody<'s, 't>,
    /// By the first line behind the text before them.
    points: BTreeMap<usize, InsertionPoint>,
}

/// The markers between two lines of text.
struct InsertionPoint {
    /// Blank lines there, 0-based.
    blanks: Range<usize>,
    /// Blocks open there, outermost first.
    blocks: Vec<usize>,
    items: Vec<InsertedMarker>,
}

struct InsertedMarker {
    /// How many of the blocks are around it.
    level: usize,
    begins: bool,
    lines: Vec<String>,
}

impl<'b, 's, 't> InsertionPoints<'b, 's, 't> {
    pub(super) fn new(body: &'b StructBody<'s, 't>) -> Self {
        Self { body, points: BTreeMap::new() }
    }

    /// Puts a marker; `lines` are without their ends.
    pub(super) fn insert(&mut self, position: MarkerPosition, begins: bool, lines: Vec<String>) {
        let blanks = self.blanks_at(position.line);
        let (blocks, items) = (position.blocks, Vec::new());
        let point = self.points.entry(blanks.start).or_insert(InsertionPoint { blanks, blocks, items });
        point.items.push(InsertedMarker { level: position.level, begins, lines });
    }

    /// Blank lines around the place before a line.
    fn blanks_at(&self, line: usize) -> Range<usize> {
        let all = self.body.lines.clone();
        let is_blank = |line: &usize| self.body.source.is_blank(*line);
        let above = (all.start..line).rev().take_while(is_blank).count();
        let below = (line..all.end).take_while(is_blank).count();
        line - above..line + below
    }

    fn text(&self, line: usize) -> &'t [u8] {
        self.body.source.line(line)
    }

    /// All edits; no two touch the same lines.
    pub(super) fn edits(&self) -> Result<Edits> {
        let mut edits = Edits::default();
        for point in self.points.values() {
            let range = self.body.source.lines().span(&point.blanks);
            edits.insert(Edit { range, replacement: self.render(point) })?;
        }
        Ok(edits)
    }

    /// An insertion point's lines: ends right behind the members, a blank line before each comment.
    fn render(&self, point: &InsertionPoint) -> Vec<u8> {
        let mut output = MarkerLines { lines: Vec::new(), depth: point.blocks.len() };
        for item in &point.items {
            self.close(&mut output, point, item.level);
            if item.begins && (!output.lines.is_empty() || !self.opens_before(point.blanks.start)) {
                output.push_blank();
            }
            self.open(&mut output, point, item.level);
            output.lines.extend(item.lines.iter().cloned());
        }
        let is_last_an_end = point.items.last().is_some_and(|item| !item.begins);
        if is_last_an_end && (output.depth < point.blocks.len() || !self.closes_at(point.blanks.end)) {
            output.push_blank();
        }
        self.open(&mut output, point, point.blocks.len());
        let end = if self.text(self.body.lines.start).ends_with(b"\r\n") { "\r\n" } else { "\n" };
        output.lines.iter().flat_map(|line| [line.as_str(), end].concat().into_bytes()).collect()
    }

    fn close(&self, output: &mut MarkerLines, point: &InsertionPoint, level: usize) {
        while output.depth > level {
            output.depth -= 1;
            let block = &self.body.blocks[point.blocks[output.depth]];
            output.lines.push(self.directive(block.end));
        }
    }

    fn open(&self, output: &mut MarkerLines, point: &InsertionPoint, level: usize) {
        while output.depth < level {
            let arm = self.body.arms(point.blocks[output.depth]).first();
            output.lines.extend(arm.map(|arm| self.directive(arm.piece)));
            output.depth += 1;
        }
    }

    /// The text of a preprocessor line, with a comment behind it.
    fn directive(&self, piece: usize) -> String {
        let piece = &self.body.pieces[piece];
        let lines = self.body.source.lines();
        let start = lines.start(self.body.directive_line(piece));
        lossy(self.body.source.slice(start..lines.start(piece.lines.end)).trim_ascii_end())
    }

    /// Whether the body begins before a line, or a condition.
    fn opens_before(&self, line: usize) -> bool {
        line <= self.body.lines.start || self.directive_at(line - 1).is_some_and(|at| at != Directive::Endif)
    }

    /// Whether the body ends at a line, or a condition.
    fn closes_at(&self, line: usize) -> bool {
        let ends = |found| matches!(found, Directive::Endif | Directive::Else | Directive::Elif(_));
        line >= self.body.lines.end || self.directive_at(line).is_some_and(ends)
    }

    fn directive_at(&self, line: usize) -> Option<Directive> {
        self.text(line).trim_ascii_start().starts_with(b"#").then(|| Directive::parse(self.text(line)))
    }
}

struct MarkerLines {
    lines: Vec<String>,
    /// Open blocks.
    depth: usize,
}

impl MarkerLines {
    fn push_blank(&mut self) {
        if self.lines.last().is_none_or(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }
}
