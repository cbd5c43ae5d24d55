//! The demo's program, for tests.

use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_typeflow::program::Program;
use std::path::{Path, PathBuf};

/// Where it is.
pub(crate) fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/demo/shaper")
}

/// Works with it.
pub(crate) fn with_demo<T>(work: impl for<'a> FnOnce(&'a Program<'a>) -> T) -> T {
    let file = FileBytes::open(&demo()).unwrap();
    let elf = Elf::parse(&file).unwrap();
    let sections = DebugSections::load(&elf, None).unwrap();
    let dwarf = Dwarf::new(&sections).unwrap();
    let mut program = Program::new(&elf, &dwarf).unwrap();
    program.load_all();
    work(&program)
}
