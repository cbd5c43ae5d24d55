//! What lines cost by what lies on them, remembered.

/// Lines remembered, a power of two: as many as a processor's second cache holds. Twice as many save no time.
const REMEMBERED: usize = 1 << 15;
/// Likewise, for what is not looked at again.
const BRIEFLY: usize = 1 << 6;

/// Weights of lines by what lies on them, with room to work in. Each key has one place; a newer one takes it.
#[derive(Clone, Debug)]
pub struct Memo {
    values: Vec<(u64, u64)>,
    places: usize,
    /// Room to gather cells in.
    pub(crate) cells: Vec<u32>,
}

impl Default for Memo {
    fn default() -> Self {
        Self { values: Vec::new(), places: REMEMBERED, cells: Vec::new() }
    }
}

impl Memo {
    /// For an order that is looked at once.
    pub(crate) fn brief() -> Self {
        Self { places: BRIEFLY, ..Self::default() }
    }

    /// Where the value of a key is kept.
    #[inline]
    pub(crate) fn entry(&mut self, key: u64) -> &mut (u64, u64) {
        if self.values.is_empty() {
            self.values = vec![(0, 0); self.places];
        }
        &mut self.values[key as usize & (self.places - 1)]
    }
}
