//! Addresses tagged with their address space, and the load bias of each space.

/// Address spaces that tags distinguish.
const SPACES: u32 = 1 << 15;
/// Bits of an address in user space (x86-64 with four levels of page tables).
const SPACE_SHIFT: u32 = 48;

/// Tags an address of data with its space. Addresses of the first space stay as they are.
pub(crate) fn tag_address_space(address: u64, space: u32) -> u64 {
    match address >> SPACE_SHIFT {
        0 if address != 0 => address | u64::from(space % SPACES) << SPACE_SHIFT,
        _ => address,
    }
}

/// Recorded address less address as linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadBias {
    Single(u64),
    /// By address space, of addresses tagged by [`tag_address_space`].
    BySpace(Vec<u64>),
}

impl LoadBias {
    /// The load bias of an address of data.
    pub fn for_address(&self, address: u64) -> u64 {
        match self {
            Self::Single(load_bias) => *load_bias,
            Self::BySpace(load_biases) => {
                let space = address >> SPACE_SHIFT;
                let load_bias = usize::try_from(space).ok().and_then(|space| load_biases.get(space)).copied();
                load_bias.unwrap_or(0).wrapping_add(space << SPACE_SHIFT)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_spaces_differ_and_lead_to_the_same_variable() {
        let load_bias = LoadBias::BySpace(vec![0x1000, 0x2000]);
        let (first, second) = (tag_address_space(0x1040, 0), tag_address_space(0x2040, 1));
        assert_eq!((first, first == second), (0x1040, false));
        assert_eq!(first - load_bias.for_address(first), 0x40);
        assert_eq!(second - load_bias.for_address(second), 0x40);
        assert_eq!(tag_address_space(1 << 63, 3), 1 << 63);
        assert_eq!(tag_address_space(0, 3), 0);
    }
}
