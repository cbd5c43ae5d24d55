//! Records of a unit, each once.

pub(crate) mod wrappers;

use super::facts::{Shape, ShapeMember, ShapeNumber};
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::records::Records;
use rustc_hash::FxHashMap;

/// Most records inside one another.
const DEEPEST: usize = 12;

/// The shapes that a unit's facts name.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    pub(crate) all: Vec<Shape>,
    by_name: FxHashMap<String, ShapeNumber>,
}

impl Shapes {
    /// The number of a record's shape.
    pub(crate) fn number<'u>(&mut self, records: &Records<'_, 'u>, ty: Type<'u>) -> ShapeNumber {
        self.add(records, ty, DEEPEST)
    }

    fn add<'u>(&mut self, records: &Records<'_, 'u>, ty: Type<'u>, depth: usize) -> ShapeNumber {
        let name = type_name(ty);
        if let Some(known) = self.by_name.get(&name) {
            return *known;
        }
        let number = self.all.len();
        self.by_name.insert(name.clone(), number);
        let bases = records.bases(ty).into_iter().map(type_name).collect();
        let declared = ty.canonical().declaration();
        let is_union = declared.is_some_and(|record| record.kind() == Kind::Union);
        let is_of_system = declared.is_some_and(|record| record.is_of_system() && !record.is_of_cpp());
        let place = declared.map(Cursor::identifier).unwrap_or_default();
        self.all.push(Shape {
            name,
            size: ty.size().unwrap_or(0),
            bases,
            place,
            is_union,
            is_of_system,
            ..Shape::default()
        });
        let members: Vec<ShapeMember> = match depth {
            0 => Vec::new(),
            _ => records.members(ty).iter().map(|member| self.member(records, member, depth)).collect(),
        };
        let mut subjects: Vec<(usize, u64, ShapeNumber)> = Vec::new();
        subjects.extend(records.subject(ty).map(|subject| (subject, 0, number)));
        for member in &members {
            let inner = member
                .record
                .and_then(|record| self.all.get(record))
                .filter(|_| member.record != Some(number));
            let within = inner.into_iter().flat_map(|inner| &inner.subjects);
            subjects
                .extend(within.map(|(subject, offset, shape)| (*subject, member.offset + offset, *shape)));
        }
        if depth > 0 {
            self.add_bases(records, ty, depth, &mut subjects);
        }
        if let Some(shape) = self.all.get_mut(number) {
            shape.members = members;
            shape.subjects = subjects;
        }
        number
    }

    /// Objects of the classes that a class is derived from stand in front of its own members, one behind the other.
    fn add_bases<'u>(
        &mut self,
        records: &Records<'_, 'u>,
        ty: Type<'u>,
        depth: usize,
        subjects: &mut Vec<(usize, u64, ShapeNumber)>,
    ) {
        let mut end = 0_u64;
        for base in records.bases(ty) {
            let front = end.next_multiple_of(base.alignment().unwrap_or(1));
            end = front.saturating_add(base.size().unwrap_or(0));
            let base = self.add(records, base, depth - 1);
            let inner = self.all.get(base).map(|base| base.subjects.clone()).unwrap_or_default();
            subjects
                .extend(inner.into_iter().map(|(subject, offset, shape)| (subject, front + offset, shape)));
        }
    }

    fn member<'u>(
        &mut self,
        records: &Records<'_, 'u>,
        member: &crate::records::Member<'u>,
        depth: usize,
    ) -> ShapeMember {
        let mut element = member.ty;
        while let Some(inner) = element.element() {
            element = inner;
        }
        let is_record = element.kind() == TypeKind::Record;
        let inner = wrappers::unwrapped(element);
        // Holders that are taken for others hand its address on.
        if let Some(subject) = element.pointee().filter(|pointee| records.subject(*pointee).is_some()) {
            self.add(records, subject, depth - 1);
        }
        ShapeMember {
            name: member.name.clone(),
            offset: member.offset / 8,
            size: member.ty.size().unwrap_or(0),
            ty: type_name(element),
            is_array: member.ty.kind() == TypeKind::Array,
            record: is_record.then(|| self.add(records, element, depth - 1)),
            value: (inner.kind() != TypeKind::Record).then(|| type_name(inner)),
            alignment: member.ty.alignment().unwrap_or(1),
        }
    }
}

/// A type's name behind all typedefs, as all units write it.
pub(crate) fn type_name(ty: Type<'_>) -> String {
    ty.canonical().spelling()
}
