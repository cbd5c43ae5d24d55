//! A struct with a border: what stays, a pointer, and what leaves, at a cacheline of its own.

use crate::result::{Arrangement, PlacedMember};
use crate::visits::find_occurrences;
use crate::visits::occurrences::{collect_accesses, cpu_accesses};
use fieldline_access::access::{Access, AccessProfile, CpuAccess, SampleCount, TypeProfile};
use fieldline_layout::abi::{self, AbiMember};
use fieldline_layout::constraint::{
    Constraints, MemberNote, MemberRun, PinnedMember, PlacementRequests, SmallerConfiguration,
};
use fieldline_layout::{Layout, Member};
use std::collections::BTreeSet;

/// Bytes of a pointer.
const POINTER: u64 = 8;
const POINTER_NAME: &str = "(pointer)";
const BORDER_NAME: &str = "(border)";

/// A struct some of whose members left.
#[derive(Clone, Debug)]
pub(super) struct DividedStruct {
    /// The struct as one, in declared order on both sides.
    pub(super) layout: Layout,
    pub(super) requests: PlacementRequests,
    /// By member of it, the declared index; none for the pointer and the border.
    declared: Vec<Option<usize>>,
    original: Layout,
    /// Index of the pointer; the border follows it.
    pointer: usize,
}

/// Both sides of a placed split.
pub(super) struct Sides {
    pub(super) placed: Arrangement,
    pub(super) border: u64,
    pub(super) pointer: u64,
    pub(super) stays: u64,
    pub(super) leaves: u64,
}

impl DividedStruct {
    /// Nothing if a unit would be torn apart, or one whose place has a meaning would leave.
    pub(super) fn new(
        layout: &Layout,
        limits: &Constraints,
        requests: &PlacementRequests,
        leaving: &[usize],
        line: u64,
    ) -> Option<Self> {
        let leaves = |index: &usize| leaving.contains(index);
        let may_leave = limits.units.iter().all(|unit| {
            let count = unit.members.iter().filter(|index| leaves(index)).count();
            count == 0 || count == unit.members.len() && (unit.constraint.is_none() || unit.keeps_order())
        });
        let (gone, left): (Vec<usize>, Vec<usize>) = (0..layout.members.len()).partition(leaves);
        if !may_leave || gone.is_empty() || left.is_empty() {
            return None;
        }
        let rules = abi::infer_abi(layout);
        let pointer = left.len();
        let declared: Vec<Option<usize>> =
            left.into_iter().map(Some).chain([None, None]).chain(gone.into_iter().map(Some)).collect();
        let slots: Vec<AbiMember> = declared
            .iter()
            .enumerate()
            .map(|(place, index)| match index {
                Some(index) => rules.members[*index],
                None if place == pointer => AbiMember::bytes(POINTER, POINTER),
                None => AbiMember::bytes(0, line),
            })
            .collect();
        let placed = abi::place_members(&slots, rules.struct_align.max(line));
        let members = declared.iter().enumerate().map(|(place, index)| {
            let bit_offset = placed.bit_offsets[place];
            match index {
                Some(index) => Member { line: None, ..moved(&layout.members[*index], bit_offset) },
                None if place == pointer => pointer_member(bit_offset),
                None => border_member(bit_offset, line),
            }
        });
        let members: Vec<Member> = members.collect();
        let template = Layout { explicit_align: Some(rules.struct_align.max(line)), ..layout.clone() };
        let mut flat = Self {
            layout: Layout::from_members(&template, members, placed.size),
            requests: PlacementRequests::default(),
            declared,
            original: layout.clone(),
            pointer,
        };
        flat.translate(requests, limits);
        abi::find_mismatch(&flat.layout).is_none().then_some(flat)
    }

    /// The requests in terms of the divided struct. Members that keep an offset, or come first or last, are fixed.
    fn translate(&mut self, requests: &PlacementRequests, limits: &Constraints) {
        let place = |index: usize| self.declared.iter().position(|declared| *declared == Some(index));
        let pin = |pin: &PinnedMember| Some(PinnedMember { member: place(pin.member)?, ..pin.clone() });
        let fixed = requests.first.iter().chain(&requests.last).chain(&requests.keep).chain(&requests.fixed);
        let run = |run: &MemberRun| {
            Some(MemberRun { first: place(run.first)?, last: place(run.last)?, ..run.clone() })
        };
        // Without a source, declarators of one line are one unit: the lines are gone here.
        let units = limits.units.iter().filter(|unit| unit.members.len() > 1).filter_map(|unit| {
            let reason = "declared together".to_owned();
            Some(MemberRun {
                first: place(*unit.members.first()?)?,
                last: place(*unit.members.last()?)?,
                reason,
            })
        });
        let smaller = |smaller: &SmallerConfiguration| SmallerConfiguration {
            name: smaller.name.clone(),
            absent: smaller.absent.iter().filter_map(|index| place(*index)).collect(),
        };
        let notes = match requests.notes.is_empty() {
            true => Vec::new(),
            false => {
                let note = |index: &Option<usize>| index.and_then(|index| requests.notes.get(index)).cloned();
                self.declared.iter().map(|index| note(index).unwrap_or_else(MemberNote::default)).collect()
            }
        };
        self.requests = PlacementRequests {
            fixed: fixed.filter_map(pin).collect(),
            ordered: requests.ordered.iter().filter_map(pin).collect(),
            runs: requests.runs.iter().filter_map(run).chain(units).collect(),
            configurations: requests.configurations.iter().map(smaller).collect(),
            is_shared_allowed: requests.is_shared_allowed,
            notes,
            ..PlacementRequests::default()
        };
    }

    pub(super) fn label(&self, index: usize) -> String {
        self.original.members.get(index).map_or("", Member::label).to_owned()
    }

    /// Bytes of what leaves.
    pub(super) fn leaving_bytes(&self) -> u64 {
        let gone = self.layout.members.iter().skip(self.pointer + 2);
        gone.map(|member| member.bit_size).sum::<u64>().div_ceil(8)
    }

    /// Units of the divided struct that left.
    pub(super) fn leaving_units(&self, limits: &Constraints) -> BTreeSet<usize> {
        let left = |members: &[usize]| members.iter().all(|member| *member > self.pointer + 1);
        let units = limits.units.iter().enumerate().filter(|(_, unit)| left(&unit.members));
        units.map(|(index, _)| index).collect()
    }

    /// Both sides, where the members of the divided struct are placed in an order.
    pub(super) fn sides(&self, order: &[usize], placed: &Layout) -> Sides {
        let mut sides = Sides {
            placed: Arrangement { size: placed.size, members: Vec::new() },
            border: 0,
            pointer: 0,
            stays: 0,
            leaves: 0,
        };
        let (mut ends, mut aligns) = ([0, 0], [1, 1]);
        for (flat, member) in order.iter().zip(&placed.members) {
            let side = usize::from(*flat > self.pointer + 1);
            match self.declared.get(*flat).copied().flatten() {
                Some(index) => sides.placed.members.push(PlacedMember::new(index, member)),
                None if *flat == self.pointer => sides.pointer = member.offset(),
                None => {
                    sides.border = member.offset();
                    continue;
                }
            }
            ends[side] = member.bit_end().div_ceil(8).max(ends[side]);
            aligns[side] = member.align.max(aligns[side]);
        }
        sides.stays = ends[0].next_multiple_of(aligns[0]);
        sides.leaves = ends[1].saturating_sub(sides.border).next_multiple_of(aligns[1]);
        sides
    }

    /// The profile with the struct's accesses at the places of the divided one. Whoever touches what left loads the
    /// pointer.
    pub(super) fn pool(&self, profile: &AccessProfile) -> AccessProfile {
        let found = find_occurrences(profile, &self.original);
        let mut own = TypeProfile {
            name: self.layout.name.clone(),
            size: self.layout.size,
            fingerprint: self.layout.fingerprint(),
            layout: Some(self.layout.clone()),
            ..TypeProfile::default()
        };
        let pointer = self.layout.members.get(self.pointer).map_or(0, Member::offset);
        for access in collect_accesses(profile, &self.original, &found) {
            let Some((offset, has_left)) = self.place(access.offset) else { continue };
            if has_left {
                own.accesses.push(load_of(&access, pointer));
            }
            own.accesses.push(Access { offset, ..access });
        }
        let cpus = cpu_accesses(profile, &found, self.original.size);
        let cpus =
            cpus.filter_map(|access| Some(CpuAccess { offset: self.place(access.offset)?.0, ..access }));
        own.cpus = cpus.collect();
        let mut pooled = profile.clone();
        let mut is_first = true;
        for occurrence in &found {
            let Some(known) = pooled.types.get_mut(occurrence.type_index) else { continue };
            for (phase, objects) in &known.phases {
                *own.phases.entry((phase + occurrence.base) % 256).or_default() += objects;
            }
            own.homes.add(known.homes);
            if known.name == self.original.name {
                // Its place is taken: windows name it by index.
                is_first = false;
                known.accesses.clear();
                known.cpus.clear();
                known.name = String::new();
            }
        }
        match found.first().filter(|_| !is_first).and_then(|first| pooled.types.get_mut(first.type_index)) {
            Some(known) => *known = own,
            None => pooled.types.push(own),
        }
        pooled
    }

    /// Where a byte of the declared struct is in the divided one, and whether it left.
    fn place(&self, offset: u64) -> Option<(u64, bool)> {
        let index = self.original.member_at(offset)?;
        let flat = self.declared.iter().position(|declared| *declared == Some(index))?;
        let inside = offset.checked_sub(self.original.members.get(index)?.offset())?;
        Some((self.layout.members.get(flat)?.offset() + inside, flat > self.pointer))
    }
}

/// The load of the pointer in front of an access.
fn load_of(access: &Access, pointer: u64) -> Access {
    let sum = SampleCount {
        samples: access.samples(),
        period: access.loads.period.saturating_add(access.stores.period),
    };
    let blocks = access.blocks.iter().map(|block| fieldline_access::access::BlockCount {
        block: block.block,
        loads: block.loads + block.stores,
        stores: 0,
    });
    Access {
        ip: access.ip,
        function: access.function,
        offset: pointer,
        size: POINTER,
        loads: sum,
        blocks: blocks.collect(),
        ..Access::default()
    }
}

fn pointer_member(bit_offset: u64) -> Member {
    Member {
        name: Some(POINTER_NAME.to_owned()),
        type_name: "void *".to_owned(),
        bit_offset,
        bit_size: POINTER * 8,
        align: POINTER,
        ..Member::default()
    }
}

fn border_member(bit_offset: u64, line: u64) -> Member {
    Member {
        name: Some(BORDER_NAME.to_owned()),
        bit_offset,
        align: line,
        explicit_align: Some(line),
        ..Member::default()
    }
}

/// A member and all inside it at another place.
fn moved(member: &Member, bit_offset: u64) -> Member {
    let inner = member.members.iter().map(|inner| {
        moved(inner, bit_offset.saturating_add(inner.bit_offset.saturating_sub(member.bit_offset)))
    });
    Member { bit_offset, members: inner.collect(), ..member.clone() }
}
