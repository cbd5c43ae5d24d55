//! Statistics against scipy's, and how often intervals hold the true value.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

use fieldline_compare::statistics::contrast::{Contrast, paired, welch};
use fieldline_compare::statistics::distribution::{t_quantile, t_two_sided};
use fieldline_compare::statistics::holm::adjust;
use fieldline_compare::statistics::summary::RunSummary;
use serde_json::Value;

fn scipy() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/compare/statistics.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_close(found: f64, expected: f64, place: &str) {
    let error = (found - expected).abs();
    assert!(error <= 1e-9 * expected.abs().max(1e-300), "{place}: {found} is not {expected}");
}

#[test]
fn quantiles_and_tails_are_scipys() {
    for row in scipy()["quantiles"].as_array().unwrap().iter().map(numbers) {
        // scipy's quantile far out is good to eight digits; its tail there says that ours is closer.
        let (found, expected) = (t_quantile(row[1], row[0]).unwrap(), row[2]);
        assert!((found / expected - 1.0).abs() < 1e-8, "{row:?}: {found}");
        assert_close(t_two_sided(found, row[0]).unwrap(), 2.0 * (1.0 - row[1]), &format!("{row:?}"));
    }
    for row in scipy()["tails"].as_array().unwrap().iter().map(numbers) {
        assert_close(t_two_sided(row[1], row[0]).unwrap(), row[2], &format!("{row:?}"));
    }
}

#[test]
fn medians_have_scipys_intervals() {
    for row in scipy()["medians"].as_array().unwrap().iter().map(numbers) {
        let runs: Vec<f64> = (0..row[0] as u32).map(f64::from).collect();
        let interval = RunSummary::from_runs(&runs).unwrap().median_interval;
        match row[1] < 0.0 {
            true => assert_eq!(interval, None, "{row:?}"),
            false => assert_eq!(
                interval.map(|ends| (ends.low, ends.high)),
                Some((row[1], row[0] - 1.0 - row[1])),
                "{row:?}"
            ),
        }
    }
}

#[test]
fn summaries_and_tests_are_scipys() {
    let cases = scipy();
    for (index, case) in cases["cases"].as_array().unwrap().iter().enumerate() {
        let (base, other) = (numbers(&case["base"]), numbers(&case["other"]));
        let summary = RunSummary::from_runs(&base).unwrap();
        let close = |found: f64, key: &str| {
            assert_close(found, case[key].as_f64().unwrap(), &format!("case {index}, {key}"))
        };
        close(summary.mean, "mean");
        close(summary.deviation.unwrap(), "deviation");
        close(summary.variation().unwrap(), "variation");
        close(summary.median, "median");
        match summary.harmonic_mean {
            Some(mean) => close(mean, "harmonic_mean"),
            None => assert!(case["harmonic_mean"].is_null()),
        }
        let ends = summary.mean_interval.unwrap();
        for (found, expected) in [ends.low, ends.high].into_iter().zip(numbers(&case["interval"])) {
            assert_close(found, expected, &format!("case {index}, interval"));
        }
        let contrast = match case["paired"].as_bool().unwrap() {
            true => paired(&base, &other).unwrap(),
            false => welch(&summary, &RunSummary::from_runs(&other).unwrap()),
        };
        close(contrast.t.unwrap(), "t");
        close(contrast.p.unwrap(), "p");
        let bounds = contrast.interval.unwrap().bounds();
        match case["ratio_interval"].is_null() {
            true => assert_eq!(bounds, None, "case {index}"),
            false => {
                let expected = numbers(&case["ratio_interval"]);
                assert_close(bounds.unwrap().low, expected[0], &format!("case {index}, low"));
                assert_close(bounds.unwrap().high, expected[1], &format!("case {index}, high"));
            }
        }
    }
}

#[test]
fn adjusted_p_values_are_holms() {
    // The example of Holm's procedure: 0.01 * 4, 0.02 * 3, 0.03 * 2, and what is smaller than the one before.
    let p = [Some(0.02), None, Some(0.01), Some(0.04), Some(0.03)];
    let expected = [0.06, 0.04, 0.06, 0.06];
    let found: Vec<f64> = adjust(&p).into_iter().flatten().collect();
    assert!(
        found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12),
        "{found:?}"
    );
    assert_eq!(adjust(&p)[1], None);
    assert_eq!(adjust(&[Some(0.7), Some(0.6)]), [Some(1.0), Some(1.0)]);
}

/// Numbers that look random, the same at every run (xorshift64*), and normally distributed ones (Box and Muller).
struct Generator(u64);

impl Generator {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        mean + deviation * radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn runs(&mut self, count: usize, mean: f64, deviation: f64) -> Vec<f64> {
        (0..count).map(|_| self.normal(mean, deviation)).collect()
    }
}

#[test]
fn intervals_of_ratios_hold_the_ratio_as_often_as_they_say() {
    const SIMULATIONS: usize = 10_000;
    let holds =
        |contrast: Contrast| contrast.interval.unwrap().bounds().is_none_or(|ends| ends.contains(0.8));
    let mut generator = Generator(0x9e37_79b9_7f4a_7c15);
    // Base and other scatter differently, as they do after a change.
    for count in [5, 10, 30] {
        let hits = (0..SIMULATIONS).filter(|_| {
            let base = RunSummary::from_runs(&generator.runs(count, 100.0, 10.0)).unwrap();
            let other = RunSummary::from_runs(&generator.runs(count, 80.0, 4.0)).unwrap();
            holds(welch(&base, &other))
        });
        let covered = hits.count() as f64 / SIMULATIONS as f64;
        assert!((covered - 0.95).abs() <= 0.015, "{count} runs: {covered}");
    }
    let hits = (0..SIMULATIONS).filter(|_| {
        let base = generator.runs(5, 100.0, 10.0);
        let other: Vec<f64> = base.iter().map(|run| 0.8 * run + generator.normal(0.0, 2.0)).collect();
        holds(paired(&base, &other).unwrap())
    });
    let covered = hits.count() as f64 / SIMULATIONS as f64;
    assert!((covered - 0.95).abs() <= 0.015, "5 pairs: {covered}");
}

#[test]
fn extreme_runs_give_no_figures_rather_than_wrong_ones() {
    let summary = |runs: &[f64]| RunSummary::from_runs(runs);
    assert_eq!(summary(&[]), None);
    let single = summary(&[3.0]).unwrap();
    assert_eq!((single.deviation, single.mean_interval, single.variation()), (None, None, None));
    let huge = summary(&[f64::MAX, f64::MAX]).unwrap();
    assert!(huge.mean.is_finite(), "{huge:?}");
    assert_eq!(summary(&[f64::MAX, -f64::MAX]).unwrap().mean_interval, None);
    let zero = summary(&[0.0, 0.0]).unwrap();
    assert_eq!((zero.variation(), zero.harmonic_mean), (None, None));
    let equal = welch(&zero, &zero);
    assert_eq!((equal.ratio, equal.p), (None, Some(1.0)));
    // Runs that never scatter differ for sure, if they differ.
    let (low, high) = (summary(&[1.0, 1.0]).unwrap(), summary(&[2.0, 2.0]).unwrap());
    assert_eq!((welch(&low, &high).ratio, welch(&low, &high).p), (Some(2.0), Some(0.0)));
    assert_eq!(welch(&single, &low).p, None);
    assert_eq!(paired(&[1.0, 2.0], &[1.0]), None);
}
