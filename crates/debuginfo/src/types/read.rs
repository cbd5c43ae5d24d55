//! Definitions read into a table, and as layouts.

use super::find::{DefinitionSource, TypeDefinition};
use super::names::not_found_error;
use super::open::Types;
use crate::btf::BtfReader;
use crate::dwarf::TypeReader;
use anyhow::{Context, Result};
use fieldline_layout::{Layout, TypeId, TypeTable};
use std::cmp::Reverse;

/// Reads entries into a table.
#[expect(missing_docs, reason = "the words of each variant say what its fields are")]
pub enum DefinitionReader<'a, 's> {
    /// Out of DWARF.
    Dwarf(TypeReader<'a, 's>),
    /// Out of BTF: the reader, the types read, and the file's name for messages.
    Btf { reader: BtfReader<'a, 's>, table: TypeTable, file: &'a str },
}

impl<'a, 's> Types<'a, 's> {
    /// A reader of some entries, with an empty table.
    pub fn reader<'e>(
        &self,
        entries: impl IntoIterator<Item = &'e TypeDefinition>,
    ) -> Result<DefinitionReader<'a, 's>> {
        Ok(match self {
            Self::Dwarf { dwarf, .. } => {
                let mut dies = entries.into_iter().filter_map(TypeDefinition::die);
                let are_early = dies.all(|die| dwarf.is_in_first_units(die));
                let units = if are_early { dwarf.first_units() } else { dwarf.all()? };
                DefinitionReader::Dwarf(TypeReader::new(units))
            }
            Self::Btf { btf, file } => {
                let (reader, table) = (BtfReader::new(btf), TypeTable::new(btf.target()));
                DefinitionReader::Btf { reader, table, file }
            }
        })
    }

    /// Sorts definitions of one name: those that most units share first, those of Rust units last. Bindings repeat
    /// C's structs, often without their members.
    pub fn sort_by_preference(&self, entries: &mut [TypeDefinition]) -> Result<()> {
        let Self::Dwarf { dwarf, .. } = self else { return Ok(()) };
        if entries.len() < 2 {
            return Ok(());
        }
        let are_early =
            entries.iter().filter_map(TypeDefinition::die).all(|die| dwarf.is_in_first_units(die));
        let units = if are_early { dwarf.first_units() } else { dwarf.all()? };
        let is_rust = |entry: &TypeDefinition| {
            entry.die().is_some_and(|die| units.language(die.unit) == Some(gimli::DW_LANG_Rust))
        };
        entries.sort_by_cached_key(|entry| (is_rust(entry), Reverse(entry.units)));
        Ok(())
    }

    /// All definitions of a name as layouts, the one most units share first.
    pub fn layouts(&self, name: &str) -> Result<Vec<Layout>> {
        let (table, ids) = self.definitions(name)?;
        Ok(ids.into_iter().filter_map(|id| Layout::from_type(&table, id)).collect())
    }

    /// The definitions of a name with all they hold by value, those that most units share first.
    pub fn definitions(&self, name: &str) -> Result<(TypeTable, Vec<TypeId>)> {
        let mut entries = self.find(name)?;
        if entries.is_empty() {
            return Err(not_found_error(self, name)?);
        }
        self.sort_by_preference(&mut entries)?;
        let mut reader = self.reader(&entries)?;
        let ids = entries.iter().map(|entry| reader.read(entry)).collect::<Result<Vec<_>>>()?;
        Ok((reader.into_table(), ids))
    }

    /// The definition of a name with a given fingerprint: the one a profile or a plan was made with.
    pub fn layout_with_fingerprint(&self, name: &str, fingerprint: u64) -> Result<Layout> {
        let found = self.layouts(name)?.into_iter().find(|layout| layout.fingerprint() == fingerprint);
        found.with_context(|| {
            format!("{}: struct {name} has another layout here than where the profile was made", self.file())
        })
    }
}

impl DefinitionReader<'_, '_> {
    /// Reads a definition and all it holds by value.
    pub fn read(&mut self, entry: &TypeDefinition) -> Result<TypeId> {
        match (self, entry.source) {
            (Self::Dwarf(reader), DefinitionSource::Die(die)) => Ok(reader.read(die)?),
            (Self::Btf { reader, table, file }, DefinitionSource::Btf(id)) => {
                reader.read(id, table).with_context(|| (*file).to_owned())
            }
            _ => anyhow::bail!("{}: of another format", entry.name),
        }
    }

    /// The types read so far.
    pub fn table(&self) -> &TypeTable {
        match self {
            Self::Dwarf(reader) => reader.table(),
            Self::Btf { table, .. } => table,
        }
    }

    /// The table, when no more is to be read.
    pub fn into_table(self) -> TypeTable {
        match self {
            Self::Dwarf(reader) => reader.into_table(),
            Self::Btf { table, .. } => table,
        }
    }
}
