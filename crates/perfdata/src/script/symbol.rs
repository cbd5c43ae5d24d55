//! The text behind an address, `SYMBOL+0xOFFSET (FILE)`, and the loaded addresses of symbols that it gives.

use crate::address::LoadedAddress;
use std::collections::BTreeMap;

/// Symbols kept of one address space: enough to outvote names that several functions share.
const MAX_SYMBOLS: usize = 64;
const MAX_SPACES: usize = 1 << 12;

/// The parts behind an address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Symbol<'l> {
    /// The symbol and the address's distance from its start, if both are printed.
    pub(crate) symbol_offset: Option<(&'l str, u64)>,
    /// The file, or a name in brackets.
    pub(crate) dso: Option<&'l str>,
    pub(crate) rest: &'l str,
}

impl<'l> Symbol<'l> {
    pub(crate) fn parse(text: &'l str) -> Self {
        let text = text.trim_start();
        let (symbol_offset, behind) = match split_offset(text) {
            Some((symbol, offset, behind)) => (Some((symbol, offset)), behind),
            None => (None, text),
        };
        let open =
            if symbol_offset.is_some() { behind.trim_start().strip_prefix('(') } else { find_open(text) };
        match open.and_then(split_close) {
            Some((dso, rest)) => Self { symbol_offset, dso: Some(dso), rest },
            None => Self { symbol_offset, dso: None, rest: behind },
        }
    }
}

/// `SYMBOL+0xOFFSET` at the front; names of C++ may hold blanks.
fn split_offset(text: &str) -> Option<(&str, u64, &str)> {
    let (symbol, rest) = text.split_once("+0x")?;
    let end = rest.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(rest.len());
    let (digits, behind) = rest.split_at(end);
    let offset = u64::from_str_radix(digits, 16).ok()?;
    let is_end = behind.is_empty() || behind.starts_with(char::is_whitespace);
    (is_end && !symbol.is_empty() && !symbol.starts_with('[')).then_some((symbol, offset, behind))
}

/// The text behind the parenthesis that opens the file's name; a C++ function's arguments have no blank
/// before theirs.
fn find_open(text: &str) -> Option<&str> {
    text.strip_prefix('(').or_else(|| text.split_once(" (").map(|(_, rest)| rest))
}

/// The text up to a closing parenthesis that ends a word, and the text behind it.
fn split_close(text: &str) -> Option<(&str, &str)> {
    text.match_indices(')').find_map(|(at, _)| {
        let behind = text.get(at + 1..)?;
        (behind.is_empty() || behind.starts_with(char::is_whitespace)).then_some((text.get(..at)?, behind))
    })
}

/// Whose addresses they are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressSpace {
    /// The kernel's.
    Kernel,
    /// A file's in a process, or a thread's where processes are not printed; by the file's path as printed.
    Program(u32, String),
}

/// Loaded addresses of symbols of a program or of the kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolAddresses {
    /// Loaded addresses by name; `None` for names that more than one address has.
    pub symbols: BTreeMap<String, Option<LoadedAddress>>,
}

/// Addresses of symbols by address space.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SymbolAddressesBySpace {
    pub(crate) spaces: BTreeMap<AddressSpace, SymbolAddresses>,
}

impl SymbolAddressesBySpace {
    /// Adds an address with the symbol behind it. `pid` is a process, or none for the kernel's addresses.
    pub(crate) fn add(&mut self, pid: Option<u32>, ip: LoadedAddress, symbol: &Symbol<'_>) {
        let Some((name, offset)) = symbol.symbol_offset else { return };
        let Some(address) = ip.0.checked_sub(offset).map(LoadedAddress) else { return };
        let space = match (pid, symbol.dso) {
            (None, _) => AddressSpace::Kernel,
            (Some(pid), Some(dso)) => AddressSpace::Program(pid, dso.to_owned()),
            // Without the file the symbol belongs to no known program.
            (Some(_), None) => return,
        };
        if !self.spaces.contains_key(&space) && self.spaces.len() >= MAX_SPACES {
            return;
        }
        let symbols = &mut self.spaces.entry(space).or_default().symbols;
        if let Some(known) = symbols.get_mut(name) {
            *known = known.filter(|known| *known == address);
        } else if symbols.len() < MAX_SYMBOLS {
            symbols.insert(name.to_owned(), Some(address));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (Option<(&str, u64)>, Option<&str>, &str) {
        let symbol = Symbol::parse(text);
        (symbol.symbol_offset, symbol.dso, symbol.rest)
    }

    #[test]
    fn symbols_offsets_and_files() {
        assert_eq!(parts(" walk+0x1f ([xfs])"), (Some(("walk", 0x1f)), Some("[xfs]"), ""));
        assert_eq!(parts(" walk+0x1f"), (Some(("walk", 0x1f)), None, ""));
        assert_eq!(parts(" walk (/bin/a) 0x1/0x2/P"), (None, Some("/bin/a"), " 0x1/0x2/P"));
        assert_eq!(parts(" walk"), (None, None, "walk"));
        assert_eq!(parts(" [unknown] ([unknown])"), (None, Some("[unknown]"), ""));
        assert_eq!(parts(""), (None, None, ""));
    }

    #[test]
    fn names_with_blanks_and_parentheses() {
        let text = " std::map<int, A >::at(int const&)+0x1f (/tmp/a b (deleted))";
        let expected = (Some(("std::map<int, A >::at(int const&)", 0x1f)), Some("/tmp/a b (deleted)"), "");
        assert_eq!(parts(text), expected);
    }

    #[test]
    fn names_with_two_addresses_have_none() {
        let mut marks = SymbolAddressesBySpace::default();
        for (ip, name) in [(0x1010, "a"), (0x1018, "a"), (0x2010, "b")] {
            marks.add(
                None,
                LoadedAddress(ip),
                &Symbol { symbol_offset: Some((name, ip & 0xf | 0x10)), ..Symbol::default() },
            );
        }
        marks.add(
            None,
            LoadedAddress(0x3000),
            &Symbol { symbol_offset: Some(("b", 0)), ..Symbol::default() },
        );
        marks.add(None, LoadedAddress(0x1), &Symbol { symbol_offset: Some(("c", 2)), ..Symbol::default() });
        let symbols = &marks.spaces[&AddressSpace::Kernel].symbols;
        assert_eq!((symbols["a"], symbols["b"], symbols.len()), (Some(LoadedAddress(0x1000)), None, 2));
    }

    #[test]
    fn programs_are_keyed_by_process_and_file() {
        let mut marks = SymbolAddressesBySpace::default();
        let symbol = Symbol { symbol_offset: Some(("a", 0)), dso: Some("/bin/a"), rest: "" };
        marks.add(Some(7), LoadedAddress(0x1000), &symbol);
        marks.add(Some(8), LoadedAddress(0x2000), &symbol);
        marks.add(Some(8), LoadedAddress(0x2000), &Symbol { dso: None, ..symbol });
        assert_eq!(marks.spaces.len(), 2);
    }
}
