//! Which kinds of moves a search tries, and how often.
//!
//! What helps depends on the temperature: hot orders exchange whole lines, cold ones hardly ever keep such a move. Each
//! temperature therefore tries most what it keeps most for the effort, and everything now and then.

use crate::random::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A unit changes places with one of the same size.
    SwapAlike,
    /// Two units change places.
    Swap,
    /// What lies on two lines changes places.
    SwapLines,
    /// A unit changes places with several that are together as long.
    SwapRun,
    /// What lies on a line goes in front of another line.
    InsertLine,
    /// A unit goes elsewhere.
    Insert,
    /// Several units go elsewhere.
    InsertRun,
    /// A unit goes back to one it is declared next to.
    Heal,
}

/// By kind: how often it is tried at first, and how many times longer it takes than an exchange, about.
const KINDS: [(Kind, f64, f64); 8] = [
    (Kind::SwapAlike, 4.0, 1.0),
    (Kind::Swap, 2.0, 2.0),
    (Kind::SwapLines, 2.0, 3.0),
    (Kind::SwapRun, 2.0, 1.5),
    (Kind::InsertLine, 2.0, 3.0),
    (Kind::Insert, 2.0, 2.0),
    (Kind::InsertRun, 2.0, 3.0),
    (Kind::Heal, 1.0, 1.0),
];
/// Least share of a kind among all moves, before shares are brought to a sum of 1.
const LEAST: f64 = 0.05;
/// What counts of moves are multiplied with whenever shares are set anew: long ago matters less.
const FADES: f64 = 0.9;
/// Moves of a kind taken for granted, and how many of them kept, so that few tries don't decide.
const GRANTED: (f64, f64) = (10.0, 1.0);

/// How often kinds are tried at one temperature.
#[derive(Clone, Debug)]
pub(crate) struct Repertoire {
    tried: [f64; KINDS.len()],
    kept: [f64; KINDS.len()],
    /// Where the kinds' shares end, laid one behind the other from 0 to 1.
    ends: [f64; KINDS.len()],
}

impl Default for Repertoire {
    fn default() -> Self {
        let none = [0.0; KINDS.len()];
        Self { tried: none, kept: none, ends: ends(KINDS.map(|(_, share, _)| share)) }
    }
}

impl Repertoire {
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> Kind {
        let place = random.unit();
        let kind = self.ends.iter().zip(KINDS).find(|(end, _)| place < **end);
        kind.map_or(Kind::SwapAlike, |(_, (kind, ..))| kind)
    }

    #[inline]
    pub(crate) fn count(&mut self, kind: Kind, is_kept: bool) {
        self.tried[kind as usize] += 1.0;
        self.kept[kind as usize] += if is_kept { 1.0 } else { 0.0 };
    }

    /// Sets shares by what was counted.
    pub(crate) fn adapt(&mut self) {
        let rate = |kind: usize| {
            let (tried, kept) = (self.tried[kind] + GRANTED.0, self.kept[kind] + GRANTED.1);
            kept / tried / KINDS[kind].2
        };
        let rates: [f64; KINDS.len()] = std::array::from_fn(rate);
        let sum: f64 = rates.iter().sum();
        self.ends = ends(rates.map(|rate| (rate / sum).max(LEAST)));
        for count in self.tried.iter_mut().chain(&mut self.kept) {
            *count *= FADES;
        }
    }
}

/// Ends of shares laid one behind the other, as shares of their sum.
fn ends(shares: [f64; KINDS.len()]) -> [f64; KINDS.len()] {
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
    fn what_is_kept_is_tried_more_and_everything_now_and_then() {
        let mut repertoire = Repertoire::default();
        let mut random = Random::new(1);
        let mut tried = [0; KINDS.len()];
        for move_ in 0..4_000 {
            let kind = repertoire.draw(&mut random);
            repertoire.count(kind, kind == Kind::Insert);
            tried[kind as usize] += if move_ < 2_000 { 0 } else { 1 };
            if move_ % 200 == 199 {
                repertoire.adapt();
            }
        }
        assert!(tried[Kind::Insert as usize] > 1_000, "{tried:?}");
        assert!(tried.iter().all(|tried| *tried > 30), "{tried:?}");
    }
}
