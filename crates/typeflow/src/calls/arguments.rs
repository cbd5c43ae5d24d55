//! Arguments that all callers of a function agree on.

use super::function_uses::{ArgumentValue, CrossUnitOffset, FunctionUse};
use crate::flow::{ArgumentLocations, FunctionCode, UnitContext};
use crate::types::{Ty, TypeOffset, TypeSpace};

/// The arguments that all uses of a function agree on. An argument that some use leaves open is unknown.
pub(crate) fn merge_arguments(
    world: &mut UnitContext<'_>,
    code: &FunctionCode,
    uses: &[FunctionUse],
) -> ArgumentLocations {
    let types = &mut world.types;
    let mut arguments = ArgumentLocations::default();
    for (index, argument) in arguments.iter_mut().enumerate() {
        let declared = code.scopes.parameters.get(index).copied().flatten().map(|die| types.type_of_die(die));
        let pointee = declared.and_then(|ty| types.pointee(ty)).unwrap_or(Ty::VOID);
        *argument = merge_argument(types, index, pointee, uses);
    }
    arguments
}

fn merge_argument(
    types: &mut TypeSpace<'_, '_>,
    index: usize,
    parameter: Ty,
    uses: &[FunctionUse],
) -> Option<TypeOffset> {
    let mut merged: Option<TypeOffset> = None;
    for usage in uses {
        let given = match usage {
            FunctionUse::Address => return None,
            FunctionUse::Call(passed) => match passed.get(index)? {
                ArgumentValue::Unknown => return None,
                ArgumentValue::NoPointer => continue,
                ArgumentValue::Pointer(pointer) => to_type_offset(types, *pointer),
            },
            // A call may get more structs than the one it passes on.
            FunctionUse::Callback(callback) => match find_container(types, *callback, parameter) {
                Some(place) => place,
                None => continue,
            },
        };
        merged = match merged {
            None => Some(given),
            Some(known) => {
                let (ty, offset) = types.common_container(known, given)?;
                Some(TypeOffset { ty, offset: offset? })
            }
        };
    }
    merged
}

fn to_type_offset(types: &mut TypeSpace<'_, '_>, shared: CrossUnitOffset) -> TypeOffset {
    TypeOffset { ty: types.type_of_die(shared.die), offset: shared.offset }
}

/// The struct a callback is called with: that of its parameter's type which holds the place the callback was
/// put in.
fn find_container(types: &mut TypeSpace<'_, '_>, at: CrossUnitOffset, declared: Ty) -> Option<TypeOffset> {
    if !types.is_aggregate(declared) {
        return None;
    }
    let place = to_type_offset(types, at);
    let size = types.size(declared)? as i64;
    let positions = types.embedded_offsets(place.ty, declared);
    let holds = |begin: &&i64| **begin <= place.offset && place.offset < begin.saturating_add(size);
    Some(TypeOffset { ty: place.ty, offset: *positions.iter().find(holds)? })
}
