//! Instructions to watch, and what the plugin writes where they run.

use super::members::MemberOffsets;
use super::names::{self, SizeSource};
use crate::error::{Error, Result};
use fieldline_debuginfo::{Elf, LinkedAddress};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::Flow;
use fieldline_typeflow::program::Program;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Kinds of events, by the number the plugin writes.
pub(crate) mod event {
    /// Another task runs: its address, pid, tgid, name.
    pub(crate) const SWITCH: u32 = 1;
    /// An allocator was entered: stack pointer, bytes, address to which it will return.
    pub(crate) const ENTRY: u32 = 2;
    /// It returns: stack pointer, object, address to which it returns.
    pub(crate) const RETURN: u32 = 3;
    /// The same of memory of which each CPU has its own.
    pub(crate) const CPU_RETURN: u32 = 4;
    /// An object is freed: its address.
    pub(crate) const FREE: u32 = 5;
    /// The same of memory of which each CPU has its own.
    pub(crate) const CPU_FREE: u32 = 6;
    /// A module is about to run: name, address and bytes of its text.
    pub(crate) const MODULE: u32 = 7;
    /// Distances of CPUs' data: index of the first, then eight.
    pub(crate) const CPU_OFFSETS: u32 = 8;
    /// The text that names the kernel's build, from its first byte on.
    pub(crate) const BANNER: u32 = 9;
}

/// Functions that are followed as last acts of one.
const MAX_LAST_ACTS: usize = 8;
/// Bytes of names that are read.
pub(crate) const NAME_BYTES: usize = 56;
/// Bytes of a task's name (`TASK_COMM_LEN`).
pub(crate) const COMM_BYTES: usize = 16;
/// Bytes of the text that names a kernel's build, as far as it is compared.
pub(crate) const BANNER_BYTES: usize = 256;
/// CPUs whose distances one event has.
pub(crate) const OFFSETS_AT_ONCE: usize = 8;

/// Linked address of the function that shows where the kernel lies. Programs that aren't kernels have none.
pub(crate) fn anchor(program: &Program<'_>, kernel: &str) -> Result<u64> {
    let symbol = program.symbols.find_by_name(names::ANCHOR);
    symbol.map(|symbol| symbol.address).ok_or_else(|| Error::Kernel {
        kernel: kernel.to_owned(),
        what: format!("it is no kernel with symbols: there is no {}", names::ANCHOR),
    })
}

/// The text by which a kernel names its build, as far as it is compared; empty if there is none.
pub(crate) fn banner(elf: &Elf<'_>, program: &Program<'_>) -> String {
    let symbol = program.symbols.find_by_name(names::BANNER);
    let bytes = symbol.and_then(|symbol| {
        let size = symbol.size.unwrap_or(0).min(BANNER_BYTES as u64);
        elf.bytes_at(symbol.address, size)
    });
    let bytes = bytes.unwrap_or_default().split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

/// Lines of the plugin's plan that say what to watch.
pub(crate) struct PointLines<'p, 'a> {
    program: &'p Program<'a>,
    kernel: &'p str,
    lines: String,
}

impl<'p, 'a> PointLines<'p, 'a> {
    /// The lines for a kernel with so many CPUs.
    pub(crate) fn build(
        program: &'p Program<'a>,
        kernel: &'p str,
        offsets: &MemberOffsets,
        cpus: usize,
    ) -> Result<String> {
        let mut points = Self { program, kernel, lines: String::new() };
        let anchor = anchor(program, kernel)?;
        points.line(format_args!("anchor {anchor:#x}"));
        let register = match program.architecture {
            Architecture::X86_64 => "gs_base",
            Architecture::AArch64 => "TPIDR_EL1",
        };
        points.line(format_args!("cpu {register}"));
        points.window(cpus)?;
        points.switches(offsets)?;
        points.allocators(offsets)?;
        points.frees();
        points.modules(offsets);
        Ok(points.lines)
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string can't fail.
        let _ = writeln!(self.lines, "{text}");
    }

    fn address(&self, name: &str) -> Option<u64> {
        self.program.symbols.find_by_name(name).map(|symbol| symbol.address)
    }

    fn require(&self, name: &str) -> Result<u64> {
        self.address(name).ok_or_else(|| Error::Kernel {
            kernel: self.kernel.to_owned(),
            what: format!("there is no symbol {name}, which a guest is recorded by"),
        })
    }

    fn require_any(&self, names: &[&str]) -> Result<u64> {
        let found = names.iter().find_map(|name| self.address(name));
        found.map_or_else(|| self.require(names.first().copied().unwrap_or_default()), Ok)
    }

    fn argument(&self, index: usize) -> &'static str {
        let architecture = self.program.architecture;
        let register = architecture.argument_registers().get(index).copied();
        architecture.register_name(register.unwrap_or(architecture.result_register()))
    }

    /// The window begins with the distances of all CPUs' data.
    fn window(&mut self, cpus: usize) -> Result<()> {
        let (begin, end) = (self.require_any(names::BEGIN)?, self.require_any(names::END)?);
        let offsets = self.require(names::CPU_OFFSETS)?;
        for first in (0..cpus).step_by(OFFSETS_AT_ONCE) {
            let (at, id) = (offsets + 8 * first as u64, event::CPU_OFFSETS);
            self.line(format_args!(
                "point {begin:#x} event {id} ={first} ={at:#x}@0/{}",
                8 * OFFSETS_AT_ONCE
            ));
        }
        let banner = self.require(names::BANNER)?;
        let parts = (0..BANNER_BYTES as u64).step_by(64).map(|part| format!(" ={:#x}@0/64", banner + part));
        let (parts, id) = (parts.collect::<String>(), event::BANNER);
        self.line(format_args!("point {begin:#x} event {id}{parts}"));
        self.line(format_args!("point {begin:#x} begin"));
        self.line(format_args!("point {end:#x} end"));
        Ok(())
    }

    fn switches(&mut self, offsets: &MemberOffsets) -> Result<()> {
        let (at, next, id) = (self.require(names::SWITCH)?, self.argument(1), event::SWITCH);
        let MemberOffsets { pid, tgid, comm, .. } = offsets;
        self.line(format_args!(
            "point {at:#x} event {id} {next} {next}@{pid}/4 {next}@{tgid}/4 {next}@{comm}/{COMM_BYTES}"
        ));
        Ok(())
    }

    fn allocators(&mut self, offsets: &MemberOffsets) -> Result<()> {
        let plain = names::ALLOCATORS.iter().map(|allocator| (allocator, event::RETURN));
        let of_cpus = names::CPU_ALLOCATORS.iter().map(|allocator| (allocator, event::CPU_RETURN));
        let mut count = 0;
        for ((name, size), id) in plain.chain(of_cpus) {
            for name in [(*name).to_owned(), format!("{name}{}", names::UNHOOKED)] {
                count += usize::from(self.allocator(&name, *size, offsets, id));
            }
        }
        if count == 0 {
            self.require("kmem_cache_alloc")?;
        }
        Ok(())
    }

    /// Watches a function's entry and its returns; whether there is such a function.
    fn allocator(&mut self, name: &str, size: SizeSource, offsets: &MemberOffsets, id: u32) -> bool {
        let Some(symbol) = self.program.symbols.find_by_name(name).filter(|symbol| symbol.is_function) else {
            return false;
        };
        let architecture = self.program.architecture;
        let stack = architecture.register_name(architecture.stack_pointer());
        let back = match architecture {
            Architecture::X86_64 => "rsp@0",
            Architecture::AArch64 => "x30",
        };
        let (entry, at) = (event::ENTRY, symbol.address);
        match size {
            SizeSource::Argument(index) => {
                let size = self.argument(index);
                self.line(format_args!("point {at:#x} event {entry} {stack} {size} {back}"));
            }
            SizeSource::Cache(index) => {
                let (cache, offset) = (self.argument(index), offsets.object_size);
                self.line(format_args!("point {at:#x} event {entry} {stack} {cache}@{offset}/4 {back}"));
            }
        }
        let result = architecture.register_name(architecture.result_register());
        for at in self.returns(at, symbol.size.unwrap_or(0)) {
            self.line(format_args!("point {at:#x} event {id} {stack} {result} {back}"));
        }
        true
    }

    /// Addresses of instructions that return from a function, also of those of functions that it jumps to as its last
    /// act.
    fn returns(&self, begin: u64, size: u64) -> BTreeSet<u64> {
        let mut found = BTreeSet::new();
        let (mut known, mut pending) = (BTreeSet::from([begin]), vec![(begin, size)]);
        while let Some((begin, size)) = pending.pop() {
            let function = self.program.function_at(LinkedAddress(begin));
            let whole = begin..begin.saturating_add(size);
            let ranges = function.map_or_else(|| vec![whole], |(_, function)| function.ranges.clone());
            let mut reader = InstructionReader::new(self.program.architecture);
            for instruction in self.program.instructions(&mut reader, &ranges) {
                match instruction.flow {
                    Flow::Return => {
                        found.insert(instruction.address);
                    }
                    Flow::Jump(target) | Flow::Branch(target) => {
                        let is_inside = ranges.iter().any(|range| range.contains(&target));
                        let callee = self.program.symbols.starting_at(LinkedAddress(target));
                        let size = callee.filter(|symbol| symbol.is_function).find_map(|symbol| symbol.size);
                        if let Some(size) = size.filter(|_| !is_inside && known.len() < MAX_LAST_ACTS)
                            && known.insert(target)
                        {
                            pending.push((target, size));
                        }
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn frees(&mut self) {
        for (name, argument) in names::FREES {
            self.free(name, event::FREE, *argument);
        }
        for (name, argument) in names::CPU_FREES {
            self.free(name, event::CPU_FREE, *argument);
        }
        for (name, count, pointer) in names::LIST_FREES {
            let (count, pointer, id) = (self.argument(*count), self.argument(*pointer), event::FREE);
            if let Some(at) = self.address(name) {
                self.line(format_args!("point {at:#x} list {id} {count} {pointer}"));
            }
        }
    }

    fn free(&mut self, name: &str, id: u32, argument: usize) {
        if let Some(at) = self.address(name) {
            let pointer = self.argument(argument);
            self.line(format_args!("point {at:#x} event {id} {pointer}"));
        }
    }

    fn modules(&mut self, offsets: &MemberOffsets) {
        let (Some(at), Some(members)) = (self.address(names::MODULE_INIT), offsets.module) else { return };
        let (module, id) = (self.argument(0), event::MODULE);
        let super::members::ModuleOffsets { name, text, text_size } = members;
        self.line(format_args!(
            "point {at:#x} event {id} {module}@{name}/{NAME_BYTES} {module}@{text}/8 {module}@{text_size}/4"
        ));
        let words = NAME_BYTES / 8;
        self.line(format_args!("module {id} {words} {}", words + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_demo;

    #[test]
    fn functions_return_where_they_or_their_last_acts_do() {
        with_demo(check_returns);
    }

    fn check_returns(program: &Program<'_>) {
        let points = PointLines { program, kernel: "shaper", lines: String::new() };
        let functions: Vec<_> = program.symbols.iter().filter(|symbol| symbol.is_function).collect();
        let with_code = functions.iter().filter(|symbol| symbol.size.is_some_and(|size| size > 8));
        let mut elsewhere = 0;
        for symbol in with_code.clone() {
            let size = symbol.size.unwrap();
            let returns = points.returns(symbol.address, size);
            // `ret`, at times behind a prefix.
            assert!(
                returns.iter().all(|at| matches!(program.image.code(*at, at + 2), [0xc3, ..] | [0xf3, 0xc3]))
            );
            elsewhere +=
                usize::from(returns.iter().any(|at| !(symbol.address..symbol.address + size).contains(at)));
        }
        assert!(with_code.count() > 5 && elsewhere > 0, "{elsewhere}");
        assert!(anchor(program, "shaper").unwrap_err().to_string().contains("shaper: it is no kernel"));
    }
}
