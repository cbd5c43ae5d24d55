//! Accesses to the members of structs as recorded: plain data, additive over recordings.
//!
//! Accesses are kept by instruction, so that everything else (heat of a member, functions, touch rates) is a
//! sum over them. A struct is known by name, size and [`fieldline_layout::Layout::fingerprint`]; a member by
//! its byte offset. Names of members never enter.

use crate::line_turns::LineTurns;
use fieldline_layout::types::split_namespace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Value of [`AccessProfile::format`].
pub const FORMAT: &str = "fieldline-profile";
/// Value of [`AccessProfile::version`] this crate writes and reads.
pub const VERSION: u32 = 1;

/// If fewer of the loads hit the nearest cache, a recording holds only slow ones.
const LEAST_NEAR_LOADS: f64 = 0.1;

/// Whether so few loads hit the nearest cache (`near` of `served` with a data source) that a latency
/// threshold hid the others. Then the samples don't show which members are read together.
#[must_use]
pub fn lacks_fast_loads(near: u64, served: u64) -> bool {
    served > 0 && (near as f64) < LEAST_NEAR_LOADS * served as f64
}

/// All accesses of one or several recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessProfile {
    /// Always [`FORMAT`].
    pub format: String,
    /// Format version.
    pub version: u32,
    /// The recordings read, in the order given.
    pub recordings: Vec<Recording>,
    /// How many samples found their member, per event.
    pub coverage: Vec<EventCoverage>,
    /// Limits of the recordings, a sentence each.
    pub blind_spots: Vec<String>,
    /// The structs that were touched, by name.
    pub types: Vec<TypeProfile>,
    /// Functions that samples fell in; [`Access::function`] and [`Window`] entries refer to them by index.
    pub functions: Vec<String>,
    /// Sequences of samples one CPU took close in time, see [`Window`].
    pub windows: Vec<Window>,
    /// Samples in each block of time, all recordings' blocks one after the other. Empty if a recording has
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<u64>,
}

/// One recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// File name without its folder.
    pub file: String,
    /// Host it was made on, if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Kernel release, if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// Command that made it, if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Build id of the program or kernel the samples were attributed with, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Build ids of further programs that were attributed with it, in hex.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_build_ids: Vec<String>,
    /// Cacheline size of the recorded machine in bytes, if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cacheline: Option<u64>,
    /// Samples in the file.
    pub samples: u64,
    /// Samples the kernel said it lost.
    pub lost: u64,
    /// Samples with a call chain.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub callchains: u64,
    /// Samples with a branch stack.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub branch_stacks: u64,
    /// Straight-line ranges of branch stacks whose accesses are among the samples.
    #[serde(default, skip_serializing_if = "is_zero", rename = "branch_runs")]
    pub straight_line_ranges: u64,
}

impl Recording {
    /// The number of samples as text; of branch stacks, accesses are counted.
    #[must_use]
    pub fn describe_samples(&self) -> String {
        let Self { samples, straight_line_ranges: ranges, branch_stacks, .. } = self;
        match ranges {
            0 => format!("{samples} samples"),
            _ => format!(
                "{samples} samples (accesses in {ranges} straight-line ranges of {branch_stacks} branch stacks)"
            ),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Samples and what they stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleCount {
    /// Number of samples.
    pub samples: u64,
    /// Sum of their periods: events they stand for.
    pub period: u64,
}

impl SampleCount {
    /// Adds one sample.
    pub fn add_sample(&mut self, period: u64) {
        self.samples += 1;
        self.period = self.period.saturating_add(period);
    }

    /// Adds another tally.
    pub fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.period = self.period.saturating_add(other.period);
    }
}

/// Where the samples of one event went. `attributed + Σ unattributed = total`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCoverage {
    /// Event name as recorded.
    pub event: String,
    /// All its samples.
    pub total: SampleCount,
    /// Those that found a data type.
    pub attributed: SampleCount,
    /// Those that did not, by reason.
    pub unattributed: BTreeMap<String, SampleCount>,
}

/// The reason of samples that touch the stack and no struct there: return addresses, saved registers, spilled values.
pub const ON_STACK: &str = "stack";

impl EventCoverage {
    /// Its samples without those of the stack that no struct is in. Their number depends on the architecture: x86's
    /// calls and returns write and read memory, AArch64's don't. None if no sample is such a one.
    pub fn samples_off_stack(&self) -> Option<u64> {
        let on_stack = self.unattributed.get(ON_STACK).filter(|count| count.samples > 0)?;
        Some(self.total.samples.saturating_sub(on_stack.samples))
    }
}

/// How samples were served: a data-source level or snoop result as a short name (`L1`, `L3`, `HITM` …).
pub type LevelCounts = BTreeMap<String, u64>;

/// One struct's accesses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TypeProfile {
    /// Tag of the struct.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// [`fieldline_layout::Layout::fingerprint`] of the layout the samples were attributed with.
    pub fingerprint: u64,
    /// The layout the samples were attributed with, so that reports can name members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<fieldline_layout::Layout>,
    /// Accesses by instruction and offset, sorted.
    pub accesses: Vec<Access>,
    /// Accesses by offset and CPU: `(offset, cpu)` → loads and stores, in samples.
    pub cpus: Vec<CpuAccess>,
    /// Where objects began within a 256-byte block, if addresses were sampled: base modulo 256 → objects.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<u64, u64>,
    /// The home CPUs of objects, if addresses were sampled.
    #[serde(default, skip_serializing_if = "HomeCounts::is_none")]
    pub homes: HomeCounts,
    /// Turns of CPUs on lines, by line size, if addresses and times but no cache levels were sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<LineTurns>,
}

/// Samples of one instruction at one offset of a struct.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Address of the instruction in the program's own address space (before relocation).
    pub ip: u64,
    /// Index into [`AccessProfile::functions`].
    pub function: u32,
    /// Byte offset into the struct.
    pub offset: u64,
    /// Bytes touched.
    pub size: u64,
    /// Loads sampled.
    pub loads: SampleCount,
    /// Stores sampled.
    pub stores: SampleCount,
    /// Sum of the weights (latency in core cycles) of the loads.
    pub latency: u64,
    /// Loads by level that served them, and `HITM` for those that hit a modified line of another CPU.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: LevelCounts,
    /// Stores by level, `HITM` as for loads, and `TAKEN` for those that took the line from other CPUs'
    /// caches, modified or not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub store_levels: LevelCounts,
    /// Those of the samples that a CPU took which is not its object's home, see [`HomeCounts`].
    #[serde(default, skip_serializing_if = "AwaySamples::is_none")]
    pub away: AwaySamples,
    /// The samples by block of time, in order of blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<BlockCount>,
}

/// Samples of one instruction at one offset in one time block. In files a list: block, loads, stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u64, u64)", into = "(u32, u64, u64)")]
pub struct BlockCount {
    /// Index into [`AccessProfile::blocks`].
    pub block: u32,
    /// Loads sampled.
    pub loads: u64,
    /// Stores sampled.
    pub stores: u64,
}

impl From<(u32, u64, u64)> for BlockCount {
    fn from((block, loads, stores): (u32, u64, u64)) -> Self {
        Self { block, loads, stores }
    }
}

impl From<BlockCount> for (u32, u64, u64) {
    fn from(count: BlockCount) -> Self {
        (count.block, count.loads, count.stores)
    }
}

/// Samples of CPUs on objects whose home is another CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaySamples {
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
    /// Loads and stores that found the line lost to another CPU, see [`Access::lost_line_samples`].
    pub lost: u64,
}

impl AwaySamples {
    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.loads += other.loads;
        self.stores += other.stores;
        self.lost += other.lost;
    }
}

/// The home CPUs of the objects of a struct, if addresses were sampled: the CPU that took most of an object's
/// samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HomeCounts {
    /// Samples of known objects.
    pub samples: u64,
    /// Sum over these samples of the CPUs that touch the object besides its home.
    pub others: u64,
}

impl HomeCounts {
    /// Whether no object is known.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Adds those of another recording.
    pub fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.others += other.others;
    }
}

/// Samples of one CPU at one offset of a struct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuAccess {
    /// Byte offset into the struct.
    pub offset: u64,
    /// CPU number.
    pub cpu: u32,
    /// Loads sampled.
    pub loads: u64,
    /// Stores sampled.
    pub stores: u64,
}

/// Consecutive samples of one CPU close in time: which functions worked on which structs together.
///
/// Equal windows are kept once with a count. An entry is a pair (type or none, function). Functions that the
/// samples' call chains and branch stacks show are entries without a type, once in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// `(type index in [`AccessProfile::types`] or -1, function index)` of each sample and of its context,
    /// sorted.
    #[serde(rename = "words")]
    pub entries: Vec<(i32, u32)>,
    /// How many windows were equal.
    pub count: u64,
    /// Those by block of time, in order of blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<(u32, u64)>,
}

impl AccessProfile {
    /// A profile of nothing.
    pub fn empty() -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            recordings: Vec::new(),
            coverage: Vec::new(),
            blind_spots: Vec::new(),
            types: Vec::new(),
            functions: Vec::new(),
            windows: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// The profile of a struct, the one with most samples if several fit: its name may lack namespaces in
    /// front.
    pub fn find_type(&self, name: &str) -> Option<&TypeProfile> {
        let whole = self.types.iter().find(|profile| profile.name == name);
        let fits = |profile: &&TypeProfile| {
            let prefix = profile.name.strip_suffix(name).filter(|prefix| prefix.ends_with("::"));
            prefix.is_some() && split_namespace(&profile.name).0.is_some()
        };
        whole.or_else(|| self.types.iter().filter(fits).max_by_key(|profile| profile.samples()))
    }
}

impl TypeProfile {
    /// Whether samples say where accesses were served, so that lost lines show.
    pub fn shows_lost_lines(&self) -> bool {
        self.accesses.iter().any(|access| !access.levels.is_empty() || !access.store_levels.is_empty())
    }

    /// Turns of CPUs on lines of a size, in bytes, if nothing shows lost lines themselves.
    pub fn turns_on(&self, line: u64) -> Option<&LineTurns> {
        self.turns.iter().find(|turns| turns.line == line).filter(|_| !self.shows_lost_lines())
    }

    /// Samples of the struct, loads and stores.
    pub fn samples(&self) -> u64 {
        self.accesses.iter().map(Access::samples).sum()
    }

    /// Whether both are of one struct with one layout.
    pub(crate) fn is_same_struct(&self, other: &Self) -> bool {
        self.name == other.name && self.size == other.size && self.fingerprint == other.fingerprint
    }
}

impl Access {
    /// Loads and stores together, in samples.
    pub fn samples(&self) -> u64 {
        self.loads.samples + self.stores.samples
    }

    /// Samples that found the line lost to another CPU: loads of a line another CPU modified, and stores that
    /// took the line from others.
    pub fn lost_line_samples(&self) -> u64 {
        let count = |levels: &LevelCounts, level| levels.get(level).copied().unwrap_or(0);
        count(&self.levels, "HITM") + count(&self.store_levels, "TAKEN")
    }

    /// Whether the bytes touched overlap a member's.
    pub fn touches(&self, member: &fieldline_layout::Member) -> bool {
        self.offset < member.bit_end().div_ceil(8)
            && member.offset() < self.offset.saturating_add(self.size.max(1))
    }
}
