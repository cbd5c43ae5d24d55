//! Definitions of names.

use super::open::Types;
use crate::btf::{Btf, BtfDefinition, BtfKind, BtfTypeId};
use crate::dwarf::{self, DieRef, LazyDwarf, TypeReader};
use anyhow::Result;
use fieldline_files::printable::printable_bytes;
use fieldline_layout::types::split_namespace;

/// One definition of a name.
#[derive(Clone, Debug)]
pub struct TypeDefinition {
    /// Tag, or name of the typedef.
    pub name: Box<str>,
    /// Whether it is a typedef.
    pub is_typedef: bool,
    /// How many units have an equal definition; `None` where they are not counted, as in BTF.
    pub units: Option<u32>,
    /// Whether it is known only inside functions, classes or namespaces.
    pub is_nested: bool,
    pub(super) source: DefinitionSource,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum DefinitionSource {
    Die(DieRef),
    Btf(BtfTypeId),
}

impl TypeDefinition {
    /// The DIE it was found at, if the format has such.
    pub fn die(&self) -> Option<DieRef> {
        match self.source {
            DefinitionSource::Die(die) => Some(die),
            DefinitionSource::Btf(_) => None,
        }
    }
}

impl Types<'_, '_> {
    /// All definitions of a name.
    pub fn find(&self, name: &str) -> Result<Vec<TypeDefinition>> {
        Ok(self.find_many(&[name])?.pop().unwrap_or_default())
    }

    /// All definitions of each of some names.
    pub fn find_many(&self, names: &[&str]) -> Result<Vec<Vec<TypeDefinition>>> {
        let bare: Vec<&str> = names.iter().map(|name| split_namespace(name).1).collect();
        let mut found = match self {
            Self::Dwarf { dwarf, companion_btf } => find_in_dwarf(dwarf, *companion_btf, &bare)?,
            Self::Btf { btf, .. } => find_in_btf(btf, &bare),
        };
        for (name, entries) in names.iter().zip(&mut found) {
            if let (Some(path), _) = split_namespace(name) {
                let dwarf = match self {
                    Self::Dwarf { dwarf, .. } => Some(dwarf.all()?),
                    Self::Btf { .. } => None,
                };
                let is_meant = |(dwarf, die)| is_in_namespace(dwarf, die, path);
                entries.retain(|entry| dwarf.zip(entry.die()).is_some_and(is_meant));
            }
        }
        Ok(found)
    }

    /// All definitions of the file.
    pub fn all(&self) -> Result<Vec<TypeDefinition>> {
        match self {
            Self::Dwarf { dwarf, .. } => {
                Ok(dwarf::index_definitions(dwarf.all()?)?.into_iter().map(entry_from_dwarf).collect())
            }
            Self::Btf { btf, .. } => {
                let entry = |found: BtfDefinition<'_>| {
                    btf_entry(found.name, found.kind == BtfKind::Typedef, found.id)
                };
                Ok(btf.definitions().map(entry).collect())
            }
        }
    }

    /// The source file of the unit an entry was found in first, if the format has units.
    pub fn unit_name(&self, entry: &TypeDefinition) -> Result<Option<String>> {
        match (self, entry.source) {
            (Self::Dwarf { dwarf, .. }, DefinitionSource::Die(die)) => {
                Ok(Some(dwarf.all()?.unit_name(die.unit)?))
            }
            _ => Ok(None),
        }
    }
}

/// Whether a type stands in some namespaces, of which outer ones may be left out.
fn is_in_namespace(dwarf: &dwarf::Dwarf<'_>, die: DieRef, path: &str) -> bool {
    let whole = dwarf.path_of(die);
    let rest = whole.as_deref().and_then(|whole| whole.strip_suffix(path));
    rest.is_some_and(|front| front.is_empty() || front.ends_with("::"))
}

fn entry_from_dwarf(definition: dwarf::DwarfDefinition) -> TypeDefinition {
    TypeDefinition {
        name: definition.name,
        is_typedef: definition.is_typedef,
        units: Some(definition.units),
        is_nested: definition.is_nested,
        source: DefinitionSource::Die(definition.die),
    }
}

fn find_in_btf(btf: &Btf<'_>, names: &[&str]) -> Vec<Vec<TypeDefinition>> {
    let found = names.iter().zip(btf.find_many(names)).map(|(name, found)| {
        let is_typedef = |id: &BtfTypeId| btf.kind(*id) == Some(BtfKind::Typedef);
        // A tag and a typedef of the same name nearly always mean the same struct: the tag stands for both.
        let has_tag = !found.iter().all(is_typedef);
        let entry = |id| btf_entry(name.as_bytes(), is_typedef(&id), id);
        found.into_iter().map(entry).filter(|entry| !has_tag || !entry.is_typedef).collect()
    });
    found.collect()
}

fn find_in_dwarf(
    dwarf: &LazyDwarf<'_>,
    companion: Option<&Btf<'_>>,
    names: &[&str],
) -> Result<Vec<Vec<TypeDefinition>>> {
    let known: Vec<DefinitionCount> = match companion {
        Some(btf) => btf.find_many(names).iter().map(|found| count_definitions(btf, found)).collect(),
        None => vec![DefinitionCount::Unknown; names.len()],
    };
    let all = 0..names.len();
    let names_with = |count| -> Vec<usize> { all.clone().filter(|name| known[*name] == count).collect() };
    let texts = |indices: &[usize]| -> Vec<&str> { indices.iter().map(|name| names[*name]).collect() };
    let mut found: Vec<Vec<TypeDefinition>> = vec![Vec::new(); names.len()];
    let single = names_with(DefinitionCount::OneDefinition);
    for (name, first) in single.iter().zip(dwarf.find_first_many(&texts(&single))?) {
        found[*name].extend(first.map(entry_from_dwarf));
    }
    let others = names_with(DefinitionCount::Unknown);
    if !others.is_empty() {
        for (name, all) in others.iter().zip(dwarf::find_many(dwarf.all()?, &texts(&others))?) {
            found[*name].extend(all.into_iter().map(entry_from_dwarf));
        }
    }
    let rest: Vec<usize> = all.filter(|name| found[*name].is_empty()).collect();
    for (name, die) in rest.iter().zip(dwarf.find_typedefs(&texts(&rest))?) {
        if let Some(die) = die {
            found[*name].extend(typedef_in_dwarf(dwarf, names[*name], die)?);
        }
    }
    Ok(found)
}

/// A typedef, if it is one of a struct (that has a tag of its own).
fn typedef_in_dwarf(dwarf: &LazyDwarf<'_>, name: &str, die: DieRef) -> Result<Option<TypeDefinition>> {
    let source = DefinitionSource::Die(die);
    let found = TypeDefinition { name: name.into(), is_typedef: true, units: None, is_nested: false, source };
    let mut reader = TypeReader::new(dwarf.units_for_die(die)?);
    let id = reader.read(die)?;
    Ok(reader.table().aggregate(id).is_some().then_some(found))
}

/// How many definitions of a name there are, as far as BTF has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DefinitionCount {
    /// One struct or union, by tag or as a typedef of one without.
    OneDefinition,
    /// One typedef of a struct or union that has a tag of its own.
    OneTypedef,
    /// Several, or none.
    Unknown,
}

/// The number of definitions of a name. The kernel's BTF is made from all its DWARF and joins only equal definitions,
/// so if it has one, DWARF has one too, though in many units.
fn count_definitions(btf: &Btf<'_>, found: &[BtfTypeId]) -> DefinitionCount {
    let mut aggregates = found.iter().map(|id| btf.resolve_aggregate(*id));
    let Some(Some(only)) = aggregates.next() else { return DefinitionCount::Unknown };
    let is_tag = found.contains(&only) || btf.name(only).is_none();
    match aggregates.all(|other| other == Some(only)) {
        true if is_tag => DefinitionCount::OneDefinition,
        true if found.len() == 1 => DefinitionCount::OneTypedef,
        _ => DefinitionCount::Unknown,
    }
}

fn btf_entry(name: &[u8], is_typedef: bool, id: BtfTypeId) -> TypeDefinition {
    let name = printable_bytes(name).into_owned().into_boxed_str();
    TypeDefinition { name, is_typedef, units: None, is_nested: false, source: DefinitionSource::Btf(id) }
}
