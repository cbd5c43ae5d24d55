//! Memory that files and devices are mapped to, and the structs that it is taken for, through the results of functions.

use super::super::facts::UnitFlows;
use super::super::merged::Merged;
use super::super::names;
use super::walk::Walk;
use crate::demand::{CodeUse, Demand};
use std::collections::BTreeSet;

/// Structs that lie in mapped memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappedUses {
    /// Demands, each once.
    pub uses: Vec<CodeUse>,
    /// Functions whose results are taken for subjects, and that no unit has the body of, by the word that defines them.
    pub sources: BTreeSet<String>,
}

/// Finds subjects in mapped memory.
pub fn mapped(units: &[&UnitFlows]) -> MappedUses {
    let merged = Merged::new(units, &BTreeSet::new());
    let walk = Walk::new(units, &merged);
    let taken = walk.taken_anywhere(|ty| merged.subjects(ty).next().is_some());
    let mut found = MappedUses::default();
    for place in taken.places() {
        let name = walk.name(place);
        if name == names::MAPPED {
            for (ty, at) in taken.all(place).into_iter().flatten() {
                let uses = merged
                    .subjects(*ty)
                    .map(|(subject, ..)| at.used(subject, Demand::Whole, "lies in mapped memory".to_owned()));
                found.uses.extend(uses);
            }
        } else if let Some(function) = names::source_of(name).filter(|_| !walk.is_defined(name)) {
            found.sources.insert(function.to_owned());
        }
    }
    found.uses.sort_unstable();
    found.uses.dedup();
    found
}
