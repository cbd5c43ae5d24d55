//! Sets of members that might leave a struct.

use crate::judge::planner::Planner;
use crate::visits::touch::events;
use fieldline_layout::constraint::PlacementRequests;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Shares of the visits below which members count as rarely touched.
const RARE: [f64; 5] = [0.0, 0.01, 0.03, 0.08, 0.15];
/// Share of a member's accesses by CPUs that aren't the object's home, from which on it is other CPUs' work.
const AWAY: f64 = 0.5;
/// Likeness of visits (Jaccard) from which on members are one class of work.
const LIKENESS: [f64; 3] = [0.6, 0.4, 0.25];
/// Most classes of work that are tried, those of most visits.
const MOST_CLASSES: usize = 6;

/// Why some members might be a struct of their own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitReason {
    /// Visits touch them in at most so many of a thousand cases.
    RarelyTouched(u64),
    /// They are touched together, in other visits than the rest.
    OwnVisits,
    /// Mostly CPUs that aren't the object's home touch them.
    OtherCpus,
    /// They are there in some configurations only.
    Configuration(String),
    /// Objects of some kind never use them.
    Kind(String),
}

/// Members that might leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitSeed {
    /// Why.
    pub why: Vec<SplitReason>,
    /// Declared indices, in order.
    pub members: Vec<usize>,
}

/// All sets to try, each once; `further` are those that something else than the profile shows.
pub(super) fn all(
    planner: &Planner<'_>,
    requests: &PlacementRequests,
    further: &[SplitSeed],
) -> Vec<SplitSeed> {
    let mut found: BTreeMap<Vec<usize>, BTreeSet<SplitReason>> = BTreeMap::new();
    let mut add = |units: BTreeSet<usize>, why: SplitReason| {
        let movable = units.into_iter().filter(|unit| is_movable(planner, *unit));
        let mut members: Vec<usize> =
            movable.flat_map(|unit| planner.constraints.units[unit].members.clone()).collect();
        members.sort_unstable();
        if !members.is_empty() {
            found.entry(members).or_default().insert(why);
        }
    };
    let work = UnitWork::new(planner);
    for share in RARE {
        add(work.touched_at_most(share), SplitReason::RarelyTouched((share * 1000.0).round() as u64));
    }
    for least in LIKENESS {
        for class in work.classes(least) {
            add(class.clone(), SplitReason::OwnVisits);
            let idle = work.touched_at_most(RARE[1]);
            add(class.union(&idle).copied().collect(), SplitReason::OwnVisits);
        }
    }
    add(away_units(planner), SplitReason::OtherCpus);
    for smaller in &requests.configurations {
        let units = planner.constraints.units.iter().enumerate();
        let absent =
            units.filter(|(_, unit)| unit.members.iter().all(|member| smaller.absent.contains(member)));
        add(absent.map(|(unit, _)| unit).collect(), SplitReason::Configuration(smaller.name.clone()));
    }
    for seed in further {
        let units = planner.constraints.units.iter().enumerate();
        let own = units.filter(|(_, unit)| unit.members.iter().all(|member| seed.members.contains(member)));
        let own: BTreeSet<usize> = own.map(|(unit, _)| unit).collect();
        seed.why.iter().for_each(|why| add(own.clone(), why.clone()));
    }
    let seeds = found.into_iter();
    seeds.map(|(members, why)| SplitSeed { why: why.into_iter().collect(), members }).collect()
}

/// Whether a unit may leave: its place in the struct has no meaning.
fn is_movable(planner: &Planner<'_>, unit: usize) -> bool {
    let unit = &planner.constraints.units[unit];
    unit.constraint.is_none() || unit.keeps_order()
}

/// Units that mostly CPUs other than the object's home touch.
fn away_units(planner: &Planner<'_>) -> BTreeSet<usize> {
    let units: Vec<usize> = planner.model.ranges.iter().map(|range| range.unit).collect();
    let mut counts: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for access in &planner.model.accesses {
        let away = (access.away.loads + access.away.stores) as f64 / access.samples().max(1) as f64;
        let touched = planner.model.ranges.touched(access.offset, access.size);
        let touched: BTreeSet<usize> =
            touched.iter().filter_map(|range| units.get(*range).copied()).collect();
        for unit in touched {
            let count = counts.entry(unit).or_default();
            *count = (count.0 + events(access) * away, count.1 + events(access));
        }
    }
    counts.into_iter().filter(|(_, (away, all))| *away > AWAY * *all).map(|(unit, _)| unit).collect()
}

/// The visits of each unit.
struct UnitWork {
    units: usize,
    /// By unit, the numbers of the visits that touch it.
    visits: Vec<BTreeSet<usize>>,
    weights: Vec<u64>,
    total: u64,
}

impl UnitWork {
    fn new(planner: &Planner<'_>) -> Self {
        let units = planner.constraints.units.len();
        let of_range: Vec<usize> = planner.model.ranges.iter().map(|range| range.unit).collect();
        let sets = planner.model.together.sets();
        let mut visits = vec![BTreeSet::new(); units];
        for (number, (ranges, _)) in sets.iter().enumerate() {
            for unit in ranges.iter().filter_map(|range| of_range.get(*range)) {
                visits[*unit].insert(number);
            }
        }
        let weights: Vec<u64> = sets.iter().map(|set| set.1).collect();
        Self { units, visits, total: planner.model.together.total().max(1), weights }
    }

    fn weight<'v>(&self, visits: impl Iterator<Item = &'v usize>) -> u64 {
        visits.filter_map(|visit| self.weights.get(*visit)).sum()
    }

    /// Units that at most this share of the visits touch.
    fn touched_at_most(&self, share: f64) -> BTreeSet<usize> {
        let is_rare =
            |unit: &usize| self.weight(self.visits[*unit].iter()) as f64 <= share * self.total as f64;
        (0..self.units).filter(is_rare).collect()
    }

    /// Classes of units whose visits are similar: single linkage at a likeness, without the class of most visits.
    fn classes(&self, least: f64) -> Vec<BTreeSet<usize>> {
        let touched: Vec<usize> = (0..self.units).filter(|unit| !self.visits[*unit].is_empty()).collect();
        let mut classes: Vec<BTreeSet<usize>> = Vec::new();
        for unit in touched {
            let (mut similar, apart): (Vec<_>, Vec<_>) = classes
                .into_iter()
                .partition(|class| class.iter().any(|other| self.likeness(unit, *other) >= least));
            let mut joined: BTreeSet<usize> = similar.drain(..).flatten().collect();
            joined.insert(unit);
            classes = apart;
            classes.push(joined);
        }
        let touching = |class: &BTreeSet<usize>| {
            let visits: BTreeSet<usize> =
                class.iter().flat_map(|unit| self.visits[*unit].iter().copied()).collect();
            self.weight(visits.iter())
        };
        classes.sort_by_key(|class| (std::cmp::Reverse(touching(class)), class.clone()));
        classes.into_iter().skip(1).take(MOST_CLASSES).collect()
    }

    /// Weight of the visits that touch both, as a share of those that touch either.
    fn likeness(&self, this: usize, other: usize) -> f64 {
        let (this, other) = (&self.visits[this], &self.visits[other]);
        let both = self.weight(this.intersection(other));
        both as f64 / self.weight(this.union(other)).max(1) as f64
    }
}
