//! Rows of tables, those with equal keys added up: the merge engine. Its memory is that of distinct keys.

use crate::schema::{KeyColumn, Table};
use crate::values::{Translation, Values};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Rows of one table, each key once, in the order they came.
#[derive(Clone, Debug)]
pub struct RowSums {
    table: Table,
    keys: Vec<u32>,
    sums: Vec<i64>,
    index: HashTable<u32>,
}

fn hash(key: &[u32]) -> u64 {
    FxBuildHasher.hash_one(key)
}

/// A count was too large to add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sum of its counts is larger than 63 bits")]
pub struct Overflow;

impl RowSums {
    fn new(table: Table) -> Self {
        Self { table, keys: Vec::new(), sums: Vec::new(), index: HashTable::new() }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Keys of a row: numbers of values by column.
    pub fn key(&self, row: usize) -> &[u32] {
        let width = self.table.keys().len();
        self.keys.get(row * width..(row + 1) * width).unwrap_or_default()
    }

    /// Counts of a row by column.
    pub fn counts(&self, row: usize) -> &[i64] {
        let width = self.table.sums().len();
        self.sums.get(row * width..(row + 1) * width).unwrap_or_default()
    }

    /// Keys and counts of all rows.
    pub fn rows(&self) -> impl Iterator<Item = (&[u32], &[i64])> {
        (0..self.len()).map(|row| (self.key(row), self.counts(row)))
    }

    /// Adds a row; `key` and `counts` have a value for each column of the table.
    ///
    /// # Errors
    /// If a count leaves the range of 64-bit numbers.
    pub fn add(&mut self, key: &[u32], counts: &[i64]) -> Result<(), Overflow> {
        let width = self.table.keys().len();
        debug_assert_eq!((key.len(), counts.len()), (width, self.table.sums().len()));
        let Self { keys, sums, index, .. } = self;
        let row_hash = |keys: &[u32], row: u32| hash(&keys[row as usize * width..(row as usize + 1) * width]);
        let is_same = |row: &u32| keys[*row as usize * width..(*row as usize + 1) * width] == *key;
        let hash = hash(key);
        if let Some(row) = index.find(hash, is_same) {
            let first = *row as usize * counts.len();
            for (sum, count) in sums[first..].iter_mut().zip(counts) {
                *sum = sum.checked_add(*count).ok_or(Overflow)?;
            }
            return Ok(());
        }
        let row = index.len() as u32;
        keys.extend_from_slice(key);
        sums.extend_from_slice(counts);
        index.insert_unique(hash, row, |row| row_hash(keys, *row));
        Ok(())
    }

    /// The counts of a key.
    pub fn find(&self, key: &[u32]) -> Option<&[i64]> {
        let row = self.index.find(hash(key), |row| self.key(*row as usize) == key)?;
        Some(self.counts(*row as usize))
    }

    fn absorb(&mut self, other: &Self, there: &Translation) -> Result<(), Overflow> {
        let columns = self.table.keys();
        let mut key = vec![0; columns.len()];
        for (theirs, counts) in other.rows() {
            translate(columns, there, theirs, &mut key);
            self.add(&key, counts)?;
        }
        Ok(())
    }

    /// Rows in order of their keys' values.
    fn sort(&mut self, ranks: &Translation) {
        let (columns, width) = (self.table.keys(), self.table.keys().len());
        let mut ranked = vec![0; self.keys.len()];
        for (key, ranked) in self.keys.chunks_exact(width).zip(ranked.chunks_exact_mut(width)) {
            translate(columns, ranks, key, ranked);
        }
        let rank = |row: &u32| &ranked[*row as usize * width..(*row as usize + 1) * width];
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by(|left, right| rank(left).cmp(rank(right)));
        let keys = order.iter().flat_map(|row| self.key(*row as usize)).copied().collect();
        let sums = order.iter().flat_map(|row| self.counts(*row as usize)).copied().collect();
        (self.keys, self.sums) = (keys, sums);
        let keys = &self.keys;
        self.index.clear();
        for row in 0..order.len() as u32 {
            let row_hash = |row: u32| hash(&keys[row as usize * width..(row as usize + 1) * width]);
            self.index.insert_unique(row_hash(row), row, |row| row_hash(*row));
        }
    }
}

fn translate(columns: &[KeyColumn], to: &Translation, from: &[u32], into: &mut [u32]) {
    for ((column, id), slot) in columns.iter().zip(from).zip(into) {
        *slot = to.map(column.column_type, *id);
    }
}

/// The rows of all tables with their values.
#[derive(Clone, Debug)]
pub struct Tables {
    /// Values that keys refer to.
    pub values: Values,
    rows: [RowSums; 5],
}

impl Default for Tables {
    fn default() -> Self {
        Self { values: Values::default(), rows: Table::ALL.map(RowSums::new) }
    }
}

impl Tables {
    /// The rows of a table.
    pub fn rows_of(&self, table: Table) -> &RowSums {
        &self.rows[table as usize]
    }

    /// Adds a row, see [`RowSums::add`].
    ///
    /// # Errors
    /// If a count leaves the range of 64-bit numbers.
    pub fn add(&mut self, table: Table, key: &[u32], counts: &[i64]) -> Result<(), Overflow> {
        self.rows[table as usize].add(key, counts)
    }

    /// Adds all rows of others.
    ///
    /// # Errors
    /// If a count leaves the range of 64-bit numbers.
    pub fn absorb(&mut self, other: &Self) -> Result<(), Overflow> {
        let there = self.values.translate(&other.values);
        self.rows.iter_mut().zip(&other.rows).try_for_each(|(ours, theirs)| ours.absorb(theirs, &there))
    }

    /// Puts the rows of all tables in the order of their keys.
    pub fn sort(&mut self) {
        let ranks = self.values.ranks();
        self.rows.iter_mut().for_each(|rows| rows.sort(&ranks));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(tables: &mut Tables, words: &str, count: i64) {
        let words = tables.values.text(words);
        tables.add(Table::Windows, &[0, 0, 0, 0, 0, 0, words], &[count]).unwrap();
    }

    fn listed(tables: &Tables) -> Vec<(&str, i64)> {
        let rows = tables.rows_of(Table::Windows).rows();
        rows.map(|(key, counts)| (tables.values.get_text(key[6]).unwrap(), counts[0])).collect()
    }

    #[test]
    fn equal_keys_are_added_in_any_order() {
        let (mut left, mut right) = (Tables::default(), Tables::default());
        window(&mut left, "b", 1);
        window(&mut left, "a", 2);
        window(&mut right, "a", 3);
        window(&mut right, "c", 4);
        let (mut sum, mut other) = (left.clone(), right.clone());
        sum.absorb(&right).unwrap();
        other.absorb(&left).unwrap();
        sum.sort();
        other.sort();
        assert_eq!(listed(&sum), [("a", 5), ("b", 1), ("c", 4)]);
        assert_eq!(listed(&sum), listed(&other));
        window(&mut sum, "c", 1);
        assert_eq!(listed(&sum)[2], ("c", 5), "found after sorting");
    }

    #[test]
    fn counts_beyond_63_bits_are_an_error() {
        let mut tables = Tables::default();
        window(&mut tables, "a", i64::MAX);
        let words = tables.values.text("a");
        assert_eq!(tables.add(Table::Windows, &[0, 0, 0, 0, 0, 0, words], &[1]), Err(Overflow));
    }
}
