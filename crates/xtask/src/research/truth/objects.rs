//! Where the objects of a recorded machine were.

use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// Address of its first byte.
    pub(crate) base: u64,
    /// Bytes.
    pub(crate) size: u64,
}

/// All objects by type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    by_type: BTreeMap<String, Vec<Span>>,
    starts: BTreeSet<(String, u64)>,
}

impl Objects {
    /// Reads rows `address type size …`, the address in hex.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Self::parse(&text, &path.display().to_string())
    }

    /// The same of a text; `origin` goes into errors.
    pub(crate) fn parse(text: &str, origin: &str) -> Result<Self> {
        let mut found = Self::default();
        for row in text.lines().filter(|row| !row.starts_with('#')) {
            let mut words = row.split('\t');
            let mut word = || words.next().with_context(|| format!("{origin}: short row {row:?}"));
            let (base, name, size) = (word()?, word()?, word()?);
            let span = Span { base: u64::from_str_radix(base, 16)?, size: size.parse()? };
            found.starts.insert((name.to_owned(), span.base));
            found.by_type.entry(name.to_owned()).or_default().push(span);
        }
        found.by_type.values_mut().for_each(|spans| spans.sort_unstable());
        Ok(found)
    }

    /// Names of the types, those with small objects first: an object in another is found before it.
    pub(crate) fn types(&self) -> Vec<&str> {
        let mut types: Vec<(u64, &str)> = self
            .by_type
            .iter()
            .map(|(name, spans)| (spans.iter().map(|span| span.size).max().unwrap_or(0), name.as_str()))
            .collect();
        types.sort_unstable();
        types.into_iter().map(|(_, name)| name).collect()
    }

    /// The objects of a type in order of address.
    pub(crate) fn of(&self, name: &str) -> &[Span] {
        self.by_type.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether an object of a type begins at an address.
    pub(crate) fn begins(&self, name: &str, base: u64) -> bool {
        self.starts.contains(&(name.to_owned(), base))
    }
}

/// The object an address lies in, by index.
pub(crate) fn at(spans: &[Span], address: u64) -> Option<usize> {
    let behind = spans.partition_point(|span| span.base <= address);
    let index = behind.checked_sub(1)?;
    let span = spans.get(index)?;
    (address - span.base < span.size).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_lies_in_the_object_that_covers_it() {
        let spans = [Span { base: 100, size: 8 }, Span { base: 200, size: 16 }];
        let found: Vec<Option<usize>> =
            [99, 100, 107, 108, 215, 216].iter().map(|address| at(&spans, *address)).collect();
        assert_eq!(found, [None, Some(0), Some(0), None, Some(1), None]);
    }
}
