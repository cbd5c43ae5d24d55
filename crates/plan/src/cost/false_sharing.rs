//! Members whose cacheline is taken away by writes to its other members.
//!
//! Samples tell which accesses found their line lost to another CPU. Each of these losses has one of two causes: another
//! CPU wrote the same word (true sharing), or it wrote only other words of the line (false sharing). An object has a
//! home, the CPU that touches it most; what takes lines from the home is done away from it, and the other way round. If
//! accesses of one side come at rate `r`, and writes of the other side to the line at rate `v` and to the word at rate
//! `w`, all at random, then the word was not written since the last access with probability `r / (r + w)`, nothing was
//! with `r / (r + v)`, and of all losses the share `(r / (r + w) - r / (r + v)) / (1 - r / (r + v))` is false. What the
//! word would lose on a line of its own, `r' w / (r' + w)` for its own accesses at rate `r'`, is true sharing at least.
//! Accesses come in visits, and CPUs work on one object by turns, so all such numbers are too high; by how much, the sum
//! over lines of `r v / (r + v)` tells, which should be the losses that samples show.
//!
//! Rates are counted in runs of functions, see [`fieldline_access::sides`].

use fieldline_access::access::TypeProfile;
use fieldline_access::sides::{Sides, Turns, WORD};
use std::collections::{BTreeMap, BTreeSet};

/// Losses below this many samples may be chance: a count of four is two deviations above none (Poisson).
const LEAST: f64 = 4.0;

/// How a place of a struct loses its line.
#[derive(Clone, Debug, PartialEq)]
pub struct Contended {
    /// Byte offset of the place.
    pub offset: u64,
    /// Samples that found the line lost to another CPU.
    pub lost: u64,
    /// Those of them on the object's home CPU.
    pub lost_at_home: u64,
    /// How many of them are due to writes to other words of the line only, an expected number.
    pub falsely: f64,
    /// Other written words of the line, most written by those who take it first.
    pub writers: Vec<Writer>,
}

/// A written word next to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// Byte offset.
    pub offset: u64,
    /// Stores sampled on the home CPU of the object, and elsewhere.
    pub at_home: u64,
    /// Stores sampled elsewhere.
    pub away: u64,
    /// CPUs that stored.
    pub cpus: BTreeSet<u32>,
}

impl Contended {
    /// Whether writes to other members alone take the line too often for chance.
    pub fn is_false(&self) -> bool {
        self.falsely >= LEAST
    }

    /// Whether the place is lost too often for chance, mostly because it is written itself.
    pub fn is_true(&self) -> bool {
        self.lost as f64 - self.falsely >= LEAST
    }
}

/// Places of a struct that lose their line of `line` bytes to other CPUs, those with most false sharing first.
pub fn contended(of: &TypeProfile, line: u64) -> Vec<Contended> {
    let rates = Rates::new(of, line.max(WORD));
    let places: BTreeSet<u64> =
        of.accesses.iter().filter(|access| access.lost() > 0).map(|access| access.offset).collect();
    let mut found: Vec<Contended> = places.into_iter().map(|offset| rates.judge(of, offset)).collect();
    found.sort_by(|one, other| other.falsely.total_cmp(&one.falsely).then(one.offset.cmp(&other.offset)));
    found
}

/// Runs of functions that touch lines and words, in samples.
struct Rates {
    line: u64,
    turns: Turns,
    /// Accesses by line and by word, writes by line and by word.
    touched_lines: BTreeMap<u64, Sides>,
    touched_words: BTreeMap<u64, Sides>,
    written_lines: BTreeMap<u64, Sides>,
    written_words: BTreeMap<u64, Sides>,
}

impl Rates {
    fn new(of: &TypeProfile, line: u64) -> Self {
        let turns = Turns::new(of, line);
        Self {
            line,
            touched_lines: turns.touched(of, |access| access.offset / line),
            touched_words: turns.touched(of, |access| access.offset / WORD),
            written_lines: turns.written(of, |access| access.offset / line),
            written_words: turns.stored(of, |access| access.offset / WORD),
            turns,
        }
    }

    fn judge(&self, of: &TypeProfile, offset: u64) -> Contended {
        let (line, word) = (offset / self.line, offset / WORD);
        let get = |rates: &BTreeMap<u64, Sides>, place| rates.get(&place).copied().unwrap_or_default();
        let (touching, own) = (get(&self.touched_lines, line), get(&self.touched_words, word));
        let (taking, same) = (get(&self.written_lines, line), get(&self.written_words, word));
        let mut lost = Sides::default();
        let mut all = 0;
        for access in of.accesses.iter().filter(|access| access.offset == offset) {
            lost.add(self.turns.losses(access));
            all += access.lost();
        }
        let turns = &self.turns;
        let at_home = (lost.home * share(touching.home, taking.away, same.away))
            .min(lost.home - turns.seen * turns.at_home(own, same));
        let away_rate = touching.away / turns.others;
        let away = (lost.away * share(away_rate, turns.foreign(taking), turns.foreign(same)))
            .min(lost.away - turns.seen * turns.away(own, same));
        let falsely = at_home.max(0.0) + away.max(0.0);
        let lost_at_home = if turns.has_homes { lost.home as u64 } else { 0 };
        Contended { offset, lost: all, lost_at_home, falsely, writers: self.writers(of, offset) }
    }

    fn writers(&self, of: &TypeProfile, offset: u64) -> Vec<Writer> {
        let mut writers: BTreeMap<u64, Writer> = BTreeMap::new();
        let near = |other: u64| other / self.line == offset / self.line && other / WORD != offset / WORD;
        for access in of.accesses.iter().filter(|access| access.stores.samples > 0 && near(access.offset)) {
            let new = || Writer { offset: access.offset, at_home: 0, away: 0, cpus: BTreeSet::new() };
            let writer = writers.entry(access.offset).or_insert_with(new);
            writer.at_home += access.stores.samples - access.away.stores.min(access.stores.samples);
            writer.away += access.away.stores;
        }
        for access in of.cpus.iter().filter(|access| access.stores > 0) {
            if let Some(writer) = writers.get_mut(&access.offset) {
                writer.cpus.insert(access.cpu);
            }
        }
        let mut writers: Vec<Writer> = writers.into_values().collect();
        writers.sort_by_key(|writer| (std::cmp::Reverse((writer.away, writer.at_home)), writer.offset));
        writers
    }
}

/// Share of losses before which the word itself was not written.
fn share(r: f64, v: f64, w: f64) -> f64 {
    if v <= 0.0 {
        return 1.0; // the writer was not sampled, so it wrote something else
    }
    if r <= 0.0 {
        return 0.0;
    }
    let untouched = r / (r + v);
    ((r / (r + w.min(v)) - untouched) / (1.0 - untouched)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use fieldline_access::access::{Access, Away, CpuAccess, Homes, Levels, Tally};

    /// An object of one line with words 0 to 3. In each step one side works: the home, mostly, or the other CPU.
    #[derive(Default)]
    struct Line {
        accesses: BTreeMap<(u64, u32), Access>,
        /// By word: losses, and those without a foreign write to the word.
        truth: BTreeMap<u64, (u64, u64)>,
        /// By side: words the other side wrote since this side was here.
        written: [BTreeSet<u64>; 2],
    }

    impl Line {
        fn touch(&mut self, side: usize, function: u32, word: u64, is_store: bool, first: bool) {
            let is_lost = first && !self.written[side].is_empty();
            if is_lost {
                let truth = self.truth.entry(word).or_default();
                truth.0 += 1;
                truth.1 += u64::from(!self.written[side].contains(&word));
            }
            self.written[side].clear();
            if is_store {
                self.written[1 - side].insert(word);
            }
            let ip = u64::from(function) * 100 + word;
            let access = self.accesses.entry((word, function)).or_insert_with(|| Access {
                ip,
                function,
                offset: word * 8,
                size: 8,
                ..Access::default()
            });
            let tally = if is_store { &mut access.stores } else { &mut access.loads };
            tally.count(1);
            if is_lost {
                let (levels, key): (&mut Levels, _) =
                    if is_store { (&mut access.store_levels, "TAKEN") } else { (&mut access.levels, "HITM") };
                *levels.entry(key.to_owned()).or_default() += 1;
            }
            if side == 1 {
                let (loads, stores) = (u64::from(!is_store), u64::from(is_store));
                access.away.add(Away { loads, stores, lost: u64::from(is_lost) });
            }
        }

        fn profile(&self) -> TypeProfile {
            let accesses: Vec<Access> = self.accesses.values().cloned().collect();
            let samples = accesses.iter().map(Access::samples).sum();
            let cpu = |cpu| CpuAccess { offset: 8, cpu, loads: 0, stores: 1 };
            TypeProfile {
                name: "thing".to_owned(),
                size: 32,
                accesses,
                cpus: vec![cpu(0), cpu(1)],
                homes: Homes { samples, others: samples },
                ..TypeProfile::default()
            }
        }
    }

    /// Word 0 is only read, word 1 written by the other CPU, word 2 read at home and always written with word 1, word 3
    /// seldom.
    fn line() -> Line {
        let mut line = Line::default();
        let mut random = Random::new(5);
        for _ in 0..4000 {
            if random.below(4) > 0 {
                let function = random.below(2);
                line.touch(0, function as u32, [0, 2][function], false, true);
            } else {
                line.touch(1, 7, 1, true, true);
                line.touch(1, 7, 2, true, false);
            }
        }
        line
    }

    #[test]
    fn the_estimate_meets_what_happened() {
        let line = line();
        let found = contended(&line.profile(), 64);
        for place in &found {
            let (lost, falsely) = line.truth[&(place.offset / 8)];
            assert_eq!(place.lost, lost);
            let off = (place.falsely - falsely as f64).abs();
            assert!(off <= 0.1 * lost as f64, "{place:?}: {falsely} of {lost}");
        }
        let falsely: Vec<u64> =
            found.iter().filter(|place| place.is_false()).map(|place| place.offset).collect();
        assert_eq!(falsely, [0]);
        assert!(found.iter().any(|place| place.offset == 16 && place.is_true()));
    }

    #[test]
    fn the_written_neighbours_are_named_with_their_cpus() {
        let found = contended(&line().profile(), 64);
        let writers = &found[0].writers;
        assert_eq!(writers.iter().map(|writer| writer.offset).collect::<Vec<_>>(), [8, 16]);
        assert_eq!(writers[0].at_home, 0);
        assert_eq!(writers[0].cpus, BTreeSet::from([0, 1]));
    }

    #[test]
    fn a_loss_by_chance_is_no_sharing() {
        let levels = BTreeMap::from([("HITM".to_owned(), 2)]);
        let loads = Tally { samples: 90, period: 90 };
        let accesses = vec![Access { ip: 1, size: 8, loads, levels, ..Access::default() }];
        let of = TypeProfile { size: 64, accesses, ..TypeProfile::default() };
        let found = contended(&of, 64);
        assert!(found.len() == 1 && !found[0].is_false() && !found[0].is_true());
    }
}
