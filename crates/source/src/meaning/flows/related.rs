//! Which records hold a struct that is asked for, or are held in it.

use crate::meaning::syntax::items::Items;
use crate::meaning::types::{Type, World};
use crate::meaning::value::{Base, Sum, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which records hold which by value. Of two records of one name both count. The definition of a record that holds a
/// struct says its name, so it is among the files that are read.
#[derive(Clone, Debug, Default)]
pub(in crate::meaning) struct Relations<'t> {
    parts: Names<'t>,
    holders: Names<'t>,
}

/// By the name of a record or typedef, the names of others.
type Names<'t> = FxHashMap<&'t [u8], Vec<&'t [u8]>>;

impl<'t> Relations<'t> {
    /// By the declarations of all files.
    pub(in crate::meaning) fn new(world: &World<'t>, all: &[Items<'t>]) -> Self {
        let mut found = Self::default();
        for met in all.iter().map(|items| &items.met) {
            for (name, record) in &met.records {
                record.members.iter().for_each(|member| found.note(world, name, &member.ty));
            }
            met.typedefs.iter().for_each(|(name, ty)| found.note(world, name, ty));
        }
        found
    }

    fn note(&mut self, world: &World<'t>, holder: &'t [u8], ty: &Type<'t>) {
        if let Some(part) = held(world, ty).filter(|part| *part != holder) {
            self.parts.entry(holder).or_default().push(part);
            self.holders.entry(part).or_default().push(holder);
        }
    }

    /// The records that hold some records, or are held in them.
    pub(in crate::meaning) fn related_to(&self, records: &[&'t [u8]]) -> Related<'t> {
        let mut related = reached(records, &self.parts);
        related.extend(reached(records, &self.holders));
        Related { records: related }
    }
}

/// Records whose objects can be parts of what is asked for, or can have it as a part.
#[derive(Clone, Debug, Default)]
pub(in crate::meaning) struct Related<'t> {
    records: FxHashSet<&'t [u8]>,
}

impl<'t> Related<'t> {
    /// Whether a value is of objects that have nothing to do with what is asked for, and of nothing else.
    pub(in crate::meaning) fn is_of_others(&self, sum: &Sum<'t>) -> bool {
        self.has_other_base(sum) && self.own_terms(sum).next().is_none()
    }

    /// Whether a value is the place of something else, or a number that says nothing of what is asked for.
    pub(in crate::meaning) fn has_other_base(&self, sum: &Sum<'t>) -> bool {
        match sum.base {
            Some(Base::Object(record) | Base::Content(record) | Base::Behind(record)) => {
                self.is_other(record)
            }
            _ => sum.records().next().is_some() && self.own_terms(sum).next().is_none(),
        }
    }

    /// The terms that say anything of what is asked for.
    pub(in crate::meaning) fn own_terms<'s>(
        &'s self,
        sum: &'s Sum<'t>,
    ) -> impl Iterator<Item = &'s (bool, Term<'t>)> {
        let is_own = |term: &Term<'t>| term.record().is_some_and(|record| !self.is_other(record));
        sum.terms.iter().filter(move |(_, term)| is_own(term))
    }

    /// The value as it is kept: beside an unknown number, offsets and sizes of other records say nothing.
    pub(in crate::meaning) fn as_kept(&self, sum: &Sum<'t>) -> Sum<'t> {
        if self.is_of_others(sum) { sum.clone() } else { sum.without(|record| self.is_other(record)) }
    }

    fn is_other(&self, record: &[u8]) -> bool {
        !self.records.contains(record)
    }
}

/// The record, or the typedef that isn't known, that a type is or consists of.
fn held<'t>(world: &World<'t>, ty: &Type<'t>) -> Option<&'t [u8]> {
    let mut ty = world.resolve(ty);
    while let Type::Array(inner, _) = &ty {
        ty = world.resolve(inner);
    }
    match ty {
        Type::Record(name) | Type::Named(name) => Some(name),
        _ => None,
    }
}

/// Some records, and all that is reached from them.
fn reached<'t>(records: &[&'t [u8]], next: &Names<'t>) -> FxHashSet<&'t [u8]> {
    let mut left = records.to_vec();
    let mut found: FxHashSet<&'t [u8]> = left.iter().copied().collect();
    while let Some(name) = left.pop() {
        let more = next.get(name).into_iter().flatten();
        left.extend(more.copied().filter(|name| found.insert(name)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::program::{Program, ReadFile};
    use crate::meaning::value::Term;

    #[test]
    fn records_that_hold_or_are_held_are_related() {
        let text = "struct part { int a; }; typedef struct part part_t; struct s { part_t parts[2]; int b; };\n\
            struct holder { int c; struct { struct s s; } inner; }; struct other { struct s *s; int d; };\n\
            struct beside { part_t part; };";
        let files = [ReadFile { path: "a.c", text: text.as_bytes(), is_searched: true }];
        let program = Program::new(&files, &[], true);
        let related = program.relations.related_to(&[b"s"]);
        let is_other = |record: &'static str| related.is_of_others(&Sum::object(record.as_bytes()));
        assert_eq!(["s", "part", "holder"].map(is_other), [false; 3]);
        assert_eq!(["other", "beside", "unknown"].map(is_other), [true; 3]);
        // What is beside an object that isn't asked for, or a number, is something else.
        assert!(!related.is_of_others(&Sum::object(b"other").and(true, Term::Offset(b"s", b"b"))));
        assert!(!related.is_of_others(&Sum::term(Term::Number(8))));
    }
}
