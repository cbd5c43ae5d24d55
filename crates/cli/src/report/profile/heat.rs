//! Access counts of one struct, by member, pair and cacheline; [`super::heat_text`] writes them.

use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_layout::layout::Layout;
use std::collections::{BTreeMap, BTreeSet};

/// One member, or one offset where no layout names members.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MemberHeat {
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// Name, or the offset.
    pub(crate) label: String,
    /// Loads and stores in samples.
    pub(crate) loads: u64,
    pub(crate) stores: u64,
    /// Loads and stores in events: sums of periods.
    pub(crate) events: u64,
    /// Sum of the loads' weights in cycles.
    pub(crate) latency: u64,
    /// Loads by level, and `HITM`.
    pub(crate) levels: BTreeMap<String, u64>,
    /// CPUs that loaded or stored, and those that stored.
    pub(crate) cpus: BTreeSet<u32>,
    pub(crate) writers: BTreeSet<u32>,
    /// Samples by function, most first.
    pub(crate) functions: Vec<(String, u64)>,
}

impl MemberHeat {
    pub(crate) fn samples(&self) -> u64 {
        self.loads + self.stores
    }

    /// Mean weight of a load in cycles.
    pub(crate) fn mean_latency(&self) -> u64 {
        self.latency.checked_div(self.loads).unwrap_or(0)
    }
}

/// Two members that the same functions touch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemberPair {
    /// Indexes into [`TypeHeat::members`].
    pub(crate) left: usize,
    pub(crate) right: usize,
    /// Samples of the less touched of the two, summed over functions.
    pub(crate) together: u64,
    /// The function that contributes most.
    pub(crate) function: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LineHeat {
    /// Loads and stores that touch it, in samples.
    pub(crate) loads: u64,
    pub(crate) stores: u64,
    /// CPUs that stored to it.
    pub(crate) writers: BTreeSet<u32>,
    /// Members touched on it, in order of offset.
    pub(crate) members: Vec<String>,
}

/// The accesses that begin at one offset.
#[derive(Clone, Debug, Default, PartialEq)]
struct AccessedRange {
    size: u64,
    heat: LineHeat,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypeHeat {
    pub(crate) name: String,
    pub(crate) size: u64,
    /// In order of offset.
    pub(crate) members: Vec<MemberHeat>,
    /// Most samples first.
    pub(crate) pairs: Vec<MemberPair>,
    /// Samples by function, most first.
    pub(crate) functions: Vec<(String, u64)>,
    ranges: BTreeMap<u64, AccessedRange>,
}

impl TypeHeat {
    /// Joins a struct's accesses with its layout by offset; without one, each offset is a member.
    pub(crate) fn new(profile: &AccessProfile, type_profile: &TypeProfile, layout: Option<&Layout>) -> Self {
        let mut members: BTreeMap<u64, MemberHeat> = BTreeMap::new();
        let mut by_function: BTreeMap<u32, BTreeMap<u64, u64>> = BTreeMap::new();
        for access in &type_profile.accesses {
            let (offset, size, label) = find_member(layout, access.offset, access.size);
            let new = || MemberHeat { offset, size, label, ..MemberHeat::default() };
            let member = members.entry(offset).or_insert_with(new);
            member.loads += access.loads.samples;
            member.stores += access.stores.samples;
            member.events =
                member.events.saturating_add(access.loads.period).saturating_add(access.stores.period);
            member.latency = member.latency.saturating_add(access.latency);
            for (level, count) in &access.levels {
                *member.levels.entry(level.clone()).or_default() += count;
            }
            let touched = by_function.entry(access.function).or_default();
            *touched.entry(offset).or_default() += access.samples();
        }
        for access in &type_profile.cpus {
            let Some(member) = members.get_mut(&find_member(layout, access.offset, 1).0) else { continue };
            member.cpus.insert(access.cpu);
            if access.stores > 0 {
                member.writers.insert(access.cpu);
            }
        }
        let name = |index: u32| profile.functions.get(index as usize).map_or("?", |name| name).to_owned();
        for member in members.values_mut() {
            let count_in_function = |(function, touched): (&u32, &BTreeMap<u64, u64>)| {
                touched.get(&member.offset).map(|count| (name(*function), *count))
            };
            member.functions = rank_counts(by_function.iter().filter_map(count_in_function));
        }
        let sums = by_function.iter().map(|(function, touched)| (name(*function), touched.values().sum()));
        let mut heat = Self {
            name: type_profile.name.clone(),
            size: type_profile.size,
            pairs: Vec::new(),
            functions: rank_counts(sums),
            members: members.into_values().collect(),
            ranges: group_by_range(type_profile, layout),
        };
        heat.add_pairs(&by_function, &name);
        heat
    }

    pub(crate) fn samples(&self) -> u64 {
        self.members.iter().map(MemberHeat::samples).sum()
    }

    /// Cachelines that were touched, by number, if the object starts on one. An access to bytes of two counts
    /// on both.
    pub(crate) fn lines(&self, line: u64) -> BTreeMap<u64, LineHeat> {
        let mut lines: BTreeMap<u64, LineHeat> = BTreeMap::new();
        let line = line.max(1);
        for (offset, range) in &self.ranges {
            let last = offset.saturating_add(range.size.max(1) - 1).min(self.size.saturating_sub(1));
            for index in offset / line..=last / line {
                let heat = lines.entry(index).or_default();
                heat.loads += range.heat.loads;
                heat.stores += range.heat.stores;
                heat.writers.extend(&range.heat.writers);
                heat.members.extend_from_slice(&range.heat.members);
                heat.members.dedup();
            }
        }
        lines
    }

    fn add_pairs(&mut self, by_function: &BTreeMap<u32, BTreeMap<u64, u64>>, name: &impl Fn(u32) -> String) {
        let mut pairs: BTreeMap<(u64, u64), (u64, u64, u32)> = BTreeMap::new();
        for (function, touched) in by_function {
            let touched: Vec<(u64, u64)> = touched.iter().map(|(offset, count)| (*offset, *count)).collect();
            for (at, (left, first)) in touched.iter().enumerate() {
                for (right, second) in &touched[at + 1..] {
                    let together = (*first).min(*second);
                    let pair = pairs.entry((*left, *right)).or_insert((0, 0, *function));
                    pair.0 += together;
                    if together > pair.1 {
                        (pair.1, pair.2) = (together, *function);
                    }
                }
            }
        }
        let index = |offset| self.members.binary_search_by_key(&offset, |member| member.offset).ok();
        let found = pairs.into_iter().filter_map(|((left, right), (together, _, function))| {
            let (left, right) = (index(left)?, index(right)?);
            Some(MemberPair { left, right, together, function: name(function) })
        });
        let mut found: Vec<MemberPair> = found.filter(|pair| pair.together > 0).collect();
        found.sort_by_key(|pair| (std::cmp::Reverse(pair.together), pair.left, pair.right));
        self.pairs = found;
    }
}

/// Accesses by the first byte they touch.
fn group_by_range(type_profile: &TypeProfile, layout: Option<&Layout>) -> BTreeMap<u64, AccessedRange> {
    let mut ranges: BTreeMap<u64, AccessedRange> = BTreeMap::new();
    for access in &type_profile.accesses {
        let AccessedRange { size, heat } = ranges.entry(access.offset).or_default();
        *size = access.size.max(*size);
        heat.loads += access.loads.samples;
        heat.stores += access.stores.samples;
        if heat.members.is_empty() {
            heat.members.push(find_member(layout, access.offset, access.size).2);
        }
    }
    for access in type_profile.cpus.iter().filter(|access| access.stores > 0) {
        if let Some(range) = ranges.get_mut(&access.offset) {
            range.heat.writers.insert(access.cpu);
        }
    }
    ranges
}

fn rank_counts(counts: impl Iterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (name, count) in counts {
        *sums.entry(name).or_default() += count;
    }
    let mut ranked: Vec<(String, u64)> = sums.into_iter().filter(|(_, count)| *count > 0).collect();
    ranked.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    ranked
}

/// Offset, size and name of the member an access belongs to.
fn find_member(layout: Option<&Layout>, offset: u64, size: u64) -> (u64, u64, String) {
    match layout.and_then(|layout| layout.members.get(layout.member_at(offset)?)) {
        Some(member) => (member.offset(), member.size(), member.label().to_owned()),
        None => (offset, size, format!("+{offset}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_access::access::{Access, CpuAccess, SampleCount};

    fn access(function: u32, offset: u64, loads: u64, stores: u64) -> Access {
        Access {
            function,
            offset,
            size: 8,
            loads: SampleCount { samples: loads, period: 2 * loads },
            stores: SampleCount { samples: stores, period: 2 * stores },
            ..Access::default()
        }
    }

    fn heat() -> TypeHeat {
        let mut profile = AccessProfile::empty();
        profile.functions = vec!["first".to_owned(), "second".to_owned()];
        let type_profile = TypeProfile {
            name: "thing".to_owned(),
            size: 64,
            accesses: vec![access(0, 0, 10, 0), access(0, 8, 4, 2), access(1, 8, 1, 0), access(1, 16, 0, 7)],
            cpus: vec![CpuAccess { offset: 16, cpu: 3, loads: 0, stores: 7 }],
            ..TypeProfile::default()
        };
        TypeHeat::new(&profile, &type_profile, None)
    }

    #[test]
    fn counts_add_up_over_functions() {
        let heat = heat();
        assert_eq!(heat.samples(), 24);
        assert_eq!(heat.members[1].functions, [("first".to_owned(), 6), ("second".to_owned(), 1)]);
        assert_eq!(heat.functions, [("first".to_owned(), 16), ("second".to_owned(), 8)]);
        assert_eq!(heat.members[2].writers.len(), 1);
    }

    #[test]
    fn pairs_count_the_less_touched_member() {
        let pairs: Vec<(usize, usize, u64)> =
            heat().pairs.iter().map(|pair| (pair.left, pair.right, pair.together)).collect();
        assert_eq!(pairs, [(0, 1, 6), (1, 2, 1)]);
    }

    #[test]
    fn a_line_counts_what_touches_its_own_bytes() {
        let lines = heat().lines(16);
        let counts = |index: u64| (lines[&index].loads, lines[&index].stores);
        assert_eq!((counts(0), counts(1)), ((15, 2), (0, 7)));
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[&1].writers.len(), 1);
        // Lines of 4 bytes: each access touches two.
        assert_eq!(heat().lines(4).values().map(|line| line.loads + line.stores).sum::<u64>(), 48);
    }
}
