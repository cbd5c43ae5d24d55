//! Trials in sum: how often intervals hold, how wide they are, and how far predictions are off.

use super::trial::Trial;
use std::collections::BTreeMap;

/// Least share of trials whose interval has the replayed change.
const LEAST_COVERED: f64 = 0.9;
/// Most of the median width of intervals.
const WIDEST: f64 = 0.12;

/// Trials by struct.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    by_struct: BTreeMap<String, Vec<Trial>>,
}

impl Summary {
    pub(super) fn add(&mut self, trial: Trial) {
        self.by_struct.entry(trial.struct_name.clone()).or_default().push(trial);
    }

    fn all(&self) -> Vec<Trial> {
        self.by_struct.values().flatten().cloned().collect()
    }

    /// Whether there are enough trials, and intervals are wide enough and not too wide.
    pub(super) fn holds(&self, enough: usize) -> bool {
        let all = self.all();
        all.len() >= enough && covered(&all) >= LEAST_COVERED && width(&all) <= WIDEST
    }

    /// A line for each struct, and one for all.
    pub(super) fn text(&self) -> String {
        let mut out = format!(
            "{:<16}{:>7}{:>10}{:>14}{:>14}{:>16}\n",
            "struct", "trials", "covered", "median width", "bias, points", "bias of lines"
        );
        let all = self.all();
        let rows = self.by_struct.iter().map(|(name, trials)| (name.as_str(), trials));
        for (name, trials) in rows.chain([("all", &all)]) {
            let bias = median(trials.iter().map(|trial| trial.change[0] - trial.change[1]));
            let lines = median(trials.iter().map(|trial| trial.before[0] / trial.before[1] - 1.0));
            let [covered, width, bias, lines] =
                [covered(trials), width(trials), bias, lines].map(|share| 100.0 * share);
            out += &format!(
                "{name:<16}{:>7}{covered:>8.0} %{width:>14.1}{bias:>+14.1}{lines:>+14.1} %\n",
                trials.len()
            );
        }
        out
    }
}

fn covered(trials: &[Trial]) -> f64 {
    trials.iter().filter(|trial| trial.is_covered()).count() as f64 / trials.len().max(1) as f64
}

fn width(trials: &[Trial]) -> f64 {
    median(trials.iter().map(|trial| trial.interval[1] - trial.interval[0]))
}

/// The median; 0 of nothing.
pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = |index: usize| values.get(index).copied().unwrap_or(0.0);
    (middle(values.len().saturating_sub(1) / 2) + middle(values.len() / 2)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(replayed: f64) -> Trial {
        Trial {
            recording: "load a".to_owned(),
            struct_name: "queue".to_owned(),
            line: 64,
            before: [3.3, 3.0],
            change: [-0.2, replayed],
            interval: [-0.25, -0.15],
        }
    }

    #[test]
    fn intervals_hold_if_they_have_nine_of_ten_replays() {
        let mut summary = Summary::default();
        (0..9).for_each(|_| summary.add(trial(-0.16)));
        summary.add(trial(-0.3));
        assert!(summary.holds(10) && !summary.holds(11));
        let text = summary.text();
        assert!(text.contains("90 %") && text.contains("-4.0") && text.contains("+10.0 %"), "{text}");
        summary.add(trial(-0.3));
        assert!(!summary.holds(10), "{}", summary.text());
    }

    #[test]
    fn medians_are_of_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
        assert_eq!(median([].into_iter()), 0.0);
    }
}
