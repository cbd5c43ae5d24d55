//! Structs that are nothing but a number.
//!
//! Programs cast a number to such structs to change it by atomic operations (`set_bit` in
//! include/asm-generic/bitops/atomic.h of Linux): then the number is part of whatever lies there. Others are objects of
//! their own, in memory that was something else before.

use crate::objects::instances::KnownObjects;
use fieldline_typeflow::types::{TypeOffset, TypeSpace};

impl KnownObjects<'_> {
    /// Whether an object of a struct that is nothing but a number is part of the object around it: not if the struct
    /// has a tag and none holds it by value, and not if it is a pointer to something that the object begins with, as
    /// one of a derived type does with its table of functions.
    pub(super) fn is_number_of(&mut self, outer: TypeOffset, inner: TypeOffset) -> bool {
        let types = &mut self.types;
        let is_pointer = |types: &mut TypeSpace<'_, '_>| {
            types.members(inner.ty).iter().any(|member| types.pointee(member.ty).is_some())
        };
        types.may_be_embedded(inner.ty)
            && is_number_in(types, outer, inner)
            && !(is_pointer(types) && types.has_same_initial_sequence(outer, inner))
    }
}

/// Whether a struct that is nothing but a number is the number that lies at a place.
fn is_number_in(types: &mut TypeSpace<'_, '_>, outer: TypeOffset, inner: TypeOffset) -> bool {
    let size = types.size(inner.ty).and_then(|size| u16::try_from(size).ok());
    let is_number = |types: &mut TypeSpace<'_, '_>, place, size| types.scalar_at(place, size).is_some();
    let Some(size) = size.filter(|size| is_number(types, TypeOffset { offset: 0, ..inner }, *size)) else {
        return false;
    };
    let begin = outer.offset.checked_sub(inner.offset);
    begin.is_some_and(|offset| is_number(types, TypeOffset { offset, ..outer }, size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
    use fieldline_debuginfo::{Elf, FileBytes};
    use fieldline_typeflow::program::Program;
    use std::path::Path;

    #[test]
    fn a_struct_of_one_word_may_stand_for_a_word_of_another() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/attribution/idioms");
        let file = FileBytes::open(&path).unwrap();
        let elf = Elf::parse(&file).unwrap();
        let sections = DebugSections::load(&elf, None).unwrap();
        let dwarf = Dwarf::new(&sections).unwrap();
        let mut program = Program::new(&elf, &dwarf).unwrap();
        program.load_all();
        let mut types = program.types();
        let (link, root) = (types.find_struct("link").unwrap(), types.find_struct("root").unwrap());
        let mut is_number = |(outer, at), (inner, offset)| {
            let (outer, inner) = (TypeOffset { ty: outer, offset: at }, TypeOffset { ty: inner, offset });
            is_number_in(&mut types, outer, inner)
        };
        // `root` is a pointer and nothing else, `link` has three words.
        assert!(is_number((link, 0), (root, 0)) && is_number((link, 8), (root, 0)));
        assert!(is_number((link, 4), (root, 4)));
        assert!(!is_number((link, 4), (root, 0)) && !is_number((link, 24), (root, 0)));
        assert!(!is_number((root, 0), (link, 0)));
    }
}
