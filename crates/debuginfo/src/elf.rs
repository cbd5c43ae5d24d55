//! ELF files: opening, sections (decompressed, relocated), symbols, machine code by address.

use crate::error::{Error, Result};
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationKind, RelocationTarget};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How far a compressed section may expand: no real section does so by more, a hostile one may not.
const MAX_EXPANSION: u64 = 256;

/// A file's bytes, mapped.
#[derive(Debug)]
pub struct FileBytes {
    path: PathBuf,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

impl FileBytes {
    /// Maps a regular file; reads one that has no size (`/sys/kernel/btf/vmlinux`). Fails if it can't be opened or is none.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let mut file = fieldline_files::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        // sysfs files may not be mappable, and an empty map is an error on some systems.
        let mapped = if metadata.len() == 0 { None } else { map(&file).ok() };
        let bytes = match mapped {
            Some(map) => Bytes::Mapped(map),
            None => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).map_err(io)?;
                Bytes::Owned(bytes)
            }
        };
        Ok(Self { path: path.to_owned(), bytes })
    }

    /// Bytes that are not of a file, with a name for messages.
    pub fn from_vec(name: &str, bytes: Vec<u8>) -> Self {
        Self { path: PathBuf::from(name), bytes: Bytes::Owned(bytes) }
    }

    /// The file's path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its content.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

#[expect(unsafe_code, reason = "mapping a file has no safe form")]
fn map(file: &File) -> std::io::Result<memmap2::Mmap> {
    // SAFETY: the map is read-only and private. Somebody truncating the file meanwhile would end the program with
    // SIGBUS; input files of a build or a recording are not changed while we read them, and copying hundreds of
    // megabytes of a vmlinux to be safe from that would cost more than all our work on it.
    unsafe { memmap2::Mmap::map(file) }
}

/// A parsed ELF file.
pub struct Elf<'d> {
    file: object::File<'d>,
    name: String,
    path: PathBuf,
}

/// A part of a file that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address as linked.
    pub address: u64,
    /// Bytes in memory.
    pub size: u64,
    /// Where its content begins in the file.
    pub file_offset: u64,
    /// Whether it holds machine code.
    pub is_code: bool,
}

/// Functions and objects that a program takes from shared libraries, by name.
/// Fails if the file can't be read as ELF.
pub fn imported_symbols(path: &Path) -> Result<BTreeSet<String>> {
    let file = FileBytes::open(path)?;
    let name = path.display().to_string();
    let error = |error: object::Error| elf_error(&name, "dynamic symbols", error.to_string());
    let parsed = object::File::parse(file.bytes()).map_err(error)?;
    let imports = parsed.imports().map_err(error)?;
    let mut names = BTreeSet::new();
    for import in imports {
        // Numbers in place of names are PE's.
        if let object::NameOrOrdinal::Name(name) = import.map_err(error)?.name() {
            names.insert(String::from_utf8_lossy(name).into_owned());
        }
    }
    Ok(names)
}

/// A function or object symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol<'d> {
    /// Address as linked.
    pub address: u64,
    /// Size in bytes, if the symbol table gives one.
    pub size: Option<u64>,
    /// Name.
    pub name: &'d str,
    /// Whether it is code.
    pub is_function: bool,
    /// Whether it is data.
    pub is_data: bool,
}

impl<'d> Elf<'d> {
    /// Parses the headers. Fails if the bytes are no ELF file or its headers are cut.
    pub fn parse(file: &'d FileBytes) -> Result<Self> {
        let name = file.path().display().to_string();
        let error = |what: String| elf_error(&name, "ELF header", what);
        let bytes = file.bytes();
        if bytes.is_empty() {
            return Err(error("the file is empty".to_owned()));
        }
        if !bytes.starts_with(b"\x7fELF") {
            return Err(error("not an ELF file (no \\x7fELF at byte 0)".to_owned()));
        }
        let parsed = object::File::parse(bytes).map_err(|source| error(source.to_string()))?;
        if has_overlapping_sections(&parsed, bytes) {
            return Err(error("its sections overlap".to_owned()));
        }
        Ok(Self { file: parsed, name: name.clone(), path: file.path().to_owned() })
    }

    /// The file's name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file's path as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether multi-byte values are little-endian.
    pub fn is_little_endian(&self) -> bool {
        self.file.is_little_endian()
    }

    /// Size of an address in bytes.
    pub fn pointer_size(&self) -> u8 {
        if self.file.is_64() { 8 } else { 4 }
    }

    /// The machine it is for.
    pub fn machine(&self) -> object::Architecture {
        self.file.architecture()
    }

    /// Bytes in a cacheline of the machine as its kernel is compiled (L1_CACHE_SHIFT in arch/*/include/asm/cache.h):
    /// 128 for 64-bit Power, 256 for s390, 64 else.
    pub fn cacheline(&self) -> u64 {
        match self.machine() {
            object::Architecture::PowerPc64 => 128,
            object::Architecture::S390x => 256,
            _ => 64,
        }
    }

    /// Alignment in bytes that the machine's ABI gives no scalar inside a struct more than: 4 on i386 (System V i386
    /// psABI, section 2.1.1), 2 on m68k, none elsewhere.
    pub fn scalar_align_limit(&self) -> u64 {
        match self.machine() {
            object::Architecture::I386 => 4,
            object::Architecture::M68k => 2,
            _ => u64::MAX,
        }
    }

    /// Whether it is a relocatable file (`.o`, `.ko`), whose sections all begin at address 0.
    pub fn is_relocatable(&self) -> bool {
        self.file.kind() == object::ObjectKind::Relocatable
    }

    /// The GNU build id, if there is one.
    pub fn build_id(&self) -> Option<&'d [u8]> {
        self.file.build_id().ok().flatten()
    }

    /// Name and build id of the supplementary file made by `dwz` (.gnu_debugaltlink).
    pub fn alt_link(&self) -> Option<(&'d [u8], &'d [u8])> {
        self.file.gnu_debugaltlink().ok().flatten()
    }

    /// Name and checksum of the file with the debug info this one was stripped of (.gnu_debuglink).
    pub fn debug_link(&self) -> Option<(&'d [u8], u32)> {
        self.file.gnu_debuglink().ok().flatten()
    }

    /// Whether a section of that name has content in the file.
    pub fn has_section(&self, name: &str) -> bool {
        let section = self.file.section_by_name(name);
        section.is_some_and(|section| section.size() > 0 && section.file_range().is_some())
    }

    /// Whether it has DWARF, compressed or not.
    pub fn has_dwarf(&self) -> bool {
        self.has_section(".debug_info") || self.has_section(".zdebug_info")
    }

    /// A section's content, decompressed but not relocated; `None` if there is none of that name. Fails if the section lies
    /// outside the file or its compression is broken or absurd.
    pub fn section(&self, name: &str) -> Result<Option<Cow<'d, [u8]>>> {
        let section = self.file.section_by_name(name);
        section.map(|section| self.read_section(&section, name)).transpose()
    }

    fn read_section(&self, section: &object::Section<'d, '_>, name: &str) -> Result<Cow<'d, [u8]>> {
        decompress(section).map_err(|what| elf_error(&self.name, format!("section {name}"), what))
    }

    /// A debug section, decompressed and with relocations applied where the file is relocatable. Such files may have
    /// several of one name (a type unit each); they are joined, as a linker would. Fails as [`Self::section`] does, and if
    /// a relocation is of a kind that has no meaning in debug info.
    pub fn debug_section(&self, name: &str) -> Result<Option<Cow<'d, [u8]>>> {
        if !self.is_relocatable() {
            return self.section(name);
        }
        let mut joined: Option<Cow<'d, [u8]>> = None;
        for section in self.file.sections().filter(|section| section.name() == Ok(name)) {
            let part = self.read_relocated(&section, name)?;
            match &mut joined {
                None => joined = Some(part),
                Some(before) => before.to_mut().extend_from_slice(&part),
            }
        }
        // Only under its other name: .zdebug_info.
        if joined.is_none() { self.section(name) } else { Ok(joined) }
    }

    fn read_relocated(&self, section: &object::Section<'d, '_>, name: &str) -> Result<Cow<'d, [u8]>> {
        let mut data = self.read_section(section, name)?;
        for (offset, relocation) in section.relocations() {
            let relocated = self.relocate(data.to_mut(), offset, &relocation);
            let place = || format!("relocation of {name} at {offset:#x}");
            relocated.map_err(|what| elf_error(&self.name, place(), what))?;
        }
        Ok(data)
    }

    /// Applies one relocation. Only absolute values have a meaning here; differences of labels (RISC-V) and
    /// relative ones don't change layouts and are left alone.
    fn relocate(&self, data: &mut [u8], offset: u64, relocation: &object::Relocation) -> Result<(), String> {
        if !matches!(relocation.kind(), RelocationKind::Absolute | RelocationKind::SectionOffset) {
            return Ok(());
        }
        let symbol = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                self.file.symbol_by_index(index).map_err(|source| source.to_string())?.address()
            }
            RelocationTarget::Section(_) | RelocationTarget::Absolute => 0,
            _ => return Err("unknown target".to_owned()),
        };
        let width = usize::from(relocation.size() / 8);
        let start = usize::try_from(offset).map_err(|_| "offset outside the section".to_owned())?;
        let field = start.checked_add(width).and_then(|end| data.get_mut(start..end));
        let field = field.ok_or("offset outside the section")?;
        let little = self.is_little_endian();
        let implicit = if relocation.has_implicit_addend() { read_uint(field, little) } else { 0 };
        let value = symbol.wrapping_add(relocation.addend() as u64).wrapping_add(implicit);
        write_uint(field, value, little);
        Ok(())
    }

    /// Symbols with an address, in table order.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol<'d>> + '_ {
        // Thread-local variables are counted from 0.
        let is_thread_local = |symbol: &object::Symbol<'_, '_>| {
            symbol.kind() == object::SymbolKind::Tls && symbol.section_index().is_some()
        };
        let has_address = move |symbol: &object::Symbol<'_, '_>| {
            symbol.is_definition() || symbol.address() != 0 || is_thread_local(symbol)
        };
        self.file.symbols().filter(has_address).filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| !name.is_empty() && !is_mapping_symbol(name))?;
            let kind = symbol.kind();
            let in_text = kind == object::SymbolKind::Unknown && symbol.section_index().is_some();
            Some(Symbol {
                address: symbol.address(),
                size: Some(symbol.size()).filter(|size| *size > 0),
                name,
                is_function: kind == object::SymbolKind::Text || in_text,
                is_data: matches!(kind, object::SymbolKind::Data | object::SymbolKind::Tls),
            })
        })
    }

    /// Functions that other files can call, by their dynamic symbols, which stripped files have too: name and address.
    pub fn exported_functions(&self) -> impl Iterator<Item = (&'d str, u64)> + '_ {
        let all = self.file.dynamic_symbols().filter(|symbol| symbol.is_definition());
        let functions = all.filter(|symbol| symbol.kind() == object::SymbolKind::Text);
        functions.filter_map(|symbol| Some((symbol.name().ok()?, symbol.address())))
    }

    /// `len` bytes as linked at `address`, out of the section that holds them; `None` outside the file's content.
    pub fn bytes_at(&self, address: u64, len: u64) -> Option<&'d [u8]> {
        let sections = self.file.sections();
        let mut linked = sections.filter(|section| section.address() != 0 || self.is_relocatable());
        linked.find_map(|section| section.data_range(address, len).ok().flatten())
    }

    /// Sections that hold machine code: name, address and content.
    pub fn text_sections(&self) -> Vec<(&'d str, u64, &'d [u8])> {
        self.section_contents(|section| section.kind() == object::SectionKind::Text)
    }

    /// Sections that are loaded, hold no machine code and have content: name, address and content.
    pub fn data_sections(&self) -> Vec<(&'d str, u64, &'d [u8])> {
        let is_data = |section: &object::Section<'d, '_>| {
            has_flag(section, object::elf::SHF_ALLOC) && section.kind() != object::SectionKind::Text
        };
        let mut found = self.section_contents(is_data);
        found.retain(|(_, _, content)| !content.is_empty());
        found
    }

    fn section_contents(
        &self,
        is_wanted: impl Fn(&object::Section<'d, '_>) -> bool,
    ) -> Vec<(&'d str, u64, &'d [u8])> {
        let content = |section: object::Section<'d, '_>| {
            Some((section.name().ok()?, section.address(), section.data().ok()?))
        };
        self.file.sections().filter(is_wanted).filter_map(content).collect()
    }

    /// Address and size of a section as linked, whether or not it has content.
    pub fn section_range(&self, name: &str) -> Option<(u64, u64)> {
        self.file.section_by_name(name).map(|section| (section.address(), section.size()))
    }

    /// Loaded segments, in the order of the file.
    pub fn segments(&self) -> Vec<Segment> {
        use object::{ObjectSegment, SegmentFlags};
        let segment = |segment: object::Segment<'d, '_>| Segment {
            address: segment.address(),
            size: segment.size(),
            file_offset: segment.file_range().0,
            is_code: match segment.flags() {
                SegmentFlags::Elf { p_flags, .. } => p_flags.contains(object::elf::PF_X),
                _ => false,
            },
        };
        self.file.segments().map(segment).collect()
    }

    /// Whether it is a kernel module (include/linux/module.h: `this_module` stands in a section of its own).
    pub fn is_module(&self) -> bool {
        self.file.section_by_name(".gnu.linkonce.this_module").is_some()
    }

    /// Words of the global offset table that the loader fills with the address of a symbol (R_X86_64_GLOB_DAT of the System V
    /// ABI for x86-64): where the word is as linked, the symbol's name, and its address, if this file defines it.
    pub fn got_entries(&self) -> Vec<(u64, &'d str, Option<u64>)> {
        let Some((begin, size)) = self.section_range(".got") else { return Vec::new() };
        let Some(relocations) = self.file.dynamic_relocations() else { return Vec::new() };
        let Some(table) = self.file.dynamic_symbol_table() else { return Vec::new() };
        let entries = relocations.filter(|(at, _)| at.wrapping_sub(begin) < size);
        let entries = entries.filter_map(|(at, relocation)| {
            let RelocationTarget::Symbol(index) = relocation.target() else { return None };
            let symbol = table.symbol_by_index(index).ok()?;
            let is_thread_local = symbol.kind() == object::SymbolKind::Tls;
            let address = Some(symbol.address()).filter(|address| *address > 0);
            (!is_thread_local).then_some((at, symbol.name().ok()?, address))
        });
        entries.collect()
    }

    /// Addresses that the loader puts into data, as linked: what relative relocations add to where the file is loaded
    /// (R_X86_64_RELATIVE and R_AARCH64_RELATIVE). Files need not hold them in their data, too.
    pub fn relative_addends(&self) -> Vec<u64> {
        const ENTRY: usize = 24;
        let relative: u64 = match self.machine() {
            object::Architecture::X86_64 => 8,
            object::Architecture::Aarch64 => 1027,
            _ => return Vec::new(),
        };
        let section = self.file.section_by_name(".rela.dyn").filter(|_| self.is_little_endian());
        let table = section.and_then(|section| section.data().ok()).unwrap_or(&[]);
        let addends = table.chunks_exact(ENTRY).filter_map(|entry| {
            let word = |at: usize| Some(u64::from_le_bytes(entry.get(at..at + 8)?.try_into().ok()?));
            (word(8)? & 0xffff_ffff == relative).then(|| word(16))?
        });
        addends.collect()
    }

    /// Size of the thread-local data (.tdata, .tbss), rounded up to its alignment, and that alignment.
    pub fn thread_local_size(&self) -> Option<(u64, u64)> {
        let sections = self.file.sections().filter(|section| has_flag(section, object::elf::SHF_TLS));
        let ranges = sections.map(|section| {
            let (begin, size) = (section.address(), section.size());
            (begin, begin.saturating_add(size), section.align().max(1))
        });
        let all = ranges.reduce(|all, range| (all.0.min(range.0), all.1.max(range.1), all.2.max(range.2)));
        let (begin, end, align) = all?;
        Some(((end - begin).checked_next_multiple_of(align)?, align))
    }
}

/// An error of a file's container.
pub(crate) fn elf_error(file: &str, place: impl Into<String>, what: impl Into<String>) -> Error {
    Error::Elf { file: file.to_owned(), place: place.into(), what: what.into() }
}

fn has_flag(section: &object::Section<'_, '_>, flag: object::elf::SectionFlags) -> bool {
    matches!(section.flags(), object::SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(flag))
}

/// Whether a symbol of an Arm file only marks where code or data begins (ELF for the Arm 64-bit
/// Architecture, section 5.5.5, "Mapping symbols").
fn is_mapping_symbol(name: &str) -> bool {
    ["$x", "$d", "$a", "$t"]
        .into_iter()
        .any(|mark| name.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// Whether sections of a relocatable file overlap, which those of no compiler do: tables that many headers share would be
/// read and copied as often.
pub(crate) fn has_overlapping_sections(file: &object::File<'_>, bytes: &[u8]) -> bool {
    let sizes = file.sections().filter_map(|section| Some(section.file_range()?.1));
    file.kind() == object::ObjectKind::Relocatable && sizes.fold(0, u64::saturating_add) > bytes.len() as u64
}

/// A section's content, decompressed.
pub(crate) fn decompress<'d>(section: &object::Section<'d, '_>) -> Result<Cow<'d, [u8]>, String> {
    let compressed = section.compressed_data().map_err(|source| source.to_string())?;
    let limit = (compressed.data.len() as u64).saturating_mul(MAX_EXPANSION).saturating_add(4096);
    if compressed.format != object::CompressionFormat::None && compressed.uncompressed_size > limit {
        let size = compressed.uncompressed_size;
        return Err(format!("claims to hold {size} bytes in {} compressed", compressed.data.len()));
    }
    compressed.decompress().map_err(|source| source.to_string())
}

/// Bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An unsigned number of as many bytes as there are.
pub(crate) fn read_uint(bytes: &[u8], little: bool) -> u64 {
    let append_byte = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    if little { bytes.iter().rev().fold(0, append_byte) } else { bytes.iter().fold(0, append_byte) }
}

/// Writes the lowest bytes of a number, as many as there is room for.
pub(crate) fn write_uint(bytes: &mut [u8], value: u64, little: bool) {
    let len = bytes.len();
    for (index, byte) in bytes.iter_mut().enumerate() {
        let shift = if little { index } else { len - 1 - index };
        *byte = value.checked_shr(8 * shift as u32).unwrap_or(0) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_round_trip_in_both_orders() {
        for little in [false, true] {
            let mut bytes = [0; 4];
            write_uint(&mut bytes, 0x0102_0304, little);
            assert_eq!(read_uint(&bytes, little), 0x0102_0304);
            assert_eq!(bytes[0] == 4, little);
        }
    }

    #[test]
    fn what_is_no_elf_file_is_said_so() {
        for bytes in [&b""[..], b"garbage", b"\x7fELF", b"\x7fELF\x02\x01\x01\0\0\0"] {
            let file = FileBytes::from_vec("input", bytes.to_vec());
            let error = Elf::parse(&file).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.starts_with("input: ELF header: "), "{error}");
        }
    }
}
