//! Instances of structs in memory: variables, known from symbols, and objects that samples agree on.

use crate::addresses::{LoadBias, LoadBiases, TaggedAddress};
use crate::objects::evidence::{Evidence, ObjectId, ObservedAddress, ObservedBase, ObservedSpan, PAGE};
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
    pub seen: ObservedBase,
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
    ids: FxHashMap<(TypeIndex, TaggedAddress), ObjectId>,
    /// By type and base that code speaks of: the object that is there really.
    mistaken: FxHashMap<(TypeIndex, TaggedAddress), ObjectId>,
    /// Numbers of pages that hold stacks, as other samples show.
    pub(super) stacks: FxHashSet<u64>,
    /// Objects by the pages they touch.
    pages: FxHashMap<u64, Vec<ObjectId>>,
    variables: FxHashMap<LinkedAddress, Option<TypeOffset>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CoveringStruct {
    /// The address in its type.
    pub place: TypeOffset,
    /// Whether it is a variable, of which there is no doubt.
    pub is_variable: bool,
}

/// How two objects may be at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// One is a member of the other, as the types say.
    Nested,
    /// One lies in an array of numbers of the other.
    InBuffer,
    /// Only one after the other.
    Exclusive,
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
        let (types_by_index, indices, objects, ids, mistaken, pages, variables) = Default::default();
        let mut objects = Self {
            program,
            types,
            types_by_index,
            indices,
            load_biases,
            per_cpu,
            objects,
            ids,
            mistaken,
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

    /// Accepts objects, those with most samples first, but for those that are mistaken ones.
    fn accept_objects(&mut self, evidence: &Evidence) {
        let mut sizes: FxHashMap<TypeIndex, u64> = FxHashMap::default();
        for ty in evidence.reached.keys() {
            let own_type = self.ty(*ty);
            sizes.insert(*ty, evidence.object_size(*ty, self.types.size(own_type).unwrap_or(0)));
        }
        let mut objects = Vec::new();
        for ((ty, base), seen) in &evidence.bases {
            let (own_type, size) = (self.ty(*ty), sizes.get(ty).copied().unwrap_or(0));
            let object = MemoryObject { ty: *ty, base: *base, size, seen: *seen };
            let is_aligned = size > 0 && base.0.is_multiple_of(self.types.align(own_type));
            if is_aligned && !object.pages().any(|page| self.stacks.contains(&page)) {
                objects.push(object);
            }
        }
        objects.sort_unstable_by_key(|object| {
            (std::cmp::Reverse(object.seen.span.samples), object.base, object.size, object.ty)
        });
        for object in objects {
            if !self.fits_variables(&object) {
                continue;
            }
            if let Some(actual) = self.mistaken_for(&object) {
                self.mistaken.insert((object.ty, object.base), actual);
                continue;
            }
            self.add(object);
        }
        self.add_holders(&sizes);
        self.widen_spans();
    }

    /// A member's samples show that what is around it was there too.
    fn widen_spans(&mut self) {
        for inner in self.objects.clone() {
            let outer = self.only_holder(&inner, |_| true);
            if let Some(outer) = outer.and_then(|id| self.objects.get_mut(id.0 as usize)) {
                outer.seen.span.first = outer.seen.span.first.min(inner.seen.span.first);
                outer.seen.span.last = outer.seen.span.last.max(inner.seen.span.last);
            }
        }
    }

    /// The object that another is a member of, unless several could be it.
    fn only_holder(
        &mut self,
        inner: &MemoryObject,
        is_wanted: impl Fn(ObjectId) -> bool,
    ) -> Option<ObjectId> {
        let mut around = self.ids_at(inner.base);
        around.retain(|id| {
            is_wanted(*id)
                && self.object(*id).is_some_and(|outer| {
                    outer.size > inner.size && self.relation(&outer, inner) == Relation::Nested
                })
        });
        match around[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Of some objects the one that a sample shows to be there, by the object that its code speaks of.
    pub(crate) fn shown_object(
        &mut self,
        claimed: (TypeIndex, TaggedAddress),
        among: &FxHashSet<ObjectId>,
    ) -> Option<ObjectId> {
        let id = self.find(claimed)?;
        if among.contains(&id) {
            return Some(id);
        }
        let inner = self.object(id)?;
        self.only_holder(&inner, |id| among.contains(&id))
    }

    /// Objects that share memory with another.
    pub(super) fn overlapping(&self, object: &MemoryObject) -> Vec<MemoryObject> {
        let mut ids: Vec<ObjectId> =
            object.pages().filter_map(|page| self.pages.get(&page)).flatten().copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let others = ids.into_iter().filter_map(|id| self.object(id));
        others.filter(|other| object.covers(other.base) || other.covers(object.base)).collect()
    }

    pub(super) fn add(&mut self, object: MemoryObject) {
        let id = ObjectId(self.objects.len() as u32);
        self.ids.insert((object.ty, object.base), id);
        self.objects.push(object);
        for page in object.pages() {
            self.pages.entry(page).or_default().push(id);
        }
    }

    /// All objects.
    pub(super) fn all(&self) -> &[MemoryObject] {
        &self.objects
    }

    /// Whether an object is apart from variables, in one, or in a buffer of one.
    pub(super) fn fits_variables(&mut self, object: &MemoryObject) -> bool {
        let ty = self.ty(object.ty);
        let place = self.variable_at(object.base);
        place.is_none_or(|place| self.types.contains(place, ty) || self.types.is_in_buffer(place))
    }

    /// The object at a place that code speaks of as another's. A loop over a list ends at its head, which is
    /// in no entry: then all that is touched of the entry is the link, and that is one of another object,
    /// which was sampled before and after and by more than its link.
    fn mistaken_for(&mut self, object: &MemoryObject) -> Option<ObjectId> {
        let (lowest, highest) = object.seen.offsets;
        let own_type = self.ty(object.ty);
        let link = self.inner_struct(TypeOffset { ty: own_type, offset: lowest as i64 })?;
        let last = self.inner_struct(TypeOffset { ty: own_type, offset: highest as i64 })?;
        let distance = (highest - lowest) as i64;
        if link.ty == own_type || last.ty != link.ty || last.offset - link.offset != distance {
            return None;
        }
        let address = TaggedAddress(object.base.0.checked_add(lowest)?);
        let found = self.ids_at(address);
        found.into_iter().find(|id| {
            let Some(other) = self.object(*id) else { return false };
            let is_around = other.seen.span.first <= object.seen.span.first
                && other.seen.span.last >= object.seen.span.last
                && other.base != object.base;
            let place = TypeOffset { ty: self.ty(other.ty), offset: (address.0 - other.base.0) as i64 };
            let begin = place.offset - link.offset;
            let is_known_elsewhere = (other.seen.offsets.0 as i64) < begin
                || other.seen.offsets.1 as i64 >= begin + self.types.size(link.ty).unwrap_or(0) as i64;
            is_around && is_known_elsewhere && self.inner_struct(place) == Some(link)
        })
    }

    /// The innermost struct around a place.
    pub(super) fn inner_struct(&mut self, place: TypeOffset) -> Option<TypeOffset> {
        self.types.enclosing_structs(place).last().copied()
    }

    pub(super) fn object(&self, id: ObjectId) -> Option<MemoryObject> {
        self.objects.get(id.0 as usize).copied()
    }

    /// The object of a type that begins at a base.
    pub(crate) fn find(&self, key: (TypeIndex, TaggedAddress)) -> Option<ObjectId> {
        self.ids.get(&key).copied()
    }

    /// The time in which an object was sampled.
    pub(crate) fn span(&self, id: ObjectId) -> Option<ObservedSpan> {
        self.object(id).map(|object| object.seen.span)
    }

    pub(super) fn ids_at(&self, address: TaggedAddress) -> Vec<ObjectId> {
        let ids = self.pages.get(&(address.0 / PAGE)).into_iter().flatten().copied();
        ids.filter(|id| self.object(*id).is_some_and(|object| object.covers(address))).collect()
    }

    /// The relation of two objects that both cover some place.
    pub(super) fn relation(&mut self, a: &MemoryObject, b: &MemoryObject) -> Relation {
        let (outer, inner) = if a.size >= b.size { (a, b) } else { (b, a) };
        let Some(offset) = inner.base.bytes_from(outer.base) else { return Relation::Exclusive };
        let place = TypeOffset { ty: self.ty(outer.ty), offset: offset as i64 };
        if self.types.contains(place, self.ty(inner.ty)) {
            Relation::Nested
        } else if offset.saturating_add(inner.size) <= outer.size && self.types.is_in_buffer(place) {
            Relation::InBuffer
        } else {
            Relation::Exclusive
        }
    }

    pub(crate) fn ty(&self, index: TypeIndex) -> Ty {
        self.types_by_index.get(&index).copied().unwrap_or(Ty::VOID)
    }

    /// The variable that covers an address, a per-CPU one too, and the place in it.
    pub(super) fn variable_at(&mut self, address: TaggedAddress) -> Option<TypeOffset> {
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

    /// Structs that cover an address: a variable, or objects, largest first. Of objects that exclude each
    /// other those go that exclude the one sampled nearest in time.
    pub(crate) fn covering(&mut self, observed: ObservedAddress) -> Vec<CoveringStruct> {
        let ObservedAddress { address, nearest, .. } = observed;
        let ids = self.ids_at(address);
        if let Some(place) = self.variable_at(address)
            && (ids.is_empty() || !self.types.is_in_buffer(place))
        {
            return vec![CoveringStruct { place, is_variable: true }];
        }
        let mut found: Vec<MemoryObject> = ids.into_iter().filter_map(|id| self.object(id)).collect();
        if let Some(nearest) = nearest.and_then(|nearest| self.object(nearest)) {
            found.retain(|object| self.relation(object, &nearest) != Relation::Exclusive);
        }
        found.sort_unstable_by_key(|object| (std::cmp::Reverse(object.size), object.base, object.ty));
        self.leave_out_buffers(&mut found);
        let covers = found.iter().map(|object| self.cover(object, address));
        covers.collect()
    }

    /// Leaves out objects that others lie in a buffer of.
    fn leave_out_buffers(&mut self, objects: &mut Vec<MemoryObject>) {
        let all = objects.clone();
        objects.retain(|object| {
            let mut inner = all.iter().filter(|inner| inner.size < object.size);
            !inner.any(|inner| self.relation(object, inner) == Relation::InBuffer)
        });
    }

    fn cover(&self, object: &MemoryObject, address: TaggedAddress) -> CoveringStruct {
        let offset = (address.0 - object.base.0) as i64;
        CoveringStruct { place: TypeOffset { ty: self.ty(object.ty), offset }, is_variable: false }
    }

    /// The object at an address that code takes for that of another type and base.
    pub(crate) fn actual(
        &self,
        claimed: (TypeIndex, TaggedAddress),
        address: TaggedAddress,
    ) -> Option<CoveringStruct> {
        let object = self.object(*self.mistaken.get(&claimed)?)?;
        object.covers(address).then(|| self.cover(&object, address))
    }

    /// The objects that a sample may belong to, if more than one object was at its address at different
    /// times. Members of others don't count, and no object that excludes the one that code speaks of.
    pub(crate) fn rivals(
        &mut self,
        address: TaggedAddress,
        claimed: Option<(TypeIndex, TaggedAddress)>,
    ) -> Vec<ObjectId> {
        let ids = self.ids_at(address);
        if ids.len() < 2 || self.variable_at(address).is_some() {
            return Vec::new();
        }
        let all = ids.into_iter().filter_map(|id| Some((id, self.object(id)?)));
        let mut found: Vec<(ObjectId, MemoryObject)> = all.collect();
        if let Some(claimed) = claimed.and_then(|key| self.object(self.find(key)?)) {
            found.retain(|(_, object)| self.relation(object, &claimed) != Relation::Exclusive);
        }
        let possible = found.clone();
        found.retain(|(_, object)| {
            let mut larger = possible.iter().filter(|(_, outer)| outer.size > object.size);
            !larger.any(|(_, outer)| self.relation(outer, object) == Relation::Nested)
        });
        let mut pairs =
            found.iter().enumerate().flat_map(|(at, a)| found.iter().skip(at + 1).map(move |b| (a, b)));
        match pairs.any(|((_, a), (_, b))| self.relation(a, b) == Relation::Exclusive) {
            true => found.into_iter().map(|(id, _)| id).collect(),
            false => Vec::new(),
        }
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
    pub(super) fn pages(&self) -> impl Iterator<Item = u64> + use<> {
        let end = self.base.0.saturating_add(self.size.saturating_sub(1));
        // Nothing larger is sampled byte by byte.
        (self.base.0 / PAGE..=end / PAGE).take(4096)
    }

    fn covers(&self, address: TaggedAddress) -> bool {
        address.bytes_from(self.base).is_some_and(|offset| offset < self.size)
    }
}
