//! Layouts of a file, whatever it is: a program, a kernel, BTF or a baseline.

use crate::input::origin::Fetched;
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

#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    pub(crate) file: String,
    /// Cacheline size of the machine in bytes.
    pub(crate) line: u64,
    /// Pointer size in bytes.
    pub(crate) pointer: u64,
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
pub(crate) struct Content {
    dwarf: bool,
    btf: bool,
}

impl Content {
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let file = FileBytes::open(path)?;
        if is_json(file.bytes()) {
            let btf = format_named(&read_baseline(path)?.debug_format) == Format::Btf;
            return Ok(Self { dwarf: !btf, btf });
        }
        if types::is_raw_btf(file.bytes()) {
            return Ok(Self { dwarf: false, btf: true });
        }
        let elf = Elf::parse(&file)?;
        let dwarf = elf.has_section(".debug_info") || elf.has_section(".zdebug_info");
        Ok(Self { dwarf, btf: elf.has_section(".BTF") })
    }

    /// The first of some formats that both files have.
    pub(crate) fn common(self, other: Self, formats: [Format; 2]) -> Option<Format> {
        formats.into_iter().find(|format| match format {
            Format::Dwarf => self.dwarf && other.dwarf,
            Format::Btf => self.btf && other.btf,
        })
    }
}

/// Reads layouts of a file that may be of a git, and calls it what the user does.
pub(crate) fn read_fetched(file: &Fetched, patterns: &[String], format: Option<Format>) -> Result<Shelf> {
    let shelf = file.named(read(file.path(), patterns, format))?;
    Ok(Shelf { file: file.name().to_owned(), ..shelf })
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
        let parts = entries.par_chunks(CHUNK).map(|chunk| read_chunk(types, chunk));
        let layouts = parts.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        Ok(Shelf { file: path.display().to_string(), line, pointer, format, layouts, missing })
    })
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
    let missing = select::keep(&mut layouts, patterns, |of| &of.name);
    Ok(Shelf { file: path.display().to_string(), line, pointer, format, layouts, missing })
}
