//! Objects to watch: which bytes their members are, by symbols and debug info.

use anyhow::{Context, Result, bail};
use fieldline_debuginfo::{Elf, FileBytes, hex, types};
use fieldline_layout::{Layout, Member};
use fieldline_record::{Kernel, Watch, watches};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place<'t> {
    Address(u64),
    Symbol { name: &'t str, offset: u64 },
}

/// The type and the place of an object, as the user writes them.
fn parse(text: &str) -> Option<(&str, Place<'_>)> {
    let hexadecimal = |digits| u64::from_str_radix(digits, 16).ok();
    let (ty, place) = text.rsplit_once('@')?;
    if let Some(digits) = place.strip_prefix("0x") {
        return Some((types::bare(ty), Place::Address(hexadecimal(digits)?)));
    }
    let (name, offset) = place.split_once('+').unwrap_or((place, "0"));
    let offset = offset.strip_prefix("0x").map_or_else(|| offset.parse().ok(), hexadecimal)?;
    Some((types::bare(ty), Place::Symbol { name, offset }))
}

fn object(text: &str) -> Result<(&str, Place<'_>)> {
    parse(text).with_context(|| format!("{text} is no TYPE@SYMBOL, TYPE@SYMBOL+OFFSET or TYPE@0xADDRESS"))
}

/// Whether objects are written as they should be.
pub(super) fn check(objects: &[String]) -> Result<()> {
    objects.iter().try_for_each(|text| object(text).map(|_| ()))
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Home<'h> {
    /// A process: its number says how far the program was moved.
    Process(u32),
    /// The kernel, on some CPUs.
    Kernel { running: Option<Kernel>, cpus: &'h [u32] },
}

pub(super) struct Bytes {
    pub(super) watches: Vec<Watch>,
    /// Each object with its address, for the person.
    pub(super) objects: Vec<String>,
}

/// Finds the bytes of members of objects; of all members if none is named.
pub(super) fn find(file: &Path, objects: &[String], members: &[String], home: Home<'_>) -> Result<Bytes> {
    let mut bytes = Bytes { watches: Vec::new(), objects: Vec::new() };
    for text in objects {
        let (ty, place) = object(text)?;
        let layout = layout(file, ty)?;
        for address in addresses(file, &place, home)? {
            bytes.objects.push(format!("{} at {address:#x}", layout.name));
            for (offset, size) in ranges(&layout, members)? {
                bytes.watches.extend(watches(address.wrapping_add(offset), size));
            }
        }
    }
    Ok(bytes)
}

fn layout(file: &Path, ty: &str) -> Result<Layout> {
    types::with_types(file, None, None, |types| {
        let first = types.layouts(ty)?.into_iter().next();
        first.with_context(|| format!("{}: {ty} is no struct", file.display()))
    })
}

/// First byte and bytes of the members.
fn ranges(layout: &Layout, members: &[String]) -> Result<Vec<(u64, u64)>> {
    let known = |name: &String| layout.members.iter().any(|member| member.name.as_ref() == Some(name));
    if let Some(name) = members.iter().find(|name| !known(name)) {
        bail!("struct {} has no member {name}", layout.name);
    }
    let is_asked = |member: &&Member| {
        members.is_empty() || member.name.as_ref().is_some_and(|name| members.contains(name))
    };
    let ranges = layout.members.iter().filter(is_asked).map(|member| {
        let (first, end) = (member.bit_offset / 8, member.bit_end().div_ceil(8));
        (first, end - first)
    });
    Ok(ranges.filter(|(_, size)| *size > 0).collect())
}

/// A process has not mapped a file, or not yet.
#[derive(Debug)]
pub(super) struct NotMapped {
    pid: u32,
    file: PathBuf,
}

impl std::fmt::Display for NotMapped {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "process {} has not mapped {}", self.pid, self.file.display())
    }
}

/// Run-time addresses of a place: several of per-CPU data.
fn addresses(file: &Path, place: &Place<'_>, home: Home<'_>) -> Result<Vec<u64>> {
    let (name, offset) = match place {
        Place::Address(address) => return Ok(vec![*address]),
        Place::Symbol { name, offset } => (*name, *offset),
    };
    let bytes = FileBytes::open(file)?;
    let elf =
        Elf::parse(&bytes).with_context(|| format!("{name} needs a file with symbols, or give 0xADDRESS"))?;
    let symbol = |name: &str| elf.symbols().find(|symbol| symbol.name == name && !symbol.is_function);
    let place = || format!("{}: there is no variable {name} among the symbols", file.display());
    let linked = symbol(name).with_context(place)?.address.wrapping_add(offset);
    let any = |name: &str| elf.symbols().find(|symbol| symbol.name == name).map(|symbol| symbol.address);
    match home {
        Home::Process(pid) => {
            let slide = fieldline_record::program_slide(pid, &elf)
                .with_context(|| NotMapped { pid, file: file.to_owned() })?;
            Ok(vec![linked.wrapping_add(slide)])
        }
        Home::Kernel { running, cpus } => {
            check_build_id(&elf)?;
            let running = running.map_or_else(Kernel::running, Ok)?;
            let text = any("_text").with_context(|| format!("{}: no symbol _text", file.display()))?;
            let per_cpu = any("__per_cpu_start").zip(any("__per_cpu_end"));
            if !per_cpu.is_some_and(|(start, end)| start <= linked && linked < end) {
                return Ok(vec![running.moved(linked, text)]);
            }
            let array = any("__per_cpu_offset").with_context(|| "no symbol __per_cpu_offset".to_owned())?;
            let offsets = Kernel::per_cpu_offsets(running.moved(array, text), cpus).with_context(|| {
                format!("{name} is per-CPU data, whose place is not known here; give 0xADDRESS instead")
            })?;
            Ok(offsets.into_iter().map(|offset| linked.wrapping_add(offset)).collect())
        }
    }
}

/// Symbols of another build lead to other places.
fn check_build_id(elf: &Elf<'_>) -> Result<()> {
    let running = Kernel::build_id();
    match (running.as_deref(), elf.build_id()) {
        (Some(running), Some(given)) if running != given => {
            let (path, given, running) = (elf.path().display(), hex(given), hex(running));
            bail!("{path}: its build id is {given}, that of the running kernel {running}")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_types_at_places() {
        assert_eq!(object("struct a@0xffff8000").unwrap(), ("a", Place::Address(0xffff_8000)));
        assert_eq!(object("a::b<c>@v").unwrap(), ("a::b<c>", Place::Symbol { name: "v", offset: 0 }));
        assert_eq!(object("a@v+0x30").unwrap(), ("a", Place::Symbol { name: "v", offset: 0x30 }));
        assert_eq!(object("a@v+48").unwrap(), ("a", Place::Symbol { name: "v", offset: 48 }));
        for text in ["a", "a@0xyz", "a@v+z"] {
            let error = object(text).unwrap_err().to_string();
            assert!(error.starts_with(text) && error.contains("TYPE@SYMBOL"), "{error}");
        }
    }
}
