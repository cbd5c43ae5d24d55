//! Sets of addresses with fast lookup.

/// A set of addresses that lie close together.
pub(super) struct AddressSet {
    first: u64,
    /// A bit for each `BLOCK` bytes: whether an address is among them. Most lookups end here, and this much
    /// stays in the cache.
    blocks: BitSet,
    /// A bit for each byte.
    bytes: BitSet,
    /// All of them, sorted.
    sorted: Vec<u64>,
}

/// Largest distance between the addresses of a set, in bytes.
const MAX_SPAN: u64 = 1 << 30;
/// Bytes that share a bit.
const BLOCK: u64 = 256;

impl AddressSet {
    /// `None` if there are none, or they are absurdly far apart.
    pub(super) fn new(entries: &[u64]) -> Option<Self> {
        let (first, last) = (*entries.iter().min()?, *entries.iter().max()?);
        let span = last.checked_sub(first).filter(|span| *span < MAX_SPAN)?;
        let (blocks, bytes) = (BitSet::new(span / BLOCK), BitSet::new(span));
        let mut set = Self { first, blocks, bytes, sorted: entries.to_vec() };
        set.sorted.sort_unstable();
        for entry in entries {
            set.blocks.set((entry - first) / BLOCK);
            set.bytes.set(entry - first);
        }
        Some(set)
    }

    pub(super) fn in_range(&self, begin: u64, size: u64) -> &[u64] {
        let first = self.sorted.partition_point(|address| *address < begin);
        let past = self.sorted.partition_point(|address| *address < begin.saturating_add(size));
        self.sorted.get(first..past).unwrap_or(&[])
    }

    #[inline]
    pub(super) fn contains(&self, address: u64) -> bool {
        let distance = address.wrapping_sub(self.first);
        self.blocks.contains(distance / BLOCK) && self.bytes.contains(distance)
    }
}

struct BitSet(Vec<u64>);

impl BitSet {
    /// An empty set of numbers up to a largest.
    fn new(last: u64) -> Self {
        Self(vec![0; (last / 64) as usize + 1])
    }

    fn set(&mut self, number: u64) {
        if let Some(word) = self.0.get_mut((number / 64) as usize) {
            *word |= 1 << (number % 64);
        }
    }

    #[inline]
    fn contains(&self, number: u64) -> bool {
        self.0.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}
