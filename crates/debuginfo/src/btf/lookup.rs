//! Types by name.

use super::index::Btf;
use super::kind::{BtfKind, BtfTypeId};
use memchr::memmem;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// How many typedefs and qualifiers are followed to an aggregate; more is a cycle.
const MAX_CHAIN: u32 = 64;

/// A type that can be laid out: a struct or union, or a typedef of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BtfDefinition<'d> {
    /// Its id.
    pub id: BtfTypeId,
    /// STRUCT, UNION or TYPEDEF.
    pub kind: BtfKind,
    /// Its name as bytes; BTF demands C identifiers but nobody checked them.
    pub name: &'d [u8],
}

impl<'d> Btf<'d> {
    /// The structs and unions of a name, and typedefs of a struct or union, in the order of their ids; those of
    /// the base come first.
    pub fn find(&self, name: &str) -> Vec<BtfTypeId> {
        self.find_many(&[name]).pop().unwrap_or_default()
    }

    /// What [`Self::find`] tells of each of some names, in one pass over the types.
    pub fn find_many(&self, names: &[&str]) -> Vec<Vec<BtfTypeId>> {
        let mut found = self.base.map_or_else(|| vec![Vec::new(); names.len()], |base| base.find_many(names));
        let mut by_place: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        let places: Vec<Vec<u32>> = names.par_iter().map(|name| self.name_places(name)).collect();
        for (index, place) in
            (0..).zip(places).flat_map(|(index, places)| places.into_iter().map(move |of| (index, of)))
        {
            by_place.entry(place).or_default().push(index);
        }
        for id in self.ids() {
            let Some(record) = self.record(id).filter(|record| is_definition(record.kind())) else {
                continue;
            };
            let Some(meant) = by_place.get(&record.name()) else { continue };
            if self.aggregate_behind(id).is_some() {
                meant.iter().for_each(|name| found[*name].push(id));
            }
        }
        found
    }

    /// All named structs and unions, and typedefs of them, in the order of their ids; those of the base are left
    /// out.
    pub fn definitions(&self) -> impl Iterator<Item = BtfDefinition<'d>> {
        self.ids().filter_map(|id| {
            let record = self.record(id)?;
            let kind = record.kind();
            let is_meant = is_definition(kind) && self.aggregate_behind(id).is_some();
            let name = self.string(record.name()).filter(|name| is_meant && !name.is_empty())?;
            Some(BtfDefinition { id, kind, name })
        })
    }

    /// The struct or union an id is or names.
    pub fn aggregate_behind(&self, id: BtfTypeId) -> Option<BtfTypeId> {
        let mut id = id;
        for _ in 0..MAX_CHAIN {
            let record = self.record(id)?;
            match record.kind() {
                BtfKind::Struct | BtfKind::Union => return Some(id),
                kind if kind == BtfKind::Typedef || kind.is_modifier() => id = BtfTypeId(record.target()),
                _ => return None,
            }
        }
        None
    }

    /// The types of a name that are of a kind, in the order of their ids; those of the base come first.
    pub fn find_kind(&self, name: &str, wanted: impl Fn(BtfKind) -> bool + Copy) -> Vec<BtfTypeId> {
        let mut found = self.base.map(|base| base.find_kind(name, wanted)).unwrap_or_default();
        let places = self.name_places(name);
        if places.is_empty() {
            return found;
        }
        let ids = self.ids().filter(|id| {
            let record = self.record(*id);
            record.is_some_and(|record| wanted(record.kind()) && places.binary_search(&record.name()).is_ok())
        });
        found.extend(ids);
        found
    }

    /// Where a name stands among the strings; nowhere if it can't be one.
    fn name_places(&self, name: &str) -> Vec<u32> {
        let is_name = !name.is_empty() && !name.contains('\0');
        if is_name { self.string_places(name.as_bytes()) } else { Vec::new() }
    }

    /// Every string offset at which exactly `text` stands: as a string or as the end of one, which names may point
    /// into as well. Finding those first leaves a comparison of numbers for each type.
    fn string_places(&self, text: &[u8]) -> Vec<u32> {
        let mut needle = text.to_vec();
        needle.push(0);
        let mut places = self.base.map(|base| base.string_places(text)).unwrap_or_default();
        let ours = memmem::find_iter(self.strings.bytes, &needle);
        places.extend(ours.filter_map(|at| u32::try_from(at).ok()?.checked_add(self.first_string)));
        places
    }
}

fn is_definition(kind: BtfKind) -> bool {
    matches!(kind, BtfKind::Struct | BtfKind::Union | BtfKind::Typedef)
}
