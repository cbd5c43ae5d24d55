//! Objects moved to addresses of their own, members rearranged.

use crate::judge::split::SplitLayout;
use crate::result::{Arrangement, StructPlan, Together};
use std::collections::{HashMap, HashSet};

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
    /// The part that is an allocation of its own.
    second: Option<SecondAllocation>,
}

/// The part of an object that a pointer in it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SecondAllocation {
    /// Where it begins among the new offsets.
    border: u64,
    /// Bytes.
    size: u64,
    /// Where the pointer stands.
    pointer: u64,
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

    /// From the declared layout to a split.
    pub fn split(declared: &Arrangement, layout: &SplitLayout) -> Self {
        let whole = Self::between(declared, &layout.placed);
        let second = layout.pointer.map(|pointer| SecondAllocation {
            border: layout.border,
            size: layout.placed.size.saturating_sub(layout.border),
            pointer,
        });
        let size = if second.is_some() { layout.border } else { whole.size };
        Self { size, second, ..whole }
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
        Self { size: to.size, to: places, second: None }
    }

    fn map_offset(&self, offset: u64) -> u64 {
        self.to.get(offset as usize).map_or(offset, |place| u64::from(*place))
    }
}

/// Objects of several structs that lie in one allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedAllocation {
    /// For each struct in it: its index, where it began when it was recorded, and where it begins now, in bytes.
    pub parts: Vec<(usize, u64, u64)>,
    /// Bytes of the allocation.
    pub size: u64,
}

impl SharedAllocation {
    /// The holders of a plan's structs, as declared and with the chosen orders. `index` is that of a struct by name.
    pub fn of_plan(together: &[Together], index: impl Fn(&str) -> Option<usize>) -> (Vec<Self>, Vec<Self>) {
        let shared = |found: &Together, is_declared: bool| {
            let parts = found.parts.iter().filter_map(|part| {
                Some((index(&part.name)?, part.from, if is_declared { part.from } else { part.to }))
            });
            Self { parts: parts.collect(), size: if is_declared { found.before } else { found.after } }
        };
        together.iter().map(|found| (shared(found, true), shared(found, false))).unzip()
    }
}

/// Turns recorded addresses into those of a layout.
#[derive(Clone, Debug)]
pub struct Relocation<'r> {
    /// By base: the object, its new base, and that of its second allocation.
    pub(super) objects: Vec<(TraceObject, u64, u64)>,
    structs: &'r [Rearrangement],
}

/// A relocated address in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RelocatedAddress {
    pub(super) object: usize,
    pub(super) struct_index: usize,
    /// Where the allocation begins now.
    pub(super) base: u64,
    pub(super) address: u64,
    /// In a second allocation, the address of the pointer to it and where the first one begins.
    pub(super) behind: Option<(u64, u64)>,
}

impl<'r> Relocation<'r> {
    /// Gives every object an address: a region for each struct, in it steps of the size class an allocator
    /// would take. Objects that were recorded in one allocation get one together.
    pub fn new(objects: &[TraceObject], structs: &'r [Rearrangement], shared: &[SharedAllocation]) -> Self {
        let first_second = structs.len() + shared.len();
        let regions = (first_second + structs.len()) as u64;
        let mut next: Vec<u64> = (1..=regions).map(|number| number << 44).collect();
        let mut sorted: Vec<TraceObject> = objects.to_vec();
        sorted.sort_unstable_by_key(|object| (object.base, object.struct_index));
        let known: HashSet<(u64, usize)> =
            sorted.iter().map(|object| (object.base, object.struct_index)).collect();
        let mut holders: HashMap<(usize, u64), u64> = HashMap::new();
        let placed = sorted.into_iter().filter_map(|object| {
            let size = structs.get(object.struct_index)?.size;
            let held = shared.iter().enumerate().find_map(|(number, held)| {
                let own = held.parts.iter().find(|part| part.0 == object.struct_index)?;
                let begin = object.base.checked_sub(own.1)?;
                let is_there = |part: &(usize, u64, u64)| known.contains(&(begin + part.1, part.0));
                held.parts.iter().all(is_there).then_some((number, begin, own.2, held.size))
            });
            let (region, room) = match held {
                Some((number, .., size)) => (structs.len() + number, size),
                None => (object.struct_index, size),
            };
            let mut allocate = |region: usize, room: u64| {
                let place = next.get_mut(region)?;
                let base = *place;
                *place += size_class(room);
                Some(base)
            };
            let second = match structs.get(object.struct_index)?.second {
                Some(second) => allocate(first_second + object.struct_index, second.size)?,
                None => 0,
            };
            let base = match held {
                Some((number, begin, offset, _)) => {
                    let base = match holders.get(&(number, begin)) {
                        Some(base) => *base,
                        None => allocate(region, room)?,
                    };
                    holders.insert((number, begin), base);
                    base + offset
                }
                None => allocate(region, room)?,
            };
            Some((object, base, second))
        });
        Self { objects: placed.collect(), structs }
    }

    /// Whether objects of a struct have a second allocation.
    pub(super) fn has_second(&self, struct_index: usize) -> bool {
        self.structs.get(struct_index).is_some_and(|own| own.second.is_some())
    }

    /// Where an address is, if it is in an object.
    pub(super) fn relocate(&self, address: u64) -> Option<RelocatedAddress> {
        let past = self.objects.partition_point(|(object, ..)| object.base <= address);
        let number = past.checked_sub(1)?;
        let (object, first, second) = self.objects.get(number)?;
        let inside = address - object.base;
        if inside >= object.size {
            return None;
        }
        let struct_index = object.struct_index;
        let arrangement = self.structs.get(struct_index)?;
        let offset = arrangement.map_offset(inside);
        let placed = |base, offset, behind| RelocatedAddress {
            object: number,
            struct_index,
            base,
            address: base + offset,
            behind,
        };
        Some(match arrangement.second {
            Some(own) if offset >= own.border => {
                placed(*second, offset - own.border, Some((first + own.pointer, *first)))
            }
            _ => placed(*first, offset, None),
        })
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
            inherited: false,
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
        let relocation = Relocation::new(&objects, &structs, &[]);
        let place = |address| relocation.relocate(address).map(|placed| (placed.object, placed.address));
        assert_eq!(place(0x1003), Some((0, (1 << 44) + 11)));
        assert_eq!(place(0x2008), Some((1, (1 << 44) + 64)));
        assert_eq!((place(0xfff), place(0x1010), place(0x2010)), (None, None, None));
    }

    #[test]
    fn what_leaves_an_object_is_an_allocation_behind_a_pointer() {
        let from = arrangement(24, &[(0, 0, 8), (1, 8, 8), (2, 16, 8)]);
        let placed = arrangement(72, &[(0, 0, 8), (2, 8, 8), (1, 64, 8)]);
        let layout = SplitLayout { placed, border: 64, pointer: Some(16), ..SplitLayout::default() };
        let structs = [Rearrangement::split(&from, &layout)];
        let objects = [0x1000, 0x2000].map(|base| TraceObject { base, size: 24, struct_index: 0 });
        let relocation = Relocation::new(&objects, &structs, &[]);
        let place = |address| relocation.relocate(address).map(|placed| (placed.address, placed.behind));
        assert_eq!(place(0x1010), Some(((1 << 44) + 8, None)));
        assert_eq!(place(0x1008), Some((2 << 44, Some(((1 << 44) + 16, 1 << 44)))));
        let (second, first) = ((2 << 44) + 64, (1 << 44) + 64);
        assert_eq!(place(0x2008), Some((second, Some((first + 16, first)))));
    }

    #[test]
    fn objects_of_one_allocation_stay_side_by_side() {
        let head = arrangement(24, &[(0, 0, 8), (1, 8, 8), (2, 16, 8)]);
        let tail = arrangement(8, &[(0, 0, 8)]);
        let structs = [Rearrangement::between(&head, &head), Rearrangement::between(&tail, &tail)];
        let object = |base, size, struct_index| TraceObject { base, size, struct_index };
        // The last tail stands alone.
        let objects = [
            object(0x1000, 24, 0),
            object(0x1018, 8, 1),
            object(0x2000, 24, 0),
            object(0x2018, 8, 1),
            object(0x3018, 8, 1),
        ];
        let shared = SharedAllocation { parts: vec![(0, 0, 0), (1, 24, 16)], size: 24 };
        let relocation = Relocation::new(&objects, &structs, &[shared]);
        let place = |address| relocation.relocate(address).map(|placed| placed.address);
        let region = 3 << 44;
        assert_eq!((place(0x1000), place(0x1018)), (Some(region), Some(region + 16)));
        assert_eq!((place(0x2000), place(0x2018)), (Some(region + 64), Some(region + 80)));
        assert_eq!(place(0x3018), Some(2 << 44));
    }
}
