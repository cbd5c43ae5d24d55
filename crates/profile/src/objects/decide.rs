//! What a sample touched, by code and address together.
//!
//! The code's answer goes first. An address can make more of it (the struct around a generic one), stand in for it
//! where the code tells nothing, or contradict it: then there is no answer.

use crate::objects::evidence::Seen;
use crate::objects::known::{Cover, Objects};
use fieldline_typeflow::operands::{Answers, Operand, Reason, Target, TypeIndex};
use fieldline_typeflow::types::{Place, Ty};

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
    if let Some(contradiction) = operand.and_then(|operand| misplaced(objects, seen, operand)) {
        return Target::Unknown(contradiction);
    }
    match by_code {
        Target::Place { ty, offset } => of_place(objects, answers, seen, ty, offset),
        Target::Within { ty } => {
            let around = of_objects(objects, seen, |objects, cover| {
                let inner = objects.ty(ty);
                cover.ty == inner || objects.types().positions(cover.ty, inner).len() == 1
            });
            around.map_or(by_code, |cover| named(objects, answers, cover))
        }
        Target::Element { ty, offset, stride, count } => {
            let around = of_objects(objects, seen, |objects, cover| {
                let inner = objects.ty(ty);
                let positions: Vec<i64> = match cover.ty == inner {
                    true => vec![0],
                    false => objects.types().positions(cover.ty, inner).to_vec(),
                };
                let element = Elements { offset, stride, count };
                positions.into_iter().any(|position| element.has(cover.offset as i64, position))
            });
            around.map_or(by_code, |cover| named(objects, answers, cover))
        }
        Target::Unknown(reason) if may_tell(reason) => {
            let around = of_objects(objects, seen, |_, _| true);
            match around {
                Some(cover) => named(objects, answers, cover),
                None if objects.is_stack(seen.address) => Target::Unknown(Reason::Stack),
                None => by_code,
            }
        }
        Target::Unknown(_) => by_code,
    }
}

#[derive(Clone, Copy)]
struct Elements {
    offset: u64,
    stride: u64,
    count: Option<u64>,
}

impl Elements {
    /// Whether an offset is that of one of them, if the struct that holds them begins at a position.
    fn has(self, offset: i64, position: i64) -> bool {
        let distance = offset.checked_sub(position).and_then(|offset| offset.checked_sub(self.offset as i64));
        let Some(distance) = distance.and_then(|distance| u64::try_from(distance).ok()) else {
            return false;
        };
        let index = distance.checked_div(self.stride);
        let exact = distance.checked_rem(self.stride) == Some(0);
        exact && index.is_some_and(|index| self.count.is_none_or(|count| index < count.max(1)))
    }
}

/// Whether an address may stand in where the code has no answer for a reason.
fn may_tell(reason: Reason) -> bool {
    match reason {
        Reason::NoDebugInfo
        | Reason::Unreachable
        | Reason::UnknownPointer
        | Reason::UnknownOffset
        | Reason::UnknownIndex
        | Reason::OutsideType
        | Reason::NoDefinition => true,
        // Stacks are used again and again, and where there is no operand the address is of another instruction.
        Reason::NoInstructionAddress
        | Reason::UserSpace
        | Reason::OtherProgram
        | Reason::NoInstruction
        | Reason::NoMemoryOperand
        | Reason::Stack
        | Reason::BadAddress
        | Reason::NoRun
        | Reason::BrokenRun => false,
    }
}

/// Whether the instruction can't have touched the address, because it always touches another.
fn misplaced(objects: &Objects<'_>, seen: Seen, operand: &Operand<TypeIndex>) -> Option<Reason> {
    let fixed = operand.fixed?;
    let exact = matches!(operand.target, Target::Place { .. });
    let expected = match fixed.per_cpu {
        true => fixed.address.wrapping_add(objects.per_cpu_offset(seen.owner?)?),
        false => fixed.address.wrapping_add(objects.slide(seen.address)),
    };
    (exact && expected != seen.address).then_some(Reason::BadAddress)
}

fn of_place(
    objects: &mut Objects<'_>,
    answers: &mut Answers,
    seen: Seen,
    ty: TypeIndex,
    offset: u64,
) -> Target<TypeIndex> {
    let own = objects.ty(ty);
    if own == Ty::VOID || !objects.types().is_aggregate(own) {
        // A number is part of whatever lies there.
        let around = of_objects(objects, seen, |_, _| true);
        return around.map_or(Target::Place { ty, offset }, |cover| named(objects, answers, cover));
    }
    let Some(base) = seen.address.checked_sub(offset) else {
        return Target::Unknown(Reason::BadAddress);
    };
    if !base.is_multiple_of(objects.types().align(own)) {
        return Target::Unknown(Reason::BadAddress);
    }
    let covers = objects.covering(seen.address, seen.time);
    let samples = covers.iter().find(|cover| cover.ty == own && cover.offset == offset);
    let samples = samples.and_then(|cover| cover.samples).unwrap_or(1);
    for cover in covers {
        let inner = Place { ty: own, offset: offset as i64 };
        let outer = Place { ty: cover.ty, offset: cover.offset as i64 };
        if objects.types().encloses(outer, inner) {
            return named(objects, answers, cover);
        }
        // An object inside the one the code means says nothing against it.
        if !objects.types().encloses(inner, outer) && Objects::overrules(cover.samples, samples) {
            return Target::Unknown(Reason::BadAddress);
        }
    }
    Target::Place { ty, offset }
}

/// The largest struct at the address that fits.
fn of_objects(
    objects: &mut Objects<'_>,
    seen: Seen,
    fits: impl Fn(&mut Objects<'_>, Cover) -> bool,
) -> Option<Cover> {
    let covers = objects.covering(seen.address, seen.time);
    covers.into_iter().find(|cover| fits(objects, *cover))
}

fn named(objects: &mut Objects<'_>, answers: &mut Answers, cover: Cover) -> Target<TypeIndex> {
    Target::Place { ty: objects.index(answers, cover.ty), offset: cover.offset }
}
