//! Operands of the programs in `fixtures/attribution`, typed by code alone.

use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes, LinkedAddress};
use fieldline_typeflow::operands::program_operands::ProgramOperands;
use fieldline_typeflow::operands::target::{Target, TypeIndex};
use fieldline_typeflow::program::Program;
use std::path::Path;

/// Works with a program of the folder and the addresses of all its code.
pub(crate) fn with_program<T>(
    name: &str,
    work: impl for<'a> FnOnce(&'a Program<'a>, &[LinkedAddress]) -> T,
) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/attribution").join(name);
    let file = FileBytes::open(&path).unwrap();
    let elf = Elf::parse(&file).unwrap();
    let sections = DebugSections::load(&elf, None).unwrap();
    let dwarf = Dwarf::new(&sections).unwrap();
    let mut program = Program::new(&elf, &dwarf).unwrap();
    let text = elf.text_sections();
    let addresses = text.iter().flat_map(|(_, address, bytes)| *address..address + bytes.len() as u64);
    let addresses: Vec<LinkedAddress> = addresses.map(LinkedAddress).collect();
    program.load(addresses.iter().copied());
    work(&program, &addresses)
}

/// Operands written in a function's instructions, in order of address.
pub(crate) fn operands(answers: &ProgramOperands, function: &str) -> Vec<String> {
    let found = answers.functions.iter().find(|found| found.name == function);
    let instructions = &found.unwrap_or_else(|| panic!("no function {function}")).instructions;
    let explicit =
        instructions.iter().flat_map(|typed| typed.operands.iter().filter(|operand| !operand.is_implicit));
    explicit.map(|operand| format_target(answers, operand.target)).collect()
}

fn format_target(answers: &ProgramOperands, target: Target<TypeIndex>) -> String {
    let name = |ty| answers.type_entry(ty).map_or("?", |entry| entry.name.name.as_str());
    match target {
        Target::Exact { ty, offset } => format!("{}+{offset}", name(ty)),
        Target::Within { ty } => format!("{}+?", name(ty)),
        Target::Element { ty, offset, stride, .. } => format!("{}+{offset}+i*{stride}", name(ty)),
        Target::Unknown(reason) => reason.to_string(),
    }
}
