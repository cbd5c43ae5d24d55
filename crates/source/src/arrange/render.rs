//! A sequence of chunks as lines of the original, with `#if` lines around them.

use super::chunk::{LineChunk, LineChunks};
use super::sequence::ChunkSequence;
use crate::body::{BodyPiece, StructBody};
use crate::join::Join;
use crate::scan::ConditionLiteral;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The new body as runs of 0-based lines of the original. Lines of `#if` and `#endif` may come twice.
pub(super) fn render(join: &Join, chunks: &LineChunks, sequence: &ChunkSequence) -> Vec<Range<usize>> {
    let guards = &WrittenGuards::assign(join.body, chunks, sequence);
    let (ends, orphans_done, lines) = (find_block_ends(chunks), BTreeSet::new(), Vec::new());
    let mut writer = BodyWriter { body: join.body, chunks, sequence, guards, ends, orphans_done, lines };
    writer.write();
    writer.lines
}

/// One `#if … #endif` to be written.
struct WrittenGuard {
    /// The block whose lines it uses.
    block: usize,
    /// Whether a chunk that stayed gave it that block.
    is_owned: bool,
}

/// Which chunks stand under which written `#if`.
#[derive(Default)]
struct WrittenGuards {
    list: Vec<WrittenGuard>,
    /// For each item of the sequence its guards, outermost first.
    stacks: Vec<Vec<usize>>,
    /// For each block the guard that continues it: with its comment above, and its blank lines.
    continued_by: BTreeMap<usize, usize>,
}

impl WrittenGuards {
    fn assign(body: &StructBody, chunks: &LineChunks, sequence: &ChunkSequence) -> Self {
        let mut guards = Self::default();
        for item in &sequence.items {
            let path = chunks.get(*item).map_or(&[][..], |chunk| &chunk.path);
            let moved = sequence.moved.get(*item) == Some(&true);
            let stack = guards.push_stack(body, path, moved);
            guards.stacks.push(stack);
        }
        let all = guards.list.iter().enumerate();
        let (owned, other): (Vec<_>, Vec<_>) = all.partition(|(_, guard)| guard.is_owned);
        for (index, guard) in owned.into_iter().chain(other) {
            guards.continued_by.entry(guard.block).or_insert(index);
        }
        guards
    }

    /// Guards for a chunk: those of the chunk before it as far as conditions agree, then new ones.
    ///
    /// A chunk that stayed keeps its own block apart from another of the same condition, so that nothing
    /// around it changes; one that has moved joins what is there.
    fn push_stack(&mut self, body: &StructBody, path: &[usize], moved: bool) -> Vec<usize> {
        let before = self.stacks.last().cloned().unwrap_or_default();
        let mut stack = Vec::with_capacity(path.len());
        for block in self.order_blocks(&before, body, path, moved) {
            let is_continued = before.starts_with(&stack);
            let open = before.get(stack.len()).copied().filter(|guard| {
                let guard = &self.list[*guard];
                let same_condition = body.arm_literals(guard.block, 0) == body.arm_literals(block, 0);
                is_continued && same_condition && (moved || !guard.is_owned || guard.block == block)
            });
            let guard = open.unwrap_or(self.list.len());
            if guard == self.list.len() {
                self.list.push(WrittenGuard { block, is_owned: !moved });
            } else if !moved {
                self.list[guard] = WrittenGuard { block, is_owned: true };
            }
            stack.push(guard);
        }
        stack
    }

    /// A moved chunk's blocks, those of conditions already open first: `#ifdef` lines nest in any order.
    /// Other conditions may make sense only inside those around them.
    fn order_blocks(&self, open: &[usize], body: &StructBody, path: &[usize], moved: bool) -> Vec<usize> {
        let mut rest = path.to_vec();
        let condition = |block: &usize| body.arm_literals(*block, 0);
        let is_free = |block: &usize| condition(block).iter().all(ConditionLiteral::is_definedness);
        if !moved || !path.iter().all(is_free) {
            return rest;
        }
        let mut nested = Vec::with_capacity(path.len());
        for guard in open {
            let wanted = condition(&self.list[*guard].block);
            let Some(at) = rest.iter().position(|block| condition(block) == wanted) else { break };
            nested.push(rest.remove(at));
        }
        nested.append(&mut rest);
        nested
    }
}

/// The first and last chunk of each block in the original.
fn find_block_ends(chunks: &LineChunks) -> BTreeMap<usize, (usize, usize)> {
    let mut ends = BTreeMap::new();
    for (index, chunk) in chunks.list.iter().enumerate() {
        for block in &chunk.path {
            ends.entry(*block).or_insert((index, index)).1 = index;
        }
    }
    ends
}

struct BodyWriter<'w, 's, 't> {
    body: &'w StructBody<'s, 't>,
    chunks: &'w LineChunks,
    sequence: &'w ChunkSequence,
    guards: &'w WrittenGuards,
    ends: BTreeMap<usize, (usize, usize)>,
    /// Blocks that aren't continued, whose comment above is written.
    orphans_done: BTreeSet<usize>,
    lines: Vec<Range<usize>>,
}

/// The output right before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrecedingLine {
    Start,
    /// The `#if` of this block.
    Opening(usize),
    Chunk(usize),
}

impl<'w> BodyWriter<'w, '_, '_> {
    fn write(&mut self) {
        let mut before = PrecedingLine::Start;
        let mut open: &[usize] = &[];
        let guards = self.guards;
        for (at, item) in self.sequence.items.iter().enumerate() {
            let stack = guards.stacks.get(at).map_or(&[][..], Vec::as_slice);
            let shared = open.iter().zip(stack).take_while(|(first, other)| first == other).count();
            let closed = open.get(shared..).unwrap_or_default();
            self.close(closed, before);
            for guard in stack.get(shared..).unwrap_or_default() {
                before = self.open(*guard, before, *item);
            }
            self.chunk(*item, before, !closed.is_empty());
            before = PrecedingLine::Chunk(*item);
            open = stack;
        }
        self.close(open, before);
        self.push_tail();
    }

    fn close(&mut self, guards: &[usize], before: PrecedingLine) {
        for guard in guards.iter().rev() {
            let block = self.guards.list[*guard].block;
            let piece = &self.body.pieces[self.body.blocks[block].end];
            let last = self.ends.get(&block).map(|ends| PrecedingLine::Chunk(ends.1));
            let blanks = if last == Some(before) { piece.blank_before } else { 0 };
            self.push(piece.lines.start - blanks..piece.lines.end);
        }
    }

    /// Writes an `#if`; the one that continues its block with the comment above it.
    fn open(&mut self, guard: usize, before: PrecedingLine, item: usize) -> PrecedingLine {
        let block = self.guards.list[guard].block;
        let Some(piece) = self.opening(block) else { return PrecedingLine::Opening(block) };
        let (start, line) = (piece.lines.start, self.body.directive_line(piece));
        if self.guards.continued_by.get(&block) == Some(&guard) {
            if self.wants_blank(block, before, item) {
                self.push(start - piece.blank_before..start);
            }
            self.push(start..line);
        }
        self.push(line..piece.lines.end);
        PrecedingLine::Opening(block)
    }

    /// The piece of a block's `#if`.
    fn opening(&self, block: usize) -> Option<&'w BodyPiece> {
        self.body.pieces.get(self.body.arms(block).first()?.piece)
    }

    fn first(&self, block: usize) -> Option<usize> {
        self.ends.get(&block).map(|ends| ends.0)
    }

    /// Whether the blank lines before an `#if` stay.
    fn wants_blank(&self, block: usize, before: PrecedingLine, item: usize) -> bool {
        let first = self.first(block);
        match before {
            PrecedingLine::Start => first == Some(0) && item == 0,
            PrecedingLine::Opening(outer) => self.first(outer) == first,
            PrecedingLine::Chunk(_) => true,
        }
    }

    fn chunk(&mut self, item: usize, before: PrecedingLine, behind_endif: bool) {
        let Some(chunk) = self.chunks.get(item) else { return };
        if self.keeps_blank(item, chunk, before, behind_endif) {
            self.push(chunk.lines.start - chunk.blank_before..chunk.lines.start);
        }
        self.push_orphan_comments(chunk);
        self.push(chunk.lines.clone());
    }

    /// Whether the blank lines before a chunk stay: before what stayed, comments and blocks.
    fn keeps_blank(&self, item: usize, chunk: &LineChunk, before: PrecedingLine, behind_endif: bool) -> bool {
        let stayed = self.sequence.moved.get(item) == Some(&false);
        match before {
            PrecedingLine::Start => item == 0,
            PrecedingLine::Opening(block) => self.first(block) == Some(item),
            PrecedingLine::Chunk(at) => stayed || behind_endif || at + 1 == item || chunk.lead_lines > 0,
        }
    }

    /// Comments above an `#if` that isn't written go before the first chunk of its block.
    fn push_orphan_comments(&mut self, chunk: &LineChunk) {
        for block in &chunk.path {
            if self.guards.continued_by.contains_key(block) || !self.orphans_done.insert(*block) {
                continue;
            }
            let lead = self.opening(*block).map(|piece| piece.lines.start..self.body.directive_line(piece));
            self.push(lead.unwrap_or(0..0));
        }
    }

    /// Blank lines at the body's end.
    fn push_tail(&mut self) {
        let lines = &self.body.lines;
        let end = self.body.pieces.last().map_or(lines.start, |piece| piece.lines.end);
        self.push(end.min(lines.end)..lines.end);
    }

    fn push(&mut self, lines: Range<usize>) {
        if !lines.is_empty() {
            self.lines.push(lines);
        }
    }
}
