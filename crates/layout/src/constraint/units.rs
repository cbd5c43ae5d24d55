//! Units: members that move together, and their constraints.

use super::requests::{MemberNote, MemberRun, PinnedMember, PlacementRequests};
use crate::abi::{AbiMember, AbiStruct};
use crate::layout::{Layout, Member, MemberRole, inherited_part};

/// Alignments from here on are meant for cachelines, not for a scalar or a double-word exchange.
const LINE_ALIGN: u64 = 32;

/// Members that move together, in declared order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Declared indices, neighbours.
    pub members: Vec<usize>,
    /// Where it may move: never before a unit of a smaller region nor behind one of a larger.
    pub region: u32,
    /// Path of `#if` conditions, see [`MemberNote::guard`].
    pub guard: Option<u32>,
    /// Number of its family: units that readers expect beside each other have equal ones.
    pub family: u32,
    /// Whether it has bit-fields.
    pub is_bit_run: bool,
    /// Its constraint, if it has one.
    pub constraint: Option<UnitConstraint>,
}

/// Why a unit can't move freely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitConstraint {
    /// How far it is constrained.
    pub kind: UnitConstraintKind,
    /// Why, for reports.
    pub reason: String,
}

/// How far a unit is constrained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitConstraintKind {
    /// It is alone in its region.
    Fixed,
    /// It stays at this byte offset.
    Offset(u64),
    /// It keeps its order among units constrained like this.
    Order,
}

impl Unit {
    /// Whether it keeps its order among units constrained like it.
    pub fn keeps_order(&self) -> bool {
        matches!(&self.constraint, Some(hold) if hold.kind == UnitConstraintKind::Order)
    }

    /// The byte offset it must keep.
    pub fn kept_offset(&self) -> Option<u64> {
        match self.constraint {
            Some(UnitConstraint { kind: UnitConstraintKind::Offset(offset), .. }) => Some(offset),
            _ => None,
        }
    }
}

pub(super) fn build_units(layout: &Layout, requests: &PlacementRequests) -> Vec<Unit> {
    let notes = requests.notes.as_slice();
    let mut units: Vec<Unit> = Vec::new();
    for (index, member) in layout.members.iter().enumerate() {
        let is_in_run = requests.runs.iter().any(|run| run.first < index && index <= run.last);
        let joins = index > 0 && (is_in_run || moves_with(layout, notes, index - 1, index));
        match units.last_mut().filter(|_| joins) {
            Some(unit) => {
                unit.members.push(index);
                unit.is_bit_run |= member.is_bit_field();
            }
            None => units.push(Unit {
                members: vec![index],
                region: 0,
                family: 0,
                guard: notes.get(index).and_then(|note| note.guard),
                is_bit_run: member.is_bit_field(),
                constraint: None,
            }),
        }
    }
    units
}

/// Whether a member moves with its neighbour: bit-fields, what keeps the elements of an array without a length, and
/// declarators of one declaration (without source: of one line).
fn moves_with(layout: &Layout, notes: &[MemberNote], before: usize, index: usize) -> bool {
    let (previous, other) = (&layout.members[before], &layout.members[index]);
    if previous.is_inherited() {
        return false;
    }
    if previous.is_bit_field() && other.is_bit_field() || has_open_record(previous) {
        return true;
    }
    match (notes.get(before), notes.get(index)) {
        (Some(previous), Some(other)) => previous.unit.is_some() && previous.unit == other.unit,
        _ => {
            previous.line.is_some()
                && previous.line == other.line
                && !previous.role.is_marker()
                && !other.role.is_marker()
        }
    }
}

/// Whether a member is a record that ends with an array without a length.
fn has_open_record(member: &Member) -> bool {
    !member.members.is_empty() && member.ends_open()
}

pub(super) fn constrain_by_layout(
    layout: &Layout,
    inferred: &AbiStruct,
    requests: &PlacementRequests,
    units: &mut [Unit],
) {
    for unit in units {
        let mut notes = unit.members.iter().filter_map(|index| requests.notes.get(*index));
        let spanning = || Some((*unit.members.first()?, spanning_reason(unit, &requests.notes)?));
        let by_layout = |index: usize| Some((index, layout_reason(layout, index, &inferred.members[index])?));
        let place = |index: usize| declaration_site(layout, &layout.members[index]);
        let fixed = unit.members.iter().copied().find_map(by_layout);
        let fixed = fixed.map(|(index, reason)| format!("{reason}{}", place(index)));
        let together = || run_reason(unit, requests);
        let fixed = fixed.or_else(|| {
            let (index, reason) = spanning()?;
            Some(format!("{reason}{}{}", place(index), together()))
        });
        let fixed = fixed.map(|reason| UnitConstraint { kind: UnitConstraintKind::Fixed, reason });
        let immovable = || {
            let reason = notes.find_map(|note| note.immovable.clone())?;
            Some(UnitConstraint { kind: UnitConstraintKind::Order, reason })
        };
        unit.constraint = fixed.or_else(immovable);
    }
}

/// Where a member is declared, as far as debug info has it.
fn declaration_site(layout: &Layout, member: &Member) -> String {
    let site = layout.file.as_ref().zip(member.line);
    site.map_or_else(String::new, |(file, line)| format!(" ({file}:{line})"))
}

/// Why a member's place is part of the struct's meaning.
fn layout_reason(layout: &Layout, index: usize, member_abi: &AbiMember) -> Option<&'static str> {
    let member = layout.members.get(index)?;
    if member.is_inherited() {
        return Some("the C++ compiler places it");
    }
    if index < inherited_part(&layout.members) {
        return Some("it stands where a base class may leave room");
    }
    let is_last = index + 1 == layout.members.len();
    let group_marker = matches!(member.role, MemberRole::GroupBegin | MemberRole::GroupEnd)
        || member.label().starts_with("__cacheline_group_");
    let begins_line = member_abi.align >= LINE_ALIGN;
    let fills_line =
        member_abi.bit_size > 0 && member_abi.bit_size.is_multiple_of(member_abi.align.saturating_mul(8));
    if member.role == MemberRole::FlexibleArray || is_last && has_open_record(member) {
        Some("a flexible array is last")
    } else if group_marker {
        Some("it marks a cacheline group")
    } else if member_abi.bit_size == 0 && begins_line {
        Some("it only aligns what follows")
    } else if member_abi.bit_size == 0 && member.role == MemberRole::Plain {
        Some("it marks a place")
    } else if begins_line && !fills_line {
        Some("it begins a cacheline that members behind it share")
    } else {
        None
    }
}

/// Why a unit can't leave its place: its declarations stand on both sides of what nothing may pass in the
/// text.
fn spanning_reason(unit: &Unit, notes: &[MemberNote]) -> Option<&'static str> {
    let mut notes = unit.members.iter().filter_map(|index| notes.get(*index));
    let first = notes.next()?;
    let differs =
        |other: fn(&MemberNote) -> Option<u32>| notes.clone().any(|note| other(note) != other(first));
    if differs(|note| note.region) {
        return Some("nothing may pass what stands between its declarations");
    }
    differs(|note| note.guard)
        .then_some("its members stay together, but stand under different #if conditions")
}

/// Why code keeps a unit's members together, behind a sentence that says that it does.
fn run_reason(unit: &Unit, requests: &PlacementRequests) -> String {
    let is_own = |run: &&MemberRun| unit.members.contains(&run.first) && unit.members.contains(&run.last);
    let mut reasons = requests.runs.iter().filter(is_own).map(|run| run.reason.as_str());
    reasons.next().map_or_else(String::new, |reason| format!(": {reason}"))
}

pub(super) fn constrain_by_requests(layout: &Layout, requests: &PlacementRequests, units: &mut [Unit]) {
    let placed = requests.fixed.iter().chain(&requests.first).chain(&requests.last);
    let placed = placed.map(|pin| (pin, UnitConstraintKind::Fixed));
    let offset = |pin: &PinnedMember| layout.members.get(pin.member).map_or(0, Member::offset);
    let kept = requests.keep.iter().map(|pin| (pin, UnitConstraintKind::Offset(offset(pin))));
    for (pin, kind) in placed.chain(kept) {
        let unit = units.iter_mut().find(|unit| unit.members.contains(&pin.member));
        let Some(unit) = unit else { continue };
        let before = unit.constraint.take().filter(|hold| hold.reason != pin.reason);
        let before = before.map(|hold| format!("{}; ", hold.reason)).unwrap_or_default();
        unit.constraint = Some(UnitConstraint { kind, reason: format!("{before}{}", pin.reason) });
    }
    for pin in &requests.ordered {
        let unit = units.iter_mut().find(|unit| unit.members.contains(&pin.member));
        let Some(unit) = unit.filter(|unit| unit.constraint.is_none()) else { continue };
        unit.constraint =
            Some(UnitConstraint { kind: UnitConstraintKind::Order, reason: pin.reason.clone() });
    }
}

/// Numbers regions: the pinned first, stretches between units that are alone in theirs, the pinned last, a
/// flexible array.
pub(super) fn number_regions(layout: &Layout, requests: &PlacementRequests, units: &mut [Unit]) {
    let mut region = requests.first.len() as u32;
    let mut stretch = None;
    for unit in units.iter_mut() {
        if let Some(position) = position(&requests.first, unit) {
            unit.region = position;
            continue;
        }
        let note = unit.members.first().and_then(|index| requests.notes.get(*index));
        let here = note.and_then(|note| note.region);
        let alone = unit.constraint.as_ref().is_some_and(|hold| hold.kind != UnitConstraintKind::Order);
        let pinned_last = position(&requests.last, unit).is_some();
        let cuts = alone && !pinned_last;
        region += u32::from(cuts || stretch.is_some_and(|stretch| stretch != here));
        stretch = Some(here);
        unit.region = region;
        region += u32::from(cuts);
    }
    let flexible = |index: &usize| {
        let is_last = *index + 1 == layout.members.len();
        let member = layout.members.get(*index);
        member.is_some_and(|member| {
            member.role == MemberRole::FlexibleArray || is_last && has_open_record(member)
        })
    };
    for unit in units.iter_mut() {
        if let Some(position) = position(&requests.last, unit) {
            unit.region = region + 1 + position;
        } else if unit.members.iter().any(flexible) {
            unit.region = region + 1 + requests.last.len() as u32;
        }
    }
}

fn position(pins: &[PinnedMember], unit: &Unit) -> Option<u32> {
    let position = pins.iter().position(|pin| unit.members.contains(&pin.member));
    position.map(|place| place as u32)
}
