//! Which line each chunk is on, tried depth first (branch and bound).
//!
//! Chunks come by weight. Empty lines are equivalent, so only the first one is tried (symmetry). A branch
//! ends when what its visits touch so far, and the lines they need for what doesn't fit on those, is no less
//! than the best known. The budget counts nodes, not time: answers are the same on every machine. How much of
//! the tree the first nodes settle shows whether the budget can last (Knuth, 1975); if it can't, it isn't
//! spent.

use crate::search::chunks::Chunks;

/// Visits evaluated in one search.
const BUDGET: usize = 12_000_000;
/// Part of the budget after which the search stops if the rest won't be enough.
const PROBE: usize = 32;
/// By how much the first branches may be larger than those to come: the ones that cost least are tried first.
const LARGER: f64 = 8.0;
/// Chunks up to which a search is begun.
const MOST: usize = 48;
/// Lines a search can distinguish.
const LINES: usize = 64;

/// Chunks in the order in which they are tried, and the visits to them.
#[derive(Clone, Debug, Default)]
pub struct BranchProblem {
    /// Bits that lie on one line.
    line_bits: Vec<u64>,
    visits_of: Vec<Vec<usize>>,
    weights: Vec<u64>,
    /// By chunk, the visits that touch it or chunks behind it, and how many bits of them.
    left: Vec<Vec<(usize, u64)>>,
    line: u64,
    /// Weight of visits of one chunk, which touch one line in any case.
    single: u64,
}

impl BranchProblem {
    /// Sorts chunks by weight.
    pub fn new(chunks: &Chunks) -> Self {
        let mut weight_of = vec![0_u64; chunks.chunks.len()];
        let several: Vec<_> = chunks.visits.iter().filter(|(set, _)| set.len() > 1).collect();
        for (set, weight) in &several {
            set.iter().for_each(|chunk| weight_of[*chunk] += weight);
        }
        let mut order: Vec<usize> = (0..weight_of.len()).filter(|chunk| weight_of[*chunk] > 0).collect();
        order.sort_by_key(|chunk| (std::cmp::Reverse(weight_of[*chunk]), *chunk));
        let visits_of = order.iter().map(|chunk| {
            (0..several.len()).filter(|visit| several[*visit].0.binary_search(chunk).is_ok()).collect()
        });
        let visits_of: Vec<Vec<usize>> = visits_of.collect();
        let line_bits: Vec<u64> =
            order.iter().map(|chunk| chunks.chunks[*chunk].line_bits.min(chunks.line_size)).collect();
        let mut sums = vec![0; several.len()];
        let mut left = vec![Vec::new(); line_bits.len() + 1];
        for (index, visits) in visits_of.iter().enumerate().rev() {
            visits.iter().for_each(|visit| sums[*visit] += line_bits[index]);
            left[index] = sums.iter().copied().enumerate().filter(|(_, bits)| *bits > 0).collect();
        }
        Self {
            left,
            line_bits,
            visits_of,
            weights: several.iter().map(|visit| visit.1).collect(),
            line: chunks.line_size,
            single: chunks.visits.iter().filter(|(set, _)| set.len() == 1).map(|visit| visit.1).sum(),
        }
    }
}

/// Lines that visits touch at least, never more than `known`: exactly that many if the budget lasts.
pub fn branch_and_bound(problem: &BranchProblem, known: u64) -> u64 {
    if problem.line_bits.len() > MOST {
        return problem.single;
    }
    let nodes = BUDGET / problem.weights.len().max(16);
    let mut search = BranchSearch {
        core: problem,
        explored_share: 0.0,
        probe: nodes - nodes / PROBE,
        loads: Vec::new(),
        lines_of: vec![0; problem.weights.len()],
        best: known.saturating_sub(problem.single),
        open_bound: u64::MAX,
        nodes,
    };
    search.descend(0, (0, 0), 1.0);
    search.best.min(search.open_bound).saturating_add(problem.single)
}

struct BranchSearch<'c> {
    core: &'c BranchProblem,
    loads: Vec<u64>,
    /// By visit, a bit for each line it touches.
    lines_of: Vec<u64>,
    best: u64,
    /// The least bound of a branch left open when the budget was spent.
    open_bound: u64,
    nodes: usize,
    /// Share of the tree that is settled, all branches of a node taken for equally large.
    explored_share: f64,
    /// Nodes left when that is checked.
    probe: usize,
}

impl BranchSearch<'_> {
    /// Tries all lines for a chunk: what is touched so far, what the branch touches at least, its share of
    /// the tree.
    fn descend(&mut self, index: usize, (cost, bound): (u64, u64), share: f64) {
        if bound >= self.best {
            self.explored_share += share;
            return;
        }
        let problem = self.core;
        let Some(bits) = problem.line_bits.get(index).copied() else {
            self.explored_share += share;
            self.best = cost;
            return;
        };
        if self.nodes == self.probe && self.explored_share * PROBE as f64 * LARGER < 1.0 {
            self.nodes = 0;
        }
        if self.nodes == 0 {
            self.open_bound = self.open_bound.min(bound);
            return;
        }
        self.nodes -= 1;
        let lines = self.lines_for(index, bits);
        let share = share / lines.len().max(1) as f64;
        for (more, line) in lines {
            let touching = &problem.visits_of[index];
            let undo: Vec<usize> =
                touching.iter().copied().filter(|visit| self.lines_of[*visit] >> line & 1 == 0).collect();
            undo.iter().for_each(|visit| self.lines_of[*visit] |= 1 << line);
            let is_new = line == self.loads.len();
            if is_new {
                self.loads.push(0);
            }
            self.loads[line] += bits;
            let below = self.needed(index + 1, cost + more).max(bound);
            self.descend(index + 1, (cost + more, below), share);
            self.loads[line] -= bits;
            if is_new {
                self.loads.pop();
            }
            undo.iter().for_each(|visit| self.lines_of[*visit] &= !(1 << line));
        }
    }

    /// Lines with room for a chunk, and how much more is touched with it there, the least first.
    fn lines_for(&self, index: usize, bits: u64) -> Vec<(u64, usize)> {
        let visits = self.core.visits_of.get(index).map_or(&[][..], Vec::as_slice);
        let count = (self.loads.len() + 1).min(LINES);
        let fits = |line: &usize| self.loads.get(*line).is_none_or(|load| load + bits <= self.core.line);
        let more = |line: usize| {
            let new = visits.iter().filter(|visit| self.lines_of[**visit] >> line & 1 == 0);
            (new.map(|visit| self.core.weights[*visit]).sum(), line)
        };
        let mut lines: Vec<(u64, usize)> = (0..count).filter(fits).map(more).collect();
        lines.sort_unstable();
        lines
    }

    /// Lines touched, and those needed for what doesn't fit on lines that a visit touches already.
    fn needed(&self, index: usize, cost: u64) -> u64 {
        let Some(left) = self.core.left.get(index) else { return cost };
        let more = left.iter().map(|(visit, left)| {
            // A division for each visit would take longer than all else here.
            match left.saturating_sub(self.room(self.lines_of[*visit])) {
                0 => 0,
                beyond if beyond <= self.core.line => self.core.weights[*visit],
                beyond => beyond.div_ceil(self.core.line.max(1)) * self.core.weights[*visit],
            }
        });
        cost + more.sum::<u64>()
    }

    fn room(&self, mut lines: u64) -> u64 {
        let mut room = 0;
        while lines != 0 {
            let load = self.loads.get(lines.trailing_zeros() as usize).copied().unwrap_or(self.core.line);
            room += self.core.line - load;
            lines &= lines - 1;
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::search::chunks::{Chunk, Chunks};
    use crate::search::lower_bound::bound_touched_lines;
    use std::collections::{BTreeMap, BTreeSet};

    fn case(count: usize, random: &mut Random) -> Chunks {
        let mut visits: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
        for _ in 0..12 {
            let set: BTreeSet<usize> = (0..1 + random.below(5)).map(|_| random.below(count)).collect();
            *visits.entry(set.into_iter().collect()).or_default() += 1 + random.below(9) as u64;
        }
        let bits = |random: &mut Random| 8 * [4, 8, 16, 24, 32, 48][random.below(6)];
        Chunks {
            chunks: (0..count)
                .map(|_| {
                    let bits = bits(random);
                    Chunk { bits, line_bits: bits }
                })
                .collect(),
            visits: visits.into_iter().collect(),
            line_size: 512,
        }
    }

    /// The least over all ways to share chunks out among lines.
    fn least(chunks: &Chunks, lines: &mut Vec<usize>) -> u64 {
        let count = lines.iter().max().map_or(0, |last| last + 1);
        let load = |line: usize| -> u64 {
            let used = lines.iter().zip(&chunks.chunks).filter(|(used, _)| **used == line);
            used.map(|(_, chunk)| chunk.bits).sum()
        };
        let Some(next) = chunks.chunks.get(lines.len()) else {
            let count_lines =
                |set: &[usize]| set.iter().map(|chunk| lines[*chunk]).collect::<BTreeSet<usize>>().len();
            return chunks.visits.iter().map(|(set, weight)| count_lines(set) as u64 * weight).sum();
        };
        let places: Vec<_> = (0..=count).filter(|line| load(*line) + next.bits <= chunks.line_size).collect();
        let tried = places.into_iter().map(|line| {
            lines.push(line);
            let least = least(chunks, lines);
            lines.pop();
            least
        });
        tried.min().unwrap_or(u64::MAX)
    }

    #[test]
    fn small_problems_are_solved_as_by_trying_all_partitions() {
        for seed in 0..30 {
            let mut random = Random::new(seed);
            let chunks = case(5 + seed as usize % 5, &mut random);
            let least = least(&chunks, &mut Vec::new());
            assert_eq!(branch_and_bound(&BranchProblem::new(&chunks), u64::MAX), least, "seed {seed}");
            assert_eq!(branch_and_bound(&BranchProblem::new(&chunks), least), least, "seed {seed}");
            assert_eq!(bound_touched_lines(&chunks, least + 3), least, "seed {seed}");
        }
    }

    #[test]
    fn without_budget_the_bound_is_still_one() {
        for seed in 0..20 {
            let mut random = Random::new(100 + seed);
            let chunks = case(9, &mut random);
            let least = least(&chunks, &mut Vec::new());
            let problem = BranchProblem::new(&chunks);
            let mut search = BranchSearch {
                core: &problem,
                loads: Vec::new(),
                lines_of: vec![0; problem.weights.len()],
                best: u64::MAX,
                open_bound: u64::MAX,
                explored_share: 0.0,
                probe: usize::MAX,
                nodes: 25,
            };
            search.descend(0, (0, 0), 1.0);
            assert!(search.best.min(search.open_bound) + problem.single <= least, "seed {seed}");
        }
    }

    /// Lines are chosen first; visits are unions of few of them; then chunks are shuffled.
    #[test]
    fn planted_lines_are_proven() {
        for seed in 0..6 {
            let mut random = Random::new(seed);
            let (lines, on_line) = (5, 4);
            let mut line_of: Vec<usize> = (0..lines * on_line).map(|chunk| chunk % lines).collect();
            random.shuffle(&mut line_of);
            let mut visits: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
            let mut planted = 0;
            for _ in 0..40 {
                let chosen: BTreeSet<usize> = (0..1 + random.below(3)).map(|_| random.below(lines)).collect();
                let weight = 1 + random.below(20) as u64;
                planted += chosen.len() as u64 * weight;
                let set = (0..line_of.len()).filter(|chunk| chosen.contains(&line_of[*chunk])).collect();
                *visits.entry(set).or_default() += weight;
            }
            let chunk = Chunk { bits: 128, line_bits: 128 };
            let chunks = Chunks {
                chunks: vec![chunk; line_of.len()],
                visits: visits.into_iter().collect(),
                line_size: 512,
            };
            assert_eq!(branch_and_bound(&BranchProblem::new(&chunks), u64::MAX), planted, "seed {seed}");
            assert_eq!(bound_touched_lines(&chunks, planted), planted, "seed {seed}");
        }
    }
}
