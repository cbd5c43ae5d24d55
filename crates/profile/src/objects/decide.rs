//! Attribution of a sample by code and address together.
//!
//! The target by code goes first. An address can extend it (the struct around a generic one), replace it
//! where the code has none, or contradict it: then there is no target.

use crate::objects::evidence::{ObservedAddress, PAGE};
use crate::objects::instances::{CoveringStruct, KnownObjects};
use fieldline_typeflow::operands::{Operand, ProgramOperands, Reason, Target, TypeIndex};
use fieldline_typeflow::types::{TypeOffset, TypeSpace};

/// The target of a sample: that by code, refined by the object at the address.
pub(crate) fn decide(
    objects: &mut KnownObjects<'_>,
    answers: &mut ProgramOperands,
    observed: ObservedAddress,
    operand: Option<&Operand<TypeIndex>>,
    by_code: Target<TypeIndex>,
) -> Target<TypeIndex> {
    if operand.is_some_and(|operand| contradicts_fixed_address(objects, observed, operand)) {
        return Target::Unknown(Reason::BadAddress);
    }
    let is_undecided = matches!(by_code, Target::Unknown(reason) if is_undecided_by_code(reason));
    let covering = match by_code {
        Target::Exact { ty, offset } => return decide_by_location(objects, answers, observed, ty, offset),
        Target::Within { ty } => {
            let inner_type = objects.ty(ty);
            find_covering(objects, observed, |types, cover| {
                types.embedded_offsets(cover.place.ty, inner_type).len() == 1
            })
        }
        Target::Element { ty, offset, stride, count } => {
            let inner = objects.ty(ty);
            find_covering(objects, observed, |types, cover| {
                let positions = types.embedded_offsets(cover.place.ty, inner);
                let firsts = positions.iter().filter_map(|position| position.checked_add(offset as i64));
                let distances = firsts.filter_map(|first| cover.place.offset.checked_sub(first));
                distances.filter_map(|distance| u64::try_from(distance).ok()).any(|distance| {
                    distance.checked_rem(stride) == Some(0)
                        && count.is_none_or(|count| distance / stride < count.max(1))
                })
            })
        }
        Target::Unknown(_) if is_undecided => find_covering(objects, observed, |_, _| true),
        Target::Unknown(_) => None,
    };
    match covering {
        Some(cover) => to_target(objects, answers, cover),
        None if is_undecided && objects.stacks.contains(&(observed.address.0 / PAGE)) => {
            Target::Unknown(Reason::Stack)
        }
        None => by_code,
    }
}

/// Whether an address may replace a missing target by code. Stacks are reused, and without an operand the
/// address is of another instruction.
fn is_undecided_by_code(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::NoDebugInfo
            | Reason::Unreachable
            | Reason::UnknownPointer
            | Reason::UnknownOffset
            | Reason::UnknownIndex
            | Reason::OutsideType
            | Reason::NoDefinition
    )
}

/// Whether the instruction can't have touched the address, because it always touches another.
fn contradicts_fixed_address(
    objects: &KnownObjects<'_>,
    observed: ObservedAddress,
    operand: &Operand<TypeIndex>,
) -> bool {
    let (Some(fixed), Target::Exact { .. }) = (operand.fixed_address, operand.target) else { return false };
    let linked = match fixed.per_cpu {
        true => observed.owner.and_then(|cpu| Some(objects.per_cpu.get(&cpu)?.variable(observed.address))),
        false => Some(objects.load_biases.variable(observed.address)),
    };
    linked.is_some_and(|linked| linked != fixed.address)
}

fn decide_by_location(
    objects: &mut KnownObjects<'_>,
    answers: &mut ProgramOperands,
    observed: ObservedAddress,
    ty: TypeIndex,
    offset: u64,
) -> Target<TypeIndex> {
    let own = objects.ty(ty);
    if !objects.types.is_aggregate(own) {
        // A number is part of whatever lies there.
        let covering = find_covering(objects, observed, |_, _| true);
        return covering.map_or(Target::Exact { ty, offset }, |cover| to_target(objects, answers, cover));
    }
    let align = objects.types.align(own);
    let base = observed.address.checked_sub(offset).filter(|base| base.0.is_multiple_of(align));
    let inner = TypeOffset { ty: own, offset: offset as i64 };
    let Some(base) = base else { return decide_for_link(objects, answers, observed, inner) };
    if let Some(actual) = objects.actual((ty, base), observed.address) {
        return to_target(objects, answers, actual);
    }
    for cover in objects.covering(observed) {
        let outer = cover.place;
        if objects.types.encloses(outer, inner) || objects.is_number_of(outer, inner) {
            return to_target(objects, answers, cover);
        }
        // The type by code is certain: other objects were there at other times. A variable always is, but may be
        // inside, have it in a buffer, or be one that code takes for it as both begin alike.
        let types = &mut objects.types;
        if cover.is_variable
            && !types.encloses(inner, outer)
            && !types.is_in_buffer(outer)
            && !types.has_same_initial_sequence(outer, inner)
        {
            return Target::Unknown(Reason::BadAddress);
        }
    }
    Target::Exact { ty, offset }
}

/// The target of an access to a member of a struct that can't be there, as it would not be aligned. A loop over
/// a list ends so at its head, which is the same member of something else.
fn decide_for_link(
    objects: &mut KnownObjects<'_>,
    answers: &mut ProgramOperands,
    observed: ObservedAddress,
    inner: TypeOffset,
) -> Target<TypeIndex> {
    let link = objects.inner_struct(inner).filter(|link| link.ty != inner.ty);
    let covering = objects.covering(observed);
    let head = covering.into_iter().find(|cover| link.is_some() && objects.inner_struct(cover.place) == link);
    match (head, link) {
        (Some(head), _) => to_target(objects, answers, head),
        // The link's type is certain, whatever it is in.
        (None, Some(link)) => {
            Target::Exact { ty: objects.type_index(answers, link.ty), offset: link.offset as u64 }
        }
        _ if objects.stacks.contains(&(observed.address.0 / PAGE)) => Target::Unknown(Reason::Stack),
        _ => Target::Unknown(Reason::BadAddress),
    }
}

/// The largest struct at the address that fits.
fn find_covering(
    objects: &mut KnownObjects<'_>,
    observed: ObservedAddress,
    fits: impl Fn(&mut TypeSpace<'_, '_>, CoveringStruct) -> bool,
) -> Option<CoveringStruct> {
    let covering = objects.covering(observed);
    covering.into_iter().find(|cover| fits(&mut objects.types, *cover))
}

fn to_target(
    objects: &mut KnownObjects<'_>,
    answers: &mut ProgramOperands,
    cover: CoveringStruct,
) -> Target<TypeIndex> {
    Target::Exact { ty: objects.type_index(answers, cover.place.ty), offset: cover.place.offset as u64 }
}
