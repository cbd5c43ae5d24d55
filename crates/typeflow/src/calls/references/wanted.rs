//! Sets of addresses, asked very often.

/// A set of addresses that lie close together.
pub(super) struct Wanted {
    first: u64,
    /// A bit for each `BLOCK` bytes: whether an address is among them. Most questions end here, and this much stays in
    /// the cache.
    blocks: Bits,
    /// A bit for each byte.
    bytes: Bits,
    /// All of them, sorted.
    sorted: Vec<u64>,
}

/// Largest distance between the addresses of a set, in bytes.
const MAX_SPAN: u64 = 1 << 30;
/// Bytes that share a bit.
const BLOCK: u64 = 256;

impl Wanted {
    /// `None` if there are none, or they are absurdly far apart.
    pub(super) fn new(entries: &[u64]) -> Option<Self> {
        let (first, last) = (*entries.iter().min()?, *entries.iter().max()?);
        let span = last.checked_sub(first).filter(|span| *span < MAX_SPAN)?;
        let mut wanted =
            Self { first, blocks: Bits::new(span / BLOCK), bytes: Bits::new(span), sorted: entries.to_vec() };
        wanted.sorted.sort_unstable();
        for entry in entries {
            wanted.blocks.set((entry - first) / BLOCK);
            wanted.bytes.set(entry - first);
        }
        Some(wanted)
    }

    pub(super) fn within(&self, begin: u64, size: u64) -> &[u64] {
        let first = self.sorted.partition_point(|address| *address < begin);
        let past = self.sorted.partition_point(|address| *address < begin.saturating_add(size));
        self.sorted.get(first..past).unwrap_or(&[])
    }

    #[inline]
    pub(super) fn has(&self, address: u64) -> bool {
        let distance = address.wrapping_sub(self.first);
        self.blocks.has(distance / BLOCK) && self.bytes.has(distance)
    }
}

struct Bits(Vec<u64>);

impl Bits {
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
    fn has(&self, number: u64) -> bool {
        self.0.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}
