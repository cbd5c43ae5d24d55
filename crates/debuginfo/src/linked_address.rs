//! Addresses as linked.

use std::fmt;

/// An address as the ELF file has it: of an instruction, a symbol or a variable.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct LinkedAddress(pub u64);

impl LinkedAddress {
    /// The address so many bytes behind.
    #[must_use]
    pub const fn wrapping_add(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// The address so many bytes in front, if there is one.
    #[must_use]
    pub const fn checked_sub(self, bytes: u64) -> Option<Self> {
        if let Some(address) = self.0.checked_sub(bytes) { Some(Self(address)) } else { None }
    }

    /// Bytes from another address to this one, if it doesn't lie behind.
    #[must_use]
    pub const fn bytes_from(self, start: Self) -> Option<u64> {
        self.0.checked_sub(start.0)
    }
}

impl fmt::LowerHex for LinkedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

impl fmt::Debug for LinkedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#x}")
    }
}
