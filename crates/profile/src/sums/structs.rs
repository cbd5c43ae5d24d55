//! All structs that an access is one to.
//!
//! A struct may be part of another; an access to it is one to both, and whoever wants to know how the inner one is used
//! wants to see it.

use crate::aggregate::{Builder, StructIndex};
use crate::attribute::Attributed;
use fieldline_debuginfo::dwarf::{Dwarf, TypeReader};
use fieldline_layout::Layout;
use fieldline_layout::types::AggregateKind;
use fieldline_typeflow::kept;
use fieldline_typeflow::operands::{Answers, Target, TypeIndex};
use fieldline_typeflow::types::{Definitions, Place, Shape, Ty, TypeSpace};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Structs up to this size, in bytes, are wrappers of a number (`atomic_t`) and nobody asks for them.
const WRAPPER: u64 = 8;

/// Finds the structs of accesses and makes them known to a [`Builder`].
pub(super) struct Structs<'a, 's> {
    types: TypeSpace<'a, 's>,
    reader: TypeReader<'a, 's>,
    known: FxHashMap<Ty, StructIndex>,
    tys: FxHashMap<TypeIndex, Ty>,
    descents: FxHashMap<(TypeIndex, u64), Rc<[Place]>>,
}

impl<'a, 's> Structs<'a, 's> {
    pub(super) fn new(dwarf: &'a Dwarf<'s>, definitions: &'a Definitions) -> Self {
        let (types, reader) = (TypeSpace::new(dwarf, definitions), TypeReader::new(dwarf));
        let (known, tys, descents) = Default::default();
        Self { types, reader, known, tys, descents }
    }

    /// The structs that an access is one to, each with the offset in it; the one the code speaks of, or else the outermost,
    /// is the last.
    pub(super) fn touched(
        &mut self,
        builder: &mut Builder,
        answers: &Answers,
        attributed: &Attributed,
    ) -> Vec<(StructIndex, u64)> {
        let Target::Place { ty, offset } = attributed.target else { return Vec::new() };
        let descent = self.descent(answers, ty, offset);
        let by_code = match attributed.by_code {
            Target::Place { ty, offset } => Some((self.ty(answers, ty), offset)),
            _ => None,
        };
        let of_code = |place: &&Place| by_code == Some((place.ty, place.offset as u64));
        let primary = descent.iter().find(of_code).or_else(|| descent.first());
        let others = descent.iter().filter(|place| Some(*place) != primary);
        others.chain(primary).map(|place| (self.known(builder, place.ty), place.offset as u64)).collect()
    }

    fn ty(&mut self, answers: &Answers, index: TypeIndex) -> Ty {
        kept!(self.tys, index, {
            let die = answers.ty(index).and_then(|entry| entry.die);
            die.map_or(Ty::VOID, |die| self.types.of_die(die))
        })
    }

    /// The structs that hold a place, from the outermost inwards: that itself, and in it those of some size and name.
    fn descent(&mut self, answers: &Answers, index: TypeIndex, offset: u64) -> Rc<[Place]> {
        kept!(self.descents, (index, offset), {
            let ty = self.ty(answers, index);
            let place = i64::try_from(offset).map(|offset| Place { ty, offset });
            let mut places = place.map_or_else(|_| Vec::new(), |place| self.types.descent(place));
            let outermost = places.first().copied();
            places.retain(|place| Some(*place) == outermost || self.is_asked_for(place.ty));
            places.into()
        })
    }

    fn is_asked_for(&self, ty: Ty) -> bool {
        match self.types.shape(ty) {
            Shape::Aggregate { kind, name: Some(_), size, .. } => {
                *kind != AggregateKind::Union && *size > WRAPPER
            }
            _ => false,
        }
    }

    fn known(&mut self, builder: &mut Builder, ty: Ty) -> StructIndex {
        kept!(self.known, ty, {
            // A type that can't be read again has no layout to show; its accesses count all the same.
            let layout = self.types.die(ty).and_then(|die| {
                let id = self.reader.read(die).ok()?;
                Layout::of(self.reader.table(), id)
            });
            let name = self.types.name(ty).unwrap_or("(anonymous)").to_owned();
            // With the namespaces around it, which tell self of one name apart.
            let layout = layout.map(|layout| Layout { name: name.clone(), ..layout });
            builder.add_type(name, self.types.size(ty), layout)
        })
    }
}
