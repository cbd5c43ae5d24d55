//! Structs and recordings made up for tests.
#![allow(dead_code, reason = "each test binary uses a part")]

use fieldline_access::access::{Access, AccessProfile, CpuAccess, SampleCount, TypeProfile, Window};
use fieldline_layout::constraint::{Constraints, PlacementRequests, constraints};
use fieldline_layout::{Layout, Member};
use fieldline_plan::cost::{BuildPlacement, LineConfig, LineSharing, Problem};
use fieldline_plan::options::{CandidateChoice, PlanOptions};
use fieldline_plan::random::Random;
use fieldline_plan::visits::{TouchedRanges, Visits};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of members or of bytes that are touched together, and how often.
pub(crate) type Sets = Vec<(Vec<usize>, u64)>;

/// A struct whose visits are sets of bytes.
pub(crate) struct Case {
    pub(crate) layout: Layout,
    pub(crate) constraints: Constraints,
    pub(crate) ranges: TouchedRanges,
    pub(crate) visits: Visits,
    pub(crate) sharing: LineSharing,
}

impl Case {
    /// A struct of which some bytes are touched at all, by visits in these sets.
    pub(crate) fn new(layout: Layout, bytes: &[u64], sets: &Sets, requests: &PlacementRequests) -> Self {
        let constraints = constraints(&layout, requests).unwrap();
        let access = |offset: &u64| Access { offset: *offset, size: 1, ..Access::default() };
        let ranges = TouchedRanges::new(&layout, &constraints, &bytes.iter().map(access).collect::<Vec<_>>());
        let none = Visits::new(ranges.len(), Vec::new());
        let mut case = Self { layout, constraints, ranges, visits: none, sharing: LineSharing::default() };
        case.visits = case.visits_of(sets);
        case
    }

    /// A struct whose members are touched, each at its first byte, in these sets.
    pub(crate) fn for_members(layout: Layout, sets: &Sets, requests: &PlacementRequests) -> Self {
        let offsets: Vec<u64> = layout.members.iter().map(Member::offset).collect();
        let bytes = |set: &Vec<usize>| set.iter().map(|member| offsets[*member] as usize).collect();
        let sets = sets.iter().map(|(set, weight)| (bytes(set), *weight)).collect();
        Self::new(layout, &offsets, &sets, requests)
    }

    /// Visits to sets of bytes.
    pub(crate) fn visits_of(&self, sets: &Sets) -> Visits {
        let ranges = |set: &[usize]| -> Vec<usize> {
            let found = set.iter().flat_map(|byte| self.ranges.touched(*byte as u64, 1));
            found.collect::<BTreeSet<usize>>().into_iter().collect()
        };
        Visits::new(self.ranges.len(), sets.iter().map(|(set, weight)| (ranges(set), *weight)).collect())
    }

    /// The problem for builds with these line sizes, in these configurations.
    pub(crate) fn problem(&self, lines: &[u64], configs: Vec<LineConfig>) -> Problem<'_> {
        self.problem_with(&self.visits, lines, configs)
    }

    /// The same with other visits.
    pub(crate) fn problem_with<'a>(
        &'a self,
        visits: &'a Visits,
        lines: &[u64],
        configs: Vec<LineConfig>,
    ) -> Problem<'a> {
        let build = |line: &u64| BuildPlacement::new(&self.layout, &self.constraints, 64, *line);
        let builds = lines.iter().map(build).collect();
        Problem::new(&self.constraints, &self.ranges, visits, &self.sharing, builds, configs)
    }
}

/// A struct of members with the sizes given; alignments are natural, 64 for 64 bytes.
pub(crate) fn layout(name: &str, sizes: &[u64]) -> Layout {
    let align = |size: u64| if size == 64 { 64 } else { size.min(8) };
    let sizes: Vec<(u64, u64)> = sizes.iter().map(|size| (*size, align(*size))).collect();
    aligned(name, &sizes)
}

pub(crate) use fieldline_layout::testing::numbered as aligned;

/// A function: the members it touches and in which share of its runs.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) touches: Vec<(usize, f64)>,
    pub(crate) stores: bool,
}

/// Functions that run on an object together, by index, and how often.
pub(crate) struct Operation {
    pub(crate) functions: Vec<usize>,
    pub(crate) runs: u64,
}

/// Functions of a program and the operations that run them.
pub(crate) struct Workload {
    pub(crate) functions: Vec<Function>,
    pub(crate) operations: Vec<Operation>,
}

impl Workload {
    /// Operations that touch all of some members each, one function for each member and operation.
    pub(crate) fn for_sets(sets: &[(Vec<usize>, u64)]) -> Self {
        let mut workload = Self { functions: Vec::new(), operations: Vec::new() };
        for (set, runs) in sets {
            let first = workload.functions.len();
            for (place, members) in set.chunks(3).enumerate() {
                workload.functions.push(Function {
                    name: format!("f{first}_{place}"),
                    touches: members.iter().map(|member| (*member, 1.0)).collect(),
                    stores: place == 1,
                });
            }
            let functions = (first..workload.functions.len()).collect();
            workload.operations.push(Operation { functions, runs: *runs });
        }
        workload
    }

    /// The profile from sampling one access in about `period`.
    pub(crate) fn record(&self, layout: &Layout, period: usize) -> AccessProfile {
        let mut random = Random::new(7);
        let mut accesses: BTreeMap<(u64, u64), Access> = BTreeMap::new();
        let mut windows: BTreeMap<Vec<(i32, u32)>, u64> = BTreeMap::new();
        for operation in &self.operations {
            for _ in 0..operation.runs {
                let mut entries = Vec::new();
                for function in &operation.functions {
                    self.run(*function, layout, period, &mut random, &mut accesses, &mut entries);
                }
                entries.sort_unstable();
                if !entries.is_empty() {
                    *windows.entry(entries).or_default() += 1;
                }
            }
        }
        self.profile(layout, accesses, windows)
    }

    fn run(
        &self,
        function: usize,
        layout: &Layout,
        period: usize,
        random: &mut Random,
        accesses: &mut BTreeMap<(u64, u64), Access>,
        entries: &mut Vec<(i32, u32)>,
    ) {
        let touching = &self.functions[function];
        for (place, (member, rate)) in touching.touches.iter().enumerate() {
            if random.unit() >= *rate || random.below(period) != 0 {
                continue;
            }
            let member = &layout.members[*member];
            let ip = 0x1000 * (function as u64 + 1) + 4 * place as u64;
            let access = accesses.entry((ip, member.offset())).or_insert_with(|| Access {
                ip,
                function: function as u32,
                offset: member.offset(),
                size: member.size().min(8),
                ..Access::default()
            });
            if touching.stores {
                access.stores.add_sample(period as u64);
            } else {
                access.loads.add_sample(period as u64);
                *access.levels.entry("L1".to_owned()).or_default() += 1;
            }
            entries.push((0, function as u32));
        }
    }

    fn profile(
        &self,
        layout: &Layout,
        accesses: BTreeMap<(u64, u64), Access>,
        windows: BTreeMap<Vec<(i32, u32)>, u64>,
    ) -> AccessProfile {
        let accesses: Vec<Access> = accesses.into_values().collect();
        let cpus = accesses.iter().map(|access| CpuAccess {
            offset: access.offset,
            cpu: 0,
            loads: access.loads.samples,
            stores: access.stores.samples,
        });
        let held = TypeProfile {
            name: layout.name.clone(),
            size: layout.size,
            fingerprint: layout.fingerprint(),
            layout: None,
            cpus: cpus.collect(),
            phases: BTreeMap::from([(0, 10)]),
            accesses,
            ..TypeProfile::default()
        };
        AccessProfile {
            types: vec![held],
            functions: self.functions.iter().map(|function| function.name.clone()).collect(),
            windows: windows
                .into_iter()
                .map(|(entries, count)| Window { entries, count, blocks: vec![] })
                .collect(),
            ..AccessProfile::empty()
        }
    }
}

/// The same recording as it would be of another order of the members.
pub(crate) fn moved(profile: &AccessProfile, from: &Layout, to: &Layout) -> AccessProfile {
    let mut profile = profile.clone();
    let place = |offset: u64| {
        let old = &from.members[from.member_at(offset).unwrap()];
        let new = to.members.iter().find(|member| member.name == old.name).unwrap();
        new.offset() + offset - old.offset()
    };
    for held in &mut profile.types {
        for access in &mut held.accesses {
            access.offset = place(access.offset);
        }
        for access in &mut held.cpus {
            access.offset = place(access.offset);
        }
        held.size = to.size;
        held.fingerprint = to.fingerprint();
    }
    profile
}

/// A tally of samples with a period of 1.
pub(crate) fn tally(samples: u64) -> SampleCount {
    SampleCount { samples, period: samples }
}

/// Options that propose the best order.
pub(crate) fn best_order() -> PlanOptions {
    PlanOptions { choice: CandidateChoice::Best, ..PlanOptions::default() }
}
