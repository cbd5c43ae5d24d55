//! Names of addresses, and the machine code there.

use fieldline_debuginfo::elf::Symbol;
use fieldline_debuginfo::{Elf, LinkedAddress};
use fieldline_files::printable::printable;
use std::cmp::Reverse;

/// All symbols of a file by address.
#[derive(Clone, Debug, Default)]
pub struct Symbols<'d> {
    /// Sorted by address, larger ones first.
    symbols: Vec<Symbol<'d>>,
}

impl<'d> Symbols<'d> {
    /// The symbols of a file.
    pub fn new(elf: &Elf<'d>) -> Self {
        let mut symbols: Vec<_> = elf.symbols().collect();
        symbols.sort_unstable_by_key(|symbol| (symbol.address, Reverse(symbol.size), symbol.name));
        Self { symbols }
    }

    /// The data symbol that covers an address: the last one that begins before it.
    pub fn data_at(&self, address: LinkedAddress) -> Option<Symbol<'d>> {
        self.find_covering(address, false)
    }

    /// The function symbol that covers an address.
    pub fn function_at(&self, address: LinkedAddress) -> Option<Symbol<'d>> {
        self.find_covering(address, true)
    }

    fn find_covering(&self, LinkedAddress(address): LinkedAddress, is_function: bool) -> Option<Symbol<'d>> {
        let past = self.symbols.partition_point(|symbol| symbol.address <= address);
        // Symbols without a size (labels of a linker script) may stand in between.
        let before = self.symbols.get(past.saturating_sub(32)..past)?.iter().rev();
        let mut fitting = before.filter(|symbol| symbol.is_function == is_function);
        let covers = |symbol: &&Symbol<'d>| symbol.size.is_some_and(|size| address - symbol.address < size);
        fitting.find(covers).cloned()
    }

    /// An address as symbol and distance from it.
    pub fn format_address(&self, address: LinkedAddress) -> Option<String> {
        let symbol = self.function_at(address).or_else(|| self.data_at(address))?;
        Some(match address.0 - symbol.address {
            0 => printable(symbol.name).into_owned(),
            distance => format!("{}+{distance:#x}", printable(symbol.name)),
        })
    }

    /// Symbols that begin at an address.
    pub fn starting_at(&self, LinkedAddress(start): LinkedAddress) -> impl Iterator<Item = Symbol<'d>> + '_ {
        let first = self.symbols.partition_point(|symbol| symbol.address < start);
        let rest = self.symbols.get(first..).unwrap_or(&[]);
        rest.iter().take_while(move |symbol| symbol.address == start).cloned()
    }

    /// All symbols by address.
    pub fn iter(&self) -> impl Iterator<Item = &Symbol<'d>> {
        self.symbols.iter()
    }

    /// The first symbol of a name, by address.
    pub fn find_by_name(&self, name: &str) -> Option<Symbol<'d>> {
        self.symbols.iter().find(|symbol| symbol.name == name).cloned()
    }
}

/// The sections of a file that hold machine code.
#[derive(Clone, Debug, Default)]
pub struct CodeImage<'d> {
    /// Address and content, sorted.
    sections: Vec<(u64, &'d [u8])>,
}

impl<'d> CodeImage<'d> {
    /// The code of a file.
    pub fn new(elf: &Elf<'d>) -> Self {
        let sections = elf.text_sections().into_iter();
        let mut sections: Vec<_> = sections.map(|(_, address, bytes)| (address, bytes)).collect();
        sections.sort_by_key(|(address, _)| *address);
        Self { sections }
    }

    /// The code from an address on, up to an end or the section's.
    pub fn code(&self, begin: u64, end: u64) -> &'d [u8] {
        let past = self.sections.partition_point(|(address, _)| *address <= begin);
        let section = past.checked_sub(1).and_then(|index| self.sections.get(index));
        let Some((address, bytes)) = section else { return &[] };
        let offset = |at: u64| usize::try_from(at.saturating_sub(*address)).unwrap_or(usize::MAX);
        let end = offset(end).min(bytes.len());
        bytes.get(offset(begin)..end).unwrap_or(&[])
    }

    /// Whether an address is in a section of code.
    pub fn contains(&self, address: u64) -> bool {
        !self.code(address, address.saturating_add(1)).is_empty()
    }

    /// Addresses and contents of all sections.
    pub fn sections(&self) -> &[(u64, &'d [u8])] {
        &self.sections
    }
}
