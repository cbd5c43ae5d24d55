//! The DWARF sections of a file and of the supplementary file `dwz` moved common DIEs to.

use crate::elf::{Elf, FileBytes, hex};
use crate::error::{Error, Result};
use fieldline_layout::types::TargetMachine;
use gimli::{EndianSlice, RunTimeEndian, SectionId};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// gimli's reader over mapped or decompressed bytes, fixed here for the whole crate.
pub(crate) type R<'d> = EndianSlice<'d, RunTimeEndian>;

/// Section contents, borrowed from the file where they are neither compressed nor relocated.
pub struct DebugSections<'d> {
    main: gimli::DwarfSections<Cow<'d, [u8]>>,
    sup: Option<gimli::DwarfSections<Cow<'d, [u8]>>>,
    endian: RunTimeEndian,
    pointer_size: u8,
    pub(crate) file: String,
}

impl<'d> DebugSections<'d> {
    /// Loads the sections; `sup` is from [`open_alt_link`]. Fails if there is no .debug_info, or a section is broken.
    pub fn load(elf: &Elf<'d>, sup: Option<&Elf<'d>>) -> Result<Self> {
        if !elf.has_dwarf() {
            return Err(missing(elf));
        }
        let endian = if elf.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        Ok(Self {
            main: load_sections(elf)?,
            sup: sup.map(load_sections).transpose()?,
            endian,
            pointer_size: elf.pointer_size(),
            file: elf.name().to_owned(),
        })
    }

    pub(crate) fn target(&self) -> TargetMachine {
        TargetMachine { pointer_size: self.pointer_size, big_endian: self.endian == RunTimeEndian::Big }
    }

    pub(crate) fn borrow(&self) -> gimli::Dwarf<R<'_>> {
        self.main.borrow_with_sup(self.sup.as_ref(), |section| EndianSlice::new(section, self.endian))
    }
}

fn load_sections<'d>(elf: &Elf<'d>) -> Result<gimli::DwarfSections<Cow<'d, [u8]>>> {
    gimli::DwarfSections::load(|id: SectionId| Ok(elf.debug_section(id.name())?.unwrap_or_default()))
}

fn missing(elf: &Elf<'_>) -> Error {
    let build_id = elf.build_id().map(hex).filter(|id| id.len() > 2);
    let hint = match build_id {
        Some(id) => format!(
            "; look for /usr/lib/debug/.build-id/{}/{}.debug (Debian: a -dbg or -dbgsym package; Fedora: debuginfo-install; \
             anywhere: debuginfod-find debuginfo {id}), or build with CONFIG_DEBUG_INFO or -g",
            &id[..2],
            &id[2..]
        ),
        None => "; build with CONFIG_DEBUG_INFO or -g".to_owned(),
    };
    let hint =
        if elf.has_section(".BTF") { format!("; it has BTF: use --debug-format btf{hint}") } else { hint };
    Error::Missing { file: elf.name().to_owned(), wanted: "debug info (.debug_info)", hint }
}

/// Opens the supplementary file that .gnu_debugaltlink names: relative to the file, or by build id.
/// Fails if the link is there and no file is.
pub fn open_alt_link(elf: &Elf<'_>) -> Result<Option<FileBytes>> {
    let Some((name, id)) = elf.alt_link() else { return Ok(None) };
    let name = PathBuf::from(String::from_utf8_lossy(name).into_owned());
    let id = hex(id);
    let beside = elf.path().parent().unwrap_or(Path::new(".")).join(&name);
    let by_id = id.get(..2).map(|head| format!("/usr/lib/debug/.build-id/{head}/{}.debug", &id[2..]));
    let mut candidates = [Some(beside), by_id.map(PathBuf::from)].into_iter().flatten();
    if let Some(path) = candidates.find(|path| path.is_file()) {
        return FileBytes::open(&path).map(Some);
    }
    Err(Error::Missing {
        file: elf.name().to_owned(),
        wanted: "supplementary debug file",
        hint: format!("; .gnu_debugaltlink names {} (build id {id})", name.display()),
    })
}
