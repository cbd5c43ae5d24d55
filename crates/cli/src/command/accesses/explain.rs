//! `fieldline explain`: the member an instruction touches, and the data flow that shows it.

use crate::args::ExplainArgs;
use crate::input::recordings;
use crate::input::trace::parse_hex;
use crate::output::{self, CommandOutcome};
use crate::report::color::Palette;
use crate::report::explain_text;
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf, TypeReader};
use fieldline_debuginfo::separate_debug::open_alt_link;
use fieldline_debuginfo::{Elf, LinkedAddress};
use fieldline_layout::Layout;
use fieldline_typeflow::operands::explain::{explain, list};
use fieldline_typeflow::operands::target::{Target, TypeEntry};
use fieldline_typeflow::program::Program;

pub(crate) fn run(args: &ExplainArgs) -> Result<CommandOutcome> {
    let files = recordings::open_program(&args.vmlinux)?;
    let (elf, debug) = (Elf::parse(&files.program)?, Elf::parse(files.debug())?);
    let sup_bytes = open_alt_link(&debug)?;
    let sup = sup_bytes.as_ref().map(Elf::parse).transpose()?;
    let sections = DebugSections::load(&debug, sup.as_ref())?;
    let dwarf = Dwarf::new(&sections)?;
    let mut program = Program::with_debug(&elf, &debug, &dwarf)?;
    let places = args.places.iter().map(|place| resolve(&program, place));
    let places: Vec<Vec<CodeLocation>> = places.collect::<Result<_>>()?;
    program.load_all();
    let mut out = String::new();
    let mut without_debug_info = Vec::new();
    for place in places.iter().flatten() {
        if !draw(&mut out, &program, &dwarf, place)? {
            without_debug_info.push(place.address);
        }
    }
    let why = |address: &LinkedAddress| format!("{address:#x}: no function with debug info is there");
    match without_debug_info.first() {
        Some(first) if out.is_empty() => bail!(why(first)),
        _ => without_debug_info.iter().for_each(|address| output::print_note(&why(address))),
    }
    output::print(&out)
}

/// An instruction, or a function with all its accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CodeLocation {
    address: LinkedAddress,
    is_function: bool,
}

/// Resolves a name or address. Static functions of several units may have one name: all are meant.
fn resolve(program: &Program<'_>, text: &str) -> Result<Vec<CodeLocation>> {
    let (name, offset) = text.split_once('+').map_or((text, None), |(name, offset)| (name, Some(offset)));
    let parse = |offset| parse_hex(offset).with_context(|| format!("{text}: no offset behind +"));
    let offset = offset.map(parse).transpose()?;
    let functions = program.symbols.iter().filter(|symbol| symbol.is_function && symbol.name == name);
    let mut found: Vec<CodeLocation> = Vec::new();
    for symbol in functions {
        let size = symbol.size.unwrap_or(0);
        if offset.is_some_and(|offset| offset >= size) {
            bail!("{text}: the function has only {size:#x} bytes");
        }
        let address = LinkedAddress(symbol.address + offset.unwrap_or(0));
        found.push(CodeLocation { address, is_function: offset.is_none() });
    }
    if found.is_empty() {
        let Some(address) = parse_hex(text).filter(|_| offset.is_none()).map(LinkedAddress) else {
            bail!("{text}: neither a function of the program nor an address in hexadecimal");
        };
        found.push(CodeLocation { address, is_function: false });
    }
    found.dedup();
    Ok(found)
}

/// Whether the location has debug info: assembly has none.
fn draw<'a>(
    out: &mut String,
    program: &'a Program<'a>,
    dwarf: &Dwarf<'_>,
    place: &CodeLocation,
) -> Result<bool> {
    let paint = Palette::new(output::use_color());
    let mut reader = TypeReader::new(dwarf);
    // The path of the member that an operand is.
    let mut member = |target: &Target<TypeEntry>| {
        let Target::Exact { ty, offset } = target else { return None };
        ty.name.kind?;
        let id = reader.read(ty.die?).ok()?;
        Layout::from_type(reader.table(), id)?.path_at(*offset)
    };
    let address = place.address;
    if place.is_function {
        let Some(lines) = list(program, address) else { return Ok(false) };
        explain_text::draw_lines(out, &lines, &mut member, paint);
    } else if let Some(explanation) = explain(program, address) {
        explain_text::draw(out, &explanation, &mut member, paint);
    } else if program.has_function(address) {
        bail!("{address:#x}: no instruction begins there");
    } else {
        return Ok(false);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_hexadecimal_with_and_without_a_prefix() {
        assert_eq!(["0x1f", "1f", "g", ""].map(parse_hex), [Some(31), Some(31), None, None]);
    }
}
