//! Where structs are defined that a unit only declares.

use fieldline_debuginfo::dwarf::code::{NameKind, Survey, name_hash};
use fieldline_debuginfo::dwarf::{DieRef, Dwarf};
use rustc_hash::{FxHashMap, FxHashSet};

/// Definitions of structs by name, out of the units that were surveyed.
#[derive(Debug, Default)]
pub struct Definitions {
    /// By hash of the name: the first definition in file order.
    by_name: FxHashMap<u64, DieRef>,
    /// Hashes of the names of those that others hold by value.
    embedded: FxHashSet<u64>,
}

impl Definitions {
    /// Collects the definitions of some units.
    pub fn new<'u>(surveys: impl IntoIterator<Item = &'u Survey>) -> Self {
        let mut by_name: FxHashMap<u64, DieRef> = FxHashMap::default();
        let mut embedded = FxHashSet::default();
        for survey in surveys {
            embedded.extend(survey.embedded());
            for (hash, die) in survey.names(NameKind::Aggregate) {
                let first = by_name.entry(hash).or_insert(die);
                *first = die.min(*first);
            }
        }
        Self { by_name, embedded }
    }

    /// Whether a struct of that name is held by value in another, so that a pointer to it may be one into that.
    pub fn is_embedded(&self, name: &str) -> bool {
        self.embedded.contains(&name_hash(name.as_bytes()))
    }

    /// The definition of a name.
    pub fn find(&self, dwarf: &Dwarf<'_>, name: &str) -> Option<DieRef> {
        let die = self.by_name.get(&name_hash(name.as_bytes())).copied()?;
        (dwarf.name_of(die) == Some(name.as_bytes())).then_some(die)
    }
}
