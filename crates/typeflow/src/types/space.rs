//! Canonical types, read out of DWARF on demand.
//!
//! Units repeat the definitions of the structs they use. Here a struct is known by kind, name and size, so
//! that facts of several units speak of the same type.

use super::shape::{Ty, TypeMember, TypeOffset, TypeShape, Untagged};
use fieldline_debuginfo::dwarf::code::{NameKind, UnitIndex, name_hash};
use fieldline_debuginfo::dwarf::{DieRef, Dwarf, TypeReader};
use fieldline_layout::types::{Aggregate, MemberDecl, Type, TypeId, TypeTable, split_namespace};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash as _, Hasher as _};
use std::rc::Rc;

/// How deep pointers and functions may nest until the rest does not matter.
const MAX_DEPTH: u32 = 12;

/// Definitions of structs by name, out of the units that were surveyed.
#[derive(Debug, Default)]
pub struct Definitions {
    /// By hash of the name: the first definition in file order.
    by_name: FxHashMap<u64, DieRef>,
    /// Hashes of the names of those that others hold by value, with that of the holder if there is one only.
    embedded: FxHashMap<u64, Option<u64>>,
}

impl Definitions {
    /// Collects the definitions of some units.
    pub fn new<'u>(surveys: impl IntoIterator<Item = &'u UnitIndex>) -> Self {
        let mut by_name: FxHashMap<u64, DieRef> = FxHashMap::default();
        let mut embedded: FxHashMap<u64, Option<u64>> = FxHashMap::default();
        for survey in surveys {
            for (inner, holder) in survey.embedded() {
                let only = embedded.entry(*inner).or_insert(*holder);
                *only = only.filter(|only| Some(*only) == *holder);
            }
            for (hash, die) in survey.names(NameKind::Aggregate) {
                let first = by_name.entry(hash).or_insert(die);
                *first = die.min(*first);
            }
        }
        Self { by_name, embedded }
    }

    /// Whether a struct of that name is held by value in another, so that a pointer to it may be one into
    /// that.
    pub fn is_embedded(&self, name: &str) -> bool {
        self.embedded.contains_key(&name_hash(name.as_bytes()))
    }

    /// Whether a struct is the only one, among those with a name, that holds a member of a type.
    pub fn is_only_holder(&self, holder: &str, inner: &str) -> bool {
        let only = self.embedded.get(&name_hash(inner.as_bytes())).copied().flatten();
        only == Some(name_hash(holder.as_bytes()))
    }

    /// The definition of a name.
    pub fn find(&self, dwarf: &Dwarf<'_>, name: &str) -> Option<DieRef> {
        let die = self.by_name.get(&name_hash(name.as_bytes())).copied()?;
        (dwarf.name_of(die) == Some(name.as_bytes())).then_some(die)
    }
}

/// Canonical types of a program.
pub struct TypeSpace<'a, 's> {
    dwarf: &'a Dwarf<'s>,
    definitions: &'a Definitions,
    reader: TypeReader<'a, 's>,
    shapes: Vec<TypeShape>,
    types_by_shape: FxHashMap<TypeShape, Ty>,
    types_by_id: FxHashMap<TypeId, Ty>,
    types_by_die: FxHashMap<DieRef, Ty>,
    /// Where aggregates are defined.
    dies: FxHashMap<Ty, DieRef>,
    members: FxHashMap<Ty, Rc<[TypeMember]>>,
    aligns: FxHashMap<Ty, u64>,
    pub(super) containment: FxHashMap<(Ty, i64, Ty), bool>,
    pub(super) embedded_offsets: FxHashMap<(Ty, Ty), Rc<[i64]>>,
    pub(super) common_containers: FxHashMap<(TypeOffset, TypeOffset), Option<(Ty, Option<i64>)>>,
    pub(super) scalars: FxHashMap<(Ty, i64, u16), Option<Ty>>,
}

impl<'a, 's> TypeSpace<'a, 's> {
    /// A space that knows [`Ty::VOID`] only.
    pub fn new(dwarf: &'a Dwarf<'s>, definitions: &'a Definitions) -> Self {
        Self {
            dwarf,
            definitions,
            reader: TypeReader::new(dwarf),
            shapes: vec![TypeShape::Void],
            types_by_shape: FxHashMap::default(),
            types_by_id: FxHashMap::default(),
            types_by_die: FxHashMap::default(),
            dies: FxHashMap::default(),
            members: FxHashMap::default(),
            aligns: FxHashMap::default(),
            containment: FxHashMap::default(),
            embedded_offsets: FxHashMap::default(),
            common_containers: FxHashMap::default(),
            scalars: FxHashMap::default(),
        }
    }

    /// The type of a type's DIE; [`Ty::VOID`] if it can't be read.
    pub fn type_of_die(&mut self, die: DieRef) -> Ty {
        memoized!(self.types_by_die, die, {
            let id = self.reader.read_name(die);
            id.map_or(Ty::VOID, |id| self.type_of_id(id, MAX_DEPTH))
        })
    }

    /// The struct of a name, if its definition was met.
    pub fn find_struct(&mut self, name: &str) -> Option<Ty> {
        let die = self.definitions.find(self.dwarf, name)?;
        Some(self.type_of_die(die)).filter(|ty| *ty != Ty::VOID)
    }

    /// Kind of a type.
    pub fn shape(&self, ty: Ty) -> &TypeShape {
        self.shapes.get(ty.0 as usize).unwrap_or(&TypeShape::Void)
    }

    /// Where an aggregate is defined, so that other spaces can read it.
    pub fn die(&self, ty: Ty) -> Option<DieRef> {
        self.dies.get(&ty).copied()
    }

    /// Size in bytes, if it has one.
    pub fn size(&self, ty: Ty) -> Option<u64> {
        match self.shape(ty) {
            TypeShape::Void | TypeShape::Function { .. } => None,
            TypeShape::Scalar { size, .. } | TypeShape::Pointer { size, .. } => Some(*size),
            TypeShape::Aggregate { size, .. } => *size,
            TypeShape::Array { element, count } => Some(self.size(*element)?.saturating_mul((*count)?)),
        }
    }

    /// Alignment of a struct in bytes; 1 of anything else. Debug info doesn't say that a struct is packed, but
    /// its size and its members' places may.
    pub fn align(&mut self, ty: Ty) -> u64 {
        memoized!(self.aligns, ty, {
            let die = self.die(ty).filter(|_| self.is_aggregate(ty));
            let id = die.and_then(|die| self.reader.read(die).ok());
            id.map_or(1, |id| possible_align(self.reader.table(), id))
        })
    }

    /// Type a pointer points to.
    pub fn pointee(&self, ty: Ty) -> Option<Ty> {
        if let TypeShape::Pointer { target, .. } = self.shape(ty) { Some(*target) } else { None }
    }

    /// Whether it is a struct, union or class.
    pub fn is_aggregate(&self, ty: Ty) -> bool {
        matches!(self.shape(ty), TypeShape::Aggregate { .. })
    }

    /// Name of a struct, union, class or number.
    pub fn name(&self, ty: Ty) -> Option<&str> {
        match self.shape(ty) {
            TypeShape::Scalar { name, .. } => Some(name),
            TypeShape::Aggregate { name, .. } => name.as_deref(),
            _ => None,
        }
    }

    /// Whether a pointer to a type may be one into something larger: numbers, structs that others hold by value,
    /// and those without a tag, of which that isn't known.
    pub fn may_be_embedded(&self, ty: Ty) -> bool {
        match self.shape(ty) {
            TypeShape::Aggregate { name: Some(name), untagged: None, .. } => {
                self.definitions.is_embedded(split_namespace(name).1)
            }
            _ => true,
        }
    }

    /// Whether a struct is the only one that holds a type by value, and where it does so.
    pub fn only_place_in(&mut self, holder: Ty, inner: Ty) -> Option<i64> {
        let names = self.name(holder).zip(self.name(inner));
        let (holder_name, inner_name) = names.filter(|_| self.is_aggregate(inner))?;
        let (holder_name, inner_name) = (split_namespace(holder_name).1, split_namespace(inner_name).1);
        if holder == inner || !self.definitions.is_only_holder(holder_name, inner_name) {
            return None;
        }
        match self.embedded_offsets(holder, inner)[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// A type as C spells it, for people.
    pub fn format_type(&self, ty: Ty) -> String {
        match self.shape(ty) {
            TypeShape::Void => "void".to_owned(),
            TypeShape::Scalar { name, .. } => name.to_string(),
            TypeShape::Pointer { target, .. } => format!("{} *", self.format_type(*target)),
            TypeShape::Array { element, count: Some(count) } => {
                format!("{}[{count}]", self.format_type(*element))
            }
            TypeShape::Array { element, count: None } => format!("{}[]", self.format_type(*element)),
            TypeShape::Aggregate { kind, name, .. } => {
                format!("{kind} {}", name.as_deref().unwrap_or("{...}"))
            }
            TypeShape::Function { returns } => format!("{} ()", self.format_type(*returns)),
        }
    }

    /// Members of an aggregate by offset. Empty for anything else.
    pub fn members(&mut self, ty: Ty) -> Rc<[TypeMember]> {
        memoized!(self.members, ty, self.read_members(ty).unwrap_or_default().into())
    }

    fn read_members(&mut self, ty: Ty) -> Option<Vec<TypeMember>> {
        let id = self.reader.read(self.die(ty)?).ok()?;
        let members = self.reader.table().aggregate(id)?.members.iter();
        let members = members.filter(|member| !member.is_static);
        let places: Vec<_> = members.map(|member| (member.bit_offset, member.bit_field, member.ty)).collect();
        let members = places.into_iter().map(|(bit_offset, bit_field, id)| {
            let ty = self.type_of_id(id, MAX_DEPTH);
            let size = match bit_field {
                Some(width) => (bit_offset % 8).saturating_add(width).div_ceil(8),
                None => self.size(ty).unwrap_or(0),
            };
            TypeMember { offset: bit_offset / 8, size, ty }
        });
        let mut members: Vec<TypeMember> = members.collect();
        members.sort_by_key(|member| member.offset);
        Some(members)
    }

    fn type_of_id(&mut self, id: TypeId, depth: u32) -> Ty {
        if let Some(known) = self.types_by_id.get(&id) {
            return *known;
        }
        let Some(depth) = depth.checked_sub(1) else { return Ty::VOID };
        let (ty, is_final) = match self.convert(id, depth) {
            Some((shape, die)) => (self.intern(shape, die), true),
            None => (Ty::VOID, depth > 0),
        };
        if is_final {
            self.types_by_id.insert(id, ty);
        }
        ty
    }

    /// The shape of a type, and of an aggregate the DIE that defines it.
    fn convert(&mut self, id: TypeId, depth: u32) -> Option<(TypeShape, Option<DieRef>)> {
        let (stripped, alias) = self.strip(id);
        let shape = match self.reader.table().get(stripped) {
            Type::Void | Type::Qualified { .. } | Type::Tag { .. } | Type::Typedef { .. } => TypeShape::Void,
            Type::Base(base) => TypeShape::Scalar { name: Rc::from(&*base.name), size: base.size },
            Type::Enum(enumeration) => TypeShape::Scalar {
                name: Rc::from(enumeration.name.as_deref().or(alias.as_deref()).unwrap_or("enum")),
                size: enumeration.size,
            },
            Type::Unspecified(name) => TypeShape::Scalar { name: Rc::from(&**name), size: 0 },
            &Type::Pointer { target, size, .. } => {
                TypeShape::Pointer { target: self.type_of_id(target, depth), size }
            }
            Type::Array { element, dimensions, .. } => {
                let (element, dimensions) = (*element, dimensions.clone());
                self.convert_array(element, &dimensions, depth)
            }
            Type::Function(prototype) => {
                let returns = prototype.returns;
                TypeShape::Function { returns: self.type_of_id(returns, depth) }
            }
            Type::Aggregate(_) => return self.aggregate_shape(stripped, alias),
        };
        Some((shape, None))
    }

    /// A type without typedefs and qualifiers, and the name the last typedef gave it.
    fn strip(&self, id: TypeId) -> (TypeId, Option<Rc<str>>) {
        let table = self.reader.table();
        let stripped = table.strip(id);
        let (mut at, mut alias) = (id, None);
        for _ in 0..64 {
            match table.get(at) {
                Type::Typedef { name, target } => {
                    alias = Some(Rc::from(&**name));
                    at = *target;
                }
                Type::Qualified { target, .. } | Type::Tag { target, .. } => at = *target,
                _ => break,
            }
        }
        (stripped, alias)
    }

    fn convert_array(&mut self, element: TypeId, dimensions: &[Option<u64>], depth: u32) -> TypeShape {
        let mut element = self.type_of_id(element, depth);
        let (outer, inner) = dimensions.split_first().unwrap_or((&None, &[]));
        for count in inner.iter().rev() {
            element = self.intern(TypeShape::Array { element, count: *count }, None);
        }
        TypeShape::Array { element, count: *outer }
    }

    fn aggregate_shape(&mut self, id: TypeId, alias: Option<Rc<str>>) -> Option<(TypeShape, Option<DieRef>)> {
        let own = self.reader.die_of(id);
        let Type::Aggregate(aggregate) = self.reader.table().get(id) else { return None };
        let (kind, size) = (aggregate.kind, aggregate.size);
        let Some(tag) = aggregate.name.as_deref() else {
            let untagged = identify_untagged(self.reader.table(), aggregate).map(Untagged::Declared);
            let untagged = untagged.or(own.map(Untagged::Die));
            let typedef = own.and_then(|own| self.dwarf.typedef_name_of(own));
            let name = typedef.map(|name| self.qualified_name(own, &name)).or(alias);
            return Some((TypeShape::Aggregate { kind, name, size: Some(size), untagged }, own));
        };
        let (name, is_declaration) = (self.qualified_name(own, tag), aggregate.is_declaration);
        let (die, size) = match is_declaration {
            true => self.find_definition(&name).unzip(),
            false => (own, Some(size)),
        };
        Some((TypeShape::Aggregate { kind, name: Some(name), size, untagged: None }, die))
    }

    /// A name qualified by its namespaces and classes.
    fn qualified_name(&self, die: Option<DieRef>, name: &str) -> Rc<str> {
        let path = die.and_then(|die| self.dwarf.path_of(die));
        path.map_or_else(|| Rc::from(name), |path| Rc::from(format!("{path}::{name}")))
    }

    fn find_definition(&mut self, name: &str) -> Option<(DieRef, u64)> {
        let (path, bare) = split_namespace(name);
        let die = self.definitions.find(self.dwarf, bare)?;
        if self.dwarf.path_of(die).as_deref() != path {
            return None;
        }
        let id = self.reader.read_name(die).ok()?;
        Some((die, self.reader.table().size_of(id)))
    }

    fn intern(&mut self, shape: TypeShape, die: Option<DieRef>) -> Ty {
        if let Some(known) = self.types_by_shape.get(&shape) {
            return *known;
        }
        if shape == TypeShape::Void {
            return Ty::VOID;
        }
        let ty = Ty(u32::try_from(self.shapes.len()).unwrap_or(0));
        self.shapes.push(shape.clone());
        self.types_by_shape.insert(shape, ty);
        if let Some(die) = die {
            self.dies.insert(ty, die);
        }
        ty
    }
}

/// The largest alignment with which a struct's size and members' places can be.
fn possible_align(table: &TypeTable, id: TypeId) -> u64 {
    let mut align = table.align_of(id).max(1);
    let Some(aggregate) = table.aggregate(id) else { return align };
    let is_aligned = |align: u64| {
        let mut members =
            aggregate.members.iter().filter(|member| !member.is_static && member.bit_field.is_none());
        let fits = |member: &MemberDecl| {
            (member.bit_offset / 8).is_multiple_of(table.align_of(member.ty).clamp(1, align))
        };
        aggregate.size.is_multiple_of(align) && members.all(fits)
    };
    while align > 1 && !is_aligned(align) {
        align /= 2;
    }
    align
}

/// A number that is the same of the same struct without a tag in all units: the hash of its members' names and
/// places, and of the line and the file's name (units may know its folder by different paths).
fn identify_untagged(table: &TypeTable, aggregate: &Aggregate) -> Option<u64> {
    let decl = aggregate.decl.as_ref()?;
    let file = decl.file.rsplit('/').next()?;
    let members = aggregate.members.iter();
    let members =
        members.map(|member| (&member.name, member.bit_offset, member.bit_field, table.size_of(member.ty)));
    let mut hasher = FxHasher::default();
    (file, decl.line?, aggregate.size, members.collect::<Vec<_>>()).hash(&mut hasher);
    Some(hasher.finish())
}
