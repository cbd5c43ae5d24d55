//! Counts over the records of a recording: enough to find its limits.

use crate::address::LoadedAddress;
use crate::data_source::{Level, Operation};
use crate::perf_data::header::attr::Attr;
use crate::perf_data::header::facts::{BuildId, EventIndex, RecordingFacts};
use crate::perf_data::stream::record::{Mmap, Record};
use crate::sample::branch_ranges::{BranchStackKind, straight_line_ranges};
use crate::sample::{CpuMode, Sample};

/// Kernel mappings beyond this are no kernel's: an image and some thousand modules.
const KERNEL_MAP_LIMIT: usize = 1 << 14;

/// `PATH_MAX`: no name of a file is longer.
const PATH_LIMIT: usize = 4096;

/// Counts over all records. Records can be added while they are used for something else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Counts of each event's samples, by [`EventIndex`].
    pub events: Vec<SampleCounts>,
    /// Samples of events that the recording does not describe.
    pub unknown_samples: u64,
    /// Records that did not fit the kernel's buffer.
    pub lost_records: u64,
    /// Samples that were lost.
    pub lost_samples: u64,
    /// Samples that a filter dropped on purpose.
    pub filtered_samples: u64,
    /// Times the kernel paused an event.
    pub throttles: u64,
    /// Bytes of hardware trace data.
    pub aux_bytes: u64,
    /// The kernel image and modules, in file order.
    pub kernel_maps: Vec<KernelMap>,
}

/// Counts of one event's samples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampleCounts {
    /// Samples.
    pub samples: u64,
    /// Sum of their periods.
    pub period: u128,
    /// Samples by [`CpuMode`], in the order of [`CpuMode::ALL`].
    pub by_cpu_mode: [u64; 6],
    /// Samples whose data address is not zero.
    pub with_address: u64,
    /// Samples whose instruction is exact.
    pub exact_ips: u64,
    /// Samples with an operation.
    pub with_operation: u64,
    /// Samples with a level.
    pub with_level: u64,
    /// Loads, by the data source.
    pub loads: u64,
    /// Stores, by the data source.
    pub stores: u64,
    /// Loads that the first-level cache served.
    pub l1_load_hits: u64,
    /// The smallest latency of a load, where loads have latencies.
    pub min_load_latency: Option<u64>,
    /// Samples with a branch stack that is not empty.
    pub branch_stacks: u64,
    /// Possible straight-line ranges of these.
    pub ranges: u64,
    /// Impossible ones.
    pub impossible_ranges: u64,
}

/// Where the kernel image or a module was mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelMap {
    /// First address.
    pub address: LoadedAddress,
    /// Bytes.
    pub length: u64,
    /// Of the image, the loaded address of the reference symbol, unless the kernel hid it.
    reference_address: Option<LoadedAddress>,
    /// Path, or a name in brackets, for the image with the reference symbol behind it.
    pub filename: String,
    /// Build id, where the mapping has one.
    pub build_id: Option<BuildId>,
    /// It is the image and not a module.
    pub is_image: bool,
}

impl KernelMap {
    pub(crate) fn new(mmap: &Mmap<'_>) -> Self {
        Self {
            address: mmap.address,
            length: mmap.length,
            reference_address: mmap.reference_address(),
            filename: mmap.filename.chars().take(PATH_LIMIT).collect(),
            build_id: mmap.build_id,
            is_image: mmap.is_kernel_image(),
        }
    }

    /// The symbol by which `perf record` recorded the load bias, and its loaded address.
    ///
    /// The load bias is this address less the symbol's address in vmlinux. perf writes
    /// `[kernel.kallsyms]_text` or `_stext` with the address as page offset
    /// (`__perf_event__synthesize_kernel_mmap` in `tools/perf/util/synthetic-events.c`).
    #[must_use]
    pub fn reference_symbol(&self) -> Option<(&str, LoadedAddress)> {
        let (_, symbol) = self.filename.split_once(']').filter(|(_, symbol)| !symbol.is_empty())?;
        Some((symbol, self.reference_address?))
    }
}

impl SampleCounts {
    fn add(&mut self, sample: &Sample<'_>) {
        self.samples += 1;
        self.period += u128::from(sample.period);
        if let Some(count) = self.by_cpu_mode.get_mut(sample.cpu_mode as usize) {
            *count += 1;
        }
        self.with_address += u64::from(sample.addr.is_some());
        self.exact_ips += u64::from(sample.exact_ip);
        if let Some(stack) = sample.branch_stack {
            self.branch_stacks += u64::from(stack.entries().next().is_some());
            self.add_ranges(sample);
        }
        if let Some(source) = sample.data_source {
            let operation = source.operation();
            self.with_operation += u64::from(operation != Operation::NotAvailable);
            self.with_level += u64::from(source.level() != Level::NotAvailable);
            self.stores += u64::from(operation.is_store());
            if operation.is_load() {
                self.add_load(sample, source.is_l1_hit());
            }
        }
    }

    #[cold]
    fn add_ranges(&mut self, sample: &Sample<'_>) {
        for range in straight_line_ranges(sample) {
            let is_possible = u64::from(range.is_possible());
            self.ranges += is_possible;
            self.impossible_ranges += 1 - is_possible;
        }
    }

    fn add_load(&mut self, sample: &Sample<'_>, is_l1_hit: bool) {
        self.loads += 1;
        self.l1_load_hits += u64::from(is_l1_hit);
        self.min_load_latency = self.min_load_latency.into_iter().chain(sample.latency).min();
    }

    fn merge(&mut self, other: &Self) {
        self.samples += other.samples;
        self.period += other.period;
        for (count, more) in self.by_cpu_mode.iter_mut().zip(other.by_cpu_mode) {
            *count += more;
        }
        self.with_address += other.with_address;
        self.exact_ips += other.exact_ips;
        self.with_operation += other.with_operation;
        self.with_level += other.with_level;
        self.loads += other.loads;
        self.stores += other.stores;
        self.l1_load_hits += other.l1_load_hits;
        self.branch_stacks += other.branch_stacks;
        self.ranges += other.ranges;
        self.impossible_ranges += other.impossible_ranges;
        let both = [self.min_load_latency, other.min_load_latency];
        self.min_load_latency = both.into_iter().flatten().min();
    }

    /// Whether no sample has an access, and branch stacks have ranges: see [`crate::sample::branch_ranges`].
    #[must_use]
    pub fn uses_branch_ranges(&self, attr: &Attr) -> bool {
        let has_no_accesses = self.with_address == 0 && self.loads == 0 && self.stores == 0;
        has_no_accesses
            && self.ranges > 0
            && BranchStackKind::for_event(attr) == BranchStackKind::Complete
            && attr.data_breakpoint().is_none()
    }

    /// Samples taken in this mode.
    #[must_use]
    pub fn in_mode(&self, mode: CpuMode) -> u64 {
        self.by_cpu_mode.get(mode as usize).copied().unwrap_or(0)
    }
}

impl RecordCounts {
    /// Zero counts for a recording with these facts.
    #[must_use]
    pub fn new(facts: &RecordingFacts) -> Self {
        Self { events: vec![SampleCounts::default(); facts.events.len()], ..Self::default() }
    }

    /// Adds a record.
    #[inline]
    pub fn add(&mut self, record: &Record<'_>) {
        match record {
            Record::Sample(sample) => self.add_sample(sample),
            other => self.add_other(other),
        }
    }

    /// Adds a sample.
    #[inline]
    pub fn add_sample(&mut self, sample: &Sample<'_>) {
        if let Some(event) = self.events.get_mut(sample.event.index()) {
            event.add(sample);
        }
    }

    fn add_other(&mut self, record: &Record<'_>) {
        match record {
            Record::UnknownSample { .. } => self.unknown_samples += 1,
            Record::Lost { count } => self.lost_records = self.lost_records.saturating_add(*count),
            Record::LostSamples { count, by_filter: true } => {
                self.filtered_samples = self.filtered_samples.saturating_add(*count);
            }
            Record::LostSamples { count, .. } => self.lost_samples = self.lost_samples.saturating_add(*count),
            Record::Throttle { is_start: true } => self.throttles += 1,
            Record::Aux { size } | Record::AuxTrace { size } => {
                self.aux_bytes = self.aux_bytes.saturating_add(*size);
            }
            Record::Mmap(mmap) if mmap.is_kernel() && self.kernel_maps.len() < KERNEL_MAP_LIMIT => {
                self.kernel_maps.push(KernelMap::new(mmap));
            }
            _ => {}
        }
    }

    /// Adds the counts of the records that follow in the recording.
    pub fn merge(&mut self, other: &Self) {
        for (event, more) in self.events.iter_mut().zip(&other.events) {
            event.merge(more);
        }
        self.unknown_samples += other.unknown_samples;
        self.lost_records = self.lost_records.saturating_add(other.lost_records);
        self.lost_samples = self.lost_samples.saturating_add(other.lost_samples);
        self.filtered_samples = self.filtered_samples.saturating_add(other.filtered_samples);
        self.throttles += other.throttles;
        self.aux_bytes = self.aux_bytes.saturating_add(other.aux_bytes);
        let room = KERNEL_MAP_LIMIT.saturating_sub(self.kernel_maps.len());
        self.kernel_maps.extend(other.kernel_maps.iter().take(room).cloned());
    }

    /// Counts of the event's samples.
    #[must_use]
    pub fn event(&self, event: EventIndex) -> Option<&SampleCounts> {
        self.events.get(event.index())
    }

    /// Samples of all events.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.events.iter().map(|event| event.samples).sum()
    }

    /// Samples of all events taken in this mode.
    #[must_use]
    pub fn in_mode(&self, mode: CpuMode) -> u64 {
        self.events.iter().map(|event| event.in_mode(mode)).sum()
    }

    /// The mapping of the kernel image.
    #[must_use]
    pub fn kernel_image(&self) -> Option<&KernelMap> {
        self.kernel_maps.iter().find(|map| map.is_image)
    }
}
