//! `fieldline explain`: the member an instruction touches, and the data flow that shows it.

use crate::args::{ExplainArgs, require_vmlinux};
use crate::input::recordings;
use crate::input::trace::parse_hex;
use crate::output::{self, CommandOutcome, OutputFormat};
use crate::report::{explain_json, explain_text};
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf, TypeReader};
use fieldline_debuginfo::elf::Symbol;
use fieldline_debuginfo::separate_debug::open_alt_link;
use fieldline_debuginfo::{Elf, LinkedAddress};
use fieldline_layout::Layout;
use fieldline_tree::pins::nearest;
use fieldline_typeflow::operands::explain::{ExplainedInstruction, Explanation, explain, list};
use fieldline_typeflow::operands::target::{Target, TypeEntry};
use fieldline_typeflow::program::Program;

pub(crate) fn run(args: &ExplainArgs) -> Result<CommandOutcome> {
    let files = recordings::open_program(require_vmlinux(args.vmlinux.as_ref())?)?;
    let (elf, debug) = (Elf::parse(&files.program)?, Elf::parse(files.debug())?);
    let sup_bytes = open_alt_link(&debug)?;
    let sup = sup_bytes.as_ref().map(Elf::parse).transpose()?;
    let sections = DebugSections::load(&debug, sup.as_ref())?;
    let dwarf = Dwarf::new(&sections)?;
    let mut program = Program::with_debug(&elf, &debug, &dwarf)?;
    let places = args.places.iter().map(|place| resolve(&program, place));
    let places: Vec<Vec<CodeLocation>> = places.collect::<Result<_>>()?;
    program.load_all();
    let mut found = Vec::new();
    let mut without_debug_info = Vec::new();
    for place in places.iter().flatten() {
        match explain_place(&program, place)? {
            Some(explained) => found.push(explained),
            None => without_debug_info.push(place.address),
        }
    }
    let why = |address: &LinkedAddress| format!("{address:#x}: no function with debug info is there");
    match without_debug_info.first() {
        Some(first) if found.is_empty() => bail!(why(first)),
        _ => without_debug_info.iter().for_each(|address| output::print_note(&why(address))),
    }
    print(&found, &dwarf, args.format)
}

/// Facts about a location.
enum Explained {
    /// The accesses of a function.
    Function(Vec<ExplainedInstruction>),
    Instruction(Box<Explanation>),
}

/// An instruction, or a function with all its accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CodeLocation {
    address: LinkedAddress,
    is_function: bool,
}

/// The functions of a name; if there are none, the compiler's copies of one, whose symbols have a suffix such as
/// `.isra.0` (GCC: gcc/symtab-clones.cc; debug info and what `explain` prints have the name without it).
fn named_functions<'p>(program: &'p Program<'_>, name: &str) -> Vec<&'p Symbol<'p>> {
    let functions = || program.symbols.iter().filter(|symbol| symbol.is_function);
    let exact: Vec<_> = functions().filter(|symbol| symbol.name == name).collect();
    if !exact.is_empty() {
        return exact;
    }
    let is_copy = |symbol: &&Symbol<'_>| {
        symbol
            .name
            .strip_prefix(name)
            .is_some_and(|suffix| suffix.starts_with('.') && !suffix.contains(".cold"))
    };
    functions().filter(is_copy).collect()
}

/// Resolves a name or address. Static functions of several units may have one name: all are meant.
fn resolve(program: &Program<'_>, text: &str) -> Result<Vec<CodeLocation>> {
    let (name, offset) = text.split_once('+').map_or((text, None), |(name, offset)| (name, Some(offset)));
    let parse = |offset| parse_hex(offset).with_context(|| format!("{text}: no offset behind +"));
    let offset = offset.map(parse).transpose()?;
    let mut found: Vec<CodeLocation> = Vec::new();
    for symbol in named_functions(program, name) {
        let size = symbol.size.unwrap_or(0);
        if offset.is_some_and(|offset| offset >= size) {
            bail!("{text}: the function has only {size:#x} bytes");
        }
        let address = LinkedAddress(symbol.address + offset.unwrap_or(0));
        found.push(CodeLocation { address, is_function: offset.is_none() });
    }
    if found.is_empty() {
        let Some(address) = parse_hex(text).filter(|_| offset.is_none()).map(LinkedAddress) else {
            let names = program.symbols.iter().filter(|symbol| symbol.is_function);
            let near = nearest(name, names.map(|symbol| symbol.name));
            bail!("{text}: neither a function of the program nor an address in hexadecimal{near}");
        };
        found.push(CodeLocation { address, is_function: false });
    }
    found.dedup();
    Ok(found)
}

/// Nothing if the location has no debug info: assembly has none.
fn explain_place<'a>(program: &'a Program<'a>, place: &CodeLocation) -> Result<Option<Explained>> {
    let address = place.address;
    if place.is_function {
        return Ok(list(program, address).map(Explained::Function));
    }
    match explain(program, address) {
        None if program.has_function(address) => bail!("{address:#x}: no instruction begins there"),
        found => Ok(found.map(|found| Explained::Instruction(Box::new(found)))),
    }
}

fn print(found: &[Explained], dwarf: &Dwarf<'_>, format: OutputFormat) -> Result<CommandOutcome> {
    let mut reader = TypeReader::new(dwarf);
    // The path of the member that an operand is.
    let mut member = |target: &Target<TypeEntry>| {
        let Target::Exact { ty, offset } = target else { return None };
        ty.name.kind?;
        let id = reader.read(ty.die?).ok()?;
        Layout::from_type(reader.table(), id)?.path_at(*offset)
    };
    if format == OutputFormat::Json {
        let rows = found.iter().flat_map(|explained| match explained {
            Explained::Function(lines) => {
                lines.iter().map(|line| explain_json::instruction(line, &mut member)).collect()
            }
            Explained::Instruction(found) => vec![explain_json::explanation(found, &mut member)],
        });
        return output::print_json(&explain_json::document(&rows.collect::<Vec<_>>()));
    }
    output::print_drawn(|out, paint| {
        for explained in found {
            match explained {
                Explained::Function(lines) => explain_text::draw_lines(out, lines, &mut member, paint),
                Explained::Instruction(found) => explain_text::draw(out, found, &mut member, paint),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_hexadecimal_with_and_without_a_prefix() {
        assert_eq!(["0x1f", "1f", "g", ""].map(parse_hex), [Some(31), Some(31), None, None]);
    }
}
