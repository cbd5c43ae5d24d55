//! Types of several builds: which of their layouts a profile has, and where members of the others go.

use super::row::TableRows;
use crate::error::FileProblem;
use crate::members;
use crate::row_sums::Tables;
use crate::schema::Table;
use fieldline_layout::Layout;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// A type as one build has it.
#[derive(Debug, Default)]
pub(super) struct KnownType {
    pub(super) name: String,
    pub(super) fingerprint: u64,
    pub(super) size: u64,
    pub(super) layout: Option<Layout>,
}

/// How the rows of a type become rows of the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It is the type of the profile with this index.
    Same(usize),
    /// It is another layout of it: members move by path.
    Moved(usize),
    /// Several types of that name are in the build asked for, or layouts are missing: nothing says which.
    None,
}

/// Bytes of a type, and where they are in the layout of the profile, as far as that is known.
type KnownMoves = BTreeMap<(u32, u64, u64), Option<u64>>;

/// Types of all builds.
pub(super) struct Catalog {
    types: Vec<KnownType>,
    /// By numbers of name and fingerprint in the rows: index of the type, and how it fits.
    by_id: BTreeMap<(u32, u32), (usize, Fit)>,
    moves: RefCell<KnownMoves>,
}

impl Catalog {
    /// The types of all builds; those of `build` are the profile's, and of types that it lacks, those with most
    /// samples.
    pub(super) fn new(tables: &Tables, build: Option<&str>) -> Result<Self, FileProblem> {
        let rows = TableRows { tables, table: Table::Layouts };
        let names = ["build_id", "type", "fingerprint", "type_size", "member", "layout"];
        let [build_id, name, fingerprint, size, member, layout] = names.map(|name| rows.column(name));
        let mut types: Vec<KnownType> = Vec::new();
        let mut ids: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let mut of_build: BTreeSet<usize> = BTreeSet::new();
        for row in rows.iter().filter(|row| row.text(member).is_none()) {
            let index = *ids.entry((row.id(name), row.id(fingerprint))).or_insert(types.len());
            if index == types.len() {
                let name = row.text(name).unwrap_or_default();
                let text = row.text(fingerprint).unwrap_or_default();
                let broken = |problem: String| FileProblem::Layout(name.to_owned(), problem);
                let fingerprint = u64::from_str_radix(text, 16)
                    .map_err(|_| broken(format!("its fingerprint {text:?} is no hexadecimal number")))?;
                let layout = row.text(layout).map(serde_json::from_str::<Layout>).transpose();
                let layout = layout.map_err(|error| broken(error.to_string()))?;
                types.push(KnownType {
                    name: name.to_owned(),
                    fingerprint,
                    size: row.unsigned(size),
                    layout,
                });
            }
            if row.text(build_id) == build {
                of_build.insert(index);
            }
        }
        let samples = samples_by_type(tables, &ids);
        let bases = base_types(&types, &of_build, &samples);
        let fit = |index: usize| -> Fit {
            let known = types.get(index);
            let named = known.and_then(|known| bases.get(known.name.as_str()));
            match named.map(Vec::as_slice) {
                Some(bases) if bases.contains(&index) => Fit::Same(index),
                Some([base]) if known.is_some_and(|known| known.layout.is_some()) => Fit::Moved(*base),
                _ => Fit::None,
            }
        };
        let by_id = ids.into_iter().map(|(id, index)| (id, (index, fit(index)))).collect();
        Ok(Self { types, by_id, moves: RefCell::default() })
    }

    /// The type with an index.
    pub(super) fn get(&self, index: usize) -> Option<&KnownType> {
        self.types.get(index)
    }

    /// How rows with these numbers of a name and a fingerprint fit.
    pub(super) fn fit(&self, name: u32, fingerprint: u32) -> Fit {
        self.by_id.get(&(name, fingerprint)).map_or(Fit::None, |(_, fit)| *fit)
    }

    /// Where bytes of a type are in the profile's layout.
    pub(super) fn offset(
        &self,
        (name, fingerprint): (u32, u32),
        offset: u64,
        size: u64,
    ) -> Option<(usize, u64)> {
        let (from, fit) = self.by_id.get(&(name, fingerprint))?;
        match fit {
            Fit::Same(index) => Some((*index, offset)),
            Fit::Moved(base) => {
                let moved = || {
                    let from = self.get(*from)?.layout.as_ref()?;
                    members::move_bytes(from, self.get(*base)?.layout.as_ref()?, offset, size)
                };
                let key = (*from as u32, offset, size);
                let there = *self.moves.borrow_mut().entry(key).or_insert_with(moved);
                there.map(|offset| (*base, offset))
            }
            Fit::None => None,
        }
    }

    /// The path of a byte's member, or its offset.
    pub(super) fn name_member(&self, (name, fingerprint): (u32, u32), offset: u64) -> String {
        let known = self.by_id.get(&(name, fingerprint)).and_then(|(index, _)| self.get(*index));
        let member = known.and_then(|known| members::find(known.layout.as_ref()?, offset));
        member.map_or_else(|| format!("offset {offset}"), |member| member.path)
    }
}

/// Loads and stores by index of a type.
fn samples_by_type(tables: &Tables, ids: &BTreeMap<(u32, u32), usize>) -> BTreeMap<usize, u64> {
    let rows = TableRows { tables, table: Table::Accesses };
    let [name, fingerprint, measure] = ["type", "fingerprint", "measure"].map(|name| rows.column(name));
    let mut samples: BTreeMap<usize, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.text(measure).is_some_and(crate::measure::is_of_blocks)) {
        if let Some(index) = ids.get(&(row.id(name), row.id(fingerprint))) {
            let sum = samples.entry(*index).or_default();
            *sum = sum.saturating_add(row.count(0));
        }
    }
    samples
}

/// By name of a type: those of the build, or the one with most samples.
fn base_types<'t>(
    types: &'t [KnownType],
    of_build: &BTreeSet<usize>,
    samples: &BTreeMap<usize, u64>,
) -> BTreeMap<&'t str, Vec<usize>> {
    let mut bases: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, known) in types.iter().enumerate() {
        bases.entry(&known.name).or_default().push(index);
    }
    for all in bases.values_mut() {
        let own: Vec<usize> = all.iter().copied().filter(|index| of_build.contains(index)).collect();
        let count = |index: &usize| samples.get(index).copied().unwrap_or(0);
        let most =
            all.iter().copied().reduce(|best, index| if count(&index) > count(&best) { index } else { best });
        *all = if own.is_empty() { most.into_iter().collect() } else { own };
    }
    bases
}
