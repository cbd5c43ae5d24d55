//! The markers that go between the same two lines, and the `#if` lines they need around them.

use super::side::Side;
use crate::body::Body;
use crate::definition::lossy;
use crate::edits::{Edit, Edits};
use crate::refusal::Refusal;
use crate::scan::Directive;
use std::collections::BTreeMap;
use std::ops::Range;

/// Markers by place.
pub(super) struct Slots<'b, 's, 't> {
    body: &'b Body<'s, 't>,
    /// By the first line behind the text before them.
    slots: BTreeMap<usize, Slot>,
}

/// What goes between two lines of text.
struct Slot {
    /// Blank lines there, 0-based.
    blanks: Range<usize>,
    /// Blocks open there, outermost first.
    blocks: Vec<usize>,
    items: Vec<Item>,
}

struct Item {
    /// How many of the blocks are around it.
    level: usize,
    begins: bool,
    lines: Vec<String>,
}

impl<'b, 's, 't> Slots<'b, 's, 't> {
    pub(super) fn new(body: &'b Body<'s, 't>) -> Self {
        Self { body, slots: BTreeMap::new() }
    }

    /// Puts a marker; `lines` are without their ends.
    pub(super) fn put(&mut self, side: Side, begins: bool, lines: Vec<String>) {
        let blanks = self.blanks_at(side.line);
        let (blocks, items) = (side.blocks, Vec::new());
        let slot = self.slots.entry(blanks.start).or_insert(Slot { blanks, blocks, items });
        slot.items.push(Item { level: side.level, begins, lines });
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
    pub(super) fn edits(&self) -> Result<Edits, Refusal> {
        let mut edits = Edits::default();
        for slot in self.slots.values() {
            let range = self.body.source.lines().span(&slot.blanks);
            edits.insert(Edit { range, replacement: self.written(slot) })?;
        }
        Ok(edits)
    }

    /// A slot's lines: ends right behind the members, a blank line before each comment.
    fn written(&self, slot: &Slot) -> Vec<u8> {
        let mut page = Page { lines: Vec::new(), depth: slot.blocks.len() };
        for item in &slot.items {
            self.close(&mut page, slot, item.level);
            if item.begins && (!page.lines.is_empty() || !self.opens_before(slot.blanks.start)) {
                page.blank();
            }
            self.open(&mut page, slot, item.level);
            page.lines.extend(item.lines.iter().cloned());
        }
        let is_last_an_end = slot.items.last().is_some_and(|item| !item.begins);
        if is_last_an_end && (page.depth < slot.blocks.len() || !self.closes_at(slot.blanks.end)) {
            page.blank();
        }
        self.open(&mut page, slot, slot.blocks.len());
        let end = if self.text(self.body.lines.start).ends_with(b"\r\n") { "\r\n" } else { "\n" };
        page.lines.iter().flat_map(|line| [line.as_str(), end].concat().into_bytes()).collect()
    }

    fn close(&self, page: &mut Page, slot: &Slot, level: usize) {
        while page.depth > level {
            page.depth -= 1;
            let block = &self.body.blocks[slot.blocks[page.depth]];
            page.lines.push(self.directive(block.end));
        }
    }

    fn open(&self, page: &mut Page, slot: &Slot, level: usize) {
        while page.depth < level {
            let arm = self.body.arms(slot.blocks[page.depth]).first();
            page.lines.extend(arm.map(|arm| self.directive(arm.piece)));
            page.depth += 1;
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
        line <= self.body.lines.start
            || self.directive_at(line - 1).is_some_and(|found| found != Directive::Endif)
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

struct Page {
    lines: Vec<String>,
    /// Open blocks.
    depth: usize,
}

impl Page {
    fn blank(&mut self) {
        if self.lines.last().is_none_or(|line| !line.is_empty()) {
            self.lines.push(String::new());
        }
    }
}
