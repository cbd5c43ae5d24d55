//! What a function is given by all its callers.

use super::exports::{FunctionUse, Passed, SharedPlace};
use crate::flow::{Arguments, Code, World};
use crate::types::{Place, Ty, TypeSpace};

/// The arguments that all uses of a function agree on. Nothing is known of an argument that some use leaves open.
pub(crate) fn arguments(world: &mut World<'_>, code: &Code, uses: &[FunctionUse]) -> Arguments {
    let types = &mut world.types;
    let mut arguments = Arguments::default();
    for (index, argument) in arguments.iter_mut().enumerate() {
        let parameter = code.scopes.parameters.get(index).copied().flatten().map(|die| types.of_die(die));
        let pointee = parameter.and_then(|ty| types.pointee(ty)).unwrap_or(Ty::VOID);
        *argument = agreed(types, index, pointee, uses);
    }
    arguments
}

fn agreed(types: &mut TypeSpace<'_, '_>, index: usize, parameter: Ty, uses: &[FunctionUse]) -> Option<Place> {
    let mut agreed: Option<Place> = None;
    for usage in uses {
        let given = match usage {
            FunctionUse::Address => return None,
            FunctionUse::Call(passed) => match passed.get(index)? {
                Passed::Unknown => return None,
                Passed::Nothing => continue,
                Passed::Pointer(shown) => read(types, *shown),
            },
            // A call may be given more structs than the one it hands on.
            FunctionUse::Callback(shown) => match holder(types, *shown, parameter) {
                Some(place) => place,
                None => continue,
            },
        };
        agreed = match agreed {
            None => Some(given),
            Some(known) => {
                let (ty, offset) = types.common(known, given)?;
                Some(Place { ty, offset: offset? })
            }
        };
    }
    agreed
}

fn read(types: &mut TypeSpace<'_, '_>, shown: SharedPlace) -> Place {
    Place { ty: types.of_die(shown.die), offset: shown.offset }
}

/// The struct a callback is called with: that of its parameter's type which holds the place the callback was put in.
fn holder(types: &mut TypeSpace<'_, '_>, shown: SharedPlace, parameter: Ty) -> Option<Place> {
    if !types.is_aggregate(parameter) {
        return None;
    }
    let place = read(types, shown);
    let size = types.size(parameter) as i64;
    let positions = types.positions(place.ty, parameter);
    let holds = |begin: &&i64| **begin <= place.offset && place.offset < begin.saturating_add(size);
    Some(Place { ty: place.ty, offset: *positions.iter().find(holds)? })
}
