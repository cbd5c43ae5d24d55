//! Offsets, sizes and addresses that code uses as values.
//!
//! * `offsets`, `sizes`: offsets and sizes that are used as numbers; `ways` is where these go.
//! * `entries`: objects found by addresses of members that may be null.
//! * `compared`: addresses of members compared with one another; `sorted`: put in order by C++'s library.
//! * `distances`: distances of objects as numbers.
//! * `object_sizes`: what the compiler says is left of an object.
//! * `bounds`: loops from the begin of one array to the end of another.
//! * `buffers`: addresses kept together with lengths.
//! * `elements`: offsets kept together with numbers of elements.

mod bounds;
mod buffers;
mod compared;
mod distances;
mod elements;
mod entries;
mod object_sizes;
mod offsets;
mod sizes;
mod sorted;

mod ways;

pub(super) use buffers::listed;
pub(crate) use sorted::ordering;

use crate::report::Findings;
use crate::sum::View;
use crate::tree::Index;

/// All that the values in an expression with two sides ask.
pub(crate) fn binary<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    buffers::assigned(view, index, found);
    distances::find(view, index, found);
    compared::find(view, index, found);
    bounds::compared(view, index, found);
}

/// All that a call asks which compares, or is handed the ends of an array.
pub(crate) fn called<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    compared::find(view, index, found);
    bounds::handed(view, index, found);
}

/// All that values ask wherever they go in a unit.
pub(crate) fn find<'u>(view: View<'_, '_, 'u>, found: &mut Findings<'u>) {
    let names = ways::Names::read(view);
    offsets::find(view, &names, found);
    sizes::find(view, &names, found);
    entries::find(view, &names, found);
    sorted::find(view, found);
    object_sizes::find(view, found);
}
