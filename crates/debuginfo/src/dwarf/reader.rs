//! DIEs to a type table, on demand.
//!
//! What is held by value is read whole. A named struct behind a pointer is read as its name only, until somebody
//! asks for it with [`TypeReader::complete`]: otherwise one kernel struct would pull in nearly all others.

use super::units::{DieRef, Dwarf, Space, text};
use super::{R, units};
use crate::error::Result;
use fieldline_layout::types::{
    Aggregate, AggregateKind, Base, Decl, Encoding, Enumeration, MemberDecl, MemberOrder, PointerKind,
    Prototype, Qualifier, Type, TypeId, TypeTable,
};
use gimli::{AttributeValue as Value, DebuggingInformationEntry, DwAt, DwTag, Unit};
use rustc_hash::FxHashMap;
use std::rc::Rc;

type Die<'s> = DebuggingInformationEntry<R<'s>>;

/// How deep types may nest before corrupt input is assumed.
const MAX_DEPTH: u32 = 128;

/// Whether a type's content is wanted or its name is enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Whole,
    Name,
}

/// Reads types of one file into one table.
pub struct TypeReader<'a, 's> {
    dwarf: &'a Dwarf<'s>,
    table: TypeTable,
    ids: FxHashMap<DieRef, (TypeId, bool)>,
    dies: FxHashMap<TypeId, DieRef>,
    units: FxHashMap<u32, Rc<Unit<R<'s>>>>,
    files: FxHashMap<(u32, u64), Option<Box<str>>>,
    /// Whether units are of Rust.
    rust: FxHashMap<u32, bool>,
}

impl<'a, 's> TypeReader<'a, 's> {
    /// A reader with an empty table.
    pub fn new(dwarf: &'a Dwarf<'s>) -> Self {
        Self {
            dwarf,
            table: TypeTable::new(dwarf.target),
            ids: FxHashMap::default(),
            dies: FxHashMap::default(),
            units: FxHashMap::default(),
            files: FxHashMap::default(),
            rust: FxHashMap::default(),
        }
    }

    /// What was read so far.
    pub fn table(&self) -> &TypeTable {
        &self.table
    }

    /// The table, when no more is to be read.
    pub fn into_table(self) -> TypeTable {
        self.table
    }

    /// Reads a type and all it holds by value.
    ///
    /// # Errors
    /// If a DIE on the way is broken.
    pub fn read(&mut self, die: DieRef) -> Result<TypeId> {
        self.read_type(die, Want::Whole, MAX_DEPTH)
    }

    /// Reads a type, a named struct only as its name and size.
    ///
    /// # Errors
    /// If a DIE on the way is broken.
    pub fn read_name(&mut self, die: DieRef) -> Result<TypeId> {
        self.read_type(die, Want::Name, MAX_DEPTH)
    }

    /// Reads the content of a type that is known by name only so far: of the definition in the same unit.
    ///
    /// # Errors
    /// If a DIE on the way is broken.
    pub fn complete(&mut self, id: TypeId) -> Result<()> {
        match self.dies.get(&id).copied() {
            Some(die) => self.read_type(die, Want::Whole, MAX_DEPTH).map(drop),
            None => Ok(()),
        }
    }

    /// The DIE a type was read from.
    pub fn die_of(&self, id: TypeId) -> Option<DieRef> {
        self.dies.get(&id).copied()
    }

    /// The type a DIE's DW_AT_type refers to; void if it has none.
    ///
    /// # Errors
    /// If a DIE on the way is broken.
    pub fn type_of(&mut self, die: DieRef) -> Result<TypeId> {
        let entry = self.dwarf.die(die)?;
        self.target(die, &entry, Want::Name, MAX_DEPTH)
    }

    fn read_type(&mut self, die: DieRef, want: Want, depth: u32) -> Result<TypeId> {
        let known = self.ids.get(&die).copied();
        if let Some((id, whole)) = known
            && (whole || want == Want::Name)
        {
            return Ok(id);
        }
        if depth == 0 {
            return Ok(TypeId::VOID);
        }
        let id = known.map_or_else(|| self.table.push(Type::Void), |(id, _)| id);
        self.ids.insert(die, (id, want == Want::Whole));
        self.dies.insert(id, die);
        let entry = self.dwarf.die(die)?;
        let (ty, whole) = self.convert(die, &entry, want, depth - 1)?;
        self.table.set(id, ty);
        self.ids.insert(die, (id, whole || want == Want::Whole));
        Ok(id)
    }

    /// The type, and whether it is whole even though only its name was wanted.
    fn convert(&mut self, at: DieRef, die: &Die<'s>, want: Want, depth: u32) -> Result<(Type, bool)> {
        let ty = match die.tag() {
            gimli::DW_TAG_structure_type | gimli::DW_TAG_interface_type => {
                return self.aggregate(at, die, AggregateKind::Struct, want, depth);
            }
            gimli::DW_TAG_union_type => return self.aggregate(at, die, AggregateKind::Union, want, depth),
            gimli::DW_TAG_class_type => return self.aggregate(at, die, AggregateKind::Class, want, depth),
            gimli::DW_TAG_base_type => self.base(at, die)?,
            gimli::DW_TAG_enumeration_type => self.enumeration(at, die)?,
            gimli::DW_TAG_array_type => self.array(at, die, want, depth)?,
            gimli::DW_TAG_subroutine_type => self.function(at, die, depth)?,
            gimli::DW_TAG_typedef => {
                let name = self.name(at, die)?.unwrap_or_default();
                let target = self.target(at, die, want, depth)?;
                return Ok((Type::Typedef { name, target }, false));
            }
            tag => return self.indirection(tag, at, die, want, depth),
        };
        Ok((ty, die.tag() != gimli::DW_TAG_array_type))
    }

    fn indirection(
        &mut self,
        tag: DwTag,
        at: DieRef,
        die: &Die<'s>,
        want: Want,
        depth: u32,
    ) -> Result<(Type, bool)> {
        let pointer = match tag {
            gimli::DW_TAG_pointer_type => Some(PointerKind::Pointer),
            gimli::DW_TAG_reference_type => Some(PointerKind::Reference),
            gimli::DW_TAG_rvalue_reference_type => Some(PointerKind::RvalueReference),
            gimli::DW_TAG_ptr_to_member_type => Some(PointerKind::Member),
            _ => None,
        };
        if let Some(kind) = pointer {
            let size =
                udata(die, gimli::DW_AT_byte_size).unwrap_or(u64::from(self.table.target.pointer_size));
            let target = self.target(at, die, Want::Name, depth)?;
            return Ok((Type::Pointer { kind, target, size }, true));
        }
        let qualifier = match tag {
            gimli::DW_TAG_const_type => Some(Qualifier::Const),
            gimli::DW_TAG_volatile_type => Some(Qualifier::Volatile),
            gimli::DW_TAG_restrict_type => Some(Qualifier::Restrict),
            gimli::DW_TAG_atomic_type => Some(Qualifier::Atomic),
            _ => None,
        };
        if let Some(qualifier) = qualifier {
            let target = self.target(at, die, want, depth)?;
            return Ok((Type::Qualified { qualifier, target }, false));
        }
        let name = self.name(at, die)?.unwrap_or_default();
        Ok((Type::Unspecified(name), true))
    }

    fn aggregate(
        &mut self,
        at: DieRef,
        die: &Die<'s>,
        kind: AggregateKind,
        want: Want,
        depth: u32,
    ) -> Result<(Type, bool)> {
        if let Some(definition) = signature_of(die).and_then(|signature| self.dwarf.by_signature(signature))
            && definition != at
        {
            let entry = self.dwarf.die(definition)?;
            return self.aggregate(definition, &entry, kind, want, depth);
        }
        let name = self.name(at, die)?;
        let name_is_enough = want == Want::Name && name.is_some();
        let mut aggregate = Aggregate {
            kind,
            name,
            size: udata(die, gimli::DW_AT_byte_size).unwrap_or(0),
            align: udata(die, gimli::DW_AT_alignment),
            members: Vec::new(),
            is_declaration: flag(die, gimli::DW_AT_declaration),
            decl: None,
            order: MemberOrder::default(),
        };
        if !name_is_enough {
            aggregate.members = self.members(at, kind, depth)?;
            aggregate.order = self.order(at, &mut aggregate.members);
            aggregate.decl = self.decl(at, die)?;
        }
        Ok((Type::Aggregate(aggregate), !name_is_enough))
    }

    /// Who orders the members. Those of Rust are put in order of place.
    fn order(&mut self, at: DieRef, members: &mut [MemberDecl]) -> MemberOrder {
        let is_virtual = |member: &MemberDecl| {
            member.is_base || member.name.as_deref().is_some_and(|name| name.starts_with("_vptr"))
        };
        if !self.is_rust(at.unit) {
            return match members.iter().any(is_virtual) {
                true => MemberOrder::Inherited,
                false => MemberOrder::Declared,
            };
        }
        let as_written = members.is_sorted_by_key(|member| member.bit_offset);
        members.sort_by_key(|member| member.bit_offset);
        if as_written { MemberOrder::PerhapsCompiler } else { MemberOrder::Compiler }
    }

    fn is_rust(&mut self, unit: u32) -> bool {
        if let Some(known) = self.rust.get(&unit) {
            return *known;
        }
        let is_rust = self.dwarf.language(unit) == Some(gimli::DW_LANG_Rust);
        self.rust.insert(unit, is_rust);
        is_rust
    }

    fn members(&mut self, at: DieRef, kind: AggregateKind, depth: u32) -> Result<Vec<MemberDecl>> {
        let children = self.dwarf.children(at)?;
        let mut members = Vec::new();
        for child in &children {
            let is_member = match child.tag() {
                gimli::DW_TAG_member | gimli::DW_TAG_inheritance => true,
                // C++ static data members of DWARF 5.
                gimli::DW_TAG_variable => {
                    kind != AggregateKind::Union || child.has_attr(gimli::DW_AT_external)
                }
                _ => false,
            };
            if is_member {
                members.push(self.member(at, child, depth)?);
            } else if child.tag() == gimli::DW_TAG_variant_part {
                let part = DieRef { unit: at.unit, offset: child.offset().0 };
                self.variants(part, &mut members, depth)?;
            }
        }
        Ok(members)
    }

    /// Of what an enum of Rust holds: the number that tells which variant it is, and the variants, which lie over one
    /// another (DWARF 5 section 5.7.10).
    fn variants(&mut self, part: DieRef, members: &mut Vec<MemberDecl>, depth: u32) -> Result<()> {
        for child in self.dwarf.children(part)? {
            match child.tag() {
                gimli::DW_TAG_member => members.push(self.member(part, &child, depth)?),
                gimli::DW_TAG_variant => {
                    let variant = DieRef { unit: part.unit, offset: child.offset().0 };
                    for inner in self.dwarf.children(variant)? {
                        if inner.tag() == gimli::DW_TAG_member {
                            members.push(self.member(variant, &inner, depth)?);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn member(&mut self, at: DieRef, die: &Die<'s>, depth: u32) -> Result<MemberDecl> {
        let is_static = die.tag() == gimli::DW_TAG_variable
            || self.is_found_at_run_time(at, die)
            || flag(die, gimli::DW_AT_external)
            || flag(die, gimli::DW_AT_declaration);
        let want = if is_static { Want::Name } else { Want::Whole };
        let ty = self.target(at, die, want, depth)?;
        let bit_field = udata(die, gimli::DW_AT_bit_size);
        Ok(MemberDecl {
            name: self.name(at, die)?,
            ty,
            bit_offset: self.bit_offset(at, die, ty, bit_field)?,
            bit_field,
            align: udata(die, gimli::DW_AT_alignment),
            line: udata(die, gimli::DW_AT_decl_line).and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
            is_static,
            is_base: die.tag() == gimli::DW_TAG_inheritance,
        })
    }

    /// Whether only the object says where it is: a virtual base class. It has no place in the class itself.
    fn is_found_at_run_time(&self, at: DieRef, die: &Die<'s>) -> bool {
        let Some(Value::Exprloc(expression)) = die.attr_value(gimli::DW_AT_data_member_location) else {
            return false;
        };
        let Ok(entry) = self.dwarf.entry(at.unit) else { return false };
        let first = expression.operations(entry.header.encoding()).next();
        let is_place = |operation: &gimli::Operation<R<'s>>| {
            matches!(
                operation,
                gimli::Operation::PlusConstant { .. } | gimli::Operation::UnsignedConstant { .. }
            )
        };
        die.tag() == gimli::DW_TAG_inheritance
            && !matches!(&first, Ok(Some(operation)) if is_place(operation))
    }

    /// Offset of a member in bits. DWARF 4 and later give bit-fields by DW_AT_data_bit_offset; older ones by
    /// DW_AT_bit_offset, counted from the most significant bit of the storage unit (DWARF 3 section 5.6.6).
    fn bit_offset(&self, at: DieRef, die: &Die<'s>, ty: TypeId, bit_field: Option<u64>) -> Result<u64> {
        if let Some(bits) = udata(die, gimli::DW_AT_data_bit_offset) {
            return Ok(bits);
        }
        let base = self.member_location(at, die)?.saturating_mul(8);
        let (Some(width), Some(from_top)) = (bit_field, sdata(die, gimli::DW_AT_bit_offset)) else {
            return Ok(base);
        };
        if self.table.target.big_endian {
            return Ok(base.saturating_add_signed(from_top));
        }
        let storage = udata(die, gimli::DW_AT_byte_size).unwrap_or_else(|| self.table.size_of(ty));
        let from_bottom =
            (storage.saturating_mul(8) as i64).saturating_sub(from_top).saturating_sub(width as i64);
        Ok(base.saturating_add_signed(from_bottom))
    }

    /// DW_AT_data_member_location: a constant, or in DWARF 2 an expression that adds one to the object's address.
    fn member_location(&self, at: DieRef, die: &Die<'s>) -> Result<u64> {
        let Some(value) = die.attr_value(gimli::DW_AT_data_member_location) else {
            return Ok(0);
        };
        let Value::Exprloc(expression) = value else {
            return Ok(value.udata_value().unwrap_or(0));
        };
        let entry = self.dwarf.entry(at.unit)?;
        let mut operations = expression.operations(entry.header.encoding());
        match operations.next().map_err(|error| self.dwarf.error_at(at, &error))? {
            Some(gimli::Operation::PlusConstant { value } | gimli::Operation::UnsignedConstant { value }) => {
                Ok(value)
            }
            _ => Ok(0),
        }
    }

    fn base(&mut self, at: DieRef, die: &Die<'s>) -> Result<Type> {
        let encoding = match die.attr_value(gimli::DW_AT_encoding) {
            Some(Value::Encoding(encoding)) => encoding,
            _ => gimli::DwAte(0),
        };
        Ok(Type::Base(Base {
            name: self.name(at, die)?.unwrap_or_default(),
            size: udata(die, gimli::DW_AT_byte_size).unwrap_or(0),
            encoding: match encoding {
                gimli::DW_ATE_signed => Encoding::Signed,
                gimli::DW_ATE_unsigned => Encoding::Unsigned,
                gimli::DW_ATE_boolean => Encoding::Boolean,
                gimli::DW_ATE_float => Encoding::Float,
                gimli::DW_ATE_signed_char => Encoding::SignedChar,
                gimli::DW_ATE_unsigned_char => Encoding::UnsignedChar,
                _ => Encoding::Other,
            },
        }))
    }

    fn enumeration(&mut self, at: DieRef, die: &Die<'s>) -> Result<Type> {
        let mut values = Vec::new();
        for child in self.dwarf.children(at)? {
            if child.tag() == gimli::DW_TAG_enumerator {
                let name = self.name(at, &child)?.unwrap_or_default();
                values.push((name, constant(&child, gimli::DW_AT_const_value).unwrap_or(0)));
            }
        }
        let size = match udata(die, gimli::DW_AT_byte_size) {
            Some(size) => size,
            None => {
                let underlying = self.target(at, die, Want::Whole, MAX_DEPTH)?;
                self.table.size_of(underlying)
            }
        };
        Ok(Type::Enum(Enumeration {
            name: self.name(at, die)?,
            size,
            values,
            is_declaration: flag(die, gimli::DW_AT_declaration),
        }))
    }

    fn array(&mut self, at: DieRef, die: &Die<'s>, want: Want, depth: u32) -> Result<Type> {
        let element = self.target(at, die, want, depth)?;
        let children = self.dwarf.children(at)?;
        let ranges = children.iter().filter(|child| child.tag() == gimli::DW_TAG_subrange_type);
        Ok(Type::Array {
            element,
            dimensions: ranges.map(element_count).collect(),
            is_vector: flag(die, gimli::DW_AT_GNU_vector),
        })
    }

    fn function(&mut self, at: DieRef, die: &Die<'s>, depth: u32) -> Result<Type> {
        let returns = self.target(at, die, Want::Name, depth)?;
        let mut prototype = Prototype { returns, parameters: Vec::new(), variadic: false };
        for child in self.dwarf.children(at)? {
            match child.tag() {
                gimli::DW_TAG_formal_parameter => {
                    let ty = self.target(at, &child, Want::Name, depth)?;
                    prototype.parameters.push((self.name(at, &child)?, ty));
                }
                gimli::DW_TAG_unspecified_parameters => prototype.variadic = true,
                _ => {}
            }
        }
        Ok(Type::Function(prototype))
    }

    fn target(&mut self, at: DieRef, die: &Die<'s>, want: Want, depth: u32) -> Result<TypeId> {
        match die.attr_value(gimli::DW_AT_type).and_then(|value| self.resolve(at.unit, &value)) {
            Some(target) => self.read_type(target, want, depth),
            None => Ok(TypeId::VOID),
        }
    }

    fn resolve(&self, unit: u32, value: &Value<R<'s>>) -> Option<DieRef> {
        self.dwarf.resolve(unit, value)
    }

    fn unit(&mut self, unit: u32) -> Result<Rc<Unit<R<'s>>>> {
        if let Some(known) = self.units.get(&unit) {
            return Ok(Rc::clone(known));
        }
        let parsed = Rc::new(self.dwarf.unit(unit)?);
        self.units.insert(unit, Rc::clone(&parsed));
        Ok(parsed)
    }

    fn name(&mut self, at: DieRef, die: &Die<'s>) -> Result<Option<Box<str>>> {
        let Some(value) = die.attr_value(gimli::DW_AT_name) else {
            return Ok(None);
        };
        self.string(at, value).map(Some)
    }

    fn string(&mut self, at: DieRef, value: Value<R<'s>>) -> Result<Box<str>> {
        let space = self.dwarf.entry(at.unit)?.space;
        let dwarf = self.dwarf.dwarf_of(space);
        let reader = match value {
            Value::String(reader) => Ok(reader),
            Value::DebugStrRef(offset) => dwarf.string(offset),
            Value::DebugStrRefSup(offset) => dwarf.sup_string(offset),
            Value::DebugLineStrRef(offset) => dwarf.line_string(offset),
            other => {
                let unit = self.unit(at.unit)?;
                dwarf.attr_string(&unit, other)
            }
        };
        reader.map(|reader| text(&reader)).map_err(|error| self.dwarf.error_at(at, &error))
    }

    fn decl(&mut self, at: DieRef, die: &Die<'s>) -> Result<Option<Decl>> {
        let Some(index) = udata(die, gimli::DW_AT_decl_file) else {
            return Ok(None);
        };
        let line = udata(die, gimli::DW_AT_decl_line).and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        Ok(self.file_name(at.unit, index)?.map(|file| Decl { file, line }))
    }

    /// The path of a file of a unit's line program, joined with its directory.
    fn file_name(&mut self, unit: u32, index: u64) -> Result<Option<Box<str>>> {
        if let Some(known) = self.files.get(&(unit, index)) {
            return Ok(known.clone());
        }
        let parsed = self.unit(unit)?;
        let space = self.dwarf.entry(unit)?.space;
        let name = units::file_path(self.dwarf.dwarf_of(space), &parsed, index).map(String::into_boxed_str);
        self.files.insert((unit, index), name.clone());
        Ok(name)
    }
}

impl<'s> Dwarf<'s> {
    /// The DIE a reference attribute means.
    pub(crate) fn resolve(&self, unit: u32, value: &Value<R<'s>>) -> Option<DieRef> {
        match *value {
            Value::UnitRef(offset) => Some(DieRef { unit, offset: offset.0 }),
            Value::DebugInfoRef(offset) => {
                let sup = self.entry(unit).is_ok_and(|entry| entry.space == Space::Supplementary);
                self.locate(if sup { Space::Supplementary } else { Space::Info }, offset.0)
            }
            Value::DebugInfoRefSup(offset) => self.locate(Space::Supplementary, offset.0),
            Value::DebugTypesRef(signature) => self.by_signature(signature.0),
            _ => None,
        }
    }
}

/// Elements of one dimension (DWARF 5 section 5.13): DW_AT_count, or upper bound less lower bound plus 1; `None`
/// when neither is a constant, as for `[]`.
fn element_count(range: &Die<'_>) -> Option<u64> {
    if let Some(count) = udata(range, gimli::DW_AT_count) {
        return Some(count);
    }
    // Not as signed data: gcc writes the bound of `char x[256]` as DW_FORM_data1 0xff.
    let upper = constant(range, gimli::DW_AT_upper_bound)?;
    let lower = constant(range, gimli::DW_AT_lower_bound).unwrap_or(0);
    upper.checked_sub(lower)?.checked_add(1).and_then(|count| u64::try_from(count).ok())
}

fn signature_of(die: &Die<'_>) -> Option<u64> {
    match die.attr_value(gimli::DW_AT_signature)? {
        Value::DebugTypesRef(signature) => Some(signature.0),
        _ => None,
    }
}

/// An unsigned constant attribute.
pub(crate) fn udata(die: &Die<'_>, name: DwAt) -> Option<u64> {
    die.attr(name)?.udata_value()
}

/// A signed constant attribute.
pub(crate) fn sdata(die: &Die<'_>, name: DwAt) -> Option<i64> {
    let attribute = die.attr(name)?;
    attribute.sdata_value().or_else(|| attribute.udata_value().and_then(|value| i64::try_from(value).ok()))
}

/// A constant of either sign: producers write negative ones as DW_FORM_sdata.
fn constant(die: &Die<'_>, name: DwAt) -> Option<i128> {
    match die.attr_value(name)? {
        Value::Sdata(value) => Some(i128::from(value)),
        Value::Udata(value) | Value::Data8(value) => Some(i128::from(value)),
        Value::Data1(value) => Some(i128::from(value)),
        Value::Data2(value) => Some(i128::from(value)),
        Value::Data4(value) => Some(i128::from(value)),
        _ => None,
    }
}

/// A flag attribute that is there and true.
pub(crate) fn flag(die: &Die<'_>, name: DwAt) -> bool {
    matches!(die.attr_value(name), Some(Value::Flag(true)))
}
