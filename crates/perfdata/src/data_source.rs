//! `union perf_mem_data_src`: operation, level and snoop of an access.
//!
//! Both byte orders declare the bit-fields so that the word has the same value, so a word read in the
//! recording's byte order needs no further care. Source: `include/uapi/linux/perf_event.h`.

/// The data source word of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DataSource(pub u64);

/// `PERF_MEM_LVL_REM_RAM1` and `PERF_MEM_LVL_REM_RAM2`.
const REMOTE_RAM_BITS: u64 = 0x300;

/// The operation of an instruction on memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// The hardware did not say, or the instruction touched no memory.
    NotAvailable,
    /// Read.
    Load,
    /// Wrote.
    Store,
    /// Read and wrote; AMD's sampling can say so of one instruction.
    LoadStore,
    /// Prefetched.
    Prefetch,
    /// Was fetched itself.
    Execute,
}

impl Operation {
    /// Memory was read.
    #[must_use]
    pub fn is_load(self) -> bool {
        matches!(self, Self::Load | Self::LoadStore)
    }

    /// Memory was written.
    #[must_use]
    pub fn is_store(self) -> bool {
        matches!(self, Self::Store | Self::LoadStore)
    }
}

/// The level of the memory hierarchy that served, or was asked by, an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The hardware did not say.
    NotAvailable,
    /// First-level data cache.
    L1,
    /// Line fill buffer: the line was on its way already.
    LineFillBuffer,
    /// Second-level cache.
    L2,
    /// Second-level miss handling buffer.
    L2MissBuffer,
    /// Third-level cache.
    L3,
    /// Fourth-level cache.
    L4,
    /// Cache on the memory's side.
    MemorySideCache,
    /// Some cache, which one is not known.
    AnyCache,
    /// Memory of this node.
    LocalRam,
    /// Cache of another core or node.
    RemoteCache,
    /// Memory of another node.
    RemoteRam,
    /// Persistent memory.
    PersistentMemory,
    /// Memory behind a CXL link.
    Cxl,
    /// Input and output.
    Io,
    /// Uncached memory.
    Uncached,
    /// A number that no header names yet.
    Unknown(u8),
}

/// The answer of other cores' caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Snoop {
    /// Not said.
    NotAvailable,
    /// Nobody was asked.
    None,
    /// Another core had the line, unmodified.
    Hit,
    /// No other core had the line.
    Miss,
    /// Another core had modified the line.
    HitModified,
    /// Another core forwarded the line.
    Forward,
    /// A peer core transferred the line; Arm says so where Intel says modified.
    Peer,
}

impl Snoop {
    /// The line came out of another core's cache after that core wrote it, or may have.
    #[must_use]
    pub fn is_transfer(self) -> bool {
        matches!(self, Self::HitModified | Self::Peer)
    }
}

impl DataSource {
    /// The word of a load or a store that a level served, whose address the first level of the TLB knew; other levels
    /// than the three caches count as local memory.
    #[must_use]
    pub fn of_access(is_store: bool, level: Level, snoop: Snoop) -> Self {
        const HIT: u64 = 2;
        const LOCK_NOT_KNOWN: u64 = 1;
        const FIRST_TLB_HIT: u64 = 0x8 | 0x2;
        let operation = if is_store { 4 } else { 2 };
        // The old bits of levels, which older perf reads, and their number.
        let (bits, number): (u64, u64) = match level {
            Level::L1 => (0x8, 1),
            Level::L2 => (0x20, 2),
            Level::L3 => (0x40, 3),
            _ => (0x80, 0xd),
        };
        let snoop: u64 = match snoop {
            Snoop::None => 0x2,
            Snoop::Hit => 0x4,
            Snoop::Miss => 0x8,
            Snoop::HitModified => 0x10,
            _ => 0x1,
        };
        Self(
            operation
                | (HIT | bits) << 5
                | snoop << 19
                | LOCK_NOT_KNOWN << 24
                | FIRST_TLB_HIT << 26
                | number << 33,
        )
    }

    fn bits(self, start: u32, count: u32) -> u64 {
        self.0 >> start & ((1 << count) - 1)
    }

    fn level_bits(self) -> u64 {
        self.bits(5, 14)
    }

    fn is_remote(self) -> bool {
        self.bits(37, 1) != 0
    }

    /// `mem_op`.
    #[must_use]
    pub fn operation(self) -> Operation {
        let bits = self.bits(0, 5);
        match (bits & 2 != 0, bits & 4 != 0) {
            (true, true) => Operation::LoadStore,
            (true, false) => Operation::Load,
            (false, true) => Operation::Store,
            (false, false) if bits & 8 != 0 => Operation::Prefetch,
            (false, false) if bits & 16 != 0 => Operation::Execute,
            (false, false) => Operation::NotAvailable,
        }
    }

    /// `mem_lvl_num` with `mem_remote`, or the older `mem_lvl` where the number is not given.
    #[must_use]
    pub fn level(self) -> Level {
        match self.bits(33, 4) {
            0 | 0xf => self.level_from_bits(),
            number => self.level_from_number(number as u8),
        }
    }

    fn level_from_number(self, number: u8) -> Level {
        match (number, self.is_remote()) {
            // Older Intel tables number another node's memory L3; `mem_lvl` decides.
            (0x1..=0x4 | 0xb, true) if self.level_bits() & REMOTE_RAM_BITS != 0 => Level::RemoteRam,
            (0x1..=0x4 | 0xb, true) => Level::RemoteCache,
            (0xd, true) => Level::RemoteRam,
            (0x1, _) => Level::L1,
            (0x2, _) => Level::L2,
            (0x3, _) => Level::L3,
            (0x4, _) => Level::L4,
            (0x5, _) => Level::L2MissBuffer,
            (0x6, _) => Level::MemorySideCache,
            (0x8, _) => Level::Uncached,
            (0x9, _) => Level::Cxl,
            (0xa, _) => Level::Io,
            (0xb, _) => Level::AnyCache,
            (0xc, _) => Level::LineFillBuffer,
            (0xd, _) => Level::LocalRam,
            (0xe, _) => Level::PersistentMemory,
            (other, _) => Level::Unknown(other),
        }
    }

    /// The farthest of the levels marked: some processors mark two, as in "L3 or local RAM".
    fn level_from_bits(self) -> Level {
        const BY_BIT: [(u64, Level); 9] = [
            (0x2000, Level::Uncached),
            (0x1000, Level::Io),
            (REMOTE_RAM_BITS, Level::RemoteRam),
            (0xc00, Level::RemoteCache),
            (0x80, Level::LocalRam),
            (0x40, Level::L3),
            (0x20, Level::L2),
            (0x10, Level::LineFillBuffer),
            (0x8, Level::L1),
        ];
        let marked = self.level_bits();
        let found = BY_BIT.iter().find(|(bits, _)| marked & bits != 0);
        found.map_or(Level::NotAvailable, |&(_, level)| level)
    }

    /// The first-level cache had the data, by `PERF_MEM_LVL_HIT` and `PERF_MEM_LVL_MISS`. A level by number
    /// alone means that it had.
    #[must_use]
    pub fn is_l1_hit(self) -> bool {
        let (hit, miss) = (2, 4);
        self.level() == Level::L1 && self.level_bits() & (hit | miss) != miss
    }

    /// `mem_snoop` and `mem_snoopx`.
    #[must_use]
    pub fn snoop(self) -> Snoop {
        let (snoop, extended) = (self.bits(19, 5), self.bits(38, 2));
        if snoop & 0x10 != 0 {
            Snoop::HitModified
        } else if extended & 2 != 0 {
            Snoop::Peer
        } else if extended & 1 != 0 {
            Snoop::Forward
        } else if snoop & 4 != 0 {
            Snoop::Hit
        } else if snoop & 8 != 0 {
            Snoop::Miss
        } else if snoop & 2 != 0 {
            Snoop::None
        } else {
            Snoop::NotAvailable
        }
    }

    /// The line was found modified in another core's cache.
    #[must_use]
    pub fn is_hitm(self) -> bool {
        self.snoop() == Snoop::HitModified
    }
}

impl Level {
    /// Its short name; all numbers that no header names share one.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::NotAvailable => "n/a",
            Self::L1 => "L1",
            Self::LineFillBuffer => "LFB",
            Self::L2 => "L2",
            Self::L2MissBuffer => "L2 MHB",
            Self::L3 => "L3",
            Self::L4 => "L4",
            Self::MemorySideCache => "memory-side cache",
            Self::AnyCache => "some cache",
            Self::LocalRam => "RAM",
            Self::RemoteCache => "remote cache",
            Self::RemoteRam => "remote RAM",
            Self::PersistentMemory => "PMEM",
            Self::Cxl => "CXL",
            Self::Io => "I/O",
            Self::Uncached => "uncached",
            Self::Unknown(_) => "unknown level",
        }
    }
}

#[cfg(test)]
mod tests;
