//! Addresses of several processes as numbers that differ, and what they are less the addresses as linked.

/// Address spaces told apart: what numbers of them fit above the addresses of one.
const SPACES: u32 = 1 << 15;
/// Bits of an address in user space (x86-64 with four levels of page tables).
const SPACE_SHIFT: u32 = 48;

/// An address of data in a space as a number that no other space has. Addresses of the first stay as they are.
pub(crate) fn in_space(address: u64, space: u32) -> u64 {
    match address >> SPACE_SHIFT {
        0 if address != 0 => address | u64::from(space % SPACES) << SPACE_SHIFT,
        _ => address,
    }
}

/// Recorded address less address as linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slides {
    One(u64),
    /// By address space, of addresses as [`in_space`] numbers them.
    BySpace(Vec<u64>),
}

impl Slides {
    /// What an address of data is less what it is as linked.
    pub fn at(&self, address: u64) -> u64 {
        match self {
            Self::One(slide) => *slide,
            Self::BySpace(slides) => {
                let space = address >> SPACE_SHIFT;
                let slide = usize::try_from(space).ok().and_then(|space| slides.get(space)).copied();
                slide.unwrap_or(0).wrapping_add(space << SPACE_SHIFT)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_spaces_differ_and_lead_to_the_same_variable() {
        let slides = Slides::BySpace(vec![0x1000, 0x2000]);
        let (first, second) = (in_space(0x1040, 0), in_space(0x2040, 1));
        assert_eq!((first, first == second), (0x1040, false));
        assert_eq!(first - slides.at(first), 0x40);
        assert_eq!(second - slides.at(second), 0x40);
        assert_eq!(in_space(1 << 63, 3), 1 << 63);
        assert_eq!(in_space(0, 3), 0);
    }
}
