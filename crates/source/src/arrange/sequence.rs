//! Chunks in their new order.

use super::chunk::{ChunkRole, LineChunks};
use crate::body::{StructBody, names_cacheline};
use crate::join::Join;

/// Chunks in the order they are written, and which of them have moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChunkSequence {
    /// Chunk indices.
    pub(super) items: Vec<usize>,
    /// By chunk index.
    pub(super) moved: Vec<bool>,
    /// Comments about the layout that are left out, by chunk index.
    pub(super) dropped: Vec<usize>,
    /// Those that stay but may be wrong.
    pub(super) doubtful: Vec<usize>,
}

/// Puts chunks in the order their members are wanted in. The order keeps the constraints.
pub(super) fn order_chunks(join: &Join, chunks: &LineChunks, order: &[usize]) -> ChunkSequence {
    // Units in wanted order.
    let first = |member: &usize| chunks.units().find(|(_, unit)| unit.members.start == *member);
    let units: Vec<usize> = order.iter().filter_map(first).map(|(index, _)| index).collect();
    let sequence = ChunkSequence { moved: find_moved(chunks, &units), ..ChunkSequence::default() };
    let mut placer = ChunkPlacer { body: join.body, chunks, sequence };
    placer.place_units(&units);
    placer.place_other_chunks();
    placer.drop_stale_layout_comments();
    placer.sequence
}

/// Which chunks move: units outside a heaviest ascending subsequence, by lines, and their followers.
fn find_moved(chunks: &LineChunks, units: &[usize]) -> Vec<bool> {
    let kept = heaviest_ascending(units, |unit| chunks.get(unit).map_or(0, |chunk| chunk.lines.len()));
    let has_moved = |unit: usize| units.contains(&unit) && !kept.contains(&unit);
    let moved = chunks.list.iter().enumerate().map(|(index, chunk)| match chunk.role {
        ChunkRole::FollowUnit(unit) => has_moved(unit),
        _ => has_moved(index),
    });
    moved.collect()
}

/// An ascending subsequence of greatest weight; among equals the one that ends first.
fn heaviest_ascending(items: &[usize], weight: impl Fn(usize) -> usize) -> Vec<usize> {
    let mut best: Vec<(usize, Option<usize>)> = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let mut here = (0, None);
        for before in 0..at {
            let (total, _) = best[before];
            if items[before] < *item && total > here.0 {
                here = (total, Some(before));
            }
        }
        best.push((here.0 + weight(*item), here.1));
    }
    let heaviest = best.iter().map(|(total, _)| *total).max();
    let mut at = best.iter().position(|(total, _)| Some(*total) == heaviest);
    let mut kept = Vec::new();
    while let Some(index) = at {
        kept.push(items[index]);
        at = best[index].1;
    }
    kept.reverse();
    kept
}

struct ChunkPlacer<'c, 'b, 's, 't> {
    body: &'b StructBody<'s, 't>,
    chunks: &'c LineChunks,
    sequence: ChunkSequence,
}

impl ChunkPlacer<'_, '_, '_, '_> {
    /// Units and what follows them, with barriers between their zones.
    fn place_units(&mut self, units: &[usize]) {
        let all = self.chunks.list.iter().enumerate();
        let barriers = all.clone().filter(|(_, chunk)| chunk.role == ChunkRole::Barrier);
        let mut barriers = barriers.map(|(index, _)| index).peekable();
        let zone = |index: usize| self.chunks.get(index).map_or(0, |chunk| chunk.zone);
        for unit in units {
            while let Some(barrier) = barriers.next_if(|barrier| zone(*barrier) < zone(*unit)) {
                self.sequence.items.push(barrier);
            }
            self.sequence.items.push(*unit);
            let followers = all.clone().filter(|(_, chunk)| chunk.role == ChunkRole::FollowUnit(*unit));
            self.sequence.items.extend(followers.map(|(index, _)| index));
        }
        self.sequence.items.extend(barriers);
    }

    /// Comments and inactive blocks, each between its old neighbours as far as they stayed.
    fn place_other_chunks(&mut self) {
        for (index, chunk) in self.chunks.list.iter().enumerate() {
            if matches!(chunk.role, ChunkRole::Stay | ChunkRole::Inactive | ChunkRole::Layout) {
                let at = self.find_position(index, chunk.path.len());
                self.sequence.items.insert(at, index);
            }
        }
    }

    fn find_position(&mut self, index: usize, depth: usize) -> usize {
        let scope = self.scope(index);
        let is_placed = |other: &usize| self.sequence.items.contains(other);
        let is_anchor = |other: &usize| is_placed(other) && self.sequence.moved.get(*other) == Some(&false);
        if let Some(next) = (index + 1..scope.end).find(is_anchor) {
            return self.position_ahead(next, depth);
        }
        if let Some(before) = (scope.start..index).rev().find(is_anchor) {
            return self.position_behind(before, depth);
        }
        // All of its block has moved: it goes with what was before it, else behind it.
        self.sequence.moved[index] = true;
        let is_placed = |other: &usize| self.sequence.items.contains(other);
        let before = (scope.start..index).rev().find(is_placed);
        match (before, (index + 1..scope.end).find(is_placed)) {
            (Some(before), _) => self.position_behind(before, depth),
            (None, Some(next)) => self.position_ahead(next, depth),
            (None, None) => self.sequence.items.len(),
        }
    }

    /// Chunks of the innermost block around a chunk; all if there is none.
    fn scope(&self, index: usize) -> std::ops::Range<usize> {
        let all = 0..self.chunks.list.len();
        let path = self.chunks.get(index).map_or(&[][..], |chunk| &chunk.path);
        let Some(block) = path.last() else { return all };
        let is_inside = |at: &usize| self.chunks.get(*at).is_some_and(|chunk| chunk.path.contains(block));
        let first = all.clone().find(is_inside).unwrap_or(index);
        let last = all.rev().find(is_inside).unwrap_or(index);
        first..last + 1
    }

    fn position(&self, index: usize) -> usize {
        self.sequence.items.iter().position(|item| *item == index).unwrap_or(self.sequence.items.len())
    }

    /// The place before a chunk, and before those that share its block at this depth.
    fn position_ahead(&self, next: usize, depth: usize) -> usize {
        let mut at = self.position(next);
        while at > 0 && self.share_block(self.sequence.items[at - 1], next, depth) {
            at -= 1;
        }
        at
    }

    /// The place behind a chunk, its followers, and those that share its block at this depth.
    fn position_behind(&self, before: usize, depth: usize) -> usize {
        let mut at = self.position(before) + 1;
        while let Some(item) = self.sequence.items.get(at) {
            let chunk = self.chunks.get(*item);
            let follows = chunk.is_some_and(|chunk| matches!(chunk.role, ChunkRole::FollowUnit(_)));
            if !follows && !self.share_block(*item, before, depth) {
                break;
            }
            at += 1;
        }
        at
    }

    /// Whether two chunks will stand under one `#if` at a depth: those that stayed keep their own.
    fn share_block(&self, left: usize, right: usize, depth: usize) -> bool {
        let block = |index: usize| self.chunks.get(index)?.path.get(depth).copied();
        let (Some(first), Some(second)) = (block(left), block(right)) else { return false };
        let has_moved = |index: usize| self.sequence.moved.get(index) == Some(&true);
        let can_join = has_moved(left) || has_moved(right);
        first == second || (can_join && self.body.arm_literals(first, 0) == self.body.arm_literals(second, 0))
    }

    /// Drops comments about the layout whose neighbours have changed.
    fn drop_stale_layout_comments(&mut self) {
        let items = std::mem::take(&mut self.sequence.items);
        let declared: Vec<usize> = (0..self.chunks.list.len()).collect();
        for item in &items {
            let chunk = self.chunks.get(*item);
            let Some(chunk) = chunk.filter(|chunk| chunk.role == ChunkRole::Layout) else { continue };
            let numbers = names_cacheline(self.body.lines_text(&chunk.lines));
            let same_neighbours = self.neighbours(&items, *item) == self.neighbours(&declared, *item);
            let same_before = self.units_before(&items, *item) == self.units_before(&declared, *item);
            if !same_neighbours || (numbers && !same_before) {
                self.sequence.dropped.push(*item);
            } else if !same_before {
                self.sequence.doubtful.push(*item);
            }
        }
        self.sequence.items = items;
        self.sequence.items.retain(|item| !self.sequence.dropped.contains(item));
    }

    /// The units right before and behind a chunk.
    fn neighbours(&self, items: &[usize], index: usize) -> (Option<usize>, Option<usize>) {
        let (before, behind) = items.split_at(items.iter().position(|item| *item == index).unwrap_or(0));
        let before = before.iter().rev().find(|item| self.chunks.is_unit(**item));
        let behind = behind.iter().find(|item| self.chunks.is_unit(**item));
        (before.copied(), behind.copied())
    }

    fn units_before(&self, items: &[usize], index: usize) -> Vec<usize> {
        let before = items.iter().take_while(|item| **item != index);
        let mut units: Vec<usize> = before.copied().filter(|item| self.chunks.is_unit(*item)).collect();
        units.sort_unstable();
        units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_heaviest_ascending_units() {
        assert_eq!(heaviest_ascending(&[3, 0, 1, 2], |_| 1), [0, 1, 2]);
        assert_eq!(heaviest_ascending(&[3, 0, 1, 2], |item| if item == 3 { 9 } else { 1 }), [3]);
        assert_eq!(heaviest_ascending(&[], |_| 1), [0usize; 0]);
    }
}
