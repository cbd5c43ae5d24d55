//! Instances of structs in memory: variables, known from symbols, and objects that samples agree on.

use crate::objects::evidence::{Evidence, PAGE, Votes};
use crate::objects::slides::Slides;
use fieldline_typeflow::kept;
use fieldline_typeflow::operands::{Answers, TypeEntry, TypeIndex};
use fieldline_typeflow::program::Program;
use fieldline_typeflow::types::{Place, Ty, TypeSpace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub ty: TypeIndex,
    pub base: u64,
    /// Bytes.
    pub size: u64,
    pub votes: Votes,
}

pub(crate) struct Objects<'a> {
    program: &'a Program<'a>,
    pub(super) types: TypeSpace<'a, 'a>,
    /// Types of [`Answers`] in the space.
    tys: FxHashMap<TypeIndex, Ty>,
    indices: FxHashMap<Ty, TypeIndex>,
    /// Recorded address less address as linked, of variables.
    pub(super) slides: Slides,
    /// Where each CPU's (or thread's) data begins.
    pub(super) per_cpu: BTreeMap<u32, u64>,
    objects: Vec<Object>,
    /// Numbers of pages that hold stacks, as other samples show.
    pub(super) stacks: FxHashSet<u64>,
    /// Objects by the pages they touch.
    pages: FxHashMap<u64, Vec<u32>>,
    variables: FxHashMap<u64, Option<Place>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cover {
    /// The address in its type.
    pub place: Place,
    /// Samples that agree on it; `None` of a variable, of which there is no doubt.
    pub samples: Option<u64>,
}

impl<'a> Objects<'a> {
    /// Objects that samples agree on. `slides`: recorded address less address as linked.
    pub(crate) fn new(
        program: &'a Program<'a>,
        answers: &Answers,
        evidence: &Evidence,
        slides: Slides,
    ) -> Self {
        let (types, per_cpu, stacks) = (program.types(), evidence.per_cpu_offsets(), evidence.stacks.clone());
        let (tys, indices, objects, pages, variables) = Default::default();
        let mut objects =
            Self { program, types, tys, indices, slides, per_cpu, objects, stacks, pages, variables };
        for (index, entry) in (0u32..).zip(&answers.types) {
            if let Some(ty) = entry.die.map(|die| objects.types.of_die(die)).filter(|ty| *ty != Ty::VOID) {
                objects.tys.insert(TypeIndex(index), ty);
                objects.indices.insert(ty, TypeIndex(index));
            }
        }
        objects.settle(evidence);
        objects
    }

    /// Takes candidates, strongest first, unless stronger ones contradict.
    fn settle(&mut self, evidence: &Evidence) {
        let mut sizes: FxHashMap<TypeIndex, u64> = FxHashMap::default();
        for ty in evidence.reached.keys() {
            let of = self.ty(*ty);
            sizes.insert(*ty, evidence.size_of(*ty, self.types.size(of)));
        }
        let mut candidates = Vec::new();
        for ((ty, base), votes) in &evidence.candidates {
            let (of, size) = (self.ty(*ty), sizes.get(ty).copied().unwrap_or(0));
            let object = Object { ty: *ty, base: *base, size, votes: *votes };
            let is_aligned = size > 0 && base.is_multiple_of(self.types.align(of));
            if is_aligned && !object.pages().any(|page| self.stacks.contains(&page)) {
                candidates.push(object);
            }
        }
        candidates.sort_unstable_by_key(|object| {
            (std::cmp::Reverse(object.votes.samples), object.base, object.size, object.ty)
        });
        for candidate in candidates {
            if self.agrees(&candidate) {
                let index = self.objects.len() as u32;
                self.objects.push(candidate);
                for page in candidate.pages() {
                    self.pages.entry(page).or_default().push(index);
                }
            }
        }
    }

    /// Whether a candidate fits among variables and stronger objects: apart from them, in them or around them, or at
    /// another time.
    fn agrees(&mut self, candidate: &Object) -> bool {
        let ty = self.ty(candidate.ty);
        if let Some(place) = self.variable_at(candidate.base) {
            return self.types.contains(place, ty);
        }
        let near: Vec<Object> = candidate.pages().flat_map(|page| self.on_page(page)).collect();
        near.into_iter().all(|known| {
            !known.overlaps(candidate) || known.is_apart_in_time(candidate) || self.nest(&known, candidate)
        })
    }

    fn on_page(&self, page: u64) -> impl Iterator<Item = Object> {
        let indices = self.pages.get(&page).into_iter().flatten();
        indices.filter_map(|index| self.objects.get(*index as usize).copied())
    }

    fn all_at(&self, address: u64) -> Vec<Object> {
        self.on_page(address / PAGE).filter(|object| object.covers(address)).collect()
    }

    fn nest(&mut self, a: &Object, b: &Object) -> bool {
        let (outer, inner) = if a.size >= b.size { (a, b) } else { (b, a) };
        let Some(offset) = inner.base.checked_sub(outer.base) else { return false };
        let (outer, inner) = (self.ty(outer.ty), self.ty(inner.ty));
        self.types.contains(Place { ty: outer, offset: offset as i64 }, inner)
    }

    pub(crate) fn ty(&self, index: TypeIndex) -> Ty {
        self.tys.get(&index).copied().unwrap_or(Ty::VOID)
    }

    /// The variable that covers an address, a per-CPU one too, and the place in it.
    fn variable_at(&mut self, address: u64) -> Option<Place> {
        let range = self.program.per_cpu.range.clone();
        let mut linked = self.per_cpu.values().map(|offset| address.wrapping_sub(*offset));
        let linked = linked.find(|linked| range.contains(linked));
        let linked = linked.unwrap_or_else(|| address.wrapping_sub(self.slides.at(address)));
        // Below a kernel lies what it allocates, and no variable but the per-CPU ones.
        if linked < self.program.text_start && !range.contains(&linked) {
            return None;
        }
        let symbol = self.program.symbols.data_at(linked)?;
        let begin = kept!(
            self.variables,
            symbol.address,
            self.program.variable_anywhere(symbol.address, &mut self.types)
        );
        let place = Place { offset: i64::try_from(linked - symbol.address).ok()?, ..begin? };
        let place = self.types.innermost(place)?;
        let is_struct = self.types.is_aggregate(place.ty) && self.types.is_inside(place);
        is_struct.then_some(place)
    }

    /// Structs that cover an address at a time: a variable, or objects, largest first.
    pub(crate) fn covering(&mut self, address: u64, time: u64) -> Vec<Cover> {
        if let Some(place) = self.variable_at(address) {
            return vec![Cover { place, samples: None }];
        }
        let mut found = self.all_at(address);
        // Memory is used again: of objects that exclude each other the one nearest in time is meant.
        let nearest = found.iter().map(|object| object.distance(time)).min().unwrap_or(0);
        let best = found.iter().copied().find(|object| object.distance(time) == nearest);
        found.retain(|object| best.is_some_and(|best| self.nest(object, &best)));
        found.sort_unstable_by_key(|object| (std::cmp::Reverse(object.size), object.base, object.ty));
        let covers = found.iter().map(|object| {
            let place = Place { ty: self.ty(object.ty), offset: (address - object.base) as i64 };
            Cover { place, samples: Some(object.votes.samples) }
        });
        covers.collect()
    }

    /// Times from which on another object may be meant by an address, from 0 on.
    pub(crate) fn turns(&mut self, address: u64) -> Vec<u64> {
        let found = self.all_at(address);
        let exclude = found.iter().any(|one| found.iter().any(|other| !self.nest(one, other)));
        if !exclude || self.variable_at(address).is_some() {
            return vec![0];
        }
        let mut ends: Vec<u64> =
            found.iter().flat_map(|object| [object.votes.first, object.votes.last]).collect();
        ends.sort_unstable();
        let between = ends.windows(2).filter_map(|pair| Some(pair.first()?.midpoint(*pair.last()?)));
        let times = between.chain(ends.iter().copied());
        let mut turns: Vec<u64> = times.flat_map(|time| [time, time.saturating_add(1)]).collect();
        turns.push(0);
        turns.sort_unstable();
        turns.dedup();
        turns
    }

    /// The index of a type, which becomes known to the answers if it is not.
    pub(crate) fn index(&mut self, answers: &mut Answers, ty: Ty) -> TypeIndex {
        if let Some(known) = self.indices.get(&ty) {
            return *known;
        }
        let index = answers.intern(TypeEntry::of(&self.types, ty));
        self.indices.insert(ty, index);
        self.tys.entry(index).or_insert(ty);
        index
    }
}

impl Object {
    fn pages(&self) -> impl Iterator<Item = u64> + use<> {
        let end = self.base.saturating_add(self.size.saturating_sub(1));
        // Nothing larger is sampled byte by byte.
        (self.base / PAGE..=end / PAGE).take(4096)
    }

    fn covers(&self, address: u64) -> bool {
        address.checked_sub(self.base).is_some_and(|offset| offset < self.size)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.base < other.base.saturating_add(other.size) && other.base < self.base.saturating_add(self.size)
    }

    fn is_apart_in_time(&self, other: &Self) -> bool {
        self.votes.last < other.votes.first || other.votes.last < self.votes.first
    }

    /// How far a time is from the time the object was seen.
    fn distance(&self, time: u64) -> u64 {
        self.votes.first.saturating_sub(time).max(time.saturating_sub(self.votes.last))
    }
}
