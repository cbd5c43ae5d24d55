//! The bits of `sample_type`.

use std::fmt;
use std::ops::BitOr;

/// A set of fields that samples have: `perf_event_attr.sample_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct SampleFields(pub u64);

impl SampleFields {
    /// Instruction pointer.
    pub const IP: Self = Self(1);
    /// Process and thread.
    pub const TID: Self = Self(1 << 1);
    /// Time.
    pub const TIME: Self = Self(1 << 2);
    /// Data address.
    pub const ADDR: Self = Self(1 << 3);
    /// Counter values.
    pub const READ: Self = Self(1 << 4);
    /// Call chain.
    pub const CALLCHAIN: Self = Self(1 << 5);
    /// Event id.
    pub const ID: Self = Self(1 << 6);
    /// CPU.
    pub const CPU: Self = Self(1 << 7);
    /// Period.
    pub const PERIOD: Self = Self(1 << 8);
    /// Stream id.
    pub const STREAM_ID: Self = Self(1 << 9);
    /// Opaque data.
    pub const RAW: Self = Self(1 << 10);
    /// Branch stack.
    pub const BRANCH_STACK: Self = Self(1 << 11);
    /// User registers.
    pub const REGS_USER: Self = Self(1 << 12);
    /// User stack.
    pub const STACK_USER: Self = Self(1 << 13);
    /// Weight, one number.
    pub const WEIGHT: Self = Self(1 << 14);
    /// Data source.
    pub const DATA_SRC: Self = Self(1 << 15);
    /// Event id at the front.
    pub const IDENTIFIER: Self = Self(1 << 16);
    /// Transaction.
    pub const TRANSACTION: Self = Self(1 << 17);
    /// Registers at the interrupt.
    pub const REGS_INTR: Self = Self(1 << 18);
    /// Physical data address.
    pub const PHYS_ADDR: Self = Self(1 << 19);
    /// AUX snapshot.
    pub const AUX: Self = Self(1 << 20);
    /// Control group.
    pub const CGROUP: Self = Self(1 << 21);
    /// Page size of the data.
    pub const DATA_PAGE_SIZE: Self = Self(1 << 22);
    /// Page size of the code.
    pub const CODE_PAGE_SIZE: Self = Self(1 << 23);
    /// Weight, three numbers.
    pub const WEIGHT_STRUCT: Self = Self(1 << 24);
    /// Every bit above: those of Linux 5.12 to 6.18.
    pub const KNOWN: Self = Self((1 << 25) - 1);

    /// The fields that there are.
    pub(crate) fn from_flags<const N: usize>(has: [(bool, Self); N]) -> Self {
        Self(has.iter().filter(|(has, _)| *has).fold(0, |all, (_, field)| all | field.0))
    }

    /// All fields of `other` are in this set.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Some field of `other` is in this set.
    #[must_use]
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for SampleFields {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Fields by the numbers of their bits, in messages about records that break off.
const NAMES: [&str; 25] = [
    "ip",
    "pid and tid",
    "time",
    "addr",
    "read values",
    "callchain",
    "id",
    "cpu",
    "period",
    "stream_id",
    "raw data",
    "branch stack",
    "user registers",
    "user stack",
    "weight",
    "data_src",
    "identifier",
    "transaction",
    "interrupt registers",
    "phys_addr",
    "aux data",
    "cgroup",
    "data page size",
    "code page size",
    "weight",
];

impl fmt::Display for SampleFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = NAMES.iter().enumerate().filter(|(bit, _)| self.0 >> bit & 1 != 0);
        f.write_str(&names.map(|(_, name)| *name).collect::<Vec<_>>().join(", "))
    }
}
