//! What may not move, and what moves together.
//!
//! [`constraints`] reads a layout, what the source text says ([`Note`]) and what a user wishes ([`Wishes`]), and cuts
//! the members into [`Unit`]s: the smallest parts an order is made of. Every limit but pairs of members is a
//! property of a unit, so that an order is checked in one walk:
//!
//! * **Regions.** A unit never leaves its region, and regions follow one another. Group markers, flexible arrays,
//!   pinned members and members that begin a cacheline they don't fill are regions of their own; so whatever the
//!   declaration keeps before or behind them stays there.
//! * **Held order.** Units whose text can't be moved keep their order among each other; others may pass them.
//! * **Bit-field runs** stay whole and never become neighbours: two of them would share a memory location
//!   (C11 section 3.14), so writers under different locks would undo each other.

mod lines;

pub use lines::{LineKind, LinePin, LineWish, UnitBits};

use crate::abi::{self, Cause, Slot, Slots};
use crate::layout::{Layout, Member, Role};
use crate::types::MemberOrder;
use std::fmt;

/// Alignments from here on are meant for cachelines, not for a scalar or a double-word exchange.
const LINE_ALIGN: u64 = 32;

/// What the source text says about a member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Members with equal numbers are one declaration (`u64 a, b;`) and move together if they are neighbours.
    pub unit: Option<u32>,
    /// Path of `#if` conditions around it, as a number; equal paths have equal numbers.
    pub guard: Option<u32>,
    /// Stretch of the text it may not leave, such as between `randomized_struct_fields_start` and `_end`.
    pub region: Option<u32>,
    /// Why its text can't be moved, if so.
    pub stuck: Option<String>,
}

/// A member and why it is pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Declared index.
    pub member: usize,
    /// Where the wish comes from, for reports: a comment in the source, a line of the user's file.
    pub reason: String,
}

/// What is asked for beyond what the layout itself demands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// One for each declared member, or none if there is no source.
    pub notes: Vec<Note>,
    /// Members that come first, in this order.
    pub first: Vec<Pin>,
    /// Members that come last, in this order (before a flexible array).
    pub last: Vec<Pin>,
    /// Members that keep their offset.
    pub keep: Vec<Pin>,
    /// Members that neither move nor are passed: they end a range of bytes that the program copies or clears.
    pub held: Vec<Pin>,
    /// What is asked of cachelines.
    pub lines: Vec<LineWish>,
    /// Whether code asserts something about the struct's size.
    pub is_sized: bool,
}

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

/// The units of a struct and what limits their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraints {
    /// In declared order.
    pub units: Vec<Unit>,
    /// What is asked of cachelines, which only offsets tell: [`Constraints::check`] does not look at it.
    pub lines: Vec<LinePin>,
}

/// Why the members of a type can't be reordered at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Members of a union lie over one another.
    Union,
    /// The compiler orders the members.
    Order(MemberOrder),
    /// A packed struct describes bytes outside the program.
    Packed,
    /// The header is part of the kernel's user interface.
    UserInterface(String),
    /// A member reserves room for a frozen binary interface.
    Reserved(String),
    /// Offsets that no order of members explains.
    Unexplained(String),
    /// Nothing can move.
    Fixed,
    /// A wish names a member the struct doesn't have.
    NoSuchMember(usize),
    /// There is not one note for each member.
    Notes {
        /// How many notes there are.
        notes: usize,
        /// How many members there are.
        members: usize,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Union => f.write_str("it is a union"),
            Self::Order(order) => f.write_str(why_not(*order)),
            Self::Packed => f.write_str("it is packed, so its order is an exchange format"),
            Self::UserInterface(file) => write!(f, "{file} is user interface"),
            Self::Reserved(member) => {
                write!(f, "member {member} reserves room for a frozen binary interface")
            }
            Self::Unexplained(member) => write!(f, "the offset of {member} follows no placement rule"),
            Self::Fixed => f.write_str("none of its members may move"),
            Self::NoSuchMember(index) => write!(f, "there is no member {index}"),
            Self::Notes { notes, members } => write!(f, "{notes} notes for {members} members"),
        }
    }
}

impl std::error::Error for Refusal {}

fn why_not(order: MemberOrder) -> &'static str {
    match order {
        MemberOrder::Compiler => {
            "the Rust compiler orders its members itself, and they don't lie as written; with #[repr(C)] they would"
        }
        MemberOrder::Inherited => {
            "it has base classes or virtual functions, and where those stand is the C++ compiler's choice; a plan needs \
             the members in a struct of their own"
        }
        MemberOrder::Declared | MemberOrder::PerhapsCompiler => "its members lie as declared",
    }
}

/// Where an order breaks a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// It is no permutation of the units.
    NotAPermutation,
    /// The unit left its region.
    Region(usize),
    /// The unit passed another one whose text can't be moved either.
    HeldOrder(usize),
    /// The run of bit-fields follows another one.
    AdjacentBitRuns(usize),
}

/// Cuts a struct into units and finds their limits.
///
/// # Errors
/// If the members can't be reordered at all, or wishes and members don't fit.
pub fn constraints(layout: &Layout, wishes: &Wishes) -> Result<Constraints, Refusal> {
    let found = limits(layout, wishes)?;
    if found.can_move() { Ok(found) } else { Err(Refusal::Fixed) }
}

/// Like [`constraints`], also where no member may move: a new one may still come between them.
///
/// # Errors
/// If the order of members is nobody's to choose, or wishes and members don't fit.
pub fn limits(layout: &Layout, wishes: &Wishes) -> Result<Constraints, Refusal> {
    let slots = abi::slots_of(layout);
    refuse(layout, &slots, wishes)?;
    let mut units = units_of(layout, &wishes.notes);
    hold_by_layout(layout, &slots, wishes, &mut units);
    hold_by_wish(layout, wishes, &mut units);
    number_regions(layout, wishes, &mut units);
    Ok(Constraints { lines: lines::pins(layout, wishes, &units), units })
}

impl Constraints {
    /// Whether any two units may change places.
    fn can_move(&self) -> bool {
        let free = |unit: &&Unit| unit.hold.is_none();
        self.units.iter().filter(free).any(|unit| {
            let neighbours = self.units.iter().filter(|other| other.region == unit.region);
            neighbours.count() > 1
        })
    }

    /// The declared order, changed as far as wishes for the first and last place and for groups demand.
    pub fn initial_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.units.len()).collect();
        order.sort_by_key(|unit| self.units[*unit].region);
        let gathered = lines::gathered(order.clone(), &self.units, &self.lines);
        if self.check(&gathered).is_ok() { gathered } else { order }
    }

    /// The members' declared indices for an order of units.
    pub fn members_in(&self, order: &[usize]) -> Vec<usize> {
        let units = order.iter().filter_map(|unit| self.units.get(*unit));
        units.flat_map(|unit| unit.members.iter().copied()).collect()
    }

    /// Checks an order of units against everything that doesn't depend on offsets.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self, order: &[usize]) -> Result<(), Violation> {
        if !is_permutation(order, self.units.len()) {
            return Err(Violation::NotAPermutation);
        }
        let mut held: Option<usize> = None;
        for (place, &index) in order.iter().enumerate() {
            let unit = &self.units[index];
            let before = place.checked_sub(1).map(|place| &self.units[order[place]]);
            if before.is_some_and(|before| before.region > unit.region) {
                return Err(Violation::Region(index));
            }
            if before.is_some_and(|before| before.is_bit_run && unit.is_bit_run) {
                return Err(Violation::AdjacentBitRuns(index));
            }
            if unit.keeps_order() {
                if held.is_some_and(|held| held > index) {
                    return Err(Violation::HeldOrder(index));
                }
                held = Some(index);
            }
        }
        Ok(())
    }
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

fn is_permutation(order: &[usize], count: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.iter().copied().eq(0..count)
}

fn refuse(layout: &Layout, slots: &Slots, wishes: &Wishes) -> Result<(), Refusal> {
    if layout.is_union() {
        return Err(Refusal::Union);
    }
    if !matches!(layout.order, MemberOrder::Declared | MemberOrder::PerhapsCompiler) {
        return Err(Refusal::Order(layout.order));
    }
    if slots.packed() {
        return Err(Refusal::Packed);
    }
    if let Some(file) = layout.file.as_ref().filter(|file| file.contains("/uapi/")) {
        return Err(Refusal::UserInterface(file.clone()));
    }
    let count = layout.members.len();
    if !wishes.notes.is_empty() && wishes.notes.len() != count {
        return Err(Refusal::Notes { notes: wishes.notes.len(), members: count });
    }
    if let Some(index) = wishes.named().find(|index| *index >= count) {
        return Err(Refusal::NoSuchMember(index));
    }
    if let Some(member) = layout.members.iter().find(|member| reserves(member)) {
        return Err(Refusal::Reserved(member.label().to_owned()));
    }
    let unexplained = slots.exceptions.iter().find(|found| found.cause == Cause::Overlap);
    unexplained.map_or(Ok(()), |found| {
        let member = found.member.and_then(|index| layout.members.get(index));
        let label = member.map_or("the end", |member| member.label());
        Err(Refusal::Unexplained(label.to_owned()))
    })
}

/// Vendor kernels freeze structs and mark spare room: `RH_KABI_RESERVE`, `ANDROID_KABI_RESERVE`, `__kabi_reserved1`.
fn reserves(member: &Member) -> bool {
    let name = member.label().to_ascii_lowercase();
    name.contains("kabi_reserve") || name.starts_with("rh_reserved") || name.starts_with("android_kabi")
}

impl Wishes {
    /// Every member a wish names.
    fn named(&self) -> impl Iterator<Item = usize> {
        let pins = self.first.iter().chain(&self.last).chain(&self.keep).chain(&self.held);
        let lines = self.lines.iter().flat_map(|wish| &wish.members);
        pins.map(|pin| pin.member).chain(lines.copied())
    }
}

fn units_of(layout: &Layout, notes: &[Note]) -> Vec<Unit> {
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

/// Whether a member moves with its neighbour: bit-fields, and declarators of one declaration. Without source the
/// declaration's line tells them.
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

fn hold_by_layout(layout: &Layout, slots: &Slots, wishes: &Wishes, units: &mut [Unit]) {
    for unit in units {
        let index = unit.members[0];
        let (member, slot) = (&layout.members[index], &slots.slots[index]);
        let stuck = unit.members.iter().filter_map(|index| wishes.notes.get(*index));
        let stuck = stuck.filter_map(|note| note.stuck.clone()).next();
        let reason = layout_reason(member, slot).or_else(|| spans(unit, &wishes.notes));
        unit.hold = match (reason, stuck) {
            (Some(reason), _) => {
                Some(Hold { kind: HoldKind::Place, reason: format!("{reason}{}", place_of(layout, member)) })
            }
            (None, Some(reason)) => Some(Hold { kind: HoldKind::Order, reason }),
            (None, None) => None,
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

fn hold_by_wish(layout: &Layout, wishes: &Wishes, units: &mut [Unit]) {
    let mut hold = |pin: &Pin, kind: HoldKind| {
        let unit = units.iter_mut().find(|unit| unit.members.contains(&pin.member));
        if let Some(unit) = unit {
            let before = unit.hold.take().filter(|hold| hold.reason != pin.reason);
            let before = before.map(|hold| format!("{}; ", hold.reason)).unwrap_or_default();
            unit.hold = Some(Hold { kind, reason: format!("{before}{}", pin.reason) });
        }
    };
    for pin in &wishes.held {
        hold(pin, HoldKind::Place);
    }
    for pin in wishes.first.iter().chain(&wishes.last) {
        hold(pin, HoldKind::Place);
    }
    for pin in &wishes.keep {
        let offset = layout.members.get(pin.member).map_or(0, Member::offset);
        hold(pin, HoldKind::Offset(offset));
    }
}

/// Numbers regions: those pinned to the front, stretches between units that are alone in theirs, those pinned to the
/// back, and a flexible array.
fn number_regions(layout: &Layout, wishes: &Wishes, units: &mut [Unit]) {
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

#[cfg(test)]
mod tests;
