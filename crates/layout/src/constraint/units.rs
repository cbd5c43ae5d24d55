//! Units: members that move together, and what holds them.

use super::wishes::{Note, Pin, Wishes};
use crate::abi::{Slot, Slots};
use crate::layout::{Layout, Member, Role};

/// Alignments from here on are meant for cachelines, not for a scalar or a double-word exchange.
const LINE_ALIGN: u64 = 32;

/// Members that move together, in declared order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Declared indices, neighbours.
    pub members: Vec<usize>,
    /// Where it may move: never before a unit of a smaller region nor behind one of a larger.
    pub region: u32,
    /// Path of `#if` conditions, see [`Note::guard`].
    pub guard: Option<u32>,
    /// Whether it is a run of bit-fields.
    pub is_bit_run: bool,
    /// What holds it, if anything.
    pub hold: Option<Hold>,
}

/// Why a unit is not free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// How far it is held.
    pub kind: HoldKind,
    /// Why, for reports.
    pub reason: String,
}

/// How far a unit is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldKind {
    /// It is alone in its region.
    Place,
    /// It stays at this byte offset.
    Offset(u64),
    /// It keeps its order among units held like this.
    Order,
}

impl Unit {
    /// Whether it keeps its order among units held like it.
    pub fn keeps_order(&self) -> bool {
        matches!(&self.hold, Some(hold) if hold.kind == HoldKind::Order)
    }

    /// The byte offset it must keep.
    pub fn kept_offset(&self) -> Option<u64> {
        match self.hold {
            Some(Hold { kind: HoldKind::Offset(offset), .. }) => Some(offset),
            _ => None,
        }
    }
}

pub(super) fn units_of(layout: &Layout, notes: &[Note]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for (index, member) in layout.members.iter().enumerate() {
        let joins = index > 0 && moves_with(layout, notes, index - 1, index);
        match units.last_mut().filter(|_| joins) {
            Some(unit) => unit.members.push(index),
            None => units.push(Unit {
                members: vec![index],
                region: 0,
                guard: notes.get(index).and_then(|note| note.guard),
                is_bit_run: member.is_bit_field(),
                hold: None,
            }),
        }
    }
    units
}

/// Whether a member moves with its neighbour: bit-fields, and declarators of one declaration (without source: of one line).
fn moves_with(layout: &Layout, notes: &[Note], before: usize, index: usize) -> bool {
    let (one, other) = (&layout.members[before], &layout.members[index]);
    if one.is_bit_field() && other.is_bit_field() {
        return true;
    }
    match (notes.get(before), notes.get(index)) {
        (Some(one), Some(other)) => one.unit.is_some() && one.unit == other.unit,
        _ => one.line > 0 && one.line == other.line && !one.role.is_marker() && !other.role.is_marker(),
    }
}

pub(super) fn hold_by_layout(layout: &Layout, slots: &Slots, wishes: &Wishes, units: &mut [Unit]) {
    for unit in units {
        let index = unit.members[0];
        let (member, slot) = (&layout.members[index], &slots.slots[index]);
        let mut notes = unit.members.iter().filter_map(|index| wishes.notes.get(*index));
        unit.hold = match layout_reason(member, slot).or_else(|| spans(unit, &wishes.notes)) {
            Some(reason) => {
                Some(Hold { kind: HoldKind::Place, reason: format!("{reason}{}", place_of(layout, member)) })
            }
            None => {
                notes.find_map(|note| note.stuck.clone()).map(|reason| Hold { kind: HoldKind::Order, reason })
            }
        };
    }
}

/// Where a member is declared, as far as debug info tells.
fn place_of(layout: &Layout, member: &Member) -> String {
    match &layout.file {
        Some(file) if member.line > 0 => format!(" ({file}:{})", member.line),
        _ => String::new(),
    }
}

/// Why a member's place is part of the struct's meaning.
fn layout_reason(member: &Member, slot: &Slot) -> Option<&'static str> {
    let group_marker = matches!(member.role, Role::GroupBegin | Role::GroupEnd)
        || member.label().starts_with("__cacheline_group_");
    let begins_line = slot.align >= LINE_ALIGN;
    let fills_line = slot.bit_size > 0 && slot.bit_size.is_multiple_of(slot.align.saturating_mul(8));
    if member.role == Role::FlexibleArray {
        Some("a flexible array is last")
    } else if group_marker {
        Some("it marks a cacheline group")
    } else if slot.bit_size == 0 && begins_line {
        Some("it only aligns what follows")
    } else if slot.bit_size == 0 && member.role == Role::Plain {
        Some("it marks a place")
    } else if begins_line && !fills_line {
        Some("it begins a cacheline that members behind it share")
    } else {
        None
    }
}

/// Why a unit can't leave its place: its declarations stand on both sides of what nothing may pass in the text.
fn spans(unit: &Unit, notes: &[Note]) -> Option<&'static str> {
    let mut regions = unit.members.iter().filter_map(|index| notes.get(*index)).map(|note| note.region);
    let first = regions.next()?;
    regions.any(|other| other != first).then_some("nothing may pass what stands between its declarations")
}

pub(super) fn hold_by_wish(layout: &Layout, wishes: &Wishes, units: &mut [Unit]) {
    let placed = wishes.held.iter().chain(&wishes.first).chain(&wishes.last);
    let placed = placed.map(|pin| (pin, HoldKind::Place));
    let kept = wishes
        .keep
        .iter()
        .map(|pin| (pin, HoldKind::Offset(layout.members.get(pin.member).map_or(0, Member::offset))));
    for (pin, kind) in placed.chain(kept) {
        let unit = units.iter_mut().find(|unit| unit.members.contains(&pin.member));
        let Some(unit) = unit else { continue };
        let before = unit.hold.take().filter(|hold| hold.reason != pin.reason);
        let before = before.map(|hold| format!("{}; ", hold.reason)).unwrap_or_default();
        unit.hold = Some(Hold { kind, reason: format!("{before}{}", pin.reason) });
    }
}

/// Numbers regions: the pinned first, stretches between units that are alone in theirs, the pinned last, a flexible array.
pub(super) fn number_regions(layout: &Layout, wishes: &Wishes, units: &mut [Unit]) {
    let mut region = wishes.first.len() as u32;
    let mut stretch = None;
    for unit in units.iter_mut() {
        if let Some(place) = position(&wishes.first, unit) {
            unit.region = place;
            continue;
        }
        let note = unit.members.first().and_then(|index| wishes.notes.get(*index));
        let here = note.and_then(|note| note.region);
        let alone = unit.hold.as_ref().is_some_and(|hold| hold.kind != HoldKind::Order);
        let pinned_last = position(&wishes.last, unit).is_some();
        let cuts = alone && !pinned_last;
        region += u32::from(cuts || stretch.is_some_and(|stretch| stretch != here));
        stretch = Some(here);
        unit.region = region;
        region += u32::from(cuts);
    }
    let flexible = |index: &usize| layout.members[*index].role == Role::FlexibleArray;
    for unit in units.iter_mut() {
        if let Some(place) = position(&wishes.last, unit) {
            unit.region = region + 1 + place;
        } else if unit.members.iter().any(flexible) {
            unit.region = region + 1 + wishes.last.len() as u32;
        }
    }
}

fn position(pins: &[Pin], unit: &Unit) -> Option<u32> {
    let place = pins.iter().position(|pin| unit.members.contains(&pin.member));
    place.map(|place| place as u32)
}
