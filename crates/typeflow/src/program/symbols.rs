//! Names of addresses.

use fieldline_debuginfo::Elf;

/// A symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'d> {
    /// Address as linked.
    pub address: u64,
    /// Bytes; up to the next symbol where the table gives none.
    pub size: u64,
    /// Name.
    pub name: &'d str,
    /// Whether it is code.
    pub is_function: bool,
}

/// All symbols of a file by address.
#[derive(Clone, Debug, Default)]
pub struct Symbols<'d> {
    /// Sorted by address, larger ones first.
    symbols: Vec<Named<'d>>,
}

impl<'d> Symbols<'d> {
    /// The symbols of a file.
    pub fn new(elf: &Elf<'d>) -> Self {
        let named = elf.symbols().map(|symbol| Named {
            address: symbol.address,
            size: symbol.size,
            name: symbol.name,
            is_function: symbol.is_function,
        });
        let mut symbols: Vec<_> = named.collect();
        symbols.sort_unstable_by_key(|symbol| (symbol.address, u64::MAX - symbol.size, symbol.name));
        Self { symbols }
    }

    /// The data symbol that covers an address: the last one that begins before it.
    pub fn data_at(&self, address: u64) -> Option<Named<'d>> {
        self.covering(address, false)
    }

    /// The function symbol that covers an address.
    pub fn function_at(&self, address: u64) -> Option<Named<'d>> {
        self.covering(address, true)
    }

    fn covering(&self, address: u64, is_function: bool) -> Option<Named<'d>> {
        let past = self.symbols.partition_point(|symbol| symbol.address <= address);
        // Symbols without a size (labels of a linker script) may stand in between.
        let before = self.symbols.get(past.saturating_sub(32)..past)?.iter().rev();
        let mut fitting = before.filter(|symbol| symbol.is_function == is_function);
        let covers = |symbol: &&Named<'d>| address - symbol.address < symbol.size;
        fitting.find(covers).copied()
    }

    /// An address as symbol and distance from it.
    pub fn spelled(&self, address: u64) -> Option<String> {
        let symbol = self.function_at(address).or_else(|| self.data_at(address))?;
        Some(match address - symbol.address {
            0 => symbol.name.to_owned(),
            distance => format!("{}+{distance:#x}", symbol.name),
        })
    }

    /// Symbols that begin at an address.
    pub fn at(&self, address: u64) -> impl Iterator<Item = Named<'d>> + '_ {
        let first = self.symbols.partition_point(|symbol| symbol.address < address);
        let rest = self.symbols.get(first..).unwrap_or(&[]);
        rest.iter().take_while(move |symbol| symbol.address == address).copied()
    }

    /// All symbols by address.
    pub fn iter(&self) -> impl Iterator<Item = &Named<'d>> {
        self.symbols.iter()
    }

    /// The first symbol of a name, by address.
    pub fn named(&self, name: &str) -> Option<Named<'d>> {
        self.symbols.iter().find(|symbol| symbol.name == name).copied()
    }
}
