//! Variables and functions that no unit defines, or otherwise than others declare them.

use super::super::facts::{External, UnitFlows};
use super::super::seeds::fingerprint;
use super::found::Demands;
use crate::demand::Demand;
use rustc_hash::{FxHashMap, FxHashSet};

/// Demands on subjects that come from code which the units don't show, and functions to look for.
pub(super) fn add_external(units: &[&UnitFlows], found: &mut Demands) {
    let made: FxHashSet<&str> = units.iter().flat_map(|flows| &flows.made).map(String::as_str).collect();
    let in_sections: FxHashSet<usize> = units.iter().flat_map(|flows| &flows.in_sections).copied().collect();
    let mut types: FxHashMap<&str, FxHashSet<u64>> = FxHashMap::default();
    for (symbol, ty) in units.iter().flat_map(|flows| &flows.types) {
        types.entry(symbol).or_default().insert(*ty);
    }
    for external in units.iter().flat_map(|flows| &flows.external) {
        let symbol = external.symbol.as_str();
        let why = match &external.function {
            Some(declared) => {
                found.unread.insert(symbol.to_owned());
                let declared = fingerprint(declared);
                match types.get(symbol) {
                    Some(own) if own.len() == 1 && own.contains(&declared) => None,
                    Some(_) => {
                        Some("passes it by value, and is defined with other types than those declared")
                    }
                    None => Some("passes it by value, and no unit defines it"),
                }
            }
            None => Some("is a variable of it, and no unit defines it").filter(|_| !made.contains(symbol)),
        };
        if let Some(why) = why {
            demand(external, why, &in_sections, found);
        }
    }
}

fn demand(external: &External, why: &str, in_sections: &FxHashSet<usize>, found: &mut Demands) {
    // A linker's script may say where that begins which variables are put into a section of.
    let is_meant = |subject: &&usize| external.function.is_some() || !in_sections.contains(*subject);
    for subject in external.subjects.iter().filter(is_meant) {
        let why = format!("{} {why}", external.symbol);
        found.uses.push(external.at.used(*subject, Demand::Whole, why));
    }
}
