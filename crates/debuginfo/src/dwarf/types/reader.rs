//! DIEs to a type table, on demand.
//!
//! A type held by value is read whole. A named struct behind a pointer is read as its name only: otherwise one
//! kernel struct would pull in nearly all others.

use crate::dwarf::bytes::abbrev::kind_of;
use crate::dwarf::bytes::sections::R;
use crate::dwarf::bytes::units::{DieRef, Dwarf};
use crate::dwarf::bytes::values::{Die, constant, declaration_line, file_path, flag, text, udata};
use crate::error::Result;
use crate::extent::Extent;
use fieldline_layout::types::{
    Aggregate, AggregateKind, Base, Decl, Encoding, Enumeration, PointerKind, Prototype, Qualifier, Type,
    TypeId, TypeTable,
};
use gimli::{AttributeValue as Value, DwTag, Unit};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How deep types may nest before corrupt input is assumed.
const MAX_DEPTH: u32 = 128;

/// Reads types of one file into one table.
pub struct TypeReader<'a, 's> {
    pub(super) dwarf: &'a Dwarf<'s>,
    pub(super) table: TypeTable,
    ids: FxHashMap<DieRef, (TypeId, bool)>,
    dies: FxHashMap<TypeId, DieRef>,
    units: FxHashMap<u32, Rc<Unit<R<'s>>>>,
    files: FxHashMap<(u32, u64), Option<Box<str>>>,
    /// Whether units are of Rust.
    pub(super) rust: FxHashMap<u32, bool>,
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

    /// The types read so far.
    pub fn table(&self) -> &TypeTable {
        &self.table
    }

    /// The table, when no more is to be read.
    pub fn into_table(self) -> TypeTable {
        self.table
    }

    /// Reads a type and all it holds by value. Fails if a DIE on the way is broken.
    pub fn read(&mut self, die: DieRef) -> Result<TypeId> {
        self.read_type(die, Extent::Whole, MAX_DEPTH)
    }

    /// Reads a type, a named struct only as its name and size. Fails if a DIE on the way is broken.
    pub fn read_name(&mut self, die: DieRef) -> Result<TypeId> {
        self.read_type(die, Extent::Name, MAX_DEPTH)
    }

    /// The DIE a type was read from.
    pub fn die_of(&self, id: TypeId) -> Option<DieRef> {
        self.dies.get(&id).copied()
    }

    fn read_type(&mut self, die: DieRef, extent: Extent, depth: u32) -> Result<TypeId> {
        let known = self.ids.get(&die).copied();
        if let Some((id, whole)) = known
            && (whole || extent == Extent::Name)
        {
            return Ok(id);
        }
        if depth == 0 {
            return Ok(TypeId::VOID);
        }
        let id = known.map_or_else(|| self.table.push(Type::Void), |(id, _)| id);
        self.ids.insert(die, (id, extent == Extent::Whole));
        self.dies.insert(id, die);
        let entry = self.dwarf.die(die)?;
        let (ty, whole) = self.convert(die, &entry, extent, depth - 1)?;
        self.table.set(id, ty);
        self.ids.insert(die, (id, whole || extent == Extent::Whole));
        Ok(id)
    }

    /// The type, and whether it is whole even though only its name was wanted.
    fn convert(&mut self, at: DieRef, die: &Die<'s>, extent: Extent, depth: u32) -> Result<(Type, bool)> {
        let tag = die.tag();
        if let Some(kind) = kind_of(tag) {
            return self.aggregate(at, die, kind, extent, depth);
        }
        let name = |this: &mut Self| Ok(this.name(at, die)?.unwrap_or_default());
        Ok(match (pointer(tag), qualifier(tag), tag) {
            (Some(kind), ..) => {
                let size = udata(die, gimli::DW_AT_byte_size);
                let size = size.unwrap_or(u64::from(self.table.target.pointer_size));
                (Type::Pointer { kind, target: self.target(at, die, Extent::Name, depth)?, size }, true)
            }
            (_, Some(qualifier), _) => {
                (Type::Qualified { qualifier, target: self.target(at, die, extent, depth)? }, false)
            }
            (.., gimli::DW_TAG_base_type) => (self.base(at, die)?, true),
            (.., gimli::DW_TAG_enumeration_type) => (self.enumeration(at, die)?, true),
            (.., gimli::DW_TAG_array_type) => (self.array(at, die, extent, depth)?, false),
            (.., gimli::DW_TAG_subroutine_type) => (self.function(at, die, depth)?, true),
            (.., gimli::DW_TAG_typedef) => {
                (Type::Typedef { name: name(self)?, target: self.target(at, die, extent, depth)? }, false)
            }
            _ => (Type::Unspecified(name(self)?), true),
        })
    }

    fn aggregate(
        &mut self,
        at: DieRef,
        die: &Die<'s>,
        kind: AggregateKind,
        extent: Extent,
        depth: u32,
    ) -> Result<(Type, bool)> {
        if let Some(Value::DebugTypesRef(signature)) = die.attr_value(gimli::DW_AT_signature)
            && let Some(definition) = self.dwarf.by_signature(signature.0)
            && definition != at
        {
            let entry = self.dwarf.die(definition)?;
            return self.aggregate(definition, &entry, kind, extent, depth);
        }
        let name = self.name(at, die)?;
        let is_name_only = extent == Extent::Name && name.is_some();
        let mut aggregate = Aggregate {
            kind,
            name,
            size: udata(die, gimli::DW_AT_byte_size).unwrap_or(0),
            align: udata(die, gimli::DW_AT_alignment),
            is_declaration: flag(die, gimli::DW_AT_declaration),
            ..Aggregate::default()
        };
        if !is_name_only {
            aggregate.members = self.read_members(at, kind, udata(die, gimli::DW_AT_decl_file), depth)?;
            aggregate.order = self.sort_members(at, &mut aggregate.members);
            aggregate.decl = self.decl(at, die)?;
        }
        Ok((Type::Aggregate(aggregate), !is_name_only))
    }

    fn base(&mut self, at: DieRef, die: &Die<'s>) -> Result<Type> {
        Ok(Type::Base(Base {
            name: self.name(at, die)?.unwrap_or_default(),
            size: udata(die, gimli::DW_AT_byte_size).unwrap_or(0),
            encoding: match die.attr_value(gimli::DW_AT_encoding) {
                Some(Value::Encoding(gimli::DW_ATE_signed)) => Encoding::Signed,
                Some(Value::Encoding(gimli::DW_ATE_unsigned)) => Encoding::Unsigned,
                Some(Value::Encoding(gimli::DW_ATE_boolean)) => Encoding::Boolean,
                Some(Value::Encoding(gimli::DW_ATE_float)) => Encoding::Float,
                Some(Value::Encoding(gimli::DW_ATE_signed_char)) => Encoding::SignedChar,
                Some(Value::Encoding(gimli::DW_ATE_unsigned_char)) => Encoding::UnsignedChar,
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
                let underlying = self.target(at, die, Extent::Whole, MAX_DEPTH)?;
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

    fn array(&mut self, at: DieRef, die: &Die<'s>, extent: Extent, depth: u32) -> Result<Type> {
        let element = self.target(at, die, extent, depth)?;
        let children = self.dwarf.children(at)?;
        let ranges = children.iter().filter(|child| child.tag() == gimli::DW_TAG_subrange_type);
        Ok(Type::Array {
            element,
            dimensions: ranges.map(element_count).collect(),
            is_vector: flag(die, gimli::DW_AT_GNU_vector),
        })
    }

    fn function(&mut self, at: DieRef, die: &Die<'s>, depth: u32) -> Result<Type> {
        let returns = self.target(at, die, Extent::Name, depth)?;
        let mut prototype = Prototype { returns, parameters: Vec::new(), variadic: false };
        for child in self.dwarf.children(at)? {
            match child.tag() {
                gimli::DW_TAG_formal_parameter => {
                    let ty = self.target(at, &child, Extent::Name, depth)?;
                    prototype.parameters.push((self.name(at, &child)?, ty));
                }
                gimli::DW_TAG_unspecified_parameters => prototype.variadic = true,
                _ => {}
            }
        }
        Ok(Type::Function(prototype))
    }

    pub(super) fn target(&mut self, at: DieRef, die: &Die<'s>, extent: Extent, depth: u32) -> Result<TypeId> {
        match die.attr_value(gimli::DW_AT_type).and_then(|value| self.dwarf.resolve(at.unit, &value)) {
            Some(target) => self.read_type(target, extent, depth),
            None => Ok(TypeId::VOID),
        }
    }

    fn unit(&mut self, unit: u32) -> Result<Rc<Unit<R<'s>>>> {
        if let Some(known) = self.units.get(&unit) {
            return Ok(Rc::clone(known));
        }
        let parsed = Rc::new(self.dwarf.unit(unit)?);
        self.units.insert(unit, Rc::clone(&parsed));
        Ok(parsed)
    }

    pub(super) fn name(&mut self, at: DieRef, die: &Die<'s>) -> Result<Option<Box<str>>> {
        die.attr_value(gimli::DW_AT_name).map(|value| self.string(at, value)).transpose()
    }

    fn string(&mut self, at: DieRef, value: Value<R<'s>>) -> Result<Box<str>> {
        let dwarf = self.dwarf.dwarf_of(self.dwarf.entry(at.unit)?.section);
        let reader = match value {
            Value::String(reader) => Ok(reader),
            Value::DebugStrRef(offset) => dwarf.string(offset),
            Value::DebugStrRefSup(offset) => dwarf.sup_string(offset),
            Value::DebugLineStrRef(offset) => dwarf.line_string(offset),
            other => dwarf.attr_string(&*self.unit(at.unit)?, other),
        };
        reader.map(|reader| text(&reader)).map_err(|error| self.dwarf.error_at(at, &error))
    }

    fn decl(&mut self, at: DieRef, die: &Die<'s>) -> Result<Option<Decl>> {
        let Some(index) = udata(die, gimli::DW_AT_decl_file) else { return Ok(None) };
        Ok(self.file_name(at.unit, index)?.map(|file| Decl { file, line: declaration_line(die) }))
    }

    pub(super) fn file_name(&mut self, unit: u32, index: u64) -> Result<Option<Box<str>>> {
        if let Some(known) = self.files.get(&(unit, index)) {
            return Ok(known.clone());
        }
        let parsed = self.unit(unit)?;
        let dwarf = self.dwarf.dwarf_of(self.dwarf.entry(unit)?.section);
        let name = file_path(dwarf, &parsed, index).map(String::into_boxed_str);
        self.files.insert((unit, index), name.clone());
        Ok(name)
    }
}

fn pointer(tag: DwTag) -> Option<PointerKind> {
    match tag {
        gimli::DW_TAG_pointer_type => Some(PointerKind::Pointer),
        gimli::DW_TAG_reference_type => Some(PointerKind::Reference),
        gimli::DW_TAG_rvalue_reference_type => Some(PointerKind::RvalueReference),
        gimli::DW_TAG_ptr_to_member_type => Some(PointerKind::Member),
        _ => None,
    }
}

fn qualifier(tag: DwTag) -> Option<Qualifier> {
    match tag {
        gimli::DW_TAG_const_type => Some(Qualifier::Const),
        gimli::DW_TAG_volatile_type => Some(Qualifier::Volatile),
        gimli::DW_TAG_restrict_type => Some(Qualifier::Restrict),
        gimli::DW_TAG_atomic_type => Some(Qualifier::Atomic),
        _ => None,
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
