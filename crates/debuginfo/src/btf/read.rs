//! Types out of BTF into a [`TypeTable`].

use super::header::BtfError;
use super::index::Btf;
use super::kind::{BtfKind, BtfTypeId};
use super::record::{RawMember, Record};
use crate::extent::Extent;
use fieldline_files::printable::printable_bytes;
use fieldline_layout::types::{
    Aggregate, AggregateKind, Base, Encoding, Enumeration, MemberDecl, PointerKind, Prototype, Qualifier,
    Type, TypeId, TypeTable,
};
use rustc_hash::FxHashMap;

/// How many typedefs, qualifiers or array dimensions are followed in one go; more is a cycle.
const MAX_CHAIN: usize = 64;

/// Copies types into one table, each once. What a type holds by value is copied whole; a struct, union or enum
/// that is only pointed to becomes a declaration with its name, unless it has none.
#[derive(Debug)]
pub struct BtfReader<'b, 'd> {
    btf: &'b Btf<'d>,
    known: FxHashMap<u32, (TypeId, Extent)>,
    /// Types in the table without content so far. Recursion would exhaust the stack on a chain of a million typedefs.
    pending: Vec<(u32, Extent)>,
}

impl<'b, 'd> BtfReader<'b, 'd> {
    /// A reader for one table.
    pub fn new(btf: &'b Btf<'d>) -> Self {
        Self { btf, known: FxHashMap::default(), pending: Vec::new() }
    }

    /// Copies a type and what it needs; gives its id in the table. Fails if one of them is broken.
    pub fn read(&mut self, id: BtfTypeId, table: &mut TypeTable) -> Result<TypeId, BtfError> {
        self.btf.type_record(id)?;
        let root = self.intern(id.0, Extent::Whole, table);
        while let Some((id, extent)) = self.pending.pop() {
            let record = self.btf.type_record(BtfTypeId(id))?;
            let slot = self.known.get(&id).map_or(TypeId::VOID, |(slot, _)| *slot);
            let (btf, intern) = (self.btf, &mut |id, extent| self.intern(id, extent, table));
            let ty = Conversion { btf, record: &record, extent, intern }.convert()?;
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
    fn type_record(&self, id: BtfTypeId) -> Result<Record<'d>, BtfError> {
        let record = self.record(id).ok_or_else(|| BtfError(format!("there is no type {}", id.0)))?;
        if record.kind().is_type() { Ok(record) } else { Err(not_a_type(&record, &record)) }
    }
}

fn not_a_type(from: &Record<'_>, to: &Record<'_>) -> BtfError {
    from.format_error(format_args!(" refers to {}, which is a {}, not a type", to.id.0, to.kind()))
}

/// A type that becomes part of a table.
struct Conversion<'c, 'd> {
    btf: &'c Btf<'d>,
    record: &'c Record<'d>,
    extent: Extent,
    /// Gives the table's id for a type referred to.
    intern: &'c mut dyn FnMut(u32, Extent) -> TypeId,
}

impl Conversion<'_, '_> {
    fn convert(&mut self) -> Result<Type, BtfError> {
        let record = self.record;
        let size = u64::from(record.size());
        Ok(match record.kind() {
            BtfKind::Int => {
                let encoding = int_encoding(record.extra(), record.size());
                Type::Base(Base { name: self.name()?, size, encoding })
            }
            BtfKind::Float => Type::Base(Base { name: self.name()?, size, encoding: Encoding::Float }),
            BtfKind::Pointer => Type::Pointer {
                kind: PointerKind::Pointer,
                target: self.resolve_reference(record.target(), Extent::Name)?,
                size: u64::from(self.btf.target().pointer_size),
            },
            BtfKind::Const => self.qualified(Qualifier::Const)?,
            BtfKind::Volatile => self.qualified(Qualifier::Volatile)?,
            BtfKind::Restrict => self.qualified(Qualifier::Restrict)?,
            BtfKind::TypeTag => Type::Tag { name: self.name()?, target: self.target()? },
            BtfKind::Typedef => Type::Typedef { name: self.name()?, target: self.target()? },
            BtfKind::Array => {
                let (element, dimensions) = array(self.btf, record)?;
                let element = self.resolve_reference(element, self.extent)?;
                Type::Array { element, dimensions, is_vector: false }
            }
            BtfKind::Struct | BtfKind::Union | BtfKind::Forward => Type::Aggregate(self.aggregate()?),
            BtfKind::Enum | BtfKind::Enum64 => Type::Enum(self.enumeration()?),
            BtfKind::Prototype => Type::Function(self.prototype()?),
            BtfKind::Unknown => Type::Unspecified(self.name()?),
            other => Type::Unspecified(format!("BTF {other}").into()),
        })
    }

    fn qualified(&mut self, qualifier: Qualifier) -> Result<Type, BtfError> {
        Ok(Type::Qualified { qualifier, target: self.target()? })
    }

    fn target(&mut self) -> Result<TypeId, BtfError> {
        self.resolve_reference(self.record.target(), self.extent)
    }

    fn resolve_reference(&mut self, to: u32, extent: Extent) -> Result<TypeId, BtfError> {
        Ok((self.intern)(check_reference(self.btf, self.record, to)?, extent))
    }

    fn name(&self) -> Result<Box<str>, BtfError> {
        self.text(self.record.name())
    }

    fn text(&self, name: u32) -> Result<Box<str>, BtfError> {
        let bytes = self.btf.string(name).ok_or_else(|| {
            self.record.format_error(format_args!(": name offset {name:#x} lies outside the strings"))
        })?;
        Ok(printable_bytes(bytes).into())
    }

    fn optional_text(&self, name: u32) -> Result<Option<Box<str>>, BtfError> {
        let text = (name != 0).then(|| self.text(name)).transpose()?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    fn aggregate(&mut self) -> Result<Aggregate, BtfError> {
        let (record, kind) = (self.record, self.record.kind());
        let name = self.optional_text(record.name())?;
        let is_forward = kind == BtfKind::Forward;
        let is_union = if is_forward { record.info().flag() } else { kind == BtfKind::Union };
        let is_declaration = is_forward || (self.extent == Extent::Name && name.is_some());
        let members = record.members().take(if is_declaration { 0 } else { usize::MAX });
        let members = members.map(|member| self.member(member)).collect::<Result<Vec<_>, _>>()?;
        Ok(Aggregate {
            kind: if is_union { AggregateKind::Union } else { AggregateKind::Struct },
            name,
            size: if is_declaration { 0 } else { u64::from(record.size()) },
            members,
            is_declaration,
            ..Aggregate::default()
        })
    }

    fn member(&mut self, raw: RawMember) -> Result<MemberDecl, BtfError> {
        check_reference(self.btf, self.record, raw.ty)?;
        let narrow = || narrow_int(self.btf, raw.ty).filter(|_| !self.record.info().flag());
        let (skip, bits) = raw.bit_size.map(|bits| (0, bits)).or_else(narrow).unzip();
        Ok(MemberDecl {
            name: self.optional_text(raw.name)?,
            ty: self.resolve_reference(raw.ty, Extent::Whole)?,
            bit_offset: u64::from(raw.bit_offset) + skip.map_or(0, u64::from),
            bit_field: bits.map(u64::from),
            ..MemberDecl::default()
        })
    }

    fn enumeration(&self) -> Result<Enumeration, BtfError> {
        let record = self.record;
        let name = self.optional_text(record.name())?;
        let is_empty = record.info().vlen() == 0;
        let is_declaration = is_empty || (self.extent == Extent::Name && name.is_some());
        let values = record.values().take(if is_declaration { 0 } else { usize::MAX });
        let values =
            values.map(|(name, value)| Ok((self.text(name)?, value))).collect::<Result<_, BtfError>>()?;
        // A forward declaration has size 0 in some files; C has no enum narrower than what its compiler chose, int.
        let size = if record.size() == 0 { 4 } else { u64::from(record.size()) };
        Ok(Enumeration { name, size, values, is_declaration })
    }

    /// A last parameter without name and type stands for `...`.
    fn prototype(&mut self) -> Result<Prototype, BtfError> {
        let returns = self.resolve_reference(self.record.target(), Extent::Name)?;
        let mut prototype = Prototype { returns, parameters: Vec::new(), variadic: false };
        for (name, ty) in self.record.parameters() {
            if ty == 0 {
                prototype.variadic = true;
            } else {
                let ty = self.resolve_reference(ty, Extent::Name)?;
                prototype.parameters.push((self.optional_text(name)?, ty));
            }
        }
        Ok(prototype)
    }
}

fn check_reference(btf: &Btf<'_>, from: &Record<'_>, to: u32) -> Result<u32, BtfError> {
    match btf.record(BtfTypeId(to)) {
        _ if to == 0 => Ok(to),
        Some(record) if record.kind().is_type() => Ok(to),
        Some(record) => Err(not_a_type(from, &record)),
        None => {
            Err(from.format_error(format_args!(" refers to type {to}, but ids end at {}", btf.last_id().0)))
        }
    }
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
        let inner = btf.record(BtfTypeId(check_reference(btf, &record, element)?));
        match inner {
            Some(inner) if inner.kind() == BtfKind::Array && dimensions.len() < MAX_CHAIN => record = inner,
            _ => return Ok((element, dimensions)),
        }
    }
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
