//! `fieldline explain`: what an instruction touches, and how that is known.

use crate::args::ExplainArgs;
use crate::input::recordings;
use crate::output::{self, Outcome};
use crate::report::color::Paint;
use crate::report::explain_text;
use anyhow::{Context, Result, bail};
use fieldline_debuginfo::dwarf::open_alt_link;
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf, TypeReader};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_layout::Layout;
use fieldline_typeflow::operands::explain::{explain, list};
use fieldline_typeflow::operands::target::{Target, TypeEntry};
use fieldline_typeflow::program::Program;

pub(crate) fn run(args: &ExplainArgs) -> Result<Outcome> {
    let bytes = recordings::open_linked(FileBytes::open(&args.vmlinux)?)?;
    let elf = Elf::parse(&bytes)?;
    let sup_bytes = open_alt_link(&elf)?;
    let sup = sup_bytes.as_ref().map(Elf::parse).transpose()?;
    let sections = DebugSections::load(&elf, sup.as_ref())?;
    let dwarf = Dwarf::new(&sections)?;
    let mut program = Program::new(&elf, &dwarf)?;
    let places = args.places.iter().map(|place| resolve(&program, place));
    let places: Vec<Vec<Place>> = places.collect::<Result<_>>()?;
    program.load_all();
    let mut out = String::new();
    let mut dark = Vec::new();
    for place in places.iter().flatten() {
        if !draw(&mut out, &program, &dwarf, place)? {
            dark.push(place.address());
        }
    }
    let why = |address: &u64| format!("{address:#x}: no function with debug info is there");
    match dark.first() {
        Some(first) if out.is_empty() => bail!(why(first)),
        _ => dark.iter().for_each(|address| output::note(&why(address))),
    }
    output::print(&out)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Instruction(u64),
    Function(u64),
}

impl Place {
    fn address(self) -> u64 {
        match self {
            Self::Instruction(address) | Self::Function(address) => address,
        }
    }
}

/// Static functions of several units may have one name: all of them are meant.
fn resolve(program: &Program<'_>, text: &str) -> Result<Vec<Place>> {
    let (name, offset) = match text.split_once('+') {
        Some((name, offset)) => {
            (name, Some(hex(offset).with_context(|| format!("{text}: no offset behind +"))?))
        }
        None => (text, None),
    };
    let functions = program.symbols.iter().filter(|symbol| symbol.is_function && symbol.name == name);
    let mut found: Vec<Place> = Vec::new();
    for symbol in functions {
        match offset {
            Some(offset) if offset >= symbol.size => {
                bail!("{text}: the function has only {:#x} bytes", symbol.size)
            }
            Some(offset) => found.push(Place::Instruction(symbol.address + offset)),
            None => found.push(Place::Function(symbol.address)),
        }
    }
    if found.is_empty() {
        match hex(text).filter(|_| offset.is_none()) {
            Some(address) => found.push(Place::Instruction(address)),
            None => bail!("{text}: neither a function of the program nor an address in hexadecimal"),
        }
    }
    found.dedup();
    Ok(found)
}

fn hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16).ok()
}

/// Whether there was something to draw: assembly has no debug info.
fn draw<'a>(out: &mut String, program: &'a Program<'a>, dwarf: &Dwarf<'_>, place: &Place) -> Result<bool> {
    let paint = Paint::new(output::use_color());
    let mut members = Members { reader: TypeReader::new(dwarf) };
    let address = place.address();
    match place {
        Place::Function(_) => {
            let Some(lines) = list(program, address) else { return Ok(false) };
            explain_text::draw_lines(out, &lines, &mut |target| members.path(target), paint);
        }
        Place::Instruction(_) => {
            let Some(explanation) = explain(program, address) else {
                if program.has_function(address) {
                    bail!("{address:#x}: no instruction begins there");
                }
                return Ok(false);
            };
            explain_text::draw(out, &explanation, &mut |target| members.path(target), paint);
        }
    }
    Ok(true)
}

struct Members<'a, 's> {
    reader: TypeReader<'a, 's>,
}

impl Members<'_, '_> {
    /// The path of the member that an operand is.
    fn path(&mut self, target: &Target<TypeEntry>) -> Option<String> {
        let Target::Place { ty, offset } = target else { return None };
        ty.name.kind?;
        let id = self.reader.read(ty.die?).ok()?;
        Layout::of(self.reader.table(), id)?.path_at(*offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_hexadecimal_with_and_without_a_prefix() {
        assert_eq!((hex("0x1f"), hex("1f"), hex("g"), hex("")), (Some(31), Some(31), None, None));
    }
}
