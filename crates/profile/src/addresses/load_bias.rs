//! Load biases, and addresses of data tagged with their address space.

use fieldline_debuginfo::LinkedAddress;
use fieldline_perfdata::address::{DataAddress, LoadedAddress};

/// Address spaces that tags distinguish.
const SPACES: u32 = 1 << 15;
/// Bits of an address in user space (x86-64 with four levels of page tables).
pub(super) const SPACE_SHIFT: u32 = 48;

/// Bytes from an address as linked to the same as loaded, modulo 2 to the 64th: where a program was loaded,
/// the KASLR offset of a kernel. Of a CPU's or thread's own data, bytes to where that begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct LoadBias(u64);

impl LoadBias {
    /// The load bias under which one address is loaded as another.
    pub const fn between(linked: LinkedAddress, loaded: LoadedAddress) -> Self {
        Self(loaded.0.wrapping_sub(linked.0))
    }

    /// The address as linked.
    #[inline]
    pub const fn linked(self, loaded: LoadedAddress) -> LinkedAddress {
        LinkedAddress(loaded.0.wrapping_sub(self.0))
    }

    /// The address as loaded.
    pub const fn loaded(self, linked: LinkedAddress) -> LoadedAddress {
        LoadedAddress(linked.0.wrapping_add(self.0))
    }

    /// The load bias under which a variable has an address.
    pub(crate) const fn of_variable(linked: LinkedAddress, data: TaggedAddress) -> Self {
        Self(data.0.wrapping_sub(linked.0))
    }

    /// The variable that has an address.
    pub(crate) const fn variable(self, data: TaggedAddress) -> LinkedAddress {
        LinkedAddress(data.0.wrapping_sub(self.0))
    }
}

/// An address of data tagged with its address space. Addresses of the first space are as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub(crate) struct TaggedAddress(pub(crate) u64);

impl TaggedAddress {
    pub(crate) fn new(address: DataAddress, space: u32) -> Self {
        match address.get() >> SPACE_SHIFT {
            0 => Self(address.get() | u64::from(space % SPACES) << SPACE_SHIFT),
            _ => Self(address.get()),
        }
    }

    /// The address so many bytes in front.
    pub(crate) fn checked_sub(self, bytes: u64) -> Option<Self> {
        self.0.checked_sub(bytes).map(Self)
    }

    /// Bytes from another address to this one, if it doesn't lie behind.
    pub(crate) fn bytes_from(self, start: Self) -> Option<u64> {
        self.0.checked_sub(start.0)
    }
}

/// Load biases of a program in the address spaces of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadBiases {
    /// A kernel or a module has one.
    Single(LoadBias),
    /// By address space.
    BySpace(Vec<LoadBias>),
}

impl LoadBiases {
    /// The variable that has an address.
    pub(crate) fn variable(&self, data: TaggedAddress) -> LinkedAddress {
        match self {
            Self::Single(load_bias) => load_bias.variable(data),
            Self::BySpace(load_biases) => {
                let space = data.0 >> SPACE_SHIFT;
                let load_bias = usize::try_from(space).ok().and_then(|space| load_biases.get(space)).copied();
                load_bias.unwrap_or_default().variable(TaggedAddress(data.0 - (space << SPACE_SHIFT)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged(address: u64, space: u32) -> TaggedAddress {
        TaggedAddress::new(DataAddress::new(address).unwrap(), space)
    }

    #[test]
    fn addresses_of_spaces_differ_and_lead_to_the_same_variable() {
        let load_biases = LoadBiases::BySpace(vec![LoadBias(0x1000), LoadBias(0x2000)]);
        let (first, second) = (tagged(0x1040, 0), tagged(0x2040, 1));
        assert_eq!((first, first == second), (TaggedAddress(0x1040), false));
        assert_eq!(load_biases.variable(first), LinkedAddress(0x40));
        assert_eq!(load_biases.variable(second), LinkedAddress(0x40));
        assert_eq!(tagged(1 << 63, 3), TaggedAddress(1 << 63));
    }

    #[test]
    fn a_load_bias_leads_there_and_back() {
        let (linked, loaded) = (LinkedAddress(0x1000), LoadedAddress(0x40));
        let load_bias = LoadBias::between(linked, loaded);
        assert_eq!((load_bias.linked(loaded), load_bias.loaded(linked)), (linked, loaded));
        assert_eq!(load_bias.variable(TaggedAddress(0x48)), LinkedAddress(0x1008));
        assert_eq!(LoadBias::of_variable(LinkedAddress(0x1008), TaggedAddress(0x48)), load_bias);
    }
}
