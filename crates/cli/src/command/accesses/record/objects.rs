//! Objects to watch: the addresses of their members, by symbols and debug info.

use anyhow::{Context, Result, bail};
use fieldline_debuginfo::separate_debug::open_debug_file;
use fieldline_debuginfo::{Elf, FileBytes, LinkedAddress, hex, types};
use fieldline_layout::{Layout, Member};
use fieldline_record::{RunningKernel, WatchRange, cover_with_watches};
use fieldline_tree::pins::nearest;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
enum ObjectAddress<'t> {
    Address(u64),
    Symbol { name: &'t str, offset: u64 },
}

/// The type and the address of an object, as the user writes them.
fn parse(text: &str) -> Option<(&str, ObjectAddress<'_>)> {
    let hexadecimal = |digits| u64::from_str_radix(digits, 16).ok();
    let (ty, place) = text.rsplit_once('@')?;
    if let Some(digits) = place.strip_prefix("0x") {
        return Some((types::strip_keyword(ty), ObjectAddress::Address(hexadecimal(digits)?)));
    }
    let (name, offset) = place.split_once('+').unwrap_or((place, "0"));
    let offset = offset.strip_prefix("0x").map_or_else(|| offset.parse().ok(), hexadecimal)?;
    Some((types::strip_keyword(ty), ObjectAddress::Symbol { name, offset }))
}

fn parse_or_explain(text: &str) -> Result<(&str, ObjectAddress<'_>)> {
    parse(text).with_context(|| format!("{text} is no TYPE@SYMBOL, TYPE@SYMBOL+OFFSET or TYPE@0xADDRESS"))
}

/// Checks the syntax of objects.
pub(super) fn check(objects: &[String]) -> Result<()> {
    objects.iter().try_for_each(|text| parse_or_explain(text).map(|_| ()))
}

#[derive(Clone, Copy, Debug)]
pub(super) enum WatchedSpace<'h> {
    /// A process, whose mappings give the load bias.
    Process(u32),
    /// The kernel, on some CPUs.
    Kernel { running: Option<RunningKernel>, cpus: &'h [u32] },
}

pub(super) struct WatchedBytes {
    pub(super) watches: Vec<WatchRange>,
    /// Each object with its address, for messages.
    pub(super) objects: Vec<String>,
}

/// Finds the bytes of members of objects; of all members if none is named.
pub(super) fn find(
    file: &Path,
    objects: &[String],
    members: &[String],
    space: WatchedSpace<'_>,
) -> Result<WatchedBytes> {
    let mut bytes = WatchedBytes { watches: Vec::new(), objects: Vec::new() };
    for text in objects {
        let (ty, place) = parse_or_explain(text)?;
        let layout = layout(file, ty)?;
        for address in resolve_addresses(file, &place, space)? {
            bytes.objects.push(format!("{} at {address:#x}", layout.name));
            for (offset, size) in member_ranges(&layout, members)? {
                bytes.watches.extend(cover_with_watches(address.wrapping_add(offset), size));
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
fn member_ranges(layout: &Layout, members: &[String]) -> Result<Vec<(u64, u64)>> {
    let known = |name: &String| layout.members.iter().any(|member| member.name.as_ref() == Some(name));
    if let Some(name) = members.iter().find(|name| !known(name)) {
        let near = nearest(name, layout.members.iter().filter_map(|member| member.name.as_deref()));
        bail!("struct {} has no member {name}{near}", layout.name);
    }
    let is_named = |member: &Member| member.name.as_ref().is_some_and(|name| members.contains(name));
    let is_asked = |member: &&Member| members.is_empty() || is_named(member);
    let ranges = layout.members.iter().filter(is_asked).map(|member| {
        let (first, end) = (member.bit_offset / 8, member.bit_end().div_ceil(8));
        (first, end - first)
    });
    Ok(ranges.filter(|(_, size)| *size > 0).collect())
}

/// Error: a process has not mapped a file, or not yet.
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

/// Loaded addresses of an object: several for per-CPU data.
fn resolve_addresses(file: &Path, place: &ObjectAddress<'_>, space: WatchedSpace<'_>) -> Result<Vec<u64>> {
    let (name, offset) = match place {
        ObjectAddress::Address(address) => return Ok(vec![*address]),
        ObjectAddress::Symbol { name, offset } => (*name, *offset),
    };
    let bytes = FileBytes::open(file)?;
    let no_symbols = || format!("{name} needs a file with symbols, or give 0xADDRESS");
    let elf = Elf::parse(&bytes).with_context(no_symbols)?;
    // A stripped program's symbols are in its debug file.
    let separate = open_debug_file(&elf)?;
    let debug = separate.as_ref().map(Elf::parse).transpose()?;
    let symbols = debug.as_ref().unwrap_or(&elf);
    let symbol = |name: &str| symbols.symbols().find(|symbol| symbol.name == name && !symbol.is_function);
    let place = || format!("{}: there is no variable {name} among the symbols", file.display());
    let linked = symbol(name).with_context(place)?.address.wrapping_add(offset);
    let symbol_address = |name: &str| Some(symbols.symbols().find(|symbol| symbol.name == name)?.address);
    match space {
        WatchedSpace::Process(pid) => {
            let load_bias = fieldline_record::program_load_bias(pid, &elf);
            let load_bias = load_bias.with_context(|| NotMapped { pid, file: file.to_owned() })?;
            Ok(vec![load_bias.loaded(LinkedAddress(linked)).0])
        }
        WatchedSpace::Kernel { running, cpus } => {
            check_build_id(&elf)?;
            let running = running.map_or_else(RunningKernel::running, Ok)?;
            let missing = |name| format!("{}: no symbol {name}", file.display());
            let text = symbol_address("_text").with_context(|| missing("_text"))?;
            let load_bias = running.load_bias(LinkedAddress(text));
            let per_cpu = symbol_address("__per_cpu_start").zip(symbol_address("__per_cpu_end"));
            if !per_cpu.is_some_and(|(start, end)| start <= linked && linked < end) {
                return Ok(vec![load_bias.loaded(LinkedAddress(linked)).0]);
            }
            let array = "__per_cpu_offset";
            let array = symbol_address(array).with_context(|| missing(array))?;
            let offsets = RunningKernel::per_cpu_offsets(load_bias.loaded(LinkedAddress(array)), cpus);
            let offsets = offsets.with_context(|| {
                format!("{name} is per-CPU data, whose address is not known here; give 0xADDRESS instead")
            })?;
            Ok(offsets.into_iter().map(|offset| linked.wrapping_add(offset)).collect())
        }
    }
}

/// Symbols of another build have other addresses.
fn check_build_id(elf: &Elf<'_>) -> Result<()> {
    let running = RunningKernel::build_id();
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
        let at_symbol = |offset| ObjectAddress::Symbol { name: "v", offset };
        assert_eq!(parse("struct a@0xffff8000"), Some(("a", ObjectAddress::Address(0xffff_8000))));
        assert_eq!(parse("a::b<c>@v"), Some(("a::b<c>", at_symbol(0))));
        assert_eq!(parse("a@v+0x30"), Some(("a", at_symbol(0x30))));
        assert_eq!(parse("a@v+48"), Some(("a", at_symbol(48))));
        for text in ["a", "a@0xyz", "a@v+z"] {
            let error = parse_or_explain(text).unwrap_err().to_string();
            assert!(error.starts_with(text) && error.contains("TYPE@SYMBOL"), "{error}");
        }
    }
}
