//! The share of a kernel's instructions with memory operands off the stack whose type is known, by folder of the source.

use crate::research::statistics::percent;
use crate::tools::inputs;
use crate::tools::shell::print_line;
use anyhow::{Result, bail};
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_debuginfo::{Elf, FileBytes, LinkedAddress};
use fieldline_typeflow::operands::program_operands::ProgramOperands;
use fieldline_typeflow::operands::reason::Reason;
use fieldline_typeflow::operands::target::{Target, TypeIndex};
use fieldline_typeflow::program::Program;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Counts of a folder's instructions.
#[derive(Default)]
struct Tally {
    functions: u64,
    /// Off the stack.
    instructions: u64,
    /// With type and offset.
    exact: u64,
    /// Others, by reason.
    others: BTreeMap<&'static str, u64>,
}

/// `cargo xtask typed [FOLDER [VMLINUX…]]`: the share of each kernel, and the difference between them.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let folder = args.first().map_or("kernel/sched", String::as_str);
    let mut kernels: Vec<PathBuf> = args.iter().skip(1).map(PathBuf::from).collect();
    if kernels.is_empty() {
        kernels.push(inputs::vmlinux()?);
    }
    let mut shares = Vec::new();
    for vmlinux in &kernels {
        let tally = Tally::new(vmlinux, folder)?;
        if tally.instructions == 0 {
            bail!("{}: no function with debug info of {folder} touches memory", vmlinux.display());
        }
        shares.push(tally.share());
        tally.print(vmlinux, folder);
    }
    let least = shares.iter().copied().fold(100.0, f64::min);
    let most = shares.iter().copied().fold(0.0, f64::max);
    print_line!("  apart by {:.2} points", (most - least).max(0.0));
    Ok(most - least <= 5.0)
}

/// Whether a unit's path, relative to the tree or absolute, leads into a folder.
fn is_in_folder(path: &str, folder: &str) -> bool {
    let inside = |rest: &str| rest.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    inside(path) || path.find(&format!("/{folder}/")).is_some()
}

impl Tally {
    fn new(vmlinux: &Path, folder: &str) -> Result<Self> {
        let file = FileBytes::open(vmlinux)?;
        let elf = Elf::parse(&file)?;
        let sections = DebugSections::load(&elf, None)?;
        let dwarf = Dwarf::new(&sections)?;
        let mut program = Program::new(&elf, &dwarf)?;
        program.load_all();
        let mut entries = Vec::new();
        for unit in 0..u32::try_from(dwarf.unit_count())? {
            let name = dwarf.unit_name(unit)?;
            if name.trim_start_matches("./").split("/linux-").any(|part| is_in_folder(part, folder)) {
                let functions = program.unit_index(unit).map_or(&[][..], |index| &index.functions);
                entries.extend(functions.iter().map(|function| LinkedAddress(function.entry())));
            }
        }
        let functions = ProgramOperands::new(&program, &entries[..].into()).functions;
        let mut tally = Self { functions: functions.len() as u64, ..Self::default() };
        for instruction in functions.iter().flat_map(|function| &function.instructions) {
            let operand = instruction.operands.iter().find(|operand| !operand.is_implicit);
            operand.into_iter().for_each(|operand| tally.add(operand.target));
        }
        Ok(tally)
    }

    fn add(&mut self, target: Target<TypeIndex>) {
        let other = match target {
            Target::Unknown(Reason::Stack) => return,
            Target::Exact { .. } => None,
            Target::Within { .. } => Some(Reason::UnknownOffset),
            Target::Element { .. } => Some(Reason::UnknownIndex),
            Target::Unknown(reason) => Some(reason),
        };
        self.instructions += 1;
        match other {
            None => self.exact += 1,
            Some(reason) => *self.others.entry(reason.id()).or_default() += 1,
        }
    }

    /// Share of instructions with a type, in percent.
    fn share(&self) -> f64 {
        let typed = [Reason::UnknownOffset, Reason::UnknownIndex];
        let typed = typed.iter().filter_map(|reason| self.others.get(reason.id())).sum::<u64>();
        percent(self.exact + typed, self.instructions)
    }

    fn print(&self, vmlinux: &Path, folder: &str) {
        let Self { functions, instructions, exact, .. } = self;
        let (file, share, exact) = (vmlinux.display(), self.share(), percent(*exact, *instructions));
        print_line!(
            "  {file}: {functions} functions of {folder}, {instructions} instructions touch memory off the stack, \
             {share:.2} % have a type, {exact:.2} % a place in it"
        );
        self.others.iter().for_each(|(reason, count)| print_line!("    {reason}: {count}"));
    }
}
