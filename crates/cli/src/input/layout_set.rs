//! Layouts of a file, whatever it is: a program, a kernel, BTF or a baseline.

use crate::input::origin::FetchedFile;
use crate::input::{document, select};
use anyhow::{Context, Result};
use fieldline_check::baseline::{self, Baseline};
use fieldline_check::field::prune;
use fieldline_debuginfo::types::{self, DebugFormat, TypeDefinition, Types};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_layout::{Layout, Member};
use fieldline_tree::builds::BuildMachine;
use std::path::Path;

/// Definitions that a thread reads at a time.
const CHUNK: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct LayoutSet {
    pub(crate) file: String,
    /// Cacheline size of the machine in bytes.
    pub(crate) line: u64,
    /// Pointer size in bytes.
    pub(crate) pointer: u64,
    pub(crate) format: DebugFormat,
    /// The layouts, without members of structs that have a tag.
    pub(crate) layouts: Vec<Layout>,
    /// Whether the file is a baseline.
    pub(crate) is_baseline: bool,
    /// Requested names that the file lacks.
    pub(crate) missing: Vec<String>,
}

impl LayoutSet {
    /// Drops alignments, which only DWARF has.
    pub(crate) fn forget_alignments(&mut self) {
        fn forget(member: &mut Member) {
            member.explicit_align = None;
            member.members.iter_mut().for_each(forget);
        }
        for layout in &mut self.layouts {
            layout.align = 1;
            layout.explicit_align = None;
            layout.members.iter_mut().for_each(forget);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DebugFormats {
    dwarf: bool,
    btf: bool,
}

impl DebugFormats {
    pub(crate) fn detect(path: &Path) -> Result<Self> {
        let file = FileBytes::open(path)?;
        if is_json(file.bytes()) {
            let btf = format_named(&read_baseline(path)?.debug_format) == DebugFormat::Btf;
            return Ok(Self { dwarf: !btf, btf });
        }
        if types::is_raw_btf(file.bytes()) {
            return Ok(Self { dwarf: false, btf: true });
        }
        let elf = Elf::parse(&file)?;
        let (dwarf, btf) = types::formats(&elf)?;
        Ok(Self { dwarf, btf })
    }

    /// The first of some formats that both files have.
    pub(crate) fn common(self, other: Self, formats: [DebugFormat; 2]) -> Option<DebugFormat> {
        formats.into_iter().find(|format| match format {
            DebugFormat::Dwarf => self.dwarf && other.dwarf,
            DebugFormat::Btf => self.btf && other.btf,
        })
    }
}

/// Reads layouts of a file that may be of a git repository, named as the user does.
pub(crate) fn read_fetched(
    file: &FetchedFile,
    patterns: &[String],
    format: Option<DebugFormat>,
) -> Result<LayoutSet> {
    let layout_set = file.with_name_in_error(read(file.path(), patterns, format))?;
    Ok(LayoutSet { file: file.name().to_owned(), ..layout_set })
}

/// Reads layouts of a file: those of some names and globs, all if there are none.
pub(crate) fn read(path: &Path, patterns: &[String], format: Option<DebugFormat>) -> Result<LayoutSet> {
    let file = FileBytes::open(path)?;
    if is_json(file.bytes()) {
        return from_baseline(path, patterns);
    }
    let BuildMachine { line, pointer, .. } = BuildMachine::from_file(path)?;
    types::with_types(path, format, None, |types| {
        let (entries, missing) = select::select(types, patterns)?;
        let (format, pointer) = match types {
            Types::Btf { btf, .. } => (DebugFormat::Btf, u64::from(btf.target().pointer_size)),
            Types::Dwarf { .. } => (DebugFormat::Dwarf, pointer),
        };
        let chunks: Vec<_> = entries.chunks(CHUNK).collect();
        let parts = fieldline_parallel::map(&chunks, |chunk| read_chunk(types, chunk)).into_iter();
        let layouts = parts.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        let file = path.display().to_string();
        Ok(LayoutSet { file, line, pointer, format, layouts, is_baseline: false, missing })
    })
}

fn read_chunk(types: &Types<'_, '_>, chunk: &[TypeDefinition]) -> Result<Vec<Layout>> {
    let mut reader = types.reader(chunk)?;
    let mut layouts = Vec::with_capacity(chunk.len());
    for entry in chunk {
        let id = reader.read(entry)?;
        let layout = Layout::from_type(reader.table(), id);
        // A typedef of a struct that has a tag is another name for it.
        if let Some(mut layout) = layout.filter(|layout| layout.name == *entry.name) {
            prune(&mut layout);
            layouts.push(layout);
        }
    }
    Ok(layouts)
}

fn is_json(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    document::read(path, baseline::FORMAT, baseline::VERSION)
}

fn format_named(name: &str) -> DebugFormat {
    if name == "btf" { DebugFormat::Btf } else { DebugFormat::Dwarf }
}

fn from_baseline(path: &Path, patterns: &[String]) -> Result<LayoutSet> {
    let kept = read_baseline(path)?;
    let (line, pointer, format) = (kept.cacheline, kept.pointer, format_named(&kept.debug_format));
    let broken = || format!("{}: broken {} file", path.display(), baseline::FORMAT);
    let mut layouts = kept.layouts().with_context(broken)?;
    let missing = select::retain_matching(&mut layouts, patterns, |layout| &layout.name);
    let file = path.display().to_string();
    Ok(LayoutSet { file, line, pointer, format, layouts, is_baseline: true, missing })
}
