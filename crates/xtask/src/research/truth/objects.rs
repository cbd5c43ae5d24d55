//! Where the objects of a recorded machine were.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// One object: address of its first byte, and bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) base: u64,
    pub(super) size: u64,
}

/// All objects by type, in order of address.
#[derive(Default)]
pub(super) struct Objects(BTreeMap<String, Vec<Span>>);

impl Objects {
    /// Reads rows `address type size …`, the address in hex.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Self::parse(&text, &path.display().to_string())
    }

    /// The same of a text; `origin` goes into errors.
    pub(super) fn parse(text: &str, origin: &str) -> Result<Self> {
        let mut found = Self::default();
        for row in text.lines().filter(|row| !row.starts_with('#')) {
            let mut words = row.split('\t');
            let mut word = || words.next().with_context(|| format!("{origin}: short row {row:?}"));
            let (base, name, size) = (word()?, word()?, word()?);
            let span = Span { base: u64::from_str_radix(base, 16)?, size: size.parse()? };
            found.0.entry(name.to_owned()).or_default().push(span);
        }
        found.0.values_mut().for_each(|spans| spans.sort_unstable());
        Ok(found)
    }

    /// Names of the types, those with small objects first: an object in another is found before it.
    pub(super) fn types(&self) -> Vec<&str> {
        let mut types: Vec<&str> = self.0.keys().map(String::as_str).collect();
        types.sort_by_key(|name| self.spans(name).iter().map(|span| span.size).max());
        types
    }

    pub(super) fn spans(&self, name: &str) -> &[Span] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn has_object_at(&self, name: &str, base: u64) -> bool {
        self.spans(name).binary_search_by_key(&base, |span| span.base).is_ok()
    }
}

/// The object an address lies in, by index.
pub(super) fn object_index_at(spans: &[Span], address: u64) -> Option<usize> {
    let index = spans.partition_point(|span| span.base <= address).checked_sub(1)?;
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
            [99, 100, 107, 108, 215, 216].iter().map(|address| object_index_at(&spans, *address)).collect();
        assert_eq!(found, [None, Some(0), Some(0), None, Some(1), None]);
    }
}
