//! All structs that an access is one to.
//!
//! A struct may be part of another; an access to it is one to both, and whoever wants to know how the inner
//! one is used wants to see it.

use crate::aggregate::{ProfileBuilder, StructIndex};
use crate::attribute::Attributed;
use fieldline_debuginfo::dwarf::{Dwarf, TypeReader};
use fieldline_layout::Layout;
use fieldline_layout::types::AggregateKind;
use fieldline_typeflow::memoized;
use fieldline_typeflow::operands::{ProgramOperands, Target, TypeIndex};
use fieldline_typeflow::types::{Definitions, Ty, TypeOffset, TypeShape, TypeSpace};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Structs with a single member up to this size, in bytes, are wrappers of a number (`atomic_t`) and are not
/// reported.
const MAX_WRAPPER_SIZE: u64 = 8;

/// Finds the structs of accesses and makes them known to a [`ProfileBuilder`].
pub(super) struct AccessedStructs<'a, 's> {
    types: TypeSpace<'a, 's>,
    reader: TypeReader<'a, 's>,
    known: FxHashMap<Ty, StructIndex>,
    types_by_index: FxHashMap<TypeIndex, Ty>,
    enclosing: FxHashMap<(TypeIndex, u64), Rc<[TypeOffset]>>,
}

impl<'a, 's> AccessedStructs<'a, 's> {
    pub(super) fn new(dwarf: &'a Dwarf<'s>, definitions: &'a Definitions) -> Self {
        let (types, reader) = (TypeSpace::new(dwarf, definitions), TypeReader::new(dwarf));
        let (known, types_by_index, enclosing) = Default::default();
        Self { types, reader, known, types_by_index, enclosing }
    }

    /// The structs that an access is one to, each with the offset in it; the one the code speaks of, or else
    /// the outermost, is the last.
    pub(super) fn accessed_structs(
        &mut self,
        builder: &mut ProfileBuilder,
        answers: &ProgramOperands,
        attributed: &Attributed,
    ) -> Vec<(StructIndex, u64)> {
        let Target::Exact { ty, offset } = attributed.target else { return Vec::new() };
        let enclosing = self.enclosing_structs(answers, ty, offset);
        let by_code = match attributed.by_code {
            Target::Exact { ty, offset } => Some((self.type_at(answers, ty), offset)),
            _ => None,
        };
        // Code also shows which member of a union it is.
        let shown = by_code.map(|(ty, offset)| TypeOffset { ty, offset: offset as i64 });
        let outermost = enclosing.first().copied();
        let shown = shown.filter(|place| {
            let is_inside = outermost.is_some_and(|outer| self.types.encloses(outer, *place));
            enclosing.contains(place) || is_inside && self.is_reported(place.ty)
        });
        let primary = shown.or(outermost);
        let others = enclosing.iter().copied().filter(|place| Some(*place) != primary);
        others.chain(primary).map(|at| (self.struct_index(builder, at.ty), at.offset as u64)).collect()
    }

    fn type_at(&mut self, answers: &ProgramOperands, index: TypeIndex) -> Ty {
        memoized!(self.types_by_index, index, {
            let die = answers.type_entry(index).and_then(|entry| entry.die);
            die.map_or(Ty::VOID, |die| self.types.type_of_die(die))
        })
    }

    /// The structs that hold a place, from the outermost inwards: that itself, and in it those of some size
    /// and name.
    fn enclosing_structs(
        &mut self,
        answers: &ProgramOperands,
        index: TypeIndex,
        offset: u64,
    ) -> Rc<[TypeOffset]> {
        memoized!(self.enclosing, (index, offset), {
            let ty = self.type_at(answers, index);
            let place = i64::try_from(offset).map(|offset| TypeOffset { ty, offset });
            let mut places = place.map_or_else(|_| Vec::new(), |place| self.types.enclosing_structs(place));
            let outermost = places.first().copied();
            places.retain(|place| Some(*place) == outermost || self.is_reported(place.ty));
            Rc::from(places)
        })
    }

    fn is_reported(&mut self, ty: Ty) -> bool {
        let TypeShape::Aggregate { kind, name: Some(_), size, .. } = self.types.shape(ty) else {
            return false;
        };
        let (is_union, is_large) = (*kind == AggregateKind::Union, *size > Some(MAX_WRAPPER_SIZE));
        !is_union && (is_large || self.types.members(ty).len() > 1)
    }

    fn struct_index(&mut self, builder: &mut ProfileBuilder, ty: Ty) -> StructIndex {
        memoized!(self.known, ty, {
            // A type that can't be read again has no layout to show; its accesses count all the same.
            let layout = self.types.die(ty).and_then(|die| {
                let id = self.reader.read(die).ok()?;
                Layout::from_type(self.reader.table(), id)
            });
            let name = self.types.name(ty).unwrap_or("(anonymous)").to_owned();
            // The name with its namespaces.
            let layout = layout.map(|layout| Layout { name: name.clone(), ..layout });
            builder.add_type(name, self.types.size(ty).unwrap_or(0), layout)
        })
    }
}
