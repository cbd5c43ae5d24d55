//! The meaning of attribute values: strings, DIEs they refer to, numbers, files.

use super::scan::RawValue;
use super::sections::R;
use super::units::{DieRef, Dwarf, UnitSection};
use fieldline_files::printable::printable;
use gimli::{AttributeValue as Value, DebuggingInformationEntry, DwAt, DwForm, DwLang, Unit};

pub(crate) type Die<'s> = DebuggingInformationEntry<R<'s>>;

impl<'s> Dwarf<'s> {
    /// A string as a walk met it.
    pub(crate) fn raw_string(&self, unit: u32, raw: RawValue<'s>) -> Option<&'s [u8]> {
        let (form, value) = match raw {
            RawValue::Inline(bytes) => return Some(bytes),
            RawValue::Str(form, value) => (form, usize::try_from(value).ok()?),
            _ => return None,
        };
        let value = match form {
            gimli::DW_FORM_strp => Value::DebugStrRef(gimli::DebugStrOffset(value)),
            gimli::DW_FORM_line_strp => Value::DebugLineStrRef(gimli::DebugLineStrOffset(value)),
            gimli::DW_FORM_GNU_strp_alt | gimli::DW_FORM_strp_sup => {
                Value::DebugStrRefSup(gimli::DebugStrOffset(value))
            }
            _ => Value::DebugStrOffsetsIndex(gimli::DebugStrOffsetsIndex(value)),
        };
        self.string(unit, value)
    }

    /// The string a value stands for.
    pub(crate) fn string(&self, unit: u32, value: Value<R<'s>>) -> Option<&'s [u8]> {
        let dwarf = self.dwarf_of(self.entry(unit).ok()?.section);
        let reader = match value {
            Value::String(reader) => return Some(reader.slice()),
            Value::DebugStrRef(offset) => dwarf.string(offset),
            Value::DebugStrRefSup(offset) => dwarf.sup_string(offset),
            Value::DebugLineStrRef(offset) => dwarf.line_string(offset),
            Value::DebugStrOffsetsIndex(index) => {
                let base = self.string_offsets_base(unit)?;
                let format = self.entry(unit).ok()?.header.format();
                let offset = dwarf.debug_str_offsets.get_str_offset(format, base, index);
                offset.and_then(|offset| dwarf.string(offset))
            }
            _ => return None,
        };
        reader.ok().map(|reader| reader.slice())
    }

    /// The DIE a reference means.
    pub(crate) fn resolve(&self, unit: u32, value: &Value<R<'s>>) -> Option<DieRef> {
        match *value {
            Value::UnitRef(offset) => Some(DieRef { unit, offset: offset.0 }),
            Value::DebugInfoRef(offset) => {
                let sup = self.entry(unit).is_ok_and(|entry| entry.section == UnitSection::Supplementary);
                self.die_at(if sup { UnitSection::Supplementary } else { UnitSection::Info }, offset.0)
            }
            Value::DebugInfoRefSup(offset) => self.die_at(UnitSection::Supplementary, offset.0),
            Value::DebugTypesRef(signature) => self.by_signature(signature.0),
            _ => None,
        }
    }

    /// A DIE of another unit by the form and number that stand in a DIE.
    pub(crate) fn resolve_foreign(&self, unit: u32, form: DwForm, value: u64) -> Option<DieRef> {
        let offset = gimli::DebugInfoOffset(usize::try_from(value).ok()?);
        let value = match form {
            gimli::DW_FORM_ref_addr => Value::DebugInfoRef(offset),
            gimli::DW_FORM_ref_sig8 => Value::DebugTypesRef(gimli::DebugTypeSignature(value)),
            _ => Value::DebugInfoRefSup(offset),
        };
        self.resolve(unit, &value)
    }

    /// The language a unit is written in, if it says so.
    pub(crate) fn language(&self, unit: u32) -> Option<DwLang> {
        let offset = self.entry(unit).ok()?.header.root_offset().0;
        let root = self.die(DieRef { unit, offset }).ok()?;
        match root.attr_value(gimli::DW_AT_language)? {
            Value::Language(language) => Some(language),
            _ => None,
        }
    }
}

/// An unsigned constant attribute.
pub(crate) fn udata(die: &Die<'_>, name: DwAt) -> Option<u64> {
    die.attr(name)?.udata_value()
}

/// The line that declares an entry; DWARF writes 0 where there is none (DWARF 5 section 2.14).
pub(crate) fn declaration_line(die: &Die<'_>) -> Option<u32> {
    u32::try_from(udata(die, gimli::DW_AT_decl_line)?).ok().filter(|line| *line > 0)
}

/// A signed constant attribute.
pub(crate) fn sdata(die: &Die<'_>, name: DwAt) -> Option<i64> {
    let attribute = die.attr(name)?;
    attribute.sdata_value().or_else(|| attribute.udata_value().and_then(|value| i64::try_from(value).ok()))
}

/// A constant of either sign: producers write negative ones as DW_FORM_sdata.
pub(crate) fn constant(die: &Die<'_>, name: DwAt) -> Option<i128> {
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

/// A string attribute as text on one line; bytes that are no UTF-8 are shown as such.
pub(crate) fn text(reader: &R<'_>) -> Box<str> {
    printable(&reader.to_string_lossy()).into()
}

/// The path of a file of a unit's line program, joined with its directory unless absolute (DWARF 5 section 6.2.4).
pub(crate) fn file_path<'s>(dwarf: &gimli::Dwarf<R<'s>>, unit: &Unit<R<'s>>, index: u64) -> Option<String> {
    let program = unit.line_program.as_ref()?;
    let header = program.header();
    let file = header.file(index)?;
    let string = |value| dwarf.attr_string(unit, value).ok().map(|reader| text(&reader).into_string());
    let name = string(file.path_name())?;
    let directory = file.directory(header).and_then(string).filter(|directory| !directory.is_empty());
    match directory {
        Some(directory) if !name.starts_with('/') => Some(format!("{directory}/{name}")),
        _ => Some(name),
    }
}
