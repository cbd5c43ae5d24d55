//! Kernel modules linked as the kernel would load them.
//!
//! A module is a relocatable file: each section begins at address 0, and code refers to data by relocations. The kernel
//! lays its sections out one behind the other, code first, and applies them (`layout_sections` in
//! kernel/module/main.c, `apply_relocate_add` in kernel/module.c of an architecture). Linked here at a fixed address, the file
//! reads like any program; symbols that the module takes from the kernel get addresses that nothing else has.

mod relocation;

use crate::elf::{self, FileBytes, read_uint, write_uint};
use crate::error::Result;
use object::{Object, ObjectSection};
use relocation::RelocationMachine;

/// Where modules are linked: in the gigabytes in which 32-bit references of the kernel's code model reach.
const BASE: u64 = 0xffff_ffff_c000_0000;
/// Bytes between the addresses of external symbols, so that offsets into them don't meet.
const EXTERNAL_SIZE: u64 = 4096;
/// Sections of data begin on a page.
const PAGE: u64 = 4096;

const FILE_HEADER: usize = 64;
const SECTION_HEADER: usize = 64;
const SYMBOL: usize = 24;
const RELOCATION: usize = 24;
const ET_REL: u64 = 1;
const ET_EXEC: u64 = 2;
const SHT_NULL: u64 = 0;
const SHT_SYMTAB: u64 = 2;
const SHT_RELA: u64 = 4;
const SHT_NOBITS: u64 = 8;
const SHF_ALLOC: u64 = 2;
const SHF_EXECINSTR: u64 = 4;
const SHF_COMPRESSED: u64 = 0x800;
const SHN_UNDEF: u64 = 0;
const SHN_LORESERVE: u64 = 0xff00;
const STT_FUNC: u8 = 2;
const STT_OBJECT: u8 = 1;
const STB_GLOBAL: u8 = 1 << 4;

/// The section whose symbols each CPU has a copy of.
const PER_CPU: &str = ".data..percpu";

/// A module linked; `None` if the file is none, or of a machine whose relocations are not known here. Fails if its headers
/// or tables lie outside of it, or a compressed section is broken.
pub fn link_module(file: &FileBytes) -> Result<Option<FileBytes>> {
    let name = file.path().display().to_string();
    if let Some(kind) = compression_tool(file.bytes()) {
        let what = format!("a compressed file; unpack it first ({kind})");
        return Err(elf::elf_error(&name, "ELF header", what));
    }
    let Some(mut module) = RelocatableModule::parse(file.bytes()) else { return Ok(None) };
    let broken = |what: &str| elf::elf_error(&name, "kernel module", what);
    module.unpack(file.bytes()).map_err(|what| broken(&what))?;
    module.assign_addresses();
    module.link().ok_or_else(|| broken("its symbols or relocations lie outside the file"))?;
    module.write_headers();
    Ok(Some(FileBytes::from_vec(&name, module.bytes)))
}

/// The command that unpacks a compressed module.
fn compression_tool(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Some("xz -d"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd -d"),
        [0x1f, 0x8b, ..] => Some("gzip -d"),
        _ => None,
    }
}

/// A section header (ELF-64 object file format, section 3).
#[derive(Clone, Debug)]
struct Section {
    name: String,
    kind: u64,
    flags: u64,
    address: u64,
    offset: u64,
    size: u64,
    link: u64,
    info: u64,
    align: u64,
}

impl Section {
    fn is_loaded(&self) -> bool {
        self.flags & SHF_ALLOC != 0
    }

    fn is_code(&self) -> bool {
        self.flags & SHF_EXECINSTR != 0
    }

    /// Freed once the module runs.
    fn is_init(&self) -> bool {
        self.name.starts_with(".init")
    }
}

struct RelocatableModule {
    machine: RelocationMachine,
    bytes: Vec<u8>,
    headers: usize,
    sections: Vec<Section>,
}

impl RelocatableModule {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let is_elf = bytes.starts_with(b"\x7fELF\x02\x01");
        if !is_elf || get_uint(bytes, 16, 2)? != ET_REL {
            return None;
        }
        let machine = RelocationMachine::from_number(get_uint(bytes, 18, 2)?)?;
        let headers = usize::try_from(get_uint(bytes, 40, 8)?).ok()?;
        let parsed = object::File::parse(bytes).ok()?;
        parsed.section_by_name(".gnu.linkonce.this_module")?;
        if elf::has_overlapping_sections(&parsed, bytes) {
            return None;
        }
        let count = usize::try_from(get_uint(bytes, 60, 2)?).ok()?;
        let mut sections = Vec::new();
        for index in 0..count {
            let at = headers.checked_add(index.checked_mul(SECTION_HEADER)?)?;
            let field = |offset: usize, size| get_uint(bytes, at.checked_add(offset)?, size);
            let named = parsed.section_by_index(object::SectionIndex(index)).ok();
            let name = named.and_then(|section| section.name().ok().map(str::to_owned)).unwrap_or_default();
            sections.push(Section {
                name,
                kind: field(4, 4)?,
                flags: field(8, 8)?,
                address: 0,
                offset: field(24, 8)?,
                size: field(32, 8)?,
                link: field(40, 4)?,
                info: field(44, 4)?,
                align: field(48, 8)?.max(1),
            });
        }
        Some(Self { machine, bytes: bytes.to_vec(), headers, sections })
    }

    /// Appends the content of compressed debug sections to the file: relocations count in that.
    fn unpack(&mut self, file: &[u8]) -> Result<(), String> {
        let parsed = object::File::parse(file).map_err(|error| error.to_string())?;
        for (index, section) in self.sections.iter_mut().enumerate() {
            if section.flags & SHF_COMPRESSED == 0 {
                continue;
            }
            let found = parsed.section_by_index(object::SectionIndex(index));
            let found = found.map_err(|error| error.to_string())?;
            let content = elf::decompress(&found).map_err(|what| format!("{}: {what}", section.name))?;
            section.offset = self.bytes.len() as u64;
            section.size = content.len() as u64;
            section.flags &= !SHF_COMPRESSED;
            self.bytes.extend_from_slice(&content);
        }
        Ok(())
    }

    /// Gives each loaded section an address: code in the order of the file, as the kernel does; all else behind it.
    fn assign_addresses(&mut self) {
        let mut at = BASE;
        for group in 0..3 {
            at = at.checked_next_multiple_of(PAGE).unwrap_or(at);
            for section in &mut self.sections {
                let own = match (section.is_code(), section.is_init()) {
                    (true, false) => 0,
                    (false, false) => 1,
                    (_, true) => 2,
                };
                if section.is_loaded() && section.name != PER_CPU && own == group {
                    at = at.checked_next_multiple_of(section.align).unwrap_or(at);
                    section.address = at;
                    at = at.saturating_add(section.size);
                }
            }
        }
        at = at.checked_next_multiple_of(PAGE).unwrap_or(at);
        for section in self.sections.iter_mut().filter(|section| section.name == PER_CPU) {
            section.address = at;
        }
    }

    /// Gives symbols their addresses and applies the relocations. `None` if a table lies outside the file.
    fn link(&mut self) -> Option<()> {
        let sections = self.sections.clone();
        let mut tables = sections.iter().filter(|section| section.kind == SHT_SYMTAB);
        tables.try_for_each(|table| self.place_symbols(table))?;
        let mut relocations = sections.iter().filter(|section| section.kind == SHT_RELA);
        relocations.try_for_each(|table| self.relocate_section(table))
    }

    fn place_symbols(&mut self, table: &Section) -> Option<()> {
        let mut externals = 0;
        for index in 1..table.size / SYMBOL as u64 {
            let at = entry_offset(table, index, SYMBOL)?;
            let info = get_uint(&self.bytes, at + 4, 1)? as u8;
            let section = get_uint(&self.bytes, at + 6, 2)?;
            if section == SHN_UNDEF {
                let address = self.machine.external_address(externals);
                externals += 1;
                put_uint(&mut self.bytes, at + 8, 8, address)?;
                put_uint(&mut self.bytes, at + 16, 8, EXTERNAL_SIZE)?;
                if info & 15 == 0 {
                    put_uint(&mut self.bytes, at + 4, 1, u64::from(STB_GLOBAL | STT_OBJECT))?;
                }
            } else if section < SHN_LORESERVE {
                let begin = self.sections.get(usize::try_from(section).ok()?)?.address;
                let value = get_uint(&self.bytes, at + 8, 8)?.wrapping_add(begin);
                put_uint(&mut self.bytes, at + 8, 8, value)?;
            }
        }
        Some(())
    }

    fn relocate_section(&mut self, table: &Section) -> Option<()> {
        let target = self.sections.get(usize::try_from(table.info).ok()?)?.clone();
        let symbols = self.sections.get(usize::try_from(table.link).ok()?)?.clone();
        if target.kind == SHT_NOBITS || symbols.kind != SHT_SYMTAB {
            return Some(());
        }
        for index in 0..table.size / RELOCATION as u64 {
            let at = entry_offset(table, index, RELOCATION)?;
            let (offset, info) = (get_uint(&self.bytes, at, 8)?, get_uint(&self.bytes, at + 8, 8)?);
            let addend = get_uint(&self.bytes, at + 16, 8)?;
            let symbol = entry_offset(&symbols, info >> 32, SYMBOL)?;
            let value = get_uint(&self.bytes, symbol + 8, 8)?.wrapping_add(addend);
            let Some(relocation) = self.machine.relocation(info & 0xffff_ffff) else { continue };
            if relocation.is_call {
                self.mark_as_function(symbol)?;
            }
            let size = relocation.size();
            if offset.checked_add(size as u64)? > target.size {
                return None;
            }
            let here = target.address.wrapping_add(offset);
            let at = usize::try_from(target.offset.checked_add(offset)?).ok()?;
            let old = get_uint(&self.bytes, at, size)?;
            put_uint(&mut self.bytes, at, size, relocation.apply(old, here, value))?;
        }
        Some(())
    }

    /// Marks a symbol that is called as a function, unless the module defines it.
    fn mark_as_function(&mut self, symbol: usize) -> Option<()> {
        if get_uint(&self.bytes, symbol + 6, 2)? == SHN_UNDEF {
            put_uint(&mut self.bytes, symbol + 4, 1, u64::from(STB_GLOBAL | STT_FUNC))?;
        }
        Some(())
    }

    /// Writes the headers of a program that has nothing to relocate.
    fn write_headers(&mut self) {
        put_uint(&mut self.bytes, 16, 2, ET_EXEC);
        for (index, section) in self.sections.iter().enumerate() {
            let at = self.headers + index * SECTION_HEADER;
            let kind = if section.kind == SHT_RELA { SHT_NULL } else { section.kind };
            put_uint(&mut self.bytes, at + 4, 4, kind);
            let fields = [section.flags, section.address, section.offset, section.size];
            for (at, value) in (at + 8..).step_by(8).zip(fields) {
                put_uint(&mut self.bytes, at, 8, value);
            }
        }
    }
}

impl RelocationMachine {
    /// The address of an external symbol by its index. Those beyond the last share its address. Calls of AArch64 reach
    /// 128 MB far.
    fn external_address(self, index: u64) -> u64 {
        let (distance, last) = match self {
            Self::X86_64 => (0x2000_0000, 0x1_0000),
            Self::AArch64 => (0x0200_0000, 0x5000),
        };
        BASE + distance + EXTERNAL_SIZE * index.min(last)
    }
}

/// The file offset of a table's entry, if the table has it.
fn entry_offset(table: &Section, index: u64, size: usize) -> Option<usize> {
    let offset = index.checked_mul(size as u64)?;
    if offset.checked_add(size as u64)? > table.size {
        return None;
    }
    let at = usize::try_from(table.offset.checked_add(offset)?).ok()?;
    at.checked_add(FILE_HEADER).map(|_| at)
}

fn get_uint(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    Some(read_uint(bytes.get(at..at.checked_add(size)?)?, true))
}

fn put_uint(bytes: &mut [u8], at: usize, size: usize, value: u64) -> Option<()> {
    write_uint(bytes.get_mut(at..at.checked_add(size)?)?, value, true);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_module_is_left_alone_and_packed_ones_are_refused() {
        let open = |bytes: &[u8]| link_module(&FileBytes::from_vec("m.ko", bytes.to_vec()));
        assert!(open(b"").unwrap().is_none());
        assert!(open(b"\x7fELF\x02\x01\x01").unwrap().is_none());
        let error = open(b"\xfd7zXZ\0\0").unwrap_err().to_string();
        assert_eq!(error, "m.ko: ELF header: a compressed file; unpack it first (xz -d)");
    }

    #[test]
    fn code_is_laid_out_first_and_in_the_order_of_the_file() {
        let section = |name: &str, flags, size| Section {
            name: name.to_owned(),
            kind: 1,
            flags: flags | SHF_ALLOC,
            address: 0,
            offset: 0,
            size,
            link: 0,
            info: 0,
            align: 16,
        };
        let sections = vec![
            section(".data", 0, 8),
            section(".text", SHF_EXECINSTR, 33),
            section(".init.text", SHF_EXECINSTR, 8),
            section(".exit.text", SHF_EXECINSTR, 8),
            section(PER_CPU, 0, 8),
        ];
        let mut module =
            RelocatableModule { machine: RelocationMachine::X86_64, bytes: Vec::new(), headers: 0, sections };
        module.assign_addresses();
        let addresses: Vec<u64> = module.sections.iter().map(|section| section.address - BASE).collect();
        assert_eq!(addresses, [0x1000, 0, 0x2000, 0x30, 0x3000]);
    }

    #[test]
    fn tables_outside_the_file_are_an_end() {
        let table = Section {
            name: String::new(),
            kind: SHT_RELA,
            flags: 0,
            address: 0,
            offset: u64::MAX,
            size: 48,
            link: 0,
            info: 0,
            align: 1,
        };
        assert_eq!((entry_offset(&table, 1, 24), entry_offset(&table, 2, 24)), (None, None));
        assert_eq!((get_uint(&[1, 2], 0, 2), get_uint(&[1, 2], 1, 2)), (Some(0x201), None));
    }
}
