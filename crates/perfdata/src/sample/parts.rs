//! The parts of a sample that are more than one number.

use crate::perf_data::Endian;

/// The fields of a sample that are seldom wanted; `None` where the event did not ask for them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts<'a> {
    /// Identity of the event, at the very front of the record.
    pub identifier: Option<u64>,
    /// Identity of the event, or of its group's leader.
    pub id: Option<u64>,
    /// Identity of the event itself.
    pub stream_id: Option<u64>,
    /// Counter values.
    pub read: Option<CounterRead<'a>>,
    /// Return addresses, innermost first, with `PERF_CONTEXT_*` markers between.
    pub callchain: Option<Words<'a>>,
    /// Opaque data of the event.
    pub raw: Option<&'a [u8]>,
    /// Last branches taken.
    pub branch_stack: Option<BranchStack<'a>>,
    /// User registers.
    pub user_registers: Option<SampleRegisters<'a>>,
    /// A copy of the top of the user stack.
    pub user_stack: Option<UserStack<'a>>,
    /// Transaction abort cause.
    pub transaction: Option<u64>,
    /// Registers at the interrupt, or at the sampled instruction of a precise event.
    pub interrupt_registers: Option<SampleRegisters<'a>>,
    /// Identity of the control group.
    pub cgroup: Option<u64>,
    /// Bytes of the page that holds the data address.
    pub data_page_size: Option<u64>,
    /// Bytes of the page that holds the instruction.
    pub code_page_size: Option<u64>,
    /// Snapshot of the AUX area.
    pub aux: Option<&'a [u8]>,
}

/// Whose code was running: the low three bits of a record's `misc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum CpuMode {
    /// Not given.
    #[default]
    Unknown,
    /// The recorded kernel.
    Kernel,
    /// A program.
    User,
    /// The hypervisor below.
    Hypervisor,
    /// The kernel of a guest.
    GuestKernel,
    /// A program in a guest.
    GuestUser,
}

impl CpuMode {
    /// Every mode, in the order of its number.
    pub const ALL: [Self; 6] =
        [Self::Unknown, Self::Kernel, Self::User, Self::Hypervisor, Self::GuestKernel, Self::GuestUser];

    /// `PERF_RECORD_MISC_CPUMODE_MASK` of a record's `misc`; the two unused values are unknown.
    #[must_use]
    pub fn from_misc(misc: u16) -> Self {
        Self::ALL.get(usize::from(misc & 7)).copied().unwrap_or_default()
    }

    /// The kernel, be it of the host or of a guest.
    #[must_use]
    pub fn is_kernel(self) -> bool {
        matches!(self, Self::Kernel | Self::GuestKernel)
    }

    /// A guest's kernel or program.
    #[must_use]
    pub fn is_guest(self) -> bool {
        matches!(self, Self::GuestKernel | Self::GuestUser)
    }
}

/// A run of 64-bit numbers inside a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words<'a> {
    bytes: &'a [u8],
    endian: Endian,
}

impl<'a> Words<'a> {
    pub(super) fn new(bytes: &'a [u8], endian: Endian) -> Self {
        Self { bytes, endian }
    }

    /// How many numbers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / 8
    }

    /// There is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<u64> {
        let bytes = self.bytes.get(index.checked_mul(8)?..)?;
        bytes.first_chunk().map(|&word| self.endian.u64(word))
    }

    /// The numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + 'a {
        let endian = self.endian;
        self.bytes.chunks_exact(8).filter_map(move |chunk| chunk.first_chunk().map(|&word| endian.u64(word)))
    }
}

/// What an access cost: `PERF_SAMPLE_WEIGHT` or `PERF_SAMPLE_WEIGHT_STRUCT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Weight {
    /// Cycles of the access (`var1_dw`; the whole word for `PERF_SAMPLE_WEIGHT`).
    pub latency: u64,
    /// Cycles of the whole instruction (`var2_w`), only with the struct.
    pub instruction_latency: Option<u16>,
    /// Cycles to retirement on x86, pipeline stage cycles on PowerPC (`var3_w`), only with the struct.
    pub retirement_latency: Option<u16>,
}

impl Weight {
    /// Both byte orders lay the struct out so that the word's value is the same.
    pub(super) fn from_word(word: u64, is_struct: bool) -> Self {
        if !is_struct {
            return Self { latency: word, ..Self::default() };
        }
        Self {
            latency: word & 0xffff_ffff,
            instruction_latency: Some((word >> 32) as u16),
            retirement_latency: Some((word >> 48) as u16),
        }
    }
}

/// `struct read_format`: the counter values at the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterRead<'a> {
    /// Nanoseconds the event was enabled.
    pub time_enabled: Option<u64>,
    /// Nanoseconds the event was counting.
    pub time_running: Option<u64>,
    pub(super) lone: Option<CounterValue>,
    pub(super) group: Words<'a>,
    pub(super) has_id: bool,
    pub(super) has_lost: bool,
}

/// One counter of a [`CounterRead`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterValue {
    /// The count.
    pub value: u64,
    /// Identity of the event that counts.
    pub id: Option<u64>,
    /// Samples of it that were lost.
    pub lost: Option<u64>,
}

impl<'a> CounterRead<'a> {
    /// The counters: one, or those of the group.
    pub fn values(&self) -> impl Iterator<Item = CounterValue> + 'a {
        let (words, has_id, has_lost) = (self.group, self.has_id, self.has_lost);
        let step = 1 + usize::from(has_id) + usize::from(has_lost);
        let grouped = (0..words.len() / step).filter_map(move |index| {
            let first = index * step;
            let id = if has_id { words.get(first + 1) } else { None };
            let lost = if has_lost { words.get(first + step - 1) } else { None };
            Some(CounterValue { value: words.get(first)?, id, lost })
        });
        self.lone.into_iter().chain(grouped)
    }
}

/// Last branches, youngest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchStack<'a> {
    /// Index of the youngest branch in the hardware's buffer.
    pub hw_index: Option<u64>,
    pub(super) entries: Words<'a>,
    /// Events per branch, as the PMU packs them.
    pub counters: Option<Words<'a>>,
}

impl<'a> BranchStack<'a> {
    /// The branches.
    pub fn entries(&self) -> impl Iterator<Item = BranchEntry> + use<'a> {
        let words = self.entries;
        (0..words.len() / 3).filter_map(move |index| {
            let (from, to) = (words.get(3 * index)?, words.get(3 * index + 1)?);
            Some(BranchEntry { from, to, flags: words.get(3 * index + 2)?, endian: words.endian })
        })
    }
}

/// `struct perf_branch_entry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchEntry {
    /// Address of the branch.
    pub from: u64,
    /// Address it went to.
    pub to: u64,
    flags: u64,
    endian: Endian,
}

impl BranchEntry {
    /// The prediction was wrong.
    #[must_use]
    pub fn is_mispredicted(&self) -> bool {
        self.endian.bit_field(self.flags, 0, 1) != 0
    }

    /// The processor took it on a path that proved wrong (`PERF_BR_SPEC_WRONG_PATH`): the program did not.
    #[must_use]
    pub fn is_of_wrong_path(&self) -> bool {
        self.endian.bit_field(self.flags, 24, 2) == 1
    }

    /// Cycles since the branch before, zero where not known.
    #[must_use]
    pub fn cycles(&self) -> u16 {
        self.endian.bit_field(self.flags, 4, 16) as u16
    }
}

/// Registers of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRegisters<'a> {
    /// `PERF_SAMPLE_REGS_ABI_*`: 0 none, 1 a 32-bit task, 2 a 64-bit task.
    pub abi: u64,
    /// One bit per register recorded, numbered as in the architecture's `asm/perf_regs.h`.
    pub mask: u64,
    /// The values, lowest register first; empty where `abi` is 0.
    pub values: Words<'a>,
}

impl SampleRegisters<'_> {
    /// The value of the register numbered `register`.
    #[must_use]
    pub fn get(&self, register: u32) -> Option<u64> {
        if self.mask.checked_shr(register)? & 1 == 0 {
            return None;
        }
        let below = self.mask & ((1 << register) - 1);
        self.values.get(below.count_ones() as usize)
    }
}

/// A copy of the user stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserStack<'a> {
    /// Room for the copy.
    pub bytes: &'a [u8],
    /// How much of it was filled.
    pub filled: u64,
}

impl<'a> UserStack<'a> {
    /// The part that was filled.
    #[must_use]
    pub fn contents(&self) -> &'a [u8] {
        let filled = usize::try_from(self.filled).unwrap_or(usize::MAX);
        self.bytes.get(..filled).unwrap_or(self.bytes)
    }
}
