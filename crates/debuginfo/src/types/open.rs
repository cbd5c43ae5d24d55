//! A file's debug info, of whichever format it has.

use crate::btf::{self, Btf};
use crate::dwarf::{self, DebugSections, LazyDwarf};
use crate::{Elf, Error, FileBytes, separate_debug};
use anyhow::{Context, Result};
use std::borrow::Cow;
use std::path::Path;

/// A format of debug info.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugFormat {
    /// DWARF.
    Dwarf,
    /// BTF.
    Btf,
}

/// Debug info of a file, of either format.
#[expect(missing_docs, reason = "the words of each variant say what its fields are")]
pub enum Types<'a, 's> {
    /// DWARF: the units read so far, and BTF of the same file, if it tells how many definitions a name has.
    Dwarf { dwarf: &'a LazyDwarf<'s>, companion_btf: Option<&'a Btf<'a>> },
    /// BTF: the section, and the file's name for messages.
    Btf { btf: &'a Btf<'s>, file: &'a str },
}

impl Types<'_, '_> {
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
}

/// Opens a file's debug info and works on it.
///
/// # Errors
/// If the file can't be read, has no debug info of this format, or the work fails.
pub fn with_types<T>(
    path: &Path,
    format: Option<DebugFormat>,
    base: Option<&Path>,
    work: impl FnOnce(&Types<'_, '_>) -> Result<T>,
) -> Result<T> {
    let mut work = Some(work);
    let mut result = None;
    open(path, format, base, &mut |types| {
        result = work.take().map(|work| work(types)).transpose()?;
        Ok(())
    })?;
    result.with_context(|| format!("{}: nothing was read", path.display()))
}

/// Work on opened debug info. One type for all work, so that opening is compiled once.
type Work<'w> = dyn FnMut(&Types<'_, '_>) -> Result<()> + 'w;

fn open(path: &Path, format: Option<DebugFormat>, base: Option<&Path>, work: &mut Work<'_>) -> Result<()> {
    let file = FileBytes::open(path)?;
    if is_raw_btf(file.bytes()) {
        return with_btf(&file, file.bytes(), base, work);
    }
    let elf = Elf::parse(&file)?;
    let is_btf_asked = format == Some(DebugFormat::Btf) || base.is_some();
    let separate = if is_btf_asked { None } else { find_separate(&elf, format)? };
    let has_only_btf = || !elf.has_dwarf() && separate.is_none() && elf.has_section(".BTF");
    if !format.map_or_else(has_only_btf, |format| format == DebugFormat::Btf) {
        let section = elf.section(".BTF")?;
        let debug = separate.as_ref().map(Elf::parse).transpose()?;
        return with_dwarf(debug.as_ref().unwrap_or(&elf), &mut |dwarf| {
            let btf = section.as_deref().filter(|_| !dwarf::has_types_beyond_btf(dwarf.first_units()));
            let btf = btf.and_then(|bytes| btf::parse(bytes, None).ok());
            work(&Types::Dwarf { dwarf, companion_btf: btf.as_ref() })
        });
    }
    let section = elf.section(".BTF")?.ok_or_else(|| Error::Missing {
        file: elf.name().to_owned(),
        wanted: "BTF (.BTF)",
        hint: "; build with CONFIG_DEBUG_INFO_BTF=y, or read its DWARF with --debug-format dwarf".to_owned(),
    })?;
    with_btf(&file, &section, base, work)
}

/// The file with the DWARF of one that lacks it. BTF will do in its place, unless DWARF is asked for: then files of other
/// builds don't count.
fn find_separate(elf: &Elf<'_>, format: Option<DebugFormat>) -> Result<Option<FileBytes>> {
    match separate_debug::open_debug_file(elf) {
        Err(_) if format.is_none() && elf.has_section(".BTF") => Ok(None),
        found => found,
    }
}

/// The formats of debug info of an ELF file, those in a separate file included: whether it has DWARF, and whether BTF.
///
/// # Errors
/// If there is neither, and the separate files found are of other programs or can't be read.
pub fn formats(elf: &Elf<'_>) -> Result<(bool, bool)> {
    let has_dwarf = elf.has_dwarf() || find_separate(elf, None)?.is_some();
    Ok((has_dwarf, elf.has_section(".BTF")))
}

/// BTF as it stands in /sys/kernel/btf begins with its magic number.
pub fn is_raw_btf(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x9f, 0xeb]) || bytes.starts_with(&[0xeb, 0x9f])
}

fn with_btf(file: &FileBytes, bytes: &[u8], base: Option<&Path>, work: &mut Work<'_>) -> Result<()> {
    let name = file.path().display().to_string();
    let Some(base) = base else {
        let btf = btf::parse(bytes, None).with_context(|| name.clone())?;
        return work(&Types::Btf { btf: &btf, file: &name });
    };
    let base_name = base.display().to_string();
    let base_file = FileBytes::open(base)?;
    let base_bytes = if is_raw_btf(base_file.bytes()) {
        Cow::Borrowed(base_file.bytes())
    } else {
        let section = Elf::parse(&base_file)?.section(".BTF")?;
        section.with_context(|| format!("{base_name}: no BTF in this file"))?
    };
    let base_btf = btf::parse(&base_bytes, None).with_context(|| base_name.clone())?;
    let btf = btf::parse(bytes, Some(&base_btf)).with_context(|| name.clone())?;
    work(&Types::Btf { btf: &btf, file: &name })
}

/// Opens a file's DWARF and works on it.
fn with_dwarf(elf: &Elf<'_>, work: &mut dyn FnMut(&LazyDwarf<'_>) -> Result<()>) -> Result<()> {
    let sup_file = separate_debug::open_alt_link(elf)?;
    let sup = sup_file.as_ref().map(Elf::parse).transpose()?;
    let sections = DebugSections::load(elf, sup.as_ref())?;
    work(&LazyDwarf::new(&sections)?)
}
