//! Values of keys as small numbers, each kept once.

use crate::schema::ColumnType;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The number of "no value".
pub const NONE: u32 = 0;

/// Texts and numbers by their index plus one; 0 is no value.
#[derive(Clone, Debug, Default)]
pub struct Values {
    texts: Vec<Box<str>>,
    numbers: Vec<i64>,
    text_index: HashTable<u32>,
    number_index: HashTable<u32>,
}

fn hash(value: impl std::hash::Hash) -> u64 {
    FxBuildHasher.hash_one(value)
}

impl Values {
    /// The number of a text, a new one if it is not known.
    pub fn text(&mut self, text: &str) -> u32 {
        let Self { texts, text_index, .. } = self;
        let is_same = |id: &u32| texts[*id as usize - 1].as_ref() == text;
        if let Some(id) = text_index.find(hash(text), is_same) {
            return *id;
        }
        texts.push(text.into());
        let id = texts.len() as u32;
        text_index.insert_unique(hash(text), id, |id| hash(texts[*id as usize - 1].as_ref()));
        id
    }

    /// The number of a number.
    pub fn number(&mut self, number: i64) -> u32 {
        let Self { numbers, number_index, .. } = self;
        let is_same = |id: &u32| numbers[*id as usize - 1] == number;
        if let Some(id) = number_index.find(hash(number), is_same) {
            return *id;
        }
        numbers.push(number);
        let id = numbers.len() as u32;
        number_index.insert_unique(hash(number), id, |id| hash(numbers[*id as usize - 1]));
        id
    }

    /// The number of a text that may be missing.
    pub fn maybe_text(&mut self, text: Option<&str>) -> u32 {
        text.map_or(NONE, |text| self.text(text))
    }

    /// The number of a number that may be missing.
    pub fn maybe_number(&mut self, number: Option<i64>) -> u32 {
        number.map_or(NONE, |number| self.number(number))
    }

    /// The text of a number.
    pub fn get_text(&self, id: u32) -> Option<&str> {
        (id as usize).checked_sub(1).and_then(|index| self.texts.get(index)).map(AsRef::as_ref)
    }

    /// The number of a number.
    pub fn get_number(&self, id: u32) -> Option<i64> {
        (id as usize).checked_sub(1).and_then(|index| self.numbers.get(index)).copied()
    }

    /// Numbers here of all values there: of texts, and of numbers, by their numbers there.
    pub(crate) fn translate(&mut self, other: &Self) -> Translation {
        let texts = std::iter::once(NONE).chain(other.texts.iter().map(|text| self.text(text))).collect();
        let numbers = std::iter::once(NONE).chain(other.numbers.iter().map(|value| self.number(*value)));
        Translation { texts, numbers: numbers.collect() }
    }

    /// Numbers that sort as the values do, "no value" first.
    pub(crate) fn ranks(&self) -> Translation {
        Translation { texts: ranks(&self.texts), numbers: ranks(&self.numbers) }
    }
}

fn ranks<T: Ord>(values: &[T]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by(|left, right| values[*left as usize].cmp(&values[*right as usize]));
    let mut ranks = vec![NONE; values.len() + 1];
    for (rank, index) in (1..).zip(order) {
        ranks[index as usize + 1] = rank;
    }
    ranks
}

/// Other numbers for the numbers of values.
#[derive(Debug)]
pub(crate) struct Translation {
    texts: Vec<u32>,
    numbers: Vec<u32>,
}

impl Translation {
    /// The other number of a value in a column.
    pub(crate) fn map(&self, column_type: ColumnType, id: u32) -> u32 {
        let known = match column_type {
            ColumnType::Text => &self.texts,
            ColumnType::Number => &self.numbers,
        };
        known.get(id as usize).copied().unwrap_or(NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_number_and_ranks_sort() {
        let mut values = Values::default();
        let (b, a) = (values.text("b"), values.text("a"));
        assert_eq!((values.text("b"), values.get_text(a), values.get_text(NONE)), (b, Some("a"), None));
        let (nine, minus) = (values.number(9), values.number(-9));
        let ranks = values.ranks();
        assert!(ranks.map(ColumnType::Text, a) < ranks.map(ColumnType::Text, b));
        assert!(ranks.map(ColumnType::Number, minus) < ranks.map(ColumnType::Number, nine));
        let mut other = Values::default();
        other.text("z");
        let there = other.translate(&values);
        assert_eq!(other.get_text(there.map(ColumnType::Text, a)), Some("a"));
    }
}
