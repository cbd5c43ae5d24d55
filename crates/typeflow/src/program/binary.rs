//! The program that was sampled, with everything that is read of it once.

use super::helpers::Helpers;
use super::patches::Patches;
use super::symbols::{CodeImage, Symbols};
use crate::types::{Definitions, Ty, TypeOffset, TypeSpace};
use fieldline_debuginfo::dwarf::code::{Function, NameKind, UnitIndex, UnitMap};
use fieldline_debuginfo::dwarf::{DieRef, Dwarf};
use fieldline_debuginfo::elf::Symbol;
use fieldline_debuginfo::{Elf, Error, LinkedAddress, Machine, Result};
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
    pub image: CodeImage<'a>,
    /// Address and content of its data.
    pub data: Vec<(u64, &'a [u8])>,
    /// Its symbols.
    pub symbols: Symbols<'a>,
    /// Code that is patched at run time.
    pub patches: Patches,
    /// Assembly that stands for instructions.
    pub helpers: Helpers,
    /// Its per-CPU data, or that of threads.
    pub per_cpu: PerCpuArea,
    /// GOT entries by address: name of the variable, and its address if it is this file's.
    pub got_entries: FxHashMap<u64, (&'a str, Option<LinkedAddress>)>,
    /// Pointers that the loader relocates in the data of a position-independent program, as linked.
    pub relocated_pointers: Vec<u64>,
    /// Address where a kernel's text begins (`_text`).
    pub text_start: Option<LinkedAddress>,
    units: UnitMap,
    unit_indexes: Vec<OnceLock<Option<UnitIndex>>>,
    /// Where structs are defined.
    pub definitions: Definitions,
}

/// Where a kernel keeps data of which each CPU has its own, and a program data of which each thread has its
/// own. The symbols hold the distance from the start of a CPU's area (include/linux/percpu-defs.h); an
/// address is that plus what is in `this_cpu_off` or `__per_cpu_offset[cpu]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerCpuArea {
    /// Addresses of per-CPU symbols.
    pub range: Range<LinkedAddress>,
    /// The per-CPU variable that holds the offset of this CPU's area.
    pub this_cpu_offset: Option<u64>,
    /// The array of all CPUs' offsets.
    pub cpu_offsets: Option<u64>,
    /// The segment through which a CPU (or thread) reaches its own.
    pub segment: AddressSegment,
    /// The symbols' values less the addresses in that segment: the segment of a thread begins behind its
    /// data.
    pub segment_bias: u64,
}

impl PerCpuArea {
    fn from_elf(architecture: Architecture, elf: &Elf<'_>, symbols: &Symbols<'_>) -> Self {
        if let Some((size, align)) = elf.thread_local_size() {
            return Self::for_threads(architecture, size, align);
        }
        let address = |name| symbols.find_by_name(name).map(|symbol| symbol.address);
        let section = elf.section_range(".data..percpu").filter(|_| elf.is_module());
        let module_range = section.map(|(begin, size)| begin..begin.saturating_add(size));
        let kernel_range = || Some(address("__per_cpu_start")?..address("__per_cpu_end")?);
        Self {
            range: linked_range(module_range.or_else(kernel_range).unwrap_or(0..0)),
            this_cpu_offset: address("this_cpu_off"),
            cpu_offsets: address("__per_cpu_offset"),
            segment: AddressSegment::Gs,
            segment_bias: 0,
        }
    }

    /// Of a program: what each thread has a copy of, whose symbols hold the distance from the start of that.
    /// (Drepper, "ELF Handling For Thread-Local Storage", section 3.)
    fn for_threads(architecture: Architecture, size: u64, align: u64) -> Self {
        let (this_cpu_offset, segment_bias) = match architecture {
            // Variant II: the first word behind the data is its own address, the thread pointer.
            Architecture::X86_64 => (Some(size), size),
            // Variant I: two words, then the data.
            Architecture::AArch64 => (None, 16_u64.next_multiple_of(align.clamp(1, 1 << 32)).wrapping_neg()),
        };
        let (range, segment) = (linked_range(0..size), AddressSegment::Fs);
        Self { range, this_cpu_offset, cpu_offsets: None, segment, segment_bias }
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
        let architecture = detect_architecture(elf)?;
        let (units, symbols) = rayon::join(|| UnitMap::new(dwarf), || Symbols::new(debug));
        let text_start = symbols.find_by_name("_text").map(|symbol| LinkedAddress(symbol.address));
        let got_entry = |(at, name, to): (_, _, Option<u64>)| (at, (name, to.map(LinkedAddress)));
        Ok(Self {
            dwarf,
            architecture,
            image: CodeImage::new(elf),
            data: elf.data_sections().into_iter().map(|(_, address, bytes)| (address, bytes)).collect(),
            patches: Patches::new(architecture, elf, &symbols),
            helpers: Helpers::new(&symbols),
            per_cpu: PerCpuArea::from_elf(architecture, elf, &symbols),
            got_entries: elf.got_entries().into_iter().map(got_entry).collect(),
            relocated_pointers: elf.relative_addends(),
            text_start,
            symbols,
            units: units?,
            unit_indexes: (0..dwarf.unit_count()).map(|_| OnceLock::new()).collect(),
            definitions: Definitions::default(),
        })
    }

    /// Indexes the units that hold some instructions, so that types may be defined in any of them.
    pub fn load(&mut self, addresses: impl IntoIterator<Item = LinkedAddress>) {
        self.index_units(addresses);
        let loaded = self.unit_indexes.iter().filter_map(|index| index.get()?.as_ref());
        self.definitions = Definitions::new(loaded);
    }

    /// Indexes all units that hold functions, so that types may be defined anywhere.
    pub fn load_all(&mut self) {
        let functions = self.symbols.iter().filter(|symbol| symbol.is_function);
        let addresses: Vec<_> = functions.map(|symbol| LinkedAddress(symbol.address)).collect();
        self.load(addresses);
    }

    /// The function with debug info at an address, and its unit.
    pub fn function_at(&self, address: LinkedAddress) -> Option<(u32, &Function)> {
        let unit = self.unit_at(address)?;
        Some((unit, self.unit_index(unit)?.function_at(address.0)?))
    }

    /// Whether a function with debug info is at an address.
    pub fn has_function(&self, address: LinkedAddress) -> bool {
        self.function_at(address).is_some()
    }

    /// Indexes the units that hold some instructions, in parallel.
    pub fn index_units(&self, addresses: impl IntoIterator<Item = LinkedAddress>) {
        let units: BTreeSet<u32> = addresses.into_iter().filter_map(|at| self.unit_at(at)).collect();
        units.into_par_iter().for_each(|unit| {
            self.unit_index(unit);
        });
    }

    /// The unit that holds an instruction.
    pub fn unit_at(&self, address: LinkedAddress) -> Option<u32> {
        self.units.unit_at(address.0)
    }

    /// The index of a unit; `None` if it can't be read.
    pub fn unit_index(&self, unit: u32) -> Option<&UnitIndex> {
        let index = self.unit_indexes.get(unit as usize)?;
        index.get_or_init(|| UnitIndex::new(self.dwarf, unit).ok()).as_ref()
    }

    /// A space for types of this program.
    pub fn types(&'a self) -> TypeSpace<'a, 'a> {
        TypeSpace::new(self.dwarf, &self.definitions)
    }

    /// The instructions of a function with some ranges of code, by address, as the kernel may have patched
    /// them.
    pub fn instructions(&self, reader: &mut InstructionReader, ranges: &[Range<u64>]) -> Vec<Instruction> {
        let mut ranges = ranges.to_vec();
        ranges.sort_by_key(|range| range.start);
        let mut instructions: Vec<Instruction> = Vec::new();
        for range in ranges {
            // Ranges of one function that overlap are none a compiler writes.
            let is_disjoint = instructions.last().is_none_or(|last| last.end() <= range.start);
            if is_disjoint && range.end - range.start <= MAX_BYTES {
                let code = self.image.code(range.start, range.end);
                instructions.extend(reader.read_all(range.start, code));
            }
        }
        for instruction in &mut instructions {
            *instruction = self.helpers.apply_helper(*instruction);
            instruction.flow = match instruction.flow {
                Flow::Stop if self.patches.is_warning(instruction.address) => Flow::Next,
                // A jump that may be patched away is followed both ways.
                Flow::Jump(target) if self.patches.may_be_replaced(instruction.address) => {
                    Flow::Branch(target)
                }
                flow => flow,
            };
        }
        instructions
    }

    /// The variable at an address, as a unit knows it: its type and the offset in it.
    pub fn variable_at(
        &self,
        unit: u32,
        address: LinkedAddress,
        types: &mut TypeSpace<'_, '_>,
    ) -> Option<TypeOffset> {
        let symbol = self.symbols.data_at(address)?;
        // A variable may have several names, of which a unit knows one.
        let mut names =
            self.symbols.starting_at(LinkedAddress(symbol.address)).filter(|symbol| !symbol.is_function);
        let die = names.find_map(|symbol| self.find_variable_die(unit, &symbol))?;
        let ty = types.type_of_die(self.dwarf.type_die(die)?);
        let offset = i64::try_from(address.0 - symbol.address).ok()?;
        (ty != Ty::VOID).then_some(TypeOffset { ty, offset })
    }

    /// The variable at an address, as any unit that was loaded knows it.
    pub fn variable_anywhere(&self, at: LinkedAddress, types: &mut TypeSpace<'_, '_>) -> Option<TypeOffset> {
        let loaded = (0u32..).zip(&self.unit_indexes).filter(|(_, index)| index.get().is_some());
        let mut units = loaded.map(|(unit, _)| unit);
        units.find_map(|unit| self.variable_at(unit, at, types))
    }

    /// A variable as a unit defines or declares it. Linkers leave what they dropped at address 0, where
    /// per-CPU data begins, and several units have static variables of one name: both name and address must
    /// fit.
    fn find_variable_die(&self, unit: u32, symbol: &Symbol<'_>) -> Option<DieRef> {
        let survey = self.unit_index(unit)?;
        let name = symbol.name.as_bytes();
        let mut defined = survey.variables_at(symbol.address);
        let defined = defined.find(|die| {
            self.dwarf.name_of(*die).is_some_and(|own| matches_symbol(own, name))
                || self.dwarf.linkage_name_of(*die) == Some(name)
        });
        defined.or_else(|| {
            let named = survey.find_named(self.dwarf, NameKind::Variable, name)?;
            survey.address_of(named).is_none_or(|address| address == symbol.address).then_some(named)
        })
    }
}

fn linked_range(Range { start, end }: Range<u64>) -> Range<LinkedAddress> {
    LinkedAddress(start)..LinkedAddress(end)
}

/// The processor a file is for.
fn detect_architecture(elf: &Elf<'_>) -> Result<Architecture> {
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
fn matches_symbol(variable: &[u8], symbol: &[u8]) -> bool {
    symbol.strip_prefix(variable).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_may_have_a_number_behind_the_variables_name() {
        assert!(matches_symbol(b"count", b"count") && matches_symbol(b"count", b"count.12"));
        assert!(!matches_symbol(b"count", b"counter") && !matches_symbol(b"count", b"coun"));
    }
}
