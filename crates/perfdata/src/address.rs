//! Addresses of the recorded machine: of its code as loaded, and of its data.

use std::fmt;
use std::num::NonZeroU64;

/// The address of an instruction in a running process or kernel.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct LoadedAddress(pub u64);

impl LoadedAddress {
    /// Whether it lies in the upper half of the address space, where kernels are.
    #[must_use]
    pub const fn is_kernel(self) -> bool {
        self.0 >> 63 == 1
    }

    /// The address so many bytes behind; the last one if there is none.
    #[must_use]
    pub const fn saturating_add(self, bytes: u64) -> Self {
        Self(self.0.saturating_add(bytes))
    }

    /// The address so many bytes behind.
    #[must_use]
    pub const fn wrapping_add(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// Bytes from another address to this one, if it doesn't lie behind.
    #[must_use]
    pub const fn bytes_from(self, start: Self) -> Option<u64> {
        self.0.checked_sub(start.0)
    }
}

/// The virtual address of data. Zero is none: recordings have it where the hardware gave no address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct DataAddress(NonZeroU64);

impl DataAddress {
    /// The address of a recorded word.
    #[must_use]
    pub const fn new(word: u64) -> Option<Self> {
        if let Some(address) = NonZeroU64::new(word) { Some(Self(address)) } else { None }
    }

    /// The address as a number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The word that recordings have for an address or none.
    #[must_use]
    #[inline]
    pub fn to_word(address: Option<Self>) -> u64 {
        address.map_or(0, Self::get)
    }
}

/// Formats addresses in hexadecimal.
macro_rules! impl_hexadecimal {
    ($($address:ty),*) => {$(
        impl fmt::LowerHex for $address {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::LowerHex::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $address {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self:#x}")
            }
        }
    )*};
}

impl_hexadecimal!(LoadedAddress, DataAddress);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_zero_is_no_data_address() {
        assert_eq!([0, 5].map(DataAddress::new).map(DataAddress::to_word), [0, 5]);
        assert_eq!(DataAddress::new(0), None);
        assert_eq!(size_of::<Option<DataAddress>>(), 8);
    }

    #[test]
    fn addresses_are_printed_in_hexadecimal() {
        let (code, data) = (LoadedAddress(0x4010), DataAddress::new(0x10));
        assert_eq!(format!("{code:x} {code:#x} {code:?} {data:?}"), "4010 0x4010 0x4010 Some(0x10)");
        assert_eq!(code.bytes_from(LoadedAddress(0x4000)), Some(0x10));
        assert_eq!(LoadedAddress(0x4000).bytes_from(code), None);
        assert!(LoadedAddress(1 << 63).is_kernel() && !code.is_kernel());
    }
}
