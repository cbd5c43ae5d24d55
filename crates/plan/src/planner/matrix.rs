//! Under which line sizes, builds and phases orders are judged, and with which weight.

use super::Options;
use crate::problem::{Build, View};
use fieldline_layout::Layout;
use fieldline_layout::constraint::Constraints;
use std::collections::BTreeMap;

/// Weight of all views with the recorded machine's line size. Those with another weigh half as much together: the
/// objective is lines at the own size and half of those at each other.
const WEIGHT: u64 = 2_000;
/// Weight of all views on pairs of adjacent lines: a fifth of a line. A pair lost to another CPU costs a fifth of a lost
/// line, as not every fetch brings both; a pair touched weighs no more, for the second line of a pair is often but not
/// always there.
const PAIR_WEIGHT: u64 = WEIGHT / 5;
/// Phases with fewer of the objects are left out.
const RARE_PHASE: u64 = 20;

/// The recorded machine's build first, then those of other line sizes that place members differently.
pub(super) fn builds(layout: &Layout, constraints: &Constraints, options: &Options) -> Vec<Build> {
    let mut builds = vec![Build::new(layout, constraints, options.build_line, options.build_line)];
    for line in &options.lines {
        if builds.iter().all(|build| build.line != *line) {
            builds.push(Build::new(layout, constraints, options.build_line, *line));
        }
    }
    builds
}

/// Lines of the recorded machine's layout at every size, and of every other build at its own size.
pub(super) fn views(builds: &[Build], phases: &BTreeMap<u64, u64>, options: &Options) -> Vec<View> {
    let mut views = Vec::new();
    // The first view is the one whose lines CPUs take from each other: that of the recorded machine.
    let (own, others): (Vec<u64>, Vec<u64>) =
        options.lines.iter().partition(|line| **line == options.build_line);
    for line in own.iter().chain(&others) {
        let own = *line == options.build_line;
        let other = builds.iter().position(|build| build.line == *line && !own);
        let weight = match (own, other) {
            (true, _) => WEIGHT,
            (false, None) => WEIGHT / 2,
            (false, Some(_)) => WEIGHT / 4,
        };
        views.extend(
            shares(phases, *line)
                .into_iter()
                .map(|(phase, share)| View::new(0, *line, phase, (weight as f64 * share) as u64)),
        );
        views.extend(other.map(|build| View::new(build, *line, 0, weight)));
    }
    if options.adjacent_lines {
        views.extend(pairs(phases, options.build_line));
    }
    views
}

/// Pairs of lines of the recorded machine.
fn pairs(phases: &BTreeMap<u64, u64>, line: u64) -> impl Iterator<Item = View> {
    let shares = shares(phases, line.saturating_mul(2)).into_iter();
    shares.map(move |(phase, share)| View::on_pairs(0, line, phase, (PAIR_WEIGHT as f64 * share) as u64))
}

/// Where objects begin within a line of `line` bytes, and which share of them.
fn shares(phases: &BTreeMap<u64, u64>, line: u64) -> Vec<(u64, f64)> {
    let mut within: BTreeMap<u64, u64> = BTreeMap::new();
    for (phase, objects) in phases {
        *within.entry(phase % line.max(1)).or_default() += objects;
    }
    let all: u64 = within.values().sum();
    within.retain(|_, objects| *objects * RARE_PHASE >= all && *objects > 0);
    let kept: u64 = within.values().sum();
    if kept == 0 {
        return vec![(0, 1.0)];
    }
    within.into_iter().map(|(phase, objects)| (phase, objects as f64 / kept as f64)).collect()
}
