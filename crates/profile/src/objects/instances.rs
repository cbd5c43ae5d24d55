//! Instances of structs in memory: variables, known from symbols, and objects that samples agree on.

use crate::addresses::{LoadBias, LoadBiases, TaggedAddress};
use crate::objects::evidence::{Evidence, ObservedSpan, PAGE};
use fieldline_debuginfo::LinkedAddress;
use fieldline_typeflow::memoized;
use fieldline_typeflow::operands::{ProgramOperands, TypeEntry, TypeIndex};
use fieldline_typeflow::program::Program;
use fieldline_typeflow::types::{Ty, TypeOffset, TypeSpace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryObject {
    pub ty: TypeIndex,
    pub base: TaggedAddress,
    /// Bytes.
    pub size: u64,
    pub span: ObservedSpan,
}

pub(crate) struct KnownObjects<'a> {
    program: &'a Program<'a>,
    pub(super) types: TypeSpace<'a, 'a>,
    /// Types of [`ProgramOperands`] in the space.
    types_by_index: FxHashMap<TypeIndex, Ty>,
    indices: FxHashMap<Ty, TypeIndex>,
    /// Of variables.
    pub(super) load_biases: LoadBiases,
    /// Load biases of each CPU's (or thread's) data.
    pub(super) per_cpu: BTreeMap<u32, LoadBias>,
    objects: Vec<MemoryObject>,
    /// Numbers of pages that hold stacks, as other samples show.
    pub(super) stacks: FxHashSet<u64>,
    /// Objects by the pages they touch.
    pages: FxHashMap<u64, Vec<u32>>,
    variables: FxHashMap<LinkedAddress, Option<TypeOffset>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CoveringStruct {
    /// The address in its type.
    pub place: TypeOffset,
    /// Samples that agree on it; `None` of a variable, of which there is no doubt.
    pub samples: Option<u64>,
}

impl<'a> KnownObjects<'a> {
    /// Objects that samples agree on.
    pub(crate) fn new(
        program: &'a Program<'a>,
        answers: &ProgramOperands,
        evidence: &Evidence,
        load_biases: LoadBiases,
    ) -> Self {
        let (types, per_cpu, stacks) = (program.types(), evidence.per_cpu_biases(), evidence.stacks.clone());
        let (types_by_index, indices, objects, pages, variables) = Default::default();
        let mut objects = Self {
            program,
            types,
            types_by_index,
            indices,
            load_biases,
            per_cpu,
            objects,
            stacks,
            pages,
            variables,
        };
        for (index, entry) in (0u32..).zip(&answers.types) {
            if let Some(ty) = entry.die.map(|die| objects.types.type_of_die(die)).filter(|ty| *ty != Ty::VOID)
            {
                objects.types_by_index.insert(TypeIndex(index), ty);
                objects.indices.insert(ty, TypeIndex(index));
            }
        }
        objects.accept_objects(evidence);
        objects
    }

    /// Accepts objects, those with most samples first, unless better ones contradict.
    fn accept_objects(&mut self, evidence: &Evidence) {
        let mut sizes: FxHashMap<TypeIndex, u64> = FxHashMap::default();
        for ty in evidence.reached.keys() {
            let own_type = self.ty(*ty);
            sizes.insert(*ty, evidence.object_size(*ty, self.types.size(own_type).unwrap_or(0)));
        }
        let mut objects = Vec::new();
        for ((ty, base), span) in &evidence.bases {
            let (own_type, size) = (self.ty(*ty), sizes.get(ty).copied().unwrap_or(0));
            let object = MemoryObject { ty: *ty, base: *base, size, span: *span };
            let is_aligned = size > 0 && base.0.is_multiple_of(self.types.align(own_type));
            if is_aligned && !object.pages().any(|page| self.stacks.contains(&page)) {
                objects.push(object);
            }
        }
        objects.sort_unstable_by_key(|object| {
            (std::cmp::Reverse(object.span.samples), object.base, object.size, object.ty)
        });
        for object in objects {
            if self.is_consistent(&object) {
                let index = self.objects.len() as u32;
                self.objects.push(object);
                for page in object.pages() {
                    self.pages.entry(page).or_default().push(index);
                }
            }
        }
    }

    /// Whether an object is consistent with variables and better objects: apart from them, in them or around
    /// them, or at another time.
    fn is_consistent(&mut self, object: &MemoryObject) -> bool {
        let ty = self.ty(object.ty);
        if let Some(place) = self.variable_at(object.base) {
            return self.types.contains(place, ty);
        }
        let near: Vec<MemoryObject> = object.pages().flat_map(|page| self.objects_on_page(page)).collect();
        near.into_iter().all(|known| {
            !known.overlaps(object) || known.is_apart_in_time(object) || self.is_nested(&known, object)
        })
    }

    fn objects_on_page(&self, page: u64) -> impl Iterator<Item = MemoryObject> {
        let indices = self.pages.get(&page).into_iter().flatten();
        indices.filter_map(|index| self.objects.get(*index as usize).copied())
    }

    fn objects_at(&self, address: TaggedAddress) -> Vec<MemoryObject> {
        self.objects_on_page(address.0 / PAGE).filter(|object| object.covers(address)).collect()
    }

    fn is_nested(&mut self, a: &MemoryObject, b: &MemoryObject) -> bool {
        let (outer, inner) = if a.size >= b.size { (a, b) } else { (b, a) };
        let Some(offset) = inner.base.bytes_from(outer.base) else { return false };
        let (outer, inner) = (self.ty(outer.ty), self.ty(inner.ty));
        self.types.contains(TypeOffset { ty: outer, offset: offset as i64 }, inner)
    }

    pub(crate) fn ty(&self, index: TypeIndex) -> Ty {
        self.types_by_index.get(&index).copied().unwrap_or(Ty::VOID)
    }

    /// The variable that covers an address, a per-CPU one too, and the place in it.
    fn variable_at(&mut self, address: TaggedAddress) -> Option<TypeOffset> {
        let range = self.program.per_cpu.range.clone();
        let mut linked = self.per_cpu.values().map(|load_bias| load_bias.variable(address));
        let linked = linked.find(|linked| range.contains(linked));
        let linked = linked.unwrap_or_else(|| self.load_biases.variable(address));
        // Below a kernel lies what it allocates, and no variable but the per-CPU ones.
        if self.program.text_start.is_some_and(|start| linked < start) && !range.contains(&linked) {
            return None;
        }
        let symbol = self.program.symbols.data_at(linked)?;
        let start = LinkedAddress(symbol.address);
        let begin = memoized!(self.variables, start, self.program.variable_anywhere(start, &mut self.types));
        let place = TypeOffset { offset: i64::try_from(linked.bytes_from(start)?).ok()?, ..begin? };
        let place = self.types.innermost(place)?;
        let is_struct = self.types.is_aggregate(place.ty) && self.types.is_inside(place);
        is_struct.then_some(place)
    }

    /// Structs that cover an address at a time: a variable, or objects, largest first.
    pub(crate) fn covering(&mut self, address: TaggedAddress, time: u64) -> Vec<CoveringStruct> {
        if let Some(place) = self.variable_at(address) {
            return vec![CoveringStruct { place, samples: None }];
        }
        let mut found = self.objects_at(address);
        // Memory is reused: of objects that exclude each other the one nearest in time is meant.
        let nearest = found.iter().map(|object| object.distance(time)).min().unwrap_or(0);
        let best = found.iter().copied().find(|object| object.distance(time) == nearest);
        found.retain(|object| best.is_some_and(|best| self.is_nested(object, &best)));
        found.sort_unstable_by_key(|object| (std::cmp::Reverse(object.size), object.base, object.ty));
        let covers = found.iter().map(|object| {
            let place = TypeOffset { ty: self.ty(object.ty), offset: (address.0 - object.base.0) as i64 };
            CoveringStruct { place, samples: Some(object.span.samples) }
        });
        covers.collect()
    }

    /// Times from which on another object may be at an address, from 0 on.
    pub(crate) fn change_times(&mut self, address: TaggedAddress) -> Vec<u64> {
        let found = self.objects_at(address);
        let exclude = found.iter().any(|object| found.iter().any(|other| !self.is_nested(object, other)));
        if !exclude || self.variable_at(address).is_some() {
            return vec![0];
        }
        let mut ends: Vec<u64> = found.iter().flat_map(|seen| [seen.span.first, seen.span.last]).collect();
        ends.sort_unstable();
        let between = ends.windows(2).filter_map(|pair| Some(pair.first()?.midpoint(*pair.last()?)));
        let times = between.chain(ends.iter().copied());
        let mut changes: Vec<u64> = times.flat_map(|time| [time, time.saturating_add(1)]).collect();
        changes.push(0);
        changes.sort_unstable();
        changes.dedup();
        changes
    }

    /// The index of a type, which is added if it is new.
    pub(crate) fn type_index(&mut self, answers: &mut ProgramOperands, ty: Ty) -> TypeIndex {
        if let Some(known) = self.indices.get(&ty) {
            return *known;
        }
        let index = answers.intern(TypeEntry::from_type(&self.types, ty));
        self.indices.insert(ty, index);
        self.types_by_index.entry(index).or_insert(ty);
        index
    }
}

impl MemoryObject {
    fn pages(&self) -> impl Iterator<Item = u64> + use<> {
        let end = self.base.0.saturating_add(self.size.saturating_sub(1));
        // Nothing larger is sampled byte by byte.
        (self.base.0 / PAGE..=end / PAGE).take(4096)
    }

    fn covers(&self, address: TaggedAddress) -> bool {
        address.bytes_from(self.base).is_some_and(|offset| offset < self.size)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.base.0 < other.base.0.saturating_add(other.size)
            && other.base.0 < self.base.0.saturating_add(self.size)
    }

    fn is_apart_in_time(&self, other: &Self) -> bool {
        self.span.last < other.span.first || other.span.last < self.span.first
    }

    /// Distance of a time from the time in which the object was sampled.
    fn distance(&self, time: u64) -> u64 {
        self.span.first.saturating_sub(time).max(time.saturating_sub(self.span.last))
    }
}
