//! Types out of BTF into a [`TypeTable`].

use super::error::BtfError;
use super::index::Btf;
use super::kind::{BtfKind, BtfTypeId};
use super::record::{RawMember, Record};
use fieldline_layout::types::{
    Aggregate, AggregateKind, Base, Encoding, Enumeration, MemberDecl, PointerKind, Prototype, Qualifier,
    Type, TypeId, TypeTable,
};
use rustc_hash::FxHashMap;

/// How many typedefs, qualifiers or array dimensions are followed in one go; more is a cycle.
const MAX_CHAIN: usize = 64;

/// How much of a type is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    /// Its name and kind: it stands behind a pointer.
    Named,
    /// All of it.
    Full,
}

/// Copies types into one table, each once. What a type holds by value is copied whole; a struct, union or enum
/// that is only pointed to becomes a declaration with its name, unless it has none.
#[derive(Debug)]
pub struct Reader<'b, 'd> {
    btf: &'b Btf<'d>,
    known: FxHashMap<u32, (TypeId, Extent)>,
    /// Types with an id in the table whose content is still missing. A list instead of recursion: a chain of a
    /// million typedefs would exhaust the stack.
    pending: Vec<(u32, Extent)>,
}

impl<'b, 'd> Reader<'b, 'd> {
    /// A reader for one table.
    pub fn new(btf: &'b Btf<'d>) -> Self {
        Self { btf, known: FxHashMap::default(), pending: Vec::new() }
    }

    /// Copies a type and what it needs; gives its id in the table.
    ///
    /// # Errors
    /// If the type, or one it needs, is broken.
    pub fn read(&mut self, id: BtfTypeId, table: &mut TypeTable) -> Result<TypeId, BtfError> {
        self.btf.type_record(id)?;
        let root = self.intern(id.0, Extent::Full, table);
        while let Some((id, extent)) = self.pending.pop() {
            let record = self.btf.type_record(BtfTypeId(id))?;
            let slot = self.known.get(&id).map_or(TypeId::VOID, |(slot, _)| *slot);
            let btf = self.btf;
            let ty = convert(btf, &record, extent, &mut |id, extent| self.intern(id, extent, table))?;
            table.set(slot, ty);
        }
        Ok(root)
    }

    fn intern(&mut self, id: u32, extent: Extent, table: &mut TypeTable) -> TypeId {
        if id == 0 {
            return TypeId::VOID;
        }
        let known = self.known.get(&id).copied();
        if let Some((slot, have)) = known
            && have >= extent
        {
            return slot;
        }
        let slot = known.map_or_else(|| table.push(Type::Void), |(slot, _)| slot);
        self.known.insert(id, (slot, extent));
        self.pending.push((id, extent));
        slot
    }
}

impl<'d> Btf<'d> {
    /// Copies a type and what it needs into a table, as [`Reader::read`] does.
    ///
    /// # Errors
    /// If the type, or one it needs, is broken.
    pub fn read(&self, id: BtfTypeId, table: &mut TypeTable) -> Result<TypeId, BtfError> {
        Reader::new(self).read(id, table)
    }

    /// All types, those of the base included, with the same ids: `TypeId(n)` is `BtfTypeId(n)`. Functions,
    /// variables and sections, which are no types, become `void`.
    ///
    /// # Errors
    /// If one of the types is broken.
    pub fn read_all(&self) -> Result<TypeTable, BtfError> {
        let mut table = TypeTable::new(self.target());
        for id in (1..=self.last_id().0).map(BtfTypeId) {
            let record = self.record(id).ok_or(BtfError::NoType { id })?;
            let ty = if record.kind().is_type() {
                convert(self, &record, Extent::Full, &mut |id, _| TypeId(id))?
            } else {
                Type::Void
            };
            table.push(ty);
        }
        Ok(table)
    }

    fn type_record(&self, id: BtfTypeId) -> Result<Record<'d>, BtfError> {
        let record = self.record(id).ok_or(BtfError::NoType { id })?;
        if record.kind().is_type() {
            return Ok(record);
        }
        let (from, offset, to, kind) = (id.0, record.offset, id.0, record.kind());
        Err(BtfError::NotAType { from, offset, to, kind })
    }

    /// Checks that a type refers to a type.
    fn check_reference(&self, from: &Record<'_>, to: u32) -> Result<u32, BtfError> {
        let (id, offset) = (from.id.0, from.offset);
        match self.record(BtfTypeId(to)) {
            _ if to == 0 => Ok(to),
            Some(record) if record.kind().is_type() => Ok(to),
            Some(record) => Err(BtfError::NotAType { from: id, offset, to, kind: record.kind() }),
            None => Err(BtfError::NoSuchType { from: id, offset, to, last: self.last_id().0 }),
        }
    }

    fn text(&self, record: &Record<'_>, name: u32) -> Result<Box<str>, BtfError> {
        let (id, offset) = (record.id.0, record.offset);
        let bytes = self.string(name).ok_or(BtfError::NoSuchName { id, offset, name })?;
        Ok(String::from_utf8_lossy(bytes).into())
    }

    fn optional_text(&self, record: &Record<'_>, name: u32) -> Result<Option<Box<str>>, BtfError> {
        if name == 0 {
            return Ok(None);
        }
        Ok(Some(self.text(record, name)?).filter(|text| !text.is_empty()))
    }
}

/// Gives the table's id for a type referred to.
type Intern<'i> = dyn FnMut(u32, Extent) -> TypeId + 'i;

fn convert(
    btf: &Btf<'_>,
    record: &Record<'_>,
    extent: Extent,
    intern: &mut Intern<'_>,
) -> Result<Type, BtfError> {
    let mut refer = |to: u32, extent: Extent| Ok(intern(btf.check_reference(record, to)?, extent));
    let name = || btf.text(record, record.name());
    Ok(match record.kind() {
        BtfKind::Int => Type::Base(Base {
            name: name()?,
            size: u64::from(record.size()),
            encoding: int_encoding(record.extra(), record.size()),
        }),
        BtfKind::Float => {
            Type::Base(Base { name: name()?, size: u64::from(record.size()), encoding: Encoding::Float })
        }
        BtfKind::Pointer => Type::Pointer {
            kind: PointerKind::Pointer,
            target: refer(record.target(), Extent::Named)?,
            size: u64::from(btf.target().pointer_size),
        },
        BtfKind::Const => qualified(Qualifier::Const, refer(record.target(), extent)?),
        BtfKind::Volatile => qualified(Qualifier::Volatile, refer(record.target(), extent)?),
        BtfKind::Restrict => qualified(Qualifier::Restrict, refer(record.target(), extent)?),
        BtfKind::TypeTag => Type::Tag { name: name()?, target: refer(record.target(), extent)? },
        BtfKind::Typedef => Type::Typedef { name: name()?, target: refer(record.target(), extent)? },
        BtfKind::Array => {
            let (element, dimensions) = array(btf, record)?;
            Type::Array { element: refer(element, extent)?, dimensions, is_vector: false }
        }
        BtfKind::Struct | BtfKind::Union | BtfKind::Forward => {
            Type::Aggregate(aggregate(btf, record, extent, intern)?)
        }
        BtfKind::Enum | BtfKind::Enum64 => Type::Enum(enumeration(btf, record, extent)?),
        BtfKind::Prototype => Type::Function(prototype(btf, record, intern)?),
        BtfKind::Unknown => Type::Unspecified(name()?),
        other => Type::Unspecified(format!("BTF {other}").into()),
    })
}

fn qualified(qualifier: Qualifier, target: TypeId) -> Type {
    Type::Qualified { qualifier, target }
}

/// BTF_INT_ENCODING: bit 24 signed, 25 char, 26 bool. Compilers leave the char bit off and rely on the size.
fn int_encoding(extra: u32, size: u32) -> Encoding {
    let (signed, char, bool) = (extra & 1 << 24 != 0, extra & 1 << 25 != 0, extra & 1 << 26 != 0);
    match (bool, char || size == 1, signed) {
        (true, ..) => Encoding::Boolean,
        (_, true, true) => Encoding::SignedChar,
        (_, true, false) => Encoding::UnsignedChar,
        (_, _, true) => Encoding::Signed,
        (_, _, false) => Encoding::Unsigned,
    }
}

/// The innermost element type, and the counts from the outermost array inwards: BTF has an array for each
/// dimension. A count of 0 stands for `[]` as well as `[0]`.
fn array(btf: &Btf<'_>, outermost: &Record<'_>) -> Result<(u32, Vec<Option<u64>>), BtfError> {
    let mut dimensions = Vec::new();
    let mut record = *outermost;
    loop {
        let (element, count) = record.array();
        dimensions.push((count != 0).then_some(u64::from(count)));
        let inner = btf.record(BtfTypeId(btf.check_reference(&record, element)?));
        match inner {
            Some(inner) if inner.kind() == BtfKind::Array && dimensions.len() < MAX_CHAIN => record = inner,
            _ => return Ok((element, dimensions)),
        }
    }
}

fn aggregate(
    btf: &Btf<'_>,
    record: &Record<'_>,
    extent: Extent,
    intern: &mut Intern<'_>,
) -> Result<Aggregate, BtfError> {
    let name = btf.optional_text(record, record.name())?;
    let is_union = match record.kind() {
        BtfKind::Forward => record.info().flag(),
        kind => kind == BtfKind::Union,
    };
    let is_declaration = record.kind() == BtfKind::Forward || (extent == Extent::Named && name.is_some());
    let mut members = Vec::new();
    if !is_declaration {
        members.reserve_exact(record.info().vlen() as usize);
        for raw in record.members() {
            members.push(member(btf, record, raw, intern)?);
        }
    }
    Ok(Aggregate {
        kind: if is_union { AggregateKind::Union } else { AggregateKind::Struct },
        name,
        size: if is_declaration { 0 } else { u64::from(record.size()) },
        members,
        is_declaration,
        ..Aggregate::default()
    })
}

fn member(
    btf: &Btf<'_>,
    record: &Record<'_>,
    raw: RawMember,
    intern: &mut Intern<'_>,
) -> Result<MemberDecl, BtfError> {
    let ty = btf.check_reference(record, raw.ty)?;
    let (bit_offset, bit_field) = match raw.bit_size {
        Some(bits) => (u64::from(raw.bit_offset), Some(u64::from(bits))),
        None => match narrow_int(btf, ty).filter(|_| !record.info().flag()) {
            Some((skip, bits)) => (u64::from(raw.bit_offset) + u64::from(skip), Some(u64::from(bits))),
            None => (u64::from(raw.bit_offset), None),
        },
    };
    Ok(MemberDecl {
        name: btf.optional_text(record, raw.name)?,
        ty: intern(ty, Extent::Full),
        bit_offset,
        bit_field,
        ..MemberDecl::default()
    })
}

/// Before `kind_flag` (Linux 5.0), a bit-field was a member of an INT with fewer bits than its size: the bits
/// before the value (BTF_INT_OFFSET) and the value's bits (BTF_INT_BITS).
fn narrow_int(btf: &Btf<'_>, ty: u32) -> Option<(u32, u32)> {
    let mut id = BtfTypeId(ty);
    for _ in 0..MAX_CHAIN {
        let record = btf.record(id)?;
        match record.kind() {
            kind if kind == BtfKind::Typedef || kind.is_modifier() => id = BtfTypeId(record.target()),
            BtfKind::Int => {
                let (skip, bits) = (record.extra() >> 16 & 0xff, record.extra() & 0xff);
                let narrow = bits != 0 && u64::from(bits) < u64::from(record.size()) * 8;
                return narrow.then_some((skip, bits));
            }
            _ => return None,
        }
    }
    None
}

fn enumeration(btf: &Btf<'_>, record: &Record<'_>, extent: Extent) -> Result<Enumeration, BtfError> {
    let name = btf.optional_text(record, record.name())?;
    let is_declaration = record.info().vlen() == 0 || (extent == Extent::Named && name.is_some());
    let mut values = Vec::new();
    if !is_declaration {
        for (name, value) in record.values() {
            values.push((btf.text(record, name)?, value));
        }
    }
    // A forward declaration has size 0 in some files; C has no enum narrower than what its compiler chose, int.
    let size = if record.size() == 0 { 4 } else { u64::from(record.size()) };
    Ok(Enumeration { name, size, values, is_declaration })
}

/// A last parameter without name and type stands for `...`.
fn prototype(btf: &Btf<'_>, record: &Record<'_>, intern: &mut Intern<'_>) -> Result<Prototype, BtfError> {
    let returns = intern(btf.check_reference(record, record.target())?, Extent::Named);
    let mut parameters = Vec::new();
    let mut variadic = false;
    for (name, ty) in record.parameters() {
        if ty == 0 {
            variadic = true;
            continue;
        }
        let ty = intern(btf.check_reference(record, ty)?, Extent::Named);
        parameters.push((btf.optional_text(record, name)?, ty));
    }
    Ok(Prototype { returns, parameters, variadic })
}
