//! Which bytes of a struct objects of each kind touch.

use crate::simulate::{TraceAccesses, TraceObject};
use std::collections::BTreeMap;

/// Fewer accesses to objects of a kind don't show what they never touch.
const LEAST_ACCESSES: u64 = 1_000;

/// Bytes that objects of one kind touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindTouches {
    /// Accesses.
    pub accesses: u64,
    /// By byte of the struct, whether any access touches it.
    pub touched: Vec<bool>,
}

impl KindTouches {
    /// Whether no access touches any of some bytes.
    pub fn is_untouched(&self, start: u64, size: u64) -> bool {
        let bytes = self.touched.iter().skip(start as usize).take(size as usize);
        !bytes.copied().any(std::convert::identity)
    }
}

/// The bytes that objects touch, by kind; `kinds` has that of each object. Kinds with too few accesses are left out.
pub fn touches_by_kind<'k>(
    objects: &[TraceObject],
    kinds: &[&'k str],
    accesses: TraceAccesses<'_>,
) -> BTreeMap<&'k str, KindTouches> {
    let mut placed: Vec<(&TraceObject, &'k str)> = objects.iter().zip(kinds.iter().copied()).collect();
    placed.sort_unstable_by_key(|(object, _)| object.base);
    let mut found: BTreeMap<&'k str, KindTouches> = BTreeMap::new();
    for access in accesses {
        let past = placed.partition_point(|(object, _)| object.base <= access.address);
        let Some((object, kind)) = past.checked_sub(1).and_then(|index| placed.get(index)) else { continue };
        let inside = access.address - object.base;
        if inside >= object.size {
            continue;
        }
        let touches = found.entry(kind).or_default();
        touches.accesses += 1;
        let end = (inside + access.size.max(1)).min(object.size) as usize;
        touches.touched.resize(end.max(touches.touched.len()), false);
        touches.touched.iter_mut().take(end).skip(inside as usize).for_each(|touched| *touched = true);
    }
    found.retain(|_, touches| touches.accesses >= LEAST_ACCESSES);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::TraceAccess;

    #[test]
    fn bytes_are_counted_by_kind() {
        let objects = [0x1000, 0x2000].map(|base| TraceObject { base, size: 16, struct_index: 0 });
        let access = |address| TraceAccess { cpu: 0, address, size: 8, is_store: false };
        let accesses: Vec<TraceAccess> =
            (0..LEAST_ACCESSES).flat_map(|_| [access(0x1000), access(0x2008)]).collect();
        let found = touches_by_kind(&objects, &["inner", "own"], TraceAccesses::Listed(accesses.iter()));
        assert!(!found["inner"].is_untouched(0, 8) && found["inner"].is_untouched(8, 8));
        assert!(found["own"].is_untouched(0, 8) && !found["own"].is_untouched(8, 8));
        let few = touches_by_kind(&objects, &["inner", "own"], TraceAccesses::Listed(accesses[..9].iter()));
        assert!(few.is_empty());
    }
}
