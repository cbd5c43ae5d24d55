//! Types of values along a function, and the type and offset each instruction touches.
//!
//! ```
//! use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
//! use fieldline_debuginfo::{Elf, FileBytes, LinkedAddress};
//! use fieldline_typeflow::operands::explain::explain;
//! use fieldline_typeflow::program::Program;
//!
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/attribution/idioms");
//! let file = FileBytes::open(path.as_ref()).unwrap();
//! let elf = Elf::parse(&file).unwrap();
//! let sections = DebugSections::load(&elf, None).unwrap();
//! let dwarf = Dwarf::new(&sections).unwrap();
//! let mut program = Program::new(&elf, &dwarf).unwrap();
//! program.load_all();
//! let charge = LinkedAddress(program.symbols.find_by_name("charge").unwrap().address);
//! let explanation = explain(&program, charge).unwrap();
//! assert_eq!(explanation.line.operands[0].verdict, "struct entity +0");
//! ```
//!
//! * `types`: types of debug info, and offsets in them, as values.
//! * `program`: functions, symbols and code of a program.
//! * `flow`: data flow of registers and stack slots along a function.
//! * `calls`: arguments that callers pass, and callers of functions.
//! * `operands`: targets of operands in memory, with the reason where there is none.

/// The value of a key in a table; computed and inserted if there is none.
#[macro_export]
macro_rules! memoized {
    ($owner:ident.$table:ident, $key:expr, $find:expr) => {{
        let key = $key;
        match $owner.$table.get(&key) {
            Some(known) => known.to_owned(),
            None => {
                let found = $find;
                $owner.$table.entry(key).or_insert(found).to_owned()
            }
        }
    }};
}

mod calls;
pub mod flow;
pub mod operands;
pub mod program;
pub mod types;
