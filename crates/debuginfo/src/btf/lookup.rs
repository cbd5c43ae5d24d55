//! Types by name, and which hold others by value.

use super::index::Btf;
use super::kind::{BtfKind, BtfTypeId};
use super::record::Record;
use memchr::memmem;
use rustc_hash::FxHashMap;

/// How deep types may hold each other, and how many typedefs and qualifiers are followed to an aggregate; more is a cycle.
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
    /// The structs and unions of a name, and typedefs of one, in the order of their ids; those of the base come first.
    pub fn find(&self, name: &str) -> Vec<BtfTypeId> {
        self.find_many(&[name]).pop().unwrap_or_default()
    }

    /// As [`Self::find`], of several names in one pass over the types.
    pub fn find_many(&self, names: &[&str]) -> Vec<Vec<BtfTypeId>> {
        let mut found = self.base.map_or_else(|| vec![Vec::new(); names.len()], |base| base.find_many(names));
        let offsets: Vec<Vec<u32>> = fieldline_parallel::map(names, |name| self.name_offsets(name));
        let mut by_offset: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (name, offsets) in offsets.into_iter().enumerate() {
            offsets.into_iter().for_each(|offset| by_offset.entry(offset).or_default().push(name));
        }
        for id in self.ids() {
            let Some(record) = self.record(id).filter(|record| is_definition(record.kind())) else {
                continue;
            };
            let Some(matching) = by_offset.get(&record.name()) else { continue };
            if self.resolve_aggregate(id).is_some() {
                matching.iter().for_each(|name| found[*name].push(id));
            }
        }
        found
    }

    /// All named structs and unions, and typedefs of them, without those of the base, in the order of their ids.
    pub fn definitions(&self) -> impl Iterator<Item = BtfDefinition<'d>> {
        self.ids().filter_map(|id| {
            let record = self.record(id)?;
            let kind = record.kind();
            let is_meant = is_definition(kind) && self.resolve_aggregate(id).is_some();
            let name = self.string(record.name()).filter(|name| is_meant && !name.is_empty())?;
            Some(BtfDefinition { id, kind, name })
        })
    }

    /// The struct or union an id is or names.
    pub fn resolve_aggregate(&self, id: BtfTypeId) -> Option<BtfTypeId> {
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
        let offsets = self.name_offsets(name);
        let is_match =
            |record: Record<'_>| wanted(record.kind()) && offsets.binary_search(&record.name()).is_ok();
        if !offsets.is_empty() {
            found.extend(self.ids().filter(|id| self.record(*id).is_some_and(is_match)));
        }
        found
    }

    /// The string offsets at which a name stands; none if it can't be a name.
    fn name_offsets(&self, name: &str) -> Vec<u32> {
        let is_name = !name.is_empty() && !name.contains('\0');
        if is_name { self.string_offsets(name.as_bytes()) } else { Vec::new() }
    }

    /// Every string offset at which exactly `text` stands: as a string or as the end of one, which names may point
    /// into as well. Finding those first leaves a comparison of numbers for each type.
    fn string_offsets(&self, text: &[u8]) -> Vec<u32> {
        let mut needle = text.to_vec();
        needle.push(0);
        let mut offsets = self.base.map(|base| base.string_offsets(text)).unwrap_or_default();
        let own = memmem::find_iter(self.strings.bytes, &needle);
        offsets.extend(own.filter_map(|at| u32::try_from(at).ok()?.checked_add(self.first_string)));
        offsets
    }

    /// The structs and unions, those of the base included, that are among some types or hold one of them by value: as
    /// a member, in an array, in what they hold. In the order of their ids. Looks at each type once and copies none.
    pub fn holders(&self, held: &[BtfTypeId]) -> Vec<BtfTypeId> {
        let last = self.last_id().0;
        let mut known = vec![None; last as usize + 1];
        for id in held {
            if let Some(known) = known.get_mut(id.0 as usize) {
                *known = Some(true);
            }
        }
        let is_aggregate = |id: &BtfTypeId| self.kind(*id).is_some_and(BtfKind::is_aggregate);
        let aggregates = (1..=last).map(BtfTypeId).filter(is_aggregate);
        aggregates.filter(|id| self.is_holder(id.0, &mut known, MAX_CHAIN)).collect()
    }

    fn is_holder(&self, id: u32, known: &mut [Option<bool>], depth: u32) -> bool {
        match known.get_mut(id as usize) {
            None => return false,
            Some(Some(known)) => return *known,
            // Until it is known, it holds nothing: corrupt input may let a type hold itself.
            Some(unknown) => *unknown = Some(false),
        }
        let Some((record, depth)) = self.record(BtfTypeId(id)).zip(depth.checked_sub(1)) else {
            return false;
        };
        let holds = contained_types(&record).any(|part| self.is_holder(part, known, depth));
        if let (true, Some(known)) = (holds, known.get_mut(id as usize)) {
            *known = Some(true);
        }
        holds
    }
}

/// The types that one is made of.
fn contained_types(record: &Record<'_>) -> impl Iterator<Item = u32> {
    let kind = record.kind();
    let target = match kind {
        BtfKind::Array => Some(record.array().0),
        BtfKind::Typedef => Some(record.target()),
        _ => kind.is_modifier().then(|| record.target()),
    };
    let members = kind.is_aggregate().then(|| record.members().map(|member| member.ty));
    target.into_iter().chain(members.into_iter().flatten())
}

fn is_definition(kind: BtfKind) -> bool {
    matches!(kind, BtfKind::Struct | BtfKind::Union | BtfKind::Typedef)
}
