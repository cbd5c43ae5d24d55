//! What stands behind an address: `SYMBOL+0xOFFSET (FILE)`; where it tells that symbols lay.

use std::collections::BTreeMap;

/// Symbols kept of one address space: enough to outvote names that several functions share.
const SYMBOLS: usize = 64;
const SPACES: usize = 1 << 12;

/// The parts behind an address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Symbol<'l> {
    /// The symbol and the address's distance from its start, if both stand there.
    pub(crate) place: Option<(&'l str, u64)>,
    /// The file, or a name in brackets.
    pub(crate) dso: Option<&'l str>,
    pub(crate) rest: &'l str,
}

impl<'l> Symbol<'l> {
    pub(crate) fn parse(text: &'l str) -> Self {
        let text = text.trim_start();
        let (place, behind) = match split_offset(text) {
            Some((symbol, offset, behind)) => (Some((symbol, offset)), behind),
            None => (None, text),
        };
        let open = if place.is_some() { behind.trim_start().strip_prefix('(') } else { find_open(text) };
        match open.and_then(split_close) {
            Some((dso, rest)) => Self { place, dso: Some(dso), rest },
            None => Self { place, dso: None, rest: behind },
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

/// What follows the parenthesis that opens the file's name; the arguments of a C++ function have no blank before theirs.
fn find_open(text: &str) -> Option<&str> {
    text.strip_prefix('(').or_else(|| text.split_once(" (").map(|(_, rest)| rest))
}

/// The text up to a closing parenthesis that ends a word, and what follows it.
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
    /// A file's in a process, or a thread's where processes are not told; by the file's path as printed.
    Program(u32, String),
}

/// Where symbols of a program or of the kernel were when it was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Landmark {
    /// Run-time addresses of symbols by name; `None` for names that more than one address has.
    pub symbols: BTreeMap<String, Option<u64>>,
}

/// Landmarks by address space.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Landmarks {
    pub(crate) spaces: BTreeMap<AddressSpace, Landmark>,
}

impl Landmarks {
    /// Takes note of an address and what stands behind it. `pid` is a process, or none for the kernel's addresses.
    pub(crate) fn note(&mut self, pid: Option<u32>, ip: u64, symbol: &Symbol<'_>) {
        let Some((name, offset)) = symbol.place else { return };
        let Some(address) = ip.checked_sub(offset) else { return };
        let space = match (pid, symbol.dso) {
            (None, _) => AddressSpace::Kernel,
            (Some(pid), Some(dso)) => AddressSpace::Program(pid, dso.to_owned()),
            // Without the file there is no telling whose symbol it is.
            (Some(_), None) => return,
        };
        if !self.spaces.contains_key(&space) && self.spaces.len() >= SPACES {
            return;
        }
        let symbols = &mut self.spaces.entry(space).or_default().symbols;
        if let Some(known) = symbols.get_mut(name) {
            *known = known.filter(|known| *known == address);
        } else if symbols.len() < SYMBOLS {
            symbols.insert(name.to_owned(), Some(address));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (Option<(&str, u64)>, Option<&str>, &str) {
        let symbol = Symbol::parse(text);
        (symbol.place, symbol.dso, symbol.rest)
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
    fn a_name_with_two_addresses_tells_nothing() {
        let mut marks = Landmarks::default();
        for (ip, name) in [(0x1010, "a"), (0x1018, "a"), (0x2010, "b")] {
            marks.note(None, ip, &Symbol { place: Some((name, ip & 0xf | 0x10)), ..Symbol::default() });
        }
        marks.note(None, 0x3000, &Symbol { place: Some(("b", 0)), ..Symbol::default() });
        marks.note(None, 0x1, &Symbol { place: Some(("c", 2)), ..Symbol::default() });
        let symbols = &marks.spaces[&AddressSpace::Kernel].symbols;
        assert_eq!((symbols["a"], symbols["b"], symbols.len()), (Some(0x1000), None, 2));
    }

    #[test]
    fn programs_are_told_by_process_and_file() {
        let mut marks = Landmarks::default();
        let symbol = Symbol { place: Some(("a", 0)), dso: Some("/bin/a"), rest: "" };
        marks.note(Some(7), 0x1000, &symbol);
        marks.note(Some(8), 0x2000, &symbol);
        marks.note(Some(8), 0x2000, &Symbol { dso: None, ..symbol });
        assert_eq!(marks.spaces.len(), 2);
    }
}
