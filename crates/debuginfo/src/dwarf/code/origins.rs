//! Attributes of a DIE or of the DIE it stems from: names, types, parameters.

use crate::dwarf::bytes::units::{DieRef, Dwarf};
use crate::dwarf::bytes::values::Die;
use crate::error::Result;
use gimli::AttributeValue as Value;

/// How often a DIE may refer to the one that holds its name.
const MAX_ORIGINS: u32 = 4;

impl<'s> Dwarf<'s> {
    /// The name of a DIE, or of the DIE it stems from (DW_AT_abstract_origin, DW_AT_specification).
    pub fn name_of(&self, die: DieRef) -> Option<&'s [u8]> {
        let name = |entry: &Die<'s>, unit| Some((entry.attr_value(gimli::DW_AT_name)?, unit));
        let (value, unit) = self.find_along_origins(die, name)?;
        self.string(unit, value)
    }

    /// The linker's name of a DIE, where that differs from its name (DW_AT_linkage_name).
    pub fn linkage_name_of(&self, die: DieRef) -> Option<&'s [u8]> {
        self.find_along_origins(die, |entry, unit| {
            let value = entry.attr_value(gimli::DW_AT_linkage_name);
            self.string(unit, value.or_else(|| entry.attr_value(gimli::DW_AT_MIPS_linkage_name))?)
        })
    }

    /// The DIE a DIE stems from.
    pub(crate) fn origin(&self, die: DieRef, entry: &Die<'s>) -> Option<DieRef> {
        let value = entry
            .attr_value(gimli::DW_AT_abstract_origin)
            .or_else(|| entry.attr_value(gimli::DW_AT_specification))?;
        self.resolve(die.unit, &value)
    }

    /// The type of a variable, or what a function returns, by its DIE or the one it stems from; `None` for void.
    pub fn type_die(&self, die: DieRef) -> Option<DieRef> {
        self.find_along_origins(die, |entry, unit| {
            let value = entry.attr_value(gimli::DW_AT_type)?;
            self.resolve(unit, &value)
        })
    }

    /// Types of a function's parameters, in order; `None` for one without.
    pub fn parameter_types(&self, function: DieRef) -> Vec<Option<DieRef>> {
        let types = self.find_along_origins(function, |entry, unit| {
            let parameters = self.parameters(DieRef { unit, offset: entry.offset().0 }).ok()?;
            let types = parameters.into_iter().map(|parameter| self.type_die(parameter));
            Some(types.collect::<Vec<_>>()).filter(|types| !types.is_empty())
        });
        types.unwrap_or_default()
    }

    /// The parameters of a function, which stand in front of all else in it.
    fn parameters(&self, function: DieRef) -> Result<Vec<DieRef>> {
        let mut entries = self.entries_from(function)?;
        let error = |error| self.error_at(function, &error);
        let mut entry = gimli::DebuggingInformationEntry::null();
        entries.read_entry(&mut entry).map_err(error)?;
        let mut parameters = Vec::new();
        while !entries.is_empty() && entries.next_depth() == 1 {
            let offset = entries.next_offset().0;
            let present = entries.read_entry(&mut entry).map_err(error)?;
            if !present || entry.tag() != gimli::DW_TAG_formal_parameter {
                break;
            }
            parameters.push(DieRef { unit: function.unit, offset });
        }
        Ok(parameters)
    }

    /// Whether a function never returns (DW_AT_noreturn).
    pub fn is_noreturn(&self, die: DieRef) -> bool {
        let found = self.find_along_origins(die, |entry, _| entry.attr_value(gimli::DW_AT_noreturn));
        found == Some(Value::Flag(true))
    }

    /// The first that is read of a DIE and the DIEs it stems from.
    fn find_along_origins<T>(&self, die: DieRef, read: impl Fn(&Die<'s>, u32) -> Option<T>) -> Option<T> {
        let mut die = die;
        for _ in 0..=MAX_ORIGINS {
            let entry = self.die(die).ok()?;
            if let Some(found) = read(&entry, die.unit) {
                return Some(found);
            }
            die = self.origin(die, &entry)?;
        }
        None
    }
}
