//! Sums over attributed samples by group.

use super::blocks::TimeBlocks;
use super::windows::Windows;
use crate::addresses::TaggedAddress;
use fieldline_access::access::{
    Access, AccessProfile, AwaySamples, BlockCount, CpuAccess, EventCoverage, HomeCounts, Recording,
    SampleCount, TypeProfile,
};
use fieldline_access::line_turns::LineTurns;
use fieldline_access::time_blocks::add_to_block;
use fieldline_debuginfo::LinkedAddress;
use fieldline_layout::Layout;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Index of a struct given to [`ProfileBuilder::add_type`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StructIndex(pub(crate) u32);

/// Samples that a profile does not distinguish.
#[derive(Clone, Debug)]
pub(crate) struct SampleGroup {
    pub event: usize,
    /// Address of the instruction, if it is of the program.
    pub ip: Option<LinkedAddress>,
    /// Function it lies in, if known.
    pub function: Option<u32>,
    pub cpu: Option<u32>,
    pub is_store: bool,
    /// The name of the level that served it, if recorded.
    pub level: Option<&'static str>,
    /// Whether it hit a modified line of another CPU.
    pub is_hitm: bool,
    /// Whether other CPUs had the line, modified or not.
    pub is_shared: bool,
    /// Bytes touched.
    pub size: u64,
    /// The structs that were touched, each with the offset in it; the last is the one in window entries. None
    /// if the memory is of a type that is no struct (a counter, an array of pointers).
    pub locations: Vec<(StructIndex, u64)>,
    /// Why it could not be attributed, if so.
    pub reason: Option<&'static str>,
}

/// Number of samples in a group, and sums over them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClassCounts {
    pub samples: u64,
    /// Events they stand for.
    pub period: u64,
    /// Sum of their latencies in core cycles.
    pub latency: u64,
    /// Samples by block of time; shorter if the last have none, empty if there are no blocks.
    pub blocks: Vec<u64>,
    /// Sampled addresses, each with its number of samples.
    pub addresses: Vec<(TaggedAddress, u64)>,
}

impl ClassCounts {
    /// Adds samples with sums over them.
    pub(crate) fn add(&mut self, samples: u64, period: u64, latency: u64) {
        self.samples += samples;
        self.period = self.period.saturating_add(period);
        self.latency = self.latency.saturating_add(latency);
    }

    pub(crate) fn add_to_block(&mut self, block: usize, samples: u64) {
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, 0);
        }
        if let Some(known) = self.blocks.get_mut(block) {
            *known += samples;
        }
    }

    fn tally(&self) -> SampleCount {
        SampleCount { samples: self.samples, period: self.period }
    }
}

type AccessKey = (StructIndex, u64, u64, u64);

/// Sums groups up to the profile of one recording.
#[derive(Debug, Default)]
pub(crate) struct ProfileBuilder {
    pub(crate) recording: Recording,
    /// Samples by block.
    by_block: Vec<u64>,
    events: Vec<EventCoverage>,
    /// Structs with name, size and layout.
    types: Vec<TypeProfile>,
    functions: Vec<String>,
    accesses: FxHashMap<AccessKey, Access>,
    cpus: FxHashMap<(StructIndex, u64, u32), CpuAccess>,
    touched: Vec<(AccessKey, ObjectTouch, u64)>,
}

impl ProfileBuilder {
    pub(crate) fn new(
        recording: Recording,
        events: impl IntoIterator<Item = String>,
        blocks: &TimeBlocks,
    ) -> Self {
        let coverage = |event| EventCoverage { event, ..EventCoverage::default() };
        let events = events.into_iter().map(coverage).collect();
        Self { recording, by_block: vec![0; blocks.len()], events, ..Self::default() }
    }

    /// Adds a struct. Add each once.
    pub(crate) fn add_type(&mut self, name: String, size: u64, layout: Option<Layout>) -> StructIndex {
        self.types.push(TypeProfile { name, size, layout, ..TypeProfile::default() });
        StructIndex(self.types.len() as u32 - 1)
    }

    /// Adds a function; its index. Add each once.
    pub(crate) fn add_function(&mut self, name: String) -> u32 {
        self.functions.push(name);
        self.functions.len() as u32 - 1
    }

    pub(crate) fn add_group(&mut self, row: &SampleGroup, counts: &ClassCounts) {
        self.recording.samples += counts.samples;
        for (all, samples) in self.by_block.iter_mut().zip(&counts.blocks) {
            *all += samples;
        }
        if let Some(event) = self.events.get_mut(row.event) {
            add_coverage(event, row.reason, counts.tally());
        }
        for (target, offset) in &row.locations {
            self.add_access(row, counts, *target, *offset);
        }
    }

    /// Counts samples for a struct.
    fn add_access(&mut self, row: &SampleGroup, counts: &ClassCounts, target: StructIndex, offset: u64) {
        let SampleGroup { ip, size, .. } = *row;
        let Some(LinkedAddress(ip)) = ip else { return };
        let key = (target, ip, offset, size);
        let access = self.accesses.entry(key).or_insert_with(|| Access {
            ip,
            function: row.function.unwrap_or(u32::MAX),
            offset,
            size,
            ..Access::default()
        });
        count_access(access, row, counts);
        for (block, samples) in (0..).zip(&counts.blocks).filter(|(_, samples)| **samples > 0) {
            let (loads, stores) = if row.is_store { (0, *samples) } else { (*samples, 0) };
            add_to_block(&mut access.blocks, BlockCount { block, loads, stores });
        }
        let Some(cpu) = row.cpu else { return };
        let is_lost = if row.is_store { row.is_shared } else { row.is_hitm };
        for (address, count) in &counts.addresses {
            if let Some(base) = address.checked_sub(offset) {
                self.touched.push((key, ObjectTouch { base, cpu, is_store: row.is_store, is_lost }, *count));
            }
        }
        let known = self.cpus.entry((target, offset, cpu));
        let known = known.or_insert(CpuAccess { offset, cpu, loads: 0, stores: 0 });
        *(if row.is_store { &mut known.stores } else { &mut known.loads }) += counts.samples;
    }

    /// Samples of all events that could not be attributed for a reason.
    pub(crate) fn unattributed(&self, reason: &str) -> u64 {
        self.events.iter().filter_map(|event| event.unattributed.get(reason)).map(|tally| tally.samples).sum()
    }

    /// Adds turns of CPUs on the lines of a struct.
    pub(crate) fn add_turns(&mut self, target: StructIndex, turns: Vec<LineTurns>) {
        if let Some(known) = self.types.get_mut(target.0 as usize) {
            known.turns = turns;
        }
    }

    /// The window entry of samples, if their function is known.
    pub(crate) fn window_entry(row: &SampleGroup) -> Option<(i32, u32)> {
        let target = row.locations.last().map_or(-1, |(target, _)| target.0 as i32);
        Some((target, row.function?))
    }

    /// The profile of the recording with its `windows`; `blind_spots` are sentences on its limits.
    pub(crate) fn finish(mut self, windows: Windows, blind_spots: Vec<String>) -> AccessProfile {
        let type_order = self.order_of_types();
        self.assign_homes();
        let mut profile = AccessProfile::empty();
        profile.types = type_order.iter().map(|target| self.type_profile(*target)).collect();
        let type_indices: FxHashMap<i32, i32> =
            type_order.iter().zip(0i32..).map(|(target, index)| (target.0 as i32, index)).collect();
        profile.windows = windows.finish(|target| type_indices.get(&target).copied().unwrap_or(-1));
        profile.blocks = self.by_block;
        profile.recordings = vec![self.recording];
        profile.coverage = self.events;
        profile.blind_spots = blind_spots;
        profile.functions = self.functions;
        profile
    }

    /// Structs with samples, by name.
    fn order_of_types(&self) -> Vec<StructIndex> {
        let used: BTreeSet<StructIndex> = self.accesses.keys().map(|key| key.0).collect();
        let mut used: Vec<StructIndex> = used.into_iter().collect();
        used.sort_by_key(|target| self.types.get(target.0 as usize).map(|ty| (ty.name.clone(), ty.size)));
        used
    }

    fn type_profile(&self, target: StructIndex) -> TypeProfile {
        let accesses = self.accesses.iter().filter(|(key, _)| key.0 == target);
        let mut accesses: Vec<Access> = accesses.map(|(_, access)| access.clone()).collect();
        accesses.sort_by_key(|access| (access.ip, access.offset, access.size));
        let cpu_accesses = self.cpus.iter().filter(|(key, _)| key.0 == target);
        let mut cpus: Vec<CpuAccess> = cpu_accesses.map(|(_, access)| *access).collect();
        cpus.sort_by_key(|access| (access.offset, access.cpu));
        let known = self.types.get(target.0 as usize).cloned().unwrap_or_default();
        let fingerprint = known.layout.as_ref().map_or(0, Layout::fingerprint);
        TypeProfile { fingerprint, accesses, cpus, ..known }
    }

    /// Assigns each object its home CPU, counts accesses from other CPUs, and counts where objects begin.
    fn assign_homes(&mut self) {
        let mut by_target: FxHashMap<StructIndex, Vec<(AccessKey, ObjectTouch, u64)>> = FxHashMap::default();
        for (key, touched, samples) in self.touched.drain(..) {
            by_target.entry(key.0).or_default().push((key, touched, samples));
        }
        for (target, samples) in by_target {
            let (homes, sums) = find_homes(samples.iter().map(|(_, touched, samples)| (touched, *samples)));
            if let Some(known) = self.types.get_mut(target.0 as usize) {
                homes.keys().for_each(|base| *known.phases.entry(base.0 % 256).or_default() += 1);
                known.homes = sums;
            }
            for (key, touched, samples) in samples {
                if homes.get(&touched.base) != Some(&touched.cpu)
                    && let Some(access) = self.accesses.get_mut(&key)
                {
                    access.away.add(AwaySamples {
                        loads: samples * u64::from(!touched.is_store),
                        stores: samples * u64::from(touched.is_store),
                        lost: samples * u64::from(touched.is_lost),
                    });
                }
            }
        }
    }
}

/// Adds samples to those of an event: attributed, or not for a reason.
pub(crate) fn add_coverage(event: &mut EventCoverage, reason: Option<&str>, tally: SampleCount) {
    add_tally(&mut event.total, tally);
    let Some(reason) = reason else { return add_tally(&mut event.attributed, tally) };
    match event.unattributed.get_mut(reason) {
        Some(known) => add_tally(known, tally),
        None => add_tally(event.unattributed.entry(reason.to_owned()).or_default(), tally),
    }
}

/// Adds without wrapping, as numbers of a file may be anything.
pub(crate) fn add_tally(sum: &mut SampleCount, other: SampleCount) {
    sum.samples = sum.samples.saturating_add(other.samples);
    sum.period = sum.period.saturating_add(other.period);
}

fn count_access(access: &mut Access, row: &SampleGroup, counts: &ClassCounts) {
    let levels = if row.is_store {
        access.stores.add(counts.tally());
        &mut access.store_levels
    } else {
        access.loads.add(counts.tally());
        access.latency = access.latency.saturating_add(counts.latency);
        &mut access.levels
    };
    let labels = row.level.into_iter().chain(row.is_hitm.then_some("HITM"));
    for label in labels.chain((row.is_store && row.is_shared).then_some("TAKEN")) {
        *levels.entry(label.to_owned()).or_default() += counts.samples;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ObjectTouch {
    /// Where the object begins.
    pub base: TaggedAddress,
    pub cpu: u32,
    pub is_store: bool,
    /// Whether the line was lost to another CPU before.
    pub is_lost: bool,
}

/// The home CPU of each object by its address, and sums over all, of samples with their numbers. Of CPUs with
/// equally many samples the first is home.
fn find_homes<'t>(
    samples: impl IntoIterator<Item = (&'t ObjectTouch, u64)>,
) -> (FxHashMap<TaggedAddress, u32>, HomeCounts) {
    let mut counts: FxHashMap<TaggedAddress, BTreeMap<u32, u64>> = FxHashMap::default();
    for (touched, samples) in samples {
        *counts.entry(touched.base).or_default().entry(touched.cpu).or_default() += samples;
    }
    let (mut homes, mut sums) = (FxHashMap::default(), HomeCounts::default());
    for (base, cpus) in counts {
        let samples: u64 = cpus.values().sum();
        sums.samples += samples;
        sums.others += samples * (cpus.len() as u64 - 1);
        let busiest = cpus.into_iter().max_by_key(|(cpu, count)| (*count, std::cmp::Reverse(*cpu)));
        homes.extend(busiest.map(|(cpu, _)| (base, cpu)));
    }
    (homes, sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::windows::WindowSample;
    use crate::aggregate::{SampleTimes, TimeBlocks};

    fn row(places: &[(StructIndex, u64)], reason: Option<&'static str>) -> SampleGroup {
        SampleGroup {
            event: 0,
            ip: Some(LinkedAddress(16)),
            function: None,
            cpu: Some(1),
            is_store: false,
            level: Some("L3"),
            is_hitm: true,
            is_shared: true,
            size: 4,
            locations: places.to_vec(),
            reason,
        }
    }

    fn single_sample(addresses: &[u64]) -> ClassCounts {
        let addresses = addresses.iter().map(|address| (TaggedAddress(*address), 1)).collect();
        ClassCounts { samples: 1, period: 10, latency: 7, addresses, ..ClassCounts::default() }
    }

    fn no_windows() -> Windows {
        Windows::new(0, TimeBlocks::default(), Vec::new())
    }

    #[test]
    fn every_sample_is_accounted_for() {
        let mut builder =
            ProfileBuilder::new(Recording::default(), ["loads".to_owned()], &TimeBlocks::default());
        let target = builder.add_type("thing".to_owned(), 64, None);
        builder.add_group(&row(&[(target, 8)], None), &single_sample(&[0x1048]));
        builder.add_group(&row(&[(target, 8)], None), &single_sample(&[0x1048]));
        builder.add_group(&row(&[], None), &single_sample(&[]));
        builder.add_group(&row(&[], Some("stack")), &single_sample(&[]));
        let profile = builder.finish(no_windows(), Vec::new());
        let event = &profile.coverage[0];
        let lost: u64 = event.unattributed.values().map(|tally| tally.samples).sum();
        assert_eq!((event.total.samples, event.attributed.samples, lost), (4, 3, 1));
        assert_eq!(event.total.period, 40);
        let profile_type = &profile.types[0];
        assert_eq!(profile_type.accesses[0].loads, SampleCount { samples: 2, period: 20 });
        assert_eq!(profile_type.accesses[0].latency, 14);
        assert_eq!(
            profile_type.accesses[0].levels,
            BTreeMap::from([("HITM".to_owned(), 2), ("L3".to_owned(), 2)])
        );
        assert_eq!(profile_type.phases, BTreeMap::from([(0x40, 1)]));
    }

    #[test]
    fn accesses_and_windows_know_their_blocks() {
        let mut clock = SampleTimes::default();
        (0..200).for_each(|time| clock.add(time));
        let blocks = clock.blocks();
        let mut builder = ProfileBuilder::new(Recording::default(), ["loads".to_owned()], &blocks);
        let target = builder.add_type("thing".to_owned(), 64, None);
        let function = Some(builder.add_function("walk".to_owned()));
        let row = SampleGroup { function, ..row(&[(target, 8)], None) };
        let mut windows = Windows::new(0, blocks.clone(), vec![ProfileBuilder::window_entry(&row).unwrap()]);
        for time in [5, 7, 9, 195] {
            let mut counts = single_sample(&[]);
            counts.add_to_block(blocks.block_at(Some(time)).unwrap() as usize, 1);
            builder.add_group(&row, &counts);
            windows.push(1, WindowSample { time, entry: 0, context: None });
        }
        let profile = builder.finish(windows, Vec::new());
        assert_eq!((profile.blocks[0], profile.blocks[19], profile.blocks.len()), (3, 1, 20));
        let count = |block, loads| BlockCount { block, loads, stores: 0 };
        assert_eq!(profile.types[0].accesses[0].blocks, [count(0, 3), count(19, 1)]);
        let windows: Vec<_> = profile.windows.iter().flat_map(|window| &window.blocks).collect();
        assert_eq!(windows, [&(0, 3), &(19, 1)]);
    }

    fn touched(base: u64, cpu: u32) -> ObjectTouch {
        ObjectTouch { base: TaggedAddress(base), cpu, is_store: false, is_lost: false }
    }

    #[test]
    fn an_object_is_at_home_where_most_of_its_samples_are() {
        let samples = [touched(64, 3), touched(64, 1), touched(64, 3), touched(128, 2), touched(128, 1)];
        let (homes, sums) = find_homes(samples.iter().map(|touched| (touched, 1)));
        assert_eq!((homes[&TaggedAddress(64)], homes[&TaggedAddress(128)]), (3, 1));
        assert_eq!(sums, HomeCounts { samples: 5, others: 5 });
    }
}
