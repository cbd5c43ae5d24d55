//! Adaptive selection of move kinds.
//!
//! Useful moves depend on the temperature: hot orders exchange whole lines, cold ones hardly ever keep such a
//! move. Each temperature therefore tries most what it keeps most for the effort, and everything now and
//! then.

use crate::random::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoveKind {
    /// A unit is exchanged with one of the same size.
    SwapSameSize,
    /// Two units are exchanged.
    Swap,
    /// The units on two lines are exchanged.
    SwapLines,
    /// A unit is exchanged with several of the same total size.
    SwapRun,
    /// The units on a line move in front of another line.
    InsertLine,
    /// A unit moves.
    Insert,
    /// Several units move.
    InsertRun,
    /// A unit moves next to one it is declared next to.
    RestoreNeighbour,
}

/// By kind: how often it is tried at first, and how many times longer it takes than an exchange, about.
const KINDS: [(MoveKind, f64, f64); 8] = [
    (MoveKind::SwapSameSize, 4.0, 1.0),
    (MoveKind::Swap, 2.0, 2.0),
    (MoveKind::SwapLines, 2.0, 3.0),
    (MoveKind::SwapRun, 2.0, 1.5),
    (MoveKind::InsertLine, 2.0, 3.0),
    (MoveKind::Insert, 2.0, 2.0),
    (MoveKind::InsertRun, 2.0, 3.0),
    (MoveKind::RestoreNeighbour, 1.0, 1.0),
];
/// Least share of a kind among all moves, before shares are brought to a sum of 1.
const LEAST: f64 = 0.05;
/// Decay of counts at each adaptation.
const DECAY: f64 = 0.9;
/// Prior: moves of a kind assumed tried and kept, so that few tries don't decide.
const PRIOR: (f64, f64) = (10.0, 1.0);

/// How often kinds are tried at one temperature.
#[derive(Clone, Debug)]
pub(crate) struct MoveSelector {
    tried: [f64; KINDS.len()],
    kept: [f64; KINDS.len()],
    /// Cumulative shares of the kinds.
    ends: [f64; KINDS.len()],
}

impl Default for MoveSelector {
    fn default() -> Self {
        let none = [0.0; KINDS.len()];
        Self { tried: none, kept: none, ends: cumulative_shares(KINDS.map(|(_, share, _)| share)) }
    }
}

impl MoveSelector {
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> MoveKind {
        let point = random.unit();
        let kind = self.ends.iter().zip(KINDS).find(|(end, _)| point < **end);
        kind.map_or(MoveKind::SwapSameSize, |(_, (kind, ..))| kind)
    }

    #[inline]
    pub(crate) fn count(&mut self, kind: MoveKind, is_kept: bool) {
        self.tried[kind as usize] += 1.0;
        self.kept[kind as usize] += if is_kept { 1.0 } else { 0.0 };
    }

    /// Sets shares by what was counted.
    pub(crate) fn adapt(&mut self) {
        let rate = |kind: usize| {
            let (tried, kept) = (self.tried[kind] + PRIOR.0, self.kept[kind] + PRIOR.1);
            kept / tried / KINDS[kind].2
        };
        let rates: [f64; KINDS.len()] = std::array::from_fn(rate);
        let sum: f64 = rates.iter().sum();
        self.ends = cumulative_shares(rates.map(|rate| (rate / sum).max(LEAST)));
        for count in self.tried.iter_mut().chain(&mut self.kept) {
            *count *= DECAY;
        }
    }
}

/// Cumulative shares, normalised.
fn cumulative_shares(shares: [f64; KINDS.len()]) -> [f64; KINDS.len()] {
    let sum: f64 = shares.iter().sum();
    let mut end = 0.0;
    shares.map(|share| {
        end += share;
        end / sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_at_their_own_number() {
        assert!(KINDS.iter().enumerate().all(|(number, (kind, ..))| *kind as usize == number));
    }

    #[test]
    fn moves_kept_often_are_tried_more_and_all_now_and_then() {
        let mut selector = MoveSelector::default();
        let mut random = Random::new(1);
        let mut tried = [0; KINDS.len()];
        for move_ in 0..4_000 {
            let kind = selector.draw(&mut random);
            selector.count(kind, kind == MoveKind::Insert);
            tried[kind as usize] += if move_ < 2_000 { 0 } else { 1 };
            if move_ % 200 == 199 {
                selector.adapt();
            }
        }
        assert!(tried[MoveKind::Insert as usize] > 1_000, "{tried:?}");
        assert!(tried.iter().all(|tried| *tried > 30), "{tried:?}");
    }
}
