//! Types out of whatever file the user named.

use crate::btf::{self, Btf, BtfTypeId, Kind};
use crate::dwarf::{self, DebugSections, DieRef, Opened, TypeReader};
use crate::{Elf, Error, FileBytes};
use anyhow::{Context, Result};
use fieldline_layout::types::split_path;
use fieldline_layout::{Layout, TypeId, TypeTable};
use std::borrow::Cow;
use std::path::Path;

/// A format of debug info.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// DWARF.
    Dwarf,
    /// BTF.
    Btf,
}

/// Debug info of a file, of either format.
pub enum Types<'a, 's> {
    /// DWARF.
    Dwarf {
        /// The units read so far.
        dwarf: &'a Opened<'s>,
        /// BTF of the same file, if it tells how many definitions a name has.
        census: Option<&'a Btf<'a>>,
    },
    /// BTF.
    Btf {
        /// The section.
        btf: &'a Btf<'s>,
        /// The file's name, for messages.
        file: &'a str,
    },
}

/// One definition of a name.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Tag, or name of the typedef.
    pub name: Box<str>,
    /// Whether it is a typedef.
    pub is_typedef: bool,
    /// How many units define it alike; 0 where the format has no units.
    pub units: u32,
    /// Whether it is known only inside functions, classes or namespaces.
    pub is_nested: bool,
    source: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Die(DieRef),
    Btf(BtfTypeId),
}

impl Entry {
    /// The DIE it was found at, if the format has such.
    pub fn die(&self) -> Option<DieRef> {
        match self.source {
            Source::Die(die) => Some(die),
            Source::Btf(_) => None,
        }
    }
}

/// Reads entries into a table.
pub enum Reader<'a, 's> {
    /// Out of DWARF.
    Dwarf(TypeReader<'a, 's>),
    /// Out of BTF.
    Btf {
        /// What reads.
        reader: btf::Reader<'a, 's>,
        /// What was read.
        table: TypeTable,
        /// The file's name, for messages.
        file: &'a str,
    },
}

/// Opens a file's debug info and works on it.
pub fn with_types<T>(
    path: &Path,
    format: Option<Format>,
    base: Option<&Path>,
    work: impl FnOnce(&Types<'_, '_>) -> Result<T>,
) -> Result<T> {
    let file = FileBytes::open(path)?;
    if is_raw_btf(file.bytes()) {
        return with_btf(&file, file.bytes(), base, work);
    }
    let elf = Elf::parse(&file)?;
    let has_dwarf = elf.has_section(".debug_info") || elf.has_section(".zdebug_info");
    let use_btf = match format {
        Some(format) => format == Format::Btf,
        None => !has_dwarf && elf.has_section(".BTF"),
    };
    if !use_btf {
        let section = elf.section(".BTF")?;
        return with_dwarf(&elf, |dwarf| {
            let btf = section.as_deref().filter(|_| !dwarf::has_types_beyond_btf(dwarf.head()));
            let btf = btf.and_then(|bytes| btf::parse(bytes, None).ok());
            work(&Types::Dwarf { dwarf, census: btf.as_ref() })
        });
    }
    let section = elf.section(".BTF")?.ok_or_else(|| Error::Missing {
        file: elf.name().to_owned(),
        wanted: "BTF (.BTF)",
        hint: "; build with CONFIG_DEBUG_INFO_BTF=y, or read its DWARF with --debug-format dwarf".to_owned(),
    })?;
    with_btf(&file, &section, base, work)
}

/// BTF as it stands in /sys/kernel/btf begins with its magic number.
pub fn is_raw_btf(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x9f, 0xeb]) || bytes.starts_with(&[0xeb, 0x9f])
}

fn with_btf<T>(
    file: &FileBytes,
    bytes: &[u8],
    base: Option<&Path>,
    work: impl FnOnce(&Types<'_, '_>) -> Result<T>,
) -> Result<T> {
    let name = file.path().display().to_string();
    let parse = |name: &str, error| anyhow::Error::new(error).context(name.to_owned());
    let Some(base) = base else {
        let btf = btf::parse(bytes, None).map_err(|error| parse(&name, error))?;
        return work(&Types::Btf { btf: &btf, file: &name });
    };
    let base_name = base.display().to_string();
    let base_file = FileBytes::open(base)?;
    let base_bytes = if is_raw_btf(base_file.bytes()) {
        Cow::Borrowed(base_file.bytes())
    } else {
        Elf::parse(&base_file)?
            .section(".BTF")?
            .with_context(|| format!("{base_name}: no BTF in this file"))?
    };
    let base_btf = btf::parse(&base_bytes, None).map_err(|error| parse(&base_name, error))?;
    let btf = btf::parse(bytes, Some(&base_btf)).map_err(|error| parse(&name, error))?;
    work(&Types::Btf { btf: &btf, file: &name })
}

/// Opens a file's DWARF and works on it.
fn with_dwarf<T>(elf: &Elf<'_>, work: impl FnOnce(&Opened<'_>) -> Result<T>) -> Result<T> {
    let sup_file = dwarf::sections::open_alt_link(elf)?;
    let sup = sup_file.as_ref().map(Elf::parse).transpose()?;
    let sections = DebugSections::load(elf, sup.as_ref())?;
    work(&Opened::new(&sections)?)
}

impl<'a, 's> Types<'a, 's> {
    /// All definitions of a name.
    pub fn find(&self, name: &str) -> Result<Vec<Entry>> {
        Ok(self.find_many(&[name])?.pop().unwrap_or_default())
    }

    /// All definitions of each of some names.
    pub fn find_many(&self, names: &[&str]) -> Result<Vec<Vec<Entry>>> {
        let bare: Vec<&str> = names.iter().map(|name| split_path(name).1).collect();
        let mut found = match self {
            Self::Dwarf { dwarf, census } => find_in_dwarf(dwarf, *census, &bare)?,
            Self::Btf { btf, .. } => find_in_btf(btf, &bare),
        };
        for (name, entries) in names.iter().zip(&mut found) {
            if let (Some(path), _) = split_path(name) {
                let whole = self.whole_dwarf()?;
                entries.retain(|entry| {
                    whole.zip(entry.die()).is_some_and(|(dwarf, die)| is_in(dwarf, die, path))
                });
            }
        }
        Ok(found)
    }

    fn whole_dwarf(&self) -> Result<Option<&dwarf::Dwarf<'s>>> {
        match self {
            Self::Dwarf { dwarf, .. } => Ok(Some(dwarf.all()?)),
            Self::Btf { .. } => Ok(None),
        }
    }

    /// All definitions of the file.
    pub fn all(&self) -> Result<Vec<Entry>> {
        match self {
            Self::Dwarf { dwarf, .. } => Ok(dwarf::index(dwarf.all()?)?.into_iter().map(entry).collect()),
            Self::Btf { btf, .. } => {
                let all = btf.definitions();
                Ok(all.map(|found| btf_entry(found.name, found.kind == Kind::Typedef, found.id)).collect())
            }
        }
    }

    /// A reader of some entries, with an empty table.
    pub fn reader<'e>(&self, entries: impl IntoIterator<Item = &'e Entry>) -> Result<Reader<'a, 's>> {
        Ok(match self {
            Self::Dwarf { dwarf, .. } => {
                let mut dies = entries.into_iter().filter_map(Entry::die);
                let are_early = dies.all(|die| dwarf.is_in_head(die));
                Reader::Dwarf(TypeReader::new(if are_early { dwarf.head() } else { dwarf.all()? }))
            }
            Self::Btf { btf, file } => {
                Reader::Btf { reader: btf::Reader::new(btf), table: TypeTable::new(btf.target()), file }
            }
        })
    }

    /// The source file of the unit an entry was found in first, if the format has units.
    pub fn unit_name(&self, entry: &Entry) -> Result<Option<String>> {
        match (self, entry.source) {
            (Self::Dwarf { dwarf, .. }, Source::Die(die)) => Ok(Some(dwarf.all()?.unit_name(die.unit)?)),
            _ => Ok(None),
        }
    }

    /// The file, for messages.
    pub fn file(&self) -> &str {
        match self {
            Self::Dwarf { dwarf, .. } => dwarf.file(),
            Self::Btf { file, .. } => file,
        }
    }

    /// Whether alignments are not stated and must be inferred.
    pub fn is_btf(&self) -> bool {
        matches!(self, Self::Btf { .. })
    }

    /// All definitions of a name as layouts, the one most units share first.
    pub fn layouts(&self, name: &str) -> Result<Vec<Layout>> {
        let mut entries = self.find(name)?;
        if entries.is_empty() {
            return Err(not_found(self, name)?);
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.units));
        let mut reader = self.reader(&entries)?;
        let mut layouts = Vec::new();
        for entry in &entries {
            let id = reader.read(entry)?;
            layouts.extend(Layout::of(reader.table(), id));
        }
        Ok(layouts)
    }

    /// The definition of a name with a given fingerprint: the one a profile or a plan was made with.
    pub fn layout_like(&self, name: &str, fingerprint: u64) -> Result<Layout> {
        let found = self.layouts(name)?.into_iter().find(|layout| layout.fingerprint() == fingerprint);
        found.with_context(|| {
            format!("{}: struct {name} has another layout here than where the profile was made", self.file())
        })
    }
}

/// Whether a type stands in some namespaces, of which outer ones may be left out.
fn is_in(dwarf: &dwarf::Dwarf<'_>, die: DieRef, path: &str) -> bool {
    let whole = dwarf.path_of(die);
    let rest = whole.as_deref().and_then(|whole| whole.strip_suffix(path));
    rest.is_some_and(|front| front.is_empty() || front.ends_with("::"))
}

/// `struct foo` and `foo` mean the same.
pub fn bare(name: &str) -> &str {
    ["struct ", "union ", "class "].iter().find_map(|kind| name.strip_prefix(kind)).unwrap_or(name).trim()
}

fn entry(definition: dwarf::Definition) -> Entry {
    Entry {
        name: definition.name,
        is_typedef: definition.is_typedef,
        units: definition.units,
        is_nested: definition.is_nested,
        source: Source::Die(definition.die),
    }
}

fn find_in_btf(btf: &Btf<'_>, names: &[&str]) -> Vec<Vec<Entry>> {
    let is_typedef = |id| btf.kind(id) == Some(Kind::Typedef);
    let found = names.iter().zip(btf.find_many(names)).map(|(name, found)| {
        let entries = found.into_iter().map(|id| btf_entry(name.as_bytes(), is_typedef(id), id));
        prefer_tags(entries.collect())
    });
    found.collect()
}

fn find_in_dwarf(dwarf: &Opened<'_>, census: Option<&Btf<'_>>, names: &[&str]) -> Result<Vec<Vec<Entry>>> {
    let known: Vec<Census> = match census {
        Some(btf) => btf.find_many(names).iter().map(|found| census_of(btf, found)).collect(),
        None => vec![Census::Unknown; names.len()],
    };
    let of = |wanted| -> Vec<usize> { (0..names.len()).filter(|name| known[*name] == wanted).collect() };
    let texts = |of: &[usize]| -> Vec<&str> { of.iter().map(|name| names[*name]).collect() };
    let mut found: Vec<Vec<Entry>> = vec![Vec::new(); names.len()];
    let single = of(Census::OneDefinition);
    for (name, first) in single.iter().zip(dwarf.find_first_many(&texts(&single))?) {
        found[*name].extend(first.map(entry));
    }
    let others = of(Census::Unknown);
    if !others.is_empty() {
        for (name, all) in others.iter().zip(dwarf::find_many(dwarf.all()?, &texts(&others))?) {
            found[*name].extend(all.into_iter().map(entry));
        }
    }
    let rest: Vec<usize> = (0..names.len()).filter(|name| found[*name].is_empty()).collect();
    for (name, die) in rest.iter().zip(dwarf.find_typedefs(&texts(&rest))?) {
        if let Some(die) = die {
            found[*name].extend(typedef_in_dwarf(dwarf, names[*name], die)?);
        }
    }
    Ok(found)
}

/// A typedef, if it is one of a struct (that has a tag of its own).
fn typedef_in_dwarf(dwarf: &Opened<'_>, name: &str, die: DieRef) -> Result<Option<Entry>> {
    let source = Source::Die(die);
    let found = Entry { name: name.into(), is_typedef: true, units: 0, is_nested: false, source };
    let head = if dwarf.is_in_head(die) { dwarf.head() } else { dwarf.all()? };
    let mut reader = TypeReader::new(head);
    let id = reader.read(die)?;
    Ok(reader.table().aggregate(id).is_some().then_some(found))
}

/// How many definitions of a name there are, as far as BTF tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Census {
    /// One struct or union, by tag or as a typedef of one without.
    OneDefinition,
    /// One typedef of a struct or union that has a tag of its own.
    OneTypedef,
    /// Several, or none.
    Unknown,
}

/// What BTF knows of a name. The kernel's BTF is made from all its DWARF and joins definitions only if they are equal,
/// so if it has one, DWARF has one too, though in many units.
fn census_of(btf: &Btf<'_>, found: &[BtfTypeId]) -> Census {
    let mut behind = found.iter().map(|id| btf.aggregate_behind(*id));
    let Some(Some(only)) = behind.next() else { return Census::Unknown };
    let is_tag = found.contains(&only) || btf.name(only).is_none();
    match behind.all(|other| other == Some(only)) {
        true if is_tag => Census::OneDefinition,
        true if found.len() == 1 => Census::OneTypedef,
        _ => Census::Unknown,
    }
}

fn btf_entry(name: &[u8], is_typedef: bool, id: BtfTypeId) -> Entry {
    let name = String::from_utf8_lossy(name).into_owned().into_boxed_str();
    Entry { name, is_typedef, units: 0, is_nested: false, source: Source::Btf(id) }
}

/// A tag and a typedef of the same name nearly always mean the same struct: the tag stands for both.
fn prefer_tags(entries: Vec<Entry>) -> Vec<Entry> {
    let has_tag = entries.iter().any(|entry| !entry.is_typedef);
    entries.into_iter().filter(|entry| !has_tag || !entry.is_typedef).collect()
}

impl Reader<'_, '_> {
    /// Reads a definition and all it holds by value.
    pub fn read(&mut self, entry: &Entry) -> Result<TypeId> {
        match (self, entry.source) {
            (Self::Dwarf(reader), Source::Die(die)) => Ok(reader.read(die)?),
            (Self::Btf { reader, table, file }, Source::Btf(id)) => {
                reader.read(id, table).with_context(|| (*file).to_owned())
            }
            _ => anyhow::bail!("{}: of another format", entry.name),
        }
    }

    /// What was read so far.
    pub fn table(&self) -> &TypeTable {
        match self {
            Self::Dwarf(reader) => reader.table(),
            Self::Btf { table, .. } => table,
        }
    }

    /// The same, for good.
    pub fn into_table(self) -> TypeTable {
        match self {
            Self::Dwarf(reader) => reader.into_table(),
            Self::Btf { table, .. } => table,
        }
    }
}

/// Says that a name is not there, and which near it are.
pub fn not_found(types: &Types<'_, '_>, name: &str) -> Result<anyhow::Error> {
    let all = types.all()?;
    let mut near: Vec<(usize, &str)> = all
        .iter()
        .map(|entry| (distance(name, &entry.name), entry.name.as_ref()))
        .filter(|(distance, candidate)| *distance <= name.len() / 3 + 1 || candidate.contains(name))
        .collect();
    near.sort_unstable();
    near.dedup();
    let near: Vec<&str> = near.into_iter().map(|(_, name)| name).take(5).collect();
    let hint = if near.is_empty() { String::new() } else { format!("; near names: {}", near.join(", ")) };
    let file = types.file();
    Ok(anyhow::anyhow!("{file}: no definition of a struct, union or class '{name}' in its debug info{hint}"))
}

/// Edits from one name to another (Levenshtein), in bytes.
pub fn distance(left: &str, right: &str) -> usize {
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
    fn a_keyword_in_front_of_the_name_is_fine() {
        assert_eq!(bare("struct run_queue"), "run_queue");
        assert_eq!(bare("run_queue"), "run_queue");
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("run_queue", "run_queue"), 0);
        assert_eq!(distance("runqueue", "run_queue"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
