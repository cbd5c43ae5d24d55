//! A unit while it is read, and what is found so far.

use super::super::facts::{
    CodePlace, Departure, End, External, Given, Lent, NUMBERED, Origin, Outcome, Passage, Place, State,
    TakenMember,
};
use super::super::follow::Follower;
use super::super::names;
use super::super::nodes::Unit;
use super::super::shapes::type_name;
use super::super::shapes::wrappers::{is_wrapper, unwrapped};
use crate::clang::{Cursor, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;
use std::collections::{BTreeMap, BTreeSet};

/// A unit being read.
pub(crate) struct Reader<'r, 'v, 's, 'u> {
    pub(crate) unit: &'r Unit<'v, 's, 'u>,
    pub(crate) departures: Vec<Departure>,
    /// Calls by the place that their result comes from.
    pub(crate) results: BTreeMap<Place, Vec<Index>>,
    pub(crate) given: BTreeSet<(String, usize, CodePlace)>,
    pub(crate) passages: Vec<Passage>,
    pub(crate) defined: Vec<String>,
    pub(crate) symbols: BTreeSet<(String, usize, CodePlace)>,
    pub(crate) attributed: BTreeSet<String>,
    pub(crate) open: BTreeSet<Place>,
    /// Symbols that assembler code makes, and those that it names.
    pub(crate) assembled: BTreeSet<String>,
    pub(crate) mentioned: BTreeSet<(String, CodePlace)>,
    pub(crate) numbers: BTreeSet<(Place, Given)>,
    pub(crate) overlaid: BTreeSet<(usize, usize)>,
    pub(crate) filed: BTreeSet<usize>,
    pub(crate) ordered: BTreeMap<(usize, bool), CodePlace>,
    pub(crate) taken: BTreeSet<TakenMember>,
    pub(crate) lent: BTreeSet<Lent>,
    pub(crate) external: BTreeSet<External>,
    pub(crate) types: BTreeSet<(String, u64)>,
    pub(crate) made: BTreeSet<String>,
    pub(crate) in_sections: BTreeSet<usize>,
}

impl<'r, 'v, 's, 'u> Reader<'r, 'v, 's, 'u> {
    /// A reader that has seen nothing yet.
    pub(crate) fn new(unit: &'r Unit<'v, 's, 'u>) -> Self {
        Self {
            unit,
            departures: Vec::new(),
            results: BTreeMap::new(),
            given: BTreeSet::new(),
            passages: Vec::new(),
            defined: Vec::new(),
            symbols: BTreeSet::new(),
            attributed: BTreeSet::new(),
            open: BTreeSet::new(),
            assembled: BTreeSet::new(),
            mentioned: BTreeSet::new(),
            numbers: BTreeSet::new(),
            overlaid: BTreeSet::new(),
            filed: BTreeSet::new(),
            ordered: BTreeMap::new(),
            taken: BTreeSet::new(),
            lent: BTreeSet::new(),
            external: BTreeSet::new(),
            types: BTreeSet::new(),
            made: BTreeSet::new(),
            in_sections: BTreeSet::new(),
        }
    }
}

impl<'u> Reader<'_, '_, '_, 'u> {
    pub(crate) fn view(&self) -> View<'_, '_, 'u> {
        self.unit.view
    }

    pub(crate) fn passage(&mut self, place: Place, level: u8, outcome: Outcome) {
        // A parameter that nothing is done with is known, too.
        if level == 0 && (place.starts_with("parameter") || names::sum_of(&place).is_some())
            || !outcome.ends.is_empty()
            || !outcome.places.is_empty()
        {
            self.passages.push(Passage { place, level, outcome });
        }
    }

    /// Where an address goes that a variable holds, or that memory holds to which it points.
    pub(crate) fn held(&mut self, place: &Place, variable: Cursor<'u>) {
        // Memory of bytes may have pointers.
        let pointee = variable.ty().pointee();
        let leads_to_bytes = pointee.is_some_and(|pointee| pointee.kind() == TypeKind::Byte);
        for level in 0..=levels(variable.ty()).max(u8::from(leads_to_bytes)) {
            let outcome = self.outcome_of(variable, level);
            self.passage(place.clone(), level, outcome);
        }
    }

    /// The same for a parameter. Calls that know where the function brings it go on by themselves.
    pub(crate) fn held_by_parameter(
        &mut self,
        (function, number): (Cursor<'u>, usize),
        variable: Cursor<'u>,
    ) {
        let result = names::result(function);
        let written = names::all_written(function);
        let is_void = variable.ty().pointee().is_some_and(|pointee| pointee.kind() == TypeKind::Void);
        // What is sorted and searched for may be pointers.
        for level in 0..=levels(variable.ty()).max(u8::from(is_void)) {
            let mut outcome = self.outcome_of(variable, level);
            if self.unit.brought(function, number, level).is_some() {
                outcome.places.retain(|(_, place, ..)| *place != result && !written.contains(place));
            }
            self.passage(names::parameter(function, number), level, outcome);
        }
    }

    fn outcome_of(&self, variable: Cursor<'u>, level: u8) -> Outcome {
        let mut follower = Follower::new(self.unit);
        follower.follow(variable.identity(), State { level, ..State::PLAIN });
        follower.run()
    }

    pub(crate) fn depart(&mut self, index: Index, origin: Origin, mut outcome: Outcome) {
        let shapes = self.unit.shapes.borrow();
        let has_subjects =
            |shape: usize| shapes.all.get(shape).is_some_and(|shape| !shape.subjects.is_empty());
        let has_others = |shape: usize, other: usize| {
            let (own, other) = (shapes.all.get(shape), shapes.all.get(other));
            own.zip(other).is_some_and(|(own, other)| own.has_other_pointers(other))
        };
        match origin {
            Origin::Object(shape) if !has_subjects(shape) => outcome.ends.retain(|(_, end, _)| match end {
                End::Record(other) => has_subjects(*other) || has_others(shape, *other),
                end => *end == End::Frees,
            }),
            // Only of arrays whose elements are used it is known that they are bytes of nothing else.
            Origin::Other(ref name) if name.starts_with(NUMBERED) => {
                outcome.ends.retain(|(_, end, _)| matches!(end, End::Record(other) if has_subjects(*other)))
            }
            Origin::Other(_) => outcome.ends.clear(),
            _ => {}
        }
        drop(shapes);
        if !outcome.ends.is_empty() || !outcome.places.is_empty() {
            let at = self.unit.place(index);
            self.departures.push(Departure { origin, at, outcome, by: None });
        }
    }

    /// The origin that an address of a type has.
    pub(crate) fn origin(&self, ty: Type<'u>) -> Origin {
        match ty.kind() == TypeKind::Record {
            true => Origin::Object(self.unit.shape(ty)),
            false => Origin::Other(type_name(ty)),
        }
    }
}

/// Whether a type doesn't say what an address leads to: pointers to no records, numbers as wide as pointers, records that
/// are such numbers.
pub(crate) fn is_open(ty: Type<'_>) -> bool {
    match ty.kind() {
        TypeKind::Pointer => ty.pointee().is_some_and(|pointee| {
            matches!(
                pointee.kind(),
                TypeKind::Void | TypeKind::Byte | TypeKind::Number | TypeKind::Pointer | TypeKind::Array
            )
        }),
        // A number of 16 bytes has room for an address and a mark.
        TypeKind::Number => {
            ty.size() == Some(8) && !ty.is_enumeration() || ty.size() == Some(16) && ty.is_integer()
        }
        TypeKind::Record => is_wrapper(ty),
        _ => false,
    }
}

/// Whether a type is an array that may keep addresses as bytes.
pub(crate) fn is_byte_array(ty: Type<'_>) -> bool {
    let has_room = ty.size().is_some_and(|size| size >= 8);
    has_room && ty.element().is_some_and(|element| element.kind() == TypeKind::Byte)
}

/// How many pointers lead to the address in what a type says.
pub(crate) fn levels(ty: Type<'_>) -> u8 {
    let mut levels = 0;
    let mut ty = ty;
    while let Some(inner) = ty.element().or_else(|| ty.pointee()).map(unwrapped)
        && matches!(inner.kind(), TypeKind::Pointer | TypeKind::Array)
        && levels < 3
    {
        (ty, levels) = (inner, levels + 1);
    }
    // Numbers as wide as pointers, and bytes of an array, may be addresses.
    let numbers = ty.element().or_else(|| ty.pointee()).is_some_and(is_open);
    if numbers || is_byte_array(ty) { levels + 1 } else { levels }
}
