//! What a sample touched, by code and address together.
//!
//! The code's answer goes first. An address can make more of it (the struct around a generic one), stand in for it
//! where the code tells nothing, or contradict it: then there is no answer.

use crate::objects::evidence::{PAGE, Seen};
use crate::objects::known::{Cover, Objects};
use fieldline_typeflow::operands::{Answers, Operand, Reason, Target, TypeIndex};
use fieldline_typeflow::types::{Place, TypeSpace};

/// The target of a sample: what the code tells, with what is known of the object at the address.
pub(crate) fn decide(
    objects: &mut Objects<'_>,
    answers: &mut Answers,
    seen: Seen,
    operand: Option<&Operand<TypeIndex>>,
    by_code: Target<TypeIndex>,
) -> Target<TypeIndex> {
    if seen.address == 0 {
        return by_code;
    }
    if operand.is_some_and(|operand| is_misplaced(objects, seen, operand)) {
        return Target::Unknown(Reason::BadAddress);
    }
    let may_tell = matches!(by_code, Target::Unknown(reason) if may_tell(reason));
    let around = match by_code {
        Target::Place { ty, offset } => return of_place(objects, answers, seen, ty, offset),
        Target::Within { ty } => {
            let inner = objects.ty(ty);
            of_objects(objects, seen, |types, cover| types.positions(cover.place.ty, inner).len() == 1)
        }
        Target::Element { ty, offset, stride, count } => {
            let inner = objects.ty(ty);
            of_objects(objects, seen, |types, cover| {
                let positions = types.positions(cover.place.ty, inner);
                let firsts = positions.iter().filter_map(|position| position.checked_add(offset as i64));
                let distances = firsts.filter_map(|first| cover.place.offset.checked_sub(first));
                distances.filter_map(|distance| u64::try_from(distance).ok()).any(|distance| {
                    distance.checked_rem(stride) == Some(0)
                        && count.is_none_or(|count| distance / stride < count.max(1))
                })
            })
        }
        Target::Unknown(_) if may_tell => of_objects(objects, seen, |_, _| true),
        Target::Unknown(_) => None,
    };
    match around {
        Some(cover) => named(objects, answers, cover),
        None if may_tell && objects.stacks.contains(&(seen.address / PAGE)) => Target::Unknown(Reason::Stack),
        None => by_code,
    }
}

/// Whether an address may stand in where the code has no answer for a reason. Stacks are used again and again, and where
/// there is no operand the address is of another instruction.
fn may_tell(reason: Reason) -> bool {
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
fn is_misplaced(objects: &Objects<'_>, seen: Seen, operand: &Operand<TypeIndex>) -> bool {
    let (Some(fixed), Target::Place { .. }) = (operand.fixed, operand.target) else { return false };
    let offset = match fixed.per_cpu {
        true => seen.owner.and_then(|owner| objects.per_cpu.get(&owner).copied()),
        false => Some(objects.slides.at(seen.address)),
    };
    offset.is_some_and(|offset| fixed.address.wrapping_add(offset) != seen.address)
}

/// Whether evidence of an object is so much stronger than that of another that it overrules it.
fn overrules(stronger: Option<u64>, weaker: u64) -> bool {
    stronger.is_none_or(|stronger| stronger >= weaker.saturating_mul(4))
}

fn of_place(
    objects: &mut Objects<'_>,
    answers: &mut Answers,
    seen: Seen,
    ty: TypeIndex,
    offset: u64,
) -> Target<TypeIndex> {
    let own = objects.ty(ty);
    if !objects.types.is_aggregate(own) {
        // A number is part of whatever lies there.
        let around = of_objects(objects, seen, |_, _| true);
        return around.map_or(Target::Place { ty, offset }, |cover| named(objects, answers, cover));
    }
    let align = objects.types.align(own);
    if seen.address.checked_sub(offset).is_none_or(|base| !base.is_multiple_of(align)) {
        return Target::Unknown(Reason::BadAddress);
    }
    let inner = Place { ty: own, offset: offset as i64 };
    let covers = objects.covering(seen.address, seen.time);
    let samples = covers.iter().find(|cover| cover.place == inner);
    let samples = samples.and_then(|cover| cover.samples).unwrap_or(1);
    for cover in covers {
        let outer = cover.place;
        if objects.types.encloses(outer, inner) {
            return named(objects, answers, cover);
        }
        // An object inside the one the code means says nothing against it.
        if !objects.types.encloses(inner, outer) && overrules(cover.samples, samples) {
            return Target::Unknown(Reason::BadAddress);
        }
    }
    Target::Place { ty, offset }
}

/// The largest struct at the address that fits.
fn of_objects(
    objects: &mut Objects<'_>,
    seen: Seen,
    fits: impl Fn(&mut TypeSpace<'_, '_>, Cover) -> bool,
) -> Option<Cover> {
    let covers = objects.covering(seen.address, seen.time);
    covers.into_iter().find(|cover| fits(&mut objects.types, *cover))
}

fn named(objects: &mut Objects<'_>, answers: &mut Answers, cover: Cover) -> Target<TypeIndex> {
    Target::Place { ty: objects.index(answers, cover.place.ty), offset: cover.place.offset as u64 }
}
