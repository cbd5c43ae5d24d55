//! Layouts of records whose members' sizes all machines agree on.

use super::types::{Member, Record, Type, World};

/// Deepest nesting of records that is placed, and most members that are.
const DEEPEST: usize = 8;
const MOST: usize = 400;

/// Bytes that a type takes, and those that its places are a multiple of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) size: u64,
    pub(super) alignment: u64,
}

/// A member with its place; one of a record inside for itself.
#[derive(Clone, Debug)]
pub(super) struct Place<'t> {
    pub(super) offset: u64,
    pub(super) record: &'t [u8],
    pub(super) name: &'t [u8],
    pub(super) ty: Type<'t>,
}

impl<'t> World<'t> {
    /// The bytes of a record, if all of it is known.
    pub(super) fn extent(&self, record: &[u8]) -> Option<Extent> {
        self.extent_of(self.records.get(record)?, DEEPEST)
    }

    fn extent_of(&self, record: &Record<'t>, depth: usize) -> Option<Extent> {
        let mut all = Extent { size: 0, alignment: 1 };
        for member in &record.members {
            let own = self.member_extent(record, member, depth)?;
            all.alignment = all.alignment.max(own.alignment);
            let end = match record.is_union {
                true => own.size,
                false => all.size.checked_next_multiple_of(own.alignment)?.checked_add(own.size)?,
            };
            all.size = all.size.max(end);
        }
        all.size = all.size.checked_next_multiple_of(all.alignment)?;
        Some(all)
    }

    /// The bytes of a member; none of a bit-field, and in what is packed.
    fn member_extent(&self, record: &Record<'t>, member: &Member<'t>, depth: usize) -> Option<Extent> {
        let is_plain = !record.is_packed && !record.has_base && record.members.len() <= MOST;
        if !is_plain || member.bits.is_some() || depth == 0 {
            return None;
        }
        self.type_extent(&member.ty, depth)
    }

    fn type_extent(&self, ty: &Type<'t>, depth: usize) -> Option<Extent> {
        match self.resolve(ty) {
            Type::Record(name) => self.extent_of(self.records.get(name)?, depth.checked_sub(1)?),
            Type::Array(inner, Some(count)) => {
                let element = self.type_extent(&inner, depth.checked_sub(1)?)?;
                Some(Extent { size: element.size.checked_mul(count)?, ..element })
            }
            other => {
                let size = self.size(&other)?;
                Some(Extent { size, alignment: size })
            }
        }
    }

    /// The members of a record with their places, those of records inside for themselves; as far as they are known.
    pub(super) fn places(&self, record: &'t [u8]) -> Vec<Place<'t>> {
        let mut found = Vec::new();
        self.place(record, 0, DEEPEST, &mut found);
        found
    }

    fn place(&self, name: &'t [u8], from: u64, depth: usize, found: &mut Vec<Place<'t>>) {
        let Some(record) = self.records.get(name).filter(|_| depth > 0) else { return };
        let mut end = from;
        for member in &record.members {
            let Some(own) = self.member_extent(record, member, depth) else { return };
            let Some(offset) = end.checked_next_multiple_of(own.alignment).filter(|_| found.len() < MOST)
            else {
                return;
            };
            end = if record.is_union { from } else { offset.saturating_add(own.size) };
            let ty = self.resolve(&member.ty);
            match ty {
                Type::Record(inner) => self.place(inner, offset, depth - 1, found),
                ty => found.push(Place { offset, record: name, name: member.name, ty }),
            }
        }
    }

    /// The class that declares a member: a record, or what it is derived from.
    pub(super) fn owner(&self, record: &'t [u8], name: &[u8]) -> &'t [u8] {
        let mut left = vec![(record, 0)];
        while let Some((class, depth)) = left.pop() {
            let Some(known) = self.records.get(class) else { continue };
            if known.members.iter().any(|member| member.name == name) {
                return class;
            }
            let bases = known.members.iter().filter(|member| member.name.is_empty() && depth < DEEPEST);
            left.extend(bases.filter_map(|member| match self.resolve(&member.ty) {
                Type::Record(base) => Some((base, depth + 1)),
                _ => None,
            }));
        }
        record
    }
}

#[cfg(test)]
mod tests {
    use super::Extent;
    use crate::meaning::program::{Program, ReadFile};

    #[test]
    fn records_are_placed_as_machines_agree() {
        let text = "struct in { char a; short b; }; union u { int a; char b[6]; };\n\
            struct s { char a; struct in in; union u u; void *p; };\n\
            struct bits { int a : 3; }; struct open { int a; struct elsewhere b; };";
        let file = ReadFile { path: "a.c", text: text.as_bytes(), is_searched: true };
        let world = Program::new(&[file], &[], true).world;
        assert_eq!(world.extent(b"in"), Some(Extent { size: 4, alignment: 2 }));
        assert_eq!(world.extent(b"u"), Some(Extent { size: 8, alignment: 4 }));
        assert_eq!(world.extent(b"s"), Some(Extent { size: 24, alignment: 8 }));
        assert_eq!((world.extent(b"bits"), world.extent(b"open")), (None, None));
        let places: Vec<(u64, &[u8])> =
            world.places(b"s").iter().map(|place| (place.offset, place.name)).collect();
        let expected: [(u64, &[u8]); 6] = [(0, b"a"), (2, b"a"), (4, b"b"), (8, b"a"), (8, b"b"), (16, b"p")];
        assert_eq!(places, expected);
    }
}
