//! A sequence of chunks as lines of the original, with `#if` lines around them.

use super::chunk::{Chunk, Chunks};
use super::sequence::Sequence;
use crate::body::{Body, Piece};
use crate::join::Join;
use crate::scan::Literal;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The lines of the new body, as runs of 0-based lines of the original. Lines of `#if` and `#endif` may come twice.
pub(super) fn render(join: &Join, chunks: &Chunks, sequence: &Sequence) -> Vec<Range<usize>> {
    let guards = Guards::assign(join.body, chunks, sequence);
    let mut writer = Writer {
        body: join.body,
        chunks,
        sequence,
        guards: &guards,
        ends: Ends::find(chunks),
        orphans_done: BTreeSet::new(),
        lines: Vec::new(),
    };
    writer.write();
    writer.lines
}

/// One `#if … #endif` to be written.
struct Guard {
    /// The block whose lines it uses.
    block: usize,
    /// Whether a chunk that stayed gave it that block.
    is_owned: bool,
}

/// Which chunks stand under which written `#if`.
#[derive(Default)]
struct Guards {
    list: Vec<Guard>,
    /// For each item of the sequence its guards, outermost first.
    stacks: Vec<Vec<usize>>,
    /// For each block the guard that continues it: with its comment above, and its blank lines.
    heirs: BTreeMap<usize, usize>,
}

impl Guards {
    fn assign(body: &Body, chunks: &Chunks, sequence: &Sequence) -> Self {
        let mut guards = Self::default();
        for item in &sequence.items {
            let path = chunks.get(*item).map_or(&[][..], |chunk| &chunk.path);
            let moved = sequence.moved.get(*item) == Some(&true);
            let stack = guards.stack(body, path, moved);
            guards.stacks.push(stack);
        }
        let all = guards.list.iter().enumerate();
        let (owned, other): (Vec<_>, Vec<_>) = all.partition(|(_, guard)| guard.is_owned);
        for (index, guard) in owned.into_iter().chain(other) {
            guards.heirs.entry(guard.block).or_insert(index);
        }
        guards
    }

    /// Guards for a chunk: those of the chunk before it as far as conditions agree, then new ones.
    ///
    /// A chunk that stayed keeps its own block apart from another of the same condition, so that nothing around it
    /// changes; one that has moved joins what is there.
    fn stack(&mut self, body: &Body, path: &[usize], moved: bool) -> Vec<usize> {
        let before = self.stacks.last().cloned().unwrap_or_default();
        let path = &self.nested_like(&before, body, path, moved);
        let mut stack = Vec::with_capacity(path.len());
        for (depth, block) in path.iter().enumerate() {
            let open = before.get(depth).filter(|_| stack.len() == depth).copied();
            let open = open.filter(|guard| {
                before.get(..depth) == stack.get(..depth) && self.fits(body, *guard, *block, moved)
            });
            let guard = open.unwrap_or_else(|| self.open(*block, moved));
            if !moved {
                self.own(guard, *block);
            }
            stack.push(guard);
        }
        stack
    }

    /// A moved chunk's blocks, those of conditions already open first: `#ifdef` lines can be nested either way. Other
    /// conditions may make sense only inside those around them.
    fn nested_like(&self, open: &[usize], body: &Body, path: &[usize], moved: bool) -> Vec<usize> {
        let mut rest = path.to_vec();
        let condition = |block: &usize| body.arm_literals(*block, 0);
        let is_free = |block: &usize| condition(block).iter().all(Literal::is_definedness);
        if !moved || !path.iter().all(is_free) {
            return rest;
        }
        let mut nested = Vec::with_capacity(path.len());
        for guard in open {
            let wanted = condition(&self.block(*guard));
            let Some(at) = rest.iter().position(|block| condition(block) == wanted) else { break };
            nested.push(rest.remove(at));
        }
        nested.append(&mut rest);
        nested
    }

    fn fits(&self, body: &Body, guard: usize, block: usize, moved: bool) -> bool {
        let Some(guard) = self.list.get(guard) else { return false };
        let same_condition = body.arm_literals(guard.block, 0) == body.arm_literals(block, 0);
        same_condition && (moved || !guard.is_owned || guard.block == block)
    }

    fn open(&mut self, block: usize, moved: bool) -> usize {
        self.list.push(Guard { block, is_owned: !moved });
        self.list.len() - 1
    }

    fn own(&mut self, guard: usize, block: usize) {
        if let Some(guard) = self.list.get_mut(guard) {
            guard.block = block;
            guard.is_owned = true;
        }
    }

    fn block(&self, guard: usize) -> usize {
        self.list.get(guard).map_or(0, |guard| guard.block)
    }
}

/// The first and last chunk of each block in the original.
struct Ends {
    first: BTreeMap<usize, usize>,
    last: BTreeMap<usize, usize>,
}

impl Ends {
    fn find(chunks: &Chunks) -> Self {
        let mut ends = Self { first: BTreeMap::new(), last: BTreeMap::new() };
        for (index, chunk) in chunks.list.iter().enumerate() {
            for block in &chunk.path {
                ends.first.entry(*block).or_insert(index);
                ends.last.insert(*block, index);
            }
        }
        ends
    }
}

struct Writer<'w, 's, 't> {
    body: &'w Body<'s, 't>,
    chunks: &'w Chunks,
    sequence: &'w Sequence,
    guards: &'w Guards,
    ends: Ends,
    /// Blocks that aren't continued, whose comment above is written.
    orphans_done: BTreeSet<usize>,
    lines: Vec<Range<usize>>,
}

/// What was written just before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Start,
    /// The `#if` of this block.
    Opening(usize),
    Chunk(usize),
}

impl Writer<'_, '_, '_> {
    fn write(&mut self) {
        let mut before = Before::Start;
        let mut open: &[usize] = &[];
        let guards = self.guards;
        for (at, item) in self.sequence.items.iter().enumerate() {
            let stack = guards.stacks.get(at).map_or(&[][..], Vec::as_slice);
            let shared = open.iter().zip(stack).take_while(|(one, other)| one == other).count();
            let closed = open.get(shared..).unwrap_or_default();
            self.close(closed, before);
            for guard in stack.get(shared..).unwrap_or_default() {
                before = self.open(*guard, before, *item);
            }
            self.chunk(*item, before, !closed.is_empty());
            before = Before::Chunk(*item);
            open = stack;
        }
        self.close(open, before);
        self.tail();
    }

    fn piece(&self, index: usize) -> Option<&Piece> {
        self.body.pieces.get(index)
    }

    fn close(&mut self, guards: &[usize], before: Before) {
        for guard in guards.iter().rev() {
            let block = self.guards.block(*guard);
            let end = self.body.blocks.get(block).map(|block| block.end);
            let Some(piece) = end.and_then(|end| self.piece(end)) else { continue };
            let lines = piece.lines.clone();
            let is_last = matches!(before, Before::Chunk(item) if self.ends.last.get(&block) == Some(&item));
            let blanks = if is_last { piece.blank_before } else { 0 };
            self.push(lines.start - blanks..lines.end);
        }
    }

    /// Writes an `#if`; the one that continues its block with the comment above it.
    fn open(&mut self, guard: usize, before: Before, item: usize) -> Before {
        let block = self.guards.block(guard);
        let Some(piece) = self.opening(block) else { return Before::Opening(block) };
        let (lines, line, blanks) =
            (piece.lines.clone(), self.body.directive_line(piece), piece.blank_before);
        if self.guards.heirs.get(&block) == Some(&guard) {
            if self.wants_blank(block, before, item) {
                self.push(lines.start - blanks..lines.start);
            }
            self.push(lines.start..line);
        }
        self.push(line..lines.end);
        Before::Opening(block)
    }

    /// The piece of a block's `#if`.
    fn opening(&self, block: usize) -> Option<&'_ Piece> {
        self.piece(self.body.arms(block).first()?.piece)
    }

    /// Whether the blank lines before an `#if` stay.
    fn wants_blank(&self, block: usize, before: Before, item: usize) -> bool {
        let first = self.ends.first.get(&block).copied();
        match before {
            Before::Start => first == Some(0) && item == 0,
            Before::Opening(outer) => self.ends.first.get(&outer).copied() == first,
            Before::Chunk(_) => true,
        }
    }

    fn chunk(&mut self, item: usize, before: Before, behind_endif: bool) {
        let Some(chunk) = self.chunks.get(item) else { return };
        let chunk = chunk.clone();
        if self.keeps_blank(item, &chunk, before, behind_endif) {
            self.push(chunk.lines.start - chunk.blank_before..chunk.lines.start);
        }
        self.orphan_leads(&chunk);
        self.push(chunk.lines);
    }

    /// Whether the blank lines before a chunk stay: they belong to what stayed, and set off comments and blocks.
    fn keeps_blank(&self, item: usize, chunk: &Chunk, before: Before, behind_endif: bool) -> bool {
        let stayed = self.sequence.moved.get(item) == Some(&false);
        match before {
            Before::Start => item == 0,
            Before::Opening(block) => self.ends.first.get(&block) == Some(&item),
            Before::Chunk(before) => stayed || behind_endif || before + 1 == item || chunk.lead > 0,
        }
    }

    /// Comments above an `#if` that isn't written go before the first chunk of its block.
    fn orphan_leads(&mut self, chunk: &Chunk) {
        for block in &chunk.path {
            if self.guards.heirs.contains_key(block) || !self.orphans_done.insert(*block) {
                continue;
            }
            let lead = self.opening(*block).map(|piece| piece.lines.start..self.body.directive_line(piece));
            self.push(lead.unwrap_or(0..0));
        }
    }

    /// Blank lines at the body's end.
    fn tail(&mut self) {
        let end = self.body.pieces.last().map(|piece| piece.lines.end);
        let end = end.unwrap_or(self.body.lines.start);
        self.push(end.min(self.body.lines.end)..self.body.lines.end);
    }

    fn push(&mut self, lines: Range<usize>) {
        if !lines.is_empty() {
            self.lines.push(lines);
        }
    }
}
