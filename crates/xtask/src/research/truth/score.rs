//! Attribution sample by sample against where objects were.
//!
//! A claim "this address is `offset` into a `T`" is right if a `T` begins at address less offset, so an embedded struct
//! may be named by itself or through its holder. It is wrong if the address lies in some listed object otherwise. An
//! address in no listed object (freed before the list was made) can't be judged.

use super::objects::{Objects, object_index_at};
use crate::research::statistics::percent;
use anyhow::{Context, Result};
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Score {
    /// By the innermost listed type: samples that touched it, and those with a right claim.
    by_type: BTreeMap<String, (u64, u64)>,
    /// Claims of listed types; those `unlisted` have an address in no listed object.
    right: u64,
    wrong: u64,
    unlisted: u64,
    /// All samples, those with some type, and those on the stack.
    samples: u64,
    typed: u64,
    stack: u64,
}

impl Score {
    /// Judges rows `ip addr type offset reason`.
    pub(super) fn from_rows(rows: &str, objects: &Objects) -> Result<Self> {
        let types = objects.types();
        let mut score = Self::default();
        for row in rows.lines().filter(|row| !row.starts_with('#')) {
            score.add(row, objects, &types).with_context(|| format!("row {row:?}"))?;
        }
        Ok(score)
    }

    fn add(&mut self, row: &str, objects: &Objects, types: &[&str]) -> Result<()> {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [_, address, claim, offset, reason, ..] = words.as_slice() else { anyhow::bail!("short row") };
        let address = u64::from_str_radix(address, 16)?;
        let contains = |name: &&str| object_index_at(objects.spans(name), address).is_some();
        let truth = types.iter().copied().find(contains);
        self.samples += 1;
        self.typed += u64::from(*claim != "-");
        self.stack += u64::from(*reason == "stack");
        if let Some(truth) = truth {
            self.by_type.entry(truth.to_owned()).or_default().0 += 1;
        }
        if types.contains(claim) {
            self.count_claim(objects.has_object_at(claim, address.wrapping_sub(offset.parse()?)), truth);
        }
        Ok(())
    }

    fn count_claim(&mut self, is_right: bool, truth: Option<&str>) {
        match (is_right, truth) {
            (true, Some(truth)) => {
                self.right += 1;
                self.by_type.entry(truth.to_owned()).or_default().1 += 1;
            }
            (true, None) => self.right += 1,
            (false, Some(_)) => self.wrong += 1,
            (false, None) => self.unlisted += 1,
        }
    }

    /// Share of a type's samples that were found, in percent.
    pub(super) fn recall(&self, name: &str) -> f64 {
        let (seen, found) = self.by_type.get(name).copied().unwrap_or_default();
        percent(found, seen)
    }

    /// Share of right claims among those that can be judged, in percent.
    pub(super) fn precision(&self) -> f64 {
        percent(self.right, self.right + self.wrong)
    }

    /// Share of claims at no listed object, in percent.
    pub(super) fn unlisted(&self) -> f64 {
        percent(self.unlisted, self.right + self.wrong + self.unlisted)
    }

    /// Share of the samples off the stack that have some type, in percent.
    pub(super) fn typed(&self) -> f64 {
        percent(self.typed, self.samples - self.stack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects() -> Objects {
        Objects::parse("# address type size\n1000\tholder\t256\n1080\theld\t64\n", "test").unwrap()
    }

    #[test]
    fn a_held_struct_may_be_named_through_its_holder() {
        let rows = "# ip addr type offset reason\n\
                    1 1088 held 8 -\n1 1088 holder 136 -\n1 1088 held 16 -\n1 5000 held 8 -\n1 1008 - - stack\n1 1008 other 4 -\n";
        let score = Score::from_rows(rows, &objects()).unwrap();
        assert_eq!((score.right, score.wrong, score.unlisted), (2, 1, 1));
        assert_eq!(score.by_type["held"], (3, 2));
        assert_eq!(score.by_type["holder"], (2, 0));
        assert_eq!((score.samples, score.typed, score.stack), (6, 5, 1));
    }
}
