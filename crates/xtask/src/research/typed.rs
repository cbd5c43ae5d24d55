//! How much of a kernel's code has known types: instructions that touch memory off the stack, by folder of the source.

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

/// What came of the instructions of a folder.
#[derive(Default)]
struct TypedTally {
    functions: u64,
    /// Off the stack.
    instructions: u64,
    placed: u64,
    /// By why nothing, or not all, is known.
    others: BTreeMap<String, u64>,
}

/// `cargo xtask typed [FOLDER [VMLINUX…]]`: the share of each kernel, and how far they are apart.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let folder = args.first().map_or("kernel/sched", String::as_str);
    let mut kernels: Vec<PathBuf> = args.iter().skip(1).map(PathBuf::from).collect();
    if kernels.is_empty() {
        kernels.push(inputs::vmlinux()?);
    }
    let mut shares = Vec::new();
    for vmlinux in &kernels {
        let count = count(vmlinux, folder)?;
        if count.instructions == 0 {
            bail!("{}: no function with debug info of {folder} touches memory", vmlinux.display());
        }
        shares.push(count.share());
        count.print(vmlinux, folder);
    }
    let least = shares.iter().copied().fold(100.0, f64::min);
    let most = shares.iter().copied().fold(0.0, f64::max);
    print_line(&format!("  apart by {:.2} points", (most - least).max(0.0)));
    Ok(most - least <= 5.0)
}

fn count(vmlinux: &Path, folder: &str) -> Result<TypedTally> {
    let file = FileBytes::open(vmlinux)?;
    let elf = Elf::parse(&file)?;
    let sections = DebugSections::load(&elf, None)?;
    let dwarf = Dwarf::new(&sections)?;
    let mut program = Program::new(&elf, &dwarf)?;
    program.load_all();
    let mut entries = Vec::new();
    for unit in 0..u32::try_from(dwarf.unit_count())? {
        let name = dwarf.unit_name(unit)?;
        if !name.trim_start_matches("./").split("/linux-").any(|part| is_in_folder(part, folder)) {
            continue;
        }
        let functions = program.unit_index(unit).map_or(&[][..], |survey| &survey.functions);
        entries.extend(functions.iter().map(|function| LinkedAddress(function.entry())));
    }
    let answers = ProgramOperands::new(&program, &entries[..].into());
    let mut count = TypedTally { functions: answers.functions.len() as u64, ..TypedTally::default() };
    for typed in answers.functions.iter().flat_map(|function| &function.instructions) {
        if let Some(operand) = typed.operands.iter().find(|operand| !operand.is_implicit) {
            count.add(operand.target);
        }
    }
    Ok(count)
}

/// Whether a unit's path leads into a folder, be it spelled from the tree's top or from the root.
fn is_in_folder(path: &str, folder: &str) -> bool {
    let inside = |rest: &str| rest.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    inside(path) || path.find(&format!("/{folder}/")).is_some()
}

impl TypedTally {
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
            None => self.placed += 1,
            Some(reason) => *self.others.entry(reason.id().to_owned()).or_default() += 1,
        }
    }

    /// Share of those with some type, in percent.
    fn share(&self) -> f64 {
        let some = [Reason::UnknownOffset, Reason::UnknownIndex];
        let some = some.iter().filter_map(|reason| self.others.get(reason.id())).sum::<u64>();
        100.0 * (self.placed + some) as f64 / self.instructions as f64
    }

    fn print(&self, vmlinux: &Path, folder: &str) {
        print_line(&format!(
            "  {}: {} functions of {folder}, {} instructions touch memory off the stack, {:.2} % have a type, {:.2} % a \
             place in it",
            vmlinux.display(),
            self.functions,
            self.instructions,
            self.share(),
            100.0 * self.placed as f64 / self.instructions as f64
        ));
        for (word, count) in &self.others {
            print_line(&format!("    {word}: {count}"));
        }
    }
}
