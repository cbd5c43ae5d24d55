//! Members whose cacheline is taken away by writes to its other members.
//!
//! Samples show which accesses found their line lost to another CPU. Each of these losses has one of two
//! causes: another CPU wrote the same word (true sharing), or it wrote only other words of the line (false
//! sharing). The home CPU loses lines to the other CPUs, and these to the home. If accesses of one side come
//! at rate `r`, and writes of the other side to the line at rate `v` and to the word at rate `w`, all at
//! random, then the word was not written since the last access with probability `r / (r + w)`, nothing was
//! with `r / (r + v)`, and of all losses the share `(r / (r + w) - r / (r + v)) / (1 - r / (r + v))` is
//! false. What the word would lose on a line of its own, `r' w / (r' + w)` for its own accesses at rate `r'`,
//! is true sharing at least. Accesses come in visits, so all such numbers are too high; the factor is the
//! sampled losses over the sum of `r v / (r + v)` over lines.
//!
//! Rates are counted in runs of functions, see [`fieldline_access::line_loss`].

use fieldline_access::access::{Access, TypeProfile};
use fieldline_access::line_loss::{HomeAwaySamples, LineLossModel, WORD};
use std::collections::{BTreeMap, BTreeSet};

/// Fewer lost samples are not significant: a count of four is two deviations above none (Poisson).
const MIN_LOSSES: f64 = 4.0;

/// How an offset of a struct loses its line.
#[derive(Clone, Debug, PartialEq)]
pub struct ContendedOffset {
    /// Byte offset.
    pub offset: u64,
    /// Samples that found the line lost to another CPU.
    pub lost: u64,
    /// Those of them on the object's home CPU.
    pub lost_at_home: u64,
    /// How many of them are due to writes to other words of the line only, an expected number.
    pub false_losses: f64,
    /// Other written words of the line, those most written by other CPUs first.
    pub writers: Vec<LineWriter>,
}

/// Another written word of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineWriter {
    /// Byte offset.
    pub offset: u64,
    /// Stores sampled on the home CPU of the object, and elsewhere.
    pub at_home: u64,
    /// Stores sampled elsewhere.
    pub away: u64,
    /// CPUs that stored.
    pub cpus: BTreeSet<u32>,
}

impl ContendedOffset {
    /// Whether writes to other members alone take the line significantly often.
    pub fn is_false(&self) -> bool {
        self.false_losses >= MIN_LOSSES
    }

    /// Whether the line is lost significantly often, mostly because the word itself is written.
    pub fn is_true(&self) -> bool {
        self.lost as f64 - self.false_losses >= MIN_LOSSES
    }
}

/// Offsets of a struct that lose their line of `line` bytes to other CPUs, those with most false sharing
/// first.
pub fn find_contended(profile: &TypeProfile, line: u64) -> Vec<ContendedOffset> {
    let rates = RunRates::new(profile, line.max(WORD));
    let lossy = profile.accesses.iter().filter(|access| access.lost_line_samples() > 0);
    let offsets: BTreeSet<u64> = lossy.map(|access| access.offset).collect();
    let mut contended: Vec<_> = offsets.into_iter().map(|offset| rates.estimate(profile, offset)).collect();
    contended.sort_by(|this, other| {
        other.false_losses.total_cmp(&this.false_losses).then(this.offset.cmp(&other.offset))
    });
    contended
}

/// Runs of functions that touch lines and words, in samples.
struct RunRates {
    line: u64,
    model: LineLossModel,
    /// Accesses by line and by word, writes by line and by word.
    touched_lines: BTreeMap<u64, HomeAwaySamples>,
    touched_words: BTreeMap<u64, HomeAwaySamples>,
    written_lines: BTreeMap<u64, HomeAwaySamples>,
    written_words: BTreeMap<u64, HomeAwaySamples>,
}

impl RunRates {
    fn new(profile: &TypeProfile, line: u64) -> Self {
        let model = LineLossModel::new(profile, line);
        Self {
            line,
            touched_lines: model.touch_rates(profile, |access| access.offset / line),
            touched_words: model.touch_rates(profile, |access| access.offset / WORD),
            written_lines: model.word_store_rates(profile, |access| access.offset / line),
            written_words: model.store_rates(profile, |access| access.offset / WORD),
            model,
        }
    }

    fn estimate(&self, profile: &TypeProfile, offset: u64) -> ContendedOffset {
        let (line, word) = (offset / self.line, offset / WORD);
        let get = |rates: &BTreeMap<u64, HomeAwaySamples>, key| rates.get(&key).copied().unwrap_or_default();
        let (line_touches, word_touches) = (get(&self.touched_lines, line), get(&self.touched_words, word));
        let (line_stores, word_stores) = (get(&self.written_lines, line), get(&self.written_words, word));
        let (mut samples, mut lost) = (HomeAwaySamples::default(), 0);
        for access in profile.accesses.iter().filter(|access| access.offset == offset) {
            samples.add(self.model.split_losses(access));
            lost += access.lost_line_samples();
        }
        let model = &self.model;
        let at_home = (samples.home * false_share(line_touches.home, line_stores.away, word_stores.away))
            .min(samples.home - model.observed_share * model.home_losses(word_touches, word_stores));
        let away_rate = line_touches.away / model.other_cpus;
        let away = (samples.away
            * false_share(away_rate, model.foreign_writes(line_stores), model.foreign_writes(word_stores)))
        .min(samples.away - model.observed_share * model.away_losses(word_touches, word_stores));
        let false_losses = at_home.max(0.0) + away.max(0.0);
        let lost_at_home = if model.has_homes { samples.home as u64 } else { 0 };
        ContendedOffset { offset, lost, lost_at_home, false_losses, writers: self.writers(profile, offset) }
    }

    fn writers(&self, profile: &TypeProfile, offset: u64) -> Vec<LineWriter> {
        let mut writers: BTreeMap<u64, LineWriter> = BTreeMap::new();
        let near = |other: u64| other / self.line == offset / self.line && other / WORD != offset / WORD;
        let stored = |access: &&Access| access.stores.samples > 0 && near(access.offset);
        for access in profile.accesses.iter().filter(stored) {
            let new = || LineWriter { offset: access.offset, at_home: 0, away: 0, cpus: BTreeSet::new() };
            let writer = writers.entry(access.offset).or_insert_with(new);
            writer.at_home += access.stores.samples - access.away.stores.min(access.stores.samples);
            writer.away += access.away.stores;
        }
        for access in profile.cpus.iter().filter(|access| access.stores > 0) {
            if let Some(writer) = writers.get_mut(&access.offset) {
                writer.cpus.insert(access.cpu);
            }
        }
        let mut writers: Vec<LineWriter> = writers.into_values().collect();
        writers.sort_by_key(|writer| (std::cmp::Reverse((writer.away, writer.at_home)), writer.offset));
        writers
    }
}

/// Share of losses before which the word itself was not written.
fn false_share(r: f64, v: f64, w: f64) -> f64 {
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
    use fieldline_access::access::{AwaySamples, CpuAccess, HomeCounts, LevelCounts, SampleCount};

    /// An object of one line with words 0 to 3. In each step one CPU works: the home, mostly, or the other.
    #[derive(Default)]
    struct SimulatedLine {
        accesses: BTreeMap<(u64, u32), Access>,
        /// By word: losses, and those without a foreign write to the word.
        truth: BTreeMap<u64, (u64, u64)>,
        /// By side: words the other side wrote since this side was here.
        written: [BTreeSet<u64>; 2],
    }

    impl SimulatedLine {
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
            tally.add_sample(1);
            if is_lost {
                let (levels, key): (&mut LevelCounts, _) =
                    if is_store { (&mut access.store_levels, "TAKEN") } else { (&mut access.levels, "HITM") };
                *levels.entry(key.to_owned()).or_default() += 1;
            }
            if side == 1 {
                let (loads, stores) = (u64::from(!is_store), u64::from(is_store));
                access.away.add(AwaySamples { loads, stores, lost: u64::from(is_lost) });
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
                homes: HomeCounts { samples, others: samples },
                ..TypeProfile::default()
            }
        }
    }

    /// Word 0 is only read, word 1 written by the other CPU, word 2 read at home and always written with word
    /// 1, word 3 seldom.
    fn line() -> SimulatedLine {
        let mut line = SimulatedLine::default();
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
    fn the_estimate_matches_the_simulated_losses() {
        let line = line();
        let contended = find_contended(&line.profile(), 64);
        for loss in &contended {
            let (lost, false_losses) = line.truth[&(loss.offset / 8)];
            assert_eq!(loss.lost, lost);
            let error = (loss.false_losses - false_losses as f64).abs();
            assert!(error <= 0.1 * lost as f64, "{loss:?}: {false_losses} of {lost}");
        }
        let false_losses: Vec<u64> =
            contended.iter().filter(|loss| loss.is_false()).map(|place| place.offset).collect();
        assert_eq!(false_losses, [0]);
        assert!(contended.iter().any(|loss| loss.offset == 16 && loss.is_true()));
    }

    #[test]
    fn the_written_neighbours_are_named_with_their_cpus() {
        let contended = find_contended(&line().profile(), 64);
        let writers = &contended[0].writers;
        assert_eq!(writers.iter().map(|writer| writer.offset).collect::<Vec<_>>(), [8, 16]);
        assert_eq!(writers[0].at_home, 0);
        assert_eq!(writers[0].cpus, BTreeSet::from([0, 1]));
    }

    #[test]
    fn a_loss_by_chance_is_no_sharing() {
        let levels = BTreeMap::from([("HITM".to_owned(), 2)]);
        let loads = SampleCount { samples: 90, period: 90 };
        let accesses = vec![Access { ip: 1, size: 8, loads, levels, ..Access::default() }];
        let profile = TypeProfile { size: 64, accesses, ..TypeProfile::default() };
        let contended = find_contended(&profile, 64);
        assert!(contended.len() == 1 && !contended[0].is_false() && !contended[0].is_true());
    }
}
