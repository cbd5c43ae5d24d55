//! Members at an offset of a type, and containment of types.

use super::shape::{Ty, TypeMember, TypeOffset, TypeShape};
use super::space::TypeSpace;
use std::rc::Rc;

/// How deep aggregates held by value are followed.
const MAX_DEPTH: u32 = 24;
/// Steps of one search; unions of unions could need many.
const MAX_STEPS: u32 = 512;
/// Members searched for embedded types.
const MAX_EMBEDDING_STEPS: u32 = 20_000;
/// Largest size of a link in bytes.
const MAX_LINK_SIZE: u64 = 64;
/// How many members of one level may cover a place; more than one do in unions.
const MAX_WIDTH: usize = 32;

/// An array that covers a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayElement {
    /// Where the array begins in the outer type.
    pub array_offset: i64,
    /// Type of an element.
    pub element: Ty,
    /// Bytes of an element.
    pub stride: i64,
    /// How many elements; `None` if nobody knows.
    pub count: Option<u64>,
    /// Where the place is in its element.
    pub offset: i64,
}

impl TypeSpace<'_, '_> {
    /// The members of an aggregate that cover an offset, or the elements of an array: type and the offset in
    /// it.
    fn members_at(&mut self, place: TypeOffset) -> Vec<TypeOffset> {
        match *self.shape(place.ty) {
            TypeShape::Array { element, .. } => {
                let size = self.size(element).map(|size| size as i64).filter(|size| *size > 0);
                let inside = size.filter(|_| place.offset >= 0).map(|size| place.offset % size);
                inside.map(|offset| TypeOffset { ty: element, offset }).into_iter().collect()
            }
            TypeShape::Aggregate { .. } => {
                let Ok(offset) = u64::try_from(place.offset) else { return Vec::new() };
                let members = self.members(place.ty);
                let at = |member: &TypeMember| (offset - member.offset) as i64;
                covering(&members, offset)
                    .map(|member| TypeOffset { ty: member.ty, offset: at(member) })
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The same but for numbers and pointers.
    fn aggregates_at(&mut self, place: TypeOffset) -> Vec<TypeOffset> {
        let mut inside = self.members_at(place);
        inside.retain(|inner| {
            matches!(self.shape(inner.ty), TypeShape::Aggregate { .. } | TypeShape::Array { .. })
        });
        inside
    }

    /// The type of a scalar of some bytes that begins at a place. Where several do, as in a union, a pointer
    /// is preferred, unless there are pointers to different types.
    pub fn scalar_at(&mut self, place: TypeOffset, size: u16) -> Option<Ty> {
        memoized!(self.scalars, (place.ty, place.offset, size), {
            let mut found = Vec::new();
            self.collect_scalars(place, u64::from(size), MAX_DEPTH, &mut { MAX_STEPS }, &mut found);
            let mut pointers = found.iter().copied().filter(|ty| self.pointee(*ty).is_some());
            match pointers.next() {
                Some(first) => pointers.all(|other| other == first).then_some(first),
                None => found.first().copied(),
            }
        })
    }

    fn collect_scalars(&mut self, at: TypeOffset, size: u64, depth: u32, steps: &mut u32, all: &mut Vec<Ty>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return;
        }
        if matches!(self.shape(at.ty), TypeShape::Scalar { .. } | TypeShape::Pointer { .. }) {
            if at.offset == 0 && self.size(at.ty) == Some(size) && !all.contains(&at.ty) {
                all.push(at.ty);
            }
            return;
        }
        for inner in self.members_at(at) {
            self.collect_scalars(inner, size, depth, steps, all);
        }
    }

    /// Whether `outer` has, exactly at an offset, something of the type `inner`; itself counts.
    pub fn contains(&mut self, outer: TypeOffset, inner: Ty) -> bool {
        if outer.offset == 0 && outer.ty == inner {
            return true;
        }
        if outer.offset < 0 || inner == Ty::VOID {
            return false;
        }
        memoized!(
            self.containment,
            (outer.ty, outer.offset, inner),
            self.search_contained(outer, inner, MAX_DEPTH, &mut { MAX_STEPS })
        )
    }

    fn search_contained(&mut self, outer: TypeOffset, inner: Ty, depth: u32, steps: &mut u32) -> bool {
        if outer.offset == 0 && outer.ty == inner {
            return true;
        }
        *steps = steps.saturating_sub(1);
        let Some(depth) = depth.checked_sub(1).filter(|_| *steps > 0) else { return false };
        let inside = self.members_at(outer);
        inside.into_iter().any(|place| self.search_contained(place, inner, depth, steps))
    }

    /// Whether a pointer to `outer` is at least as specific as one to `inner`: whether the container of
    /// `inner` lies in the container of `outer`.
    pub fn encloses(&mut self, outer: TypeOffset, inner: TypeOffset) -> bool {
        let start = TypeOffset { ty: outer.ty, offset: outer.offset - inner.offset };
        self.contains(start, inner.ty)
    }

    /// The largest type that both places are in, with the offset in it if it is the same for both: what is
    /// known when either may be meant. A place of known offset in a smaller type goes before a larger type.
    pub fn common_container(&mut self, a: TypeOffset, b: TypeOffset) -> Option<(Ty, Option<i64>)> {
        memoized!(self.common_containers, (a, b), {
            let (containers_a, containers_b) = (self.containers(a), self.containers(b));
            let exact = containers_a.iter().find(|place| containers_b.contains(place));
            let exact = exact.map(|place| (place.ty, Some(place.offset)));
            exact.or_else(|| {
                let shared = containers_a.iter().find(|a| containers_b.iter().any(|b| b.ty == a.ty));
                shared.map(|place| (place.ty, None))
            })
        })
    }

    /// Whether a place is in something of a type, wherever in it.
    pub fn is_within_type(&mut self, place: TypeOffset, ty: Ty) -> bool {
        self.containers(place).iter().any(|container| container.ty == ty)
    }

    /// The aggregates that a place is in, from the outermost inwards.
    fn containers(&mut self, place: TypeOffset) -> Vec<TypeOffset> {
        let (mut containers, mut level) = (vec![place], vec![place]);
        for _ in 0..MAX_DEPTH {
            let mut next: Vec<TypeOffset> = level.into_iter().flat_map(|at| self.aggregates_at(at)).collect();
            next.truncate(MAX_WIDTH);
            if next.is_empty() {
                break;
            }
            containers.extend(next.iter().copied().filter(|inner| self.is_aggregate(inner.ty)));
            level = next;
        }
        containers
    }

    /// The outermost array in a type that covers a place; the type itself if it is one.
    pub fn array_at(&mut self, place: TypeOffset) -> Option<ArrayElement> {
        let mut level = vec![(place, 0)];
        for _ in 0..MAX_DEPTH {
            let mut next = Vec::new();
            for (inner, begin) in level {
                if let TypeShape::Array { element, count } = *self.shape(inner.ty) {
                    return self.innermost_element(begin, inner.offset, element, count);
                }
                let members = self.members_at(inner);
                next.extend(members.into_iter().map(|member| (member, begin + inner.offset - member.offset)));
            }
            next.truncate(MAX_WIDTH);
            level = next;
        }
        None
    }

    /// The distance of elements of an array of a struct; `None` if an array in the struct goes on behind it.
    pub fn array_stride(&mut self, ty: Ty) -> Option<i64> {
        let size = self.size(ty).filter(|size| *size > 0 && self.is_aggregate(ty))?;
        let is_open = self.members(ty).last().is_some_and(|last| last.size == 0);
        i64::try_from(size).ok().filter(|_| !is_open)
    }

    /// Whether a place is in an array of numbers: memory that may hold anything.
    pub fn is_in_buffer(&mut self, mut place: TypeOffset) -> bool {
        for _ in 0..MAX_DEPTH {
            let Some(found) = self.array_at(place) else { return false };
            if matches!(self.shape(found.element), TypeShape::Scalar { .. }) {
                return true;
            }
            place = TypeOffset { ty: found.element, offset: found.offset };
        }
        false
    }

    /// For a place in an array, that in the innermost element; `None` if elements have no size.
    pub fn innermost(&self, mut place: TypeOffset) -> Option<TypeOffset> {
        while let TypeShape::Array { element, .. } = *self.shape(place.ty) {
            let size = self.size(element).map(|size| size as i64).filter(|size| *size > 0)?;
            place = TypeOffset { ty: element, offset: place.offset.rem_euclid(size) };
        }
        Some(place)
    }

    /// For a place in a number or pointer, that in the element: a pointer to one points to an array of them.
    pub fn wrap_in_scalar(&self, place: TypeOffset) -> Option<TypeOffset> {
        let (TypeShape::Scalar { size, .. } | TypeShape::Pointer { size, .. }) = self.shape(place.ty) else {
            return None;
        };
        Some(TypeOffset { offset: place.offset.rem_euclid((*size).max(1) as i64), ..place })
    }

    /// An element of the array that begins at `begin`; of an array of arrays one of the innermost.
    fn innermost_element(&self, begin: i64, offset: i64, ty: Ty, count: Option<u64>) -> Option<ArrayElement> {
        let (mut element, mut count) = (ty, count);
        for _ in 0..MAX_DEPTH {
            let TypeShape::Array { element: inner, count: inner_count } = *self.shape(element) else { break };
            element = inner;
            count = count.zip(inner_count).and_then(|(outer, inner)| outer.checked_mul(inner));
        }
        let stride = i64::try_from(self.size(element)?).ok().filter(|stride| *stride > 0)?;
        Some(ArrayElement { array_offset: begin, element, stride, count, offset: offset.rem_euclid(stride) })
    }

    /// Where in a type others of some type are embedded by value, arrays left out; at most `MAX_WIDTH`.
    /// Itself counts.
    pub fn embedded_offsets(&mut self, outer: Ty, inner: Ty) -> Rc<[i64]> {
        if outer == inner {
            return Rc::new([0]);
        }
        memoized!(self.embedded_offsets, (outer, inner), {
            let mut found = Vec::new();
            let outer = TypeOffset { ty: outer, offset: 0 };
            self.collect_embedded_offsets(outer, inner, MAX_DEPTH, &mut { MAX_EMBEDDING_STEPS }, &mut found);
            found.sort_unstable();
            found.dedup();
            found.into()
        })
    }

    /// `at.offset` is where the type begins in the outermost one.
    fn collect_embedded_offsets(
        &mut self,
        at: TypeOffset,
        inner: Ty,
        depth: u32,
        steps: &mut u32,
        found: &mut Vec<i64>,
    ) {
        let Some(depth) = depth.checked_sub(1).filter(|_| found.len() < MAX_WIDTH) else { return };
        if self.size(at.ty) < self.size(inner) {
            return;
        }
        for member in self.members(at.ty).iter() {
            *steps = steps.saturating_sub(1);
            if *steps == 0 {
                return;
            }
            let Ok(offset) = i64::try_from(member.offset) else { continue };
            let place = TypeOffset { ty: member.ty, offset: at.offset.saturating_add(offset) };
            if member.ty == inner {
                found.push(place.offset);
            } else if self.is_aggregate(member.ty) {
                self.collect_embedded_offsets(place, inner, depth, steps, found);
            }
        }
    }

    /// For a place outside its type: the place in the one struct that holds the type so that the place is
    /// inside, among some. `None` if there are several.
    pub fn find_container(
        &mut self,
        place: TypeOffset,
        structs: impl IntoIterator<Item = Ty>,
    ) -> Option<TypeOffset> {
        let mut found = None;
        for outer in structs {
            for position in self.embedded_offsets(outer, place.ty).iter() {
                let at = TypeOffset { ty: outer, offset: place.offset.saturating_add(*position) };
                if !self.is_inside(at) || found == Some(at) {
                    continue;
                }
                found = match found {
                    None => Some(at),
                    // Of a struct and the one it is in, the smaller.
                    Some(known) if self.encloses(known, at) => Some(at),
                    Some(known) if self.encloses(at, known) => Some(known),
                    Some(_) => return None,
                };
            }
        }
        found
    }

    /// Whether a struct is a link: small, and with a pointer to its own kind or to a link in it. Links are
    /// embedded in what they link.
    pub fn is_link(&mut self, ty: Ty) -> bool {
        if !self.is_aggregate(ty) || self.size(ty).is_some_and(|size| size > MAX_LINK_SIZE) {
            return false;
        }
        let key = (ty, -1, Ty::VOID);
        if let Some(known) = self.containment.get(&key) {
            return *known;
        }
        // A struct that holds itself is no link.
        self.containment.insert(key, false);
        let members = self.members(ty);
        let is_link = members.iter().any(|member| match self.pointee(member.ty) {
            Some(target) => target == ty,
            None => self.is_link(member.ty),
        });
        self.containment.insert(key, is_link);
        is_link
    }

    /// The structs that contain an offset, from the outermost inwards, as far as they are unique: not into a
    /// union of several.
    pub fn enclosing_structs(&mut self, place: TypeOffset) -> Vec<TypeOffset> {
        let mut structs = Vec::new();
        let mut at = Some(place);
        while let Some(place) = at.take().filter(|_| structs.len() < MAX_DEPTH as usize) {
            if self.is_aggregate(place.ty) {
                structs.push(place);
            }
            if let [only] = self.aggregates_at(place)[..] {
                at = Some(only);
            }
        }
        structs
    }

    /// Whether a struct around `outer` begins where that of `inner` does, and has members of the same types as far as the
    /// one at `inner`: code that reads one as the other means the same member (C11 6.5.2.3, common initial sequence).
    pub fn has_same_initial_sequence(&mut self, outer: TypeOffset, inner: TypeOffset) -> bool {
        let own = self.members(inner.ty);
        let reached =
            own.partition_point(|member| i64::try_from(member.offset).is_ok_and(|at| at <= inner.offset));
        let around = self.enclosing_structs(outer);
        let around = around.into_iter().filter(|place| place.offset == inner.offset && place.ty != inner.ty);
        around.into_iter().any(|place| {
            let other = self.members(place.ty);
            reached > 0
                && other.len() >= reached
                && other.iter().zip(own.iter()).take(reached).all(|(a, b)| a == b)
        })
    }

    /// Whether a place is inside its type. In a type of unknown size nothing is.
    pub fn is_inside(&self, place: TypeOffset) -> bool {
        place.offset >= 0 && self.size(place.ty).is_some_and(|size| (place.offset as u64) < size)
    }
}

/// Members that cover an offset; of a flexible array everything behind its start.
fn covering(members: &[TypeMember], offset: u64) -> impl Iterator<Item = &TypeMember> {
    let past = members.partition_point(|member| member.offset <= offset);
    let is_flexible = move |member: &TypeMember| {
        member.size == 0 && members.last().is_some_and(|last| std::ptr::eq(last, member))
    };
    let before = members.get(..past).unwrap_or(&[]).iter();
    before.filter(move |member| offset - member.offset < member.size || is_flexible(member))
}
