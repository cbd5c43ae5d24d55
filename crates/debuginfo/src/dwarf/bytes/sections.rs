//! The DWARF sections of a file and of the supplementary file `dwz` moved common DIEs to.

use crate::elf::Elf;
use crate::error::{Error, Result};
use crate::separate_debug::describe_missing;
use fieldline_layout::types::TargetMachine;
use gimli::{EndianSlice, RunTimeEndian, SectionId};
use std::borrow::Cow;

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
    /// Loads the sections; `sup` is from [`crate::separate_debug::open_alt_link`]. Fails if there is no .debug_info, or a section is broken.
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
    let hint = describe_missing(elf);
    let hint =
        if elf.has_section(".BTF") { format!("; it has BTF: use --debug-format btf{hint}") } else { hint };
    Error::Missing { file: elf.name().to_owned(), wanted: "debug info (.debug_info)", hint }
}
