//! Objects moved to addresses of their own, members rearranged.

use crate::result::{Arrangement, StructPlan};

/// One instance of a struct in the recorded memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceObject {
    /// Its first byte.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// Index of its struct.
    pub struct_index: usize,
}

/// New offsets of the bytes of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rearrangement {
    size: u64,
    /// New offset of each byte; bytes between members stay.
    to: Vec<u32>,
}

impl Rearrangement {
    /// The layout as declared.
    pub fn declared(plan: &StructPlan) -> Self {
        Self::between(&plan.declared, &plan.declared)
    }

    /// From the declared layout to the chosen one.
    pub fn chosen(plan: &StructPlan) -> Self {
        Self::between(&plan.declared, &plan.chosen)
    }

    fn between(from: &Arrangement, to: &Arrangement) -> Self {
        let mut places: Vec<u32> = (0..u32::try_from(from.size).unwrap_or(0)).collect();
        for member in &from.members {
            let Some(moved) = to.members.iter().find(|moved| moved.index == member.index) else { continue };
            for byte in 0..member.size {
                if let Some(place) = places.get_mut((member.offset + byte) as usize) {
                    *place = u32::try_from(moved.offset + byte).unwrap_or(u32::MAX);
                }
            }
        }
        Self { size: to.size, to: places }
    }

    fn map_offset(&self, offset: u64) -> u64 {
        self.to.get(offset as usize).map_or(offset, |place| u64::from(*place))
    }
}

/// Turns recorded addresses into those of a layout.
#[derive(Clone, Debug)]
pub struct Relocation<'r> {
    /// By base: the object and its new base.
    pub(super) objects: Vec<(TraceObject, u64)>,
    structs: &'r [Rearrangement],
}

/// A relocated address in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RelocatedAddress {
    pub(super) object: usize,
    pub(super) struct_index: usize,
    pub(super) offset: u64,
    pub(super) address: u64,
}

impl<'r> Relocation<'r> {
    /// Gives every object an address: a region for each struct, in it steps of the size class an allocator
    /// would take.
    pub fn new(objects: &[TraceObject], structs: &'r [Rearrangement]) -> Self {
        let mut next: Vec<u64> = (1..=structs.len() as u64).map(|number| number << 44).collect();
        let mut sorted: Vec<TraceObject> = objects.to_vec();
        sorted.sort_unstable_by_key(|object| (object.base, object.struct_index));
        let placed = sorted.into_iter().filter_map(|object| {
            let size = structs.get(object.struct_index)?.size;
            let place = next.get_mut(object.struct_index)?;
            let base = *place;
            *place += size_class(size);
            Some((object, base))
        });
        Self { objects: placed.collect(), structs }
    }

    /// Where an address is, if it is in an object.
    pub(super) fn relocate(&self, address: u64) -> Option<RelocatedAddress> {
        let past = self.objects.partition_point(|(object, _)| object.base <= address);
        let number = past.checked_sub(1)?;
        let (object, base) = self.objects.get(number)?;
        let inside = address - object.base;
        if inside >= object.size {
            return None;
        }
        let offset = self.structs.get(object.struct_index)?.map_offset(inside);
        let struct_index = object.struct_index;
        Some(RelocatedAddress { object: number, struct_index, offset, address: base + offset })
    }
}

/// Bytes an object takes: the size classes of kmalloc from a line on (mm/slab_common.c), then whole pages.
fn size_class(size: u64) -> u64 {
    const CLASSES: [u64; 10] = [64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192];
    CLASSES.into_iter().find(|class| size <= *class).unwrap_or_else(|| size.next_multiple_of(4096))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::PlacedMember;

    fn arrangement(size: u64, members: &[(usize, u64, u64)]) -> Arrangement {
        let members = members.iter().map(|(index, offset, size)| PlacedMember {
            index: *index,
            name: Some(format!("m{index}")),
            type_name: "int".to_owned(),
            offset: *offset,
            size: *size,
            bit_offset: None,
            bit_size: None,
            line: None,
        });
        Arrangement { size, members: members.collect() }
    }

    #[test]
    fn members_go_where_the_layout_says_and_holes_stay() {
        let from = arrangement(24, &[(0, 0, 4), (1, 8, 8), (2, 16, 4)]);
        let to = arrangement(16, &[(1, 0, 8), (0, 8, 4), (2, 12, 4)]);
        let moved = Rearrangement::between(&from, &to);
        assert_eq!([0, 3, 8, 15, 19].map(|byte| moved.map_offset(byte)), [8, 11, 0, 7, 15]);
        assert_eq!(moved.map_offset(4), 4);
    }

    #[test]
    fn addresses_follow_their_object() {
        let from = arrangement(16, &[(0, 0, 8), (1, 8, 8)]);
        let to = arrangement(16, &[(1, 0, 8), (0, 8, 8)]);
        let structs = [Rearrangement::between(&from, &to)];
        let objects = [
            TraceObject { base: 0x2000, size: 16, struct_index: 0 },
            TraceObject { base: 0x1000, size: 16, struct_index: 0 },
        ];
        let relocation = Relocation::new(&objects, &structs);
        let place = |address| relocation.relocate(address).map(|placed| (placed.object, placed.address));
        assert_eq!(place(0x1003), Some((0, (1 << 44) + 11)));
        assert_eq!(place(0x2008), Some((1, (1 << 44) + 64)));
        assert_eq!((place(0xfff), place(0x1010), place(0x2010)), (None, None, None));
    }
}
