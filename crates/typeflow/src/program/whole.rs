//! The program that was sampled, with everything that is read of it once.

use super::helpers::Helpers;
use super::patches::Patches;
use super::symbols::{Image, Symbols};
use crate::types::{Definitions, Place, Ty, TypeSpace};
use fieldline_debuginfo::dwarf::code::{Function, NameKind, Survey, UnitMap};
use fieldline_debuginfo::dwarf::{DieRef, Dwarf};
use fieldline_debuginfo::elf::Symbol;
use fieldline_debuginfo::{Elf, Error, Machine, Result};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{AddressSegment, Flow, Instruction};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

/// Longest function that is analysed, in bytes; longer ones are no functions.
const MAX_BYTES: u64 = 1 << 20;

/// A program.
pub struct Program<'a> {
    /// Its DWARF.
    pub dwarf: &'a Dwarf<'a>,
    /// The processor it is for.
    pub architecture: Architecture,
    /// Its machine code.
    pub image: Image<'a>,
    /// Address and content of its data.
    pub data: Vec<(u64, &'a [u8])>,
    /// Its symbols.
    pub symbols: Symbols<'a>,
    /// What of its code is patched at run time.
    pub patches: Patches,
    /// Assembly that stands for instructions.
    pub helpers: Helpers,
    /// Its per-CPU data, or that of threads.
    pub per_cpu: PerCpu,
    /// Words that the loader fills with a variable's address, by their own: the variable's name and address.
    pub table_words: FxHashMap<u64, (&'a str, u64)>,
    /// Words that the loader puts into data of a program that may lie anywhere, as linked.
    pub loaded_words: Vec<u64>,
    /// Address where the kernel's text begins (`_text`); 0 of other programs.
    pub text_start: u64,
    units: UnitMap,
    surveys: Vec<OnceLock<Option<Survey>>>,
    /// Where structs are defined.
    pub definitions: Definitions,
}

/// Where a kernel keeps data of which each CPU has its own, and a program data of which each thread has its own. The symbols
/// hold the distance from the start of a CPU's area (include/linux/percpu-defs.h); an address is that plus what is in
/// `this_cpu_off` or `__per_cpu_offset[cpu]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerCpu {
    /// Addresses of per-CPU symbols as linked.
    pub range: Range<u64>,
    /// The per-CPU variable that holds the offset of this CPU's area.
    pub own_offset: Option<u64>,
    /// The array of all CPUs' offsets.
    pub offsets: Option<u64>,
    /// The segment through which a CPU (or thread) reaches its own.
    pub segment: AddressSegment,
    /// What addresses in that segment are less than the symbols' values: the segment of a thread begins behind its data.
    pub bias: u64,
}

impl PerCpu {
    fn of(architecture: Architecture, elf: &Elf<'_>, symbols: &Symbols<'_>) -> Self {
        if let Some((size, align)) = elf.thread_local() {
            return Self::of_threads(architecture, size, align);
        }
        let address = |name| symbols.named(name).map(|symbol| symbol.address);
        let section = elf.section_range(".data..percpu").filter(|_| elf.is_module());
        let of_module = section.map(|(begin, size)| begin..begin.saturating_add(size));
        let of_kernel = || Some(address("__per_cpu_start")?..address("__per_cpu_end")?);
        Self {
            range: of_module.or_else(of_kernel).unwrap_or(0..0),
            own_offset: address("this_cpu_off"),
            offsets: address("__per_cpu_offset"),
            segment: AddressSegment::Gs,
            bias: 0,
        }
    }

    /// Of a program: what each thread has a copy of, whose symbols hold the distance from the start of that.
    /// (Drepper, "ELF Handling For Thread-Local Storage", section 3.)
    fn of_threads(architecture: Architecture, size: u64, align: u64) -> Self {
        let (own_offset, bias) = match architecture {
            // Variant II: the first word behind the data is its own address, the thread pointer.
            Architecture::X86_64 => (Some(size), size),
            // Variant I: two words, then the data.
            Architecture::AArch64 => (None, 16_u64.next_multiple_of(align.clamp(1, 1 << 32)).wrapping_neg()),
        };
        Self { range: 0..size, own_offset, offsets: None, segment: AddressSegment::Fs, bias }
    }
}

impl<'a> Program<'a> {
    /// Reads what all functions need: symbols, patches, where units are.
    ///
    /// # Errors
    /// If the code is for a processor that is not understood, or the debug info's tables of units are broken.
    pub fn new(elf: &Elf<'a>, dwarf: &'a Dwarf<'a>) -> Result<Self> {
        Self::with_debug(elf, elf, dwarf)
    }

    /// The same of a program whose symbols and debug info are in a file of their own.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_debug(elf: &Elf<'a>, debug: &Elf<'a>, dwarf: &'a Dwarf<'a>) -> Result<Self> {
        let architecture = architecture(elf)?;
        let (units, symbols) = rayon::join(|| UnitMap::new(dwarf), || Symbols::new(debug));
        let text_start = symbols.named("_text").map_or(0, |symbol| symbol.address);
        Ok(Self {
            dwarf,
            architecture,
            image: Image::new(elf),
            data: elf.data_sections().into_iter().map(|(_, address, bytes)| (address, bytes)).collect(),
            patches: Patches::new(architecture, elf, &symbols),
            helpers: Helpers::new(&symbols),
            per_cpu: PerCpu::of(architecture, elf, &symbols),
            table_words: elf.table_words().into_iter().map(|(at, name, to)| (at, (name, to))).collect(),
            loaded_words: elf.loaded_words(),
            text_start,
            symbols,
            units: units?,
            surveys: (0..dwarf.unit_count()).map(|_| OnceLock::new()).collect(),
            definitions: Definitions::default(),
        })
    }

    /// Surveys the units that hold some instructions, so that types may be defined in any of them.
    pub fn load(&mut self, addresses: impl IntoIterator<Item = u64>) {
        self.survey_all(addresses);
        let loaded = self.surveys.iter().filter_map(|survey| survey.get()?.as_ref());
        self.definitions = Definitions::new(loaded);
    }

    /// Surveys all units that hold functions, so that types may be defined anywhere.
    pub fn load_all(&mut self) {
        let functions = self.symbols.iter().filter(|symbol| symbol.is_function);
        let addresses: Vec<u64> = functions.map(|symbol| symbol.address).collect();
        self.load(addresses);
    }

    /// The function with debug info at an address, and its unit.
    pub fn function_at(&self, address: u64) -> Option<(u32, &Function)> {
        let unit = self.unit_at(address)?;
        Some((unit, self.survey(unit)?.function_at(address)?))
    }

    /// Whether a function with debug info is at an address.
    pub fn has_function(&self, address: u64) -> bool {
        self.function_at(address).is_some()
    }

    /// Surveys the units that hold some instructions, in parallel.
    pub fn survey_all(&self, addresses: impl IntoIterator<Item = u64>) {
        let units: BTreeSet<u32> = addresses.into_iter().filter_map(|at| self.units.unit_at(at)).collect();
        units.into_par_iter().for_each(|unit| {
            self.survey(unit);
        });
    }

    /// The unit that holds an instruction.
    pub fn unit_at(&self, address: u64) -> Option<u32> {
        self.units.unit_at(address)
    }

    /// The top of a unit; `None` if it can't be read.
    pub fn survey(&self, unit: u32) -> Option<&Survey> {
        let survey = self.surveys.get(unit as usize)?;
        survey.get_or_init(|| Survey::new(self.dwarf, unit).ok()).as_ref()
    }

    /// A space for types of this program.
    pub fn types(&'a self) -> TypeSpace<'a, 'a> {
        TypeSpace::new(self.dwarf, &self.definitions)
    }

    /// The instructions of a function with some ranges of code, by address, as the kernel may have patched them.
    pub fn instructions(&self, reader: &mut InstructionReader, ranges: &[Range<u64>]) -> Vec<Instruction> {
        let mut ranges = ranges.to_vec();
        ranges.sort_by_key(|range| range.start);
        let mut instructions: Vec<Instruction> = Vec::new();
        for range in ranges {
            // Ranges of one function that overlap are none a compiler writes.
            let apart = instructions.last().is_none_or(|last| last.end() <= range.start);
            if apart && range.end - range.start <= MAX_BYTES {
                let code = self.image.code(range.start, range.end);
                instructions.extend(reader.read_all(range.start, code));
            }
        }
        for instruction in &mut instructions {
            *instruction = self.helpers.resolve(*instruction);
            instruction.flow = match instruction.flow {
                Flow::Stop if self.patches.only_warns(instruction.address) => Flow::Next,
                // What may be patched not to jump is followed both ways.
                Flow::Jump(target) if self.patches.may_be_gone(instruction.address) => Flow::Branch(target),
                flow => flow,
            };
        }
        instructions
    }

    /// The variable at an address, as a unit knows it: its type and the offset in it.
    pub fn variable_at(&self, unit: u32, address: u64, types: &mut TypeSpace<'_, '_>) -> Option<Place> {
        let symbol = self.symbols.data_at(address)?;
        // A variable may have several names, of which a unit knows one.
        let mut names = self.symbols.at(symbol.address).filter(|symbol| !symbol.is_function);
        let die = names.find_map(|symbol| self.variable_of(unit, &symbol))?;
        let ty = types.of_die(self.dwarf.type_die(die)?);
        let offset = i64::try_from(address - symbol.address).ok()?;
        (ty != Ty::VOID).then_some(Place { ty, offset })
    }

    /// The variable at an address, as any unit that was loaded knows it.
    pub fn variable_anywhere(&self, address: u64, types: &mut TypeSpace<'_, '_>) -> Option<Place> {
        let loaded = (0u32..).zip(&self.surveys).filter(|(_, survey)| survey.get().is_some());
        let mut units = loaded.map(|(unit, _)| unit);
        units.find_map(|unit| self.variable_at(unit, address, types))
    }

    /// A variable as a unit defines or declares it. Linkers leave what they dropped at address 0, where per-CPU data
    /// begins, and several units have static variables of one name: both name and address must fit.
    fn variable_of(&self, unit: u32, symbol: &Symbol<'_>) -> Option<DieRef> {
        let survey = self.survey(unit)?;
        let name = symbol.name.as_bytes();
        let mut defined = survey.variables_at(symbol.address);
        let defined = defined.find(|die| {
            self.dwarf.name_of(*die).is_some_and(|own| is_name_of(own, name))
                || self.dwarf.linkage_name_of(*die) == Some(name)
        });
        defined.or_else(|| {
            let named = survey.named(self.dwarf, NameKind::Variable, name)?;
            survey.address_of(named).is_none_or(|address| address == symbol.address).then_some(named)
        })
    }
}

/// The processor a file is for.
fn architecture(elf: &Elf<'_>) -> Result<Architecture> {
    let known = match elf.machine() {
        Machine::X86_64 => Some(Architecture::X86_64),
        Machine::Aarch64 => Some(Architecture::AArch64),
        _ => None,
    };
    known.filter(|_| elf.is_little_endian()).ok_or_else(|| Error::Elf {
        file: elf.name().to_owned(),
        place: "ELF header".to_owned(),
        what: format!("code for {:?} is not understood; that of x86-64 and AArch64 is", elf.machine()),
    })
}

/// Whether a symbol is that of a variable: compilers add a number to names that are not unique (`count.12`).
fn is_name_of(variable: &[u8], symbol: &[u8]) -> bool {
    symbol.strip_prefix(variable).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_may_have_a_number_behind_the_variables_name() {
        assert!(is_name_of(b"count", b"count") && is_name_of(b"count", b"count.12"));
        assert!(!is_name_of(b"count", b"counter") && !is_name_of(b"count", b"coun"));
    }
}
