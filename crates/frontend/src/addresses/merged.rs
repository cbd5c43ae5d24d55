//! Records of all units, each once.

use super::facts::{CodePlace, End, Origin, Outcome, Passage, RAW, SINGLE, State};
use super::facts::{Shape, ShapeMember, ShapeNumber, UnitFlows};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The number of a type among all units'.
pub(crate) type TypeNumber = usize;

/// Records of all units.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    /// By unit and number there.
    numbers: Vec<Vec<TypeNumber>>,
    by_name: FxHashMap<String, TypeNumber>,
    shapes: Vec<Shape>,
    /// Subjects that nothing is asked of.
    left_out: BTreeSet<usize>,
}

impl Merged {
    /// Without subjects that nothing is asked of: these are records as others are.
    pub(crate) fn new(units: &[&UnitFlows], left_out: &BTreeSet<usize>) -> Self {
        let mut merged = Self { left_out: left_out.clone(), ..Self::default() };
        for flows in units {
            let numbers: Vec<TypeNumber> = flows.shapes.iter().map(|shape| merged.add(shape)).collect();
            for (shape, number) in flows.shapes.iter().zip(&numbers) {
                merged.complete(*number, shape, &numbers);
            }
            merged.numbers.push(numbers);
        }
        let others =
            units.iter().flat_map(|flows| &flows.departures).filter_map(|departure| {
                match &departure.origin {
                    Origin::Other(name) => Some(name),
                    _ => None,
                }
            });
        for name in others {
            let shape = Shape { name: name.clone(), ..Shape::default() };
            merged.add(&shape);
        }
        merged
    }

    /// A struct that units define differently is two.
    fn add(&mut self, shape: &Shape) -> TypeNumber {
        let known = self.by_name.get(&shape.name).copied();
        let is_same = |known: &TypeNumber| {
            let size = self.shapes.get(*known).map_or(0, |known| known.size);
            size == shape.size || size == 0 || shape.size == 0
        };
        if let Some(known) = known.filter(is_same) {
            return known;
        }
        let number = self.shapes.len();
        self.shapes.push(Shape { name: shape.name.clone(), ..Shape::default() });
        let name = if known.is_some() {
            format!("{} of {} bytes", shape.name, shape.size)
        } else {
            shape.name.clone()
        };
        *self.by_name.entry(name).or_insert(number)
    }

    fn complete(&mut self, number: TypeNumber, shape: &Shape, numbers: &[TypeNumber]) {
        let merged_number = |number: ShapeNumber| numbers.get(number).copied();
        let mut own = shape.clone();
        for member in &mut own.members {
            member.record = member.record.and_then(merged_number);
        }
        own.subjects.retain_mut(|(subject, _, shape)| {
            !self.left_out.contains(subject) && merged_number(*shape).map(|number| *shape = number).is_some()
        });
        if let Some(known) = self.shapes.get_mut(number)
            && (known.members.len() < own.members.len() || known.subjects.len() < own.subjects.len())
        {
            *known = own;
        }
    }

    /// A unit's number of a shape among all.
    pub(crate) fn number(&self, unit: usize, shape: ShapeNumber) -> TypeNumber {
        self.numbers.get(unit).and_then(|numbers| numbers.get(shape)).copied().unwrap_or(usize::MAX)
    }

    pub(crate) fn named(&self, name: &str) -> TypeNumber {
        self.by_name.get(name).copied().unwrap_or(usize::MAX)
    }

    pub(crate) fn shape(&self, number: TypeNumber) -> Option<&Shape> {
        self.shapes.get(number)
    }

    /// Subjects that objects of a type consist of: each with the bytes in front of it and its type.
    pub(crate) fn subjects(&self, number: TypeNumber) -> impl Iterator<Item = (usize, u64, TypeNumber)> + '_ {
        self.shape(number).into_iter().flat_map(|shape| shape.subjects.iter().copied())
    }

    /// The member of a record so many bytes behind its first one, and whether code may count on from it.
    pub(crate) fn member(&self, holder: TypeNumber, offset: u64) -> Option<&ShapeMember> {
        let members = &self.shape(holder)?.members;
        members.iter().find(|member| member.offset <= offset && offset < member.offset + member.size.max(1))
    }

    /// Types with subjects in them.
    pub(crate) fn holders(&self) -> impl Iterator<Item = TypeNumber> + '_ {
        self.shapes
            .iter()
            .enumerate()
            .filter(|(_, shape)| !shape.subjects.is_empty())
            .map(|(number, _)| number)
    }

    /// Whether a type is characters or numbers of which there may be several.
    pub(crate) fn is_bytes(&self, number: TypeNumber) -> bool {
        self.shape(number).is_some_and(|shape| {
            shape.name == RAW
                || ![SINGLE, "struct ", "union ", "class "].iter().any(|word| shape.name.starts_with(word))
                    && shape.members.is_empty()
        })
    }

    /// All that a passage may differ in from others, the same in all units.
    pub(crate) fn key<'f>(&self, unit: usize, passage: &'f Passage) -> PassageKey<'f> {
        let end = |end: &'f End| match end {
            End::Record(shape) => Err(self.number(unit, *shape)),
            end => Ok(end),
        };
        let Outcome { ends, places } = &passage.outcome;
        PassageKey {
            level: passage.level,
            ends: ends.iter().map(|(state, own, place)| (*state, end(own), place)).collect(),
            places: places
                .iter()
                .map(|(state, place, otherwise, at)| {
                    (*state, place.as_str(), otherwise.as_ref().map(end), at)
                })
                .collect(),
        }
    }
}

/// An end, a record by its number among all units'.
type EndKey<'f> = Result<&'f End, TypeNumber>;

/// All that passages differ in, the same in all units.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct PassageKey<'f> {
    level: u8,
    ends: Vec<(State, EndKey<'f>, &'f CodePlace)>,
    places: Vec<(State, &'f str, Option<EndKey<'f>>, &'f CodePlace)>,
}
