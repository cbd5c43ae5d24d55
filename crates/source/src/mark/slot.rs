//! The markers that go between the same two lines, and the `#if` lines they need around them.

use super::marking::Marking;
use super::side::Side;
use crate::body::{Body, PieceKind};
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
    /// Whole lines without their ends.
    lines: Vec<String>,
}

impl<'b, 's, 't> Slots<'b, 's, 't> {
    pub(super) fn new(body: &'b Body<'s, 't>) -> Self {
        Self { body, slots: BTreeMap::new() }
    }

    /// What stands before a declaration on its line.
    pub(super) fn indent_of(&self, statement: usize) -> String {
        let lines = self.body.source.lines();
        let start = self.body.statements().get(statement).map_or(0, |statement| statement.range.start);
        let own = self.body.source.slice(lines.bytes(lines.index(start)));
        lossy(&own.iter().copied().take_while(|byte| matches!(byte, b' ' | b'\t')).collect::<Vec<u8>>())
    }

    /// Puts a group's first marker with its comment.
    pub(super) fn begin(&mut self, side: Side, indent: &str, marking: &Marking) {
        let comment = format!("{indent}/* {} */", marking.comment);
        self.put(side, true, vec![comment, format!("{indent}{}", marking.begin)]);
    }

    /// Puts a group's last marker.
    pub(super) fn end(&mut self, side: Side, indent: &str, marking: &Marking) {
        self.put(side, false, vec![format!("{indent}{}", marking.end)]);
    }

    fn put(&mut self, side: Side, begins: bool, lines: Vec<String>) {
        let blanks = self.blanks_at(side.line);
        let slot = self.slots.entry(blanks.start).or_insert_with(|| Slot {
            blanks,
            blocks: side.blocks,
            items: Vec::new(),
        });
        slot.items.push(Item { level: side.level, begins, lines });
    }

    /// Blank lines around the place before a line.
    fn blanks_at(&self, line: usize) -> Range<usize> {
        let all = self.body.lines.clone();
        let (mut start, mut end) = (line, line);
        while start > all.start && self.is_blank(start - 1) {
            start -= 1;
        }
        while end < all.end && self.is_blank(end) {
            end += 1;
        }
        start..end
    }

    fn text(&self, line: usize) -> &'t [u8] {
        self.body.source.slice(self.body.source.lines().bytes(line))
    }

    fn is_blank(&self, line: usize) -> bool {
        self.text(line).trim_ascii().is_empty()
    }

    /// All edits; no two touch the same lines.
    pub(super) fn edits(&self) -> Result<Edits, Refusal> {
        let mut edits = Edits::default();
        for slot in self.slots.values() {
            let range = self.body.source.lines().span(&slot.blanks);
            let edit = Edit { range, replacement: self.written(slot) };
            edits.insert(edit)?;
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
            let block = slot.blocks.get(page.depth).and_then(|block| self.body.blocks.get(*block));
            page.lines.extend(block.map(|block| self.directive(block.end)));
        }
    }

    fn open(&self, page: &mut Page, slot: &Slot, level: usize) {
        while page.depth < level {
            let arm = slot.blocks.get(page.depth).and_then(|block| self.body.arms(*block).first());
            page.lines.extend(arm.map(|arm| self.directive(arm.piece)));
            page.depth += 1;
        }
    }

    /// The text of a preprocessor line, with a comment behind it.
    fn directive(&self, piece: usize) -> String {
        let Some(piece) = self.body.pieces.get(piece) else { return String::new() };
        let PieceKind::Directive(token) = piece.kind else { return String::new() };
        let Some(token) = self.body.source.token(token) else { return String::new() };
        let lines = self.body.source.lines();
        let start = lines.start(lines.index(token.start));
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
