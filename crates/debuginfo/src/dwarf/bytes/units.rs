//! Units and where they begin; DIEs by offset.

use super::sections::{DebugSections, R};
use crate::error::{Error, Result};
use fieldline_files::printable::printable;
use fieldline_layout::types::TargetMachine;
use gimli::{
    Abbreviations, DebugStrOffsetsBase, DebuggingInformationEntry, Section, UnitHeader, UnitOffset,
    UnitSectionOffset, UnitType,
};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The DWARF of one file.
pub struct Dwarf<'s> {
    pub(crate) inner: gimli::Dwarf<R<'s>>,
    pub(crate) units: Vec<UnitEntry<'s>>,
    signatures: OnceLock<FxHashMap<u64, DieRef>>,
    file: &'s str,
    /// The machine it is for.
    pub target: TargetMachine,
}

/// A unit, and the parts of it that were parsed so far.
pub(crate) struct UnitEntry<'s> {
    pub(crate) header: UnitHeader<R<'s>>,
    pub(crate) section: UnitSection,
    abbreviations: OnceLock<Arc<Abbreviations>>,
    /// Where strings that are given by their number are listed for the unit.
    string_offsets: OnceLock<DebugStrOffsetsBase>,
    /// Offset of each type that is in a namespace or class, and its path; sorted. Read when first needed.
    pub(crate) paths: OnceLock<Vec<(usize, Arc<str>)>>,
    /// Offset of each struct that only a typedef names, and its name; sorted. Read when first needed.
    pub(crate) typedef_names: OnceLock<Vec<(usize, Arc<str>)>>,
}

/// The section an offset counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum UnitSection {
    /// .debug_info
    Info,
    /// .debug_types (DWARF 4)
    Types,
    /// .debug_info of the supplementary file
    Supplementary,
}

/// A DIE: its unit (index in file order) and its offset from the start of the section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DieRef {
    /// Index of the unit.
    pub unit: u32,
    /// Offset from the start of the unit.
    pub offset: usize,
}

impl<'s> Dwarf<'s> {
    /// Finds the units by their headers. Fails if a header is broken or of an unknown version, or types are in `.dwo` files.
    pub fn new(sections: &'s DebugSections<'_>) -> Result<Self> {
        let mut dwarf = Self::with_first_units(sections, usize::MAX)?;
        let mut types = dwarf.inner.type_units();
        dwarf.add_units(UnitSection::Types, ".debug_types", || types.next())?;
        let mut units = dwarf.inner.sup().map(gimli::Dwarf::units);
        let next = || units.as_mut().map_or(Ok(None), |units| units.next());
        dwarf.add_units(UnitSection::Supplementary, "supplementary .debug_info", next)?;
        Ok(dwarf)
    }

    /// The first units of .debug_info, as if there were no others. Fails as [`Self::new`] does.
    pub(crate) fn with_first_units(sections: &'s DebugSections<'_>, count: usize) -> Result<Self> {
        let inner = sections.borrow();
        let mut dwarf = Self {
            units: Vec::new(),
            signatures: OnceLock::new(),
            file: &sections.file,
            target: sections.target(),
            inner,
        };
        let (mut headers, mut rest) = (dwarf.inner.units(), 0..count);
        let next = || rest.next().map_or(Ok(None), |_| headers.next());
        dwarf.add_units(UnitSection::Info, ".debug_info", next)?;
        Ok(dwarf)
    }

    fn add_units(
        &mut self,
        section: UnitSection,
        section_name: &str,
        mut next: impl FnMut() -> gimli::Result<Option<UnitHeader<R<'s>>>>,
    ) -> Result<()> {
        let mut at = 0;
        while let Some(header) = next().map_err(|error| self.error(section_name, at, &error))? {
            at = header_offset(&header) + header.length_including_self();
            if section == UnitSection::Info {
                self.reject_split_dwarf(&header)?;
            }
            let (abbreviations, string_offsets, paths, typedef_names) = Default::default();
            self.units.push(UnitEntry {
                header,
                section,
                abbreviations,
                string_offsets,
                paths,
                typedef_names,
            });
        }
        Ok(())
    }

    /// Fails at a skeleton unit, which points to a `.dwo` file: the file would seem empty.
    fn reject_split_dwarf(&self, header: &UnitHeader<R<'s>>) -> Result<()> {
        let is_skeleton = matches!(header.type_(), UnitType::Skeleton(_));
        if !is_skeleton && (header.version() >= 5 || !self.has_dwo_name(header)?) {
            return Ok(());
        }
        let place = format!("unit at .debug_info+{:#x}", header_offset(header));
        let what = "split DWARF: its types are in .dwo files, which are not read; build without -gsplit-dwarf \
                    (CONFIG_DEBUG_INFO_SPLIT=n)";
        Err(self.dwarf_error(place, what))
    }

    /// Whether the root of the first unit is marked as GNU split DWARF 4 is; compilers don't mix.
    fn has_dwo_name(&self, header: &UnitHeader<R<'s>>) -> Result<bool> {
        let offset = header_offset(header);
        if offset != 0 {
            return Ok(false);
        }
        let error = |error| self.error(".debug_info", offset, &error);
        let abbreviations = self.inner.abbreviations(header).map_err(error)?;
        let root = header.entry(&abbreviations, header.root_offset()).map_err(error)?;
        Ok(root.has_attr(gimli::DW_AT_GNU_dwo_name))
    }

    /// The file's name, for messages.
    pub fn file(&self) -> &'s str {
        self.file
    }

    /// How many units there are.
    pub fn unit_count(&self) -> usize {
        self.units.len()
    }

    pub(crate) fn unit_indices(&self) -> Range<u32> {
        0..self.units.len() as u32
    }

    fn dwarf_error(&self, place: impl Into<String>, what: impl Into<String>) -> Error {
        Error::Dwarf { file: self.file.to_owned(), place: place.into(), what: what.into() }
    }

    pub(crate) fn error(&self, section: &str, offset: usize, source: &gimli::Error) -> Error {
        self.dwarf_error(format!("{section}+{offset:#x}"), self.inner.format_error(*source))
    }

    pub(crate) fn error_at(&self, die: DieRef, source: &gimli::Error) -> Error {
        self.dwarf_error(self.describe_die(die), self.inner.format_error(*source))
    }

    /// A DIE that cannot be stepped over.
    pub(crate) fn broken_die_error(&self, unit: u32, offset: usize) -> Error {
        let die = DieRef { unit, offset };
        match self.die(die) {
            Err(error) => error,
            Ok(entry) => {
                let what = format!("{}: attributes, children or types can't be followed", entry.tag());
                self.dwarf_error(self.describe_die(die), what)
            }
        }
    }

    fn describe_die(&self, DieRef { unit, offset }: DieRef) -> String {
        match self.units.get(unit as usize) {
            Some(entry) => {
                let begin = header_offset(&entry.header);
                format!("unit {:?}+{begin:#x}+{offset:#x}", entry.section)
            }
            None => format!("unit #{unit}+{offset:#x}"),
        }
    }

    pub(crate) fn entry(&self, unit: u32) -> Result<&UnitEntry<'s>> {
        let entry = self.units.get(unit as usize);
        entry.ok_or_else(|| self.dwarf_error(".debug_info", format!("there is no unit {unit}")))
    }

    pub(crate) fn dwarf_of(&self, section: UnitSection) -> &gimli::Dwarf<R<'s>> {
        match section {
            UnitSection::Supplementary => self.inner.sup().unwrap_or(&self.inner),
            _ => &self.inner,
        }
    }

    pub(crate) fn abbreviations(&self, unit: u32) -> Result<&Arc<Abbreviations>> {
        let entry = self.entry(unit)?;
        if let Some(known) = entry.abbreviations.get() {
            return Ok(known);
        }
        let start = entry.header.debug_abbrev_offset().0;
        let parsed = self.dwarf_of(entry.section).abbreviations(&entry.header);
        let parsed = parsed.map_err(|error| self.error(".debug_abbrev", start, &error))?;
        Ok(entry.abbreviations.get_or_init(|| parsed))
    }

    /// All bytes of a unit, its header included, so that offsets in the unit index them.
    pub(crate) fn unit_bytes(&self, entry: &UnitEntry<'s>) -> &'s [u8] {
        let dwarf = self.dwarf_of(entry.section);
        let bytes = match entry.section {
            UnitSection::Types => dwarf.debug_types.reader().slice(),
            _ => dwarf.debug_info.reader().slice(),
        };
        let start = header_offset(&entry.header);
        let end = start.saturating_add(entry.header.length_including_self());
        bytes.get(start..end).unwrap_or(&[])
    }

    /// Where a unit's abbreviations stand: .debug_abbrev, the offset, and the encoding their forms have there.
    pub(crate) fn abbreviation_bytes(&self, entry: &UnitEntry<'s>) -> (&'s [u8], usize, gimli::Encoding) {
        let bytes = self.dwarf_of(entry.section).debug_abbrev.reader().slice();
        (bytes, entry.header.debug_abbrev_offset().0, entry.header.encoding())
    }

    /// A unit with its line program header and bases.
    pub(crate) fn unit(&self, unit: u32) -> Result<gimli::Unit<R<'s>>> {
        let entry = self.entry(unit)?;
        let abbreviations = Arc::clone(self.abbreviations(unit)?);
        gimli::Unit::new_with_abbreviations(self.dwarf_of(entry.section), entry.header, abbreviations)
            .map_err(|error| self.error(".debug_info", header_offset(&entry.header), &error))
    }

    /// Where strings that are given by their number are listed for a unit; `None` if its root is broken.
    pub(crate) fn string_offsets_base(&self, unit: u32) -> Option<DebugStrOffsetsBase> {
        let entry = self.entry(unit).ok()?;
        // A unit's line program is read with it: once, not for each string.
        match entry.string_offsets.get() {
            Some(base) => Some(*base),
            None => {
                let base = self.unit(unit).ok()?.str_offsets_base;
                Some(*entry.string_offsets.get_or_init(|| base))
            }
        }
    }

    /// The DIE alone, without its children.
    pub(crate) fn die(&self, die: DieRef) -> Result<DebuggingInformationEntry<R<'s>>> {
        let abbreviations = self.abbreviations(die.unit)?;
        let header = &self.entry(die.unit)?.header;
        header.entry(abbreviations, UnitOffset(die.offset)).map_err(|error| self.error_at(die, &error))
    }

    /// A cursor that reads a DIE and what follows it.
    pub(crate) fn entries_from(&self, die: DieRef) -> Result<gimli::EntriesRaw<'_, R<'s>>> {
        let abbreviations = self.abbreviations(die.unit)?;
        let entries = self.entry(die.unit)?.header.entries_raw(abbreviations, Some(UnitOffset(die.offset)));
        entries.map_err(|error| self.error_at(die, &error))
    }

    /// The direct children of a DIE.
    pub(crate) fn children(&self, die: DieRef) -> Result<Vec<DebuggingInformationEntry<R<'s>>>> {
        let mut entries = self.entries_from(die)?;
        let error = |error| self.error_at(die, &error);
        let mut children = Vec::new();
        let mut entry = DebuggingInformationEntry::null();
        entries.read_entry(&mut entry).map_err(error)?;
        if !entry.has_children() {
            return Ok(children);
        }
        while entries.next_depth() > 0 && !entries.is_empty() {
            let depth = entries.next_depth();
            let present = entries.read_entry(&mut entry).map_err(error)?;
            if present && depth == 1 {
                children.push(entry.clone());
            }
        }
        Ok(children)
    }

    /// The unit that holds an offset of a section, with the offset inside it.
    pub(crate) fn die_at(&self, section: UnitSection, offset: usize) -> Option<DieRef> {
        let first = self.units.partition_point(|unit| unit.section < section);
        let past = self.units.partition_point(|unit| unit.section <= section);
        let units = self.units.get(first..past)?;
        let index = units.partition_point(|unit| header_offset(&unit.header) <= offset).checked_sub(1)?;
        let start = header_offset(&units.get(index)?.header);
        let inside = offset - start < units[index].header.length_including_self();
        inside.then_some(DieRef { unit: (first + index) as u32, offset: offset - start })
    }

    /// The DIE of a type unit by its signature.
    pub(crate) fn by_signature(&self, signature: u64) -> Option<DieRef> {
        let units = (0u32..).zip(&self.units);
        let types = units.filter_map(|(unit, entry)| match entry.header.type_() {
            UnitType::Type { type_signature, type_offset } => {
                Some((type_signature.0, DieRef { unit, offset: type_offset.0 }))
            }
            _ => None,
        });
        self.signatures.get_or_init(|| types.collect()).get(&signature).copied()
    }

    /// Name of a unit: the path of its source file as given to the compiler. Fails if the unit's root is broken.
    pub fn unit_name(&self, unit: u32) -> Result<String> {
        let parsed = self.unit(unit)?;
        Ok(parsed.name.map(|name| printable(&name.to_string_lossy()).into_owned()).unwrap_or_default())
    }
}

/// Where a unit's header begins in its section.
pub(crate) fn header_offset(header: &UnitHeader<R<'_>>) -> usize {
    match header.offset() {
        UnitSectionOffset(offset) => offset,
    }
}
