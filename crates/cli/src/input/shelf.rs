//! Layouts of a file, whatever it is: a program, a kernel, BTF or a baseline.

use crate::input::{document, select};
use anyhow::{Context, Result};
use fieldline_check::baseline::{self, Baseline};
use fieldline_check::field::prune;
use fieldline_debuginfo::types::{self, Entry, Format, Types};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_layout::{Layout, Member};
use fieldline_tree::builds::BuildMachine;
use rayon::prelude::*;
use std::path::Path;

/// How many definitions one thread reads in one go.
const CHUNK: usize = 64;

/// Layouts of a file.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    /// The file, for messages.
    pub(crate) file: String,
    /// Cacheline size of the machine in bytes.
    pub(crate) line: u64,
    /// Pointer size in bytes.
    pub(crate) pointer: u64,
    /// What was read.
    pub(crate) format: Format,
    /// The layouts, without members of structs that have a tag.
    pub(crate) layouts: Vec<Layout>,
    /// Names asked for that are not there.
    pub(crate) missing: Vec<String>,
}

impl Shelf {
    /// Drops alignments that only DWARF tells.
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
pub(crate) enum Content {
    /// A baseline.
    Baseline(Format),
    /// Debug info.
    Debug { dwarf: bool, btf: bool },
}

impl Content {
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let file = FileBytes::open(path)?;
        if is_json(file.bytes()) {
            return Ok(Self::Baseline(format_named(&read_baseline(path)?.debug_format)));
        }
        if types::is_raw_btf(file.bytes()) {
            return Ok(Self::Debug { dwarf: false, btf: true });
        }
        let elf = Elf::parse(&file)?;
        let dwarf = elf.has_section(".debug_info") || elf.has_section(".zdebug_info");
        Ok(Self::Debug { dwarf, btf: elf.has_section(".BTF") })
    }

    fn has(self, format: Format) -> bool {
        match (self, format) {
            (Self::Baseline(kept), wanted) => kept == wanted,
            (Self::Debug { dwarf, .. }, Format::Dwarf) => dwarf,
            (Self::Debug { btf, .. }, Format::Btf) => btf,
        }
    }
}

/// The format both files have, the quicker one first; `None` if there is none.
pub(crate) fn common(old: Content, new: Content) -> Option<Format> {
    [Format::Btf, Format::Dwarf].into_iter().find(|format| old.has(*format) && new.has(*format))
}

/// The format both files have, the one that tells lines of the source first; `None` if there is none.
pub(crate) fn common_with_lines(old: Content, new: Content) -> Option<Format> {
    [Format::Dwarf, Format::Btf].into_iter().find(|format| old.has(*format) && new.has(*format))
}

/// Reads layouts of a file: those of some names and globs, all if there are none.
pub(crate) fn read(path: &Path, patterns: &[String], format: Option<Format>) -> Result<Shelf> {
    let file = FileBytes::open(path)?;
    if is_json(file.bytes()) {
        return of_baseline(path, patterns);
    }
    let BuildMachine { line, pointer, .. } = BuildMachine::of(path)?;
    types::with_types(path, format, None, |types| {
        let (entries, missing) = select::select(types, patterns)?;
        let (format, pointer) = match types {
            Types::Btf { btf, .. } => (Format::Btf, u64::from(btf.target().pointer_size)),
            Types::Dwarf { .. } => (Format::Dwarf, pointer),
        };
        let layouts = layouts(types, &entries)?;
        Ok(Shelf { file: path.display().to_string(), line, pointer, format, layouts, missing })
    })
}

fn layouts(types: &Types<'_, '_>, entries: &[Entry]) -> Result<Vec<Layout>> {
    let parts: Result<Vec<Vec<Layout>>> =
        entries.par_chunks(CHUNK).map(|chunk| read_chunk(types, chunk)).collect();
    Ok(parts?.into_iter().flatten().collect())
}

fn read_chunk(types: &Types<'_, '_>, chunk: &[Entry]) -> Result<Vec<Layout>> {
    let mut reader = types.reader(chunk)?;
    let mut layouts = Vec::with_capacity(chunk.len());
    for entry in chunk {
        let id = reader.read(entry)?;
        let layout = Layout::of(reader.table(), id);
        // A typedef of a struct that has a tag is another word for it.
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

fn format_named(name: &str) -> Format {
    if name == "btf" { Format::Btf } else { Format::Dwarf }
}

fn of_baseline(path: &Path, patterns: &[String]) -> Result<Shelf> {
    let kept = read_baseline(path)?;
    let (line, pointer, format) = (kept.cacheline, kept.pointer, format_named(&kept.debug_format));
    let broken = || format!("{}: broken {} file", path.display(), baseline::FORMAT);
    let mut layouts = kept.layouts().with_context(broken)?;
    layouts
        .retain(|of| patterns.is_empty() || patterns.iter().any(|pattern| select::names(pattern, &of.name)));
    let is_missing = |pattern: &&String| {
        !select::is_glob(pattern) && !layouts.iter().any(|of| select::names(pattern, &of.name))
    };
    let missing = patterns.iter().filter(is_missing).map(|name| types::bare(name).to_owned()).collect();
    Ok(Shelf { file: path.display().to_string(), line, pointer, format, layouts, missing })
}
