//! Members of structs, unions, classes, and of enums of Rust.

use super::reader::TypeReader;
use crate::dwarf::bytes::sections::R;
use crate::dwarf::bytes::units::DieRef;
use crate::dwarf::bytes::values::{Die, declaration_line, flag, sdata, udata};
use crate::error::Result;
use crate::extent::Extent;
use fieldline_layout::types::{AggregateKind, MemberDecl, MemberOrder, TypeId};
use gimli::AttributeValue as Value;

impl<'s> TypeReader<'_, 's> {
    /// Whether declaration or compiler orders the members. Those of Rust are sorted by offset.
    pub(super) fn sort_members(&mut self, at: DieRef, members: &mut [MemberDecl]) -> MemberOrder {
        let is_virtual = |member: &MemberDecl| {
            member.is_base || member.name.as_deref().is_some_and(|name| name.starts_with("_vptr"))
        };
        if !self.is_rust(at.unit) {
            let is_inherited = members.iter().any(is_virtual);
            return if is_inherited { MemberOrder::Inherited } else { MemberOrder::Declared };
        }
        let as_written = members.is_sorted_by_key(|member| member.bit_offset);
        members.sort_by_key(|member| member.bit_offset);
        if as_written { MemberOrder::PerhapsCompiler } else { MemberOrder::Compiler }
    }

    fn is_rust(&mut self, unit: u32) -> bool {
        let dwarf = self.dwarf;
        let is_rust = || dwarf.language(unit) == Some(gimli::DW_LANG_Rust);
        *self.rust.entry(unit).or_insert_with(is_rust)
    }

    pub(super) fn read_members(
        &mut self,
        at: DieRef,
        kind: AggregateKind,
        own_file: Option<u64>,
        depth: u32,
    ) -> Result<Vec<MemberDecl>> {
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
                let mut member = self.read_member(at, child, depth)?;
                member.file = self.foreign_file(at, child, own_file)?;
                members.push(member);
            } else if child.tag() == gimli::DW_TAG_variant_part {
                let part = DieRef { unit: at.unit, offset: child.offset().0 };
                self.read_variants(part, &mut members, depth)?;
            }
        }
        Ok(members)
    }

    /// The file of a member that is declared in another one than its aggregate, whose file's index is given.
    fn foreign_file(&mut self, at: DieRef, die: &Die<'s>, own_file: Option<u64>) -> Result<Option<Box<str>>> {
        match udata(die, gimli::DW_AT_decl_file).filter(|index| own_file.is_some_and(|own| own != *index)) {
            Some(index) => self.file_name(at.unit, index),
            None => Ok(None),
        }
    }

    /// Reads the members of a Rust enum: the discriminant, and those of the variants, which overlap (DWARF 5 section
    /// 5.7.10).
    fn read_variants(&mut self, part: DieRef, members: &mut Vec<MemberDecl>, depth: u32) -> Result<()> {
        for child in self.dwarf.children(part)? {
            match child.tag() {
                gimli::DW_TAG_member => members.push(self.read_member(part, &child, depth)?),
                gimli::DW_TAG_variant => {
                    let variant = DieRef { unit: part.unit, offset: child.offset().0 };
                    for inner in self.dwarf.children(variant)? {
                        if inner.tag() == gimli::DW_TAG_member {
                            members.push(self.read_member(variant, &inner, depth)?);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_member(&mut self, at: DieRef, die: &Die<'s>, depth: u32) -> Result<MemberDecl> {
        let is_static = die.tag() == gimli::DW_TAG_variable
            || self.is_virtual_base(at, die)
            || flag(die, gimli::DW_AT_external)
            || flag(die, gimli::DW_AT_declaration);
        let extent = if is_static { Extent::Name } else { Extent::Whole };
        let ty = self.target(at, die, extent, depth)?;
        let bit_field = udata(die, gimli::DW_AT_bit_size);
        Ok(MemberDecl {
            name: self.name(at, die)?,
            ty,
            bit_offset: self.bit_offset(at, die, ty, bit_field)?,
            bit_field,
            align: udata(die, gimli::DW_AT_alignment),
            file: None,
            line: declaration_line(die),
            is_static,
            is_base: die.tag() == gimli::DW_TAG_inheritance,
        })
    }

    /// Whether only the object itself has its offset: a virtual base class. It has none in the class.
    fn is_virtual_base(&self, at: DieRef, die: &Die<'s>) -> bool {
        let location = die.attr_value(gimli::DW_AT_data_member_location);
        let is_expression = matches!(location, Some(Value::Exprloc(_)));
        is_expression
            && die.tag() == gimli::DW_TAG_inheritance
            && !matches!(self.expression_offset(at, location), Some(Ok(Some(_))))
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
        let bits = storage.saturating_mul(8) as i64;
        Ok(base.saturating_add_signed(bits.saturating_sub(from_top).saturating_sub(width as i64)))
    }

    /// DW_AT_data_member_location: a constant, or in DWARF 2 an expression that adds one to the object's address.
    fn member_location(&self, at: DieRef, die: &Die<'s>) -> Result<u64> {
        let location = die.attr_value(gimli::DW_AT_data_member_location);
        match (self.expression_offset(at, location), location) {
            (Some(found), _) => Ok(found?.unwrap_or(0)),
            (None, value) => Ok(value.and_then(|value| value.udata_value()).unwrap_or(0)),
        }
    }

    /// The constant that an expression adds, if it begins with one; `None` if it is no expression.
    fn expression_offset(&self, at: DieRef, location: Option<Value<R<'s>>>) -> Option<Result<Option<u64>>> {
        let Some(Value::Exprloc(expression)) = location else { return None };
        let first = self.dwarf.entry(at.unit).and_then(|entry| {
            let mut operations = expression.operations(entry.header.encoding());
            operations.next().map_err(|error| self.dwarf.error_at(at, &error))
        });
        Some(first.map(|first| match first? {
            gimli::Operation::PlusConstant { value } | gimli::Operation::UnsignedConstant { value } => {
                Some(value)
            }
            _ => None,
        }))
    }
}
