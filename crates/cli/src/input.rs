//! Types out of whatever file the user named.

use crate::args::DebugFormat;
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::dwarf::{self, DebugSections, Dwarf, TypeReader};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_layout::{Layout, TypeId, TypeTable};
use std::path::Path;

/// Debug info of a file, of either format.
pub(crate) enum Types<'a, 's> {
    Dwarf(&'a Dwarf<'s>),
}

/// One definition of a name.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: Box<str>,
    pub(crate) is_typedef: bool,
    /// How many units define it alike; 0 where the format has no units.
    pub(crate) units: u32,
    source: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Die(dwarf::DieRef),
}

/// Reads entries into a table.
pub(crate) enum Reader<'a, 's> {
    Dwarf(TypeReader<'a, 's>),
}

/// Opens a file's debug info and works on it.
pub(crate) fn with_types<T>(
    path: &Path,
    format: Option<DebugFormat>,
    base: Option<&Path>,
    work: impl FnOnce(&Types<'_, '_>) -> Result<T>,
) -> Result<T> {
    let file = FileBytes::open(path)?;
    let _ = base;
    if format == Some(DebugFormat::Btf) {
        bail!("BTF is not read yet");
    }
    let elf = Elf::parse(&file)?;
    with_dwarf(&elf, |dwarf| work(&Types::Dwarf(dwarf)))
}

/// Opens a file's DWARF and works on it.
pub(crate) fn with_dwarf<T>(elf: &Elf<'_>, work: impl FnOnce(&Dwarf<'_>) -> Result<T>) -> Result<T> {
    let sup_file = dwarf::sections::open_alt_link(elf)?;
    let sup = sup_file.as_ref().map(Elf::parse).transpose()?;
    let sections = DebugSections::load(elf, sup.as_ref())?;
    let dwarf = Dwarf::new(&sections)?;
    work(&dwarf)
}

impl<'a, 's> Types<'a, 's> {
    /// All definitions of a name.
    pub(crate) fn find(&self, name: &str) -> Result<Vec<Entry>> {
        match self {
            Self::Dwarf(dwarf) => Ok(dwarf::find(dwarf, name)?.into_iter().map(entry).collect()),
        }
    }

    /// All definitions of the file.
    pub(crate) fn all(&self) -> Result<Vec<Entry>> {
        match self {
            Self::Dwarf(dwarf) => Ok(dwarf::index(dwarf)?.into_iter().map(entry).collect()),
        }
    }

    /// A reader with an empty table.
    pub(crate) fn reader(&self) -> Reader<'a, 's> {
        match self {
            Self::Dwarf(dwarf) => Reader::Dwarf(TypeReader::new(dwarf)),
        }
    }

    /// The source file of the unit an entry was found in first, if the format has units.
    pub(crate) fn unit_name(&self, entry: &Entry) -> Result<Option<String>> {
        match (self, entry.source) {
            (Self::Dwarf(dwarf), Source::Die(die)) => Ok(Some(dwarf.unit_name(die.unit)?)),
        }
    }

    /// The file, for messages.
    pub(crate) fn file(&self) -> &str {
        match self {
            Self::Dwarf(dwarf) => dwarf.file(),
        }
    }

    /// The one definition of a name as a layout.
    pub(crate) fn layout(&self, name: &str) -> Result<Layout> {
        let entries = self.find(name)?;
        let entry = match entries.as_slice() {
            [] => return Err(not_found(self, name)?),
            [entry] => entry,
            [first, ..] => most_used(&entries).unwrap_or(first),
        };
        let mut reader = self.reader();
        let id = reader.read(entry)?;
        Layout::of(reader.table(), id).with_context(|| format!("{}: {name} is no struct", self.file()))
    }
}

/// Of several definitions of a name, the one most units share.
fn most_used(entries: &[Entry]) -> Option<&Entry> {
    let mut best = entries.first()?;
    for entry in entries {
        if entry.units > best.units {
            best = entry;
        }
    }
    Some(best)
}

fn entry(definition: dwarf::Definition) -> Entry {
    Entry {
        name: definition.name,
        is_typedef: definition.is_typedef,
        units: definition.units,
        source: Source::Die(definition.die),
    }
}

impl Reader<'_, '_> {
    /// Reads a definition and all it holds by value.
    pub(crate) fn read(&mut self, entry: &Entry) -> Result<TypeId> {
        match (self, entry.source) {
            (Self::Dwarf(reader), Source::Die(die)) => Ok(reader.read(die)?),
        }
    }

    /// What was read so far.
    pub(crate) fn table(&self) -> &TypeTable {
        match self {
            Self::Dwarf(reader) => reader.table(),
        }
    }
}

/// Says that a name is not there, and which near it are.
pub(crate) fn not_found(types: &Types<'_, '_>, name: &str) -> Result<anyhow::Error> {
    let all = types.all()?;
    let mut near: Vec<(usize, &str)> = all
        .iter()
        .map(|entry| (distance(name, &entry.name), entry.name.as_ref()))
        .filter(|(distance, candidate)| *distance <= name.len() / 3 + 1 || candidate.contains(name))
        .collect();
    near.sort_unstable();
    near.dedup();
    let near: Vec<&str> = near.into_iter().map(|(_, name)| name).take(5).collect();
    let hint = if near.is_empty() {
        String::new()
    } else {
        format!("; near names: {}", near.join(", "))
    };
    let file = types.file();
    Ok(anyhow::anyhow!(
        "{file}: no definition of a struct, union or class '{name}' in its debug info{hint}"
    ))
}

/// Edits from one name to another (Levenshtein), in bytes.
fn distance(left: &str, right: &str) -> usize {
    let right = right.as_bytes();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, byte) in left.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (place, other) in right.iter().enumerate() {
            let cost = diagonal + usize::from(byte != *other);
            diagonal = row[place + 1];
            row[place + 1] = cost.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("cfs_rq", "cfs_rq"), 0);
        assert_eq!(distance("cfsrq", "cfs_rq"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
