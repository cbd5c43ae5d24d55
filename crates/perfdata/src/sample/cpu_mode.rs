//! Whose code a record is about.

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
