//! Machine code: any bytes in place of a program's text.

use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes, LinkedAddress};
use fieldline_typeflow::operands::explain::{explain, list};
use fieldline_typeflow::operands::program_operands::ProgramOperands;
use fieldline_typeflow::program::Program;
use std::sync::OnceLock;

/// A program of our own fixtures: a function for each idiom of addressing, with DWARF.
const IDIOMS: &[u8] = include_bytes!("../../../fixtures/attribution/idioms");
/// The same for AArch64.
const AARCH64: &[u8] = include_bytes!("../../../fixtures/attribution/idioms-aarch64");
/// Most functions, and instructions of each, that are explained.
const EXPLAINED: usize = 4;

/// The unchanged fixture.
pub(crate) fn idioms() -> FileBytes {
    FileBytes::from_vec("idioms", IDIOMS.to_vec())
}

/// Code that replaces a function's. The first two bytes choose its place, and the lowest bit the processor.
pub fn code(bytes: &[u8]) {
    let Some((place, code)) = bytes.split_first_chunk::<2>() else { return };
    let place = usize::from(u16::from_le_bytes(*place));
    let original = if place % 2 == 0 { IDIOMS } else { AARCH64 };
    let mut program = original.to_vec();
    let (begin, length) = text_range(place % 2 == 0);
    // AArch64's instructions stand at multiples of four bytes.
    let at = begin + (place / 2 * if place % 2 == 0 { 1 } else { 4 }) % length;
    let end = (at + code.len()).min(begin + length);
    program[at..end].copy_from_slice(&code[..end - at]);
    let file = FileBytes::from_vec("idioms", program);
    let Ok(elf) = Elf::parse(&file) else { return };
    let Ok(sections) = DebugSections::load(&elf, None) else { return };
    let Ok(dwarf) = Dwarf::new(&sections) else { return };
    let Ok(mut program) = Program::new(&elf, &dwarf) else { return };
    program.load_all();
    let (_, address, _) = elf.text_sections()[0];
    analyse(&program, address + (at - begin) as u64);
}

/// File offset and length of a fixture's text.
fn text_range(is_x86: bool) -> (usize, usize) {
    static RANGES: [OnceLock<(usize, usize)>; 2] = [OnceLock::new(), OnceLock::new()];
    *RANGES[usize::from(is_x86)].get_or_init(|| {
        let original = if is_x86 { IDIOMS } else { AARCH64 };
        let file = FileBytes::from_vec("idioms", original.to_vec());
        let elf = Elf::parse(&file).expect("the fixture is a program");
        let (_, _, text) = elf.text_sections()[0];
        let begin = text.as_ptr() as usize - file.bytes().as_ptr() as usize;
        (begin, text.len())
    })
}

fn analyse<'a>(program: &'a Program<'a>, changed: u64) {
    let functions = program.symbols.iter().filter(|symbol| symbol.is_function);
    let mut addresses: Vec<u64> = functions.map(|symbol| symbol.address).collect();
    // Functions that the changed code may call are analysed, too.
    addresses.retain(|address| address.abs_diff(changed) < 512);
    addresses.push(changed);
    let addresses: Vec<LinkedAddress> = addresses.into_iter().map(LinkedAddress).collect();
    let answers = ProgramOperands::new(program, &addresses[..].into());
    for function in answers.functions.iter().take(EXPLAINED) {
        for typed in function.instructions.iter().take(EXPLAINED) {
            let _ = explain(program, typed.address);
        }
    }
    let changed = LinkedAddress(changed);
    let _ = (explain(program, changed), list(program, changed));
}
