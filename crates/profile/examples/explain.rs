//! Explains instructions: `explain VMLINUX ADDRESS…`.
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_profile::attribute::explain::explain;
use fieldline_profile::program::Program;
use std::path::Path;

#[allow(clippy::print_stdout, reason = "an example shows")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let file = FileBytes::open(Path::new(&args[1]))?;
    let elf = Elf::parse(&file)?;
    let sections = DebugSections::load(&elf, None)?;
    let dwarf = Dwarf::new(&sections)?;
    let mut program = Program::new(&elf, &dwarf)?;
    let addresses: Vec<u64> = args[2..].iter().filter_map(|a| u64::from_str_radix(a, 16).ok()).collect();
    program.load(addresses.iter().copied());
    for address in addresses {
        match explain(&program, address, &Default::default()) {
            Some(e) => println!(
                "{address:x} {}\n  bytes {}\n  scopes {}\n  variables\n    {}\n  registers\n    {}\n  operands\n    {}",
                e.place,
                e.bytes,
                e.scopes.join(" > "),
                e.variables.join("\n    "),
                e.registers.join("\n    "),
                e.operands.join("\n    ")
            ),
            None => println!("{address:x}: no function"),
        }
    }
    Ok(())
}
