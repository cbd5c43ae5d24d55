//! Windows of a profile: their words as indices.

use super::blocks::{Blocks, Columns};
use super::context::{FunctionNames, RowWeights};
use super::row::TableRows;
use crate::row_sums::Tables;
use crate::schema::Table;
use fieldline_access::access::{TypeProfile, Window};
use fieldline_access::time_blocks::add_windows_to_block;
use std::collections::BTreeMap;

/// Entries of a window.
type Entries = Vec<(i32, u32)>;

/// The windows by their entries. A word of a type that the profile lacks keeps its function.
pub(super) fn read<'t>(
    tables: &'t Tables,
    types: &[TypeProfile],
    weights: &RowWeights<'_>,
    blocks: &Blocks<'t>,
    functions: &mut FunctionNames,
) -> Vec<Window> {
    let rows = TableRows { tables, table: Table::Windows };
    let (words, labels) = (rows.column("words"), rows.column("labels"));
    let columns = Columns::new(tables, Table::Windows);
    let indices = type_indices(types);
    let mut known: BTreeMap<u32, Entries> = BTreeMap::new();
    let mut sums: BTreeMap<Entries, Window> = BTreeMap::new();
    for row in rows.iter() {
        let count = row.count(0).saturating_mul(weights.weight(row.id(labels)));
        if count == 0 {
            continue;
        }
        let entries = known
            .entry(row.id(words))
            .or_insert_with(|| parse(row.text(words).unwrap_or_default(), &indices, functions));
        let sum = match sums.get_mut(entries) {
            Some(sum) => sum,
            None => sums.entry(entries.clone()).or_default(),
        };
        sum.count = sum.count.saturating_add(count);
        if let Some(block) = blocks.index(row, columns) {
            add_windows_to_block(&mut sum.blocks, block, count);
        }
    }
    sums.into_iter().map(|(entries, sum)| Window { entries, ..sum }).collect()
}

/// Indices of types by the names that words have.
fn type_indices(types: &[TypeProfile]) -> BTreeMap<String, i32> {
    let mut indices = BTreeMap::new();
    for (index, known) in (0..).zip(types) {
        indices.insert(format!("{}@{:016x}", known.name, known.fingerprint), index);
        indices.entry(known.name.clone()).or_insert(index);
    }
    indices
}

fn parse(words: &str, indices: &BTreeMap<String, i32>, functions: &mut FunctionNames) -> Entries {
    let entry = |word: &str| {
        let (type_name, function) = word.split_once('\t').unwrap_or(("", word));
        let plain = || type_name.split_once('@').and_then(|(name, _)| indices.get(name));
        let index = indices.get(type_name).or_else(plain).copied().unwrap_or(-1);
        (index, functions.index(function))
    };
    let mut entries: Entries = words.lines().map(entry).collect();
    entries.sort_unstable();
    entries
}
