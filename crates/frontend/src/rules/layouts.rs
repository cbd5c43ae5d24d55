//! Definitions that say themselves that the order is fixed.

use crate::addresses::object_operands;
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::demand::Demand;
use crate::records::Member;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;
use std::collections::{BTreeMap, BTreeSet};

/// Most typedefs behind one another.
const DEEPEST: usize = 8;

pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(record) = view.cursor(index).filter(|_| view.records.is_definition(view.tree, index)) else {
        return;
    };
    if view.tree.kind(index) == Kind::Union {
        return union(view, record, found);
    }
    let Some(subject) = view.records.declared(record) else { return };
    let members = view.records.members(record.ty());
    let has_attribute = view.tree.children(index).any(|child| view.tree.kind(child) == Kind::Packed);
    if has_attribute || members.iter().any(is_misaligned) || is_packed_here(view, index, record) {
        let why = "is packed: its bytes are shared with what isn't this program".to_owned();
        found.push(Found { subject, node: record, demand: Demand::Whole, why });
    }
    for member in members.iter() {
        if let Some(name) = fixed_order(member.ty) {
            let why = format!("{} has the byte order of a disk, a wire or a device ({name})", member.name);
            found.push(Found { subject, node: member.cursor, demand: Demand::Whole, why });
        }
    }
    if let Some(last) = members.last().filter(|last| is_tail(last.ty)) {
        let why = format!("{} is a tail", last.name);
        let demand = Demand::Last { member: last.name.clone() };
        found.push(Found { subject, node: last.cursor, demand, why });
    }
}

/// Assembler code that is given an object itself: what it does with the bytes is not in the unit.
pub(super) fn assembler<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let counts = view.cursor(index).is_some_and(|node| counts_on(&node.words()));
    for operand in view.tree.values(index).filter(|_| counts) {
        let Some(node) = view.cursor(operand) else { continue };
        let member = node.referenced().and_then(|member| view.records.part(member));
        let pointee = node.ty().pointee().and_then(|pointee| view.records.subject(pointee));
        for subject in pointee.into_iter().chain(member.map(|part| part.subject)) {
            let why = "assembler code counts on from its address by a number".to_owned();
            found.push(Found { subject, node, demand: Demand::Whole, why });
        }
    }
    for operand in object_operands(view, index) {
        let Some(node) = view.cursor(operand) else { continue };
        for subject in view.records.within(node.ty()) {
            let why = "is an operand of assembler code".to_owned();
            found.push(Found { subject, node, demand: Demand::Whole, why });
        }
    }
}

/// Whether assembler text has a number in front of an operand: `8(%0)`, `8+%0`.
fn counts_on(words: &[String]) -> bool {
    words.iter().filter(|word| word.starts_with('"')).any(|text| {
        ["(%", "+%"].iter().any(|mark| {
            text.match_indices(mark).any(|(at, _)| {
                let before = text.get(..at).unwrap_or_default().trim_end_matches('+');
                let number = before.chars().rev().take_while(char::is_ascii_alphanumeric).collect::<String>();
                let is_register = text.get(at + mark.len()..).is_some_and(|rest| rest.starts_with('%'));
                number.chars().last().is_some_and(|digit| digit.is_ascii_digit()) && !is_register
            })
        })
    })
}

/// Structs of which assembler code is given most members: it makes their objects.
pub(super) fn made_by_assembler<'u>(view: View<'_, '_, 'u>, found: &mut Findings<'u>) {
    let mut given: BTreeMap<usize, (BTreeSet<String>, Cursor<'u>)> = BTreeMap::new();
    for known in found.iter() {
        if let Demand::Assembler { member } = &known.demand {
            given
                .entry(known.subject)
                .or_insert_with(|| (BTreeSet::new(), known.node))
                .0
                .insert(member.clone());
        }
    }
    for (subject, (members, node)) in given {
        let all = view.records.subject_size(subject);
        if all.is_some_and(|all| members.len() > 1 && members.len() * 2 >= all) {
            let why = format!("assembler code is given the offsets of {} of its members", members.len());
            found.push(Found { subject, node, demand: Demand::Whole, why });
        }
    }
}

/// Whether a member stands where its type can't, as under `#pragma pack`.
fn is_misaligned(member: &Member<'_>) -> bool {
    let bits = member.ty.alignment().unwrap_or(1).saturating_mul(8);
    !member.cursor.is_bit_field() && member.offset.checked_rem(bits).is_some_and(|rest| rest > 0)
}

/// Whether a pragma packs a definition whose members stand where they would without it: in another order they don't, and a
/// unit that reads it without the pragma has another layout.
fn is_packed_here(view: View<'_, '_, '_>, index: Index, record: Cursor<'_>) -> bool {
    let is_plain = |member: Index| {
        view.tree.kind(member) == Kind::Member
            && !view.tree.children(member).any(|child| view.tree.kind(child) == Kind::Packed)
    };
    let members = view.tree.children(index).filter(|member| is_plain(*member));
    let members = members.filter_map(|member| view.cursor(member)).filter(|member| !member.is_bit_field());
    let largest = members.filter_map(|member| member.ty().alignment()).max();
    largest.zip(record.ty().alignment()).is_some_and(|(largest, own)| own < largest)
}

/// `[]`, `[0]` or `[1]`.
fn is_tail(ty: Type<'_>) -> bool {
    // A typedef'd array is an object that is handed on by address, as va_list is.
    ty.kind() == TypeKind::Array
        && ty.behind_typedef().is_none()
        && ty.length().is_none_or(|length| length <= 1)
}

/// The typedef with a byte order that a type comes of.
fn fixed_order(ty: Type<'_>) -> Option<String> {
    let mut ty = ty;
    for _ in 0..DEEPEST {
        while let Some(element) = ty.element() {
            ty = element;
        }
        let name = ty.spelling();
        let plain = name.rsplit(' ').next().unwrap_or(&name).trim_start_matches('_');
        let plain = plain.strip_suffix("_t").unwrap_or(plain);
        if ["le16", "le32", "le64", "be16", "be32", "be64"].contains(&plain) {
            return Some(name);
        }
        ty = ty.behind_typedef()?;
    }
    None
}

/// Members of a union share their first bytes.
fn union<'u>(view: View<'_, '_, 'u>, record: Cursor<'u>, found: &mut Findings<'u>) {
    let members = view.records.members(record.ty());
    for member in members.iter() {
        let Some(subject) = view.records.subject(member.ty) else { continue };
        let node = member.cursor;
        for other in members.iter().filter(|other| other.name != member.name) {
            let element = other.ty.element();
            let is_bytes =
                element.is_some_and(|element| matches!(element.kind(), TypeKind::Byte | TypeKind::Number));
            let shared = view.records.shared(member.ty, other.ty);
            let (demand, why) = match other.ty.kind() {
                TypeKind::Array if is_bytes && !is_storage(member.ty, other.ty) => {
                    (Demand::Whole, format!("shares a union with the bytes of {}", other.name))
                }
                TypeKind::Record if shared > 0 && !member.ty.equals(other.ty) => {
                    let why = format!("begins as {} does, with which it shares a union", other.ty.spelling());
                    (Demand::First { count: shared }, why)
                }
                TypeKind::Number | TypeKind::Pointer => {
                    let count = view.records.covering(member.ty, other.ty.size().unwrap_or(8));
                    (Demand::First { count }, format!("shares a union with {}", other.name))
                }
                _ => continue,
            };
            found.push(Found { subject, node, demand, why });
        }
    }
}

/// Whether an array only makes room around an object, as a stack does.
fn is_storage(ty: Type<'_>, array: Type<'_>) -> bool {
    let is_bytes = array.element().is_some_and(|element| element.kind() == TypeKind::Byte);
    !is_bytes && matches!((ty.size(), array.size()), (Some(own), Some(room)) if room / 2 > own)
}
