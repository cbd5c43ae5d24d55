//! Objects that only a member of was sampled.
//!
//! Code that is given the address of a member knows nothing of the struct around it. If one struct alone has
//! such a member, and most of the sampled members lie in objects that other samples show, the others do too.

use crate::objects::evidence::ObservedBase;
use crate::objects::instances::{KnownObjects, MemoryObject, Relation};
use fieldline_typeflow::operands::TypeIndex;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// How deep structs may nest.
const MAX_ROUNDS: usize = 8;

/// Objects of a type that one other struct holds.
struct HeldObjects {
    holder: TypeIndex,
    /// Where it is in the holder.
    offset: u64,
    /// How many lie in a known holder.
    known: usize,
    /// Those that don't.
    others: Vec<MemoryObject>,
}

impl KnownObjects<'_> {
    /// Adds the objects around members, from the inside outwards. `sizes` are those of objects by type.
    pub(super) fn add_holders(&mut self, sizes: &FxHashMap<TypeIndex, u64>) {
        for _ in 0..MAX_ROUNDS {
            let new = self.missing_holders(sizes);
            if new.is_empty() {
                return;
            }
            for object in new {
                if self.fits_variables(&object) && self.excludes_nothing(&object) {
                    self.add(object);
                }
            }
        }
    }

    fn missing_holders(&mut self, sizes: &FxHashMap<TypeIndex, u64>) -> Vec<MemoryObject> {
        let mut by_type: BTreeMap<TypeIndex, Vec<MemoryObject>> = BTreeMap::new();
        for object in self.all() {
            by_type.entry(object.ty).or_default().push(*object);
        }
        let types: Vec<TypeIndex> = by_type.keys().copied().collect();
        let mut new = Vec::new();
        for (ty, objects) in by_type {
            let inner = self.ty(ty);
            let place = types.iter().find_map(|holder| {
                let outer = self.ty(*holder);
                Some((*holder, self.types.only_place_in(outer, inner)?))
            });
            let Some((holder, offset)) = place else { continue };
            let Ok(offset) = u64::try_from(offset) else { continue };
            let held = self.held_objects(holder, offset, objects);
            if held.known >= held.others.len() {
                let size = sizes.get(&held.holder).copied().unwrap_or(0);
                let others = held.others.iter().filter(|object| self.variable_at(object.base).is_none());
                new.extend(others.filter_map(|object| held.holder_of(object, size)));
            }
        }
        new.retain(|object| object.base.0.is_multiple_of(self.types.align(self.ty(object.ty))));
        new
    }

    fn held_objects(&self, holder: TypeIndex, offset: u64, objects: Vec<MemoryObject>) -> HeldObjects {
        let all = objects.len();
        let is_held = |object: &MemoryObject| {
            object.base.checked_sub(offset).is_some_and(|base| self.find((holder, base)).is_some())
        };
        let others: Vec<MemoryObject> = objects.into_iter().filter(|object| !is_held(object)).collect();
        HeldObjects { holder, offset, known: all - others.len(), others }
    }

    /// Whether all known objects at the place of another can be there with it.
    fn excludes_nothing(&mut self, object: &MemoryObject) -> bool {
        let overlapping = self.overlapping(object);
        overlapping.iter().all(|other| self.relation(object, other) != Relation::Exclusive)
    }
}

impl HeldObjects {
    fn holder_of(&self, inner: &MemoryObject, size: u64) -> Option<MemoryObject> {
        let base = inner.base.checked_sub(self.offset)?;
        let (lowest, highest) = inner.seen.offsets;
        let offsets = (lowest.checked_add(self.offset)?, highest.checked_add(self.offset)?);
        let seen = ObservedBase { offsets, ..inner.seen };
        (size > 0).then_some(MemoryObject { ty: self.holder, base, size, seen })
    }
}
